/*
 * http/http1_hints.h - the interim response 103 (Early Hints, RFC 8297) of HTTP/1.
 */
#ifndef ED_HTTP_HTTP1_HINTS_H
#define ED_HTTP_HTTP1_HINTS_H

#include "http/http1_server.h"

/* The operation of struct ed_http_exchange_ops with this name. */
EDDY_MUST_USE int ed_http1_early_hints(eddy_http_exchange *base,
                                       const struct eddy_http_header *headers,
                                       size_t headers_count);

#endif
