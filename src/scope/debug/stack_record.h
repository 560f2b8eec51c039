/*
 * scope/debug/stack_record.h - debug mode: the stack depth of a run's tasks, per function.
 */
#ifndef ED_SCOPE_DEBUG_STACK_RECORD_H
#define ED_SCOPE_DEBUG_STACK_RECORD_H

#include "scope/run_state.h"

/* Starts measuring the stacks of the run's tasks.  Errors: -ENOMEM. */
int ed_stack_records_open(struct ed_run *run);

void ed_stack_records_close(struct ed_run *run);

/* Reports the deepest stacks of ended and live tasks, one per line; nothing if none was measured. */
void ed_stack_records_report(struct ed_run *run);

#endif
