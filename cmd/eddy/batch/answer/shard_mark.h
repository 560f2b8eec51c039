/*
 * batch/answer/shard_mark.h - the shard of an answer, in its line: "3/64 of 1000 bytes". If the input has
 * another size, the shards of the same numbers have other borders.
 */
#ifndef ED_CMD_BATCH_ANSWER_SHARD_MARK_H
#define ED_CMD_BATCH_ANSWER_SHARD_MARK_H

#include "batch/answer/answer_line.h"
#include "common/shard.h"

enum { ED_SHARD_MARK_BYTES = 64 };

enum ed_shard_mark { ED_SHARD_MARK_NONE, ED_SHARD_MARK_SAME, ED_SHARD_MARK_OTHER };

/* Print the mark of a shard of a file of 'size' bytes. */
void ed_shard_mark_print(struct ed_shard shard, uint64_t size, char mark[ED_SHARD_MARK_BYTES]);

/* Compare the mark in a line with another one. */
enum ed_shard_mark ed_shard_mark_compare(const struct ed_answer_seen *seen, const char *mark);

/* Copy the mark in a line, or "" if it is none. */
void ed_shard_mark_read(const struct ed_answer_seen *seen, char mark[ED_SHARD_MARK_BYTES]);

/* Read a mark: its shard, and the size of the input. Returns false for other texts. */
bool ed_shard_mark_parse(const char *mark, struct ed_shard *ret_shard, uint64_t *ret_size);

#endif
