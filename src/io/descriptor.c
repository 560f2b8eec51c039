/*
 * io/descriptor.c - streams over the program's descriptors.
 *
 * These descriptors may block, and eddy must not change their flags, because other processes may
 * share them. A transfer is therefore tried only if the table reports that it would not wait, and a
 * write is at most PIPE_BUF bytes, for which a ready pipe has room. Descriptors that the table
 * refuses to watch (regular files, /dev/null) never block and are used directly.
 */
#include <errno.h>
#include <limits.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "io/fd_stream.h"
#include "scope/debug/debug.h"

/* Delay before a retry on a descriptor that was reported ready but was not. */
enum { RETRY_NS = 1000000 };

struct descriptor {
        struct ed_fd_stream base;
        bool is_socket; /* send() instead of write(): raises no signal if closed */
        bool own;
};

/* Returns true if a transfer would not wait. A wait that follows gets the next change. */
static bool is_ready(struct ed_watch *watch, enum ed_watch_side side)
{
        struct ed_sys *sys = watch->loop->sys;

        if (watch->always)
                return true;
        return side == ED_WATCH_READ ? sys->ops->is_readable(sys, watch->fd)
                                     : sys->ops->is_writable(sys, watch->fd);
}

/* Wait until a transfer would not wait. After an error the stream may be gone. */
static int wait_ready(struct ed_watch *watch, enum ed_watch_side side, struct ed_task *task)
{
        static const char *const waits_for[] = { "bytes of a descriptor", "room in a descriptor" };

        /* Register before the check, so that later changes are reported. */
        int err = ed_watch_register(watch);

        while (err == 0 && !is_ready(watch, side))
                err = ed_watch_wait(watch, side, task, waits_for[side]);
        return err;
}

static int retry_later(struct ed_watch *watch, enum ed_watch_side side, struct ed_task *task)
{
        return ed_watch_pause(watch, side, task, RETRY_NS,
                              "a descriptor that is not ready after all");
}

static int64_t descriptor_read(eddy_stream *stream, void *buf, size_t bytes)
{
        struct ed_watch *watch = &ed_fd_stream_of(stream)->watch;
        struct ed_sys *sys = watch->loop->sys;
        struct ed_task *task;
        int64_t n;
        int err = ed_watch_enter(watch, ED_WATCH_READ, &task);

        if (err < 0)
                return err;
        if (bytes == 0)
                return -EINVAL;
        for (;;) {
                err = wait_ready(watch, ED_WATCH_READ, task);
                if (err < 0)
                        return err;
                n = sys->ops->read(sys, watch->fd, buf, bytes);
                if (n != -EAGAIN)
                        break;
                err = retry_later(watch, ED_WATCH_READ, task);
                if (err < 0)
                        return err;
        }
        ed_suspend_passed(task);
        return n < 0 ? ed_io_error(n) : n;
}

/* Make one transfer after a wait. */
static int64_t put(struct descriptor *d, const struct eddy_slice *slice)
{
        struct ed_watch *watch = &d->base.watch;
        struct ed_sys *sys = watch->loop->sys;
        struct eddy_slice piece = *slice;

        if (!watch->always && piece.bytes > PIPE_BUF)
                piece.bytes = PIPE_BUF;
        if (d->is_socket)
                return sys->ops->send(sys, watch->fd, &piece, 1);
        /* Pipes and terminals can be watched; a file cannot, and raises no signal. */
        return sys->ops->write(sys, watch->fd, piece.data, piece.bytes, !watch->always);
}

/* Write part of the first slice: a write call takes only one slice. */
static int64_t put_some(struct ed_fd_stream *fds, struct ed_task *task,
                        const struct eddy_slice *slices, size_t slices_count)
{
        struct descriptor *d = ed_container_of(fds, struct descriptor, base);
        int64_t n;
        int err;

        for (;;) {
                err = wait_ready(&fds->watch, ED_WATCH_WRITE, task);
                if (err < 0)
                        return err;
                n = put(d, slices);
                if (n > 0)
                        return n;
                if (n == -EAGAIN)
                        err = retry_later(&fds->watch, ED_WATCH_WRITE, task);
                else
                        err = n < 0 ? ed_io_error(n) : -EIO;
                if (err < 0)
                        return err;
        }
}

static int descriptor_writev(eddy_stream *stream, const struct eddy_slice *list, size_t n)
{
        return ed_fd_stream_writev(stream, list, n, put_some);
}

static int64_t descriptor_write_some(eddy_stream *stream, const struct eddy_slice *list, size_t n)
{
        return ed_fd_stream_write_some(stream, list, n, put_some);
}

static bool descriptor_is_readable(eddy_stream *stream)
{
        struct ed_watch *watch = &ed_fd_stream_of(stream)->watch;

        return watch->always || is_ready(watch, ED_WATCH_READ);
}

static void descriptor_close(eddy_stream *stream, bool abort)
{
        struct ed_fd_stream *fds = ed_fd_stream_of(stream);
        struct descriptor *d = ed_container_of(fds, struct descriptor, base);
        struct ed_sys *sys = fds->watch.loop->sys;

        ed_watch_fini(&fds->watch);
        if (d->own && d->is_socket && abort)
                sys->ops->abort(sys, fds->watch.fd);
        else if (d->own)
                sys->ops->close(sys, fds->watch.fd);
        ed_free(d);
}

static const struct ed_stream_ops descriptor_ops = {
        .read = descriptor_read,
        .writev = descriptor_writev,
        .write_some = descriptor_write_some,
        .shutdown = ed_fd_stream_shutdown,
        .is_readable = descriptor_is_readable,
        .watch_idle = ed_fd_stream_watch_idle,
        .close = descriptor_close,
};

int eddy_stream_from_fd(int fd, unsigned flags, eddy_stream **ret_stream)
{
        struct ed_loop *loop = ed_loop_current;
        struct descriptor *d;
        int port;

        if (!loop)
                return EDDY_E_RUN_NOT_RUNNING;
        /* The port itself is not needed, only whether the descriptor is a socket. */
        port = loop->sys->ops->local_port(loop->sys, fd);
        if (port == -EBADF)
                return -EBADF;
        d = ed_alloc(sizeof(*d));
        if (!d)
                return -ENOMEM;
        ed_fd_stream_init(&d->base, &descriptor_ops, loop, fd);
        d->is_socket = port != -ENOTSOCK;
        d->own = flags & EDDY_STREAM_OWN_FD;
        ed_debug_made(&d->base.stream, ED_DEBUG_STREAM);
        *ret_stream = &d->base.stream;
        return 0;
}
