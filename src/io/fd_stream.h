/*
 * io/fd_stream.h - common parts of streams over a descriptor: writing, shutdown, and the idle
 * callback.
 */
#ifndef ED_IO_FD_STREAM_H
#define ED_IO_FD_STREAM_H

#include "io/stream.h"

/* The first member of every stream over a descriptor. */
struct ed_fd_stream {
        struct eddy_stream stream;
        struct ed_watch watch; /* contains the descriptor */
        uint64_t sent;         /* bytes that the kernel has taken */
        bool broken;           /* a write in progress or failed has sent part of its bytes */
};

static inline struct ed_fd_stream *ed_fd_stream_of(eddy_stream *stream)
{
        return ed_container_of(stream, struct ed_fd_stream, stream);
}

void ed_fd_stream_init(struct ed_fd_stream *fds, const struct ed_stream_ops *ops,
                       struct ed_loop *loop, int fd);

/*
 * Send some of 'slices', at least one byte, after a wait if necessary. There is at least one slice,
 * and none is empty. Returns the bytes sent.
 *
 * Suspends: yes.
 * Errors: those of eddy_stream_writev(). The stream may be gone after an error.
 */
typedef int64_t ed_fd_put_fn(struct ed_fd_stream *fds, struct ed_task *task,
                             const struct eddy_slice *slices, size_t n);

/* The operations of the same names in struct ed_stream_ops; 'put' makes the transfers. */
EDDY_MUST_USE int ed_fd_stream_writev(eddy_stream *stream, const struct eddy_slice *list, size_t n,
                                      ed_fd_put_fn *put);
EDDY_MUST_USE int64_t ed_fd_stream_write_some(eddy_stream *stream, const struct eddy_slice *list,
                                              size_t n, ed_fd_put_fn *put);
EDDY_MUST_USE int ed_fd_stream_shutdown(eddy_stream *stream);
EDDY_MUST_USE int ed_fd_stream_watch_idle(eddy_stream *stream, eddy_stream_idle_fn *fn, void *arg);

#endif
