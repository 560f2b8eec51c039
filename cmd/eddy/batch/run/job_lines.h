/*
 * batch/run/job_lines.h - writes the line of each row of a job, to the output or to the errors.
 */
#ifndef ED_CMD_BATCH_RUN_JOB_LINES_H
#define ED_CMD_BATCH_RUN_JOB_LINES_H

#include "batch/run/job.h"

/*
 * Write the lines of the job's request after its last attempt, in their order (--ordered), and count
 * them. 'error' is that of the attempt; 0: it has an answer.
 *
 * Suspends: yes, also after a cancel.
 */
void ed_job_lines_write(struct ed_batch_job *job, int error);

#endif
