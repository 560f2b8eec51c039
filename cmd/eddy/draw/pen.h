/*
 * draw/pen.h - the state of drawing a picture as SVG, and its elements. No I/O.
 */
#ifndef ED_CMD_DRAW_PEN_H
#define ED_CMD_DRAW_PEN_H

#include "common/draft.h"
#include "draw/layout.h"

struct ed_draw_pen {
        struct ed_draft *out;
        const struct ed_draw_layout *layout;
        const struct ed_draw_run *run;
        struct ed_draft text; /* before it is escaped */
        unsigned rects_left;  /* that the picture may still have */
        unsigned columns;     /* of profiles */
};

/* Append a text of a trace, escaped, at most 'characters' long. */
void ed_draw_svg_text(struct ed_draft *out, const struct ed_draft *text, unsigned characters);

/* Append the text of the pen, escaped, and clear it. */
void ed_draw_pen_flush(struct ed_draw_pen *pen, unsigned characters);

/* Begin a <text>; the caller ends it. */
void ed_draw_pen_text(struct ed_draft *out, const char *class, double x, double y);

/* Begin a <rect>, without the end of its tag. */
void ed_draw_pen_rect(struct ed_draft *out, const char *class, double x, double y, double width,
                      double height);

/* Append a vertical line. */
void ed_draw_pen_rule(struct ed_draft *out, const char *class, double x, double y1, double y2);

#endif
