/*
 * test_start.c - starting tasks: when it fails, what is copied, being ready,
 * starting in the scope of another task.
 */
#include "sim_run.h"
#include "starve.h"

static int ran;

static int counts(void *arg)
{
        (void) arg;
        ran++;
        return 0;
}

static int sleeps_long(void *arg)
{
        (void) arg;
        return eddy_sleep(EDDY_SEC(9));
}

/* A72: starting in a cancelled scope fails and leaves no trace. */
SIM_TEST(starting_in_a_cancelled_scope_fails_and_records_nothing)
{
        static char large[EDDY_TASK_COPY_MAX + 1];
        struct eddy_scope_errors errors;
        eddy_task *task = (eddy_task *) &errors;
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .errors = &errors, .tasks_max = 1 });
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_start(&scope, counts, NULL), -ECANCELED);
        CHECK_EQ(eddy_scope_start_copy(&scope, counts, large, 8), -ECANCELED);
        CHECK_EQ(eddy_scope_start_copy(&scope, counts, large, sizeof(large)), -ECANCELED);
        CHECK_EQ(eddy_scope_start_task(&scope, counts, NULL, NULL, &task), -ECANCELED);
        CHECK_EQ(eddy_scope_start_ready(&scope, counts, NULL), -ECANCELED);
        CHECK(task == (eddy_task *) &errors);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(errors.count, 0);
        CHECK_EQ(ran, 0);
}

SIM_TEST(a_start_refused_for_an_outer_cancel_is_reported_by_the_end_whatever_was_started)
{
        static char large[EDDY_TASK_COPY_MAX + 1];
        eddy_scope outer, scope;

        eddy_scope_begin(&outer, NULL);
        eddy_scope_cancel(&outer);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, counts, NULL), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), -ECANCELED);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_copy(&scope, counts, large, sizeof(large)), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&outer), 0);
}

SIM_TEST(one_task_too_many_cancels_the_scope_and_is_its_error)
{
        struct eddy_scope_errors errors;
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .errors = &errors, .tasks_max = 2 });
        CHECK_EQ(eddy_scope_start(&scope, sleeps_long, NULL), 0);
        CHECK_EQ(eddy_scope_start(&scope, sleeps_long, NULL), 0);
        CHECK_EQ(eddy_scope_start(&scope, counts, NULL), -EAGAIN);
        CHECK(eddy_scope_is_cancelled(&scope));
        CHECK_EQ(eddy_scope_start(&scope, counts, NULL), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), -EAGAIN);
        CHECK_EQ(errors.count, 1);
        CHECK_EQ(ran, 0);
}

SIM_TEST(tasks_max_counts_those_that_run_not_those_that_ran)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .tasks_max = 1 });
        for (int i = 0; i < 5; i++) {
                CHECK_EQ(eddy_scope_start(&scope, counts, NULL), 0);
                CHECK_EQ(eddy_sleep(0), 0);
        }
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(ran, 5);
}

SIM_TEST(with_keep_going_a_failed_start_cancels_all_the_same)
{
        struct eddy_scope_opts opts = { .flags = EDDY_SCOPE_KEEP_GOING, .tasks_max = 1 };
        eddy_scope scope;

        eddy_scope_begin(&scope, &opts);
        CHECK_EQ(eddy_scope_start(&scope, sleeps_long, NULL), 0);
        CHECK_EQ(eddy_scope_start(&scope, counts, NULL), -EAGAIN);
        CHECK(eddy_scope_is_cancelled(&scope));
        CHECK_EQ(eddy_scope_end(&scope), -EAGAIN);
}

static int starts_without_memory(void *arg)
{
        eddy_task *task = NULL;
        eddy_scope scope;
        int err = 0, n = 0;

        (void) arg;
        allocations_left = 0;
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, sleeps_long, NULL, NULL, &task), -ENOMEM);
        CHECK(task == NULL);
        CHECK(eddy_scope_is_cancelled(&scope));
        CHECK_EQ(eddy_scope_end(&scope), -ENOMEM);

        /* Stacks that are mapped already are used up first. */
        eddy_scope_begin(&scope, NULL);
        while (err == 0 && n < 100000) {
                err = eddy_scope_start(&scope, sleeps_long, NULL);
                n++;
        }
        CHECK_EQ(err, -ENOMEM);
        CHECK(n < 2000);
        CHECK_EQ(eddy_background(sleeps_long, NULL), -ENOMEM);
        CHECK_EQ(eddy_scope_end(&scope), -ENOMEM);
        allocations_left = -1;
        CHECK_EQ(eddy_sleep(0), 0);
        return 0;
}

TEST(no_memory_for_a_task_cancels_the_scope_and_is_its_error)
{
        eddy_alloc_set(starve, NULL);
        CHECK_EQ(sim_run(starts_without_memory, NULL), 0);
}

/* --- copies --- */

static int sum;

static int adds(void *arg)
{
        CHECK_EQ((uintptr_t) arg % 16, 0);
        sum += *(int *) arg;
        *(int *) arg = -1;
        return 0;
}

SIM_TEST(each_task_of_a_loop_has_its_own_copy)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 1; i <= 100; i++)
                CHECK_EQ(eddy_scope_start_copy(&scope, adds, &i, sizeof(i)), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(sum, 5050);
}

static int checks_large(void *arg)
{
        unsigned char *bytes = arg;

        CHECK_EQ(eddy_sleep(MS), 0);
        for (int i = 0; i < EDDY_TASK_COPY_MAX; i++)
                CHECK_EQ(bytes[i], i % 251);
        return 0;
}

SIM_TEST(the_largest_copy_is_whole_and_one_byte_more_is_refused)
{
        static unsigned char bytes[EDDY_TASK_COPY_MAX + 1];
        eddy_scope scope;

        for (int i = 0; i < EDDY_TASK_COPY_MAX; i++)
                bytes[i] = (unsigned char) (i % 251);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_copy(&scope, checks_large, bytes, EDDY_TASK_COPY_MAX), 0);
        memset(bytes, 0, sizeof(bytes));
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_copy(&scope, counts, bytes, sizeof(bytes)), -EINVAL);
        CHECK_EQ(eddy_scope_end(&scope), -EINVAL);
        CHECK_EQ(ran, 0);
}

static int counts_now(void *arg)
{
        ++*(int *) arg;
        return eddy_sleep(0);
}

/* Whatever the reason, a call that suspends and did not need to gives way now and then. */
SIM_TEST(calls_that_fail_at_once_do_not_keep_the_loop)
{
        struct eddy_scope_opts opts = { .flags = EDDY_SCOPE_SHIELD };
        eddy_task *self = eddy_task_current();
        struct eddy_choice none = { 0 };
        eddy_condition condition = { 0 };
        eddy_lock lock = { 0 };
        eddy_scope cancelled, scope;

        eddy_scope_begin(&cancelled, NULL);
        eddy_scope_cancel(&cancelled);
        eddy_scope_begin(&scope, &opts);
        for (int call = 0; call < 6; call++) {
                int turns = 0;

                eddy_scope_start(&scope, counts_now, &turns);
                for (int i = 0; i < 200; i++) {
                        int err[] = {
                                call == 0 ? eddy_scope_start_ready(&cancelled, counts, NULL) : 0,
                                call == 1 ? eddy_task_join(self, NULL) : 0,
                                call == 2 ? eddy_select(&none, 1) : 0,
                                call == 3 ? eddy_wait(&self, 1, EDDY_WAIT_ALL) : 0,
                                call == 4 ? eddy_condition_wait(&condition, &lock) : 0,
                                call == 5 ? eddy_gather(NULL, 0, 0) : 0,
                        };

                        CHECK(err[call] < 0 || call == 5);
                }
                CHECK_EQ(turns, 1);
        }
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_scope_end(&cancelled), 0);
}

/* --- ready --- */

struct server {
        int64_t before_ns, after_ns;
        int result;
        bool says_ready, ended;
};

static int serve(void *arg)
{
        struct server *s = arg;
        int err = eddy_sleep(s->before_ns);

        if (err < 0)
                return err;
        if (s->says_ready)
                eddy_task_ready();
        eddy_task_ready();
        (void) eddy_sleep(s->after_ns);
        s->ended = true;
        return s->result;
}

static int ends_early(void *arg)
{
        (void) eddy_sleep(MS);
        return *(int *) arg;
}

SIM_TEST(start_ready_returns_when_the_task_says_so)
{
        struct server s = { 10 * MS, 10 * MS, 0, true, false };
        int64_t begun = eddy_now();
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_ready(&scope, serve, &s), 0);
        CHECK_NS(eddy_now() - begun, 10 * MS);
        CHECK(!s.ended);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK(s.ended);
}

SIM_TEST(a_failure_before_ready_is_the_starters_and_not_the_scopes)
{
        struct eddy_scope_errors errors;
        eddy_scope scope;
        int result = -EIO;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .errors = &errors });
        CHECK_EQ(eddy_scope_start_ready(&scope, ends_early, &result), -EIO);
        CHECK(!eddy_scope_is_cancelled(&scope));
        result = 5;
        CHECK_EQ(eddy_scope_start_ready(&scope, ends_early, &result), EDDY_E_TASK_NOT_READY);
        result = 0;
        CHECK_EQ(eddy_scope_start_ready(&scope, ends_early, &result), EDDY_E_TASK_NOT_READY);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(errors.count, 0);
}

SIM_TEST(a_failure_after_ready_is_the_scopes)
{
        struct server s = { 0, MS, -EIO, true, false };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_ready(&scope, serve, &s), 0);
        CHECK_EQ(eddy_scope_end(&scope), -EIO);
}

/* A38: cancelling who waits for ready leaves the task alone; its failure is the scope's then. */
struct starter {
        eddy_scope *scope;
        struct server *server;
        int err;
};

static int starts_server(void *arg)
{
        struct starter *starter = arg;

        starter->err = eddy_scope_start_ready(starter->scope, serve, starter->server);
        return starter->err;
}

SIM_TEST(cancelling_the_wait_for_ready_does_not_cancel_the_task)
{
        struct server s = { 10 * MS, 10 * MS, -EIO, true, false };
        struct starter starter = { .server = &s };
        eddy_scope scope, starters;
        eddy_task *task;

        eddy_scope_begin(&scope, NULL);
        starter.scope = &scope;
        eddy_scope_begin(&starters, NULL);
        CHECK_EQ(eddy_scope_start_task(&starters, starts_server, &starter, NULL, &task), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_task_cancel(task);
        CHECK_EQ(eddy_scope_end(&starters), 0);
        CHECK_EQ(starter.err, -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), -EIO);
        CHECK(s.ended);
        eddy_task_release(task);
}

/* What a task does once it runs: cancels who waits for it, says that it is ready, in some order. */
struct readying {
        eddy_scope *scope;
        eddy_task *starter;
        bool cancels_first, cancels_then, says_ready;
        int result, ready, later;
};

static int readies(void *arg)
{
        struct readying *r = arg;

        if (r->cancels_first)
                eddy_task_cancel(r->starter);
        if (r->says_ready)
                eddy_task_ready();
        if (r->cancels_then)
                eddy_task_cancel(r->starter);
        return r->result;
}

static int starts_readying(void *arg)
{
        struct readying *r = arg;

        r->starter = eddy_task_current();
        r->ready = eddy_scope_start_ready(r->scope, readies, r);
        r->later = eddy_sleep(0);
        return r->later;
}

/* The scope's result; the starter is a task of another scope. */
static int start_ready_outside(struct readying *r)
{
        eddy_scope scope, starters;
        int end;

        eddy_scope_begin(&starters, NULL);
        eddy_scope_begin(&scope, NULL);
        r->scope = &scope;
        CHECK_EQ(eddy_scope_start(&starters, starts_readying, r), 0);
        (void) eddy_sleep(MS);
        end = eddy_scope_end(&scope);
        CHECK_EQ(eddy_scope_end(&starters), 0);
        return end;
}

/* A32, A72: ready, or failed, before the cancel of who waits: that is delivered, then the cancel. */
SIM_TEST(ready_just_before_the_cancel_of_the_starter_is_delivered)
{
        struct readying ready = { .cancels_then = true, .says_ready = true, .result = -EIO };
        struct readying failed = { .cancels_then = true, .result = -EIO };

        CHECK_EQ(start_ready_outside(&ready), -EIO);
        CHECK_EQ(ready.ready, 0);
        CHECK_EQ(ready.later, -ECANCELED);
        /* It was cancelled first, and then failed: an ordinary task of its scope by then. */
        CHECK_EQ(start_ready_outside(&failed), -EIO);
        CHECK_EQ(failed.ready, -ECANCELED);
}

/* A72: ready after that: nobody waits any more, and the task is one of its scope like others. */
SIM_TEST(ready_just_after_the_cancel_of_the_starter_is_nothing)
{
        struct readying ready = { .cancels_first = true, .says_ready = true };
        struct readying failed = { .cancels_first = true, .says_ready = true, .result = -EIO };

        CHECK_EQ(start_ready_outside(&ready), 0);
        CHECK_EQ(ready.ready, -ECANCELED);
        CHECK_EQ(start_ready_outside(&failed), -EIO);
        CHECK_EQ(failed.ready, -ECANCELED);
}

static int fails_soon(void *arg)
{
        CHECK_EQ(eddy_sleep(MS), 0);
        return (int) (intptr_t) arg;
}

/* A72: the scope is cancelled while its owner waits for ready: by a failure, and by its deadline. */
SIM_TEST(a_scope_cancelled_while_its_owner_waits_for_ready)
{
        struct server s = { 10 * MS, 10 * MS, 0, true, false };
        struct eddy_scope_errors errors;
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .errors = &errors });
        CHECK_EQ(eddy_scope_start(&scope, fails_soon, (void *) (intptr_t) -EIO), 0);
        CHECK_EQ(eddy_scope_start_ready(&scope, serve, &s), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), -EIO);
        CHECK_EQ(errors.count, 1);
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = MS, .errors = &errors });
        CHECK_EQ(eddy_scope_start_ready(&scope, serve, &s), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
        CHECK_EQ(errors.count, 0);
        CHECK(!s.ended);
}

static int starts_serving(void *arg)
{
        struct starter *starter = arg;

        starter->err = eddy_scope_start_ready(starter->scope, serve, starter->server);
        return 0;
}

/* A72: it is cancelled while somebody outside of it waits: the task ended, and was not ready. */
SIM_TEST(a_scope_cancelled_while_another_task_waits_for_ready)
{
        struct server s = { 10 * MS, 0, 0, true, false };
        struct starter starter = { .server = &s, .err = 1 };
        struct eddy_scope_errors errors;
        eddy_scope scope, starters;

        eddy_scope_begin(&starters, NULL);
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .errors = &errors });
        starter.scope = &scope;
        CHECK_EQ(eddy_scope_start(&starters, starts_serving, &starter), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(errors.count, 0);
        CHECK_EQ(eddy_scope_end(&starters), 0);
        CHECK_EQ(starter.err, EDDY_E_TASK_NOT_READY);
}

/* A72: a task of an ending scope may start another there until it is ready; tasks_max counts it. */
SIM_TEST(a_task_may_start_until_ready_in_its_scope_while_that_ends)
{
        for (uint32_t tasks_max = 1; tasks_max <= 2; tasks_max++) {
                struct server s = { 10 * MS, 10 * MS, 0, true, false };
                struct starter starter = { .server = &s, .err = 1 };
                eddy_scope scope;

                eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .tasks_max = tasks_max });
                starter.scope = &scope;
                CHECK_EQ(eddy_scope_start(&scope, starts_serving, &starter), 0);
                CHECK_EQ(eddy_scope_end(&scope), tasks_max == 1 ? -EAGAIN : 0);
                CHECK_EQ(starter.err, tasks_max == 1 ? -EAGAIN : 0);
                CHECK_EQ(s.ended, tasks_max == 2);
        }
}

/* --- from elsewhere --- */

struct late {
        eddy_scope *scope;
        int started;
        int left;
};

static int starts_its_like(void *arg)
{
        struct late *late = arg;

        late->started++;
        if (eddy_sleep(MS) < 0)
                return -ECANCELED;
        if (late->left-- > 0)
                return eddy_scope_start(late->scope, starts_its_like, late);
        return 0;
}

/* A72: a task may start another in the scope that is ending, and end waits for that one too. */
SIM_TEST(a_task_may_start_others_in_its_scope_while_that_ends)
{
        struct late late = { .left = 9 };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        late.scope = &scope;
        eddy_scope_start(&scope, starts_its_like, &late);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(late.started, 10);
}

/* The same from a task of another scope, in every order of what is ready. */
struct elsewhere {
        eddy_scope *inner;
        int ran;
};

static int runs_once(void *arg)
{
        ++*(int *) arg;
        return 0;
}

static int starts_in_inner(void *arg)
{
        struct elsewhere *e = arg;

        for (int i = 0; i < 20; i++) {
                if (e->inner && eddy_scope_start(e->inner, runs_once, &e->ran) == 0)
                        e->ran += 1000;
                if (eddy_sleep(0) < 0)
                        return -ECANCELED;
        }
        return 0;
}

static int opens_inner(void *arg)
{
        struct elsewhere *e = arg;
        eddy_scope inner;
        int err;

        eddy_scope_begin(&inner, NULL);
        e->inner = &inner;
        err = eddy_scope_start(&inner, runs_once, &e->ran);
        e->ran += 1000;
        CHECK_EQ(err, 0);
        err = eddy_scope_end(&inner);
        e->inner = NULL;
        return err;
}

static int elsewhere_main(void *arg)
{
        struct elsewhere e = { 0 };
        eddy_scope scope;
        int err;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, opens_inner, &e);
        eddy_scope_start(&scope, starts_in_inner, &e);
        eddy_scope_start(&scope, starts_in_inner, &e);
        err = eddy_scope_end(&scope);
        CHECK_EQ(e.ran % 1000, e.ran / 1000);
        return err;
}

TEST(tasks_started_from_elsewhere_while_a_scope_ends_are_waited_for)
{
        for (uint64_t seed = 0; seed < 500; seed++)
                CHECK_EQ(sim_run_with(elsewhere_main, NULL, seed, (struct eddy_run_opts){ 0 }), 0);
}
