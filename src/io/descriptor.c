/*
 * io/descriptor.c - streams over descriptors that the program has.
 *
 * Such a descriptor may block, and its flags are not ours to change: others
 * share it.  So no transfer is tried unless the table says right now that it
 * would not wait, and a write is at most PIPE_BUF bytes, for which a pipe
 * that is ready has room.  What the table refuses to watch (regular files,
 * /dev/null) never waits for anybody and is used directly.
 */
#include <errno.h>
#include <limits.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "io/stream.h"
#include "scope/debug.h"

/* Said to be ready and was not: how long until it is tried again. */
enum { RETRY_NS = 1000000 };

struct descriptor {
        struct eddy_stream stream;
        struct ed_watch watch; /* with the descriptor */
        bool is_socket;        /* sent to, not written: a closed one raises no signal */
        bool own;
        bool broken; /* a write is under way, or ended, after a part of it was moved */
};

static struct descriptor *self(eddy_stream *stream)
{
        return ed_container_of(stream, struct descriptor, stream);
}

/* Whether a transfer would not wait; a wait that follows will hear of the next change. */
static bool is_ready(struct ed_watch *watch, enum ed_watch_side side)
{
        struct ed_sys *sys = watch->loop->sys;

        if (watch->always)
                return true;
        return side == ED_WATCH_READ ? sys->ops->is_readable(sys, watch->fd)
                                     : sys->ops->is_writable(sys, watch->fd);
}

/* Wait until a transfer would not wait.  After an error the stream may be gone. */
static int wait_ready(struct ed_watch *watch, enum ed_watch_side side, struct ed_task *task)
{
        static const char *const waits_for[] = { "bytes of a descriptor", "room in a descriptor" };

        /* Registered first: what changes after the question is then reported. */
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
        struct ed_watch *watch = &self(stream)->watch;
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

/* One transfer of a write that has waited. */
static int64_t put(struct descriptor *d, const struct eddy_slice *slice)
{
        struct ed_sys *sys = d->watch.loop->sys;
        struct eddy_slice piece = *slice;

        if (!d->watch.always && piece.bytes > PIPE_BUF)
                piece.bytes = PIPE_BUF;
        if (d->is_socket)
                return sys->ops->send(sys, d->watch.fd, &piece, 1);
        /* Pipes and terminals can be watched; a file cannot, and raises no signal. */
        return sys->ops->write(sys, d->watch.fd, piece.data, piece.bytes, !d->watch.always);
}

/* Move what fits of a piece, one byte at least, after a wait if need be. */
static int64_t put_some(struct descriptor *d, struct ed_task *task, const struct eddy_slice *slice)
{
        int64_t n;
        int err;

        for (;;) {
                err = wait_ready(&d->watch, ED_WATCH_WRITE, task);
                if (err < 0)
                        return err;
                n = put(d, slice);
                if (n > 0)
                        return n;
                if (n == -EAGAIN)
                        err = retry_later(&d->watch, ED_WATCH_WRITE, task);
                else
                        err = n < 0 ? ed_io_error(n) : -EIO;
                if (err < 0)
                        return err;
        }
}

/* Begin a write: what there is to be moved is in 'slices'. */
static int write_begin(struct descriptor *d, const struct eddy_slice *list, size_t n,
                       struct ed_slices *slices, struct ed_task **ret_task)
{
        int err = ed_watch_enter(&d->watch, ED_WATCH_WRITE, ret_task);

        if (err < 0)
                return err;
        return d->broken ? EDDY_E_STREAM_BROKEN : ed_slices_init(slices, list, n);
}

static int descriptor_writev(eddy_stream *stream, const struct eddy_slice *list, size_t n)
{
        struct descriptor *d = self(stream);
        struct ed_slices slices;
        struct ed_task *task;
        int64_t moved;
        int err = write_begin(d, list, n, &slices, &task);

        if (err < 0)
                return err;
        while (!ed_slices_is_empty(&slices)) {
                moved = put_some(d, task, &slices.list[slices.first]);
                if (moved < 0)
                        return (int) moved;
                ed_slices_skip(&slices, (size_t) moved);
                /* Set before the next wait: after an error the stream may be gone. */
                d->broken = !ed_slices_is_empty(&slices);
        }
        ed_suspend_passed(task);
        return 0;
}

static int64_t descriptor_write_some(eddy_stream *stream, const struct eddy_slice *list, size_t n)
{
        struct descriptor *d = self(stream);
        struct ed_slices slices;
        struct ed_task *task;
        int64_t moved = 0;
        int err = write_begin(d, list, n, &slices, &task);

        if (err < 0)
                return err;
        if (!ed_slices_is_empty(&slices))
                moved = put_some(d, task, &slices.list[slices.first]);
        if (moved >= 0)
                ed_suspend_passed(task);
        return moved;
}

static int descriptor_shutdown(eddy_stream *stream)
{
        struct descriptor *d = self(stream);
        struct ed_watch *watch = &d->watch;

        if (ed_watch_is_busy(watch, ED_WATCH_WRITE))
                return -EBUSY;
        if (d->broken)
                return EDDY_E_STREAM_BROKEN;
        return ed_io_error(watch->loop->sys->ops->shutdown(watch->loop->sys, watch->fd));
}

static bool descriptor_is_readable(eddy_stream *stream)
{
        struct ed_watch *watch = &self(stream)->watch;

        return watch->always || is_ready(watch, ED_WATCH_READ);
}

static int descriptor_watch_idle(eddy_stream *stream, eddy_stream_idle_fn *fn, void *arg)
{
        return ed_watch_set_idle(&self(stream)->watch, fn, arg);
}

static void descriptor_close(eddy_stream *stream, bool abort)
{
        struct descriptor *d = self(stream);
        struct ed_sys *sys = d->watch.loop->sys;

        ed_watch_fini(&d->watch);
        if (d->own && d->is_socket && abort)
                sys->ops->abort(sys, d->watch.fd);
        else if (d->own)
                sys->ops->close(sys, d->watch.fd);
        ed_free(d);
}

static const struct ed_stream_ops descriptor_ops = {
        .read = descriptor_read,
        .writev = descriptor_writev,
        .write_some = descriptor_write_some,
        .shutdown = descriptor_shutdown,
        .is_readable = descriptor_is_readable,
        .watch_idle = descriptor_watch_idle,
        .close = descriptor_close,
};

int eddy_stream_from_fd(int fd, unsigned flags, eddy_stream **ret_stream)
{
        struct ed_loop *loop = ed_loop_current;
        struct descriptor *d;
        int port;

        if (!loop)
                return EDDY_E_RUN_NOT_RUNNING;
        /* What a socket's port is asked for here is whether there is a socket. */
        port = loop->sys->ops->local_port(loop->sys, fd);
        if (port == -EBADF)
                return -EBADF;
        d = ed_alloc(sizeof(*d));
        if (!d)
                return -ENOMEM;
        d->stream.ops = &descriptor_ops;
        ed_watch_init(&d->watch, loop, fd);
        d->is_socket = port != -ENOTSOCK;
        d->own = flags & EDDY_STREAM_OWN_FD;
        d->broken = false;
        ed_debug_made(&d->stream, ED_DEBUG_STREAM);
        *ret_stream = &d->stream;
        return 0;
}
