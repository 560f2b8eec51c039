/*
 * draw/layout.h - where the lines of a picture are, in pixels. No I/O.
 */
#ifndef ED_CMD_DRAW_LAYOUT_H
#define ED_CMD_DRAW_LAYOUT_H

#include <stdint.h>

#include "common/draft.h"
#include "draw/fold.h"
#include "draw/picture.h"
#include "eddy/def.h"

/* Indents above this number are not drawn. */
enum { ED_DRAW_INDENTS_MAX = 8 };

/* About the width of a character of a label. */
#define ED_DRAW_CHARACTER_PX 6.8

struct ed_draw_layout {
        const struct ed_draw_picture *picture;
        const struct ed_draw_fold *fold; /* that of the picture, or a part */
        double left, width;              /* of the axis */
        double right;                    /* of the picture */
        double top, bottom;              /* of the lines */
        double height;                   /* of the picture */
        double *tops;                    /* of each shown line, and of the end */
};

/* Errors: -ENOMEM */
EDDY_MUST_USE int ed_draw_layout_init(struct ed_draw_layout *layout,
                                      const struct ed_draw_picture *picture,
                                      const struct ed_draw_fold *fold, unsigned width);
void ed_draw_layout_fini(struct ed_draw_layout *layout);

/* Returns the height of the bar of a line. */
double ed_draw_layout_bar(const struct ed_draw_line *line);

static inline double ed_draw_layout_x(const struct ed_draw_layout *layout, uint32_t event)
{
        return layout->left +
               layout->width * ed_draw_part(&layout->picture->scale, &layout->picture->run, event);
}

/* Returns the middle of the line of a node, or -1 if it is not shown. */
double ed_draw_layout_y(const struct ed_draw_layout *layout, uint32_t node);

/* Append a number with at most one decimal. */
void ed_draw_px(struct ed_draft *out, double value);

#endif
