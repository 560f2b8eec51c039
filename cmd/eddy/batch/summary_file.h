/*
 * batch/summary_file.h - the file of --summary-file, which a scheduler's next step reads. It is
 * replaced at the start and at the end of the run, so it is always whole.
 */
#ifndef ED_CMD_BATCH_SUMMARY_FILE_H
#define ED_CMD_BATCH_SUMMARY_FILE_H

#include "batch/command.h"
#include "eddy/def.h"

/*
 * Replace the summary of an earlier run by one with the status "in_progress", and lock the file.
 * Another file, which is not a summary, is refused and not changed. Returns 0, also without the
 * option, or the exit code, after a message.
 */
EDDY_MUST_USE int ed_summary_file_begin(struct ed_batch_command *command);

/*
 * Replace the file by the summary with command->exit_code, unless it was refused. Returns the exit
 * code, which is another one if the file cannot be written and the run had succeeded.
 */
EDDY_MUST_USE int ed_summary_file_end(struct ed_batch_command *command);

#endif
