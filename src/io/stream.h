/*
 * io/stream.h - writes with a callback before their first wait.
 */
#ifndef ED_IO_STREAM_H
#define ED_IO_STREAM_H

#include <stdbool.h>

#include "base/def.h"
#include "eddy/file.h"
#include "eddy/stream.h"

/* Put this into a struct with the data that 'begin' needs. */
struct ed_stream_wait {
        void (*begin)(struct ed_stream_wait *wait); /* before the first wait; does not suspend */
        bool waited;
};

/* As eddy_stream_writev(). If the write has to wait, first calls 'first->begin', once. */
EDDY_MUST_USE ED_SHARED int ed_stream_writev(eddy_stream *stream, const struct eddy_slice *list,
                                             size_t n, struct ed_stream_wait *first);

/*
 * Write bytes of a regular file without copying them in this process, as many as the stream takes
 * at once. Returns the number of written bytes, at least 1, or 0 at the end of the file. 'first'
 * may be NULL.
 *
 * Suspends: yes.
 * Errors: those of eddy_stream_write_some()
 *         -EAGAIN   the stream took no bytes, but has room now: try again
 *         -ENOTSUP  the stream cannot send this file: use eddy_stream_writev()
 */
EDDY_MUST_USE ED_SHARED int64_t ed_stream_send_file(eddy_stream *stream, const eddy_file *file,
                                                    int64_t offset, size_t bytes,
                                                    struct ed_stream_wait *first);

#endif
