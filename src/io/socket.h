/*
 * io/socket.h - a stream over a connected socket of the table's.
 */
#ifndef ED_IO_SOCKET_H
#define ED_IO_SOCKET_H

#include "io/fd_stream.h"

/*
 * A stream that has no descriptor yet: allocated first, so that nothing can
 * fail once there is a connection.  NULL: no memory.
 */
ED_SHARED struct ed_fd_stream *ed_socket_new(struct ed_loop *loop);

/* Free one that never got a descriptor. */
ED_SHARED void ed_socket_free(struct ed_fd_stream *sock);

/* Give it a connected, non-blocking descriptor, which it owns from now on. */
ED_SHARED void ed_socket_attach(struct ed_fd_stream *sock, int fd);

#endif
