/*
 * draw/arrows.h - the marks and arrows of a picture: cancels, deadlines, wakes. No I/O.
 */
#ifndef ED_CMD_DRAW_ARROWS_H
#define ED_CMD_DRAW_ARROWS_H

#include "common/draft.h"
#include "draw/layout.h"

/* Append the arrows of wakes, if there are few; they are below all others. */
void ed_draw_wakes_add(struct ed_draft *out, const struct ed_draw_layout *layout);

/* Append cancels and deadlines, with arrows to what they stopped. */
void ed_draw_cancels_add(struct ed_draft *out, const struct ed_draw_layout *layout);

#endif
