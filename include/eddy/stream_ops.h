/*
 * eddy/stream_ops.h - the interface for implementing a kind of stream.
 *
 * A stream is a struct whose first member is 'struct eddy_stream', with a table of
 * operations.  The operations try_read and try_writev never suspend; the calls of
 * eddy/stream.h repeat them and wait between the tries.  eddy checks arguments,
 * refuses a second reader or writer (-EBUSY), and refuses writes after a write that
 * ended in the middle.
 *
 *     struct counter {
 *             struct eddy_stream stream;
 *             eddy_stream *lower;
 *             uint64_t bytes;
 *     };
 *
 *     static int64_t counter_try_read(eddy_stream *stream, void *buf, size_t bytes)
 *     {
 *             struct counter *counter = (struct counter *) stream;
 *             int64_t n = eddy_stream_try_read(counter->lower, buf, bytes);
 *
 *             counter->bytes += n > 0 ? (uint64_t) n : 0;
 *             return n;
 *     }
 *
 * A stream belongs to one loop; all operations run on its thread.
 */
#ifndef EDDY_STREAM_OPS_H
#define EDDY_STREAM_OPS_H

#include "eddy/def.h"
#include "eddy/stream.h"

EDDY_BEGIN_DECLS

struct eddy_stream_ops {
        /* The kind, for reports and dumps: "tcp", "tls". */
        const char *kind EDDY_UNSET;

        /*
         * Read what is available, at most 'bytes' (at least 1).  Returns the number;
         * 0 at the end of the stream; -EAGAIN if a reader must wait; or an error.
         * Must not suspend.
         */
        int64_t (*try_read)(eddy_stream *stream, void *buf, size_t bytes) EDDY_UNSET;

        /*
         * Take bytes of 'slices', in order.  There is at least one slice, and none is
         * empty.  Returns the number taken, at least 1; -EAGAIN if a writer must
         * wait; or an error.  Nothing is taken on -EAGAIN or an error.  Must not
         * suspend.
         */
        int64_t (*try_writev)(eddy_stream *stream, const struct eddy_slice *slices,
                              size_t n) EDDY_UNSET;

        /*
         * Pass on the bytes that try_writev took and that the stream still holds.  Returns
         * 0 if none remain; -EAGAIN if a writer must wait; or an error.  Must not
         * suspend.  A stream on another one passes its own bytes on, and then returns
         * eddy_stream_try_writev(lower, NULL, 0): 'lower' may hold bytes, as TLS does.
         * NULL: neither the stream nor a stream below ever holds bytes.
         */
        int (*flush)(eddy_stream *stream) EDDY_UNSET;

        /*
         * Wait until another try is worth making; waking too early is harmless.  After
         * a negative result (-ECANCELED or an error of the wait) the stream may have
         * been closed and freed: return without touching it.  Suspends.
         */
        int (*wait)(eddy_stream *stream, enum eddy_stream_side side) EDDY_UNSET;

        /* Whether try_read would return something other than -EAGAIN.  Must not suspend. */
        bool (*is_readable)(eddy_stream *stream) EDDY_UNSET;

        /*
         * Call 'fn(arg)' once when try_read would return bytes, the end or an error;
         * NULL withdraws the request.  Must not suspend.  NULL: not supported; such a
         * connection is not kept for further HTTP requests.
         */
        int (*watch_idle)(eddy_stream *stream, eddy_stream_idle_fn *fn, void *arg) EDDY_UNSET;

        /* Send the end of the stream.  May suspend for a bounded time. */
        int (*shutdown)(eddy_stream *stream) EDDY_UNSET;

        /*
         * End the stream and free it.  Tasks in 'wait' must return -ECANCELED.  Without
         * a flag, may suspend for a bounded time to send held bytes and the protocol's
         * own end.
         */
        void (*close)(eddy_stream *stream, unsigned flags) EDDY_UNSET;

        /* The descriptor that the stream uses, or -1.  NULL: the stream has none. */
        int (*fd)(const eddy_stream *stream) EDDY_UNSET;

        /*
         * Store the counts of bytes written: those that the peer has acknowledged, and
         * those that it has not.  NULL: unknown; a minimum speed then applies to the
         * bytes that try_writev takes.  A stream on a socket takes them in large steps,
         * and should return the counts of the socket.
         */
        void (*sent)(const eddy_stream *stream, struct eddy_stream_sent *ret_sent) EDDY_UNSET;

        /*
         * Store the endpoint of this end or of the peer.  Errors: -ENOTCONN, -ENOTSUP.
         * NULL: the stream has none.
         */
        int (*endpoint)(const eddy_stream *stream, enum eddy_stream_end end,
                        struct eddy_endpoint *ret_endpoint) EDDY_UNSET;

        /*
         * Call 'fn(arg)' once when the connection was reset, or both directions have
         * ended; NULL withdraws the request.  Tasks may read and write meanwhile.
         * Errors: -EALREADY if either has happened.  Must not suspend.  NULL: not supported.
         */
        int (*watch_hangup)(eddy_stream *stream, eddy_stream_idle_fn *fn, void *arg) EDDY_UNSET;

        void (*reserved[2])(void) EDDY_UNSET;
};

/*
 * Flags of the operation 'close'.  eddy_stream_abort() passes EDDY_STREAM_ABORT,
 * eddy_stream_close_now() passes EDDY_STREAM_NO_WAIT.
 */
enum {
        EDDY_STREAM_ABORT = 1 << 0,   /* drop the bytes that were not sent */
        EDDY_STREAM_NO_WAIT = 1 << 1, /* send only the bytes that leave at once */
};

/* The first member of every stream.  Initialise it with eddy_stream_init(). */
struct eddy_stream {
        const struct eddy_stream_ops *ops;
        void *users[2];  /* eddy's: the waiting reader and writer */
        bool is_broken;  /* eddy's: a write ended after a part of its bytes */
        bool is_closing; /* eddy's: eddy_stream_close() is waiting */
        bool is_lent;    /* eddy's: a handshake of TLS uses the stream; it cannot be closed */
        uint64_t taken;  /* eddy's: bytes that try_writev took */
        void *member;    /* eddy's: the place in the loop; NULL: not bound to a loop */
};

/* Initialise a new stream with its operations.  Suspends: no. */
EDDY_API void eddy_stream_init(eddy_stream *stream, const struct eddy_stream_ops *ops);

EDDY_END_DECLS

#endif
