/*
 * batch/checkpoint.h - the files of a run: what they hold when it begins, and what is removed from
 * them when it has ended.
 */
#ifndef ED_CMD_BATCH_CHECKPOINT_H
#define ED_CMD_BATCH_CHECKPOINT_H

#include "batch/run.h"

/*
 * Open, lock, repair and read the output and the errors file, and make them the outputs of the run.
 * Returns 0 or the exit code, after messages.
 */
EDDY_MUST_USE int ed_checkpoint_open(struct ed_batch_run *run);

/*
 * A task that puts the written lines on the disk once a second, so that little is lost if the
 * machine fails.
 */
eddy_task_fn ed_checkpoint_sync;

/*
 * Close the outputs, and remove old lines: failures of ids that have succeeded or failed again, and
 * answers to a former request of an id. 'sync': wait for the disk. Returns 0 or the exit code, after
 * a message.
 */
EDDY_MUST_USE int ed_checkpoint_close(struct ed_batch_run *run, bool sync);

#endif
