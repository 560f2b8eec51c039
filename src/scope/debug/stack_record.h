/*
 * scope/debug/stack_record.h - in debug mode: how deep the stacks of a run's tasks
 * have been, for each function that they were started with.
 */
#ifndef ED_SCOPE_DEBUG_STACK_RECORD_H
#define ED_SCOPE_DEBUG_STACK_RECORD_H

#include "eddy/dump.h"
#include "scope/run.h"

struct ed_stack_records;

/* Measure from now on what tasks of the run leave behind.  Errors: -ENOMEM. */
int ed_stack_records_open(struct ed_run *run);

void ed_stack_records_close(struct ed_run *run);

/* Tell the deepest, a line each; nothing when none was measured. */
void ed_stack_records_tell(struct ed_run *run, eddy_dump_fn *line, void *arg);

#endif
