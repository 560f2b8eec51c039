/*
 * batch/run/job_endpoint.h - pauses the endpoint of a job that accepts nothing for now, or shuts it:
 * then its requests go elsewhere, or the run ends.
 */
#ifndef ED_CMD_BATCH_RUN_JOB_ENDPOINT_H
#define ED_CMD_BATCH_RUN_JOB_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "batch/run/job.h"

/* Returns true if the headers of the answer report that a limit is used up for too long. */
bool ed_job_endpoint_is_used_up(const struct ed_batch_job *job);

/* That limit is used up: shut the endpoint. */
enum ed_verdict ed_job_endpoint_used_up(struct ed_batch_job *job);

/* The endpoint refused the request for now: pause it, or shut it. Stores a wait of the request. */
enum ed_verdict ed_job_endpoint_refused(struct ed_batch_job *job, int64_t *ret_wait_ns);

/* The endpoint has been out of reach for a while: wait for it, or shut it. */
enum ed_verdict ed_job_endpoint_lost(struct ed_batch_job *job, int err, int64_t lost_ns);

/* The server has not accepted any of its first requests, and others do: shut the endpoint. */
enum ed_verdict ed_job_endpoint_wrong(struct ed_batch_job *job);

/* The server refuses every value of the key. */
enum ed_verdict ed_job_endpoint_key_useless(struct ed_batch_job *job);

/*
 * The quota of the key is used up: send nothing more to this server with this key. The requests of a
 * host of absolute URLs get no line, so the next run sends them.
 */
enum ed_verdict ed_job_endpoint_quota(struct ed_batch_job *job);

#endif
