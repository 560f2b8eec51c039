/*
 * batch/run/job_verdict.h - judges an attempt: whether another one follows, and when.
 *
 * A refusal (such as 429, or 503 with Retry-After; vendor/table.h) pauses the endpoint and uses no
 * attempt.
 */
#ifndef ED_CMD_BATCH_RUN_JOB_VERDICT_H
#define ED_CMD_BATCH_RUN_JOB_VERDICT_H

#include <stdint.h>

#include "batch/run/job.h"

/*
 * Decide what follows the attempt, and store the wait before another one. 'err' is the error of the
 * attempt.
 */
enum ed_verdict ed_job_judge(struct ed_batch_job *job, int err, int64_t *ret_wait_ns);

#endif
