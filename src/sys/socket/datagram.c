/*
 * sys/socket/datagram.c - datagram sockets of the kernel: options, groups, batches, reported
 * errors.
 */
#include "sys/socket/datagram.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include <linux/errqueue.h>

#include "sys/socket/sockaddr.h"

/* Addresses of the two families; much smaller than struct sockaddr_storage. */
union address {
        struct sockaddr any;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
};

struct option {
        int level, name;
};

static const struct option options_ip4[ED_DATAGRAM_OPTIONS] = {
        [EDDY_UDP_BROADCAST] = { SOL_SOCKET, SO_BROADCAST },
        [EDDY_UDP_RECEIVE_BYTES] = { SOL_SOCKET, SO_RCVBUF },
        [EDDY_UDP_SEND_BYTES] = { SOL_SOCKET, SO_SNDBUF },
        [EDDY_UDP_TTL] = { IPPROTO_IP, IP_TTL },
        [EDDY_UDP_MULTICAST_TTL] = { IPPROTO_IP, IP_MULTICAST_TTL },
        [EDDY_UDP_MULTICAST_LOOP] = { IPPROTO_IP, IP_MULTICAST_LOOP },
        [EDDY_UDP_MULTICAST_INTERFACE] = { IPPROTO_IP, IP_MULTICAST_IF },
        [ED_DATAGRAM_REUSE_PORT] = { SOL_SOCKET, SO_REUSEPORT },
        [ED_DATAGRAM_ERRORS] = { IPPROTO_IP, IP_RECVERR },
};

static const struct option options_ip6[ED_DATAGRAM_OPTIONS] = {
        [EDDY_UDP_BROADCAST] = { SOL_SOCKET, SO_BROADCAST },
        [EDDY_UDP_RECEIVE_BYTES] = { SOL_SOCKET, SO_RCVBUF },
        [EDDY_UDP_SEND_BYTES] = { SOL_SOCKET, SO_SNDBUF },
        [EDDY_UDP_TTL] = { IPPROTO_IPV6, IPV6_UNICAST_HOPS },
        [EDDY_UDP_MULTICAST_TTL] = { IPPROTO_IPV6, IPV6_MULTICAST_HOPS },
        [EDDY_UDP_MULTICAST_LOOP] = { IPPROTO_IPV6, IPV6_MULTICAST_LOOP },
        [EDDY_UDP_MULTICAST_INTERFACE] = { IPPROTO_IPV6, IPV6_MULTICAST_IF },
        [ED_DATAGRAM_REUSE_PORT] = { SOL_SOCKET, SO_REUSEPORT },
        [ED_DATAGRAM_V6_ONLY] = { IPPROTO_IPV6, IPV6_V6ONLY },
        [ED_DATAGRAM_ERRORS] = { IPPROTO_IPV6, IPV6_RECVERR },
};

/* Returns NULL if the family has no such option. */
static const struct option *option_find(int family, int option)
{
        const struct option *found;

        if (option < 0 || option >= ED_DATAGRAM_OPTIONS)
                return NULL;
        found = family == AF_INET6 ? &options_ip6[option] : &options_ip4[option];
        return found->name ? found : NULL;
}

int ed_datagram_bind(struct ed_sys *sys, int fd, const struct eddy_endpoint *at)
{
        (void) sys;
        return ed_sockaddr_bind(fd, at);
}

static int option_set(int fd, const struct option *option, const void *value, socklen_t bytes)
{
        return setsockopt(fd, option->level, option->name, value, bytes) < 0 ? -errno : 0;
}

int ed_datagram_option(struct ed_sys *sys, int fd, int family, int option, int value)
{
        const struct option *found = option_find(family, option);
        struct ip_mreqn by = { .imr_ifindex = value };
        int err;

        (void) sys;
        if (!found)
                return -EINVAL;
        /* IPv4 takes a plain number as an address. */
        if (option == EDDY_UDP_MULTICAST_INTERFACE && family == AF_INET)
                return option_set(fd, found, &by, sizeof(by));
        err = option_set(fd, found, &value, sizeof(value));
        /* A socket of IPv6 may send to IPv4 too. */
        if (err == 0 && option == ED_DATAGRAM_ERRORS && family == AF_INET6)
                err = option_set(fd, &options_ip4[option], &value, sizeof(value));
        return err;
}

int ed_datagram_option_value(struct ed_sys *sys, int fd, int family, int option)
{
        const struct option *found = option_find(family, option);
        socklen_t bytes = sizeof(int);
        int value = 0;

        (void) sys;
        if (!found)
                return -EINVAL;
        return getsockopt(fd, found->level, found->name, &value, &bytes) < 0 ? -errno : value;
}

static socklen_t address_of(const struct eddy_endpoint *endpoint, union address *ret_address)
{
        struct sockaddr_storage storage;
        socklen_t bytes = ed_sockaddr_of(endpoint, &storage);

        memcpy(ret_address, &storage, sizeof(*ret_address));
        return bytes;
}

/* The conversion reads no more than the address of its family has. */
static struct eddy_endpoint endpoint_of(const union address *address, socklen_t bytes)
{
        if (bytes == 0)
                return (struct eddy_endpoint){ .kind = EDDY_ENDPOINT_NONE };
        return ed_sockaddr_endpoint(&address->any, bytes);
}

int ed_datagram_group(struct ed_sys *sys, int fd, const struct eddy_address *group,
                      uint32_t interface_id, bool join)
{
        struct eddy_endpoint at = { .kind = EDDY_ENDPOINT_IP, .address = *group };
        struct group_req request = { .gr_interface = interface_id };
        struct option option = { group->family == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IP,
                                 join ? MCAST_JOIN_GROUP : MCAST_LEAVE_GROUP };

        (void) sys;
        (void) ed_sockaddr_of(&at, &request.gr_group);
        return option_set(fd, &option, &request, sizeof(request));
}

/* --- batches --- */

int ed_datagram_send(struct ed_sys *sys, int fd, const struct eddy_udp_message *messages, size_t n)
{
        struct mmsghdr headers[EDDY_UDP_BATCH_MAX];
        union address addresses[EDDY_UDP_BATCH_MAX];
        struct iovec iov[EDDY_UDP_BATCH_MAX];
        int sent;

        (void) sys;
        for (size_t i = 0; i < n; i++) {
                iov[i] = (struct iovec){ messages[i].data, messages[i].bytes };
                headers[i].msg_hdr = (struct msghdr){ .msg_iov = &iov[i], .msg_iovlen = 1 };
                if (messages[i].endpoint.kind == EDDY_ENDPOINT_NONE)
                        continue;
                headers[i].msg_hdr.msg_name = &addresses[i];
                headers[i].msg_hdr.msg_namelen = address_of(&messages[i].endpoint, &addresses[i]);
        }
        do
                sent = sendmmsg(fd, headers, (unsigned) n, MSG_NOSIGNAL);
        while (sent < 0 && errno == EINTR);
        return sent < 0 ? -errno : sent;
}

int ed_datagram_recv(struct ed_sys *sys, int fd, struct eddy_udp_message *messages, size_t n)
{
        struct mmsghdr headers[EDDY_UDP_BATCH_MAX];
        union address addresses[EDDY_UDP_BATCH_MAX];
        struct iovec iov[EDDY_UDP_BATCH_MAX];
        int received;

        (void) sys;
        for (size_t i = 0; i < n; i++) {
                iov[i] = (struct iovec){ messages[i].data, messages[i].bytes };
                headers[i].msg_hdr = (struct msghdr){ .msg_iov = &iov[i],
                                                      .msg_iovlen = 1,
                                                      .msg_name = &addresses[i],
                                                      .msg_namelen = sizeof(addresses[i]) };
        }
        do /* MSG_TRUNC: the length is that of the datagram, not of its part that fits */
                received = recvmmsg(fd, headers, (unsigned) n, MSG_TRUNC, NULL);
        while (received < 0 && errno == EINTR);
        for (int i = 0; i < received; i++) {
                messages[i].length = headers[i].msg_len;
                messages[i].endpoint = endpoint_of(&addresses[i], headers[i].msg_hdr.msg_namelen);
        }
        return received < 0 ? -errno : received;
}

/* --- errors that the network reported --- */

/* The kernel stores the error, and the address of the system that reported it. */
struct reported {
        struct sock_extended_err error;
        union address reporter;
};

static void error_read(const struct reported *reported, struct eddy_udp_error *ret_error)
{
        const struct sock_extended_err *error = &reported->error;
        bool is_local = error->ee_origin == SO_EE_ORIGIN_LOCAL;

        ret_error->error = -(int) error->ee_errno;
        ret_error->type = is_local ? 0 : error->ee_type;
        ret_error->code = is_local ? 0 : error->ee_code;
        ret_error->mtu = error->ee_errno == EMSGSIZE ? error->ee_info : 0;
        if (reported->reporter.any.sa_family != AF_UNSPEC)
                ret_error->reporter = endpoint_of(&reported->reporter, sizeof(reported->reporter));
        ret_error->reporter.port = 0;
}

int ed_datagram_error(struct ed_sys *sys, int fd, struct eddy_udp_error *ret_error)
{
        union {
                char bytes[CMSG_SPACE(sizeof(struct reported)) * 2];
                struct cmsghdr align;
        } control;
        union address to = { .any = { .sa_family = AF_UNSPEC } };
        struct msghdr msg = { .msg_name = &to,
                              .msg_namelen = sizeof(to),
                              .msg_control = control.bytes,
                              .msg_controllen = sizeof(control.bytes) };
        struct eddy_udp_error found = { .error = -EIO };
        struct cmsghdr *header;
        ssize_t n;

        (void) sys;
        do
                n = recvmsg(fd, &msg, MSG_ERRQUEUE | MSG_DONTWAIT);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return -errno;
        found.to = endpoint_of(&to, msg.msg_namelen);
        for (header = CMSG_FIRSTHDR(&msg); header; header = CMSG_NXTHDR(&msg, header)) {
                struct reported reported = { .error = { .ee_errno = EIO } };
                size_t bytes = (size_t) header->cmsg_len - CMSG_LEN(0);

                if ((header->cmsg_level != IPPROTO_IP || header->cmsg_type != IP_RECVERR) &&
                    (header->cmsg_level != IPPROTO_IPV6 || header->cmsg_type != IPV6_RECVERR))
                        continue;
                memcpy(&reported, CMSG_DATA(header),
                       bytes < sizeof(reported) ? bytes : sizeof(reported));
                error_read(&reported, &found);
        }
        *ret_error = found;
        return 0;
}
