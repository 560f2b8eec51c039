/*
 * batch/run/checkpoint.h - the files of a run: reads them when the run begins, moves failures from
 * the output to the errors file, and removes old lines when the run has ended. The page
 * docs/design/batch_output.md describes the kinds of lines.
 */
#ifndef ED_CMD_BATCH_RUN_CHECKPOINT_H
#define ED_CMD_BATCH_RUN_CHECKPOINT_H

#include "batch/run/unit.h"

/*
 * Open, lock, repair and read the output and the errors file; make the sets of ids. Returns 0 or the exit code, after
 * messages.
 */
EDDY_MUST_USE int ed_checkpoint_open(struct ed_batch_unit *unit);

/*
 * Make the files the outputs of the run. If the input was checked, its ids are marked ED_IDS_READ,
 * and their failures now move from the output to the errors file. Otherwise they move at the end.
 * Returns 0 or the exit code, after messages.
 */
EDDY_MUST_USE int ed_checkpoint_begin(struct ed_batch_unit *unit);

/*
 * A task that flushes the written lines to the disk once a second, so that little is lost if the
 * machine fails.
 */
eddy_task_fn ed_checkpoint_sync;

/* The run did not begin: remove an errors file without lines, and an output without lines that it has made. */
void ed_checkpoint_abandon(const struct ed_batch_unit *unit);

/*
 * Close the outputs, and remove old lines: failures of ids that have succeeded or failed again, and
 * with --on-changed send answers to an earlier request of an id. If 'sync', wait for the disk.
 * Returns 0 or the exit code, after a message.
 */
EDDY_MUST_USE int ed_checkpoint_close(struct ed_batch_unit *unit, bool sync);

#endif
