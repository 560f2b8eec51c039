/*
 * test_cancel.c - cancellation is level-triggered, and what is there wins.
 */
#include "sim_run.h"

/* A31, A33, A35, A36: every suspending call says so, until the scope ends, also one that could complete. */
SIM_TEST(in_a_cancelled_scope_every_call_does_nothing_and_says_so)
{
        eddy_semaphore sem = EDDY_SEMAPHORE(1, 0);
        struct eddy_call call = { 0 };
        eddy_queue full, queue;
        eddy_scope scope;
        int item = 5;

        CHECK_EQ(eddy_queue_init(&queue, sizeof(int), 0), 0);
        CHECK_EQ(eddy_queue_init(&full, sizeof(int), 0), 0);
        CHECK_EQ(eddy_queue_try_put(&full, &item), 0);
        item = 9;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        for (int i = 0; i < 3; i++) {
                CHECK_EQ(eddy_sleep(0), -ECANCELED);
                CHECK_EQ(eddy_sleep(MS), -ECANCELED);
                CHECK_EQ(eddy_semaphore_acquire(&sem), -ECANCELED);
                CHECK_EQ(eddy_queue_put(&queue, &item), -ECANCELED);
                CHECK_EQ(eddy_queue_get(&full, &item), -ECANCELED);
                CHECK_EQ(eddy_gather(&call, 0, 0), -ECANCELED);
        }
        CHECK_EQ(item, 9);
        CHECK_EQ(eddy_semaphore_units(&sem), 1);
        CHECK_EQ(eddy_queue_count(&queue), 0);
        CHECK_EQ(eddy_queue_count(&full), 1);
        /* try_ calls never suspend, and work. */
        CHECK_EQ(eddy_semaphore_try_acquire(&sem), 0);
        CHECK_EQ(eddy_semaphore_release(&sem), 0);
        CHECK_EQ(eddy_queue_try_get(&full, &item), 0);
        CHECK_EQ(item, 5);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_semaphore_acquire(&sem), 0);
        eddy_queue_fini(&queue);
        eddy_queue_fini(&full);
}

static int nothing(void *arg)
{
        (void) arg;
        return 4;
}

SIM_TEST(in_a_cancelled_scope_a_join_of_a_finished_task_says_so)
{
        eddy_scope tasks, scope;
        eddy_task *task;
        int result = 77;

        eddy_scope_begin(&tasks, NULL);
        CHECK_EQ(eddy_scope_start_task(&tasks, nothing, NULL, NULL, &task), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK(eddy_task_is_done(task));
        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_task_join(task, &result), -ECANCELED);
        CHECK_EQ(result, 77);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_task_join(task, &result), 0);
        CHECK_EQ(result, 4);
        CHECK_EQ(eddy_scope_end(&tasks), 0);
        eddy_task_release(task);
}

/* A34: many cancels are one. */
static int counts_cancels(void *arg)
{
        int *cancels = arg;

        while (eddy_sleep(EDDY_SEC(9)) == -ECANCELED && ++*cancels < 3)
                continue;
        return 0;
}

SIM_TEST(many_cancels_are_one_state)
{
        eddy_scope scope;
        eddy_task *task;
        int cancels = 0;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, counts_cancels, &cancels, NULL, &task), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        for (int i = 0; i < 5; i++)
                eddy_task_cancel(task);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(cancels, 3);
        eddy_task_cancel(task);
        eddy_task_release(task);
}

/* A36: a task may cancel itself; its next suspending call says so. */
static int cancels_itself(void *arg)
{
        (void) arg;
        eddy_task_cancel(eddy_task_current());
        CHECK_EQ(eddy_sleep(MS), -ECANCELED);
        CHECK_EQ(eddy_sleep(0), -ECANCELED);
        return -ECANCELED;
}

SIM_TEST(a_task_may_cancel_itself)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, cancels_itself, NULL);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

/* A30: a task that is cancelled before it ran runs, to its first suspending call. */
static int runs_to_first_call(void *arg)
{
        int *steps = arg;

        ++*steps;
        if (eddy_sleep(0) < 0)
                return -ECANCELED;
        ++*steps;
        return 0;
}

SIM_TEST(a_task_cancelled_before_it_ran_still_starts)
{
        eddy_scope scope;
        int steps = 0;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, runs_to_first_call, &steps);
        eddy_scope_cancel(&scope);
        CHECK_EQ(steps, 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(steps, 1);
}

/* --- ignoring --- */

struct careless {
        int turns;
        bool nested;
        int64_t begun_ns, lasted_ns;
        int others;
};

static int goes_on(void *arg)
{
        struct careless *c = arg;

        c->begun_ns = eddy_now();
        eddy_task_cancel(eddy_task_current());
        for (int i = 0; i < c->turns; i++) {
                if (c->nested)
                        CHECK_EQ(eddy_call_timeout(runs_to_first_call, &c->others, EDDY_SEC(1)),
                                 -ECANCELED);
                else
                        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), -ECANCELED);
        }
        c->lasted_ns = eddy_now() - c->begun_ns;
        return 0;
}

static int ignores(void *arg)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, goes_on, arg);
        return eddy_scope_end(&scope);
}

static void ignore_many(struct careless *c, int reports_expected)
{
        struct reports reports = { 0 };
        struct eddy_run_opts opts = { .report = reports_add, .report_arg = &reports };

        CHECK_EQ(sim_run_with(ignores, c, 0, opts), 0);
        CHECK_EQ(reports.count[EDDY_REPORT_IGNORED], reports_expected);
        if (reports_expected) {
                CHECK(strstr(reports.text, "1,000") != NULL);
                CHECK_EQ(reports.error, -ECANCELED);
                CHECK(reports.task[0]);
        }
}

TEST(a_thousand_ignored_cancels_are_tolerated)
{
        struct careless c = { .turns = 1000 };

        ignore_many(&c, 0);
        CHECK(c.lasted_ns < MS);
}

TEST(after_a_thousand_each_waits_a_millisecond_and_it_is_reported_once)
{
        struct careless c = { .turns = 1050 };

        ignore_many(&c, 1);
        CHECK(c.lasted_ns >= 50 * MS && c.lasted_ns < 52 * MS);
}

TEST(a_loop_that_opens_a_scope_each_time_is_as_careless)
{
        struct careless c = { .turns = 1050, .nested = true };

        ignore_many(&c, 1);
        CHECK(c.lasted_ns >= 50 * MS && c.lasted_ns < 52 * MS);
}

static int counts_turns(void *arg)
{
        for (int i = 0; i < 100; i++) {
                ++*(int *) arg;
                if (eddy_sleep(0) < 0)
                        return -ECANCELED;
        }
        return 0;
}

SIM_TEST(each_ignored_cancel_lets_others_run)
{
        eddy_scope others, scope;
        int turns = 0;

        eddy_scope_begin(&others, NULL);
        eddy_scope_start(&others, counts_turns, &turns);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        for (int i = 0; i < 10; i++) {
                int before = turns;

                CHECK_EQ(eddy_sleep(0), -ECANCELED);
                CHECK_EQ(turns, before + 1);
        }
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_scope_end(&others), 0);
}

/* --- what is there wins --- */

/* Two tasks: one waits in 'wait', the other completes it and cancels at once. */
struct race {
        eddy_semaphore sem;
        eddy_queue queue;
        eddy_task *finished, *waiter;
        int waited, after, item;
        int64_t slept_ns;
};

static int waits_sem(void *arg)
{
        struct race *r = arg;

        r->waited = eddy_semaphore_acquire(&r->sem);
        r->after = eddy_sleep(0);
        return r->after;
}

static int waits_get(void *arg)
{
        struct race *r = arg;

        r->waited = eddy_queue_get(&r->queue, &r->item);
        r->after = eddy_sleep(0);
        return r->after;
}

static int waits_put(void *arg)
{
        struct race *r = arg;
        int item = 2;

        r->waited = eddy_queue_put(&r->queue, &item);
        r->after = eddy_sleep(0);
        return r->after;
}

static int waits_join(void *arg)
{
        struct race *r = arg;

        r->waited = eddy_task_join(r->finished, &r->item);
        r->after = eddy_sleep(0);
        return r->after;
}

static int waits_sleep(void *arg)
{
        struct race *r = arg;

        r->waited = eddy_sleep(10 * MS);
        r->after = eddy_sleep(0);
        return r->after;
}

static int parks_then_cancels(void *arg)
{
        struct race *r = arg;

        (void) eddy_sleep(MS);
        /* This task ends now, which ends the join; the cancel comes before the waiter runs. */
        eddy_task_cancel(r->waiter);
        return 6;
}

static void race_begin(struct race *r, eddy_scope *scope, eddy_task_fn *fn)
{
        eddy_scope_begin(scope, NULL);
        CHECK_EQ(eddy_scope_start_task(scope, fn, r, NULL, &r->waiter), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
}

static void race_end(struct race *r, eddy_scope *scope)
{
        eddy_task_cancel(r->waiter);
        CHECK_EQ(eddy_scope_end(scope), 0);
        CHECK_EQ(r->waited, 0);
        CHECK_EQ(r->after, -ECANCELED);
        eddy_task_release(r->waiter);
}

/* A32, A63, A87: a unit that was handed over is delivered though a cancel comes before the task runs. */
SIM_TEST(a_unit_handed_over_before_the_cancel_is_delivered)
{
        struct race r = { .waited = 1, .after = 1 };
        eddy_scope scope;

        race_begin(&r, &scope, waits_sem);
        CHECK_EQ(eddy_semaphore_release(&r.sem), 0);
        race_end(&r, &scope);
        CHECK_EQ(eddy_semaphore_units(&r.sem), 0);
}

/* A32, A99: the same of an item, on both sides of a queue. */
SIM_TEST(an_item_handed_over_before_the_cancel_is_delivered)
{
        struct race r = { .waited = 1, .after = 1 };
        eddy_scope scope;
        int item = 42;

        CHECK_EQ(eddy_queue_init(&r.queue, sizeof(int), 1), 0);
        race_begin(&r, &scope, waits_get);
        CHECK_EQ(eddy_queue_put(&r.queue, &item), 0);
        race_end(&r, &scope);
        CHECK_EQ(r.item, 42);
        eddy_queue_fini(&r.queue);
}

SIM_TEST(an_item_appended_before_the_cancel_stays_in_the_queue)
{
        struct race r = { .waited = 1, .after = 1 };
        eddy_scope scope;
        int item = 1;

        CHECK_EQ(eddy_queue_init(&r.queue, sizeof(int), 1), 0);
        CHECK_EQ(eddy_queue_put(&r.queue, &item), 0);
        race_begin(&r, &scope, waits_put);
        CHECK_EQ(eddy_queue_get(&r.queue, &item), 0);
        CHECK_EQ(item, 1);
        race_end(&r, &scope);
        CHECK_EQ(eddy_queue_try_get(&r.queue, &item), 0);
        CHECK_EQ(item, 2);
        eddy_queue_fini(&r.queue);
}

/* A32, A63: a sleep whose time has come before the cancel has slept. */
static int cancels_waiter_at(void *arg)
{
        struct race *r = arg;

        (void) eddy_sleep(10 * MS);
        eddy_task_cancel(r->waiter);
        return 0;
}

SIM_TEST(a_sleep_that_is_over_before_the_cancel_has_slept)
{
        struct race r = { .waited = 1, .after = 1 };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        /* Both wake in the same turn, the one that cancels first. */
        eddy_scope_start(&scope, cancels_waiter_at, &r);
        CHECK_EQ(eddy_scope_start_task(&scope, waits_sleep, &r, NULL, &r.waiter), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(r.waited, 0);
        CHECK_EQ(r.after, -ECANCELED);
        eddy_task_release(r.waiter);
}

SIM_TEST(a_join_of_a_task_that_ended_before_the_cancel_is_delivered)
{
        struct race r = { .waited = 1, .after = 1 };
        struct race *rp = &r;
        eddy_scope scope, others;

        eddy_scope_begin(&others, NULL);
        CHECK_EQ(eddy_scope_start_task(&others, parks_then_cancels, rp, NULL, &r.finished), 0);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, waits_join, rp, NULL, &r.waiter), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_scope_end(&others), 0);
        /* The cancel came first here: the joined task was still running. */
        CHECK_EQ(r.waited, -ECANCELED);
        CHECK_EQ(r.item, 0);
        eddy_task_release(r.waiter);
        eddy_task_release(r.finished);
}

static int ends_soon(void *arg)
{
        (void) arg;
        (void) eddy_sleep(MS);
        return 6;
}

SIM_TEST(a_join_ended_by_its_task_before_the_cancel_has_the_result)
{
        struct race r = { .waited = 1, .after = 1 };
        eddy_scope scope, others;

        eddy_scope_begin(&others, NULL);
        CHECK_EQ(eddy_scope_start_task(&others, ends_soon, NULL, NULL, &r.finished), 0);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, waits_join, &r, NULL, &r.waiter), 0);
        /* In line before the joiner at the moment the task ends: this sleep was armed later. */
        while (!eddy_task_is_done(r.finished))
                CHECK_EQ(eddy_sleep(0), 0);
        race_end(&r, &scope);
        CHECK_EQ(r.item, 6);
        CHECK_EQ(eddy_scope_end(&others), 0);
        eddy_task_release(r.finished);
}
