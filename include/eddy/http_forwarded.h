/*
 * eddy/http_forwarded.h - the client's address, scheme and host of an HTTP request that has passed
 * proxies.
 */
#ifndef EDDY_HTTP_FORWARDED_H
#define EDDY_HTTP_FORWARDED_H

#include "eddy/def.h"
#include "eddy/endpoint.h"
#include "eddy/http_exchange.h"
#include "eddy/http_router.h"

EDDY_BEGIN_DECLS

/* Bytes of the text of a client's address, with its NUL. */
enum { EDDY_HTTP_CLIENT_BYTES = EDDY_ENDPOINT_TEXT_BYTES };

/*
 * Returns the endpoint of the client: the connection's peer, or the endpoint that trusted proxies
 * report.  Its port is 0 if they do not report one.  EDDY_ENDPOINT_NONE: unknown.
 *
 * Suspends: no.
 * Owns: valid until the middleware eddy_http_use_trusted_proxies() has returned; without it, during
 *       the handler's call.
 */
EDDY_API const struct eddy_endpoint *eddy_http_exchange_client(eddy_http_exchange *exchange);

/*
 * Write the client's address without a port, such as "192.0.2.1", "2001:db8::1" or "unix:@name"; "" if
 * it is unknown.
 *
 * Suspends: no.
 */
EDDY_API void eddy_http_exchange_client_text(eddy_http_exchange *exchange,
                                             char ret_text[EDDY_HTTP_CLIENT_BYTES]);

EDDY_END_DECLS

#endif
