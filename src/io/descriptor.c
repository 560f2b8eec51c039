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
        bool retry[ED_WATCH_SIDES]; /* reported ready, but was not: wait a little */
};

static struct descriptor *descriptor_of(const eddy_stream *stream)
{
        return ed_container_of(ed_fd_stream_of(stream), struct descriptor, base);
}

/* Returns true if a transfer would not wait. A wait that follows gets the next change. */
static bool is_ready(struct ed_watch *watch, enum ed_watch_side side)
{
        struct ed_sys *sys = watch->member.loop->sys;

        if (watch->always)
                return true;
        return side == ED_WATCH_READ ? sys->poll->is_readable(sys, watch->fd)
                                     : sys->poll->is_writable(sys, watch->fd);
}

/*
 * Returns 0 if a transfer may be tried; -EAGAIN, or an error. Registers before the check, so that
 * later changes are reported.
 */
static int check_ready(struct descriptor *d, enum ed_watch_side side)
{
        struct ed_watch *watch = &d->base.watch;
        int err = ed_watch_register(watch);

        if (err < 0)
                return err;
        return is_ready(watch, side) ? 0 : -EAGAIN;
}

/* Returns the result of a transfer, which may have found the descriptor not ready after all. */
static int64_t check_result(struct descriptor *d, enum ed_watch_side side, int64_t n)
{
        d->retry[side] = n == -EAGAIN;
        return n < 0 ? ed_io_error(n) : n;
}

static int64_t descriptor_try_read(eddy_stream *stream, void *buf, size_t bytes)
{
        struct descriptor *d = descriptor_of(stream);
        struct ed_watch *watch = &d->base.watch;
        struct ed_sys *sys = watch->member.loop->sys;
        int err;

        if (watch->idle)
                return -EBUSY;
        err = check_ready(d, ED_WATCH_READ);
        if (err < 0)
                return err;
        return check_result(d, ED_WATCH_READ, sys->socket->read(sys, watch->fd, buf, bytes));
}

/* Make one transfer of part of a slice. */
static int64_t put(struct descriptor *d, const struct eddy_slice *slice)
{
        struct ed_watch *watch = &d->base.watch;
        struct ed_sys *sys = watch->member.loop->sys;
        struct eddy_slice piece = *slice;

        if (!watch->always && piece.bytes > PIPE_BUF)
                piece.bytes = PIPE_BUF;
        if (d->is_socket)
                return sys->socket->send(sys, watch->fd, &piece, 1);
        /* Pipes and terminals can be watched; a file cannot, and raises no signal. */
        return sys->socket->write(sys, watch->fd, piece.data, piece.bytes, !watch->always);
}

/* Writes only from the first slice: a write call takes one. */
static int64_t descriptor_try_writev(eddy_stream *stream, const struct eddy_slice *slices,
                                     size_t slices_count)
{
        struct descriptor *d = descriptor_of(stream);
        int64_t n;
        int err = check_ready(d, ED_WATCH_WRITE);

        if (err < 0)
                return err;
        n = put(d, slices);
        return check_result(d, ED_WATCH_WRITE, n == 0 ? -EIO : n);
}

static int descriptor_wait(eddy_stream *stream, enum eddy_stream_side stream_side)
{
        static const char *const waits_for[] = { "bytes of a descriptor", "room in a descriptor" };
        struct descriptor *d = descriptor_of(stream);
        struct ed_watch *watch = &d->base.watch;
        enum ed_watch_side side =
                stream_side == EDDY_STREAM_READING ? ED_WATCH_READ : ED_WATCH_WRITE;
        struct ed_task *task;
        int err = ed_watch_enter(watch, side, &task);

        if (err < 0)
                return err;
        if (d->retry[side]) {
                d->retry[side] = false;
                return ed_watch_pause(watch, side, task, RETRY_NS,
                                      "a descriptor that is not ready after all");
        }
        err = check_ready(d, side);
        return err == -EAGAIN ? ed_watch_wait(watch, side, task, waits_for[side]) : err;
}

static bool descriptor_is_readable(eddy_stream *stream)
{
        struct ed_watch *watch = &ed_fd_stream_of(stream)->watch;

        return watch->always || is_ready(watch, ED_WATCH_READ);
}

static void descriptor_close(eddy_stream *stream, unsigned flags)
{
        struct descriptor *d = descriptor_of(stream);

        ed_watch_close(&d->base.watch, d->is_socket && flags & EDDY_STREAM_ABORT);
        ed_free(d);
}

static const struct eddy_stream_ops descriptor_ops = {
        .kind = "fd",
        .try_read = descriptor_try_read,
        .try_writev = descriptor_try_writev,
        .wait = descriptor_wait,
        .is_readable = descriptor_is_readable,
        .watch_idle = ed_fd_stream_watch_idle,
        .watch_hangup = ed_fd_stream_watch_hangup,
        .shutdown = ed_fd_stream_shutdown,
        .close = descriptor_close,
        .fd = ed_fd_stream_fd,
        .endpoint = ed_fd_stream_endpoint,
};

int eddy_stream_from_fd(int fd, unsigned flags, eddy_stream **ret_stream)
{
        struct ed_loop *loop = ed_loop_current;
        struct eddy_endpoint unused;
        struct descriptor *d;
        int err;

        if (!loop)
                return EDDY_E_RUN_NOT_RUNNING;
        /* The endpoint itself is not needed, only whether the descriptor is a socket. */
        err = loop->sys->socket->endpoint(loop->sys, fd, EDDY_STREAM_LOCAL, &unused);
        if (err == -EBADF)
                return -EBADF;
        d = ed_alloc(sizeof(*d));
        if (!d)
                return -ENOMEM;
        ed_fd_stream_init(&d->base, &descriptor_ops, loop, fd);
        d->retry[ED_WATCH_READ] = d->retry[ED_WATCH_WRITE] = false;
        d->is_socket = err != -ENOTSOCK;
        d->base.watch.is_borrowed = !(flags & EDDY_STREAM_OWN_FD);
        ed_debug_made(&d->base.stream, ED_DEBUG_STREAM);
        *ret_stream = &d->base.stream;
        return 0;
}
