/*
 * draw/svg.h - a picture as SVG, which loads nothing and has no scripts. No I/O.
 */
#ifndef ED_CMD_DRAW_SVG_H
#define ED_CMD_DRAW_SVG_H

#include <stdbool.h>

#include "common/draft.h"
#include "draw/layout.h"
#include "draw/picture.h"

enum { ED_DRAW_SVG_LINES_MAX = 80, ED_DRAW_SVG_WIDTH_MIN = 400, ED_DRAW_SVG_WIDTH_MAX = 4000 };

/* Colours and shapes, for one <style>. */
extern const char ed_draw_svg_style[];

/* Append an SVG file with one picture above the other. 'difference' may be NULL. */
void ed_draw_svg_file(struct ed_draft *out, const struct ed_draw_picture *pictures, unsigned count,
                      const struct ed_draft *difference, unsigned width);

/*
 * Append an <svg> for a page with the lines of 'fold'. The patterns that all <svg> of a page use are
 * in the first.
 */
void ed_draw_svg_add(struct ed_draft *out, const struct ed_draw_picture *picture,
                     const struct ed_draw_fold *fold, unsigned width, bool is_first);

#endif
