/*
 * report/timeline.c - intervals that double. Each interval starts at a multiple of its width since
 * 1970, so two neighbours always merge into one interval of twice the width.
 */
#include "report/timeline.h"

#include <stdbool.h>
#include <string.h>

static void interval_merge(struct ed_interval *interval, const struct ed_interval *other)
{
        interval->ok += other->ok;
        interval->failed += other->failed;
        interval->refused += other->refused;
        interval->input += other->input;
        interval->output += other->output;
        ed_spread_merge(&interval->latency, &other->latency);
}

/* Double the width. */
static void timeline_double(struct ed_timeline *timeline)
{
        int64_t first = timeline->first / 2;
        unsigned count = 0;

        for (unsigned i = 0; i < timeline->count; i++) {
                unsigned to = (unsigned) ((timeline->first + i) / 2 - first);

                if (to == count) {
                        if (to != i)
                                timeline->slots[to] = timeline->slots[i];
                        count++;
                } else {
                        interval_merge(&timeline->slots[to], &timeline->slots[i]);
                }
        }
        timeline->first = first;
        timeline->count = count;
        timeline->width_ms *= 2;
}

/* Insert 'by' empty intervals before the first interval. */
static void timeline_shift(struct ed_timeline *timeline, unsigned by)
{
        memmove(timeline->slots + by, timeline->slots,
                timeline->count * sizeof(timeline->slots[0]));
        memset(timeline->slots, 0, by * sizeof(timeline->slots[0]));
        timeline->first -= by;
        timeline->count += by;
}

struct ed_interval *ed_timeline_at(struct ed_timeline *timeline, int64_t at_ms)
{
        int64_t at, first, last;

        if (at_ms < 1)
                at_ms = 1;
        if (at_ms > ED_TIMELINE_AT_MAX_MS)
                at_ms = ED_TIMELINE_AT_MAX_MS;
        if (timeline->count == 0) {
                timeline->width_ms = ED_TIMELINE_WIDTH_MS;
                timeline->first = at_ms / timeline->width_ms;
                memset(&timeline->slots[0], 0, sizeof(timeline->slots[0]));
                timeline->count = 1;
        }
        for (;;) {
                at = at_ms / timeline->width_ms;
                first = at < timeline->first ? at : timeline->first;
                last = timeline->first + timeline->count - 1;
                if (at > last)
                        last = at;
                if (last - first < ED_TIMELINE_MAX)
                        break;
                timeline_double(timeline);
        }
        if (first < timeline->first)
                timeline_shift(timeline, (unsigned) (timeline->first - first));
        while (timeline->first + timeline->count <= last)
                memset(&timeline->slots[timeline->count++], 0, sizeof(timeline->slots[0]));
        return &timeline->slots[at - timeline->first];
}

void ed_timeline_sum(const struct ed_timeline *timeline, unsigned from, unsigned end,
                     struct ed_interval *sum)
{
        if (end > timeline->count)
                end = timeline->count;
        for (unsigned i = from; i < end; i++)
                interval_merge(sum, &timeline->slots[i]);
}

int64_t ed_timeline_gap(const struct ed_timeline *timeline)
{
        int64_t longest = 0, empty = 0;
        bool is_after = false;

        for (unsigned i = 0; i < timeline->count; i++) {
                if (timeline->slots[i].ok + timeline->slots[i].failed == 0) {
                        empty++;
                        continue;
                }
                if (is_after && empty > longest)
                        longest = empty;
                is_after = true;
                empty = 0;
        }
        return longest * timeline->width_ms;
}
