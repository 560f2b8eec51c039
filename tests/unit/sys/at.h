/*
 * at.h - short forms of the table's calls that take or return an endpoint.
 */
#ifndef AT_H
#define AT_H

#include "sys/sys.h"

/* An endpoint, and defaults to listen with. */
#define AT(where, number)                                                                          \
        (&(struct eddy_endpoint){ .kind = EDDY_ENDPOINT_IP, .address = *(where), .port = (number) })

static const struct ed_listen_opts listen_defaults;

static inline int listen_at(struct ed_sys *sys, int fd, const struct eddy_endpoint *at)
{
        struct ed_socket_file file;

        return sys->socket->listen(sys, fd, at, &listen_defaults, &file);
}

/* Returns the port of a socket, or the error. */
static inline int port_of(struct ed_sys *sys, int fd)
{
        struct eddy_endpoint endpoint;
        int err = sys->socket->endpoint(sys, fd, EDDY_STREAM_LOCAL, &endpoint);

        return err < 0 ? err : endpoint.port;
}

#endif
