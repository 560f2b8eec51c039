/*
 * batch/run/stop.h - ends a run before the end of its input.
 */
#ifndef ED_CMD_BATCH_RUN_STOP_H
#define ED_CMD_BATCH_RUN_STOP_H

#include "batch/run/run.h"
#include "eddy/def.h"

/* The longest time for answers in flight after the run was stopped. */
#define ED_BATCH_DRAIN_NS ((int64_t) 30 * 1000000000)

/*
 * Stop the run: send no new request, and let attempts continue for 'drain_ns'. 'stop' is the
 * reason; if the run was stopped before, the first reason is kept. The format makes a sentence that
 * is said; NULL: none.
 */
void ed_batch_stop(struct ed_batch_run *run, enum ed_stop stop, int64_t drain_ns,
                   const char *format, ...) EDDY_PRINTF(4, 5);

/* Stop the run if its answers, for a shard with those of its earlier runs, have reached --max-cost. */
void ed_batch_check_cost(struct ed_batch_run *run);

#endif
