/*
 * draw/differ.h - the first event at which two runs differ. No I/O.
 */
#ifndef ED_CMD_DRAW_DIFFER_H
#define ED_CMD_DRAW_DIFFER_H

#include "common/draft.h"
#include "draw/model.h"

/*
 * Returns the number of events at the start of both runs that are alike: the same task does the same
 * with the same result. Times, places in the code, descriptors and the numbers of arrows are not
 * compared.
 */
uint32_t ed_draw_alike(const struct ed_draw_run *one, const struct ed_draw_run *two);

/* Append "first difference: event 12: task 2 worker ends | task 3 worker starts". */
void ed_draw_difference_add(struct ed_draft *out, const struct ed_draw_run *one,
                            const struct ed_draw_run *two, uint32_t alike);

#endif
