/*
 * http/http1_added.h - headers that a handler has added for its answer before it begins.
 */
#ifndef ED_HTTP_HTTP1_ADDED_H
#define ED_HTTP_HTTP1_ADDED_H

#include "http/http1_server.h"

/* Bytes of all added names and values, each with a NUL: they leave room in a head for the rest. */
enum { ED_HTTP1_ADDED_BYTES_MAX = 16 << 10 };

/* The operation of struct ed_http_exchange_ops with this name. */
EDDY_MUST_USE int ed_http1_add_header(eddy_http_exchange *base, const char *name,
                                      const char *value);

/* Store the added header at '*at', which is 0 for the first, and move '*at' to the next. */
EDDY_MUST_USE bool ed_http1_added_next(const eddy_http_exchange *base, size_t *at,
                                       struct eddy_http_header *ret_header);

/* Returns true if the server does not write the header itself, and HTTP allows it. */
bool ed_http1_header_is_allowed(const struct eddy_http_header *header);

/*
 * Returns true if a header describes the content of an answer, or how long it may be cached. An
 * answer that the server makes in place of the handler does not get such headers of the handler.
 */
bool ed_http1_is_of_content(const struct eddy_http_header *header);

#endif
