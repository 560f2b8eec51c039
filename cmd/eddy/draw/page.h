/*
 * draw/page.h - the HTML page: pictures, notes, tables, and groups that unfold. No I/O.
 */
#ifndef ED_CMD_DRAW_PAGE_H
#define ED_CMD_DRAW_PAGE_H

#include "common/draft.h"
#include "draw/picture.h"

/* Append the page. 'difference' may be NULL. */
void ed_draw_page_add(struct ed_draft *out, const struct ed_draw_picture *pictures, unsigned count,
                      const struct ed_draft *difference, unsigned width);

#endif
