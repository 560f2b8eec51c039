/*
 * http/h2_connection.h - serving a connection by HTTP/2.
 */
#ifndef ED_HTTP_H2_CONNECTION_H
#define ED_HTTP_H2_CONNECTION_H

#include "http/server.h"

/* Returns true if the bytes begin as a connection of HTTP/2 does (RFC 9113, 3.4): at least "PRI * HTTP/2". */
bool ed_h2_is_preface(const void *data, size_t bytes);

/*
 * As ed_http_connection_fn. 'data' are bytes that were read before.
 */
EDDY_MUST_USE int ed_h2_connection_serve(struct ed_http_server *server, eddy_stream *stream,
                                         const void *data, size_t bytes);

#endif
