/*
 * scenario.c - see scenario.h.
 */
#include "scenario.h"

#include <stdlib.h>

#include "eddy/test.h"
#include "scope/task.h"
#include "test.h"
#include "test/replay.h"
#include "test/run.h"

int tasks_begun, tasks_ended;
_Atomic int jobs_called, jobs_released;

enum { LETTERS = 26 };

void letters_fill(char *buf, size_t at, size_t n)
{
        size_t done = n < LETTERS ? n : LETTERS;

        for (size_t i = 0; i < done; i++)
                buf[i] = (char) ('a' + (at + i) % LETTERS);
        for (size_t more; done < n; done += more) {
                more = done < n - done ? done : n - done;
                memcpy(buf + done, buf, more);
        }
}

bool letters_are(const char *buf, size_t at, size_t n)
{
        char first[LETTERS];
        size_t bytes = n < LETTERS ? n : LETTERS;

        letters_fill(first, at, bytes);
        return memcmp(buf, first, bytes) == 0 && memcmp(buf, buf + bytes, n - bytes) == 0;
}

/* Of the run under way; NULL: none, or one of a sweep of the kit. */
static const struct setup *now;
static uint64_t parks;

static void count_park(struct ed_task *task)
{
        (void) task;
        parks++;
}

/*
 * Background tasks may fail when something is made to fail, and jobs be
 * abandoned when all is cancelled; all else is reported, unless debug mode reports
 * more of each run than anybody wants to read.
 */
static void on_report(const struct eddy_report *report, void *arg)
{
        (void) arg;
        if (getenv("EDDY_DEBUG"))
                return;
        if (report->kind != EDDY_REPORT_BACKGROUND && report->kind != EDDY_REPORT_THREAD)
                fprintf(stderr, "# report: %s\n", report->text);
}

static void at_table(struct ed_sys *sys)
{
        if (now->cut != ED_SIM_CUT_NONE)
                ed_sim_cut(sys, now->cut, now->cut_server, now->cut_bytes);
        sys->transfer_max = now->transfer_max;
        if (now->at_table)
                now->at_table(sys);
}

void scenario_run(eddy_task_fn *main_fn, const struct setup *setup, struct outcome *ret_outcome)
{
        struct eddy_run_opts run = { .report = on_report };
        struct eddy_test_opts opts = {
                .name = setup->name ? setup->name : "scenario",
                .seed = setup->sim.seed,
                .cancel_at = setup->cancel_at,
                .alloc_at = setup->alloc_fail,
                .alloc_forever = setup->alloc_forever,
                .call_at = setup->call_fail,
                .call_error = setup->call_error,
                .run = &run,
        };
        struct ed_test_more more = { .sim = setup->sim,
                                     .on_epoll = setup->on_epoll,
                                     .at_table = at_table,
                                     .at_point = setup->at_point };
        struct eddy_test_result result;
        struct ed_test_figures figures;

        now = setup;
        tasks_begun = tasks_ended = 0;
        jobs_called = jobs_released = 0;
        parks = 0;
        if (getenv("EDDY_TEST_VERBOSE"))
                ed_test_print_before(opts.name, &opts);
        ed_test_at_suspend = count_park;
        (void) ed_test_run_with(main_fn, NULL, &opts, &more, &result, &figures);
        ed_test_at_suspend = NULL;
        now = NULL;
        *ret_outcome = (struct outcome){
                .result = result.result,
                .allocations = result.allocations,
                .alloc_failed = figures.alloc_failed,
                .points = result.points,
                .parks = parks,
                .order = figures.order,
                .end = figures.end,
        };
        if (result.problem[0])
                ed_test_print(opts.name, &opts, result.problem, &figures.strikes);
        CHECK_STR(result.problem, "");
        CHECK_EQ(tasks_begun, tasks_ended);
        CHECK_EQ(jobs_called, jobs_released);
}

bool one_was_cancelled(void)
{
        return ed_test_now && ed_test_now->opts.cancel_task > 1 &&
               ed_test_now->result.was_cancelled;
}

bool is_disturbed(void)
{
        const struct eddy_test_opts *opts = &ed_test_now->opts;

        return opts->cancel_at || opts->alloc_at || opts->call_at ||
               (now && now->cut != ED_SIM_CUT_NONE);
}

/* --- sweeps --- */

static void count_anew(void *arg)
{
        (void) arg;
        tasks_begun = tasks_ended = 0;
        jobs_called = jobs_released = 0;
}

static int look_at_counts(void *arg, int result)
{
        (void) arg;
        /* What failed says so. */
        return result <= 0 && tasks_begun == tasks_ended && jobs_called == jobs_released ? 0 : -1;
}

struct eddy_test_sweep scenario_sweep(const char *name, eddy_task_fn *main_fn, int what,
                                      struct ed_sim_opts sim, uint64_t sample)
{
        struct eddy_run_opts run = { .report = on_report };
        struct eddy_test_opts opts = {
                .name = name,
                .seed = sim.seed,
                .before = count_anew,
                .after = look_at_counts,
                .run = &run,
        };
        struct ed_test_more more = { .sim = sim,
                                     .sample = sweep_is_full() ? 0 : sample,
                                     .counts_debug = getenv("EDDY_DEBUG") != NULL };
        struct eddy_test_sweep sweep;

        if (ed_test_sweep_with(what, main_fn, NULL, &opts, &more, &sweep) < 0)
                test_fail(__FILE__, __LINE__, "%s does not hold", name);
        return sweep;
}

bool sweep_is_full(void)
{
        return test_is_full();
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
