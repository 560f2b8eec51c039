/*
 * eddy/reader.h - read messages, lines and fixed sizes from any stream.
 *
 * A reader has a buffer in the caller's memory.  A call for a line, a message or a
 * number of bytes waits until all of it is in the buffer and returns a pointer into
 * the buffer, which is valid until the next call on the reader.  The buffer's size
 * is the limit of one line, message or peek.  eddy_reader_read(), eddy_reader_skip()
 * and eddy_reader_copy() return no pointer and have no such limit.
 *
 *     char buf[4096], *line;
 *     size_t bytes;
 *     int64_t n;
 *     eddy_reader reader;
 *
 *     eddy_reader_init(&reader, stream, buf, sizeof(buf));
 *     while ((n = eddy_reader_line(&reader, &line, &bytes)) > 0)
 *             puts(line);
 *
 * A call that fails takes nothing: all bytes stay in the buffer, also after
 * -ECANCELED, and the next call continues with them.  Two functions are exceptions:
 * before a failure, eddy_reader_skip() may have dropped bytes, and
 * eddy_reader_copy() may have written bytes; both report the number.
 *
 * The reader borrows the stream and the buffer; it needs no release.  A task
 * that calls a reader during another task's call gets -EBUSY.  Other tasks may
 * write to the stream, but only the reader may read from it.
 */
#ifndef EDDY_READER_H
#define EDDY_READER_H

#include <stdbool.h>

#include "eddy/def.h"
#include "eddy/stream.h"

EDDY_BEGIN_DECLS

/* Private: set by eddy_reader_init(). */
typedef struct eddy_reader {
        eddy_stream *stream;
        char *buf;
        size_t size;       /* of 'buf' */
        size_t begin, end; /* the bytes in 'buf' that no call has taken */
        bool is_ended;     /* the stream has ended */
        bool is_busy;      /* a task is in a call */
        uintptr_t reserved[4];
} eddy_reader;

/*
 * Prepare a reader of 'stream' with the buffer 'buf' of 'bytes' bytes.  A reader
 * that is not in a call may be prepared again, for example for another stream.
 *
 * Suspends: no.
 * Owns: borrows 'stream' and 'buf' as long as the reader is used.
 */
EDDY_API void eddy_reader_init(eddy_reader *reader, eddy_stream *stream, void *buf, size_t bytes);

/*
 * Take the available bytes, at least one and at most 'bytes', waiting for them if
 * necessary, and copy them to 'buf'.  Bytes in the reader's buffer come first; if
 * that is empty, the call reads from the stream directly into 'buf'.  Returns the
 * number of bytes copied; 0 is the end of the stream.
 *
 * Suspends: yes.
 * Errors: -ECANCELED  no byte was taken
 *         -EBUSY      another task is in a call on the reader
 *         -EINVAL     'bytes' is 0
 *         those of eddy_stream_read()
 */
EDDY_API EDDY_MUST_USE int64_t eddy_reader_read(eddy_reader *reader, void *buf, size_t bytes);

/*
 * Take exactly 'bytes' bytes.  Returns 'bytes'; or 0 if the stream ended before
 * the first of them.
 *
 * Suspends: yes.
 * Errors: EDDY_E_STREAM_ENDED  the stream ended after a part of the bytes; the part
 *                              is in the buffer: see eddy_reader_take()
 *         EDDY_E_STREAM_LIMIT  'bytes' is more than the buffer's size
 *         -EINVAL              'bytes' is 0
 *         -ECANCELED, -EBUSY and those of eddy_stream_read()
 * Owns: '*ret_data' is valid until the next call on the reader.
 */
EDDY_API EDDY_MUST_USE int64_t eddy_reader_exactly(eddy_reader *reader, size_t bytes,
                                                   const char **ret_data);

/*
 * Take the bytes up to and including the first 'separator', which has
 * 'separator_bytes' bytes of any value.  Returns the number of bytes taken; or 0
 * if the stream ended before the first of them.
 *
 * Suspends: yes.
 * Errors: EDDY_E_STREAM_LIMIT  the buffer is full and has no separator
 *         EDDY_E_STREAM_ENDED  the stream ended without a separator; the bytes before
 *                              the end are in the buffer: see eddy_reader_take()
 *         -EINVAL              'separator_bytes' is 0
 *         -ECANCELED, -EBUSY and those of eddy_stream_read()
 * Owns: '*ret_data' is valid until the next call on the reader.
 */
EDDY_API EDDY_MUST_USE int64_t eddy_reader_until(eddy_reader *reader, const void *separator,
                                                 size_t separator_bytes, const char **ret_data);

/*
 * Take a line, which ends with "\n" or "\r\n".  '*ret_line' is the line without its
 * end and with a final NUL, '*ret_bytes' its length; a line may contain NULs.
 * Returns the number of bytes taken, including the line's end, or 0 at the end of
 * the stream.  If the stream ends without a line end, the remaining bytes are
 * returned as a last line, and the result equals '*ret_bytes'.
 *
 * For lines that may be longer than the buffer, call eddy_reader_line_piece(), also
 * after EDDY_E_STREAM_LIMIT.
 *
 * Suspends: yes.
 * Errors: EDDY_E_STREAM_LIMIT  the buffer is full and has no line's end
 *         -ECANCELED, -EBUSY and those of eddy_stream_read()
 * Owns: '*ret_line' is valid until the next call on the reader; the caller may
 *       change it.
 */
EDDY_API EDDY_MUST_USE int64_t eddy_reader_line(eddy_reader *reader, char **ret_line,
                                                size_t *ret_bytes);

/*
 * Take a line as eddy_reader_line() does, or the next piece of a line that is longer
 * than the buffer.  Returns the number of bytes taken, including the line's end, or 0
 * at the end of the stream.  '*ret_piece' has '*ret_bytes' bytes of the line, possibly 0,
 * without its end and without a final NUL.  '*ret_is_end' is true if the line ends with the
 * piece, and false if the buffer is full and the line's next piece follows.  A "\r\n" is
 * never divided: a "\r" at the end of a full buffer belongs to the next piece.
 *
 * If the stream ends without a line end, the remaining bytes are a piece that ends the
 * line.  If the stream ends just after a piece that does not end its line, the next call
 * returns 0, and the line has ended.
 *
 * To skip the rest of a line that is too long, repeat the call until '*ret_is_end'.
 *
 * Suspends: yes.
 * Errors: -EINVAL  the buffer has fewer than two bytes
 *         -ECANCELED, -EBUSY and those of eddy_stream_read()
 * Owns: '*ret_piece' is valid until the next call on the reader; the caller may
 *       change it.
 */
EDDY_API EDDY_MUST_USE int64_t eddy_reader_line_piece(eddy_reader *reader, char **ret_piece,
                                                      size_t *ret_bytes, bool *ret_is_end);

/*
 * Wait until the buffer has at least 'bytes' bytes, or the stream has ended, and
 * take nothing.  Returns the number of bytes in the buffer.  It may be more
 * than 'bytes', and is less only at the end of the stream.
 *
 * Suspends: yes.
 * Errors: EDDY_E_STREAM_LIMIT  'bytes' is more than the buffer's size
 *         -EINVAL              'bytes' is 0
 *         -ECANCELED, -EBUSY and those of eddy_stream_read()
 * Owns: '*ret_data' is valid until the next call on the reader.
 */
EDDY_API EDDY_MUST_USE int64_t eddy_reader_peek(eddy_reader *reader, size_t bytes,
                                                const char **ret_data);

/*
 * Take and drop exactly 'bytes' bytes; they may be more than the buffer's size.
 * '*ret_skipped', which may be NULL, is the number of bytes dropped; it is set
 * also after an error, so that the caller can continue.
 *
 * Suspends: yes.
 * Errors: EDDY_E_STREAM_ENDED  the stream ended before 'bytes' bytes were dropped
 *         -ECANCELED, -EBUSY and those of eddy_stream_read()
 */
EDDY_API EDDY_MUST_USE int eddy_reader_skip(eddy_reader *reader, uint64_t bytes,
                                            uint64_t *ret_skipped);

/*
 * Take all bytes in the buffer.  Returns their number, possibly 0.  Use it when the
 * protocol changes on the same stream.  After STARTTLS, a client must refuse bytes
 * that arrived early (RFC 3207, 6); a server passes them to eddy_tls_server().
 *
 * Suspends: no.
 * Errors: -EBUSY  a task is in a call on the reader
 * Owns: '*ret_data' is valid until the next call on the reader.
 */
EDDY_API EDDY_MUST_USE int64_t eddy_reader_take(eddy_reader *reader, const char **ret_data);

/* The result of a copy; also set if the copy fails. */
struct eddy_stream_copied {
        uint64_t bytes;   /* written to the destination */
        uint64_t dropped; /* read from the source, but not written */
        /* After an error: EDDY_STREAM_READING if the source failed, EDDY_STREAM_WRITING if the
         * destination failed. */
        enum eddy_stream_side failed;
        uintptr_t reserved[2];
};

/*
 * Copy bytes to the stream 'to', beginning with those in the buffer, until the
 * reader's stream ends or 'bytes_max' bytes were copied (UINT64_MAX: no limit).  It
 * reads only after all earlier bytes were written, so a slow destination slows the
 * source.  Does not end the destination; call eddy_stream_shutdown() for that.
 * After an error, bytes that were not written are in the buffer; none are dropped.
 * 'ret_copied' may be NULL.
 *
 * Suspends: yes.
 * Errors: -ECANCELED, -EBUSY, those of eddy_stream_read() for the source and of
 *         eddy_stream_write_some() for the destination
 */
EDDY_API EDDY_MUST_USE int eddy_reader_copy(eddy_reader *reader, eddy_stream *to,
                                            uint64_t bytes_max,
                                            struct eddy_stream_copied *ret_copied);

/*
 * Copy from one stream to another like eddy_reader_copy(), but through an internal
 * buffer of 16 KiB.  Bytes that were read but could not be written are dropped; if they
 * matter, call eddy_reader_copy().
 *
 * Suspends: yes.
 * Errors: those of eddy_reader_copy(); -ENOMEM  nothing was copied
 */
EDDY_API EDDY_MUST_USE int eddy_stream_copy(eddy_stream *from, eddy_stream *to, uint64_t bytes_max,
                                            struct eddy_stream_copied *ret_copied);

/* Returns the number of bytes in the buffer.  Suspends: no. */
EDDY_API size_t eddy_reader_buffered(const eddy_reader *reader);

/*
 * Returns whether the stream has ended and all its bytes were taken.  Does not
 * read: the end is known only after a call has met it.
 *
 * Suspends: no.
 */
EDDY_API int eddy_reader_is_at_end(const eddy_reader *reader);

EDDY_END_DECLS

#endif
