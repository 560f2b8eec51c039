/*
 * http/http1_gone.h - whether the client of a request is gone while the handler runs.
 *
 * The client is gone if its connection was reset or has ended in both directions. With
 * EDDY_HTTP_SERVER_CANCEL_AT_END the end of the client's sending after its request counts too. Bytes
 * after the request are read ahead, as the start of the next request: they are not an end.
 */
#ifndef ED_HTTP_HTTP1_GONE_H
#define ED_HTTP_HTTP1_GONE_H

#include "http/http1_server.h"

/*
 * Cancel the exchange's 'scope' as soon as the client is gone. 'flags' are those of the server's
 * options.
 *
 * Suspends: no.
 */
void ed_http1_gone_watch(struct ed_http1_exchange *exchange, uint32_t flags);

/* The handler has read some of the body: if that was the rest, the end of the sending is watched. */
void ed_http1_gone_body_read(struct ed_http1_exchange *exchange);

/* The client cannot be reached: the same, if the client is watched. */
void ed_http1_gone(struct ed_http1_exchange *exchange);

/* End the watch. Can be repeated. */
void ed_http1_gone_unwatch(struct ed_http1_exchange *exchange);

#endif
