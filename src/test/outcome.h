/*
 * test/outcome.h - the outcomes of an exploration: runs grouped by what they printed and returned.
 */
#ifndef ED_TEST_OUTCOME_H
#define ED_TEST_OUTCOME_H

#include <stdbool.h>

#include "eddy/test_explore.h"
#include "test/run.h"

/* A run that is over. */
struct ed_test_played {
        const char *text;
        size_t text_bytes;
        const struct eddy_test_result *result;
        const struct ed_test_figures *figures;
        const struct eddy_test_opts *opts;
};

/* Count a run for its outcome, which may be new. Errors: -ENOMEM. */
int ed_test_outcome_add(struct eddy_test_explored *all, const char *name,
                        const struct ed_test_played *played);

/* Print a line for each outcome. */
void ed_test_outcomes_print(const struct eddy_test_explored *all, const char *name);

/*
 * Write a block of lines for each outcome to a descriptor, and a last line about all if the
 * exploration 'is_whole'. 'command' starts the program.
 * Errors: those of write(2).
 */
int ed_test_outcomes_write(const struct eddy_test_explored *all,
                           const struct eddy_test_explore_opts *how, bool is_whole,
                           const char *command, int fd);

/* Print the only outcome of a replay. */
void ed_test_outcome_print_replay(const struct eddy_test_explored *all);

#endif
