/*
 * batch/run/job.h - the task of a request: its attempts, the waits between them, and its line.
 */
#ifndef ED_CMD_BATCH_RUN_JOB_H
#define ED_CMD_BATCH_RUN_JOB_H

#include "batch/request/bundle.h"
#include "batch/run/unit.h"

/*
 * Start the task of a request (owned), once there is room for it. 'error' is a sentence about a
 * fault in its line, or NULL. It is copied.
 *
 * Suspends: yes. Errors: -ECANCELED, -ENOMEM; the request is freed
 */
EDDY_MUST_USE int ed_jobs_add(struct ed_batch_unit *unit, struct ed_request *request,
                              const char *error);

/*
 * Start the task of a bundle (owned) of at least one row: its rows are sent as one request, and each
 * gets a line. If a server refuses the request as wrong or too large, halves of it are sent.
 *
 * Suspends: yes. Errors: as ed_jobs_add(); the bundle is freed
 */
EDDY_MUST_USE int ed_jobs_add_bundle(struct ed_batch_unit *unit, struct ed_bundle *bundle);

/* The steps of all jobs. */
extern const struct ed_engine_job_ops ed_batch_job_ops;

#endif
