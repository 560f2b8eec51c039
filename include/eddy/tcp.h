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
 * 'port'.  All its addresses are tried, IPv6 first and families alternating,
 * a new one every 250 ms or as soon as one fails (RFC 8305); the first to
 * answer wins and the others are closed.  TCP_NODELAY is on.
 *
 * Suspends: yes.
 * Errors: EDDY_E_DNS_*          the name could not be resolved
 *         -ECONNREFUSED, ...    of the last address tried
 *         EDDY_E_NET_TIMED_OUT  the kernel gave the peer up
 *         -ECANCELED
 * Owns: returns (owned) '*ret_stream', to be closed by eddy_stream_close().
 */
EDDY_API EDDY_MUST_USE int eddy_tcp_connect(const char *host, uint16_t port,
                                            eddy_stream **ret_stream);

/*
 * Listen on an address (not a name: "127.0.0.1", "::1", "0.0.0.0", "::") and
 * port; port 0 takes a free one.
 *
 * Suspends: no.
 * Errors: -EINVAL      not an address
 *         -EADDRINUSE, -EACCES, -EMFILE, -ENOMEM
 * Owns: returns (owned) '*ret_listener'.
 */
EDDY_API EDDY_MUST_USE int eddy_tcp_listen(const char *address, uint16_t port,
                                           eddy_tcp_listener **ret_listener);

/* The port that is listened on.  Suspends: no. */
EDDY_API uint16_t eddy_tcp_listener_port(const eddy_tcp_listener *listener);

/*
 * Wait for a connection.  Connections that were aborted before they could be
 * accepted are passed over.  While descriptors or memory are short, it tries
 * again every second, up to the caller's deadline, and reports that once
 * (EDDY_REPORT_ACCEPT).
 *
 * Suspends: yes.
 * Errors: -ECANCELED  a connection that had been accepted was not lost
 *         -EBUSY      another task accepts
 * Owns: returns (owned) '*ret_stream'.
 */
EDDY_API EDDY_MUST_USE int eddy_tcp_accept(eddy_tcp_listener *listener, eddy_stream **ret_stream);

/* Stop listening and free it.  Connections live on.  NULL is fine.  Suspends: no. */
EDDY_API void eddy_tcp_listener_close(eddy_tcp_listener *listener);

static inline void eddy_tcp_listener_auto_release(eddy_tcp_listener **listener)
{
        eddy_tcp_listener_close(*listener);
}

EDDY_END_DECLS

#endif
