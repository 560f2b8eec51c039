/*
 * io/socket.h - a stream over a connected socket of the table.
 */
#ifndef ED_IO_SOCKET_H
#define ED_IO_SOCKET_H

#include "eddy/file.h"
#include "io/fd_stream.h"

/* Connections of a loop that may have any number of unsent bytes of a file at a time. */
enum { ED_SOCKETS_UNLIMITED_MAX = 64 };

/*
 * Make a stream of a kind of endpoint (EDDY_ENDPOINT_IP or _UNIX), without a descriptor. The stream is allocated first, so that nothing can fail after
 * a connection exists. Returns NULL if there is no memory.
 */
ED_SHARED struct ed_fd_stream *ed_socket_new(struct ed_loop *loop, int kind);

/* Free a stream that has no descriptor. */
ED_SHARED void ed_socket_free(struct ed_fd_stream *sock);

/*
 * As the operation 'try_writev', of bytes of a regular file. Returns 0 at the end of the file.
 *
 * Errors: -ENOTSUP  not a socket's stream, or the kernel cannot send this file
 */
int64_t ed_socket_try_send_file(eddy_stream *stream, const eddy_file *file, int64_t offset,
                                size_t bytes);

/* Attach a connected, non-blocking descriptor, which the stream owns from now on. */
ED_SHARED void ed_socket_attach(struct ed_fd_stream *sock, int fd);

#endif
