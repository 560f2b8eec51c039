/*
 * test/program.h - the runs of a whole program that `eddy explore` started.
 */
#ifndef ED_TEST_PROGRAM_H
#define ED_TEST_PROGRAM_H

#include "base/def.h"
#include "eddy/run.h"

/*
 * eddy_run_named() in that program.  The first run is made in many orders, each in a copy of the
 * process; the outcomes go to standard output, and the process ends:
 *
 *     0  there is one outcome, and nothing was found
 *     1  there are several outcomes, or something was found
 *     3  the program cannot be explored; standard error says why
 *
 * In a copy, and with EDDY_TEST_REPLAY, this function makes one simulated run and returns the result
 * of main_fn, as eddy_run_named() does.
 */
ED_SHARED int ed_test_program_run(eddy_task_fn *main_fn, void *arg,
                                  const struct eddy_run_opts *run_opts, const char *text);

/* End the process with a message that says 'what' cannot be explored. */
ED_SHARED __attribute__((noreturn)) void ed_test_program_refuse(const char *what);

/* Called when the process begins, and when it ends: a process without a run ends with a message. */
ED_SHARED void ed_test_program_begin(void);
ED_SHARED void ed_test_program_end(void);

#endif
