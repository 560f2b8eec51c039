/*
 * sys/socket/sockets.c - see sockets.h.
 */
#include "sys/socket/sockets.h"

#include <errno.h>
#include <limits.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sys/above_stdio.h"
#include "sys/libc.h"
#include "sys/output.h"
#include "sys/socket/sockaddr.h"
#include "sys/socket/socket_file.h"

enum {
        KEEPALIVE_PROBES = 9,
        UNSENT_BYTES = 128 << 10 /* that the kernel keeps of an accepted connection */
};

static int set_option(int fd, int level, int option, int value)
{
        return setsockopt(fd, level, option, &value, sizeof(value)) < 0 ? -errno : 0;
}

int ed_sockets_open(struct ed_sys *sys, int family, int kind)
{
        int type = kind == ED_SOCKET_DATAGRAM ? SOCK_DGRAM : SOCK_STREAM;
        int fd = ed_fd_above_stdio(socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));

        (void) sys;
        if (fd < 0)
                return fd;
        if (kind == ED_SOCKET_STREAM && family != AF_UNIX)
                (void) set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
        return fd;
}

int ed_sockets_keepalive(struct ed_sys *sys, int fd, int seconds)
{
        int err = set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);

        (void) sys;
        if (err == 0)
                err = set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, seconds);
        if (err == 0)
                err = set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, seconds);
        return err < 0 ? err : set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES);
}

int ed_sockets_bind(struct ed_sys *sys, int fd, const struct eddy_endpoint *local)
{
        (void) sys;
        /*
         * Without a port of its own, the connection gets one when it is made: connections to
         * different peers may share a port.
         */
        (void) set_option(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
        return ed_sockaddr_bind(fd, local);
}

int ed_sockets_connect(struct ed_sys *sys, int fd, const struct eddy_endpoint *to)
{
        struct sockaddr_storage storage;
        socklen_t bytes = ed_sockaddr_of(to, &storage);

        (void) sys;
        if (connect(fd, (struct sockaddr *) &storage, bytes) == 0)
                return 0;
        /* An interrupted connect continues in the background. */
        return errno == EINTR ? -EINPROGRESS : -errno;
}

int ed_sockets_connect_result(struct ed_sys *sys, int fd)
{
        struct sockaddr_storage peer;
        socklen_t bytes = sizeof(int);
        int err = 0;

        (void) sys;
        if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &bytes) < 0)
                return -errno;
        if (err)
                return -err;
        bytes = sizeof(peer);
        if (getpeername(fd, (struct sockaddr *) &peer, &bytes) < 0)
                return errno == ENOTCONN ? -EINPROGRESS : -errno;
        return 0;
}

/* Bind a listener to an IP address. */
static int bind_ip(int fd, const struct eddy_endpoint *at, const struct ed_listen_opts *opts)
{
        int err = set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);

        if (err == 0 && opts->reuse_port)
                err = set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1);
        if (err == 0 && at->address.family == AF_INET6)
                err = set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, opts->v6_only);
        /*
         * Accepted connections inherit this.  Without it the kernel keeps up to 4 MiB for each peer that
         * reads slowly or not at all, and a thousand of these leave no memory for the others.
         */
        (void) set_option(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, UNSENT_BYTES);
        return err < 0 ? err : ed_sockaddr_bind(fd, at);
}

int ed_sockets_listen(struct ed_sys *sys, int fd, const struct eddy_endpoint *at,
                      const struct ed_listen_opts *opts, struct ed_socket_file *ret_file)
{
        struct ed_listen_opts own = *opts;
        int err;

        (void) sys;
        if (own.backlog == 0 || own.backlog > SOMAXCONN)
                own.backlog = SOMAXCONN;
        *ret_file = (struct ed_socket_file){ 0 };
        if (at->kind == EDDY_ENDPOINT_IP)
                err = bind_ip(fd, at, &own);
        else if (at->path[0] == '\0')
                err = ed_sockaddr_bind(fd, at); /* an abstract name, without a file */
        else
                return ed_socket_file_listen(fd, at, &own, ret_file);
        if (err == 0 && listen(fd, (int) own.backlog) < 0)
                err = -errno;
        return err;
}

int ed_sockets_endpoint(struct ed_sys *sys, int fd, enum eddy_stream_end end,
                        struct eddy_endpoint *ret_endpoint)
{
        struct sockaddr_storage storage = { .ss_family = AF_UNSPEC };
        socklen_t bytes = sizeof(storage);
        int result = end == EDDY_STREAM_LOCAL
                             ? getsockname(fd, (struct sockaddr *) &storage, &bytes)
                             : getpeername(fd, (struct sockaddr *) &storage, &bytes);

        (void) sys;
        if (result < 0)
                return -errno;
        *ret_endpoint = ed_sockaddr_endpoint((struct sockaddr *) &storage, bytes);
        return 0;
}

int ed_sockets_accept(struct ed_sys *sys, int fd)
{
        int accepted;

        (void) sys;
        do
                accepted = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        while (accepted < 0 && errno == EINTR);
        accepted = ed_fd_above_stdio(accepted);
        if (accepted >= 0)
                (void) set_option(accepted, IPPROTO_TCP, TCP_NODELAY, 1); /* not of a Unix socket */
        return accepted;
}

static size_t capped(const struct ed_sys *sys, size_t bytes)
{
        return sys->transfer_max && bytes > sys->transfer_max ? sys->transfer_max : bytes;
}

int64_t ed_sockets_recv(struct ed_sys *sys, int fd, void *buf, size_t bytes)
{
        ssize_t n;

        do
                n = recv(fd, buf, capped(sys, bytes), 0);
        while (n < 0 && errno == EINTR);
        return n < 0 ? -errno : n;
}

int64_t ed_sockets_send(struct ed_sys *sys, int fd, const struct eddy_slice *slices, size_t n)
{
        struct iovec iov[EDDY_STREAM_SLICES_MAX];
        struct msghdr msg = { .msg_iov = iov };
        ssize_t sent;

        if (n == 1 || sys->transfer_max) {
                do
                        sent = send(fd, slices[0].data, capped(sys, slices[0].bytes), MSG_NOSIGNAL);
                while (sent < 0 && errno == EINTR);
                return sent < 0 ? -errno : sent;
        }
        for (size_t i = 0; i < n; i++) {
                iov[i].iov_base = (void *) slices[i].data;
                iov[i].iov_len = slices[i].bytes;
        }
        msg.msg_iovlen = (int) n; /* an int in musl */
        do
                sent = sendmsg(fd, &msg, MSG_NOSIGNAL);
        while (sent < 0 && errno == EINTR);
        return sent < 0 ? -errno : sent;
}

int64_t ed_sockets_send_file(struct ed_sys *sys, int fd, int file, int64_t offset, size_t bytes)
{
        int64_t n;

        do
                n = ed_sys_send_file_quietly(fd, file, offset, capped(sys, bytes));
        while (n == -EINTR);
        /* Some file systems have no pages to send. */
        return n == -EINVAL || n == -ENOSYS ? -ENOTSUP : n;
}

void ed_sockets_limit_unsent(struct ed_sys *sys, int fd, bool is_limited)
{
        (void) sys;
        (void) set_option(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, is_limited ? UNSENT_BYTES : INT_MAX);
}

uint64_t ed_sockets_unsent(struct ed_sys *sys, int fd)
{
        int bytes = 0;

        (void) sys;
        return ioctl(fd, SIOCOUTQ, &bytes) < 0 || bytes < 0 ? 0 : (uint64_t) bytes;
}

size_t ed_sockets_arrived(int fd)
{
        int bytes = 0;

        return ioctl(fd, FIONREAD, &bytes) < 0 || bytes < 0 ? 0 : (size_t) bytes;
}

int64_t ed_sockets_read(struct ed_sys *sys, int fd, void *buf, size_t bytes)
{
        ssize_t n;

        do
                n = read(fd, buf, capped(sys, bytes));
        while (n < 0 && errno == EINTR);
        return n < 0 ? -errno : n;
}

int64_t ed_sockets_write(struct ed_sys *sys, int fd, const void *data, size_t bytes,
                         bool may_signal)
{
        int64_t n;

        do {
                if (may_signal) {
                        n = ed_sys_write_quietly(fd, data, capped(sys, bytes));
                } else {
                        n = write(fd, data, capped(sys, bytes));
                        n = n < 0 ? -errno : n;
                }
        } while (n == -EINTR);
        return n;
}

int ed_sockets_shutdown(struct ed_sys *sys, int fd)
{
        (void) sys;
        return shutdown(fd, SHUT_WR) < 0 ? -errno : 0;
}

void ed_sockets_close(struct ed_sys *sys, int fd)
{
        (void) sys;
        (void) close(fd);
}

void ed_sockets_abort(struct ed_sys *sys, int fd)
{
        struct linger linger = { .l_onoff = 1 };

        (void) sys;
        (void) setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
        (void) close(fd);
}
