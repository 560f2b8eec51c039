/*
 * io/pipe.c - a stream over this process's end of a pipe, or of a pseudo-terminal.
 *
 * Unlike those of io/descriptor.c, these descriptors are eddy's own and do not block, so a transfer
 * is simply tried. A pipe has one direction: its shutdown closes the descriptor.
 */
#include "io/pipe.h"

#include <errno.h>

#include "base/alloc.h"
#include "scope/debug/debug.h"

struct pipe {
        struct ed_fd_stream base;
        bool is_terminal;
        bool is_shut; /* the descriptor is closed, or was never there */
};

static struct pipe *pipe_of(const eddy_stream *stream)
{
        return ed_container_of(ed_fd_stream_of(stream), struct pipe, base);
}

/* Returns the error of a call that returned 'n'. The side is not ready if the call would wait. */
static int64_t failed(struct ed_watch *watch, enum ed_watch_side side, int64_t n)
{
        watch->ready[side] = n != -EAGAIN;
        return ed_io_error(n);
}

static int64_t pipe_try_read(eddy_stream *stream, void *buf, size_t bytes)
{
        struct pipe *pipe = pipe_of(stream);
        struct ed_watch *watch = &pipe->base.watch;
        struct ed_sys *sys = watch->member.loop->sys;
        int64_t n;

        if (pipe->is_shut)
                return -EBADF;
        if (watch->idle)
                return -EBUSY;
        if (!watch->ready[ED_WATCH_READ])
                return -EAGAIN;
        n = sys->socket->read(sys, watch->fd, buf, bytes);
        /* No process has the terminal open. */
        if (n == -EIO && pipe->is_terminal)
                return 0;
        return n < 0 ? failed(watch, ED_WATCH_READ, n) : n;
}

/* Writes only from the first slice: a write call takes one. */
static int64_t pipe_try_writev(eddy_stream *stream, const struct eddy_slice *slices,
                               size_t slices_count)
{
        struct pipe *pipe = pipe_of(stream);
        struct ed_watch *watch = &pipe->base.watch;
        struct ed_sys *sys = watch->member.loop->sys;
        int64_t n;

        (void) slices_count;
        if (pipe->is_shut)
                return -EPIPE;
        if (!watch->ready[ED_WATCH_WRITE])
                return -EAGAIN;
        n = sys->socket->write(sys, watch->fd, slices[0].data, slices[0].bytes, !pipe->is_terminal);
        return n < 0 ? failed(watch, ED_WATCH_WRITE, n) : n;
}

static int pipe_wait(eddy_stream *stream, enum eddy_stream_side side)
{
        struct pipe *pipe = pipe_of(stream);

        if (pipe->is_shut)
                return -EBADF;
        return side == EDDY_STREAM_READING
                       ? ed_fd_stream_wait(&pipe->base, ED_WATCH_READ, "bytes of a pipe")
                       : ed_fd_stream_wait(&pipe->base, ED_WATCH_WRITE, "room in a pipe");
}

static bool pipe_is_readable(eddy_stream *stream)
{
        struct pipe *pipe = pipe_of(stream);
        struct ed_watch *watch = &pipe->base.watch;

        /* The loop may not have polled since the bytes arrived. */
        if (!pipe->is_shut &&
            !watch->member.loop->sys->poll->is_readable(watch->member.loop->sys, watch->fd))
                return false;
        watch->ready[ED_WATCH_READ] = true;
        return true;
}

static int pipe_watch_idle(eddy_stream *stream, eddy_stream_idle_fn *fn, void *arg)
{
        return pipe_of(stream)->is_shut ? -EBADF : ed_fd_stream_watch_idle(stream, fn, arg);
}

static int pipe_watch_hangup(eddy_stream *stream, eddy_stream_idle_fn *fn, void *arg)
{
        return pipe_of(stream)->is_shut ? -EALREADY : ed_fd_stream_watch_hangup(stream, fn, arg);
}

static void shut(struct pipe *pipe)
{
        pipe->is_shut = true;
        ed_watch_shut(&pipe->base.watch, false);
}

static int pipe_shutdown(eddy_stream *stream)
{
        struct pipe *pipe = pipe_of(stream);

        if (pipe->is_terminal)
                return -ENOTSUP;
        shut(pipe);
        return 0;
}

static void pipe_close(eddy_stream *stream, unsigned flags)
{
        struct pipe *pipe = pipe_of(stream);

        (void) flags;
        ed_watch_close(&pipe->base.watch, false);
        ed_free(pipe);
}

static const struct eddy_stream_ops pipe_ops = {
        .kind = "pipe",
        .try_read = pipe_try_read,
        .try_writev = pipe_try_writev,
        .wait = pipe_wait,
        .is_readable = pipe_is_readable,
        .watch_idle = pipe_watch_idle,
        .watch_hangup = pipe_watch_hangup,
        .shutdown = pipe_shutdown,
        .close = pipe_close,
        .fd = ed_fd_stream_fd,
};

eddy_stream *ed_pipe_new(struct ed_loop *loop, enum ed_pipe_kind kind)
{
        struct pipe *pipe = ed_alloc(sizeof(*pipe));

        if (!pipe)
                return NULL;
        ed_fd_stream_init(&pipe->base, &pipe_ops, loop, -1);
        pipe->is_terminal = kind == ED_PIPE_TERMINAL;
        pipe->is_shut = true;
        return &pipe->base.stream;
}

void ed_pipe_attach(eddy_stream *stream, int fd)
{
        pipe_of(stream)->base.watch.fd = fd;
        pipe_of(stream)->is_shut = false;
}
