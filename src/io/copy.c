/*
 * io/copy.c - copying from one stream to another: a chunk is written whole before the next is read.
 */
#include <errno.h>

#include "base/alloc.h"
#include "eddy/reader.h"

/* A TLS record's worth. */
enum { COPY_BYTES = 16 * 1024 };

/*
 * Wait until the destination has passed on what it holds, before a read: the source's peer may wait
 * for an answer to these bytes.
 */
static int flush(eddy_stream *to, struct eddy_stream_copied *copied)
{
        copied->failed = EDDY_STREAM_WRITING;
        return eddy_stream_write(to, NULL, 0);
}

/* Write the first 'bytes' bytes of the buffer. */
static int push(eddy_reader *reader, eddy_stream *to, uint64_t bytes,
                struct eddy_stream_copied *copied)
{
        uint64_t until = copied->bytes + bytes;
        int64_t n = 0;

        copied->failed = EDDY_STREAM_WRITING;
        reader->is_busy = true;
        while (n >= 0 && copied->bytes < until) {
                struct eddy_slice slice = { reader->buf + reader->begin,
                                            (size_t) (until - copied->bytes) };

                n = eddy_stream_write_some(to, &slice, 1);
                if (n > 0) {
                        reader->begin += (size_t) n;
                        copied->bytes += (uint64_t) n;
                }
        }
        reader->is_busy = false;
        return n < 0 ? (int) n : 0;
}

/* Read a chunk, and write at most 'left' bytes of it.  Returns 1; 0 at the end of the source. */
static int copy_chunk(eddy_reader *reader, eddy_stream *to, uint64_t left,
                      struct eddy_stream_copied *copied)
{
        const char *data;
        int64_t n;
        int err = flush(to, copied);

        if (err < 0)
                return err;
        copied->failed = EDDY_STREAM_READING;
        n = eddy_reader_peek(reader, 1, &data);
        if (n <= 0)
                return (int) n;
        err = push(reader, to, (uint64_t) n < left ? (uint64_t) n : left, copied);
        return err < 0 ? err : 1;
}

/* The last step of a copy, whose result so far is 'more'. */
static int finish(eddy_stream *to, int more, struct eddy_stream_copied *copied,
                  struct eddy_stream_copied *ret_copied)
{
        if (more > 0)
                more = flush(to, copied);
        if (ret_copied)
                *ret_copied = *copied;
        return more < 0 ? more : 0;
}

int eddy_reader_copy(eddy_reader *reader, eddy_stream *to, uint64_t bytes_max,
                     struct eddy_stream_copied *ret_copied)
{
        struct eddy_stream_copied copied = { 0 };
        int more = 1;

        while (more > 0 && copied.bytes < bytes_max)
                more = copy_chunk(reader, to, bytes_max - copied.bytes, &copied);
        return finish(to, more, &copied, ret_copied);
}

int eddy_stream_copy(eddy_stream *from, eddy_stream *to, uint64_t bytes_max,
                     struct eddy_stream_copied *ret_copied)
{
        struct eddy_stream_copied copied = { 0 };
        eddy_reader reader = { 0 };
        char *buf = ed_alloc(COPY_BYTES);
        int more = buf ? 1 : -ENOMEM;

        while (more > 0 && copied.bytes < bytes_max) {
                uint64_t left = bytes_max - copied.bytes;

                /* The buffer's size is the limit of a read: no byte after 'bytes_max' is read. */
                eddy_reader_init(&reader, from, buf, left < COPY_BYTES ? left : COPY_BYTES);
                more = copy_chunk(&reader, to, left, &copied);
        }
        copied.dropped = eddy_reader_buffered(&reader);
        ed_free(buf);
        return finish(to, more, &copied, ret_copied);
}
