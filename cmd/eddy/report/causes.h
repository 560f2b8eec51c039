/*
 * report/causes.h - the causes of failures as lines of text. No I/O.
 */
#ifndef ED_CMD_REPORT_CAUSES_H
#define ED_CMD_REPORT_CAUSES_H

#include "common/draft.h"
#include "report/totals.h"

/* Append the largest causes of failures, each with an example, and the number of the others. */
void ed_causes_add(struct ed_draft *text, const struct ed_totals *totals);

#endif
