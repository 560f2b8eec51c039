/*
 * common/shard.h - the parts into which several machines divide a file of lines: shard i of n.
 *
 * Shard i, from 0, of a file of S bytes has the lines whose first byte is at floor(i*S/n) or after it,
 * and before floor((i+1)*S/n). Each line is in one shard, and a shard may have none. If n divides S,
 * the shards are those of `split -n l/n`.
 */
#ifndef ED_CMD_COMMON_SHARD_H
#define ED_CMD_COMMON_SHARD_H

#include <stdbool.h>
#include <stdint.h>

#include "eddy/def.h"

enum { ED_SHARD_COUNT_MAX = 100000 };

/* All zero: the whole file. */
struct ed_shard {
        uint32_t index; /* from 0 */
        uint32_t count; /* at most ED_SHARD_COUNT_MAX */
};

/* The bytes of whole lines, from 'at' to before 'end'. */
struct ed_shard_bytes {
        uint64_t at, end;
};

/* The remedy for a text that is not a shard. */
#define ED_SHARD_FORM "write i/n, from 0/n, with n from 1 to 100000, such as 0/8"

/* Read "i/n", decimal numbers without signs and blanks. Returns false for other texts. */
bool ed_shard_read(const char *text, struct ed_shard *ret_shard);

/* Returns the part of an amount that shard 'shard' has. The parts of all shards add up to the amount. */
uint64_t ed_shard_part(struct ed_shard shard, uint64_t amount);

/* Returns the shard, from 0, that has the line whose first byte is at 'at', which is below 'size'. */
uint32_t ed_shard_of(uint32_t count, uint64_t size, uint64_t at);

/*
 * Find the lines of a shard in a file of 'size' bytes. 'at' and 'end' are equal if it has none. Blocks
 * on the disk. Errors: those of read(2), as negative numbers; -ENOMEM
 */
EDDY_MUST_USE int ed_shard_find(struct ed_shard shard, int fd, uint64_t size,
                                struct ed_shard_bytes *ret_bytes);

/* Count the line feeds before 'at'. Blocks, and has errors, as ed_shard_find(). */
EDDY_MUST_USE int ed_shard_lines_before(int fd, uint64_t at, uint64_t *ret_lines);

#endif
