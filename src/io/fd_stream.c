/*
 * io/fd_stream.c - common parts of streams over a descriptor.
 */
#include "io/fd_stream.h"

#include <errno.h>

void ed_fd_stream_init(struct ed_fd_stream *fds, const struct eddy_stream_ops *ops,
                       struct ed_loop *loop, int fd)
{
        fds->stream = (struct eddy_stream){ .ops = ops, .member = &fds->watch.member };
        fds->sent = 0;
        fds->file_bytes = 0;
        fds->is_unlimited = false;
        ed_watch_init(&fds->watch, loop, fd);
}

int ed_fd_stream_wait(struct ed_fd_stream *fds, enum ed_watch_side side, const char *waits_for)
{
        struct ed_task *task;
        int err = ed_watch_enter(&fds->watch, side, &task);

        if (err < 0 || fds->watch.ready[side])
                return err;
        return ed_watch_wait(&fds->watch, side, task, waits_for);
}

int ed_fd_stream_shutdown(eddy_stream *stream)
{
        struct ed_fd_stream *fds = ed_fd_stream_of(stream);
        struct ed_sys *sys = fds->watch.member.loop->sys;

        return ed_io_error(sys->socket->shutdown(sys, fds->watch.fd));
}

int ed_fd_stream_watch_idle(eddy_stream *stream, eddy_stream_idle_fn *fn, void *arg)
{
        return ed_watch_set_idle(&ed_fd_stream_of(stream)->watch, fn, arg);
}

int ed_fd_stream_watch_hangup(eddy_stream *stream, eddy_stream_idle_fn *fn, void *arg)
{
        return ed_watch_set_hangup(&ed_fd_stream_of(stream)->watch, fn, arg);
}

int ed_fd_stream_fd(const eddy_stream *stream)
{
        return ed_fd_stream_of(stream)->watch.fd;
}

int ed_fd_stream_endpoint(const eddy_stream *stream, enum eddy_stream_end end,
                          struct eddy_endpoint *ret_endpoint)
{
        const struct ed_watch *watch = &ed_fd_stream_of(stream)->watch;
        struct ed_sys *sys = watch->member.loop->sys;
        int err = sys->socket->endpoint(sys, watch->fd, end, ret_endpoint);

        return err == -ENOTSOCK ? -ENOTSUP : ed_io_error(err);
}
