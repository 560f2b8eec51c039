/*
 * sys/socket/sockaddr.c - endpoints in the kernel's form.
 */
#include "sys/socket/sockaddr.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

#include "base/def.h"

/* Where the path begins in struct sockaddr_un. */
enum { PATH_AT = sizeof(sa_family_t) };

static socklen_t of_unix(const struct eddy_endpoint *endpoint, struct sockaddr_un *un)
{
        un->sun_family = AF_UNIX;
        memcpy(un->sun_path, endpoint->path, endpoint->path_bytes);
        /* The length is part of an abstract name; a path has a NUL. */
        return (socklen_t) (PATH_AT + endpoint->path_bytes + (endpoint->path[0] != '\0'));
}

socklen_t ed_sockaddr_of(const struct eddy_endpoint *endpoint, struct sockaddr_storage *ret)
{
        const struct eddy_address *address = &endpoint->address;

        memset(ret, 0, sizeof(*ret));
        if (endpoint->kind == EDDY_ENDPOINT_UNIX) {
                return of_unix(endpoint, (struct sockaddr_un *) ret);
        } else if (address->family == AF_INET6) {
                struct sockaddr_in6 *in6 = (struct sockaddr_in6 *) ret;

                in6->sin6_family = AF_INET6;
                in6->sin6_port = htons(endpoint->port);
                in6->sin6_scope_id = address->scope_id;
                memcpy(&in6->sin6_addr, address->bytes, sizeof(in6->sin6_addr));
                return sizeof(*in6);
        } else {
                struct sockaddr_in *in = (struct sockaddr_in *) ret;

                in->sin_family = AF_INET;
                in->sin_port = htons(endpoint->port);
                memcpy(&in->sin_addr, address->bytes, sizeof(in->sin_addr));
                return sizeof(*in);
        }
}

static void from_unix(const struct sockaddr_un *un, socklen_t size, struct eddy_endpoint *endpoint)
{
        size_t bytes = size > PATH_AT ? size - PATH_AT : 0;
        const char *end;

        if (bytes > EDDY_ENDPOINT_PATH_MAX)
                bytes = EDDY_ENDPOINT_PATH_MAX;
        /* A path may end before its size does; an abstract name may contain NULs. */
        end = bytes > 0 && un->sun_path[0] ? memchr(un->sun_path, '\0', bytes) : NULL;
        if (end)
                bytes = (size_t) (end - un->sun_path);
        endpoint->kind = EDDY_ENDPOINT_UNIX;
        memcpy(endpoint->path, un->sun_path, bytes);
        endpoint->path_bytes = (uint8_t) bytes;
}

struct eddy_endpoint ed_sockaddr_endpoint(const struct sockaddr *from, socklen_t bytes)
{
        struct eddy_endpoint endpoint = { .kind = EDDY_ENDPOINT_IP };
        struct eddy_address *address = &endpoint.address;

        address->family = from->sa_family;
        if (from->sa_family == AF_INET6) {
                const struct sockaddr_in6 *in6 = (const void *) from;

                endpoint.port = ntohs(in6->sin6_port);
                address->scope_id = in6->sin6_scope_id;
                memcpy(address->bytes, &in6->sin6_addr, sizeof(in6->sin6_addr));
        } else if (from->sa_family == AF_INET) {
                const struct sockaddr_in *in = (const void *) from;

                endpoint.port = ntohs(in->sin_port);
                memcpy(address->bytes, &in->sin_addr, sizeof(in->sin_addr));
        } else {
                endpoint = (struct eddy_endpoint){ .kind = EDDY_ENDPOINT_NONE };
                if (from->sa_family == AF_UNIX)
                        from_unix((const void *) from, bytes, &endpoint);
        }
        return endpoint;
}

int ed_sockaddr_bind(int fd, const struct eddy_endpoint *at)
{
        struct sockaddr_storage storage;
        socklen_t bytes = ed_sockaddr_of(at, &storage);

        return bind(fd, (struct sockaddr *) &storage, bytes) < 0 ? -errno : 0;
}
