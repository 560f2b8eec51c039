/*
 * http/repeat.h - a small piece of an answer that the server sends again and again by itself while the
 * handler waits, such as a comment between events.
 *
 * A timer of the loop calls the protocol, so no task is needed.
 */
#ifndef ED_HTTP_REPEAT_H
#define ED_HTTP_REPEAT_H

#include "http/exchange.h"

/*
 * From now until the handler returns, also write 'piece', a static text, each 'every_ns', as the
 * operation 'keep' does.
 */
void ed_http_repeat(eddy_http_exchange *exchange, const char *piece, int64_t every_ns);

/* The handler has returned. Harmless if nothing is repeated. */
void ed_http_repeat_stop(eddy_http_exchange *exchange);

#endif
