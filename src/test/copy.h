/*
 * test/copy.h - a run in a copy of the process, which then continues to its end.
 */
#ifndef ED_TEST_COPY_H
#define ED_TEST_COPY_H

#include "test/run.h"

enum { ED_TEST_COPY_S = 60 }; /* the limit of a copy, unless EDDY_EXPLORE_SECONDS says otherwise */

/*
 * As ed_test_run_with(), in a copy of the process.  'result.problem' also says how the copy ended,
 * unless by exit status 0.
 * Errors: -ECANCELED  a signal asks the process to end
 *         -ECHILD     in the copy
 *         those before the run, and of memfd_create(2), mmap(2), fork(2) and waitpid(2)
 */
ed_test_play_fn ed_test_copy_run;

/* Returns true in a copy. */
bool ed_test_copy_is_here(void);

/* In a copy: returns the result of its run. */
int ed_test_copy_result(void);

/* In a copy: add the findings of a further run. */
void ed_test_copy_found(const char *problem);

#endif
