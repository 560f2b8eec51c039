/*
 * batch/run/reader.h - opens the input of a unit, checks it before anything is sent, and reads it.
 */
#ifndef ED_CMD_BATCH_RUN_READER_H
#define ED_CMD_BATCH_RUN_READER_H

#include "batch/run/unit.h"
#include "eddy/def.h"
#include "eddy/scope.h"

/* Open the input, at its range, which is set. Returns 0 or the exit code, after a message. */
EDDY_MUST_USE int ed_reader_open(struct ed_batch_unit *unit);
void ed_reader_close(struct ed_batch_unit *unit);

/*
 * If the input is a file, read it to its end before anything is sent: count the requests without an
 * answer, and refuse ids that occur twice and ids whose request has changed since it was answered.
 * Blocks on the disk. Returns 0 or the exit code, after messages.
 */
EDDY_MUST_USE int ed_reader_check(struct ed_batch_unit *unit);

/* The task of the reader, which starts a job for each line until the input or the run ends. */
eddy_task_fn ed_reader_run;

/* Keep the path of a URL for the summary, without host and credentials. */
void ed_reader_path(const char *url, char path[ED_INPUT_PATH_BYTES]);

#endif
