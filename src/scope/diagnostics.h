/*
 * scope/diagnostics.h - the diagnostics of a run: debug mode and its timeline.
 */
#ifndef ED_SCOPE_DIAGNOSTICS_H
#define ED_SCOPE_DIAGNOSTICS_H

#include "eddy/def.h"

struct ed_node;
struct ed_run;

/*
 * Begins the diagnostics that the options and the environment request.  After a failure, call
 * _drop.
 * Errors: -ENOMEM, -EINVAL.
 */
EDDY_MUST_USE int ed_diagnostics_begin(struct ed_run *run);

/* Ends the diagnostics without a report. */
void ed_diagnostics_drop(struct ed_run *run);

/* Call _supervise once the supervisor exists, and _supervised when it ends. */
void ed_diagnostics_supervise(struct ed_run *run);
void ed_diagnostics_supervised(struct ed_run *run);

/* The end of the run is about to cancel the tasks in 'top'. */
void ed_diagnostics_tasks_left(struct ed_run *run, struct ed_node *top);

/* Reports the stacks of the run's tasks. */
void ed_diagnostics_stacks(struct ed_run *run);

/*
 * After the last task: _end reports what is left; _write, outside of the run, writes the timeline;
 * _fini frees what remains.
 */
void ed_diagnostics_end(struct ed_run *run);
void ed_diagnostics_write(struct ed_run *run);
void ed_diagnostics_fini(struct ed_run *run);

/* The run is abandoned, and its memory remains. */
void ed_diagnostics_forsake(struct ed_run *run);

/* A child of fork() has none of its parent's runs. */
void ed_diagnostics_forget(void);

#endif
