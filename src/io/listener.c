/*
 * io/listener.c - listening and accepting, for TCP and Unix sockets.
 */
#include "io/listener.h"

#include <errno.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "io/socket.h"
#include "scope/debug/debug.h"
#include "scope/misuse.h"

struct eddy_listener {
        uint32_t users; /* the owner until it closes the listener, and servers */
        bool closed;
        struct ed_watch watch;      /* contains the descriptor */
        struct ed_fd_stream *spare; /* the next connection's stream */
        struct ed_shortage shortage;
        struct eddy_endpoint endpoint;
        struct ed_socket_file file; /* of a Unix socket with a path */
};

static int family_of(const struct eddy_endpoint *endpoint)
{
        return endpoint->kind == EDDY_ENDPOINT_UNIX ? AF_UNIX : endpoint->address.family;
}

static void remove_file(struct ed_watch *watch)
{
        struct eddy_listener *listener = ed_container_of(watch, struct eddy_listener, watch);
        struct ed_sys *sys = watch->member.loop->sys;

        sys->socket->file_remove(sys, &listener->endpoint, &listener->file);
}

int ed_listener_new(const struct eddy_endpoint *at, const struct ed_listen_opts *opts,
                    eddy_listener **ret_listener)
{
        struct ed_loop *loop = ed_loop_current;
        struct eddy_listener *listener;
        struct ed_sys *sys;
        int err, fd;

        if (!loop)
                return EDDY_E_RUN_NOT_RUNNING;
        sys = loop->sys;
        listener = ed_alloc_zero(sizeof(*listener));
        if (!listener)
                return -ENOMEM;
        fd = sys->socket->open(sys, family_of(at), ED_SOCKET_LISTENER);
        if (fd < 0) {
                err = fd;
                goto fail_free;
        }
        err = sys->socket->listen(sys, fd, at, opts, &listener->file);
        if (err < 0)
                goto fail_close;
        err = sys->socket->endpoint(sys, fd, EDDY_STREAM_LOCAL, &listener->endpoint);
        if (err < 0)
                goto fail_remove;
        listener->users = 1;
        ed_watch_init(&listener->watch, loop, fd);
        listener->watch.before_close = remove_file;
        *ret_listener = listener;
        return 0;

fail_remove:
        sys->socket->file_remove(sys, at, &listener->file);
fail_close:
        sys->socket->close(sys, fd);
fail_free:
        ed_free(listener);
        return ed_io_error(err);
}

struct eddy_endpoint eddy_listener_endpoint(const eddy_listener *listener)
{
        return listener ? listener->endpoint : (struct eddy_endpoint){ 0 };
}

uint16_t eddy_listener_port(const eddy_listener *listener)
{
        return listener ? listener->endpoint.port : 0;
}

/* Returns true if the error concerns only one connection: the next may succeed. */
static bool is_of_one_call(int err)
{
        switch (err) {
        case -ECONNABORTED:
        case -EPROTO:
        case -ENETDOWN:
        case -ENOPROTOOPT:
        case -EHOSTDOWN:
        case -ENONET:
        case -EHOSTUNREACH:
        case -ENETUNREACH:
                return true;
        default:
                return false;
        }
}

/* Accept a connection without waiting. Returns its descriptor; 'spare' is its stream. */
static int accept_one(struct eddy_listener *listener)
{
        struct ed_loop *loop = listener->watch.member.loop;
        int fd;

        if (!listener->spare)
                listener->spare = ed_socket_new(loop, listener->endpoint.kind);
        if (!listener->spare)
                return -ENOMEM;
        do
                fd = loop->sys->socket->accept(loop->sys, listener->watch.fd);
        while (is_of_one_call(fd));
        return fd;
}

/* After a failed try, wait until another try makes sense. */
static int wait_for_next(struct eddy_listener *listener, struct ed_shortage *shortage,
                         struct ed_task *task, int err)
{
        struct ed_watch *watch = &listener->watch;

        if (err == -EAGAIN) {
                watch->ready[ED_WATCH_READ] = false;
                err = ed_watch_wait(watch, ED_WATCH_READ, task, "a connection");
        }
        if (!ed_shortage_is(err))
                return ed_io_error(err);
        ed_shortage_met(shortage, task, err);
        return ed_watch_pause(watch, ED_WATCH_READ, task, ED_SHORTAGE_PAUSE_NS,
                              "room for a connection");
}

int ed_listener_accept(eddy_listener *listener, struct ed_shortage *shortage,
                       eddy_stream **ret_stream)
{
        struct ed_watch *watch;
        struct ed_task *task;
        int fd, err;

        if (listener->closed)
                return -ECANCELED;
        watch = &listener->watch;
        err = ed_watch_enter(watch, ED_WATCH_READ, &task);
        if (err < 0)
                return err;
        while ((fd = watch->ready[ED_WATCH_READ] ? accept_one(listener) : -EAGAIN) < 0) {
                err = wait_for_next(listener, shortage, task, fd);
                if (err < 0)
                        return err;
        }
        /* From here on nothing fails or waits until the connection is delivered. */
        ed_socket_attach(listener->spare, fd);
        *ret_stream = &listener->spare->stream;
        listener->spare = NULL;
        ed_suspend_passed(task);
        return 0;
}

int eddy_listener_accept(eddy_listener *listener, eddy_stream **ret_stream)
{
        int err;

        if (!listener)
                return -EINVAL;
        err = ed_listener_accept(listener, &listener->shortage, ret_stream);
        if (err == 0)
                ed_debug_made(*ret_stream, ED_DEBUG_STREAM);
        return err;
}

void ed_listener_ref(eddy_listener *listener)
{
        listener->users++;
}

void ed_listener_unref(eddy_listener *listener)
{
        if (--listener->users > 0)
                return;
        ed_socket_free(listener->spare);
        ed_free(listener);
}

void eddy_listener_close(eddy_listener *listener)
{
        if (!listener || listener->closed ||
            !ed_misuse_may_close(&listener->watch.member, "a listener"))
                return;
        ed_debug_gone(listener);
        listener->closed = true;
        ed_watch_close(&listener->watch, false);
        ed_listener_unref(listener);
}
