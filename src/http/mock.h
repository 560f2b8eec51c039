/*
 * http/mock.h - the mock transport: a server's handler answers the requests of a client, without
 * sockets.
 *
 * A connection is a pair of streams in memory. The client has one end, and a task in the background
 * serves the other with the handler. The task ends when the client closes its end or the whole
 * client.
 */
#ifndef ED_HTTP_MOCK_H
#define ED_HTTP_MOCK_H

#include "eddy/http_server.h"
#include "http/conn.h"

struct ed_http_mock;

/* Errors: -ENOMEM. Owns: returns (owned) '*ret_mock', for ed_http_mock_close(). */
EDDY_MUST_USE int ed_http_mock_new(eddy_http_handler_fn *handler, void *arg,
                                   struct ed_http_mock **ret_mock);

/*
 * The pool's 'connect' of a client with a handler. Does not wait, and uses neither DNS nor a socket nor
 * TLS.
 *
 * Suspends: no.
 * Errors: -ENOMEM, -ECANCELED; EDDY_E_HTTP_CLIENT_CLOSED  the run ends
 */
int ed_http_mock_connect(struct ed_http_conn *conn, struct eddy_http_fault *fault,
                         eddy_stream **ret_stream);

/*
 * Cancel the handler's calls, wait until they have returned, also in a cancelled task, and release
 * the mock transport. The pool is closed already. A handler that calls this does not wait. NULL is
 * ignored.
 *
 * Suspends: if a call of the handler is in progress.
 */
void ed_http_mock_close(struct ed_http_mock *mock);

#endif
