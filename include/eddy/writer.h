/*
 * eddy/writer.h - write many small pieces and formatted text to a stream through a buffer.
 *
 * A writer is the opposite of the reader of eddy/reader.h.  It collects pieces in a buffer in the
 * caller's memory, and writes to the stream when the buffer is full, or when
 * eddy_writer_flush() is called.
 *
 *     char buf[4096];
 *     eddy_writer writer;
 *
 *     eddy_writer_init(&writer, stream, buf, sizeof(buf));
 *     for (int i = 0; i < n; i++)
 *             eddy_writer_printf(&writer, "%s: %d\n", names[i], counts[i]);
 *     return eddy_writer_flush(&writer);
 *
 * Errors.  A piece is taken whole or not at all.  If a piece could not be taken, the text ends
 * before it: later calls take no piece and return the same error, and eddy_writer_flush() sends
 * the pieces before it and then returns this error.  It is therefore enough to check the result
 * of the flush.  After eddy_writer_clear_error() the caller can repeat the piece.  The exceptions:
 *
 * - A call during another task's call returns -EBUSY, or -ECANCELED in a cancelled scope, and
 *   changes nothing.
 * - A piece longer than the buffer is written from the caller's memory.  If that fails or is
 *   cancelled after a part of the piece, the error cannot be cleared.
 * - A flush that fails leaves no gap, and no error.
 *
 * Cancels.  After -ECANCELED from any call, the buffer has, in order, each byte of the taken
 * pieces that the stream has not taken yet; nothing is sent twice.  A later flush, for
 * example in a shielded scope, continues at the first of these bytes.  If a piece was cancelled,
 * this flush returns -ECANCELED after it has sent them.
 *
 * The writer borrows the stream and the buffer and needs no release.  Call
 * eddy_writer_flush() before closing the stream: bytes in the buffer are otherwise lost.
 * Tasks that share a writer hold an eddy_lock while they write.  After a flush, the stream can
 * also be written without the writer.
 */
#ifndef EDDY_WRITER_H
#define EDDY_WRITER_H

#include <stdarg.h>
#include <stdbool.h>

#include "eddy/def.h"
#include "eddy/stream.h"

EDDY_BEGIN_DECLS

/* Private: set by eddy_writer_init(). */
typedef struct eddy_writer {
        eddy_stream *stream;
        char *buf;
        size_t size;       /* of 'buf' */
        size_t begin, end; /* the bytes in 'buf' that the stream has not taken */
        int error;         /* a piece was not taken */
        bool is_busy;      /* a task is in a call */
        bool is_broken;    /* the stream has taken a part of a piece */
        uintptr_t reserved[4];
} eddy_writer;

/*
 * Prepare a writer to 'stream' with the buffer 'buf' of 'bytes' bytes.  A writer
 * that is not in a call may be prepared again; bytes in its buffer are dropped.
 *
 * Suspends: no.
 * Owns: borrows 'stream' and 'buf' as long as the writer is used.
 */
EDDY_API void eddy_writer_init(eddy_writer *writer, eddy_stream *stream, void *buf, size_t bytes);

/*
 * Take the 'bytes' bytes at 'data'.  If they do not fit in the buffer, they are written together
 * with its bytes, and at most a buffer's size of them is kept.  0 bytes are valid.
 *
 * Suspends: yes.
 * Errors: -ECANCELED  the piece was not taken, see above
 *         -EBUSY      another task is in a call on the writer
 *         the error of an earlier piece that was not taken
 *         those of eddy_stream_write_some()
 */
EDDY_API int eddy_writer_write(eddy_writer *writer, const void *data, size_t bytes);

/*
 * Take a text that is formatted as by printf(), without its NUL.  The text is formatted in the
 * buffer.  If it does not fit, the buffer is written first, and the text is formatted again;
 * the arguments must not change meanwhile.  Returns 0.
 *
 * Suspends: yes.
 * Errors: EDDY_E_STREAM_LIMIT  the text and its NUL are longer than the buffer
 *         those of eddy_writer_write()
 *         those of vsnprintf(), such as -EILSEQ
 */
EDDY_API int eddy_writer_printf(eddy_writer *writer, const char *format, ...) EDDY_PRINTF(2, 3);
EDDY_API int eddy_writer_vprintf(eddy_writer *writer, const char *format, va_list args)
        EDDY_PRINTF(2, 0);

/*
 * Write all bytes of the buffer, and wait until the stream has passed on the bytes that it
 * held (TLS).  After an error, bytes that the stream did not take are in the buffer.
 *
 * Suspends: yes.
 * Errors: the error of an earlier piece that was not taken; the bytes before it were written
 *         -ECANCELED, -EBUSY and those of eddy_stream_write_some()
 */
EDDY_API EDDY_MUST_USE int eddy_writer_flush(eddy_writer *writer);

/*
 * Forget the error of a piece that was not taken; the caller repeats the piece or accepts the
 * gap.  Returns 0, also if there was no error.
 *
 * Suspends: no.
 * Errors: EDDY_E_STREAM_BROKEN  a part of a piece was sent; the error remains
 *         -EBUSY                a task is in a call on the writer
 */
EDDY_API int eddy_writer_clear_error(eddy_writer *writer);

/* Returns the number of bytes in the buffer.  Suspends: no. */
EDDY_API size_t eddy_writer_buffered(const eddy_writer *writer);

EDDY_END_DECLS

#endif
