/*
 * common/unpack.h - decompresses gzip and zstd input, which it recognises by the first bytes; other
 * input passes unchanged. Bytes in, bytes out; no I/O.
 */
#ifndef ED_CMD_COMMON_UNPACK_H
#define ED_CMD_COMMON_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eddy/def.h"

enum ed_unpack_kind { ED_UNPACK_UNKNOWN, ED_UNPACK_PLAIN, ED_UNPACK_GZIP, ED_UNPACK_ZSTD };

struct ed_unpack {
        enum ed_unpack_kind kind;
        void *state;
        unsigned char head[4]; /* the first bytes, until the kind is known */
        size_t head_bytes, head_taken;
        bool inside; /* a member or frame has begun and not ended */
};

void ed_unpack_init(struct ed_unpack *unpack);
void ed_unpack_fini(struct ed_unpack *unpack);

/*
 * Unpack bytes from 'in' to 'out', whose 'room' is at least one byte. Stores the number of bytes
 * taken, and returns the number written. After 0 all bytes were taken and more are needed; after
 * another result repeat the call, also with 'in_bytes' 0: more may be ready to be written.
 * 'in' NULL means the end of the input: repeat the call until it returns 0. Consecutive gzip
 * members or zstd frames are joined. After an error, call only ed_unpack_fini().
 *
 * Errors: -EINVAL  the input is damaged, or ends early
 *         -EFBIG   zstd: the input needs a window of more than 128 MiB, as made by --long=28
 *         -ENOMEM
 */
EDDY_MUST_USE int64_t ed_unpack_some(struct ed_unpack *unpack, const void *in, size_t in_bytes,
                                     size_t *ret_taken, void *out, size_t room);

#endif
