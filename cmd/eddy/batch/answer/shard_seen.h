/*
 * batch/answer/shard_seen.h - whether all answers of an output are of one shard, by the marks of its
 * lines. No I/O.
 */
#ifndef ED_CMD_BATCH_ANSWER_SHARD_SEEN_H
#define ED_CMD_BATCH_ANSWER_SHARD_SEEN_H

#include <stdbool.h>
#include <stdint.h>

#include "batch/answer/shard_mark.h"
#include "common/draft.h"

/* All zero: no line yet. */
struct ed_shard_seen {
        char mark[ED_SHARD_MARK_BYTES]; /* of the first line that has one */
        struct ed_shard shard;          /* of that mark */
        uint64_t size;                  /* of its requests, in bytes */
        uint64_t others;                /* lines with another mark, or without one */
};

/* Add the mark of an answer, of ed_shard_mark_read(). */
void ed_shard_seen_add(struct ed_shard_seen *seen, const char *mark);

/* Returns true if all answers are of one shard. */
bool ed_shard_seen_is_one(const struct ed_shard_seen *seen);

/* Returns true if all answers are of one shard, and that is not 'shard'. */
bool ed_shard_seen_differs(const struct ed_shard_seen *seen, struct ed_shard shard);

/* Append "the output is of shard 3/8 of 4,227,234 bytes of requests". */
void ed_shard_seen_print(const struct ed_shard_seen *seen, struct ed_draft *out);

#endif
