/*
 * batch/run/job_trial.h - a server of a file of base URLs is on trial until it has accepted a request:
 * its address may belong to another service.
 */
#ifndef ED_CMD_BATCH_RUN_JOB_TRIAL_H
#define ED_CMD_BATCH_RUN_JOB_TRIAL_H

#include <stdbool.h>

#include "batch/run/job.h"

/*
 * Returns true if the attempt has failed with an answer that may be due to its server alone: it is
 * on trial, and others have accepted requests.
 */
bool ed_job_trial_is_doubtful(const struct ed_batch_job *job);

/*
 * Count the answer of the attempt. Returns true if the server has not accepted any of its first
 * answers, while others have accepted requests.
 */
bool ed_job_trial_has_failed(struct ed_batch_job *job);

#endif
