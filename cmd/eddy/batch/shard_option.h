/*
 * batch/shard_option.h - reads the values of --shard: i/n, or auto for the shard that a scheduler gives
 * in variables of the environment.
 */
#ifndef ED_CMD_BATCH_SHARD_OPTION_H
#define ED_CMD_BATCH_SHARD_OPTION_H

#include "common/shard.h"
#include "eddy/def.h"

/*
 * Read "i/n", "auto" or "auto/n". Errors are reported on stderr.
 *
 *   auto    an array of Slurm: task (ID - MIN) / STEP of COUNT, if the array has no holes
 *   auto/n  the number of the task, as it is: SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX
 *
 * Errors: -EINVAL
 */
EDDY_MUST_USE int ed_shard_option_read(const char *command, const char *value,
                                       struct ed_shard *ret_shard);

#endif
