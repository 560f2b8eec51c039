/*
 * scope/dump.h - what tasks do, in words: for eddy_dump() and for reports.
 */
#ifndef ED_SCOPE_DUMP_H
#define ED_SCOPE_DUMP_H

#include "base/text.h"
#include "scope/task.h"

/* "rent waits for a lock, held by salary", who is looked for below 'root'. */
void ed_dump_task(const struct ed_task *task, struct ed_node *root, struct ed_text *text);

#endif
