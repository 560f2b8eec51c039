/*
 * draw/plain.h - text of a trace for a terminal. No I/O.
 */
#ifndef ED_CMD_DRAW_PLAIN_H
#define ED_CMD_DRAW_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "common/draft.h"

/*
 * Append at most 'columns' columns of a text; a longer text is cut and ends in an ellipsis. Control
 * characters, characters that change the direction of writing, and bytes that are not UTF-8 become
 * question marks; if 'is_ascii', all that is not ASCII does. Returns the number of columns.
 */
unsigned ed_draw_plain_add(struct ed_draft *out, const char *text, size_t bytes, unsigned columns,
                           bool is_ascii);

#endif
