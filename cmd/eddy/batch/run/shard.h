/*
 * batch/run/shard.h - the shard of a unit of work (common/shard.h); other processes send the other
 * shards. Without a shard in the settings, all functions do nothing.
 *
 * Each answer names the shard and the size of the file. If the size changes, so do the borders of all
 * shards: an id could get an answer from two shards. Therefore a run refuses an output with answers of
 * other borders.
 */
#ifndef ED_CMD_BATCH_RUN_SHARD_H
#define ED_CMD_BATCH_RUN_SHARD_H

#include <sys/stat.h>

#include "batch/answer/answer_line.h"
#include "batch/run/unit.h"
#include "common/lines.h"
#include "eddy/def.h"

/*
 * Find the lines of the shard in the open input, and make them the unit's range. Returns 0, or the
 * exit code after a message: the input is not a file, or it is compressed.
 */
EDDY_MUST_USE int ed_unit_shard_open(struct ed_batch_unit *unit, const struct stat *st);

/*
 * Returns the number of a line in the whole file, or 0 if the lines before the shard have not been
 * counted.
 */
uint64_t ed_unit_line_number(const struct ed_batch_unit *unit, const struct ed_line *line);

/*
 * Count the lines before the shard, unless that was done: of a large file, this takes as long as
 * reading it. Suspends inside eddy_run(), else blocks. Errors: those of read(2); -ENOMEM
 */
EDDY_MUST_USE int ed_unit_lines_count(struct ed_batch_unit *unit);

/* Returns true if an answer of the output names other borders. Counts answers that name none. */
bool ed_unit_answer_is_foreign(struct ed_batch_unit *unit, const struct ed_answer_seen *seen);

/* Report an answer that names other borders. Returns the exit code. */
int ed_unit_shard_refuse(const struct ed_batch_unit *unit, const struct ed_answer_seen *seen);

/*
 * Call this when the ids of the shard are known: refuse an output if an answer in it names no borders
 * and has an id of no line of the shard. Returns 0 or the exit code.
 */
EDDY_MUST_USE int ed_unit_shard_judge(const struct ed_batch_unit *unit);

#endif
