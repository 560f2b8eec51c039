/*
 * scope/debug/dump.h - what tasks do, in words: for eddy_dump() and for reports.
 */
#ifndef ED_SCOPE_DEBUG_DUMP_H
#define ED_SCOPE_DEBUG_DUMP_H

#include "base/text.h"
#include "eddy/dump.h"
#include "scope/task.h"

/*
 * eddy_dump_with(), of this thread's loop and of at most 'lines_max' lines, to
 * which it adds one that counts the rest.
 */
void ed_dump_tree(struct ed_loop *loop, eddy_dump_fn *line, void *arg, unsigned flags,
                  unsigned lines_max);

/* "waits for a lock, held by salary", who is looked for below 'root'. */
ED_SHARED void ed_dump_state(const struct ed_task *task, struct ed_node *root,
                             struct ed_text *text);

/* "in a <- b <- c", of a task that does not run; false: it has not run yet. */
bool ed_dump_stack(const struct ed_task *task, struct ed_text *text);

/*
 * The deadline that comes first of those that can cancel a call in 'node':
 * those around it below 'root', as far as a shield lets them; or 0.
 */
int64_t ed_dump_deadline(struct ed_node *node, const struct ed_node *root);

#endif
