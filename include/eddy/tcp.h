/*
 * eddy/tcp.h - TCP: connecting by name, listening, accepting.
 */
#ifndef EDDY_TCP_H
#define EDDY_TCP_H

#include "eddy/def.h"
#include "eddy/stream.h"

EDDY_BEGIN_DECLS

typedef struct eddy_tcp_listener eddy_tcp_listener;

/*
 * Connect to 'host' (a name, or an IPv4 or IPv6 address without brackets) on
 * 'port'.  Addresses are tried with IPv6 first and families alternating, a new
 * one every 250 ms or as soon as one fails (RFC 8305).  The first connection that
 * succeeds is returned, the others are closed.  TCP_NODELAY is on.
 *
 * Suspends: yes.
 * Errors: EDDY_E_DNS_*          the name could not be resolved
 *         -ECONNREFUSED, ...    of the last address tried
 *         EDDY_E_NET_TIMED_OUT  the kernel's timeout for the peer expired
 *         -ECANCELED
 * Owns: returns (owned) '*ret_stream', to be closed by eddy_stream_close().
 */
EDDY_API EDDY_MUST_USE int eddy_tcp_connect(const char *host, uint16_t port,
                                            eddy_stream **ret_stream);

/*
 * Listen on an address (not a name: "127.0.0.1", "::1", "0.0.0.0", "::") and port;
 * port 0 selects a free port.
 *
 * Suspends: no.
 * Errors: -EINVAL      not an address
 *         -EADDRINUSE, -EACCES, -EMFILE, -ENOMEM
 * Owns: returns (owned) '*ret_listener', to be closed by eddy_tcp_listener_close().
 */
EDDY_API EDDY_MUST_USE int eddy_tcp_listen(const char *address, uint16_t port,
                                           eddy_tcp_listener **ret_listener);

/* Returns the port of the listener.  Suspends: no. */
EDDY_API uint16_t eddy_tcp_listener_port(const eddy_tcp_listener *listener);

/*
 * Wait for a connection.  Connections that were aborted before they could be
 * accepted are skipped.  If descriptors or memory are short, the call retries
 * every second, up to the caller's deadline, and reports that once
 * (EDDY_REPORT_ACCEPT).
 *
 * Suspends: yes.
 * Errors: -ECANCELED  no accepted connection was lost
 *         -EBUSY      another task accepts
 * Owns: returns (owned) '*ret_stream', to be closed by eddy_stream_close().
 */
EDDY_API EDDY_MUST_USE int eddy_tcp_accept(eddy_tcp_listener *listener, eddy_stream **ret_stream);

/* Stop listening and free the listener; connections stay open.  NULL is ignored.  Suspends: no. */
EDDY_API void eddy_tcp_listener_close(eddy_tcp_listener *listener);

static inline void eddy_tcp_listener_auto_release(eddy_tcp_listener **listener)
{
        eddy_tcp_listener_close(*listener);
}

EDDY_END_DECLS

#endif
