/*
 * common/progress.h - the progress line of a run.
 */
#ifndef ED_CMD_COMMON_PROGRESS_H
#define ED_CMD_COMMON_PROGRESS_H

#include <stdint.h>

#include "common/draft.h"
#include "common/stats.h"

struct ed_progress {
        int64_t last_ns; /* time of the last line; 0: none yet */
        uint64_t last_done;
        double results; /* recent results, and 'time_ns', the time that they took */
        double time_ns;
        double rate;       /* per second */
        const char *more;  /* text that the command adds to the line; NULL: none */
        int64_t resume_ns; /* when the present pause of all requests ends; 0: none */
};

/*
 * Append "12,431 done 12.4% | 51 failed | 212/s | ETA 6m51s | inflight 256 | retry 310 | p50
 * 1.1s p99 4.8s". 'total' is the number of URLs, or an estimate. If it is 0, the number is
 * unknown, and percentage and ETA are omitted.
 */
void ed_progress_print(struct ed_progress *progress, const struct ed_stats *stats, uint64_t total,
                       int64_t now_ns, struct ed_draft *text);

/* Append the progress as a line of JSON. 'more' has JSON members, each after a comma. */
void ed_progress_print_json(struct ed_progress *progress, const struct ed_stats *stats,
                            uint64_t total, int64_t now_ns, struct ed_draft *text);

/*
 * Append the progress as a line that overwrites itself on a terminal of 'columns' columns, with a
 * bar at the start.
 */
void ed_progress_print_bar(struct ed_progress *progress, const struct ed_stats *stats,
                           uint64_t total, int64_t now_ns, unsigned columns, struct ed_draft *text);

#endif
