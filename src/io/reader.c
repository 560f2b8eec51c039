/*
 * io/reader.c - reading messages through a buffer: every call fills the buffer until the buffer has
 * what the call needs, and only then takes bytes from it.
 */
#include "eddy/reader.h"

#include <errno.h>
#include <string.h>

#include "eddy/error.h"
#include "scope/suspend.h"

void eddy_reader_init(eddy_reader *reader, eddy_stream *stream, void *buf, size_t bytes)
{
        *reader = (struct eddy_reader){ .stream = stream, .buf = buf, .size = bytes };
}

size_t eddy_reader_buffered(const eddy_reader *reader)
{
        return reader->end - reader->begin;
}

int eddy_reader_is_at_end(const eddy_reader *reader)
{
        return reader->is_ended && reader->begin == reader->end;
}

/* --- the buffer ------------------------------------------------------------------ */

/* Begin a call; leave() ends it. */
static int enter(eddy_reader *reader, struct ed_task **ret_task)
{
        int err = ed_suspend_enter(ret_task);

        if (err < 0)
                return err;
        if (reader->is_busy)
                return -EBUSY;
        reader->is_busy = true;
        return 0;
}

/* End a call.  A call that was served from the buffer counts for fairness like one that read. */
static int64_t leave(eddy_reader *reader, struct ed_task *task, int64_t result)
{
        if (result >= 0)
                ed_suspend_passed(task); /* still busy: no other task may change the buffer now */
        reader->is_busy = false;
        return result;
}

static const char *take(eddy_reader *reader, size_t bytes)
{
        const char *data = reader->buf + reader->begin;

        reader->begin += bytes;
        return data;
}

/*
 * Make room at the end of the buffer.  Moving costs at most as much as was taken before, unless
 * there is no other room.
 */
static void make_room(eddy_reader *reader)
{
        size_t bytes = eddy_reader_buffered(reader);

        if (reader->begin == 0 || (bytes > reader->begin && reader->end < reader->size))
                return;
        memmove(reader->buf, reader->buf + reader->begin, bytes);
        reader->begin = 0;
        reader->end = bytes;
}

/*
 * Read more into the buffer.  Returns the number of bytes; 0 at the end of the stream.  The end is
 * found only with room in the buffer, so there is a free byte after the last one from then on.
 */
static int64_t fill(eddy_reader *reader)
{
        int64_t n;

        if (reader->is_ended)
                return 0;
        make_room(reader);
        if (reader->end == reader->size)
                return EDDY_E_STREAM_LIMIT;
        n = eddy_stream_read(reader->stream, reader->buf + reader->end, reader->size - reader->end);
        if (n > 0)
                reader->end += (size_t) n;
        reader->is_ended = n == 0;
        return n;
}

/* Fill the buffer to 'bytes' bytes.  Returns the number of bytes in it: less only at the end. */
static int64_t fill_to(eddy_reader *reader, size_t bytes)
{
        int64_t n = 1;

        if (bytes > reader->size)
                return EDDY_E_STREAM_LIMIT;
        while (n > 0 && eddy_reader_buffered(reader) < bytes)
                n = fill(reader);
        return n < 0 ? n : (int64_t) eddy_reader_buffered(reader);
}

/*
 * Fill the buffer until it contains 'separator'.  Returns the number of bytes up to and including
 * the separator; 0 at the end of the stream, and then the bytes left have no separator.
 */
static int64_t fill_until(eddy_reader *reader, const void *separator, size_t separator_bytes)
{
        size_t searched = 0; /* no separator begins in these bytes */

        for (;;) {
                const char *data = reader->buf + reader->begin;
                size_t bytes = eddy_reader_buffered(reader);
                const char *at = bytes > 0 ? memmem(data + searched, bytes - searched, separator,
                                                    separator_bytes)
                                           : NULL;
                int64_t n;

                if (at)
                        return at - data + (int64_t) separator_bytes;
                if (bytes >= separator_bytes)
                        searched = bytes - separator_bytes + 1;
                n = fill(reader);
                if (n <= 0)
                        return n;
        }
}

/* --- taking bytes ---------------------------------------------------------------- */

int64_t eddy_reader_read(eddy_reader *reader, void *buf, size_t bytes)
{
        size_t buffered;
        struct ed_task *task;
        int64_t n = enter(reader, &task);

        if (n < 0)
                return n;
        buffered = eddy_reader_buffered(reader);
        if (bytes == 0) {
                n = -EINVAL;
        } else if (buffered > 0) {
                n = (int64_t) (bytes < buffered ? bytes : buffered);
                memcpy(buf, take(reader, (size_t) n), (size_t) n);
        } else if (!reader->is_ended) {
                n = eddy_stream_read(reader->stream, buf, bytes);
                reader->is_ended = n == 0;
        }
        return leave(reader, task, n);
}

int64_t eddy_reader_exactly(eddy_reader *reader, size_t bytes, const char **ret_data)
{
        struct ed_task *task;
        int64_t n = enter(reader, &task);

        if (n < 0)
                return n;
        n = bytes == 0 ? -EINVAL : fill_to(reader, bytes);
        if (n > 0 && n < (int64_t) bytes)
                n = EDDY_E_STREAM_ENDED;
        if (n > 0) {
                n = (int64_t) bytes;
                *ret_data = take(reader, bytes);
        }
        return leave(reader, task, n);
}

int64_t eddy_reader_until(eddy_reader *reader, const void *separator, size_t separator_bytes,
                          const char **ret_data)
{
        struct ed_task *task;
        int64_t n = enter(reader, &task);

        if (n < 0)
                return n;
        n = separator_bytes == 0 ? -EINVAL : fill_until(reader, separator, separator_bytes);
        if (n == 0 && eddy_reader_buffered(reader) > 0)
                n = EDDY_E_STREAM_ENDED;
        if (n > 0)
                *ret_data = take(reader, (size_t) n);
        return leave(reader, task, n);
}

/* Returns the bytes of the end of the line whose first 'bytes' bytes end with "\n". */
static size_t line_end_bytes(const eddy_reader *reader, size_t bytes)
{
        return bytes > 1 && reader->buf[reader->begin + bytes - 2] == '\r' ? 2 : 1;
}

int64_t eddy_reader_line(eddy_reader *reader, char **ret_line, size_t *ret_bytes)
{
        struct ed_task *task;
        size_t end_bytes = 0;
        int64_t n = enter(reader, &task);

        if (n < 0)
                return n;
        n = fill_until(reader, "\n", 1);
        if (n == 0)
                n = (int64_t) eddy_reader_buffered(reader); /* the last line, which has no end */
        else if (n > 0)
                end_bytes = line_end_bytes(reader, (size_t) n);
        if (n > 0) {
                *ret_line = reader->buf + reader->begin;
                *ret_bytes = (size_t) n - end_bytes;
                (*ret_line)[*ret_bytes] = '\0';
                reader->begin += (size_t) n;
        }
        return leave(reader, task, n);
}

int64_t eddy_reader_line_piece(eddy_reader *reader, char **ret_piece, size_t *ret_bytes,
                               bool *ret_is_end)
{
        struct ed_task *task;
        size_t end_bytes = 0;
        bool is_end = true;
        int64_t n = enter(reader, &task);

        if (n < 0)
                return n;
        n = reader->size < 2 ? -EINVAL : fill_until(reader, "\n", 1);
        if (n > 0) {
                end_bytes = line_end_bytes(reader, (size_t) n);
        } else if (n == 0) {
                n = (int64_t) eddy_reader_buffered(reader); /* the last line, which has no end */
        } else if (n == EDDY_E_STREAM_LIMIT) {
                is_end = false;
                n = (int64_t) reader->size - (reader->buf[reader->size - 1] == '\r');
        }
        if (n > 0) {
                *ret_piece = reader->buf + reader->begin;
                *ret_bytes = (size_t) n - end_bytes;
                *ret_is_end = is_end;
                reader->begin += (size_t) n;
        }
        return leave(reader, task, n);
}

int64_t eddy_reader_peek(eddy_reader *reader, size_t bytes, const char **ret_data)
{
        struct ed_task *task;
        int64_t n = enter(reader, &task);

        if (n < 0)
                return n;
        n = bytes == 0 ? -EINVAL : fill_to(reader, bytes);
        if (n >= 0)
                *ret_data = reader->buf + reader->begin;
        return leave(reader, task, n);
}

int eddy_reader_skip(eddy_reader *reader, uint64_t bytes, uint64_t *ret_skipped)
{
        struct ed_task *task;
        uint64_t skipped = 0;
        int64_t n = enter(reader, &task);

        if (ret_skipped)
                *ret_skipped = 0;
        if (n < 0)
                return (int) n;
        for (;;) {
                uint64_t buffered = eddy_reader_buffered(reader), left = bytes - skipped;

                (void) take(reader, (size_t) (left < buffered ? left : buffered));
                skipped += left < buffered ? left : buffered;
                if (skipped == bytes)
                        break;
                n = fill(reader);
                if (n <= 0)
                        break;
        }
        if (ret_skipped)
                *ret_skipped = skipped;
        if (skipped == bytes)
                n = 0;
        else if (n == 0)
                n = EDDY_E_STREAM_ENDED;
        return (int) leave(reader, task, n);
}

int64_t eddy_reader_take(eddy_reader *reader, const char **ret_data)
{
        size_t bytes = eddy_reader_buffered(reader);

        if (reader->is_busy)
                return -EBUSY;
        *ret_data = take(reader, bytes);
        return (int64_t) bytes;
}
