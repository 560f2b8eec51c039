/*
 * eddy/stream.h - a two-way stream of bytes: TCP now, others to come.
 *
 * One task may read while another writes; two readers or two writers at once
 * are refused with -EBUSY.
 */
#ifndef EDDY_STREAM_H
#define EDDY_STREAM_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

typedef struct eddy_stream eddy_stream;

/* One piece of a gathered write. */
struct eddy_slice {
        const void *data;
        size_t bytes;
};

enum { EDDY_STREAM_SLICES_MAX = 16 };

/*
 * Read what is there, at least one byte and at most 'bytes', waiting for it
 * if need be.  Returns the count; 0 is the end of the stream.
 *
 * Suspends: yes.
 * Errors: -ECANCELED            no byte was taken
 *         -ECONNRESET, ...      from the system
 *         EDDY_E_NET_TIMED_OUT  the kernel gave the peer up
 *         -EBUSY                another task reads
 *         -EINVAL               'bytes' is 0
 */
EDDY_API EDDY_MUST_USE int64_t eddy_stream_read(eddy_stream *stream, void *buf, size_t bytes);

/*
 * Write all 'bytes' at 'data'.
 *
 * A write that fails or is cancelled may have sent a part of its bytes.  If it
 * sent none, the stream is as before and the write can be repeated.  If it
 * sent some, the next byte would continue in the middle of a message: each
 * later write, also an empty one, and eddy_stream_shutdown() return
 * EDDY_E_STREAM_BROKEN and send nothing.  Reading goes on.
 *
 * Suspends: yes.
 * Errors: -ECANCELED
 *         EDDY_E_STREAM_BROKEN  an earlier write ended after a part of its bytes
 *         -EPIPE, -ECONNRESET   the peer has closed or reset the connection
 *         EDDY_E_NET_TIMED_OUT  the kernel gave the peer up
 *         -EBUSY                another task writes
 *         others from the system
 */
EDDY_API EDDY_MUST_USE int eddy_stream_write(eddy_stream *stream, const void *data, size_t bytes);

/*
 * Write up to EDDY_STREAM_SLICES_MAX pieces, in order, as one message.
 *
 * Suspends: yes.
 * Errors: those of eddy_stream_write()
 *         -EINVAL  too many pieces; nothing was sent
 */
EDDY_API EDDY_MUST_USE int eddy_stream_writev(eddy_stream *stream, const struct eddy_slice *slices,
                                              size_t n);

/*
 * Say that nothing more will be written; reading goes on.  After a write that
 * ended in the middle the end is not sent: the peer would take the part for
 * the whole.
 *
 * Suspends: no.
 * Errors: EDDY_E_STREAM_BROKEN  an earlier write ended after a part of its bytes
 *         -EBUSY                a task writes
 *         -ENOTCONN and others from the system
 */
EDDY_API int eddy_stream_shutdown(eddy_stream *stream);

/*
 * Whether a read would not wait: bytes, the end or an error are there.  On an
 * idle connection that means that the peer has closed or spoken out of turn.
 *
 * Suspends: no.
 */
EDDY_API int eddy_stream_is_readable(eddy_stream *stream);

/*
 * Call 'fn(arg)' once, from the loop, when the idle stream becomes readable;
 * NULL takes the request back.  While it stands no task may read.  'fn' must
 * not suspend; it may close the stream.
 *
 * Suspends: no.
 * Errors: -EBUSY           a task reads
 *         -EINVAL          it is always readable: a regular file
 *         -ENOMEM, -ENOSPC the system cannot watch one more descriptor
 */
typedef void eddy_stream_idle_fn(void *arg);
EDDY_API int eddy_stream_watch_idle(eddy_stream *stream, eddy_stream_idle_fn *fn, void *arg);

/*
 * Close it and free it.  What was written is still sent, and then the end, also
 * after a write that ended in the middle: eddy_stream_abort() sends a reset
 * instead.  Tasks that wait in it get -ECANCELED.  Works in a cancelled task.
 * NULL is fine.
 *
 * Suspends: no.
 */
EDDY_API void eddy_stream_close(eddy_stream *stream);

/*
 * Close it at once and tell the peer by a reset where there is such a thing;
 * what was not sent is dropped.  NULL is fine.
 *
 * Suspends: no.
 */
EDDY_API void eddy_stream_abort(eddy_stream *stream);

/*
 * A stream over a descriptor that the program has: standard input or output,
 * a pipe, a terminal, a regular file.  Its flags are left as they are: where
 * it blocks, the stream waits until it is ready, and writes to a pipe at most
 * PIPE_BUF bytes at a time.  Regular files are read and written at once.  A
 * descriptor has one stream at a time: waiting in a second fails with -EEXIST.
 *
 * Suspends: no.
 * Errors: -EBADF, -ENOMEM
 * Owns: returns (owned) '*ret_stream'.  Closing it leaves 'fd' open unless
 *       EDDY_STREAM_OWN_FD is given.
 */
enum { EDDY_STREAM_OWN_FD = 1 << 0 };
EDDY_API EDDY_MUST_USE int eddy_stream_from_fd(int fd, unsigned flags, eddy_stream **ret_stream);

static inline void eddy_stream_auto_release(eddy_stream **stream)
{
        eddy_stream_close(*stream);
}

EDDY_END_DECLS

#endif
