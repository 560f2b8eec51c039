/*
 * fetch/progress.h - the line that says how a run fares.
 */
#ifndef ED_CMD_FETCH_PROGRESS_H
#define ED_CMD_FETCH_PROGRESS_H

#include <stdint.h>

#include "common/draft.h"
#include "fetch/stats.h"

struct ed_progress {
        int64_t last_ns; /* of the last line; 0: none yet */
        uint64_t last_done;
        double results; /* of lately, and the time that they took */
        double time_ns;
        double rate; /* per second */
};

/*
 * Append "12,431 done 12.4% | 212/s | inflight 256 | ok 12,380 fail 51
 * retry 310 | p50 1.1s p99 4.8s | ETA 6m51s".  'total' is how many URLs there
 * are, or are thought to be; 0: nobody knows, and percentage and ETA are left
 * out.
 */
void ed_progress_print(struct ed_progress *progress, const struct ed_stats *stats, uint64_t total,
                       int64_t now_ns, struct ed_draft *text);

/*
 * The same as a line that overwrites itself on a terminal of 'columns'
 * columns, with a bar in front.
 */
void ed_progress_print_bar(struct ed_progress *progress, const struct ed_stats *stats,
                           uint64_t total, int64_t now_ns, unsigned columns, struct ed_draft *text);

#endif
