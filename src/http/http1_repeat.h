/*
 * http/http1_repeat.h - a small piece of an answer that the server sends again and again by itself
 * while the handler waits, such as a comment between events.
 *
 * A timer of the loop keeps the piece (http1_out.h), so no task is needed. If bytes are on their way
 * already, or the handler writes, the piece is left out: the client is not idle then. If bytes of
 * the answer cannot be sent while the handler waits, the handler is cancelled (http1_gone.h).
 */
#ifndef ED_HTTP_HTTP1_REPEAT_H
#define ED_HTTP_HTTP1_REPEAT_H

#include "http/http1_server.h"

/* The operation of struct ed_http_exchange_ops with this name. */
void ed_http1_repeat(eddy_http_exchange *base, const char *piece, int64_t every_ns);

/* The handler has returned. Harmless if nothing is repeated. */
void ed_http1_repeat_stop(struct ed_http1_exchange *exchange);

#endif
