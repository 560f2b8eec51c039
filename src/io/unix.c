/*
 * io/unix.c - Unix sockets: connecting and listening.
 */
#include "eddy/unix.h"

#include <errno.h>
#include <sys/socket.h>

#include "eddy/error.h"
#include "eddy/time.h"
#include "io/listener.h"
#include "io/socket.h"
#include "scope/debug/debug.h"

enum { MODE_MAX = 0777 };

/*
 * Pause while the listener's backlog is full: the system reports -EAGAIN and no event when there is
 * room again.
 */
#define FULL_PAUSE_NS EDDY_MS(10)

int eddy_unix_listen(const char *path, const struct eddy_unix_listen_opts *opts,
                     eddy_listener **ret_listener)
{
        struct ed_listen_opts own = { 0 };
        struct eddy_endpoint at;
        int err = eddy_endpoint_unix(path, &at);

        if (err < 0)
                return err;
        if (opts && opts->mode > MODE_MAX)
                return -EINVAL;
        if (opts)
                own = (struct ed_listen_opts){ .backlog = opts->backlog,
                                               .mode = opts->mode,
                                               .replace_stale = opts->replace_stale };
        err = ed_listener_new(&at, &own, ret_listener);
        if (err == 0)
                ed_debug_made(*ret_listener, ED_DEBUG_LISTENER);
        return err;
}

/* Connect once. Errors: -EAGAIN if the backlog is full. */
static int try_connect(struct ed_loop *loop, const struct eddy_endpoint *to,
                       eddy_stream **ret_stream)
{
        struct ed_fd_stream *sock = ed_socket_new(loop, EDDY_ENDPOINT_UNIX);
        struct ed_sys *sys = loop->sys;
        int err, fd;

        if (!sock)
                return -ENOMEM;
        fd = sys->socket->open(sys, AF_UNIX, ED_SOCKET_STREAM);
        if (fd < 0) {
                ed_socket_free(sock);
                return fd;
        }
        err = sys->socket->connect(sys, fd, to);
        if (err == -EINPROGRESS) { /* interrupted */
                err = sys->socket->connect_result(sys, fd);
                if (err == -EINPROGRESS)
                        err = -EAGAIN;
        }
        if (err < 0) {
                sys->socket->close(sys, fd);
                ed_socket_free(sock);
                return err;
        }
        ed_socket_attach(sock, fd);
        *ret_stream = &sock->stream;
        return 0;
}

int eddy_unix_connect(const char *path, const struct eddy_unix_connect_opts *opts,
                      eddy_stream **ret_stream)
{
        struct eddy_endpoint to;
        struct ed_task *task;
        int err = eddy_endpoint_unix(path, &to);

        (void) opts;
        if (err < 0)
                return err;
        for (;;) {
                /* The end of a pause is not a result, so a cancel takes precedence. */
                err = ed_suspend_enter(&task);
                if (err < 0)
                        return err;
                err = try_connect(task->loop, &to, ret_stream);
                if (err != -EAGAIN)
                        break;
                err = eddy_sleep(FULL_PAUSE_NS);
                if (err < 0)
                        return err;
        }
        if (err == 0) {
                ed_debug_made(*ret_stream, ED_DEBUG_STREAM);
                ed_suspend_passed(task);
        }
        return ed_io_error(err);
}
