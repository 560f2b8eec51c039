/*
 * base/buf.h - a growing buffer with a maximum size.
 *
 * Bytes are appended at the end and consumed at the front. Consuming moves an offset; memory is
 * moved only when room is needed.
 */
#ifndef ED_BASE_BUF_H
#define ED_BASE_BUF_H

#include <stddef.h>

#include "base/def.h"

struct ed_buf {
        char *memory;
        size_t start; /* offset of the bytes held */
        size_t end;
        size_t room; /* bytes allocated */
        size_t max;  /* maximum bytes held; 0: nothing fits */
};

/* Initialise an empty buffer for at most 'max' bytes. Allocates nothing. */
ED_SHARED void ed_buf_init(struct ed_buf *buf, size_t max);

/* Free the memory; the buffer is empty and usable again. */
ED_SHARED void ed_buf_fini(struct ed_buf *buf);

static inline char *ed_buf_data(const struct ed_buf *buf)
{
        return buf->memory + buf->start;
}

static inline size_t ed_buf_bytes(const struct ed_buf *buf)
{
        return buf->end - buf->start;
}

/*
 * Make room for at least 'bytes' more and return its address; ed_buf_grow() then counts the bytes
 * written there.
 *
 * Errors: -EMSGSIZE  the maximum would be exceeded
 *         -ENOMEM
 */
EDDY_MUST_USE ED_SHARED int ed_buf_reserve(struct ed_buf *buf, size_t bytes, char **ret_room);

static inline void ed_buf_grow(struct ed_buf *buf, size_t bytes)
{
        buf->end += bytes;
}

/* Drop the last 'bytes' bytes held. */
static inline void ed_buf_drop(struct ed_buf *buf, size_t bytes)
{
        buf->end -= bytes;
}

/* Append a copy.  Errors as ed_buf_reserve(). */
EDDY_MUST_USE ED_SHARED int ed_buf_append(struct ed_buf *buf, const void *data, size_t bytes);

/* Drop the first 'bytes' bytes. */
ED_SHARED void ed_buf_consume(struct ed_buf *buf, size_t bytes);

#endif
