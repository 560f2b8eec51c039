/*
 * common/port.c - see port.h.
 *
 * The kernel lets the sockets of a user share a port if all of them have SO_REUSEPORT. The socket
 * that reserves the port is bound without the option, so bind() fails if any other socket has the
 * port. The socket then gets the option, so the listeners of this process can be bound to the port
 * too. It does not listen, so it gets no connections.
 */
#include "common/port.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "eddy/endpoint.h"

/* Returns the size of the socket's address in bytes, or -EINVAL. */
static int address_of(const char *address, uint16_t port, struct sockaddr_storage *ret_address)
{
        struct sockaddr_in *in = (struct sockaddr_in *) ret_address;
        struct sockaddr_in6 *in6 = (struct sockaddr_in6 *) ret_address;
        const bool is_v6 = strchr(address, ':') != NULL;
        struct eddy_endpoint at;
        char text[EDDY_ENDPOINT_TEXT_BYTES];

        if (snprintf(text, sizeof(text), "%s%s%s:%u", is_v6 ? "[" : "", address, is_v6 ? "]" : "",
                     (unsigned) port) >= (int) sizeof(text) ||
            eddy_endpoint_parse(text, &at) < 0 || at.kind != EDDY_ENDPOINT_IP)
                return -EINVAL;
        memset(ret_address, 0, sizeof(*ret_address));
        ret_address->ss_family = at.address.family;
        if (at.address.family == AF_INET) {
                in->sin_port = htons(port);
                memcpy(&in->sin_addr, at.address.bytes, sizeof(in->sin_addr));
                return sizeof(*in);
        }
        in6->sin6_port = htons(port);
        in6->sin6_scope_id = at.address.scope_id;
        memcpy(&in6->sin6_addr, at.address.bytes, sizeof(in6->sin6_addr));
        return sizeof(*in6);
}

static int set_option(int fd, int option, int value)
{
        return setsockopt(fd, SOL_SOCKET, option, &value, sizeof(value));
}

/*
 * SO_REUSEADDR allows bind() while connections of an earlier process are in TIME_WAIT. It is then
 * turned off: otherwise a listener of another process with this option could be bound before the
 * first one here.
 */
static int reserve(int fd, const struct sockaddr_storage *address, socklen_t bytes)
{
        if (set_option(fd, SO_REUSEADDR, 1) < 0 ||
            bind(fd, (const struct sockaddr *) address, bytes) < 0 ||
            set_option(fd, SO_REUSEADDR, 0) < 0 || set_option(fd, SO_REUSEPORT, 1) < 0)
                return -errno;
        return 0;
}

int ed_port_reserve(const char *address, uint16_t *port)
{
        struct sockaddr_storage storage;
        socklen_t bytes = sizeof(storage);
        int address_bytes = address_of(address, *port, &storage);
        int fd, err;

        if (address_bytes < 0)
                return address_bytes;
        fd = socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0)
                return -errno;
        err = reserve(fd, &storage, (socklen_t) address_bytes);
        if (err == 0 && getsockname(fd, (struct sockaddr *) &storage, &bytes) < 0)
                err = -errno;
        if (err < 0) {
                close(fd);
                return err;
        }
        /* The port has the same offset in both families. */
        *port = ntohs(((struct sockaddr_in *) &storage)->sin_port);
        return fd;
}
