/*
 * test_wait.c - waiting for several tasks: for all, for the first, for the
 * first that fails; and that this does nothing to them.
 */
#include "other_loop.h"
#include "starve.h"

struct sleeper {
        int64_t ns; /* how long it takes */
        int result;
};

static int sleeps(void *arg)
{
        struct sleeper *sleeper = arg;
        int err = eddy_sleep(sleeper->ns);

        return err < 0 ? err : sleeper->result;
}

enum { N = 20 }; /* more than fit the stack of a wait */

struct crowd {
        eddy_scope scope;
        struct sleeper sleepers[N];
        eddy_task *tasks[N];
        int n;
};

/* So many tasks that take 1, 2, 3 ... ms and fail nobody. */
static void crowd_begin(struct crowd *crowd, int n)
{
        struct eddy_scope_opts opts = { .flags = EDDY_SCOPE_KEEP_GOING };

        eddy_scope_begin(&crowd->scope, &opts);
        crowd->n = n;
        for (int i = 0; i < n; i++) {
                crowd->sleepers[i] = (struct sleeper){ .ns = (i + 1) * MS, .result = i };
                CHECK_EQ(eddy_scope_start_task(&crowd->scope, sleeps, &crowd->sleepers[i], NULL,
                                               &crowd->tasks[i]),
                         0);
        }
}

/* All have come to what they were to come to: nothing has cancelled them. */
static void crowd_end(struct crowd *crowd)
{
        (void) eddy_scope_end(&crowd->scope);
        for (int i = 0; i < crowd->n; i++) {
                int result;

                CHECK(!crowd->tasks[i]->joiners[0]);
                CHECK_EQ(eddy_task_result(crowd->tasks[i], &result), 0);
                CHECK_EQ(result, crowd->sleepers[i].result);
                eddy_task_release(crowd->tasks[i]);
        }
}

static const int sizes[] = { 1, 3, 8, 9, N };

/* A80: all. */
SIM_TEST(waiting_for_all_takes_as_long_as_the_last)
{
        for (int s = 0; s < 5; s++) {
                int64_t begin = eddy_now();
                struct crowd crowd;

                crowd_begin(&crowd, sizes[s]);
                crowd.sleepers[0].result = -5;
                CHECK_EQ(eddy_wait(crowd.tasks, sizes[s], EDDY_WAIT_ALL), sizes[s]);
                CHECK_NS(eddy_now() - begin, sizes[s] * MS);
                /* Once more, of what has finished. */
                CHECK_EQ(eddy_wait(crowd.tasks, sizes[s], EDDY_WAIT_ALL), sizes[s]);
                CHECK_NS(eddy_now() - begin, sizes[s] * MS);
                crowd_end(&crowd);
        }
}

/* A80: the first, and then the rest one by one. */
SIM_TEST(waiting_for_the_first_leaves_the_others_running)
{
        for (int s = 1; s < 5; s++) {
                int64_t begin = eddy_now();
                struct crowd crowd;

                crowd_begin(&crowd, sizes[s]);
                for (int i = 0; i < sizes[s]; i++) {
                        CHECK_EQ(eddy_wait(crowd.tasks + i, (size_t) (sizes[s] - i),
                                           EDDY_WAIT_FIRST_COMPLETED),
                                 1);
                        CHECK_NS(eddy_now() - begin, (i + 1) * MS);
                        CHECK(eddy_task_is_done(crowd.tasks[i]));
                }
                crowd_end(&crowd);
        }
}

/* A80: several may have finished by the time the caller runs. */
SIM_TEST(waiting_for_the_first_may_find_several)
{
        struct crowd crowd;

        crowd_begin(&crowd, N);
        for (int i = 0; i < 5; i++)
                crowd.sleepers[i].ns = MS;
        CHECK_EQ(eddy_wait(crowd.tasks, N, EDDY_WAIT_FIRST_COMPLETED), 5);
        CHECK_EQ(eddy_wait(crowd.tasks, N, EDDY_WAIT_FIRST_COMPLETED), 5);
        crowd_end(&crowd);
}

/* A80: the first failure; a success ends nothing, nor does a task that was cancelled. */
SIM_TEST(waiting_for_the_first_failure_ignores_successes_and_cancels)
{
        for (int s = 1; s < 5; s++) {
                int64_t begin = eddy_now();
                int failing = sizes[s] - 1;
                struct crowd crowd;

                crowd_begin(&crowd, sizes[s]);
                crowd.sleepers[failing].result = -5;
                crowd.sleepers[0].result = -ECANCELED;
                eddy_task_cancel(crowd.tasks[0]);
                crowd.sleepers[failing].ns = 2 * MS + EDDY_US(500);
                CHECK_EQ(eddy_wait(crowd.tasks, sizes[s], EDDY_WAIT_FIRST_FAILED), 3);
                CHECK_NS(eddy_now() - begin, 2 * MS + EDDY_US(500));
                CHECK(eddy_task_is_done(crowd.tasks[failing]));
                /* At once, when one has failed already. */
                CHECK_EQ(eddy_wait(crowd.tasks, sizes[s], EDDY_WAIT_FIRST_FAILED), 3);
                CHECK_NS(eddy_now() - begin, 2 * MS + EDDY_US(500));
                crowd_end(&crowd);
        }
}

/* A80: without a failure, all. */
SIM_TEST(waiting_for_the_first_failure_where_none_fails_waits_for_all)
{
        int64_t begin = eddy_now();
        struct crowd crowd;

        crowd_begin(&crowd, N);
        CHECK_EQ(eddy_wait(crowd.tasks, N, EDDY_WAIT_FIRST_FAILED), N);
        CHECK_NS(eddy_now() - begin, N * MS);
        CHECK_EQ(eddy_wait(crowd.tasks, N, EDDY_WAIT_FIRST_FAILED), N);
        crowd_end(&crowd);
}

/* A80: a task that stands there twice counts twice, and is waited for once. */
SIM_TEST(a_task_may_be_there_twice)
{
        struct crowd crowd;
        eddy_task *twice[4];

        crowd_begin(&crowd, 2);
        for (int i = 0; i < 4; i++)
                twice[i] = crowd.tasks[i / 2];
        CHECK_EQ(eddy_wait(twice, 4, EDDY_WAIT_FIRST_COMPLETED), 2);
        CHECK_EQ(eddy_wait(twice, 4, EDDY_WAIT_ALL), 4);
        crowd_end(&crowd);
}

struct waiting {
        struct crowd *crowd;
        int until;
        int result;
        eddy_task *task;
};

static int waits(void *arg)
{
        struct waiting *waiting = arg;

        waiting->result = eddy_wait(waiting->crowd->tasks, N, waiting->until);
        return 0;
}

/* A80: a limit of time cancels nothing and is no error of the tasks, nor ends another's wait. */
SIM_TEST(a_deadline_ends_the_wait_and_not_the_tasks)
{
        for (int until = EDDY_WAIT_ALL; until <= EDDY_WAIT_FIRST_FAILED; until += 2) {
                int64_t begin = eddy_now();
                struct waiting other = { .until = EDDY_WAIT_ALL };
                struct crowd crowd;
                eddy_scope limit;

                crowd_begin(&crowd, N);
                other.crowd = &crowd;
                eddy_scope_start(&crowd.scope, waits, &other);
                eddy_scope_begin(&limit, &(struct eddy_scope_opts){ .timeout_ns = 4500000 });
                CHECK_EQ(eddy_wait(crowd.tasks, N, until), -ECANCELED);
                CHECK_EQ(eddy_scope_end(&limit), -ETIMEDOUT);
                CHECK_NS(eddy_now() - begin, 4500000);
                for (int i = 0; i < N; i++) {
                        CHECK_EQ(eddy_task_is_done(crowd.tasks[i]), i < 4);
                        CHECK_EQ(!crowd.tasks[i]->joiners[0], i < 4);
                }
                crowd_end(&crowd);
                CHECK_EQ(other.result, N);
                CHECK_NS(eddy_now() - begin, N * MS);
        }
}

/* A80: a cancelled wait leaves the tasks running, and stands in no line any more. */
SIM_TEST(a_cancelled_wait_leaves_the_tasks_alone)
{
        struct crowd crowd;
        struct waiting waiting[2];
        eddy_scope scope;

        crowd_begin(&crowd, N);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 2; i++) {
                waiting[i] = (struct waiting){ .crowd = &crowd,
                                               .until = EDDY_WAIT_FIRST_COMPLETED,
                                               .result = 99 };
                CHECK_EQ(eddy_scope_start_task(&scope, waits, &waiting[i], NULL, &waiting[i].task),
                         0);
        }
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_task_cancel(waiting[0].task);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(waiting[0].result, -ECANCELED);
        CHECK_EQ(waiting[1].result, 1);
        for (int i = 0; i < 2; i++)
                eddy_task_release(waiting[i].task);
        crowd_end(&crowd);
}

SIM_TEST(in_a_cancelled_scope_nothing_is_waited_for_though_all_have_finished)
{
        struct crowd crowd;
        eddy_scope scope;

        crowd_begin(&crowd, 1);
        CHECK_EQ(eddy_wait(crowd.tasks, 1, EDDY_WAIT_ALL), 1);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_wait(crowd.tasks, 1, EDDY_WAIT_ALL), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        crowd_end(&crowd);
}

/* A80: what is no set of tasks is refused. */
SIM_TEST(a_descriptor_that_cannot_be_waited_for_is_refused)
{
        struct crowd crowd;
        eddy_task *with_self[2];

        crowd_begin(&crowd, 1);
        with_self[0] = crowd.tasks[0];
        with_self[1] = eddy_task_current();
        CHECK_EQ(eddy_wait(crowd.tasks, 0, EDDY_WAIT_ALL), -EINVAL);
        CHECK_EQ(eddy_wait(crowd.tasks, (size_t) EDDY_WAIT_TASKS_MAX + 1, EDDY_WAIT_ALL), -EINVAL);
        CHECK_EQ(eddy_wait(crowd.tasks, 1, -1), -EINVAL);
        CHECK_EQ(eddy_wait(crowd.tasks, 1, 3), -EINVAL);
        CHECK_EQ(eddy_wait(with_self, 2, EDDY_WAIT_FIRST_COMPLETED), -EDEADLK);
        CHECK(!crowd.tasks[0]->joiners[0]);
        crowd_end(&crowd);
}

static int waits_elsewhere(void *arg)
{
        struct crowd *crowd = arg;
        struct eddy_choice choice = eddy_choice_task(crowd->tasks[0]);
        eddy_as_completed done;

        CHECK_EQ(eddy_wait(crowd->tasks, 1, EDDY_WAIT_ALL), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(eddy_select(&choice, 1), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(eddy_as_completed_begin(&done, crowd->tasks, 1), EDDY_E_RUN_OTHER_LOOP);
        return 7;
}

/* A45, A76: tasks of another loop are refused by all that wait for several. */
SIM_TEST(tasks_of_another_loop_are_refused)
{
        struct crowd crowd;

        crowd_begin(&crowd, 1);
        CHECK_EQ(on_other_loop(waits_elsewhere, &crowd), 7);
        crowd_end(&crowd);
}

TEST(outside_of_a_run_nothing_can_be_waited_for)
{
        CHECK_EQ(eddy_wait(NULL, 1, EDDY_WAIT_ALL), EDDY_E_RUN_NOT_RUNNING);
}

static int waits_without_memory(void *arg)
{
        struct crowd crowd;

        (void) arg;
        crowd_begin(&crowd, N);
        allocations_left = 0;
        CHECK_EQ(eddy_wait(crowd.tasks, N, EDDY_WAIT_ALL), -ENOMEM);
        for (int i = 0; i < N; i++)
                CHECK(!crowd.tasks[i]->joiners[0]);
        CHECK_EQ(eddy_wait(crowd.tasks, 4, EDDY_WAIT_ALL), 4);
        allocations_left = -1;
        crowd_end(&crowd);
        return 0;
}

TEST(a_wait_for_many_without_memory_fails_and_one_for_few_needs_none)
{
        eddy_alloc_set(starve, NULL);
        CHECK_EQ(sim_run(waits_without_memory, NULL), 0);
}
