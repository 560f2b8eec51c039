/*
 * batch/run/job_counts.h - counts the results of jobs, their tokens and failures, and ends the run if
 * the counts say so.
 */
#ifndef ED_CMD_BATCH_RUN_JOB_COUNTS_H
#define ED_CMD_BATCH_RUN_JOB_COUNTS_H

#include <stdbool.h>
#include <stddef.h>

#include "batch/answer/answer_line.h"
#include "batch/answer/usage.h"
#include "batch/run/job.h"

/* Count the result of the row 'index', from 0. */
void ed_job_count_result(struct ed_batch_job *job, size_t index, bool is_ok, int error, int status);

/* Count a failure, which may be accepted. */
void ed_job_count_failure(const struct ed_batch_job *job, const struct ed_answer *answer);

/*
 * Count an answer that is not accepted at the first attempt: its result would come only after all
 * attempts. If --retry-if holds, the request asks again on purpose.
 */
void ed_job_count_unaccepted(struct ed_batch_job *job);

/* Count the tokens of an answer, and correct what was reserved for it. */
void ed_job_count_usage(struct ed_batch_job *job, const struct ed_usage *usage);

/* End the run if its first requests all failed in the same way. */
void ed_job_check_alike(const struct ed_batch_job *job);

/* End the run if its results say so. */
void ed_job_check_limits(const struct ed_batch_job *job);

/* End the run if the endpoint of all requests has answered nothing but 401. */
void ed_job_check_key(struct ed_batch_job *job);

#endif
