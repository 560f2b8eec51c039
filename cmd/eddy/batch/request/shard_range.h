/*
 * batch/request/shard_range.h - the lines of a shard in a file of requests.
 */
#ifndef ED_CMD_BATCH_REQUEST_SHARD_RANGE_H
#define ED_CMD_BATCH_REQUEST_SHARD_RANGE_H

#include <sys/stat.h>

#include "batch/request/range.h"
#include "common/say.h"
#include "common/shard.h"
#include "eddy/def.h"

/*
 * Find the range of a shard in an open file; the lines before it are not counted. Returns 0, or the
 * exit code after a message: the file cannot be read from the middle.
 */
EDDY_MUST_USE int ed_shard_range_find(const struct ed_say *say, const char *path, int fd,
                                      const struct stat *st, struct ed_shard shard,
                                      struct ed_range *ret_range);

#endif
