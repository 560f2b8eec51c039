/*
 * trace.h - cases that write down what happens, line by line, and are compared
 * with what is expected of them: tests/traces/eddy.txt.
 *
 *     TRACE_TEST(E4_a_task_goes_on)        a case; its body is the main task
 *     {
 *             trace("sleep: %s", word(eddy_sleep(1)));
 *     }
 *
 * Case names and words are those of cases.py, which does the same on asyncio.
 * With EDDY_TRACES=print in the environment a case prints its trace instead.
 */
#ifndef TRACE_H
#define TRACE_H

#include <eddy/eddy.h>
#include <errno.h>

#include "scope/run.h"
#include "sim/sim.h"
#include "test.h"

/* One more line. */
EDDY_PRINTF(1, 2) void trace(const char *format, ...);

/* What a result is called: "passed", "cancelled", "timed out", "refused", "EIO". */
const char *word(int result);

/* The same, for a result that is a value: "7". */
const char *value(int result);

static inline const char *yes(int condition)
{
        return condition ? "yes" : "no";
}

/* A task of 'scope', to be released. */
eddy_task *task_start(eddy_scope *scope, eddy_task_fn *fn, void *arg);

/* Waits for a task, releases it, and gives its result. */
int task_end(eddy_task *task);

/* A scope in which tasks may fail without harm to the others. */
void scope_begin(eddy_scope *scope);

/*
 * Compares the trace so far with the section whose name the case's begins
 * with; ends the case if they differ.
 */
void trace_check(const char *claim);

/* Runs main_fn(arg) on the simulated table, where time passes by itself. */
int trace_run(eddy_task_fn *main_fn, void *arg, const struct eddy_run_opts *opts);

/* The same; a last line says what the run came to, and reports are lines too. */
void trace_run_whole(eddy_task_fn *main_fn, void *arg, int64_t drain_ns);

/* For eddy_run_opts.report. */
void trace_report(const struct eddy_report *report, void *arg);

/* A case whose body runs the loop itself; its name begins with that of the section. */
#define TRACE_TEST_OUTSIDE(claim)                                                                  \
        static void body_##claim(void);                                                            \
        TEST(claim)                                                                                \
        {                                                                                          \
                body_##claim();                                                                    \
                trace_check(#claim);                                                               \
        }                                                                                          \
        static void body_##claim(void)

/* A case whose body is the main task. */
#define TRACE_TEST(claim)                                                                          \
        static void in_main_##claim(void);                                                         \
        static int main_##claim(void *arg)                                                         \
        {                                                                                          \
                (void) arg;                                                                        \
                in_main_##claim();                                                                 \
                return 0;                                                                          \
        }                                                                                          \
        TRACE_TEST_OUTSIDE(claim)                                                                  \
        {                                                                                          \
                CHECK_EQ(trace_run(main_##claim, NULL, NULL), 0);                                  \
        }                                                                                          \
        static void in_main_##claim(void)

#endif
