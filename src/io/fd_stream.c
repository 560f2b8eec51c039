/*
 * io/fd_stream.c - common parts of streams over a descriptor.
 */
#include "io/fd_stream.h"

#include <errno.h>

#include "eddy/error.h"

void ed_fd_stream_init(struct ed_fd_stream *fds, const struct ed_stream_ops *ops,
                       struct ed_loop *loop, int fd)
{
        fds->stream.ops = ops;
        fds->sent = 0;
        fds->broken = false;
        ed_watch_init(&fds->watch, loop, fd);
}

/* Begin a write; 'slices' is set to the non-empty slices. */
static int write_begin(struct ed_fd_stream *fds, const struct eddy_slice *list, size_t n,
                       struct ed_slices *slices, struct ed_task **ret_task)
{
        int err = ed_watch_enter(&fds->watch, ED_WATCH_WRITE, ret_task);

        if (err < 0)
                return err;
        return ed_unlikely(fds->broken) ? EDDY_E_STREAM_BROKEN : ed_slices_init(slices, list, n);
}

int ed_fd_stream_writev(eddy_stream *stream, const struct eddy_slice *list, size_t n,
                        ed_fd_put_fn *put)
{
        struct ed_fd_stream *fds = ed_fd_stream_of(stream);
        struct ed_slices slices;
        struct ed_task *task;
        int64_t sent;
        int err = write_begin(fds, list, n, &slices, &task);

        if (err < 0)
                return err;
        while (!ed_slices_is_empty(&slices)) {
                sent = put(fds, task, slices.list + slices.first, slices.n - slices.first);
                if (sent < 0)
                        return (int) sent;
                ed_slices_skip(&slices, (size_t) sent);
                fds->sent += (uint64_t) sent;
                /* Set before the next wait: after an error the stream may be gone. */
                fds->broken = !ed_slices_is_empty(&slices);
        }
        ed_suspend_passed(task);
        return 0;
}

int64_t ed_fd_stream_write_some(eddy_stream *stream, const struct eddy_slice *list, size_t n,
                                ed_fd_put_fn *put)
{
        struct ed_fd_stream *fds = ed_fd_stream_of(stream);
        struct ed_slices slices;
        struct ed_task *task;
        int64_t sent = 0;
        int err = write_begin(fds, list, n, &slices, &task);

        if (err < 0)
                return err;
        if (!ed_slices_is_empty(&slices))
                sent = put(fds, task, slices.list, slices.n);
        if (sent >= 0) {
                fds->sent += (uint64_t) sent;
                ed_suspend_passed(task);
        }
        return sent;
}

int ed_fd_stream_shutdown(eddy_stream *stream)
{
        struct ed_fd_stream *fds = ed_fd_stream_of(stream);
        struct ed_sys *sys = fds->watch.loop->sys;

        if (ed_watch_is_busy(&fds->watch, ED_WATCH_WRITE))
                return -EBUSY;
        if (fds->broken)
                return EDDY_E_STREAM_BROKEN;
        return ed_io_error(sys->ops->shutdown(sys, fds->watch.fd));
}

int ed_fd_stream_watch_idle(eddy_stream *stream, eddy_stream_idle_fn *fn, void *arg)
{
        return ed_watch_set_idle(&ed_fd_stream_of(stream)->watch, fn, arg);
}
