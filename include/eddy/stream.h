/*
 * eddy/stream.h - a two-way stream of bytes, such as a TCP connection.
 *
 * Lines, messages and eddy_stream_copy() are in eddy/reader.h.
 *
 * A task may read while another writes; a second reader or writer gets -EBUSY.
 * Calls on a NULL stream return -EINVAL, unless their comment says otherwise.
 */
#ifndef EDDY_STREAM_H
#define EDDY_STREAM_H

#include <stdbool.h>

#include "eddy/def.h"
#include "eddy/endpoint.h"

EDDY_BEGIN_DECLS

typedef struct eddy_stream eddy_stream;

/* A piece of a gathered write. */
struct eddy_slice {
        const void *data;
        size_t bytes;
};

enum { EDDY_STREAM_SLICES_MAX = 16 };

/*
 * Read the available bytes, at least one and at most 'bytes', waiting for them
 * if necessary.  Returns their number; 0 is the end of the stream.
 *
 * Suspends: yes.
 * Errors: -ECANCELED            no byte was taken
 *         -ECONNRESET, ...      from the system
 *         EDDY_E_NET_TIMED_OUT  the kernel's timeout for the peer expired
 *         -EBUSY                another task is reading
 *         -EINVAL               'bytes' is 0
 *         EDDY_E_RUN_OTHER_LOOP the stream belongs to another loop, see eddy/def.h
 */
EDDY_API EDDY_MUST_USE int64_t eddy_stream_read(eddy_stream *stream, void *buf, size_t bytes);

/*
 * Write all 'bytes' at 'data'.
 *
 * A write that fails or is cancelled may have sent a part of its bytes.  If it
 * sent none, the stream is unchanged and the write can be repeated.  If it sent
 * some, a further write would continue in the middle of a message.  Therefore each
 * later write, even an empty one, and eddy_stream_shutdown() return
 * EDDY_E_STREAM_BROKEN and send nothing.  Reads continue to work.
 *
 * Suspends: yes.
 * Errors: -ECANCELED
 *         EDDY_E_STREAM_BROKEN  an earlier write ended after a part of its bytes
 *         -EPIPE, -ECONNRESET   the peer has closed or reset the connection
 *         EDDY_E_NET_TIMED_OUT  the kernel's timeout for the peer expired
 *         -EBUSY                another task is writing
 *         EDDY_E_RUN_OTHER_LOOP
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
 * Write at least one byte of 'slices', waiting if necessary.  Returns the number
 * of bytes written (0 only if all slices are empty).  After an error nothing was
 * written and the stream is unchanged, so a cancelled caller can continue later.
 * Some streams, such as TLS, may still hold bytes that were written; an empty
 * eddy_stream_write() waits until the stream has passed them on.
 *
 * Suspends: yes.
 * Errors: those of eddy_stream_writev()
 */
EDDY_API EDDY_MUST_USE int64_t eddy_stream_write_some(eddy_stream *stream,
                                                      const struct eddy_slice *slices, size_t n);

/*
 * eddy_stream_read() and eddy_stream_write_some() without the wait, for callers
 * that must not suspend, such as callbacks of the loop.  try_writev may write
 * only a part.  Without slices, or with empty ones, try_writev only sends bytes that
 * the stream took earlier and still has in its own buffer (TLS), and returns 0 when
 * all are sent.
 *
 * Suspends: no.
 * Errors: -EAGAIN  a wait is necessary; see eddy_stream_wait()
 *         those of the call that waits, except -ECANCELED
 */
EDDY_API EDDY_MUST_USE int64_t eddy_stream_try_read(eddy_stream *stream, void *buf, size_t bytes);
EDDY_API EDDY_MUST_USE int64_t eddy_stream_try_writev(eddy_stream *stream,
                                                      const struct eddy_slice *slices, size_t n);

/*
 * Wait until reading or writing may succeed without a wait.  May return early.
 *
 * Suspends: yes.
 * Errors: -ECANCELED  also if the stream was closed meanwhile
 *         -EBUSY      another task is reading or writing
 *         others from the system
 */
enum eddy_stream_side { EDDY_STREAM_READING, EDDY_STREAM_WRITING };
EDDY_API EDDY_MUST_USE int eddy_stream_wait(eddy_stream *stream, enum eddy_stream_side side);

/*
 * Send the end of the stream; reads continue to work.  After a write that ended
 * in the middle of its bytes the end is not sent, because the peer would take the
 * part for the whole.
 *
 * Suspends: a socket never does; TLS may, for at most a second.
 * Errors: EDDY_E_STREAM_BROKEN  an earlier write ended after a part of its bytes
 *         -EBUSY                another task is writing
 *         EDDY_E_NET_TIMED_OUT  the peer took none of the last bytes for a second
 *         -ECANCELED            the end may not have been sent
 *         -ENOTCONN and others from the system
 */
EDDY_API int eddy_stream_shutdown(eddy_stream *stream);

/*
 * Returns whether a read would return at once, with bytes, the end or an error.
 * If true for an idle connection, the peer has closed the connection or sent bytes
 * that were not requested.
 *
 * Suspends: no.
 */
EDDY_API int eddy_stream_is_readable(eddy_stream *stream);

/*
 * Call 'fn(arg)' once, from the loop, when the idle stream becomes readable; NULL
 * withdraws the request.  Until then no task may read.  'fn' must not suspend; it
 * may close the stream.
 *
 * Suspends: no.
 * Errors: -EBUSY           a task is reading
 *         -EALREADY        bytes that were received earlier can be read now
 *         -ENOTSUP         this kind of stream cannot be watched
 *         -EINVAL          the stream is always readable: a regular file
 *         -ENOMEM, -ENOSPC the system cannot watch another descriptor
 */
typedef void eddy_stream_idle_fn(void *arg);
EDDY_API int eddy_stream_watch_idle(eddy_stream *stream, eddy_stream_idle_fn *fn, void *arg);

/*
 * Call 'fn(arg)' once, from the loop, when the stream's connection was reset, or both
 * directions have ended; NULL withdraws the request.  Tasks may read and write
 * meanwhile.  If only the peer's direction has ended, 'fn' is not called, because the
 * peer may still read.  With TCP, a close by the peer looks like such an end, until a
 * later write is answered with a reset; with Unix sockets and memory pairs, a close calls
 * 'fn' at once.  'fn' must not suspend and must not close the stream; closing the stream
 * withdraws the request.
 *
 * Suspends: no.
 * Errors: -EALREADY         the connection was reset or has ended already
 *         -ENOTSUP          this kind of stream cannot be watched
 *         -ENOMEM, -ENOSPC  the system cannot watch another descriptor
 */
EDDY_API int eddy_stream_watch_hangup(eddy_stream *stream, eddy_stream_idle_fn *fn, void *arg);

/* Counts of the bytes written to a stream. */
struct eddy_stream_sent {
        uint64_t acknowledged; /* by the peer's system */
        uint64_t pending;      /* written, not yet acknowledged; Unix sockets: the memory of bytes
                                  that the peer has not read */
};

/*
 * Store the counts of bytes written; zeros if the stream is NULL or does not count.
 * May be called while a task writes.
 *
 * Suspends: no.
 */
EDDY_API void eddy_stream_sent(const eddy_stream *stream, struct eddy_stream_sent *ret_sent);

/*
 * Returns the kind of the stream ("tcp", "unix", "fd", "pair", "tls", ...), "" for
 * NULL.
 *
 * Suspends: no.
 */
EDDY_API const char *eddy_stream_kind(const eddy_stream *stream);

/*
 * Store the endpoint of this end of the stream, or of its peer.  A stream on another
 * stream, such as TLS, has the endpoints of the lower stream.  For a Unix socket, the
 * end that connected has no name.
 *
 * Suspends: no.
 * Errors: -ENOTSUP   the stream has no endpoints: a pipe, a file
 *         -ENOTCONN  the connection has ended
 *         and others from the system
 */
enum eddy_stream_end { EDDY_STREAM_LOCAL, EDDY_STREAM_PEER };
EDDY_API EDDY_MUST_USE int eddy_stream_local(const eddy_stream *stream,
                                             struct eddy_endpoint *ret_endpoint);
EDDY_API EDDY_MUST_USE int eddy_stream_peer(const eddy_stream *stream,
                                            struct eddy_endpoint *ret_endpoint);

/*
 * Returns the descriptor that the stream uses, or -1 if the stream has none or is
 * NULL.  The stream owns the descriptor: do not close, read or write it.
 *
 * Suspends: no.
 */
EDDY_API int eddy_stream_fd(const eddy_stream *stream);

/*
 * Close the stream and free it.  For a socket, the kernel still sends the bytes that
 * were written, and then the end, even if the last write ended in the middle; to
 * send a reset instead, call eddy_stream_abort().  A TLS stream sends the bytes that
 * it still holds, but drops them if the last write ended in the middle, the task is
 * cancelled, or the peer takes none for a second.  Tasks waiting on the stream get
 * -ECANCELED.  Works in a cancelled task.  NULL is ignored.
 *
 * Suspends: a socket never does; TLS may, for at most a second.
 */
EDDY_API void eddy_stream_close(eddy_stream *stream);

/*
 * eddy_stream_close() without a wait, for callers that must not suspend: TLS sends
 * its close only if there is room for it at once.  NULL is ignored.
 *
 * Suspends: no.
 */
EDDY_API void eddy_stream_close_now(eddy_stream *stream);

/*
 * Close the stream at once, with a reset if the protocol has one, and free it.
 * Unsent bytes are dropped.  NULL is ignored.
 *
 * Suspends: no.
 */
EDDY_API void eddy_stream_abort(eddy_stream *stream);

/*
 * Make a stream from a descriptor: standard input or output, a pipe, a terminal, a
 * regular file, or a connected socket, such as one of socketpair(2) or one that was
 * inherited.  The descriptor's flags are not changed: if the descriptor blocks,
 * the stream first waits until it is ready, and writes at most PIPE_BUF bytes at a
 * time to a pipe.  Regular files are read and written without waiting.  A descriptor
 * may have one stream at a time: waiting in a second stream fails with -EEXIST.
 *
 * Suspends: no.
 * Errors: -EBADF, -ENOMEM
 * Owns: returns (owned) '*ret_stream'.  Closing it leaves 'fd' open unless
 *       EDDY_STREAM_OWN_FD is given.
 */
enum { EDDY_STREAM_OWN_FD = 1 << 0 };
EDDY_API EDDY_MUST_USE int eddy_stream_from_fd(int fd, unsigned flags, eddy_stream **ret_stream);

/* All zero is the default. */
struct eddy_stream_pair_opts {
        /* each way; 0: 64 KiB; at most EDDY_STREAM_PAIR_BYTES_MAX */
        size_t buffer_bytes EDDY_UNSET;
        uintptr_t reserved[3] EDDY_UNSET; /* zero */
};

enum { EDDY_STREAM_PAIR_BYTES_MAX = 1 << 30 };

/*
 * Make two connected streams in memory: what is written to one is read from the
 * other.  For tests, and to run a protocol inside a program.  The streams behave
 * like connected sockets: a writer waits if the buffer of its peer is full;
 * after a close or shutdown the peer reads the remaining bytes and then the end;
 * after an abort, or a close with unread bytes, the peer reads the remaining bytes,
 * and its calls then fail with -ECONNRESET.  A write after the peer's close fails
 * with -EPIPE.  'opts' may be NULL.
 *
 * Suspends: no.
 * Errors: -EINVAL  the buffer is too large
 *         -ENOMEM
 *         EDDY_E_RUN_NOT_RUNNING  outside a run
 * Owns: returns (owned) both, to be closed by eddy_stream_close().
 */
EDDY_API EDDY_MUST_USE int eddy_stream_pair(const struct eddy_stream_pair_opts *opts,
                                            eddy_stream **ret_first, eddy_stream **ret_second);

static inline void eddy_stream_auto_release(eddy_stream **stream)
{
        eddy_stream_close(*stream);
}

EDDY_END_DECLS

#endif
