/*
 * debug_test.h - a run in debug mode, and all that it reports, as printed.  Not
 * a run of the kit, which finds what is left by itself.
 */
#ifndef DEBUG_TEST_H
#define DEBUG_TEST_H

#include <ctype.h>
#include <eddy/eddy.h>
#include <errno.h>

#include "scope/run.h"
#include "sim/sim.h"
#include "test.h"

#define MS EDDY_MS(1)

/* All reports, each as on stderr, but for a lag's and the places in this program. */
static char reported[64 * 1024];
static size_t reported_bytes;

static struct {
        int count[32];   /* by kind */
        char text[4096]; /* of the last */
} last;

/* A place is another in each build: "name+0x12ab" becomes "program+0x1234". */
static inline void reported_add(const char *text)
{
        static const char place[] = "program+0x1234";
        char *begin = reported + reported_bytes, *plus;

        CHECK(reported_bytes + 2 * strlen(text) + 100 < sizeof(reported));
        reported_bytes += (size_t) snprintf(begin, sizeof(reported) - reported_bytes, "%s", text);
        while ((plus = strstr(begin, "+0x"))) {
                char *from = plus, *to = plus + 3;

                while (from > begin && !isspace((unsigned char) from[-1]))
                        from--;
                while (isxdigit((unsigned char) *to))
                        to++;
                memmove(from + sizeof(place) - 1, to, strlen(to) + 1);
                memcpy(from, place, sizeof(place) - 1);
                begin = from + sizeof(place) - 1;
        }
        reported_bytes = strlen(reported);
}

static inline void keep_report(const struct eddy_report *report, void *arg)
{
        CHECK(arg == reported);
        last.count[report->kind]++;
        snprintf(last.text, sizeof(last.text), "%s", report->text);
        if (report->kind == EDDY_REPORT_LAG || report->kind == EDDY_REPORT_DUMP)
                return;
        reported_add("eddy: ");
        if (report->task) {
                reported_add("task ");
                reported_add(report->task);
                reported_add(": ");
        }
        reported_add(report->text);
        if (report->kind == EDDY_REPORT_UNHANDLED || report->kind == EDDY_REPORT_BACKGROUND) {
                reported_add(": ");
                reported_add(eddy_error_text(report->error));
        }
        reported_add("\n");
}

/* The world of a run in debug mode on the virtual clock: its reports go to 'reported'. */
static inline struct ed_sys *debug_world(uint64_t seed, struct eddy_run_opts *opts)
{
        struct ed_sim_opts sim = { .seed = seed };
        struct ed_sys *sys;

        CHECK_EQ(ed_sim_new(&sim, &sys), 0);
        reported_bytes = 0;
        reported[0] = '\0';
        memset(&last, 0, sizeof(last));
        opts->flags |= EDDY_RUN_DEBUG;
        opts->report = keep_report;
        opts->report_arg = reported;
        return sys;
}

/* What the main task 'fn' of one returns. */
static inline int debug_run_as(eddy_task_fn *fn, void *arg, uint64_t seed,
                               struct eddy_run_opts opts)
{
        struct ed_sys *sys = debug_world(seed, &opts);

        return ed_run_on(sys, fn, arg, &opts, NULL);
}

/* One whose main task 'fn' has ended, and that stands still. */
static inline struct ed_run *debug_run_still(eddy_task_fn *fn, void *arg)
{
        struct eddy_run_opts opts = { 0 };
        struct ed_sys *sys = debug_world(0, &opts);
        struct ed_run *run;

        CHECK_EQ(ed_run_open(sys, &opts, &run), 0);
        CHECK_EQ(ed_run_main(run, fn, arg), 0);
        return run;
}

static inline int debug_run_with(eddy_task_fn *fn, void *arg, struct eddy_run_opts opts)
{
        return debug_run_as(fn, arg, 0, opts);
}

static inline int debug_run_seed(eddy_task_fn *fn, void *arg, uint64_t seed)
{
        return debug_run_as(fn, arg, seed, (struct eddy_run_opts){ 0 });
}

static inline int debug_run(eddy_task_fn *fn, void *arg)
{
        return debug_run_with(fn, arg, (struct eddy_run_opts){ 0 });
}

static inline eddy_task *start_named(eddy_scope *scope, const char *name, eddy_task_fn *fn,
                                     void *arg)
{
        eddy_task *task = NULL;

        CHECK_EQ(eddy_scope_start_task(scope, fn, arg, &(struct eddy_task_opts){ .name = name },
                                       &task),
                 0);
        return task;
}

#endif
