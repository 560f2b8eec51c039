/*
 * sys/socket/unix_fds.c - descriptors and credentials over Unix sockets of the kernel.
 *
 * The control buffer of a receive has room for the kernel's maximum of a message, so the kernel
 * truncates only if the process cannot take a descriptor.
 */
#include "sys/socket/unix_fds.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sys/above_stdio.h"

/* The kernel's SCM_MAX_FD. */
enum { KERNEL_FDS_MAX = 253 };

_Static_assert((int) EDDY_UNIX_FDS_MAX <= (int) KERNEL_FDS_MAX, "the kernel refuses more");

static size_t capped(const struct ed_sys *sys, size_t bytes)
{
        return sys->transfer_max && bytes > sys->transfer_max ? sys->transfer_max : bytes;
}

int64_t ed_unix_fds_send(struct ed_sys *sys, int fd, const struct eddy_slice *data, const int *fds,
                         size_t n)
{
        union {
                char bytes[CMSG_SPACE(sizeof(int) * EDDY_UNIX_FDS_MAX)];
                struct cmsghdr align;
        } control;
        struct iovec iov = { (void *) data->data, capped(sys, data->bytes) };
        struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes };
        struct cmsghdr *header = &control.align;
        ssize_t sent;

        memset(&control, 0, sizeof(control));
        msg.msg_controllen = (socklen_t) CMSG_SPACE(sizeof(int) * n); /* smaller in musl */
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = (socklen_t) CMSG_LEN(sizeof(int) * n);
        memcpy(CMSG_DATA(header), fds, sizeof(int) * n);
        do
                sent = sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
        while (sent < 0 && errno == EINTR);
        return sent < 0 ? -errno : sent;
}

/* Keep the descriptors of a control message, and close those for which there is no room. */
static void fds_take(const struct cmsghdr *header, struct eddy_unix_fds *fds)
{
        size_t n = ((size_t) header->cmsg_len - CMSG_LEN(0)) / sizeof(int);

        for (size_t i = 0; i < n; i++) {
                int fd;

                memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
                if (fds->count < EDDY_UNIX_FDS_MAX) {
                        fds->fds[fds->count++] = ed_fd_above_stdio(fd);
                } else {
                        close(fd);
                        fds->surplus++;
                }
        }
}

static void fds_close(const struct eddy_unix_fds *fds)
{
        for (uint32_t i = 0; i < fds->count; i++)
                close(fds->fds[i]);
}

int64_t ed_unix_fds_recv(struct ed_sys *sys, int fd, void *buf, size_t bytes,
                         struct eddy_unix_fds *ret_fds)
{
        union {
                char bytes[CMSG_SPACE(sizeof(int) * KERNEL_FDS_MAX)];
                struct cmsghdr align;
        } control;
        struct iovec iov = { buf, capped(sys, bytes) };
        struct msghdr msg = { .msg_iov = &iov,
                              .msg_iovlen = 1,
                              .msg_control = control.bytes,
                              .msg_controllen = sizeof(control.bytes) };
        struct eddy_unix_fds fds = { .count = 0 };
        struct cmsghdr *header;
        ssize_t n;

        do
                n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return -errno;
        for (header = CMSG_FIRSTHDR(&msg); header; header = CMSG_NXTHDR(&msg, header))
                if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
                        fds_take(header, &fds);
        if (msg.msg_flags & MSG_CTRUNC) {
                fds_close(&fds);
                return -EMFILE;
        }
        *ret_fds = fds;
        return n;
}

int ed_unix_fds_credentials(struct ed_sys *sys, int fd, struct eddy_unix_credentials *ret_peer)
{
        struct ucred found = { 0 };
        socklen_t bytes = sizeof(found);

        (void) sys;
        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &found, &bytes) < 0)
                return -errno;
        *ret_peer = (struct eddy_unix_credentials){ .pid = found.pid,
                                                    .uid = found.uid,
                                                    .gid = found.gid };
        return 0;
}
