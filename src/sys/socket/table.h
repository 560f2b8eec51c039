/*
 * sys/socket/table.h - the parts of the table for sockets.
 */
#ifndef ED_SYS_SOCKET_TABLE_H
#define ED_SYS_SOCKET_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eddy/endpoint.h"
#include "eddy/stream.h"
#include "eddy/udp.h"
#include "eddy/unix.h"

struct ed_sys;

enum { ED_SOCKET_STREAM = 1, ED_SOCKET_LISTENER = 2, ED_SOCKET_DATAGRAM = 3 };

/* Options of datagram sockets besides those of enum eddy_udp_option. */
enum {
        ED_DATAGRAM_REUSE_PORT = EDDY_UDP_OPTIONS,
        ED_DATAGRAM_V6_ONLY,
        ED_DATAGRAM_ERRORS,
        ED_DATAGRAM_OPTIONS,
};

/* How to listen. All zero: the defaults. */
struct ed_listen_opts {
        uint32_t backlog; /* 0: the system's maximum */
        bool reuse_port;
        bool v6_only;
        bool replace_stale; /* remove a socket file without a listener */
        uint32_t mode;      /* of the socket file; 0: as the umask leaves it */
};

/* The identity of a socket file; zero: there is none. */
struct ed_socket_file {
        uint64_t device, inode;
};

/* Stream sockets, and descriptors that are read and written in the same way. */
struct ed_sys_socket {
        /* Returns a new socket, non-blocking and close-on-exec; TCP streams have TCP_NODELAY set. */
        int (*open)(struct ed_sys *sys, int family, int kind);
        /* Ask a silent peer for a sign of life after these seconds, and at this interval. */
        int (*keepalive)(struct ed_sys *sys, int fd, int seconds);
        /* Choose the local address of a connection that is made later. */
        int (*bind)(struct ed_sys *sys, int fd, const struct eddy_endpoint *local);
        /* A Unix socket is connected at once; -EAGAIN if the listener's backlog is full. */
        int (*connect)(struct ed_sys *sys, int fd, const struct eddy_endpoint *to);
        /*
         * Returns the result of a connect that returned -EINPROGRESS. Call once 'fd' is writable.
         */
        int (*connect_result)(struct ed_sys *sys, int fd);
        /* Stores the identity of the socket file that it makes; after an error there is none. */
        int (*listen)(struct ed_sys *sys, int fd, const struct eddy_endpoint *at,
                      const struct ed_listen_opts *opts, struct ed_socket_file *ret_file);
        /* Remove the socket file of a listener at 'at', unless the path is now another's. */
        void (*file_remove)(struct ed_sys *sys, const struct eddy_endpoint *at,
                            const struct ed_socket_file *file);
        /* Errors: -EBADF; -ENOTSOCK; -ENOTCONN: the socket has no peer. */
        int (*endpoint)(struct ed_sys *sys, int fd, enum eddy_stream_end end,
                        struct eddy_endpoint *ret_endpoint);
        int (*accept)(struct ed_sys *sys, int fd);

        /*
         * Returns the bytes moved, 0 at the end of the stream, or -errno. Never raises SIGPIPE on a
         * socket. These calls, accept() and connect() never return -EINTR: the table repeats an
         * interrupted call, and an interrupted connect() returns -EINPROGRESS.
         */
        int64_t (*recv)(struct ed_sys *sys, int fd, void *buf, size_t bytes);
        int64_t (*send)(struct ed_sys *sys, int fd, const struct eddy_slice *slices, size_t n);
        /*
         * Send bytes of a regular file without copying them to this process. May wait for the disk.
         * Returns 0 at the end of the file. Errors: -ENOTSUP: sendfile(2) does not support the
         * file.
         */
        int64_t (*send_file)(struct ed_sys *sys, int fd, int file, int64_t offset, size_t bytes);
        /* Set or lift the limit of unsent bytes that an accepted connection has at first. */
        void (*limit_unsent)(struct ed_sys *sys, int fd, bool is_limited);
        /*
         * Returns how many of the bytes sent on a connected socket the peer's system has not
         * acknowledged (in the simulation: the peer has not read), or 0 if unknown.
         */
        uint64_t (*unsent)(struct ed_sys *sys, int fd);
        int64_t (*read)(struct ed_sys *sys, int fd, void *buf, size_t bytes);
        /* 'may_signal': this kind of descriptor raises SIGPIPE, which is suppressed. */
        int64_t (*write)(struct ed_sys *sys, int fd, const void *data, size_t bytes,
                         bool may_signal);
        int (*shutdown)(struct ed_sys *sys, int fd);
        void (*close)(struct ed_sys *sys, int fd);
        /* Close with a reset; unsent bytes are dropped. */
        void (*abort)(struct ed_sys *sys, int fd);
};

/*
 * Datagrams. bind_port() binds now, with the port. 'family' is that of the socket. send() and
 * recv() return the number of datagrams moved, at least one.
 */
struct ed_sys_datagram {
        int (*bind_port)(struct ed_sys *sys, int fd, const struct eddy_endpoint *at);
        int (*option)(struct ed_sys *sys, int fd, int family, int option, int value);
        int (*option_value)(struct ed_sys *sys, int fd, int family, int option);
        int (*group)(struct ed_sys *sys, int fd, const struct eddy_address *group,
                     uint32_t interface_id, bool join);
        int (*send)(struct ed_sys *sys, int fd, const struct eddy_udp_message *messages, size_t n);
        int (*recv)(struct ed_sys *sys, int fd, struct eddy_udp_message *messages, size_t n);
        int (*error)(struct ed_sys *sys, int fd, struct eddy_udp_error *ret_error);
};

/* Descriptors over a Unix stream, without a wait even if the descriptor would wait. */
struct ed_sys_unix_fds {
        int64_t (*send)(struct ed_sys *sys, int fd, const struct eddy_slice *data, const int *fds,
                        size_t n);
        int64_t (*recv)(struct ed_sys *sys, int fd, void *buf, size_t bytes,
                        struct eddy_unix_fds *ret_fds);
        int (*credentials)(struct ed_sys *sys, int fd, struct eddy_unix_credentials *ret_peer);
};

#endif
