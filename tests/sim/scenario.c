/*
 * scenario.c - see scenario.h.
 */
#include "scenario.h"

#include <errno.h>

#include "base/alloc.h"
#include "eddy/run.h"
#include "scope/run.h"
#include "scope/task.h"
#include "test.h"

int tasks_begun, tasks_ended;
_Atomic int jobs_called, jobs_released;

/* Of the run under way. */
static struct {
        const struct setup *setup;
        struct outcome *outcome;
        eddy_task_fn *main_fn;
        eddy_task *main_task; /* while it runs */
        bool cancel_main;     /* as soon as it runs */
        bool armed;           /* allocations count, and may fail */
        const struct ed_sys_ops *ops;
        struct ed_sys_ops wrapped;
        uint64_t chance; /* of a table that has none */
} run;

/* --- memory --- */

static void *counting_realloc(void *ctx, void *ptr, size_t bytes)
{
        const struct setup *setup = run.setup;
        struct outcome *outcome = run.outcome;
        void *moved;

        (void) ctx;
        if (bytes == 0) {
                outcome->alloc_live--;
                free(ptr);
                return NULL;
        }
        outcome->allocations += run.armed;
        if (run.armed && setup->alloc_fail &&
            (outcome->allocations == setup->alloc_fail ||
             (setup->alloc_forever && outcome->allocations > setup->alloc_fail))) {
                outcome->alloc_failed++;
                return NULL;
        }
        moved = realloc(ptr, bytes);
        CHECK(moved);
        if (!ptr)
                outcome->alloc_live++;
        return moved;
}

/* --- scheduling points --- */

static bool point(void)
{
        run.outcome->points++;
        if (run.setup->at_point && run.setup->at_point())
                return true;
        if (run.outcome->points != run.setup->cancel_at)
                return false;
        if (run.main_task)
                eddy_task_cancel(run.main_task);
        else
                run.cancel_main = true;
        return true;
}

static void note_order(uint64_t n, uint64_t chosen)
{
        run.outcome->order = (run.outcome->order ^ (n << 32 | chosen)) * 0x100000001b3ULL;
        run.outcome->order ^= run.outcome->order >> 29;
}

/* A table of the real clock has no chance of its own. */
static uint32_t choose_at_point(struct ed_sys *sys, uint32_t n)
{
        uint32_t chosen;

        (void) point();
        if (run.ops->choose) {
                chosen = run.ops->choose(sys, n);
        } else {
                run.chance = run.chance * 6364136223846793005ULL + 1442695040888963407ULL;
                chosen = (uint32_t) (run.chance >> 33) % n;
        }
        note_order(n, chosen);
        return chosen;
}

static int poll_at_point(struct ed_sys *sys, int64_t timeout_ns, struct ed_event *events, int max)
{
        int n;

        /* What was cancelled here is ready to run. */
        if (point())
                timeout_ns = 0;
        n = run.ops->poll(sys, timeout_ns, events, max);
        note_order(UINT32_MAX, (uint64_t) n);
        return n;
}

static void count_park(struct ed_task *task)
{
        (void) task;
        run.outcome->parks++;
}

/* --- running --- */

static void on_report(const struct eddy_report *report, void *arg)
{
        (void) arg;
        if (report->kind == EDDY_REPORT_DEADLOCK)
                run.outcome->deadlocks++;
        /*
         * Background tasks may fail when something is made to fail, and jobs be
         * abandoned when all is cancelled; all else is told.
         */
        if (report->kind != EDDY_REPORT_BACKGROUND && report->kind != EDDY_REPORT_THREAD)
                fprintf(stderr, "# report: %s\n", report->text);
}

static int run_main(void *arg)
{
        int result;

        run.main_task = eddy_task_current();
        if (run.cancel_main)
                eddy_task_cancel(run.main_task);
        result = run.main_fn(arg);
        run.main_task = NULL;
        return result;
}

static struct ed_sys *table_new(const struct setup *setup, struct outcome *outcome)
{
        struct ed_sim_opts opts = setup->sim;
        struct ed_sys *sys;

        if (setup->on_epoll) {
                CHECK_EQ(ed_sys_epoll_new(&sys), 0);
                run.chance = setup->sim.seed * 0x9e3779b97f4a7c15ULL;
        } else {
                opts.end = &outcome->end;
                CHECK_EQ(ed_sys_sim_new(&opts, &sys), 0);
        }
        if (!setup->on_epoll || setup->at_point) {
                run.ops = sys->ops;
                run.wrapped = *sys->ops;
                run.wrapped.choose = choose_at_point;
                run.wrapped.poll = poll_at_point;
                sys->ops = &run.wrapped;
        }
        if (!setup->on_epoll) {
                ed_sim_cut(sys, setup->cut, setup->cut_server, setup->cut_bytes);
                if (setup->call_fail)
                        ed_sim_fail_at(sys, setup->call_fail, setup->call_error);
        }
        sys->transfer_max = setup->transfer_max;
        return sys;
}

void scenario_run(eddy_task_fn *main_fn, const struct setup *setup, struct outcome *ret_outcome)
{
        struct eddy_run_opts opts = {
                .flags = EDDY_RUN_NO_SIGNALS | EDDY_RUN_NO_WATCHDOG,
                .report = on_report,
        };
        struct ed_sys *sys;

        *ret_outcome = (struct outcome){ 0 };
        tasks_begun = tasks_ended = 0;
        jobs_called = jobs_released = 0;
        run.main_fn = main_fn;
        run.main_task = NULL;
        run.cancel_main = false;
        run.setup = setup;
        run.outcome = ret_outcome;
        if (getenv("EDDY_TEST_VERBOSE"))
                fprintf(stderr, "# allocation %llu%s, call %llu, cancel %llu, seed %llu\n",
                        (unsigned long long) setup->alloc_fail,
                        setup->alloc_forever ? " and all after" : "",
                        (unsigned long long) setup->call_fail,
                        (unsigned long long) setup->cancel_at,
                        (unsigned long long) setup->sim.seed);
        run.armed = false;
        eddy_alloc_set(counting_realloc, NULL);
        sys = table_new(setup, ret_outcome);
        run.armed = true;
        ed_test_at_suspend = count_park;
        ret_outcome->result = ed_run_on(sys, run_main, NULL, &opts);
        ed_test_at_suspend = NULL;
        eddy_alloc_set(NULL, NULL);

        CHECK_EQ(ret_outcome->alloc_live, 0);
        CHECK_EQ(ret_outcome->end.sockets, 0);
        CHECK_EQ(ret_outcome->deadlocks, 0);
        CHECK_EQ(tasks_begun, tasks_ended);
        CHECK_EQ(jobs_called, jobs_released);
}

/* --- sweeps --- */

bool sweep_is_full(void)
{
        return getenv("EDDY_TEST_FULL") && !getenv("EDDY_TEST_QUICK");
}

uint64_t sweep_next(uint64_t at, uint64_t count, uint64_t sample)
{
        uint64_t i;

        if (at >= count)
                return 0;
        if (sweep_is_full() || count <= sample || sample < 2)
                return at + 1;
        /* Sample i of 0 .. sample-1 is 1 + i * (count - 1) / (sample - 1). */
        for (i = 0; 1 + i * (count - 1) / (sample - 1) <= at; i++)
                continue;
        return 1 + i * (count - 1) / (sample - 1);
}
