/*
 * batch/paths.h - the files of a run must be different ones. The functions return 0, or the exit code
 * after a message.
 */
#ifndef ED_CMD_BATCH_PATHS_H
#define ED_CMD_BATCH_PATHS_H

#include "batch/command.h"
#include "eddy/def.h"

/* Refuse a file to write that is another file of the run. */
EDDY_MUST_USE int ed_paths_check(const struct ed_batch_command *command);

/* The same for --summary-file alone, before any file is open. */
EDDY_MUST_USE int ed_paths_check_summary(const struct ed_batch_command *command);

#endif
