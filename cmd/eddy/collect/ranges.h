/*
 * collect/ranges.h - the text of a set of numbers, such as "3, 17-20 and 5 more ranges". No I/O.
 */
#ifndef ED_CMD_COLLECT_RANGES_H
#define ED_CMD_COLLECT_RANGES_H

#include <stdint.h>

#include "common/bits.h"
#include "common/draft.h"

enum { ED_RANGES_SHOWN = 10 };

/* Append the numbers of a set below 'end', and how many ranges are not shown. */
void ed_ranges_add(struct ed_draft *text, const struct ed_bits *set, uint64_t end);

#endif
