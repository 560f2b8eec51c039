/*
 * draw/text.h - a timeline for the terminal. No I/O.
 */
#ifndef ED_CMD_DRAW_TEXT_H
#define ED_CMD_DRAW_TEXT_H

#include <stdbool.h>

#include "common/draft.h"
#include "draw/picture.h"

/* Lines of tasks and scopes in a timeline, so that it fits a terminal with its notes. */
enum { ED_DRAW_TEXT_LINES_MAX = 60, ED_DRAW_TEXT_WIDTH_MIN = 40, ED_DRAW_TEXT_WIDTH_MAX = 1000 };

/* Append the timeline of a run, 'width' columns wide, and the causes of what was stopped. */
void ed_draw_text_add(struct ed_draft *out, const struct ed_draw_picture *picture, unsigned width,
                      bool is_ascii);

/* Append the meaning of the characters. */
void ed_draw_text_legend(struct ed_draft *out, bool has_deadlock, bool has_difference,
                         bool is_ascii);

#endif
