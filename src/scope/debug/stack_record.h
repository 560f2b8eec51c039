/*
 * scope/debug/stack_record.h - debug mode: the stack depth of a run's tasks, per function.
 */
#ifndef ED_SCOPE_DEBUG_STACK_RECORD_H
#define ED_SCOPE_DEBUG_STACK_RECORD_H

#include "eddy/dump.h"
#include "scope/run.h"

struct ed_stack_records;

/* Starts measuring the stacks of the run's tasks.  Errors: -ENOMEM. */
int ed_stack_records_open(struct ed_run *run);

void ed_stack_records_close(struct ed_run *run);

/* Prints the deepest stacks, one per line.  Prints nothing if none was measured. */
void ed_stack_records_print(struct ed_run *run, eddy_dump_fn *line, void *arg);

#endif
