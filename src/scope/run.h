/*
 * scope/run.h - running a main task on a given table; tests choose theirs.
 */
#ifndef ED_SCOPE_RUN_H
#define ED_SCOPE_RUN_H

#include "eddy/run.h"
#include "sys/sys.h"

/*
 * eddy_run() on the table 'sys', which is freed at the end whatever comes.
 * A table with a virtual clock is given no watchdog and no signals.
 */
int ed_run_on(struct ed_sys *sys, eddy_task_fn *main_fn, void *arg,
              const struct eddy_run_opts *opts);

#endif
