/*
 * scope/report.h - the reports of a run, which go to eddy_run_opts.report.
 */
#ifndef ED_SCOPE_REPORT_H
#define ED_SCOPE_REPORT_H

#include <stdbool.h>

#include "base/def.h"
#include "base/text.h"
#include "eddy/run.h"
#include "eddy/task.h"

struct ed_loop;
struct ed_run;
struct ed_task;

void ed_report_run(struct ed_run *run, int kind, int error, const char *task, const char *text);

/* For the run of this thread's loop; without a loop, does nothing. */
void ed_report_here(int kind, int error, const char *text);

/* Sends a report about a task. */
ED_SHARED void ed_report_task(struct ed_loop *loop, int kind, int error, const struct ed_task *task,
                              const char *text);

/* Reports a failed callback of the loop: EDDY_REPORT_CALLBACK, with its function's name. */
void ed_report_callback(struct ed_loop *loop, int error, eddy_task_fn *fn, const char *text);

/* Debug mode: adds ", started at PLACE" if the place of the task's start is known. */
void ed_report_place_add(const struct ed_task *task, struct ed_text *text);

/* Adds 'words' and the symbol at 'place'; adds nothing if 'place' is NULL. */
void ed_report_symbol_add(const char *words, const void *place, struct ed_text *text);

/* A fault in the guard of a task's stack.  Returns false if it is another fault. */
bool ed_report_fault(const void *address);

extern ED_SHARED eddy_report_fn ed_report_to_stderr;

#endif
