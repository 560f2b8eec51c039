/*
 * sim_run.h - a run on the simulated table, where time passes by itself, and a
 * place that reports go to.
 */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include <eddy/eddy.h>
#include <errno.h>

#include "scope/report.h"
#include "scope/run.h"
#include "sim/sim.h"
#include "test.h"
#include "test/run.h"

#define MS EDDY_MS(1)

struct reports {
        int count[32]; /* by kind */
        int error;     /* of the last, but for what only debug mode tells */
        char task[64];
        char text[4096];
};

static inline bool is_debug_modes(int kind)
{
        return kind == EDDY_REPORT_DUMP || (kind >= EDDY_REPORT_LOCK && kind <= EDDY_REPORT_LAG);
}

static inline void reports_add(const struct eddy_report *report, void *arg)
{
        struct reports *reports = arg;

        reports->count[report->kind]++;
        if (is_debug_modes(report->kind))
                return;
        reports->error = report->error;
        snprintf(reports->task, sizeof(reports->task), "%s", report->task ? report->task : "");
        snprintf(reports->text, sizeof(reports->text), "%s", report->text);
}

/* Without debug mode's own. */
static inline uint64_t timers_armed(void)
{
        return ed_loop_current->timers.count - ed_loop_current->quiet_timers;
}

/* On a plain table: beside a run of the kit, of which there is one at a time. */
static inline int sim_run_beside(eddy_task_fn *fn, void *arg)
{
        struct ed_sim_opts sim = { 0 };
        struct ed_sys *sys;

        CHECK_EQ(ed_sim_new(&sim, &sys), 0);
        return ed_run_on(sys, fn, arg, NULL, NULL);
}

/* Gives what was found too: for a case that leaves something. */
static inline int sim_run_leaving(eddy_task_fn *fn, void *arg, uint64_t seed,
                                  struct eddy_run_opts run_opts,
                                  struct eddy_test_result *ret_result)
{
        struct eddy_test_opts opts = { .seed = seed, .run = &run_opts };
        int err;

        if (!run_opts.report)
                run_opts.report = ed_report_to_stderr;
        err = ed_test_run_with(fn, arg, &opts, NULL, ret_result, NULL);
        return err == EDDY_E_TEST_FOUND ? ret_result->result : err;
}

/* Tasks that are left and deadlocks are the case's own to look at; there must be nothing else. */
static inline int sim_run_with(eddy_task_fn *fn, void *arg, uint64_t seed,
                               struct eddy_run_opts run_opts)
{
        struct eddy_test_result result = { 0 };
        int err = sim_run_leaving(fn, arg, seed, run_opts, &result);

        if (result.problem[0] && err != -EDEADLK && result.left.tasks == 0)
                test_fail(__FILE__, __LINE__, "%s", result.problem);
        CHECK_EQ(result.left.timers, 0);
        CHECK_EQ(result.left.descriptors, 0);
        CHECK_EQ(result.left.bytes, 0);
        return err;
}

static inline int sim_run(eddy_task_fn *fn, void *arg)
{
        return sim_run_with(fn, arg, 0, (struct eddy_run_opts){ 0 });
}

#define SIM_TEST_AS(claim, run_flags)                                                              \
        static void sim_##claim(void);                                                             \
        static int main_##claim(void *arg)                                                         \
        {                                                                                          \
                (void) arg;                                                                        \
                sim_##claim();                                                                     \
                return 0;                                                                          \
        }                                                                                          \
        TEST(claim)                                                                                \
        {                                                                                          \
                struct eddy_run_opts opts = { .flags = (run_flags) };                              \
                CHECK_EQ(sim_run_with(main_##claim, NULL, 0, opts), 0);                            \
        }                                                                                          \
        static void sim_##claim(void)

/* A case whose body is the main task; nothing in it may leave the run in another state. */
#define SIM_TEST(claim) SIM_TEST_AS(claim, 0)

/* One of what debug mode finds fault with, or says more of; so it is off, whatever the environment says. */
#define SIM_TEST_NO_DEBUG(claim) SIM_TEST_AS(claim, EDDY_RUN_NO_DEBUG)

/* Whether a time of the simulation is 'expected', but for what polls that wait not at all cost. */
#define CHECK_NS(a, expected)                                                                      \
        do {                                                                                       \
                int64_t ns_a = (a), ns_b = (expected);                                             \
                if (ns_a < ns_b || ns_a > ns_b + EDDY_US(100))                                     \
                        test_fail(__FILE__, __LINE__, "%s is %lld ns, expected %s (%lld)", #a,     \
                                  (long long) ns_a, #expected, (long long) ns_b);                  \
        } while (0)

#endif
