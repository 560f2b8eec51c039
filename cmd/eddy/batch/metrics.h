/*
 * batch/metrics.h - the page for Prometheus during a run, and the log of attempts.
 */
#ifndef ED_CMD_BATCH_METRICS_H
#define ED_CMD_BATCH_METRICS_H

#include "batch/run/run.h"

struct ed_batch_metrics;

/*
 * Note all attempts of a run from now on. Open the log, and start the server of metrics at
 * 'address' (HOST:PORT) in 'scope'; NULL: none. Errors are reported on stderr.
 *
 * Errors: the system's; what was opened is stored too
 */
EDDY_MUST_USE int ed_metrics_begin(struct ed_batch_run *run, const char *log, const char *address,
                                   eddy_scope *scope, struct ed_batch_metrics **ret_metrics);

/* Call this after the scope has ended. NULL: nothing */
void ed_metrics_end(struct ed_batch_metrics *metrics);

#endif
