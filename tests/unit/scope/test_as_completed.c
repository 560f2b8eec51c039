/*
 * test_as_completed.c - tasks in the order they finish.
 */
#include "sim_run.h"
#include "starve.h"

struct sleeper {
        int64_t ns;
        int result;
};

static int sleeps(void *arg)
{
        struct sleeper *sleeper = arg;
        int err = eddy_sleep(sleeper->ns);

        return err < 0 ? err : sleeper->result;
}

enum { N = 6 };

static const int delays[N] = { 4, 2, 6, 1, 5, 3 };
static const int order[N] = { 3, 1, 5, 0, 4, 2 };

struct crowd {
        eddy_scope scope;
        struct sleeper sleepers[N];
        eddy_task *tasks[N];
};

static void crowd_begin(struct crowd *crowd)
{
        struct eddy_scope_opts opts = { .flags = EDDY_SCOPE_KEEP_GOING };

        eddy_scope_begin(&crowd->scope, &opts);
        for (int i = 0; i < N; i++) {
                crowd->sleepers[i] = (struct sleeper){ .ns = delays[i] * MS, .result = i };
                CHECK_EQ(eddy_scope_start_task(&crowd->scope, sleeps, &crowd->sleepers[i], NULL,
                                               &crowd->tasks[i]),
                         0);
        }
}

static void crowd_end(struct crowd *crowd)
{
        (void) eddy_scope_end(&crowd->scope);
        for (int i = 0; i < N; i++) {
                int result;

                CHECK(!crowd->tasks[i]->joiners[0]);
                CHECK_EQ(eddy_task_result(crowd->tasks[i], &result), 0);
                CHECK_EQ(result, crowd->sleepers[i].result);
                eddy_task_release(crowd->tasks[i]);
        }
}

static void check_next(eddy_as_completed *done, const eddy_task *expected)
{
        eddy_task *task = NULL;

        CHECK_EQ(eddy_as_completed_next(done, &task), 1);
        CHECK(task == expected);
        CHECK(eddy_task_is_done(task));
}

static void check_no_more(eddy_as_completed *done)
{
        eddy_task *task = NULL;

        CHECK_EQ(eddy_as_completed_next(done, &task), 0);
        CHECK_EQ(eddy_as_completed_next(done, &task), 0);
        CHECK(!task);
}

/* A81: in the order they finish, the handles that were given, failed ones too. */
SIM_TEST(tasks_come_in_the_order_they_finish)
{
        int64_t begin = eddy_now();
        eddy_as_completed done;
        struct crowd crowd;

        crowd_begin(&crowd);
        crowd.sleepers[1].result = -5;
        CHECK_EQ(eddy_as_completed_begin(&done, crowd.tasks, N), 0);
        for (int i = 0; i < N; i++) {
                check_next(&done, crowd.tasks[order[i]]);
                CHECK_NS(eddy_now() - begin, (i + 1) * MS);
        }
        check_no_more(&done);
        eddy_as_completed_end(&done);
        crowd_end(&crowd);
}

/* A81: what finished before it began, or while nobody asked, is there at once. */
SIM_TEST(tasks_that_have_finished_already_are_given_first)
{
        eddy_as_completed done;
        struct crowd crowd;
        int64_t begin;

        crowd_begin(&crowd);
        CHECK_EQ(eddy_sleep(2 * MS + EDDY_US(500)), 0);
        CHECK_EQ(eddy_as_completed_begin(&done, crowd.tasks, N), 0);
        CHECK_EQ(eddy_sleep(2 * MS), 0);
        begin = eddy_now();
        /* Before it began: in the order named.  After: in the order finished. */
        check_next(&done, crowd.tasks[1]);
        check_next(&done, crowd.tasks[3]);
        check_next(&done, crowd.tasks[5]);
        check_next(&done, crowd.tasks[0]);
        CHECK_NS(eddy_now() - begin, 0);
        check_next(&done, crowd.tasks[4]);
        check_next(&done, crowd.tasks[2]);
        check_no_more(&done);
        eddy_as_completed_end(&done);
        crowd_end(&crowd);
}

/* A81: one that is named twice is given once, whether it had finished or not. */
SIM_TEST(a_task_that_is_named_twice_is_given_once)
{
        eddy_task *named[3 * N];
        eddy_as_completed done;
        struct crowd crowd;

        crowd_begin(&crowd);
        CHECK_EQ(eddy_sleep(2 * MS + EDDY_US(500)), 0);
        for (int i = 0; i < 3 * N; i++)
                named[i] = crowd.tasks[i < N ? i : (i * 5) % N];
        CHECK_EQ(eddy_as_completed_begin(&done, named, 3 * N), 0);
        check_next(&done, crowd.tasks[1]);
        check_next(&done, crowd.tasks[3]);
        for (int i = 2; i < N; i++)
                check_next(&done, crowd.tasks[order[i]]);
        check_no_more(&done);
        eddy_as_completed_end(&done);
        crowd_end(&crowd);
}

/* A81: a deadline ends one wait; nothing is cancelled, and the rest can still be had. */
SIM_TEST(after_a_deadline_the_rest_can_still_be_had)
{
        eddy_as_completed done;
        struct crowd crowd;
        eddy_task *task;
        eddy_scope limit;

        crowd_begin(&crowd);
        CHECK_EQ(eddy_as_completed_begin(&done, crowd.tasks, N), 0);
        eddy_scope_begin(&limit, &(struct eddy_scope_opts){ .timeout_ns = 2500000 });
        check_next(&done, crowd.tasks[order[0]]);
        check_next(&done, crowd.tasks[order[1]]);
        task = NULL;
        CHECK_EQ(eddy_as_completed_next(&done, &task), -ECANCELED);
        CHECK_EQ(eddy_as_completed_next(&done, &task), -ECANCELED);
        CHECK(!task);
        CHECK_EQ(eddy_scope_end(&limit), -ETIMEDOUT);
        for (int i = 2; i < N; i++) {
                CHECK(!eddy_task_is_done(crowd.tasks[order[i]]));
                check_next(&done, crowd.tasks[order[i]]);
        }
        check_no_more(&done);
        eddy_as_completed_end(&done);
        crowd_end(&crowd);
}

/* A81: a deadline that is not needed costs nothing. */
SIM_TEST(a_deadline_that_does_not_pass_has_no_effect)
{
        int64_t begin = eddy_now();
        eddy_as_completed done;
        struct crowd crowd;
        eddy_scope limit;

        crowd_begin(&crowd);
        CHECK_EQ(eddy_as_completed_begin(&done, crowd.tasks, N), 0);
        eddy_scope_begin(&limit, &(struct eddy_scope_opts){ .timeout_ns = EDDY_MIN(1) });
        for (int i = 0; i < N; i++)
                check_next(&done, crowd.tasks[order[i]]);
        check_no_more(&done);
        CHECK_EQ(eddy_scope_end(&limit), 0);
        eddy_as_completed_end(&done);
        crowd_end(&crowd);
        CHECK_NS(eddy_now() - begin, N * MS);
}

/* A81: stopping in between leaves the tasks running, and no waiter with them. */
SIM_TEST(stopping_early_leaves_the_tasks_alone)
{
        eddy_as_completed done;
        struct crowd crowd;

        crowd_begin(&crowd);
        CHECK_EQ(eddy_as_completed_begin(&done, crowd.tasks, N), 0);
        check_next(&done, crowd.tasks[order[0]]);
        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_as_completed_end(&done);
        for (int i = 0; i < N; i++)
                CHECK(!crowd.tasks[i]->joiners[0]);
        check_no_more(&done);
        eddy_as_completed_end(&done);
        crowd_end(&crowd);
}

struct reader {
        eddy_as_completed *done;
        int taken;
        int result;
};

static int reads(void *arg)
{
        struct reader *reader = arg;
        eddy_task *task;

        while ((reader->result = eddy_as_completed_next(reader->done, &task)) > 0)
                reader->taken++;
        return 0;
}

/* A81: several may take from one: each task goes to one of them, and all learn of the end. */
SIM_TEST(several_may_take_from_one)
{
        eddy_as_completed done;
        struct reader readers[4];
        struct crowd crowd;
        eddy_scope scope;
        int64_t begin = eddy_now();

        crowd_begin(&crowd);
        CHECK_EQ(eddy_as_completed_begin(&done, crowd.tasks, N), 0);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 4; i++) {
                readers[i] = (struct reader){ .done = &done, .result = 99 };
                CHECK_EQ(eddy_scope_start(&scope, reads, &readers[i]), 0);
        }
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_NS(eddy_now() - begin, N * MS);
        /* First come, first served. */
        for (int i = 0; i < 4; i++) {
                CHECK_EQ(readers[i].taken, i < N % 4 ? 2 : 1);
                CHECK_EQ(readers[i].result, 0);
        }
        eddy_as_completed_end(&done);
        crowd_end(&crowd);
}

static int joins(void *arg)
{
        int result;

        CHECK_EQ(eddy_task_join(arg, &result), 0);
        return result;
}

/* A81: joining and waiting go on beside it, before it in line and behind it. */
SIM_TEST(other_waits_for_the_same_tasks_are_not_disturbed)
{
        eddy_as_completed done[2];
        struct crowd crowd;
        eddy_scope scope;

        crowd_begin(&crowd);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < N; i++)
                CHECK_EQ(eddy_scope_start(&scope, joins, crowd.tasks[i]), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        for (int i = 0; i < 2; i++)
                CHECK_EQ(eddy_as_completed_begin(&done[i], crowd.tasks, N), 0);
        for (int i = 0; i < N / 2; i++)
                check_next(&done[0], crowd.tasks[order[i]]);
        CHECK_EQ(eddy_wait(crowd.tasks, N, EDDY_WAIT_ALL), N);
        for (int i = N / 2; i < N; i++)
                check_next(&done[0], crowd.tasks[order[i]]);
        eddy_as_completed_end(&done[0]);
        for (int i = 0; i < N; i++)
                check_next(&done[1], crowd.tasks[order[i]]);
        eddy_as_completed_end(&done[1]);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        crowd_end(&crowd);
}

/* A81: none, too many, the caller itself. */
SIM_TEST(no_tasks_are_done_at_once_and_an_invalid_list_is_refused)
{
        eddy_as_completed done;
        eddy_task *self = eddy_task_current(), *task = NULL;

        CHECK_EQ(eddy_as_completed_begin(&done, NULL, 0), 0);
        check_no_more(&done);
        eddy_as_completed_end(&done);
        CHECK_EQ(eddy_as_completed_begin(&done, &self, 1), -EDEADLK);
        eddy_as_completed_end(&done);
        CHECK_EQ(eddy_as_completed_begin(&done, &self, (size_t) EDDY_WAIT_TASKS_MAX + 1), -EINVAL);
        CHECK_EQ(eddy_as_completed_next(&done, &task), 0);
        eddy_as_completed_end(&done);
}

TEST(outside_of_a_run_it_does_not_begin)
{
        eddy_as_completed done;
        eddy_task *task;

        CHECK_EQ(eddy_as_completed_begin(&done, NULL, 0), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_as_completed_next(&done, &task), EDDY_E_RUN_NOT_RUNNING);
        eddy_as_completed_end(&done);
}

static int begins_without_memory(void *arg)
{
        eddy_as_completed done;
        struct crowd crowd;

        (void) arg;
        crowd_begin(&crowd);
        allocations_left = 0;
        CHECK_EQ(eddy_as_completed_begin(&done, crowd.tasks, N), -ENOMEM);
        allocations_left = -1;
        eddy_as_completed_end(&done);
        crowd_end(&crowd);
        return 0;
}

TEST(without_memory_it_does_not_begin)
{
        eddy_alloc_set(starve, NULL);
        CHECK_EQ(sim_run(begins_without_memory, NULL), 0);
}
