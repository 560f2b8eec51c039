/*
 * test_background.c - tasks that outlive their starter, and the deadlock
 * report.
 */
#include "sim_run.h"

static int finished, cancelled;
static int64_t ended_ns;

static int takes(void *arg)
{
        int err = eddy_sleep((int64_t) (intptr_t) arg);

        finished += err == 0;
        cancelled += err == -ECANCELED;
        return err;
}

static int starts_one(void *arg)
{
        return eddy_background(takes, arg);
}

static int main_returns(void *arg)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, starts_one, arg);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(finished, 0);
        ended_ns = eddy_now();
        return 9;
}

static int run_for(int64_t ns, int64_t drain_ns, struct ed_sim_end *end)
{
        struct eddy_run_opts opts = { .drain_ns = drain_ns };
        struct ed_sim_opts sim = { .end = end };
        struct ed_sys *sys;

        CHECK_EQ(ed_sim_new(&sim, &sys), 0);
        return ed_run_on(sys, main_returns, (void *) (intptr_t) ns, &opts, NULL);
}

TEST(a_background_task_outlives_its_starter_and_main)
{
        struct ed_sim_end end;

        CHECK_EQ(run_for(EDDY_SEC(2), 0, &end), 9);
        CHECK_EQ(finished, 1);
        CHECK_NS(end.lasted_ns, EDDY_SEC(2));
}

TEST(a_connection_that_does_not_drain_in_five_seconds_is_cancelled)
{
        struct ed_sim_end end;

        CHECK_EQ(run_for(EDDY_SEC(60), 0, &end), 9);
        CHECK_EQ(cancelled, 1);
        CHECK_NS(end.lasted_ns, EDDY_SEC(5));
}

TEST(the_time_to_drain_is_the_callers_to_set)
{
        struct ed_sim_end end;

        CHECK_EQ(run_for(EDDY_SEC(60), EDDY_SEC(20), &end), 9);
        CHECK_EQ(cancelled, 1);
        CHECK_NS(end.lasted_ns, EDDY_SEC(20));
}

TEST(below_zero_the_background_is_cancelled_at_once)
{
        struct ed_sim_end end;

        CHECK_EQ(run_for(EDDY_SEC(60), -1, &end), 9);
        CHECK_EQ(cancelled, 1);
        CHECK_NS(end.lasted_ns, 0);
}

TEST(the_longest_time_to_drain_there_is_does_not_overflow)
{
        struct ed_sim_end end;

        CHECK_EQ(run_for(EDDY_SEC(3600), INT64_MAX, &end), 9);
        CHECK_EQ(finished, 1);
        CHECK_NS(end.lasted_ns, EDDY_SEC(3600));
}

/* --- failures --- */

static int fails(void *arg)
{
        (void) eddy_sleep(MS);
        return arg ? -EIO : 3;
}

static int starts_failing(void *arg)
{
        CHECK_EQ(eddy_background(fails, arg), 0);
        CHECK_EQ(eddy_background(takes, (void *) (intptr_t) (10 * MS)), 0);
        return eddy_sleep(5 * MS);
}

/* A105, A17: a failure is reported, and harms nobody else. */
TEST(a_background_failure_goes_to_the_report_and_cancels_no_task)
{
        struct reports reports = { 0 };
        struct eddy_run_opts opts = { .report = reports_add, .report_arg = &reports };

        CHECK_EQ(sim_run_with(starts_failing, &opts, 0, opts), 0);
        CHECK_EQ(reports.count[EDDY_REPORT_BACKGROUND], 1);
        CHECK_EQ(reports.error, -EIO);
        CHECK(reports.task[0] != '\0');
        CHECK_EQ(finished, 1);
        CHECK_EQ(sim_run_with(starts_failing, NULL, 0, opts), 0);
        CHECK_EQ(reports.count[EDDY_REPORT_BACKGROUND], 1);
}

/* --- started while the run ends --- */

static int started_late[3];

static int starts_another(void *arg)
{
        int *times = arg;

        ++*times;
        if (eddy_sleep(MS) < 0) {
                started_late[0] = eddy_background(takes, NULL);
                return -ECANCELED;
        }
        return *times < 5 ? eddy_background(starts_another, times) : 0;
}

static int starts_chain(void *arg)
{
        return eddy_background(starts_another, arg);
}

/* A106: what is started while the run drains is waited for like the rest. */
TEST(a_task_started_while_the_run_drains_is_waited_for)
{
        int times = 0;

        CHECK_EQ(sim_run(starts_chain, &times), 0);
        CHECK_EQ(times, 5);
}

TEST(once_the_background_is_cancelled_no_more_is_started)
{
        struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_DEBUG, .drain_ns = -1 };
        int times = 0;

        CHECK_EQ(sim_run_with(starts_chain, &times, 0, opts), 0);
        CHECK_EQ(times, 1);
        CHECK_EQ(started_late[0], -ECANCELED);
}

/* A104: the result of the run is main's, whatever the background comes to. */
static int main_fails(void *arg)
{
        (void) arg;
        CHECK_EQ(eddy_background(takes, (void *) (intptr_t) MS), 0);
        return -EPERM;
}

TEST(mains_failure_is_the_runs_and_leaves_the_background_to_drain)
{
        CHECK_EQ(sim_run(main_fails, NULL), -EPERM);
        CHECK_EQ(finished, 1);
}

/* --- services --- */

static int64_t service_ended_ns, background_ended_ns;
static int late_service;

static const struct eddy_background_opts service = { .name = "exporter",
                                                     .flags = EDDY_BACKGROUND_SERVICE };

static int serves(void *arg)
{
        int err;

        while ((err = eddy_sleep(EDDY_MS(3))) == 0)
                continue;
        CHECK_STR(eddy_task_name(eddy_task_current()), "exporter");
        service_ended_ns = eddy_now();
        *(int *) arg += 1;
        return err;
}

static int drains(void *arg)
{
        (void) arg;
        CHECK_EQ(eddy_sleep(EDDY_MS(10)), 0);
        background_ended_ns = eddy_now();
        late_service = eddy_background_with(serves, NULL, &service);
        return eddy_background_with(takes, (void *) (intptr_t) MS, NULL);
}

static int main_with_service(void *arg)
{
        CHECK_EQ(eddy_background_with(serves, arg, &service), 0);
        CHECK_EQ(eddy_background(drains, NULL), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(5)), 0);
        CHECK_EQ(*(int *) arg, 0);
        ended_ns = eddy_now();
        return 7;
}

TEST(a_service_is_cancelled_when_main_has_ended_while_other_background_tasks_drain)
{
        int ended = 0;

        CHECK_EQ(sim_run(main_with_service, &ended), 7);
        CHECK_EQ(ended, 1);
        CHECK_NS(service_ended_ns - ended_ns, 0);
        CHECK_NS(background_ended_ns - ended_ns, EDDY_MS(5));
        CHECK_EQ(late_service, -ECANCELED);
        CHECK_EQ(finished, 1);
}

/* Its cleanup and the other background tasks go on at the same time. */
static int cleans_up(void *arg)
{
        eddy_scope shield;

        while (eddy_sleep(EDDY_MS(3)) == 0)
                continue;
        eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
        CHECK_EQ(eddy_sleep(EDDY_MS(20)), 0);
        CHECK_EQ(eddy_scope_end(&shield), 0);
        *(int *) arg += 1;
        return 0;
}

static int main_with_cleanup(void *arg)
{
        CHECK_EQ(eddy_background_with(cleans_up, arg, &service), 0);
        return eddy_background(takes, (void *) (intptr_t) EDDY_MS(30));
}

TEST(a_services_cleanup_and_the_drain_go_on_at_the_same_time)
{
        struct ed_sim_end end;
        struct ed_sim_opts sim = { .end = &end };
        struct ed_sys *sys;
        int ended = 0;

        CHECK_EQ(ed_sim_new(&sim, &sys), 0);
        CHECK_EQ(ed_run_on(sys, main_with_cleanup, &ended, NULL, NULL), 0);
        CHECK_EQ(ended, 1);
        CHECK_EQ(finished, 1);
        CHECK_NS(end.lasted_ns, EDDY_MS(30));
}

static int main_with_failure(void *arg)
{
        struct eddy_background_opts opts = service;

        (void) arg;
        opts.task_flags = EDDY_TASK_STACK_64K;
        CHECK_EQ(eddy_background_with(fails, &opts, &opts), 0);
        CHECK_EQ(eddy_background_with(takes, (void *) (intptr_t) EDDY_MS(3), &service), 0);
        return eddy_sleep(EDDY_MS(5));
}

TEST(a_service_that_fails_is_reported_by_its_name_and_harms_no_other)
{
        struct reports reports = { 0 };
        struct eddy_run_opts opts = { .report = reports_add, .report_arg = &reports };

        CHECK_EQ(sim_run_with(main_with_failure, NULL, 0, opts), 0);
        CHECK_EQ(reports.count[EDDY_REPORT_BACKGROUND], 1);
        CHECK_EQ(reports.error, -EIO);
        CHECK_STR(reports.task, "exporter");
        CHECK_EQ(finished, 1);
}

static int main_with_bad_options(void *arg)
{
        (void) arg;
        CHECK_EQ(eddy_background_with(takes, NULL, &(struct eddy_background_opts){ .flags = 2 }),
                 -EINVAL);
        CHECK_EQ(eddy_background_with(takes, NULL,
                                      &(struct eddy_background_opts){ .task_flags = 2 }),
                 -EINVAL);
        CHECK_EQ((eddy_background_with) (takes, NULL, NULL), 0);
        return 0;
}

TEST(unknown_options_of_a_background_task_are_refused)
{
        CHECK_EQ(eddy_background_with(takes, NULL, NULL), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(sim_run(main_with_bad_options, NULL), 0);
        CHECK_EQ(finished, 1);
}

static int waits_for_a_unit(void *arg)
{
        return eddy_semaphore_acquire(arg);
}

static int main_waits_with_service(void *arg)
{
        static eddy_semaphore sem;

        CHECK_EQ(eddy_background_with(waits_for_a_unit, &sem, &service), 0);
        *(int *) arg = eddy_semaphore_acquire(&sem);
        return 0;
}

TEST(a_service_that_waits_hides_no_deadlock)
{
        struct reports reports = { 0 };
        struct eddy_run_opts opts = { .report = reports_add, .report_arg = &reports };
        int waited = 0;

        CHECK_EQ(sim_run_with(main_waits_with_service, &waited, 0, opts), -EDEADLK);
        CHECK_EQ(waited, -ECANCELED);
        CHECK_EQ(reports.count[EDDY_REPORT_DEADLOCK], 1);
}

/* --- deadlock --- */

static int waits_for_unit(void *arg)
{
        return eddy_semaphore_acquire(arg);
}

static int waits_for_item(void *arg)
{
        int item;

        return eddy_queue_get(arg, &item);
}

static int deadlocks(void *arg)
{
        static eddy_semaphore sem;
        static eddy_queue queue;
        eddy_task *task;
        eddy_scope scope;
        int end;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, waits_for_unit, &sem,
                                       &(struct eddy_task_opts){ .name = "unit-taker" }, &task),
                 0);
        eddy_task_release(task);
        CHECK_EQ(eddy_scope_start_task(&scope, waits_for_item, &queue,
                                       &(struct eddy_task_opts){ .name = "item-getter" }, &task),
                 0);
        eddy_task_release(task);
        end = eddy_scope_end(&scope);
        *(int *) arg = end;
        return end;
}

TEST(a_deadlock_is_reported_with_each_waiter_and_ends_the_run)
{
        struct reports reports = { 0 };
        struct eddy_run_opts opts = { .report = reports_add, .report_arg = &reports };
        int end = 0;

        CHECK_EQ(sim_run_with(deadlocks, &end, 0, opts), -EDEADLK);
        CHECK_EQ(end, -ECANCELED);
        CHECK_EQ(reports.count[EDDY_REPORT_DEADLOCK], 1);
        CHECK_EQ(reports.error, -EDEADLK);
        CHECK(strstr(reports.text, "unit-taker waits for a unit of a semaphore") != NULL);
        CHECK(strstr(reports.text, "item-getter waits for an item in a queue") != NULL);
        CHECK(strstr(reports.text, "main waits for the tasks of a scope to end") != NULL);
}

static int many_wait(void *arg)
{
        static eddy_semaphore sem;
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 500; i++)
                eddy_scope_start(&scope, waits_for_unit, &sem);
        return eddy_scope_end(&scope);
}

TEST(a_deadlock_of_many_names_some_and_counts_the_rest)
{
        struct reports reports = { 0 };
        struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_DEBUG, /* without stacks */
                                      .report = reports_add,
                                      .report_arg = &reports };

        CHECK_EQ(sim_run_with(many_wait, NULL, 0, opts), -EDEADLK);
        CHECK(strstr(reports.text, "and 462 more") != NULL);
}

static int waits_with_deadline(void *arg)
{
        eddy_scope scope;
        eddy_semaphore sem = { 0 };

        (void) arg;
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_SEC(3) });
        CHECK_EQ(eddy_semaphore_acquire(&sem), -ECANCELED);
        return eddy_scope_end(&scope) == -ETIMEDOUT ? 0 : -EIO;
}

TEST(a_wait_that_a_deadline_ends_is_not_a_deadlock)
{
        CHECK_EQ(sim_run(waits_with_deadline, NULL), 0);
}
