/*
 * collect/ranges.c - see ranges.h.
 */
#include "collect/ranges.h"

static void range_add(struct ed_draft *text, uint64_t first, uint64_t last)
{
        ed_draft_add_u64(text, first);
        if (last > first) {
                ed_draft_add_str(text, "-");
                ed_draft_add_u64(text, last);
        }
}

void ed_ranges_add(struct ed_draft *text, const struct ed_bits *set, uint64_t end)
{
        uint64_t ranges = 0, first = 0;
        bool before = false;

        for (uint64_t number = 0; number <= end; number++) {
                bool has = number < end && ed_bits_has(set, number);

                if (has && !before)
                        first = number;
                if (!has && before && ranges++ < ED_RANGES_SHOWN) {
                        ed_draft_add_str(text, ranges > 1 ? ", " : "");
                        range_add(text, first, number - 1);
                }
                before = has;
        }
        if (ranges <= ED_RANGES_SHOWN)
                return;
        ed_draft_add_str(text, " and ");
        ed_draft_add_grouped(text, ranges - ED_RANGES_SHOWN);
        ed_draft_add_str(text, ranges - ED_RANGES_SHOWN == 1 ? " more range" : " more ranges");
}
