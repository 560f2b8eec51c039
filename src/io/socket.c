/*
 * io/socket.c - a stream over a connected socket.
 *
 * Each request takes one receive and one send: a receive that returns less than requested means
 * that the socket is drained, so the following wait needs no failed call before it. The exception
 * is a peer that sends urgent data: a receive ends before each urgent byte, and no event follows
 * for the bytes after it. The urgent byte itself is not delivered.
 */
#include "io/socket.h"

#include <errno.h>

#include "base/alloc.h"
#include "io/file.h"

/*
 * A peer that has taken this much of a file reads fast. From then on the kernel may keep any number of
 * bytes of the file: a limit would wake the server more often, and the pages are those of the cache of
 * files. Yet they count as memory of TCP, of which a peer that then stops reading has up to 4 MiB.
 */
enum { FILE_BYTES_FEW = 1 << 20 };

/* Returns how many bytes a transfer of at most 'bytes' requests. */
static size_t asked(const struct ed_sys *sys, size_t bytes)
{
        return sys->transfer_max && bytes > sys->transfer_max ? sys->transfer_max : bytes;
}

/* Returns the error of a call that returned 'n'. The side is not ready if the call would wait. */
static int64_t failed(struct ed_watch *watch, enum ed_watch_side side, int64_t n)
{
        watch->ready[side] = n != -EAGAIN;
        return ed_io_error(n);
}

static int64_t socket_try_read(eddy_stream *stream, void *buf, size_t bytes)
{
        struct ed_watch *watch = &ed_fd_stream_of(stream)->watch;
        struct ed_sys *sys = watch->member.loop->sys;
        int64_t n;

        if (ed_unlikely(watch->idle != NULL))
                return -EBUSY;
        if (!watch->ready[ED_WATCH_READ])
                return -EAGAIN;
        n = sys->socket->recv(sys, watch->fd, buf, bytes);
        if (n < 0)
                return failed(watch, ED_WATCH_READ, n);
        if (n > 0 && (size_t) n < asked(sys, bytes) && !watch->ended && !watch->urgent)
                watch->ready[ED_WATCH_READ] = false;
        return n;
}

/* Count bytes of a file. */
static void file_sent(struct ed_fd_stream *sock, uint64_t bytes)
{
        struct ed_loop *loop = sock->watch.member.loop;

        sock->file_bytes += bytes;
        if (sock->is_unlimited || sock->file_bytes < FILE_BYTES_FEW ||
            loop->unlimited >= ED_SOCKETS_UNLIMITED_MAX)
                return;
        sock->is_unlimited = true;
        loop->unlimited++;
        loop->sys->socket->limit_unsent(loop->sys, sock->watch.fd, false);
}

/* Bytes that are not of a file follow, or the end. */
static void file_ended(struct ed_fd_stream *sock)
{
        struct ed_loop *loop = sock->watch.member.loop;

        sock->file_bytes = 0;
        if (!sock->is_unlimited)
                return;
        sock->is_unlimited = false;
        loop->unlimited--;
        loop->sys->socket->limit_unsent(loop->sys, sock->watch.fd, true);
}

static int64_t socket_try_writev(eddy_stream *stream, const struct eddy_slice *slices, size_t n)
{
        struct ed_fd_stream *sock = ed_fd_stream_of(stream);
        struct ed_watch *watch = &sock->watch;
        struct ed_sys *sys = watch->member.loop->sys;
        int64_t sent;

        if (!watch->ready[ED_WATCH_WRITE])
                return -EAGAIN;
        if (ed_unlikely(sock->file_bytes > 0))
                file_ended(sock);
        sent = sys->socket->send(sys, watch->fd, slices, n);
        if (sent < 0)
                return failed(watch, ED_WATCH_WRITE, sent);
        sock->sent += (uint64_t) sent;
        return sent;
}

static int socket_wait(eddy_stream *stream, enum eddy_stream_side side)
{
        return side == EDDY_STREAM_READING
                       ? ed_fd_stream_wait(ed_fd_stream_of(stream), ED_WATCH_READ,
                                           "bytes of a connection")
                       : ed_fd_stream_wait(ed_fd_stream_of(stream), ED_WATCH_WRITE,
                                           "room in a connection");
}

static void socket_sent(const eddy_stream *stream, struct eddy_stream_sent *ret_sent)
{
        const struct ed_fd_stream *sock = ed_fd_stream_of(stream);
        struct ed_sys *sys = sock->watch.member.loop->sys;
        uint64_t pending = sys->socket->unsent(sys, sock->watch.fd);

        /* The kernel counts the end of the stream as a byte. */
        if (pending > sock->sent)
                pending = sock->sent;
        *ret_sent = (struct eddy_stream_sent){ .acknowledged = sock->sent - pending,
                                               .pending = pending };
}

/*
 * The kernel hands the bytes to the peer's socket at once. Those that the peer has not read count as
 * pending too, with the kernel's own data.
 */
static void unix_sent(const eddy_stream *stream, struct eddy_stream_sent *ret_sent)
{
        const struct ed_fd_stream *sock = ed_fd_stream_of(stream);
        struct ed_sys *sys = sock->watch.member.loop->sys;

        *ret_sent = (struct eddy_stream_sent){
                .acknowledged = sock->sent,
                .pending = sys->socket->unsent(sys, sock->watch.fd),
        };
}

static bool socket_is_readable(eddy_stream *stream)
{
        struct ed_watch *watch = &ed_fd_stream_of(stream)->watch;

        /* The loop may not have polled since the bytes arrived. */
        if (!watch->member.loop->sys->poll->is_readable(watch->member.loop->sys, watch->fd))
                return false;
        watch->ready[ED_WATCH_READ] = true;
        return true;
}

static void socket_close(eddy_stream *stream, unsigned flags)
{
        struct ed_fd_stream *sock = ed_fd_stream_of(stream);

        if (sock->watch.member.loop)
                file_ended(sock);
        ed_watch_close(&sock->watch, flags & EDDY_STREAM_ABORT);
        ed_free(sock);
}

/* clang-format off */
#define SOCKET_OPS                                                                                 \
        .try_read = socket_try_read,                                                               \
        .try_writev = socket_try_writev,                                                           \
        .wait = socket_wait,                                                                       \
        .is_readable = socket_is_readable,                                                         \
        .watch_idle = ed_fd_stream_watch_idle,                                                     \
        .watch_hangup = ed_fd_stream_watch_hangup,                                                 \
        .shutdown = ed_fd_stream_shutdown,                                                         \
        .close = socket_close,                                                                     \
        .fd = ed_fd_stream_fd,                                                                     \
        .endpoint = ed_fd_stream_endpoint

static const struct eddy_stream_ops tcp_ops = { .kind = "tcp", SOCKET_OPS, .sent = socket_sent };
static const struct eddy_stream_ops unix_ops = { .kind = "unix", SOCKET_OPS, .sent = unix_sent };
/* clang-format on */

int64_t ed_socket_try_send_file(eddy_stream *stream, const eddy_file *file, int64_t offset,
                                size_t bytes)
{
        struct ed_fd_stream *sock;
        struct ed_watch *watch;
        struct ed_sys *sys;
        int64_t sent;

        if (stream->ops != &tcp_ops && stream->ops != &unix_ops)
                return -ENOTSUP;
        sock = ed_fd_stream_of(stream);
        watch = &sock->watch;
        sys = watch->member.loop->sys;
        if (!watch->ready[ED_WATCH_WRITE])
                return -EAGAIN;
        sent = sys->socket->send_file(sys, watch->fd, file->fd, offset, bytes);
        if (sent < 0)
                return failed(watch, ED_WATCH_WRITE, sent);
        sock->sent += (uint64_t) sent;
        file_sent(sock, (uint64_t) sent);
        return sent;
}

struct ed_fd_stream *ed_socket_new(struct ed_loop *loop, int kind)
{
        struct ed_fd_stream *sock = ed_alloc(sizeof(*sock));

        if (!sock)
                return NULL;
        ed_fd_stream_init(sock, kind == EDDY_ENDPOINT_UNIX ? &unix_ops : &tcp_ops, loop, -1);
        sock->watch.net = true;
        /* A receive on a Unix socket ends after bytes that came with descriptors. */
        sock->watch.urgent = kind == EDDY_ENDPOINT_UNIX;
        return sock;
}

void ed_socket_free(struct ed_fd_stream *sock)
{
        if (!sock)
                return;
        ed_watch_close(&sock->watch, false);
        ed_free(sock);
}

void ed_socket_attach(struct ed_fd_stream *sock, int fd)
{
        sock->watch.fd = fd;
}
