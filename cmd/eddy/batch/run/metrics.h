/*
 * batch/run/metrics.h - the page for Prometheus during a run, and the log of attempts.
 */
#ifndef ED_CMD_BATCH_RUN_METRICS_H
#define ED_CMD_BATCH_RUN_METRICS_H

#include "batch/run/attempt.h"
#include "batch/run/run.h"

/*
 * Open the log, and start the server of metrics at 'address' (HOST:PORT) in 'scope'; NULL: none.
 * Errors are reported on stderr.
 *
 * Errors: the system's
 */
EDDY_MUST_USE int ed_metrics_begin(struct ed_batch_run *run, const char *log, const char *address,
                                   eddy_scope *scope);

/* Call this after the scope has ended. */
void ed_metrics_end(struct ed_batch_run *run);

/* Count and log an attempt. 'attempts' is its number; refusals have that of the next attempt. */
void ed_metrics_attempt(struct ed_batch_run *run, const struct ed_attempt *attempt,
                        unsigned attempts);

#endif
