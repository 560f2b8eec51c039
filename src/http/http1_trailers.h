/*
 * http/http1_trailers.h - trailers of HTTP/1: those of a request's body, and those that a handler adds
 * to its answer.
 *
 * Added trailers are in the exchange's buffer 'added', whose headers are in the head already when an
 * answer has begun: as they are sent, after the size of the last chunk.
 */
#ifndef ED_HTTP_HTTP1_TRAILERS_H
#define ED_HTTP_HTTP1_TRAILERS_H

#include "http/http1_server.h"

/* The operations of struct ed_http_exchange_ops with these names. */
int ed_http1_trailer_at(const eddy_http_exchange *base, size_t i,
                        struct eddy_http_header *ret_trailer);
EDDY_MUST_USE int ed_http1_add_trailer(eddy_http_exchange *base, const char *name,
                                       const char *value);

/* Returns true if an answer may have the trailer. 'name' and 'value' may be NULL. */
bool ed_http_trailer_is_allowed(const char *name, const char *value);

/* Returns the last chunk of an answer and its trailers, which it has, without the empty line after them. */
struct eddy_slice ed_http1_trailers_slice(const struct ed_http1_exchange *exchange);

#endif
