/*
 * sys/process/worker_packet.c - messages between this process, its zygote and its workers.
 */
#include "sys/process/worker_packet.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

_Static_assert(sizeof(struct ed_worker_packet) % _Alignof(max_align_t) == 0,
               "the part after it is aligned");

union control {
        char bytes[CMSG_SPACE(sizeof(int) * ED_WORKER_PACKET_FDS)];
        struct cmsghdr align;
};

int ed_worker_packet_send(struct ed_sys *sys, int fd, const struct ed_worker_packet *head,
                          const struct ed_worker_packet_part *part)
{
        struct iovec iov[] = { { (void *) head, sizeof(*head) },
                               { (void *) part->data, part->bytes } };
        struct msghdr msg = { .msg_iov = iov, .msg_iovlen = part->bytes > 0 ? 2 : 1 };
        size_t fds_bytes = sizeof(int) * part->fds_count;
        union control control;
        ssize_t sent;

        if (part->fds_count > 0) {
                memset(&control, 0, sizeof(control));
                control.align.cmsg_level = SOL_SOCKET;
                control.align.cmsg_type = SCM_RIGHTS;
                control.align.cmsg_len = (socklen_t) CMSG_LEN(fds_bytes); /* smaller in musl */
                memcpy(CMSG_DATA(&control.align), part->fds, fds_bytes);
                msg.msg_control = control.bytes;
                msg.msg_controllen = (socklen_t) CMSG_SPACE(fds_bytes);
        }
        do
                sent = sendmsg(fd, &msg, MSG_NOSIGNAL | (sys ? MSG_DONTWAIT : 0));
        while (sent < 0 && (errno == EINTR || (!sys && errno == EAGAIN)));
        return sent < 0 ? -errno : 0;
}

static void fds_take(const struct msghdr *msg, struct ed_worker_packet_fds *fds)
{
        const struct cmsghdr *header = CMSG_FIRSTHDR(msg);

        *fds = (struct ed_worker_packet_fds){ .are_lost = msg->msg_flags & MSG_CTRUNC };
        if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
                return;
        fds->count = (unsigned) (((size_t) header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(fds->fds, CMSG_DATA(header), fds->count * sizeof(int));
        for (; fds->are_lost && fds->count > 0; fds->count--)
                (void) close(fds->fds[fds->count - 1]);
}

int64_t ed_worker_packet_recv(struct ed_sys *sys, int fd, struct ed_worker_packet *ret_head,
                              void *buf, size_t bytes, struct ed_worker_packet_fds *ret_fds)
{
        struct iovec iov[] = { { ret_head, sizeof(*ret_head) }, { buf, bytes } };
        union control control;
        struct msghdr msg = { .msg_iov = iov, .msg_iovlen = bytes > 0 ? 2 : 1 };
        ssize_t n;

        if (ret_fds) {
                msg.msg_control = control.bytes;
                msg.msg_controllen = sizeof(control.bytes);
        }
        /* A worker that dies with input unread resets its socket; the packets before that follow. */
        do
                n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC | (sys ? MSG_DONTWAIT : 0));
        while (n < 0 && (errno == EINTR || errno == ECONNRESET || (!sys && errno == EAGAIN)));
        if (n < 0)
                return -errno;
        if (ret_fds)
                fds_take(&msg, ret_fds);
        if (n == 0) {
                *ret_head =
                        (struct ed_worker_packet){ .kind = ED_WORKER_PACKET_ENDED, .result = -1 };
                return 0;
        }
        if (n < (ssize_t) sizeof(*ret_head) || msg.msg_flags & MSG_TRUNC)
                return -EPROTO;
        return n - (ssize_t) sizeof(*ret_head);
}

void ed_worker_packet_close(int fd)
{
        (void) close(fd);
}
