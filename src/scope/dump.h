/*
 * scope/dump.h - descriptions of tasks, for eddy_dump() and reports.
 */
#ifndef ED_SCOPE_DUMP_H
#define ED_SCOPE_DUMP_H

#include "base/text.h"
#include "eddy/dump.h"
#include "scope/task.h"

struct ed_run;

/*
 * eddy_dump_with() for a loop of this thread.  Prints at most 'lines_max' lines and then a line
 * with the number of tasks and scopes that were left out.
 */
void ed_dump_tree(struct ed_loop *loop, eddy_dump_fn *line, void *arg, unsigned flags,
                  unsigned lines_max);

/* Reports the tree, because of SIGQUIT. */
void ed_dump_report(struct ed_run *run);

/*
 * Adds a text such as "waits for a lock, held by salary".  The holder is searched for below 'root'.
 */
ED_SHARED void ed_dump_state(const struct ed_task *task, struct ed_node *root,
                             struct ed_text *text);

/* Adds "in a <- b <- c" for a task that does not run now.  Returns false if it has not run yet. */
bool ed_dump_stack(const struct ed_task *task, struct ed_text *text);

/*
 * Returns the earliest deadline that can cancel a call in 'node', or 0.  This includes the scopes
 * around 'node' up to 'root' or the nearest shield.
 */
int64_t ed_dump_deadline(struct ed_node *node, const struct ed_node *root);

#endif
