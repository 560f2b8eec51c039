/*
 * test_thread_pool.c - how pools grow and shrink, their lanes, their limits,
 * and how they close; and that whatever is cancelled when, each job runs once
 * or is dropped, and is released once.
 */
#include "thread_test.h"

enum { N = 6 };

static void works_init(struct work *works, int n, eddy_thread_pool *pool)
{
        for (int i = 0; i < n; i++)
                works[i] = (struct work){ .pool = pool };
}

/* --- growing and shrinking --- */

SIM_TEST(threads_are_made_when_needed_up_to_the_maximum)
{
        eddy_thread_pool *pool = pool_new((struct eddy_thread_pool_opts){ .threads_max = 2 });
        int64_t begin = eddy_now();
        struct work works[N];
        eddy_scope scope;

        works_init(works, N, pool);
        CHECK_EQ(info_of(pool).threads, 0);
        CHECK_EQ(work_call(&works[0]), 0);
        CHECK_EQ(work_call(&works[1]), 0);
        CHECK_EQ(info_of(pool).threads, 1);
        works_begin(&scope, works, N);
        CHECK_EQ(info_of(pool).threads, 2);
        CHECK_EQ(info_of(pool).running, 2);
        CHECK_EQ(info_of(pool).queued, N - 2);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        /* First come, first served, two at a time. */
        for (int i = 0; i < N; i++)
                CHECK_NS(works[i].ended_ns - begin, (3 + i / 2) * MS);
        CHECK_EQ(info_of(pool).running, 0);
        eddy_thread_pool_close(pool);
}

SIM_TEST(a_thread_without_work_ends)
{
        struct eddy_thread_pool_opts opts = { .threads_max = N, .idle_ns = EDDY_SEC(1) };
        eddy_thread_pool *pool = pool_new(opts);
        struct work works[N];
        eddy_scope scope;

        works_init(works, N, pool);
        works_begin(&scope, works, N);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(info_of(pool).threads, N);
        /* One goes on working; the others have had nothing to do. */
        for (int i = 0; i < 8; i++) {
                CHECK_EQ(eddy_sleep(EDDY_MS(120)), 0);
                CHECK_EQ(work_call(&works[0]), 0);
        }
        CHECK_EQ(info_of(pool).threads, N);
        CHECK_EQ(eddy_sleep(EDDY_MS(50)), 0);
        CHECK_EQ(info_of(pool).threads, 1);
        CHECK_EQ(eddy_sleep(EDDY_MS(920)), 0);
        CHECK_EQ(info_of(pool).threads, 1);
        CHECK_EQ(eddy_sleep(EDDY_MS(50)), 0);
        CHECK_EQ(info_of(pool).threads, 0);
        CHECK_EQ(work_call(&works[0]), 0);
        eddy_thread_pool_close(pool);
}

/* --- lanes --- */

SIM_TEST(slow_jobs_never_starve_quick_ones)
{
        struct eddy_thread_pool_opts opts = { .threads_max = 2, .slow_max = 2 };
        eddy_thread_pool *pool = pool_new(opts);
        struct work slow[N], quick = { .pool = pool };
        int64_t begin = eddy_now();
        eddy_scope scope;

        works_init(slow, N, pool);
        for (int i = 0; i < N; i++)
                slow[i].flags = EDDY_THREAD_SLOW;
        jobs_last(EDDY_SEC(100));
        works_begin(&scope, slow, N);
        CHECK_EQ(info_of(pool).running, 2);
        jobs_last(MS);
        for (int i = 0; i < N; i++)
                CHECK_EQ(work_call(&quick), 0);
        CHECK_NS(eddy_now() - begin, N * MS);
        CHECK_EQ(info_of(pool).threads, 3);
        CHECK_EQ(info_of(pool).queued, N - 2);
        /* Nor do the quick ones' threads help out. */
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_NS(slow[0].ended_ns - begin, EDDY_SEC(100));
        CHECK_NS(slow[2].ended_ns - begin, EDDY_SEC(100) + MS);
        eddy_thread_pool_close(pool);
}

SIM_TEST(quick_jobs_never_starve_slow_ones)
{
        struct eddy_thread_pool_opts opts = { .threads_max = 1, .slow_max = 1 };
        eddy_thread_pool *pool = pool_new(opts);
        struct work quick[N], slow = { .pool = pool, .flags = EDDY_THREAD_SLOW };
        int64_t begin = eddy_now();
        eddy_scope scope;

        works_init(quick, N, pool);
        works_begin(&scope, quick, N);
        CHECK_EQ(work_call(&slow), 0);
        CHECK_NS(eddy_now() - begin, MS);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_thread_pool_close(pool);
}

/* --- limits --- */

SIM_TEST(more_jobs_than_may_wait_are_refused)
{
        struct eddy_thread_pool_opts opts = { .threads_max = 1, .queued_max = 2 };
        eddy_thread_pool *pool = pool_new(opts);
        struct work works[N];
        eddy_scope scope;

        works_init(works, N, pool);
        works_begin(&scope, works, N);
        CHECK_EQ(info_of(pool).queued, 2);
        CHECK_EQ(eddy_scope_end(&scope), -EAGAIN);
        for (int i = 0; i < N; i++) {
                CHECK_EQ(works[i].returned, i < 3 ? 0 : -EAGAIN);
                CHECK_EQ(works[i].runs, i < 3);
                CHECK_EQ(works[i].releases, 1);
        }
        eddy_thread_pool_close(pool);
}

SIM_TEST(numbers_out_of_range_are_refused)
{
        static const struct eddy_thread_pool_opts bad[] = {
                { .threads_max = EDDY_THREADS_MAX + 1 },
                { .slow_max = EDDY_THREADS_MAX + 1 },
                { .queued_max = EDDY_THREAD_QUEUED_MAX + 1 },
                { .idle_ns = -1 },
        };
        eddy_thread_pool *pool = NULL;

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                CHECK_EQ(eddy_thread_pool_new(&bad[i], &pool), -EINVAL);
        CHECK(!pool);
        eddy_thread_pool_close(NULL);
}

SIM_TEST(a_job_for_which_no_thread_can_be_made_fails)
{
        eddy_thread_pool *pool = pool_new((struct eddy_thread_pool_opts){ .threads_max = 2 });
        struct work work = { .pool = pool };

        ed_sim_fail_at(ed_loop_current->sys, 1, -EIO);
        CHECK_EQ(work_call(&work), -EAGAIN);
        ed_sim_fail_at(ed_loop_current->sys, 1, -ENOMEM);
        CHECK_EQ(work_call(&work), -ENOMEM);
        CHECK_EQ(work.runs, 0);
        CHECK_EQ(info_of(pool).queued, 0);
        CHECK_EQ(work_call(&work), 0);
        CHECK_EQ(work.releases, 3);
        eddy_thread_pool_close(pool);
}

SIM_TEST(a_job_waits_for_a_thread_that_is_there_if_no_other_can_be_made)
{
        eddy_thread_pool *pool = pool_new((struct eddy_thread_pool_opts){ .threads_max = 3 });
        struct work works[3];
        int64_t begin = eddy_now();
        eddy_scope scope, more;

        works_init(works, 3, pool);
        works_begin(&scope, works, 1);
        ed_sim_fail_at(ed_loop_current->sys, 1, -EAGAIN);
        works_begin(&more, works + 1, 1);
        CHECK_EQ(info_of(pool).threads, 1);
        CHECK_EQ(info_of(pool).queued, 1);
        /* The next one has a thread made for it: for the one that has waited longer. */
        CHECK_EQ(eddy_scope_start(&more, work_task, &works[2]), 0);
        CHECK_EQ(eddy_scope_end(&more), 0);
        CHECK_EQ(info_of(pool).threads, 3);
        CHECK_NS(works[1].ended_ns - begin, MS);
        CHECK_NS(works[2].ended_ns - begin, MS);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_thread_pool_close(pool);
}

/* --- closing --- */

static int call_and_leave(struct work *work, int64_t timeout_ns)
{
        work->flags |= EDDY_THREAD_ABANDON;
        return eddy_call_timeout(work_task, work, timeout_ns);
}

/* A117: a closed pool takes no jobs; what it had is done. */
SIM_TEST(a_pool_that_closes_does_its_work_and_takes_no_more)
{
        struct eddy_thread_pool_opts opts = { .threads_max = 1, .slow_max = 1 };
        eddy_thread_pool *pool = pool_new(opts);
        int64_t begin = eddy_now();
        struct work works[3], late = { .pool = pool };
        eddy_scope scope;

        works_init(works, 3, pool);
        works_begin(&scope, works, 3);
        CHECK_EQ(eddy_thread_pool_shutdown(pool), 0);
        CHECK_NS(eddy_now() - begin, 3 * MS);
        CHECK_EQ(info_of(pool).threads, 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(works[i].stops, 0);
        CHECK_EQ(work_call(&late), EDDY_E_THREAD_POOL_CLOSED);
        CHECK_EQ(late.runs, 0);
        CHECK_EQ(late.releases, 1);
        CHECK_EQ(eddy_thread_pool_shutdown(pool), 0);
        eddy_thread_pool_close(pool);
}

static int call_late(void *arg)
{
        CHECK_EQ(eddy_sleep(MS / 2), 0);
        CHECK_EQ(work_call(arg), EDDY_E_THREAD_POOL_CLOSED);
        return 0;
}

/* A117: a call while a pool closes is refused too. */
SIM_TEST(a_pool_that_is_closing_takes_no_jobs)
{
        eddy_thread_pool *pool = pool_new((struct eddy_thread_pool_opts){ .threads_max = 4 });
        struct work work = { .pool = pool }, late = { .pool = pool };
        eddy_scope scope;

        works_begin(&scope, &work, 1);
        CHECK_EQ(eddy_scope_start(&scope, call_late, &late), 0);
        CHECK_EQ(eddy_thread_pool_shutdown(pool), 0);
        CHECK_EQ(work.runs, 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(late.runs, 0);
        eddy_thread_pool_close(pool);
}

struct hanging {
        struct work left, waited_for, queued;
        int64_t lasted_ns;
};

/* One job that nobody waits for, one that somebody does, one that waits for a thread. */
static int close_hanging(void *arg)
{
        struct hanging *hanging = arg;
        struct eddy_thread_pool_opts opts = { .threads_max = 2, .close_ns = EDDY_SEC(1) };
        eddy_thread_pool *pool = pool_new(opts);
        eddy_scope scope;
        int64_t begin;

        *hanging = (struct hanging){ { .pool = pool }, { .pool = pool }, { .pool = pool } };
        jobs_last(EDDY_SEC(10));
        CHECK_EQ(call_and_leave(&hanging->left, MS), -ETIMEDOUT);
        CHECK_EQ(info_of(pool).abandoned, 1);
        works_begin(&scope, &hanging->waited_for, 1);
        CHECK_EQ(eddy_scope_start(&scope, work_task, &hanging->queued), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        begin = eddy_now();
        CHECK_EQ(eddy_thread_pool_shutdown(pool), 2);
        CHECK_NS(eddy_now() - begin, EDDY_SEC(1));
        CHECK_EQ(info_of(pool).abandoned, 0);
        CHECK_EQ(info_of(pool).running, 1);
        CHECK_EQ(info_of(pool).queued, 0);
        eddy_thread_pool_close(pool);
        CHECK_EQ(eddy_scope_end(&scope), EDDY_E_THREAD_POOL_CLOSED);
        hanging->lasted_ns = eddy_now() - begin;
        return 0;
}

TEST(a_job_that_does_not_stop_is_left_over_and_reported)
{
        struct reports reports = { 0 };
        struct eddy_run_opts opts = { .report = reports_add, .report_arg = &reports };
        struct hanging hanging;

        CHECK_EQ(sim_run_with(close_hanging, &hanging, 0, opts), 0);
        CHECK_EQ(reports.count[EDDY_REPORT_THREAD], 2);
        CHECK_EQ(hanging.queued.returned, EDDY_E_THREAD_POOL_CLOSED);
        CHECK_EQ(hanging.queued.runs, 0);
        CHECK_EQ(hanging.queued.releases, 1);
        /* Who waits gets the result, though the pool is gone. */
        CHECK_NS(hanging.lasted_ns, EDDY_SEC(10));
        CHECK_EQ(hanging.waited_for.returned, 0);
        CHECK_EQ(hanging.waited_for.stops, 1);
        CHECK_EQ(hanging.waited_for.releases, 1);
        CHECK_EQ(hanging.left.stops, 1);
        CHECK_EQ(hanging.left.releases, 1);
}

static int leave_after_closing(void *arg)
{
        struct work *work = arg;
        struct eddy_thread_pool_opts opts = { .close_ns = -1 };
        eddy_scope scope;

        *work = (struct work){ .pool = pool_new(opts), .flags = EDDY_THREAD_ABANDON };
        jobs_last(EDDY_SEC(10));
        works_begin(&scope, work, 1);
        CHECK_EQ(eddy_thread_pool_shutdown(work->pool), 1);
        CHECK_EQ(info_of(work->pool).running, 1);
        eddy_thread_pool_close(work->pool);
        /* Its caller was the last who knew of the pool. */
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        CHECK_EQ(work->returned, -ECANCELED);
        CHECK_EQ(work->releases, 0);
        return 0;
}

TEST(a_caller_may_leave_after_its_pool_has_gone)
{
        struct reports reports = { 0 };
        struct eddy_run_opts opts = { .report = reports_add, .report_arg = &reports };
        struct work work;

        CHECK_EQ(sim_run_with(leave_after_closing, &work, 0, opts), 0);
        CHECK_EQ(work.stops, 1);
        CHECK_EQ(work.releases, 1);
}

static void leave(eddy_scope *scope, struct work *work)
{
        eddy_scope_cancel(scope);
        (void) eddy_scope_end(scope);
        CHECK_EQ(work->returned, -ECANCELED);
}

static int leave_one_after_another(void *arg)
{
        struct work *works = arg;
        struct eddy_thread_pool_opts opts = { .threads_max = 2, .close_ns = -1 };
        eddy_thread_pool *pool = pool_new(opts);
        eddy_scope scopes[2];

        jobs_last(EDDY_SEC(10));
        for (int i = 1; i >= 0; i--) {
                works[i] = (struct work){ .pool = pool, .flags = EDDY_THREAD_ABANDON };
                works_begin(&scopes[i], &works[i], 1);
        }
        CHECK_EQ(eddy_thread_pool_shutdown(pool), 2);
        leave(&scopes[0], &works[0]);
        CHECK_EQ(info_of(pool).running, 1);
        eddy_thread_pool_close(pool);
        leave(&scopes[1], &works[1]);
        return 0;
}

/* The pool is there until it was freed and the last has left. */
TEST(callers_may_leave_one_after_another_while_their_pool_goes)
{
        struct reports reports = { 0 };
        struct eddy_run_opts opts = { .report = reports_add, .report_arg = &reports };
        struct work works[2];

        CHECK_EQ(sim_run_with(leave_one_after_another, works, 0, opts), 0);
        CHECK_EQ(works[0].releases, 1);
        CHECK_EQ(works[1].releases, 1);
}

static int leave_a_closed_pool(void *arg)
{
        struct work *work = arg;
        struct eddy_thread_pool_opts opts = { .close_ns = -1 };
        eddy_thread_pool *pool = pool_new(opts);
        eddy_scope scope;

        *work = (struct work){ .pool = pool, .flags = EDDY_THREAD_ABANDON };
        jobs_last(EDDY_SEC(10));
        works_begin(&scope, work, 1);
        CHECK_EQ(eddy_thread_pool_shutdown(pool), 1);
        leave(&scope, work);
        CHECK_EQ(info_of(pool).running, 0);
        eddy_thread_pool_close(pool);
        return 0;
}

TEST(a_closed_pool_that_all_have_left_is_still_its_owners)
{
        struct reports reports = { 0 };
        struct eddy_run_opts opts = { .report = reports_add, .report_arg = &reports };
        struct work work;

        CHECK_EQ(sim_run_with(leave_a_closed_pool, &work, 0, opts), 0);
        CHECK_EQ(work.releases, 1);
}

static int cut_closing_short(void *arg)
{
        struct eddy_thread_pool_opts opts = { .close_ns = EDDY_MIN(1) };
        struct work work = { .pool = pool_new(opts) };
        int64_t begin = eddy_now();
        eddy_scope scope, limited;

        (void) arg;
        jobs_last(EDDY_SEC(10));
        works_begin(&scope, &work, 1);
        eddy_scope_begin(&limited, &(struct eddy_scope_opts){ .timeout_ns = EDDY_SEC(1) });
        CHECK_EQ(eddy_thread_pool_shutdown(work.pool), 1);
        CHECK_NS(eddy_now() - begin, EDDY_SEC(1));
        /* Not a cancellation point: the deadline was not delivered. */
        CHECK(eddy_scope_expired(&limited));
        CHECK_EQ(eddy_scope_end(&limited), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(work.stops, 1);
        eddy_thread_pool_close(work.pool);
        return 0;
}

TEST(a_cancel_ends_the_wait_of_closing)
{
        struct reports reports = { 0 };
        struct eddy_run_opts opts = { .report = reports_add, .report_arg = &reports };

        CHECK_EQ(sim_run_with(cut_closing_short, NULL, 0, opts), 0);
        CHECK_EQ(reports.count[EDDY_REPORT_THREAD], 1);
}

static int close_when_cancelled(void *arg)
{
        struct work work = { .pool = pool_new((struct eddy_thread_pool_opts){ 0 }) };
        eddy_scope scope, cancelled;
        int64_t begin;

        (void) arg;
        works_begin(&scope, &work, 1);
        begin = eddy_now();
        eddy_scope_begin(&cancelled, NULL);
        eddy_scope_cancel(&cancelled);
        CHECK_EQ(eddy_thread_pool_shutdown(work.pool), 1);
        (void) eddy_scope_end(&cancelled);
        CHECK_NS(eddy_now() - begin, 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_thread_pool_close(work.pool);
        return 0;
}

TEST(closing_in_a_cancelled_scope_does_not_wait)
{
        struct reports reports = { 0 };
        struct eddy_run_opts opts = { .report = reports_add, .report_arg = &reports };

        CHECK_EQ(sim_run_with(close_when_cancelled, NULL, 0, opts), 0);
}

static int forget_pool(void *arg)
{
        struct work *work = arg;

        *work = (struct work){ .pool = pool_new((struct eddy_thread_pool_opts){ 0 }) };
        jobs_last(EDDY_SEC(10));
        CHECK_EQ(call_and_leave(work, MS), -ETIMEDOUT);
        return 0;
}

TEST(a_pool_that_was_forgotten_is_closed_with_its_run)
{
        struct reports reports = { 0 };
        struct eddy_run_opts opts = { .report = reports_add, .report_arg = &reports };
        struct work work, late = { 0 };
        struct eddy_test_result result;

        CHECK_EQ(sim_run_leaving(forget_pool, &work, 0, opts, &result), 0);
        CHECK_EQ(result.left.allocations, 1);
        CHECK_EQ(reports.count[EDDY_REPORT_THREAD], 1);
        CHECK_EQ(work.releases, 1);
        CHECK_EQ(info_of(work.pool).threads, 0);
        late.pool = work.pool;
        CHECK_EQ(sim_run(work_task, &late), EDDY_E_THREAD_POOL_CLOSED);
        eddy_thread_pool_close(work.pool);
}

/* --- in any order --- */

enum { SEEDS = 300, WORKS = 16, CANCELS = 10 };

static struct {
        uint64_t state;
        struct work works[WORKS];
        eddy_task *tasks[WORKS];
        eddy_thread_pool *pool;
        bool closes;
        int dropped, left, refused, ran;
} any;

static uint64_t chance(uint64_t n)
{
        any.state = any.state * 6364136223846793005ULL + 1442695040888963407ULL;
        return (any.state >> 33) % n;
}

static int call_any(void *arg)
{
        int err = eddy_sleep((int64_t) chance(3 * (uint64_t) MS));

        return err < 0 ? err : work_call(arg);
}

static int cancel_any(void *arg)
{
        (void) arg;
        for (int i = 0; i < CANCELS; i++) {
                CHECK_EQ(eddy_sleep((int64_t) chance((uint64_t) MS)), 0);
                eddy_task_cancel(any.tasks[chance(WORKS)]);
        }
        if (any.closes)
                (void) eddy_thread_pool_shutdown(any.pool);
        return 0;
}

static int main_of_any(void *arg)
{
        struct eddy_thread_pool_opts opts = {
                .threads_max = 1 + (uint32_t) chance(3),
                .slow_max = 1 + (uint32_t) chance(2),
                .queued_max = 1 + (uint32_t) chance(8),
                .idle_ns = 1 + (int64_t) chance(2 * (uint64_t) MS),
                .close_ns = (int64_t) chance(4 * (uint64_t) MS) - MS,
        };
        eddy_scope scope;

        (void) arg;
        any.pool = pool_new(opts);
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_KEEP_GOING });
        for (int i = 0; i < WORKS; i++) {
                any.works[i] = (struct work){ .pool = any.pool, .flags = (unsigned) chance(4) };
                CHECK_EQ(
                        eddy_scope_start_task(&scope, call_any, &any.works[i], NULL, &any.tasks[i]),
                        0);
        }
        CHECK_EQ(eddy_scope_start(&scope, cancel_any, NULL), 0);
        (void) eddy_scope_end(&scope);
        for (int i = 0; i < WORKS; i++)
                eddy_task_release(any.tasks[i]);
        CHECK_EQ(info_of(any.pool).queued, 0);
        CHECK(info_of(any.pool).running == info_of(any.pool).abandoned);
        eddy_thread_pool_close(any.pool);
        return 0;
}

/* What the call says came of its job did. */
static void check_any(const struct work *work)
{
        if (!work->over) { /* cancelled before its call */
                CHECK_EQ(work->runs, 0);
                return;
        }
        CHECK_EQ(work->releases, 1);
        CHECK(work->runs <= 1);
        switch (work->returned) {
        case 0:
                CHECK_EQ(work->runs, 1);
                any.ran++;
                break;
        case -ECANCELED:
                if (work->runs) {
                        CHECK(work->flags & EDDY_THREAD_ABANDON);
                        CHECK_EQ(work->stops, 1);
                }
                any.left += work->runs;
                any.dropped += !work->runs;
                break;
        default:
                CHECK(work->returned == -EAGAIN || work->returned == EDDY_E_THREAD_POOL_CLOSED);
                CHECK_EQ(work->runs, 0);
                any.refused++;
                break;
        }
}

static uint64_t run_any(uint64_t seed, struct reports *reports)
{
        struct eddy_run_opts opts = { .report = reports_add, .report_arg = reports };
        struct ed_sim_end end;
        struct ed_sim_opts sim = { .seed = seed, .end = &end };
        struct ed_sys *sys;

        any.state = seed;
        any.closes = chance(2);
        CHECK_EQ(ed_sim_new(&sim, &sys), 0);
        CHECK_EQ(ed_run_on(sys, main_of_any, NULL, &opts, NULL), 0);
        return end.trace;
}

/* A116: whatever is cancelled when, a job that a call says was dropped never ran. */
TEST(each_job_runs_once_or_not_at_all_and_is_released_once)
{
        struct reports reports = { 0 };
        uint64_t last = 0;

        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
                uint64_t trace = run_any(seed, &reports);

                for (int i = 0; i < WORKS; i++)
                        check_any(&any.works[i]);
                CHECK(trace != last);
                last = trace;
                /* The same seed runs the same way, threads and all. */
                CHECK_EQ(run_any(seed, &reports), trace);
        }
        printf("# %d ran, %d left behind, %d dropped, %d refused\n", any.ran, any.left, any.dropped,
               any.refused);
        CHECK(any.ran > 0 && any.left > 0 && any.dropped > 0 && any.refused > 0);
        CHECK(reports.count[EDDY_REPORT_THREAD] > 0);
}
