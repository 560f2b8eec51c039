/*
 * io/socket.h - a stream over a connected socket of the table's.
 */
#ifndef ED_IO_SOCKET_H
#define ED_IO_SOCKET_H

#include "io/stream.h"

struct ed_socket {
        struct eddy_stream stream;
        struct ed_watch watch; /* with the descriptor */
        uint64_t sent;         /* bytes that the kernel took */
        bool broken;           /* a write is under way, or ended, after a part of it was sent */
};

/*
 * A stream that has no descriptor yet: allocated first, so that nothing can
 * fail once there is a connection.  NULL: no memory.
 */
ED_SHARED struct ed_socket *ed_socket_new(struct ed_loop *loop);

/* Free one that never got a descriptor. */
ED_SHARED void ed_socket_free(struct ed_socket *sock);

/* Give it a connected, non-blocking descriptor, which it owns from now on. */
ED_SHARED void ed_socket_attach(struct ed_socket *sock, int fd);

#endif
