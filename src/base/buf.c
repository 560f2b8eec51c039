/*
 * base/buf.c - a growing buffer with a maximum size.
 */
#include "base/buf.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"

enum { BUF_BYTES_MIN = 256 };

void ed_buf_init(struct ed_buf *buf, size_t max)
{
        *buf = (struct ed_buf){ .max = max };
}

void ed_buf_fini(struct ed_buf *buf)
{
        ed_free(buf->memory);
        ed_buf_init(buf, buf->max);
}

int ed_buf_reserve(struct ed_buf *buf, size_t bytes, char **ret_room)
{
        size_t held = ed_buf_bytes(buf);
        size_t need;
        size_t room;
        char *memory;

        if (__builtin_add_overflow(held, bytes, &need) || need > buf->max)
                return -EMSGSIZE;
        if (buf->room - buf->end < bytes && buf->start > 0) {
                memmove(buf->memory, ed_buf_data(buf), held);
                buf->start = 0;
                buf->end = held;
        }
        if (buf->room - buf->end < bytes || !buf->memory) {
                room = buf->room < BUF_BYTES_MIN ? BUF_BYTES_MIN : buf->room;
                while (room < need)
                        room = room > buf->max / 2 ? buf->max : room * 2;
                memory = ed_realloc(buf->memory, room);
                if (!memory)
                        return -ENOMEM;
                buf->memory = memory;
                buf->room = room;
        }
        *ret_room = buf->memory + buf->end;
        return 0;
}

int ed_buf_append(struct ed_buf *buf, const void *data, size_t bytes)
{
        char *room;
        int err;

        if (bytes == 0)
                return 0;
        err = ed_buf_reserve(buf, bytes, &room);
        if (err < 0)
                return err;
        memcpy(room, data, bytes);
        ed_buf_grow(buf, bytes);
        return 0;
}

void ed_buf_consume(struct ed_buf *buf, size_t bytes)
{
        ed_assert(bytes <= ed_buf_bytes(buf), "more bytes were consumed than a buffer holds");
        buf->start += bytes;
        if (buf->start == buf->end) {
                buf->start = 0;
                buf->end = 0;
        }
}
