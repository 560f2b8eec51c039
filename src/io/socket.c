/*
 * io/socket.c - see socket.h.
 *
 * The path that carries every request is one receive and one send: whether a
 * socket is drained is told by a receive that brings less than it was asked
 * for, so the wait that follows needs no call that fails first.  The exception
 * is a peer that sends urgent data: a receive ends before each urgent byte,
 * with bytes after it for which no event comes any more.  The urgent byte
 * itself is not delivered.
 */
#include "io/socket.h"

#include <errno.h>

#include "base/alloc.h"
#include "eddy/error.h"

static struct ed_socket *self(eddy_stream *stream)
{
        return ed_container_of(stream, struct ed_socket, stream);
}

/* How many bytes one transfer of at most 'bytes' is meant to move. */
static size_t asked(const struct ed_sys *sys, size_t bytes)
{
        return sys->transfer_max && bytes > sys->transfer_max ? sys->transfer_max : bytes;
}

static int64_t socket_read(eddy_stream *stream, void *buf, size_t bytes)
{
        struct ed_watch *watch = &self(stream)->watch;
        struct ed_sys *sys = watch->loop->sys;
        struct ed_task *task;
        int64_t n;
        int err = ed_watch_enter(watch, ED_WATCH_READ, &task);

        if (err < 0)
                return err;
        if (ed_unlikely(bytes == 0))
                return -EINVAL;
        do {
                if (!watch->ready[ED_WATCH_READ]) {
                        err = ed_watch_wait(watch, ED_WATCH_READ, task, "bytes of a connection");
                        if (err < 0)
                                return err;
                }
                n = sys->ops->recv(sys, watch->fd, buf, bytes);
        } while (ed_watch_again(watch, ED_WATCH_READ, n));
        if (n > 0 && (size_t) n < asked(sys, bytes) && !watch->ended && !watch->urgent)
                watch->ready[ED_WATCH_READ] = false;
        ed_suspend_passed(task);
        return n < 0 ? ed_io_error(n) : n;
}

/* One send, after a wait if need be; the watch must not be touched after an error. */
static int64_t send_some(struct ed_watch *watch, struct ed_task *task,
                         const struct eddy_slice *slices, size_t n)
{
        struct ed_sys *sys = watch->loop->sys;
        int64_t sent;
        int err;

        do {
                if (!watch->ready[ED_WATCH_WRITE]) {
                        err = ed_watch_wait(watch, ED_WATCH_WRITE, task, "room in a connection");
                        if (err < 0)
                                return err;
                }
                sent = sys->ops->send(sys, watch->fd, slices, n);
        } while (ed_watch_again(watch, ED_WATCH_WRITE, sent));
        return sent < 0 ? ed_io_error(sent) : sent;
}

/* Begin a write: what there is to be sent is in 'slices'. */
static int write_begin(struct ed_socket *sock, const struct eddy_slice *list, size_t n,
                       struct ed_slices *slices, struct ed_task **ret_task)
{
        int err = ed_watch_enter(&sock->watch, ED_WATCH_WRITE, ret_task);

        if (err < 0)
                return err;
        return ed_unlikely(sock->broken) ? EDDY_E_STREAM_BROKEN : ed_slices_init(slices, list, n);
}

static int socket_writev(eddy_stream *stream, const struct eddy_slice *list, size_t n)
{
        struct ed_socket *sock = self(stream);
        struct ed_watch *watch = &sock->watch;
        struct ed_slices slices;
        struct ed_task *task;
        int64_t sent;
        int err = write_begin(sock, list, n, &slices, &task);

        if (err < 0)
                return err;
        while (!ed_slices_is_empty(&slices)) {
                sent = send_some(watch, task, slices.list + slices.first, slices.n - slices.first);
                if (sent < 0)
                        return (int) sent;
                ed_slices_skip(&slices, (size_t) sent);
                sock->sent += (uint64_t) sent;
                /* Set before the next wait: after an error the stream may be gone. */
                sock->broken = !ed_slices_is_empty(&slices);
        }
        ed_suspend_passed(task);
        return 0;
}

static struct ed_stream_sent socket_sent(eddy_stream *stream)
{
        const struct ed_socket *sock = self(stream);
        struct ed_sys *sys = sock->watch.loop->sys;
        uint64_t held = sys->ops->unsent(sys, sock->watch.fd);

        /* The kernel counts the end of the stream as a byte. */
        if (held > sock->sent)
                held = sock->sent;
        return (struct ed_stream_sent){ .left = sock->sent - held, .held = held };
}

static int64_t socket_write_some(eddy_stream *stream, const struct eddy_slice *list, size_t n)
{
        struct ed_socket *sock = self(stream);
        struct ed_slices slices;
        struct ed_task *task;
        int64_t sent = 0;
        int err = write_begin(sock, list, n, &slices, &task);

        if (err < 0)
                return err;
        if (!ed_slices_is_empty(&slices))
                sent = send_some(&sock->watch, task, slices.list, slices.n);
        if (sent >= 0) {
                sock->sent += (uint64_t) sent;
                ed_suspend_passed(task);
        }
        return sent;
}

static int socket_shutdown(eddy_stream *stream)
{
        struct ed_socket *sock = self(stream);
        struct ed_watch *watch = &sock->watch;

        if (ed_watch_is_busy(watch, ED_WATCH_WRITE))
                return -EBUSY;
        if (sock->broken)
                return EDDY_E_STREAM_BROKEN;
        return ed_io_error(watch->loop->sys->ops->shutdown(watch->loop->sys, watch->fd));
}

static bool socket_is_readable(eddy_stream *stream)
{
        struct ed_watch *watch = &self(stream)->watch;

        return watch->loop->sys->ops->is_readable(watch->loop->sys, watch->fd);
}

static int socket_watch_idle(eddy_stream *stream, eddy_stream_idle_fn *fn, void *arg)
{
        return ed_watch_set_idle(&self(stream)->watch, fn, arg);
}

static void socket_close(eddy_stream *stream, bool abort)
{
        struct ed_socket *sock = self(stream);
        struct ed_sys *sys = sock->watch.loop->sys;

        ed_watch_fini(&sock->watch);
        if (abort)
                sys->ops->abort(sys, sock->watch.fd);
        else
                sys->ops->close(sys, sock->watch.fd);
        ed_free(sock);
}

static const struct ed_stream_ops socket_ops = {
        .read = socket_read,
        .writev = socket_writev,
        .write_some = socket_write_some,
        .shutdown = socket_shutdown,
        .is_readable = socket_is_readable,
        .watch_idle = socket_watch_idle,
        .close = socket_close,
        .sent = socket_sent,
};

struct ed_socket *ed_socket_new(struct ed_loop *loop)
{
        struct ed_socket *sock = ed_alloc(sizeof(*sock));

        if (!sock)
                return NULL;
        sock->stream.ops = &socket_ops;
        sock->sent = 0;
        sock->broken = false;
        ed_watch_init(&sock->watch, loop, -1);
        sock->watch.net = true;
        return sock;
}

void ed_socket_free(struct ed_socket *sock)
{
        ed_free(sock);
}

void ed_socket_attach(struct ed_socket *sock, int fd)
{
        sock->watch.fd = fd;
}
