/*
 * eddy/listener.h - accepting connections, over TCP or Unix sockets.
 *
 * A listener is made by eddy_tcp_listen() (eddy/tcp.h) or eddy_unix_listen()
 * (eddy/unix.h).  eddy_serve() (eddy/serve.h) accepts and serves in one call.
 */
#ifndef EDDY_LISTENER_H
#define EDDY_LISTENER_H

#include "eddy/def.h"
#include "eddy/endpoint.h"
#include "eddy/stream.h"

EDDY_BEGIN_DECLS

typedef struct eddy_listener eddy_listener;

/*
 * Wait for a connection.  Connections that were aborted before they could be
 * accepted are skipped.  If descriptors or memory are short, the call retries
 * every second, up to the caller's deadline, and reports the shortage once
 * (EDDY_REPORT_ACCEPT).
 *
 * Suspends: yes.
 * Errors: -ECANCELED  no accepted connection was lost; also if the listener was
 *                     closed meanwhile
 *         -EBUSY      another task accepts
 *         -EINVAL     'listener' is NULL
 * Owns: returns (owned) '*ret_stream', to be closed by eddy_stream_close().
 */
EDDY_API EDDY_MUST_USE int eddy_listener_accept(eddy_listener *listener, eddy_stream **ret_stream);

/* Returns where the listener listens, with the port that port 0 selected.  Suspends: no. */
EDDY_API struct eddy_endpoint eddy_listener_endpoint(const eddy_listener *listener);

/* Returns the port of a TCP listener; 0 for others and for NULL.  Suspends: no. */
EDDY_API uint16_t eddy_listener_port(const eddy_listener *listener);

/*
 * Stop listening and free the listener; connections stay open.  Connections that
 * were not accepted are reset.  The socket file of a Unix listener is removed if it
 * is still the file that the listener made; in a child process after fork() the file
 * remains, because it is the parent's.  A task in eddy_listener_accept() gets
 * -ECANCELED.  NULL is ignored.
 *
 * Suspends: no.
 */
EDDY_API void eddy_listener_close(eddy_listener *listener);

static inline void eddy_listener_auto_release(eddy_listener **listener)
{
        eddy_listener_close(*listener);
}

EDDY_END_DECLS

#endif
