/*
 * draw/bars.h - the bars of tasks and groups in a picture. No I/O.
 */
#ifndef ED_CMD_DRAW_BARS_H
#define ED_CMD_DRAW_BARS_H

#include "draw/pen.h"

/* Append the bar of a line of tasks, with its top at 'y'. */
void ed_draw_bar_add(struct ed_draw_pen *pen, uint32_t line, double y);

#endif
