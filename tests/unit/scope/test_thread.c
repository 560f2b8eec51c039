/*
 * test_thread.c - functions called on other threads: results, cancels, what is
 * released when, and the end of a run that has such jobs.
 */
#include "thread_test.h"

/* --- what a job sees --- */

static const eddy_var var = EDDY_VAR("number", int);

static int read_var(void *arg)
{
        (void) arg;
        return *(const int *) eddy_var_get(&var);
}

/* A115: a job runs once, its result is the call's, failures too. */
SIM_TEST(a_job_runs_once_and_its_result_is_returned)
{
        struct work good = { .result = 42 }, bad = { .result = -EIO };

        CHECK_EQ(eddy_to_thread(work_do, &good), 42);
        CHECK_EQ(good.runs, 1);
        CHECK_EQ(work_call(&bad), -EIO);
        CHECK_EQ(bad.runs, 1);
        CHECK_EQ(bad.releases, 1);
}

/* A115: it sees the variables of who asked for it. */
SIM_TEST(a_job_sees_the_variables_of_its_caller)
{
        int value = 7;

        CHECK_EQ(eddy_var_set(&var, &value), 0);
        CHECK_EQ(eddy_to_thread(read_var, NULL), 7);
}

static int look_around(void *arg)
{
        eddy_thread_pool *pool;

        (void) arg;
        CHECK_EQ(eddy_sleep(0), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_thread_pool_new(NULL, &pool), EDDY_E_RUN_NOT_RUNNING);
        return 4;
}

static int look_for_task(void *arg)
{
        (void) arg;
        CHECK(eddy_task_current());
        return eddy_sleep(0) == 0 ? 5 : 0;
}

/* It may even run a loop of its own. */
static int run_here(void *arg)
{
        return sim_run_beside(look_for_task, arg);
}

SIM_TEST(a_job_is_not_a_task_and_has_no_loop)
{
        CHECK_EQ(eddy_to_thread(look_around, NULL), 4);
        CHECK_EQ(eddy_to_thread(run_here, NULL), 5);
        CHECK_EQ(eddy_to_thread(look_around, NULL), 4);
}

TEST(without_a_run_no_thread_is_made)
{
        struct work work = { 0 };
        eddy_thread_pool *pool;

        CHECK_EQ(eddy_to_thread(work_do, &work), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_thread_pool_new(NULL, &pool), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(work_call(&work), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(work.runs, 0);
        CHECK_EQ(work.releases, 1);
        CHECK(!eddy_thread_is_stopping());
        CHECK(eddy_cpu_count() >= 1);
}

static int count_ticks(void *arg)
{
        while (eddy_sleep(MS / 10) == 0)
                ++*(int *) arg;
        return 0;
}

SIM_TEST(the_other_tasks_run_meanwhile)
{
        struct work work = { 0 };
        eddy_scope scope;
        int ticks = 0;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, count_ticks, &ticks), 0);
        CHECK_EQ(work_call(&work), 0);
        CHECK(ticks >= 8);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

/* --- cancelling --- */

/* A116: who waits for a job that may be abandoned returns at once; the job goes on. */
SIM_TEST(a_cancelled_caller_that_may_leave_does_so_at_once)
{
        struct work work = { .flags = EDDY_THREAD_ABANDON };
        int64_t begin = eddy_now();
        eddy_scope scope;

        works_begin(&scope, &work, 1);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0); /* the cancel was its own */
        CHECK_EQ(work.returned, -ECANCELED);
        CHECK_NS(work.ended_ns - begin, 0);
        CHECK_EQ(work.runs, 0);
        CHECK_EQ(work.releases, 0);
        CHECK_EQ(eddy_sleep(2 * MS), 0);
        CHECK_EQ(work.runs, 1);
        CHECK_EQ(work.stops, 1);
        CHECK_EQ(work.releases, 1);
}

/* A116: a job that runs is not killed; it is asked to stop, and waited for. */
SIM_TEST(a_cancelled_caller_waits_for_its_job_and_gets_its_result)
{
        struct work work = { .result = 5 };
        int64_t begin = eddy_now();
        eddy_scope scope;

        works_begin(&scope, &work, 1);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(work.returned, 5);
        CHECK_NS(work.ended_ns - begin, MS);
        CHECK_EQ(work.stops, 1);
        CHECK_EQ(work.releases, 1);
}

/* A116: a job that waits for a thread is dropped. */
SIM_TEST(a_cancelled_callers_job_that_waits_for_a_thread_never_runs)
{
        eddy_thread_pool *pool = pool_new((struct eddy_thread_pool_opts){ .threads_max = 1 });
        struct work first = { .pool = pool }, second = { .pool = pool };
        eddy_scope scope, inner;

        works_begin(&scope, &first, 1);
        works_begin(&inner, &second, 1);
        CHECK_EQ(info_of(pool).queued, 1);
        eddy_scope_cancel(&inner);
        CHECK_EQ(info_of(pool).queued, 0);
        (void) eddy_scope_end(&inner);
        CHECK_EQ(second.returned, -ECANCELED);
        CHECK_EQ(second.releases, 1);
        CHECK(!first.over);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(first.runs, 1);
        CHECK_EQ(first.stops, 0);
        CHECK_EQ(second.runs, 0);
        eddy_thread_pool_close(pool);
}

SIM_TEST(a_job_that_was_done_when_the_cancel_came_has_its_result)
{
        struct work work = { .result = 9, .flags = EDDY_THREAD_ABANDON };
        eddy_scope scope;

        works_begin(&scope, &work, 1);
        while (work.runs == 0)
                CHECK_EQ(eddy_sleep(0), 0);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        CHECK_EQ(work.returned, 9);
        CHECK_EQ(work.stops, 0);
        CHECK_EQ(work.releases, 1);
}

static int call_in_cancelled_scope(struct work *work)
{
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        err = work_call(work);
        (void) eddy_scope_end(&scope);
        return err;
}

SIM_TEST(a_call_in_a_cancelled_scope_does_nothing)
{
        struct work work = { 0 };

        CHECK_EQ(call_in_cancelled_scope(&work), -ECANCELED);
        CHECK_EQ(work.runs, 0);
        CHECK_EQ(work.releases, 1);
}

SIM_TEST(a_deadline_asks_the_job_to_stop_and_its_result_wins)
{
        struct work work = { .result = 3 };

        CHECK_EQ(eddy_call_timeout(work_task, &work, MS / 2), 3);
        CHECK_EQ(work.stops, 1);
}

SIM_TEST(a_job_that_gives_up_when_asked_to_is_the_deadlines)
{
        struct work work = { .result = -ECANCELED };

        CHECK_EQ(eddy_call_timeout(work_task, &work, MS / 2), -ETIMEDOUT);
        CHECK_EQ(work.runs, 1);
}

SIM_TEST(unknown_flags_are_refused)
{
        struct work work = { .flags = 1 << 20 };

        CHECK_EQ(work_call(&work), -EINVAL);
        CHECK_EQ(work.runs, 0);
        CHECK_EQ(work.releases, 1);
}

/* --- the end of a run --- */

/* What happened in which order. */
static int order[8], steps;

static void step(int what)
{
        CHECK(steps < 8);
        order[steps++] = what;
}

enum { MAIN = 1, BACKGROUND, JOB };

static int step_job(void *arg)
{
        (void) arg;
        step(JOB);
        return 0;
}

static int call_and_leave(void *arg)
{
        struct eddy_thread_opts opts = { .flags = EDDY_THREAD_ABANDON };

        (void) arg;
        return eddy_thread_pool_call(NULL, step_job, NULL, &opts);
}

static int step_in_background(void *arg)
{
        (void) arg;
        (void) eddy_sleep(EDDY_SEC(60));
        step(BACKGROUND);
        return 0;
}

static int main_of_order(void *arg)
{
        (void) arg;
        jobs_last(EDDY_SEC(3));
        CHECK_EQ(eddy_background(step_in_background, NULL), 0);
        CHECK_EQ(eddy_call_timeout(call_and_leave, NULL, MS), -ETIMEDOUT);
        step(MAIN);
        return 17;
}

static int64_t sim_lasted(eddy_task_fn *fn, struct reports *reports, int64_t drain_ns, int result)
{
        struct ed_sim_end end;
        struct ed_sim_opts sim = { .end = &end };
        struct eddy_run_opts opts = { .drain_ns = drain_ns,
                                      .report = reports_add,
                                      .report_arg = reports };
        struct ed_sys *sys;

        CHECK_EQ(ed_sim_new(&sim, &sys), 0);
        CHECK_EQ(ed_run_on(sys, fn, NULL, &opts, NULL), result);
        return end.lasted_ns;
}

/*
 * A104: main's result first, then the tasks that are left,
 * then the run's own threads, which are waited for.
 */
TEST(a_run_ends_with_its_tasks_and_then_its_threads)
{
        struct reports reports = { 0 };

        CHECK_NS(sim_lasted(main_of_order, &reports, EDDY_SEC(2), 17), EDDY_SEC(3));
        CHECK_EQ(steps, 3);
        CHECK_EQ(order[0], MAIN);
        CHECK_EQ(order[1], BACKGROUND);
        CHECK_EQ(order[2], JOB);
        CHECK_EQ(reports.count[EDDY_REPORT_THREAD], 0);
}

static int main_of_hanging(void *arg)
{
        (void) arg;
        jobs_last(EDDY_MIN(10));
        CHECK_EQ(eddy_call_timeout(call_and_leave, NULL, MS), -ETIMEDOUT);
        return 0;
}

/* A104: a job that does not end is waited for up to the limit, reported, and abandoned. */
TEST(a_job_that_hangs_does_not_hang_the_run)
{
        struct reports reports = { 0 };

        CHECK_NS(sim_lasted(main_of_hanging, &reports, EDDY_SEC(2), 0), EDDY_SEC(2) + MS);
        CHECK_EQ(reports.count[EDDY_REPORT_THREAD], 1);
        CHECK(strstr(reports.text, "step_job") || strstr(reports.text, "0x"));
        /* It outlived the run, and was done after that. */
        CHECK_EQ(steps, 1);
}

TEST(a_run_that_drains_nothing_waits_for_no_job)
{
        struct reports reports = { 0 };

        CHECK_NS(sim_lasted(main_of_hanging, &reports, -1, 0), MS);
        CHECK_EQ(reports.count[EDDY_REPORT_THREAD], 1);
}

static int main_of_deadlock(void *arg)
{
        eddy_semaphore never = EDDY_SEMAPHORE(0, 0);
        struct work work = { 0 };

        (void) arg;
        CHECK_EQ(work_call(&work), 0);
        return eddy_semaphore_acquire(&never);
}

TEST(an_idle_thread_hides_no_deadlock)
{
        struct reports reports = { 0 };

        CHECK_NS(sim_lasted(main_of_deadlock, &reports, 0, -EDEADLK), MS);
        CHECK_EQ(reports.count[EDDY_REPORT_DEADLOCK], 1);
}
