/*
 * eddy/tcp.h - TCP: connecting by name, and listening.
 */
#ifndef EDDY_TCP_H
#define EDDY_TCP_H

#include <stdbool.h>

#include "eddy/def.h"
#include "eddy/endpoint.h"
#include "eddy/listener.h"
#include "eddy/stream.h"

EDDY_BEGIN_DECLS

/* How to connect.  All zero is the default. */
struct eddy_tcp_connect_opts {
        /*
         * The own address and port, borrowed during the call; NULL: the system chooses.
         * An address of all zero bytes, or port 0, leaves that part to the system.  Only
         * addresses of its family are tried.
         */
        const struct eddy_endpoint *local EDDY_UNSET;
        /*
         * Ask a silent peer for a sign of life after this time, and then again at the
         * same interval: reads and writes fail with EDDY_E_NET_TIMED_OUT after nine
         * unanswered questions.  Whole seconds, rounded up, at most 32,767 s.  0: never.
         */
        int64_t keepalive_ns EDDY_UNSET;
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Connect to 'host' (a name, or an IPv4 or IPv6 address without brackets) on
 * 'port'.  Addresses are tried with IPv6 first and families alternating, a new
 * one every 250 ms or as soon as one fails (RFC 8305).  The first connection that
 * succeeds is returned, the others are closed.  IPv6 addresses are tried as soon as
 * they are known.  IPv4 addresses wait up to 50 ms for IPv6 addresses.  Addresses that
 * arrive later join the others.  If all known addresses fail, the call waits for the
 * other family's answer.  TCP_NODELAY is on.
 * 'opts' NULL means the defaults.
 *
 * Suspends: yes.
 * Errors: EDDY_E_DNS_*           the name could not be resolved
 *         EDDY_E_DNS_NO_ADDRESS  also if it has no address of the family of opts.local
 *         -ECONNREFUSED, ...     of the last address tried
 *         -EADDRINUSE, -EADDRNOTAVAIL  opts.local is in use, or not of this machine
 *         EDDY_E_NET_TIMED_OUT   the kernel's timeout for the peer expired
 *         -EINVAL                an option is out of range
 *         -ECANCELED
 * Owns: returns (owned) '*ret_stream', to be closed by eddy_stream_close().
 */
EDDY_API EDDY_MUST_USE int eddy_tcp_connect(const char *host, uint16_t port,
                                            const struct eddy_tcp_connect_opts *opts,
                                            eddy_stream **ret_stream);

/* How to listen.  All zero is the default. */
struct eddy_tcp_listen_opts {
        /* connections that wait to be accepted; 0: the system's maximum */
        uint32_t backlog EDDY_UNSET;
        /* other listeners with this option may share the port: the system distributes
         * connections among them (SO_REUSEPORT) */
        bool reuse_port EDDY_UNSET;
        bool v6_only EDDY_UNSET; /* "::" accepts only IPv6; else also IPv4, as mapped addresses */
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Listen on an address (not a name: "127.0.0.1", "::1", "0.0.0.0", "::") and port;
 * port 0 selects a free port, which eddy_listener_port() returns.  'opts' NULL means
 * the defaults.  On Linux the kernel keeps at most 128 KiB of unsent data for an accepted
 * connection: if the peer reads slowly, further writes wait.  Files that an HTTP server sends
 * without TLS are exempt after their first MiB.
 *
 * Suspends: no.
 * Errors: -EINVAL      not an address, or an option is out of range
 *         -EADDRINUSE, -EADDRNOTAVAIL, -EACCES, -EMFILE, -ENOMEM
 * Owns: returns (owned) '*ret_listener', to be closed by eddy_listener_close().
 */
EDDY_API EDDY_MUST_USE int eddy_tcp_listen(const char *address, uint16_t port,
                                           const struct eddy_tcp_listen_opts *opts,
                                           eddy_listener **ret_listener);

EDDY_END_DECLS

#endif
