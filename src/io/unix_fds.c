/*
 * io/unix_fds.c - descriptors and credentials over Unix streams.
 *
 * These calls use the stream as eddy_stream_read() and eddy_stream_write_some() do, with calls of
 * the table of their own.
 */
#include <errno.h>

#include "eddy/error.h"
#include "eddy/unix.h"
#include "io/fd_stream.h"

/* Returns the descriptor's part of a stream, or NULL if it is not a Unix socket. */
static struct ed_fd_stream *unix_of(const eddy_stream *stream)
{
        struct eddy_endpoint local;

        if (stream->ops->fd != ed_fd_stream_fd ||
            ed_fd_stream_endpoint(stream, EDDY_STREAM_LOCAL, &local) < 0 ||
            local.kind != EDDY_ENDPOINT_UNIX)
                return NULL;
        return ed_fd_stream_of(stream);
}

/* Begin a call, or continue one after a wait. 'stream' is not NULL. */
static int enter(const eddy_stream *stream, enum eddy_stream_side side, struct ed_task **ret_task)
{
        int err = ed_suspend_enter(ret_task);

        if (err < 0)
                return err;
        if (stream->is_closing)
                return -ECANCELED;
        if (stream->users[side])
                return -EBUSY;
        return side == EDDY_STREAM_WRITING && stream->is_broken ? EDDY_E_STREAM_BROKEN : 0;
}

/* After a try that would wait. After an error the stream may be gone. */
static int wait(eddy_stream *stream, struct ed_fd_stream *fds, enum eddy_stream_side side)
{
        fds->watch.ready[side == EDDY_STREAM_READING ? ED_WATCH_READ : ED_WATCH_WRITE] = false;
        return eddy_stream_wait(stream, side);
}

int64_t eddy_unix_send_fds(eddy_stream *stream, const void *data, size_t bytes, const int *fds,
                           size_t n)
{
        struct eddy_slice slice = { data, bytes };
        struct ed_fd_stream *sock;
        struct ed_task *task;
        struct ed_sys *sys;
        int64_t sent;
        int err;

        if (!stream || bytes == 0 || n == 0 || n > EDDY_UNIX_FDS_MAX)
                return -EINVAL;
        for (;;) {
                err = enter(stream, EDDY_STREAM_WRITING, &task);
                if (err < 0)
                        return err;
                sock = unix_of(stream);
                sys = task->loop->sys;
                if (!sock || !sys->unix_fds)
                        return -ENOTSUP;
                sent = sys->unix_fds->send(sys, sock->watch.fd, &slice, fds, n);
                if (sent != -EAGAIN)
                        break;
                err = wait(stream, sock, EDDY_STREAM_WRITING);
                if (err < 0)
                        return err;
        }
        if (sent > 0) {
                stream->taken += (uint64_t) sent;
                sock->sent += (uint64_t) sent;
        }
        ed_suspend_passed(task);
        return sent < 0 ? ed_io_error(sent) : sent;
}

int64_t eddy_unix_receive_fds(eddy_stream *stream, void *buf, size_t bytes,
                              struct eddy_unix_fds *ret_fds)
{
        struct ed_fd_stream *sock;
        struct ed_task *task;
        struct ed_sys *sys;
        int64_t n;
        int err;

        if (!stream || bytes == 0)
                return -EINVAL;
        for (;;) {
                err = enter(stream, EDDY_STREAM_READING, &task);
                if (err < 0)
                        return err;
                sock = unix_of(stream);
                sys = task->loop->sys;
                if (!sock || !sys->unix_fds)
                        return -ENOTSUP;
                if (sock->watch.idle)
                        return -EBUSY;
                n = sys->unix_fds->recv(sys, sock->watch.fd, buf, bytes, ret_fds);
                if (n != -EAGAIN)
                        break;
                err = wait(stream, sock, EDDY_STREAM_READING);
                if (err < 0)
                        return err;
        }
        ed_suspend_passed(task);
        return n < 0 ? ed_io_error(n) : n;
}

int eddy_unix_peer_credentials(const eddy_stream *stream, struct eddy_unix_credentials *ret_peer)
{
        const struct ed_fd_stream *sock;
        struct ed_sys *sys;
        int err;

        if (!stream)
                return -EINVAL;
        sock = unix_of(stream);
        if (!sock)
                return -ENOTSUP;
        err = ed_member_check(&sock->watch.member);
        if (err < 0)
                return err;
        sys = sock->watch.member.loop->sys;
        return sys->unix_fds ? sys->unix_fds->credentials(sys, sock->watch.fd, ret_peer) : -ENOTSUP;
}
