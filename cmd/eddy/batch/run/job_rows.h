/*
 * batch/run/job_rows.h - the rows of a job: one, or those of a bundle (batch/request/bundle.h), which
 * are sent as one request or in parts.
 */
#ifndef ED_CMD_BATCH_RUN_JOB_ROWS_H
#define ED_CMD_BATCH_RUN_JOB_ROWS_H

#include "batch/run/job.h"

/* Returns the number of rows in the job's request. */
static inline size_t ed_job_rows_count(const struct ed_batch_job *job)
{
        return job->bundle ? job->bundle->part : 1;
}

/* Returns the number of the first row of the job's request. */
static inline size_t ed_job_rows_at(const struct ed_batch_job *job)
{
        return job->bundle ? job->bundle->at : 0;
}

/* Returns the number of rows that have no line yet. */
static inline size_t ed_job_rows_left(const struct ed_batch_job *job)
{
        return job->bundle ? job->bundle->count - job->bundle->at : 1;
}

/* Split the answer to several rows. If that is impossible, it is not a success. */
void ed_job_rows_split(struct ed_batch_job *job);

/*
 * Make a request of fewer rows, if that may succeed where all of them fail. Returns false if the
 * request stays as it is.
 */
bool ed_job_rows_divide(struct ed_batch_job *job);

/*
 * After the lines of a part: make the request of the next one, which is as large, and twice as large
 * after a success. Returns false if all rows have a line, or memory runs out.
 */
bool ed_job_rows_more(struct ed_batch_job *job);

/* The rows that have no line yet have no result for now. */
void ed_job_rows_pass(struct ed_batch_job *job);

#endif
