/*
 * sys/socket/sockaddr.h - endpoints in the kernel's form.
 */
#ifndef ED_SYS_SOCKET_SOCKADDR_H
#define ED_SYS_SOCKET_SOCKADDR_H

#include <sys/socket.h>

#include "eddy/endpoint.h"

/* Convert an endpoint; returns the size of the result. */
socklen_t ed_sockaddr_of(const struct eddy_endpoint *endpoint, struct sockaddr_storage *ret);

/* Convert the kernel's form of 'bytes'; EDDY_ENDPOINT_NONE for an unknown family. */
struct eddy_endpoint ed_sockaddr_endpoint(const struct sockaddr *from, socklen_t bytes);

/* Bind a socket to an endpoint. */
int ed_sockaddr_bind(int fd, const struct eddy_endpoint *at);

#endif
