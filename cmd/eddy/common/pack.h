/*
 * common/pack.h - compresses a file as its name asks for: gzip for NAME.gz, zstd for NAME.zst. Bytes in,
 * bytes out; no I/O.
 */
#ifndef ED_CMD_COMMON_PACK_H
#define ED_CMD_COMMON_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eddy/def.h"

enum ed_pack_kind { ED_PACK_PLAIN, ED_PACK_GZIP, ED_PACK_ZSTD };

struct ed_pack {
        enum ed_pack_kind kind;
        void *state;
        bool ended; /* the last byte was written */
};

/* Returns the kind that a name ends with. */
enum ed_pack_kind ed_pack_kind_of(const char *path);

/* Returns the bytes of a name without the end that names its kind. */
size_t ed_pack_stem_bytes(const char *path);

/* Errors: -ENOMEM; ed_pack_fini() may still be called */
EDDY_MUST_USE int ed_pack_init(struct ed_pack *pack, enum ed_pack_kind kind);
void ed_pack_fini(struct ed_pack *pack);

/*
 * Compress bytes from 'in' to 'out', whose 'room' is at least one byte. Stores the number of bytes
 * taken, and returns the number written. 'in' NULL means the end: repeat the call until it returns 0.
 * Before the end, 0 is returned when all bytes were taken, and more are needed to write any.
 *
 * Errors: -ENOMEM
 */
EDDY_MUST_USE int64_t ed_pack_some(struct ed_pack *pack, const void *in, size_t in_bytes,
                                   size_t *ret_taken, void *out, size_t room);

#endif
