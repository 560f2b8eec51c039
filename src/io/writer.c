/*
 * io/writer.c - writing through a buffer. Bytes leave the buffer only when the stream has taken them,
 * and a piece that fits in the buffer is taken whole or not at all.
 */
#include "eddy/writer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "eddy/error.h"
#include "scope/suspend.h"

void eddy_writer_init(eddy_writer *writer, eddy_stream *stream, void *buf, size_t bytes)
{
        *writer = (struct eddy_writer){ .stream = stream, .buf = buf, .size = bytes };
}

size_t eddy_writer_buffered(const eddy_writer *writer)
{
        return writer->end - writer->begin;
}

int eddy_writer_clear_error(eddy_writer *writer)
{
        if (writer->is_busy)
                return -EBUSY;
        if (writer->is_broken)
                return EDDY_E_STREAM_BROKEN;
        writer->error = 0;
        return 0;
}

/* --- calls ----------------------------------------------------------------------- */

/* Begin a call, unless 'error' refuses it; leave() ends it, unless this fails. */
static int enter(eddy_writer *writer, int error, struct ed_task **ret_task)
{
        int err = ed_suspend_enter(ret_task);

        if (err == 0 && writer->is_busy)
                return -EBUSY;
        if (error < 0 && !writer->is_busy)
                return error;
        writer->is_busy = writer->is_busy || err == 0;
        return err;
}

/* End a call. A call that only used the buffer counts for fairness like one that wrote. */
static int leave(eddy_writer *writer, struct ed_task *task, int result)
{
        if (result == 0)
                ed_suspend_passed(task); /* still busy: no other task may change the buffer now */
        writer->is_busy = false;
        return result;
}

/* End a call that takes a piece. */
static int leave_piece(eddy_writer *writer, struct ed_task *task, int result)
{
        if (result < 0)
                writer->error = result;
        return leave(writer, task, result);
}

/* Begin a call that takes a piece. A piece refused during another task's call leaves no error. */
static int enter_piece(eddy_writer *writer, struct ed_task **ret_task)
{
        int err = enter(writer, writer->error, ret_task);

        if (err < 0 && !writer->is_busy)
                writer->error = err;
        return err;
}

/* --- the buffer ------------------------------------------------------------------ */

/* Write some bytes of the buffer and of 'slice', which loses those that the stream took. */
static int put(eddy_writer *writer, struct eddy_slice *slice)
{
        size_t buffered = eddy_writer_buffered(writer), taken;
        struct eddy_slice slices[2] = { { writer->buf + writer->begin, buffered }, *slice };
        int64_t n = eddy_stream_write_some(writer->stream, slices, 2);

        if (n < 0)
                return (int) n;
        taken = (size_t) n < buffered ? (size_t) n : buffered;
        writer->begin += taken;
        if (writer->begin == writer->end)
                writer->begin = writer->end = 0;
        slice->data = (const char *) slice->data + ((size_t) n - taken);
        slice->bytes -= (size_t) n - taken;
        return 0;
}

/* Write the whole buffer. */
static int empty(eddy_writer *writer)
{
        struct eddy_slice none = { "", 0 };
        int err = 0;

        while (err == 0 && eddy_writer_buffered(writer) > 0)
                err = put(writer, &none);
        return err;
}

/* Append bytes for which the buffer has room, though perhaps not at its end. */
static void append(eddy_writer *writer, const struct eddy_slice *slice)
{
        if (slice->bytes == 0)
                return;
        if (slice->bytes > writer->size - writer->end) {
                memmove(writer->buf, writer->buf + writer->begin, eddy_writer_buffered(writer));
                writer->end -= writer->begin;
                writer->begin = 0;
        }
        memcpy(writer->buf + writer->end, slice->data, slice->bytes);
        writer->end += slice->bytes;
}

/* --- pieces ---------------------------------------------------------------------- */

/*
 * Only a piece longer than the buffer can fail in the middle: when a byte of the piece is taken, the
 * buffer is empty.
 */
static int take(eddy_writer *writer, const void *data, size_t bytes)
{
        struct eddy_slice slice = { data, bytes };

        while (slice.bytes > writer->size - eddy_writer_buffered(writer)) {
                int err = put(writer, &slice);

                if (err < 0) {
                        writer->is_broken = slice.bytes < bytes;
                        return err;
                }
        }
        append(writer, &slice);
        return 0;
}

int eddy_writer_write(eddy_writer *writer, const void *data, size_t bytes)
{
        struct ed_task *task;
        int err = enter_piece(writer, &task);

        return err < 0 ? err : leave_piece(writer, task, take(writer, data, bytes));
}

/* Format at the end of the buffer. Returns the length; the text was cut if it is not below the room. */
EDDY_PRINTF(2, 0)
static int64_t format_once(eddy_writer *writer, const char *format, va_list args)
{
        va_list copy;
        int n;

        va_copy(copy, args);
        errno = EINVAL; /* not all C libraries set it */
        n = vsnprintf(writer->buf + writer->end, writer->size - writer->end, format, copy);
        va_end(copy);
        return n < 0 ? -errno : n;
}

EDDY_PRINTF(2, 0)
static int print(eddy_writer *writer, const char *format, va_list args)
{
        int64_t n = format_once(writer, format, args);
        int err;

        if (n >= (int64_t) writer->size)
                return EDDY_E_STREAM_LIMIT;
        if (n >= (int64_t) (writer->size - writer->end)) {
                err = empty(writer);
                if (err < 0)
                        return err;
                n = format_once(writer, format, args);
        }
        if (n < 0)
                return (int) n;
        if (n >= (int64_t) (writer->size - writer->end))
                return EDDY_E_STREAM_LIMIT;
        writer->end += (size_t) n;
        return 0;
}

int eddy_writer_vprintf(eddy_writer *writer, const char *format, va_list args)
{
        struct ed_task *task;
        int err = enter_piece(writer, &task);

        return err < 0 ? err : leave_piece(writer, task, print(writer, format, args));
}

int eddy_writer_printf(eddy_writer *writer, const char *format, ...)
{
        va_list args;
        int err;

        va_start(args, format);
        err = eddy_writer_vprintf(writer, format, args);
        va_end(args);
        return err;
}

int eddy_writer_flush(eddy_writer *writer)
{
        struct ed_task *task;
        int err = enter(writer, 0, &task);

        if (err < 0)
                return err;
        err = empty(writer);
        if (err == 0)
                err = eddy_stream_write(writer->stream, NULL, 0);
        err = leave(writer, task, err);
        return err < 0 ? err : writer->error;
}
