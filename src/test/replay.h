/*
 * test/replay.h - a run in a string: "transfer:seed=18,cancel=31".
 */
#ifndef ED_TEST_REPLAY_H
#define ED_TEST_REPLAY_H

#include "eddy/test.h"
#include "test/schedule.h"
#include "test/strike.h"

enum { ED_TEST_SPEC_BYTES = 128 + (int) sizeof(",order=") + ED_TEST_ORDER_BYTES };

/* Write the part after the colon. */
void ed_test_spec_write(const struct eddy_test_opts *opts, char *buf, size_t bytes);

/*
 * Read EDDY_TEST_REPLAY for runs of that name. Returns 1 and changes 'opts' if the variable names
 * such a run, 0 if it names another, -1 if it is not set, or -EINVAL.
 */
enum { ED_TEST_REPLAY_NONE = -1 };
int ed_test_replay(const char *name, struct eddy_test_opts *opts);

/*
 * Let EDDY_TRACE name the file of the timeline of a run that is repeated, unless its options have
 * one. 'run' must live as long as 'opts'.
 */
void ed_test_replay_trace(struct eddy_test_opts *opts, struct eddy_run_opts *run);

/* Returns the number above 0 in an environment variable, else 'otherwise'. */
uint64_t ed_test_number(const char *variable, uint64_t otherwise);

/*
 * Print the findings, the places in the program where the faults were injected, and how to repeat
 * the run.
 */
void ed_test_print(const char *name, const struct eddy_test_opts *opts, const char *problem,
                   const struct ed_test_strikes *strikes);

/* As ed_test_print(), for findings that depend on earlier runs: the run alone would pass. */
void ed_test_print_differs(const char *name, const struct eddy_test_opts *opts,
                           const char *problem);

/* Print only the findings, only the places, or, before a run, its spec. */
void ed_test_print_lines(const char *name, const struct eddy_test_opts *opts, const char *problem);
void ed_test_print_strikes(const char *name, const struct eddy_test_opts *opts,
                           const struct ed_test_strikes *strikes);
void ed_test_print_before(const char *name, const struct eddy_test_opts *opts);

#endif
