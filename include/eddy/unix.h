/*
 * eddy/unix.h - Unix sockets: connections between processes of one machine, by the
 * path of a file or by an abstract name ("@name", Linux).
 *
 * Any process that may write the socket file may connect to it.  An abstract name
 * has no file and no permissions: every process of the network namespace may
 * connect, and any of them may listen on the name before the server does.
 */
#ifndef EDDY_UNIX_H
#define EDDY_UNIX_H

#include <stdbool.h>

#include "eddy/def.h"
#include "eddy/listener.h"
#include "eddy/stream.h"

EDDY_BEGIN_DECLS

/* How to connect.  All zero is the default. */
struct eddy_unix_connect_opts {
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Connect to the Unix socket at 'path', at most EDDY_ENDPOINT_PATH_MAX bytes; a
 * path that begins with '@' is an abstract name.  While the listener's backlog is
 * full, the call tries again every 10 ms, up to the caller's deadline.
 *
 * Suspends: yes.
 * Errors: -ENOENT               the file does not exist
 *         -ECONNREFUSED         no process listens: the file is stale, or the name is free
 *         -EACCES               the file's permissions forbid it
 *         EDDY_E_ENDPOINT_PATH  an empty path or name
 *         -ENAMETOOLONG, -ECANCELED, -EMFILE, -ENOMEM and others from the system
 * Owns: returns (owned) '*ret_stream', to be closed by eddy_stream_close().
 */
EDDY_API EDDY_MUST_USE int eddy_unix_connect(const char *path,
                                             const struct eddy_unix_connect_opts *opts,
                                             eddy_stream **ret_stream);

/* How to listen.  All zero is the default. */
struct eddy_unix_listen_opts {
        /* connections that wait to be accepted; 0: the system's maximum */
        uint32_t backlog EDDY_UNSET;
        /* permissions of the socket file, such as 0660; 0: as umask(2) leaves them.  They apply
         * before the first client can connect. */
        uint32_t mode EDDY_UNSET;
        /*
         * Replace a socket file that no process listens on, such as a killed server
         * leaves.  Other files, and sockets with a listener, are never removed.  The
         * check connects to the socket and closes the connection; a server that still
         * listens accepts this connection and reads its end.  During the call the file
         * 'path'.eddy-lock exists and is locked: if several processes replace the same
         * path at the same time, one succeeds, and the others get -EADDRINUSE.  Between
         * its bind(2) and listen(2), a listener without this option looks stale: give
         * this option to all processes that may start at the same time.
         */
        bool replace_stale EDDY_UNSET;
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Listen on the Unix socket 'path', at most EDDY_ENDPOINT_PATH_MAX bytes; a path
 * that begins with '@' is an abstract name, for which 'mode' has no effect.
 * eddy_listener_close() removes the file, or gives up the name.
 *
 * Suspends: no.
 * Errors: -EADDRINUSE           the file or the name exists already, or another process is
 *                               replacing the file
 *         -ENOENT, -EACCES, -EROFS, ...  the file cannot be made
 *         -EINVAL               an option is out of range
 *         EDDY_E_ENDPOINT_PATH  an empty path or name
 *         -ENAMETOOLONG, -EMFILE, -ENOMEM
 * Owns: returns (owned) '*ret_listener', to be closed by eddy_listener_close().
 */
EDDY_API EDDY_MUST_USE int eddy_unix_listen(const char *path,
                                            const struct eddy_unix_listen_opts *opts,
                                            eddy_listener **ret_listener);

/* --- descriptors and credentials over a connection --- */

enum { EDDY_UNIX_FDS_MAX = 64 /* descriptors of one message */ };

/*
 * Write at least one byte of 'data' and, with its first byte, the descriptors 'fds'
 * (1 to EDDY_UNIX_FDS_MAX), waiting if necessary.  Returns the number of bytes written;
 * write the others by eddy_stream_write().  The receiver gets its own descriptors for
 * the same files.  After an error nothing was written.
 *
 * 'stream' is a connection made by this header's functions, or eddy_stream_from_fd() of
 * a Unix stream socket.
 *
 * Suspends: yes.
 * Errors: those of eddy_stream_write_some()
 *         -EBADF         one of 'fds' is not open
 *         -EINVAL        'bytes' is 0, or 'n' is out of range
 *         -ENOTSUP       'stream' is not a Unix socket, or is a simulated one
 *         -ETOOMANYREFS  too many descriptors are on their way (ulimit -n)
 * Owns: borrows 'fds'; they may be closed after the call.
 */
EDDY_API EDDY_MUST_USE int64_t eddy_unix_send_fds(eddy_stream *stream, const void *data,
                                                  size_t bytes, const int *fds, size_t n);

/* Descriptors that were received with bytes. */
struct eddy_unix_fds {
        uint32_t count;   /* of 'fds'; 0: the bytes came without descriptors */
        uint32_t surplus; /* received above EDDY_UNIX_FDS_MAX, and closed */
        int fds[EDDY_UNIX_FDS_MAX];
};

/*
 * Read as eddy_stream_read() does, and store the descriptors that came with the bytes.
 * A read returns descriptors of at most one message, and ends after the bytes of that
 * message.  The descriptors are close-on-exec.  eddy_stream_read() drops descriptors: use
 * this call for each read that may receive some.
 *
 * Suspends: yes.
 * Errors: those of eddy_stream_read()
 *         -EMFILE   this process could not take all descriptors: those that it took were
 *                   closed, and the bytes are lost.  Close the stream.
 *         -ENOTSUP  'stream' is not a Unix socket, or is a simulated one
 * Owns: returns (owned) the descriptors.
 */
EDDY_API EDDY_MUST_USE int64_t eddy_unix_receive_fds(eddy_stream *stream, void *buf, size_t bytes,
                                                     struct eddy_unix_fds *ret_fds);

/* The peer's process at the time when it connected or listened. */
struct eddy_unix_credentials {
        int32_t pid; /* 0: not visible in this process's PID namespace */
        uint32_t uid, gid;
};

/*
 * Store the credentials of the peer of a Unix stream, which the system has verified
 * (SO_PEERCRED).
 *
 * Suspends: no.
 * Errors: -EINVAL   'stream' is NULL
 *         -ENOTSUP  'stream' is not a Unix socket, or is a simulated one
 *         others from the system
 */
EDDY_API EDDY_MUST_USE int eddy_unix_peer_credentials(const eddy_stream *stream,
                                                      struct eddy_unix_credentials *ret_peer);

EDDY_END_DECLS

#endif
