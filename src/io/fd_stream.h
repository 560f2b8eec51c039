/*
 * io/fd_stream.h - common parts of streams over a descriptor: waiting, shutdown, and the idle
 * callback.
 */
#ifndef ED_IO_FD_STREAM_H
#define ED_IO_FD_STREAM_H

#include "eddy/stream_ops.h"
#include "io/watch.h"

/* The first member of every stream over a descriptor. */
struct ed_fd_stream {
        struct eddy_stream stream;
        struct ed_watch watch; /* contains the descriptor */
        uint64_t sent;         /* bytes that the kernel has taken */
        uint64_t file_bytes;   /* the last of 'sent', from files; see socket.c */
        bool is_unlimited;     /* it counts in the loop's 'unlimited' */
};

static inline struct ed_fd_stream *ed_fd_stream_of(const eddy_stream *stream)
{
        return ed_container_of(stream, struct ed_fd_stream, stream);
}

void ed_fd_stream_init(struct ed_fd_stream *fds, const struct eddy_stream_ops *ops,
                       struct ed_loop *loop, int fd);

/* Wait for an event of 'side', unless a try is worth making now. See struct eddy_stream_ops. */
EDDY_MUST_USE int ed_fd_stream_wait(struct ed_fd_stream *fds, enum ed_watch_side side,
                                    const char *waits_for);

/* The operations of the same names. */
EDDY_MUST_USE int ed_fd_stream_shutdown(eddy_stream *stream);
EDDY_MUST_USE int ed_fd_stream_watch_hangup(eddy_stream *stream, eddy_stream_idle_fn *fn,
                                            void *arg);
int ed_fd_stream_watch_idle(eddy_stream *stream, eddy_stream_idle_fn *fn, void *arg);
int ed_fd_stream_fd(const eddy_stream *stream);
EDDY_MUST_USE int ed_fd_stream_endpoint(const eddy_stream *stream, enum eddy_stream_end end,
                                        struct eddy_endpoint *ret_endpoint);

#endif
