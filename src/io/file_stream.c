/*
 * io/file_stream.c - a stream over a file.
 *
 * The operations of a stream must not suspend, so each direction has a buffer: the wait for a read
 * fills one, the wait for a write empties the other. eddy_stream_write() waits until the buffer is
 * empty, so bytes stay in it only after a try or a cancelled write.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/stream_ops.h"
#include "io/file.h"
#include "io/file_op.h"
#include "loop/loop.h"

enum { BUFFER_BYTES = 64 * 1024 };

struct file_stream {
        struct eddy_stream stream;
        eddy_file *file;
        bool own;
        bool is_closed;           /* freed when no task is in a wait */
        unsigned waits;           /* tasks whose operation uses a buffer */
        bool is_ended;            /* the last read found the end, which was not returned yet */
        int read_err;             /* of the last wait, or 0 */
        int write_err;            /* the first; final */
        size_t read_at, read_end; /* the bytes in 'read' that were not returned yet */
        size_t write_end;         /* the bytes in 'write' that are not in the file yet */
        char read[BUFFER_BYTES], write[BUFFER_BYTES];
};

static struct file_stream *self(const eddy_stream *stream)
{
        return ed_container_of(stream, struct file_stream, stream);
}

/* --- reading --- */

static int64_t take(struct file_stream *s, void *buf, size_t bytes)
{
        size_t n = s->read_end - s->read_at;

        if (n > bytes)
                n = bytes;
        memcpy(buf, s->read + s->read_at, n);
        s->read_at += n;
        return (int64_t) n;
}

static int64_t file_stream_try_read(eddy_stream *stream, void *buf, size_t bytes)
{
        struct file_stream *s = self(stream);
        struct ed_sys *sys = s->file->member.loop->sys;
        struct eddy_space space = { buf, bytes };
        struct ed_file_op op = {
                .call = ED_FILE_READ, .fd = s->file->fd, .spaces = &space, .n = 1, .offset = -1
        };
        int err = s->read_err;

        if (s->read_at < s->read_end)
                return take(s, buf, bytes);
        if (err < 0 || s->is_ended) {
                s->read_err = 0;
                s->is_ended = false;
                return err;
        }
        return sys->file->try_run(sys, &op);
}

static int fill(struct file_stream *s)
{
        int64_t n;

        if (s->read_at < s->read_end || s->is_ended || s->read_err < 0)
                return 0;
        n = eddy_file_read(s->file, s->read, sizeof(s->read));
        if (n == -ECANCELED)
                return -ECANCELED;
        s->read_err = n < 0 ? (int) n : 0;
        s->is_ended = n == 0;
        s->read_at = 0;
        s->read_end = n > 0 ? (size_t) n : 0;
        return 0;
}

static bool file_stream_is_readable(eddy_stream *stream)
{
        struct file_stream *s = self(stream);

        return s->read_at < s->read_end || s->is_ended || s->read_err < 0;
}

/* --- writing --- */

static int64_t file_stream_try_writev(eddy_stream *stream, const struct eddy_slice *slices,
                                      size_t n)
{
        struct file_stream *s = self(stream);
        size_t before = s->write_end;

        if (s->write_err < 0)
                return s->write_err;
        for (size_t i = 0; i < n && s->write_end < sizeof(s->write); i++) {
                size_t bytes = sizeof(s->write) - s->write_end;

                if (bytes > slices[i].bytes)
                        bytes = slices[i].bytes;
                memcpy(s->write + s->write_end, slices[i].data, bytes);
                s->write_end += bytes;
        }
        return s->write_end > before ? (int64_t) (s->write_end - before) : -EAGAIN;
}

static int file_stream_flush(eddy_stream *stream)
{
        struct file_stream *s = self(stream);

        if (s->write_err < 0)
                return s->write_err;
        return s->write_end > 0 ? -EAGAIN : 0;
}

/* Write a part of the buffer; the rest stays for the next wait. */
static int empty(struct file_stream *s)
{
        struct eddy_slice slice = { s->write, s->write_end };
        struct ed_file_op op = {
                .call = ED_FILE_WRITE, .fd = s->file->fd, .slices = &slice, .n = 1, .offset = -1
        };
        int64_t n;

        if (s->write_end == 0 || s->write_err < 0)
                return 0;
        n = s->file->is_lost ? EDDY_E_FILE_SYNC : ed_file_do(&op);
        if (n == -ECANCELED)
                return -ECANCELED;
        if (n <= 0) {
                s->write_err = n < 0 ? (int) n : -EIO;
                return 0;
        }
        s->write_end -= (size_t) n;
        memmove(s->write, s->write + n, s->write_end);
        return 0;
}

/* --- both --- */

static void destroy(struct file_stream *s)
{
        if (s->own)
                eddy_file_close(s->file);
        ed_free(s);
}

/* An operation that a thread has begun uses the buffer until it is done, also after a close. */
static int file_stream_wait(eddy_stream *stream, enum eddy_stream_side side)
{
        struct file_stream *s = self(stream);
        int err;

        s->waits++;
        err = side == EDDY_STREAM_READING ? fill(s) : empty(s);
        s->waits--;
        if (!s->is_closed)
                return err;
        if (s->waits == 0)
                destroy(s);
        return -ECANCELED;
}

/* A file has no end to send; bytes that are held are written. */
static int file_stream_shutdown(eddy_stream *stream)
{
        struct file_stream *s = self(stream);
        int err = 0;

        while (err == 0 && s->write_end > 0 && s->write_err == 0)
                err = empty(s);
        return err < 0 ? err : s->write_err;
}

static void file_stream_close(eddy_stream *stream, unsigned flags)
{
        struct file_stream *s = self(stream);

        if (flags == 0 && s->waits == 0 && s->file->member.loop)
                (void) file_stream_shutdown(stream);
        s->is_closed = true;
        if (s->waits == 0)
                destroy(s);
}

static int file_stream_fd(const eddy_stream *stream)
{
        return self(stream)->file->fd;
}

static const struct eddy_stream_ops file_stream_ops = {
        .kind = "file",
        .try_read = file_stream_try_read,
        .try_writev = file_stream_try_writev,
        .flush = file_stream_flush,
        .wait = file_stream_wait,
        .is_readable = file_stream_is_readable,
        .shutdown = file_stream_shutdown,
        .close = file_stream_close,
        .fd = file_stream_fd,
};

int eddy_file_stream(eddy_file *file, unsigned flags, eddy_stream **ret_stream)
{
        struct file_stream *s;

        if (!file || flags & ~(unsigned) EDDY_FILE_STREAM_OWN)
                return -EINVAL;
        s = ed_alloc(sizeof(*s));
        if (!s)
                return -ENOMEM;
        eddy_stream_init(&s->stream, &file_stream_ops);
        s->stream.member = &file->member; /* the file outlives the stream */
        s->file = file;
        s->own = flags & EDDY_FILE_STREAM_OWN;
        s->is_closed = s->is_ended = false;
        s->waits = 0;
        s->read_err = s->write_err = 0;
        s->read_at = s->read_end = s->write_end = 0;
        *ret_stream = &s->stream;
        return 0;
}
