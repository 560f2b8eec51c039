/*
 * io/socket.c - see socket.h.
 *
 * Each request takes one receive and one send: a receive that returns less than requested means
 * that the socket is drained, so the following wait needs no failed call before it. The exception
 * is a peer that sends urgent data: a receive ends before each urgent byte, and no event follows
 * for the bytes after it. The urgent byte itself is not delivered.
 */
#include "io/socket.h"

#include <errno.h>

#include "base/alloc.h"

/* Returns how many bytes a transfer of at most 'bytes' requests. */
static size_t asked(const struct ed_sys *sys, size_t bytes)
{
        return sys->transfer_max && bytes > sys->transfer_max ? sys->transfer_max : bytes;
}

static int64_t socket_read(eddy_stream *stream, void *buf, size_t bytes)
{
        struct ed_watch *watch = &ed_fd_stream_of(stream)->watch;
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

/* Make one send, after a wait if necessary. Do not touch the watch after an error. */
static int64_t send_some(struct ed_fd_stream *fds, struct ed_task *task,
                         const struct eddy_slice *slices, size_t n)
{
        struct ed_watch *watch = &fds->watch;
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

static int socket_writev(eddy_stream *stream, const struct eddy_slice *list, size_t n)
{
        return ed_fd_stream_writev(stream, list, n, send_some);
}

static int64_t socket_write_some(eddy_stream *stream, const struct eddy_slice *list, size_t n)
{
        return ed_fd_stream_write_some(stream, list, n, send_some);
}

static struct ed_stream_sent socket_sent(eddy_stream *stream)
{
        const struct ed_fd_stream *sock = ed_fd_stream_of(stream);
        struct ed_sys *sys = sock->watch.loop->sys;
        uint64_t held = sys->ops->unsent(sys, sock->watch.fd);

        /* The kernel counts the end of the stream as a byte. */
        if (held > sock->sent)
                held = sock->sent;
        return (struct ed_stream_sent){ .left = sock->sent - held, .held = held };
}

static bool socket_is_readable(eddy_stream *stream)
{
        struct ed_watch *watch = &ed_fd_stream_of(stream)->watch;

        return watch->loop->sys->ops->is_readable(watch->loop->sys, watch->fd);
}

static void socket_close(eddy_stream *stream, bool abort)
{
        struct ed_fd_stream *sock = ed_fd_stream_of(stream);
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
        .shutdown = ed_fd_stream_shutdown,
        .is_readable = socket_is_readable,
        .watch_idle = ed_fd_stream_watch_idle,
        .close = socket_close,
        .sent = socket_sent,
};

struct ed_fd_stream *ed_socket_new(struct ed_loop *loop)
{
        struct ed_fd_stream *sock = ed_alloc(sizeof(*sock));

        if (!sock)
                return NULL;
        ed_fd_stream_init(sock, &socket_ops, loop, -1);
        sock->watch.net = true;
        return sock;
}

void ed_socket_free(struct ed_fd_stream *sock)
{
        ed_free(sock);
}

void ed_socket_attach(struct ed_fd_stream *sock, int fd)
{
        sock->watch.fd = fd;
}
