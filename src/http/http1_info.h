/*
 * http/http1_info.h - what is known of an exchange of HTTP/1 and of its connection.
 */
#ifndef ED_HTTP_HTTP1_INFO_H
#define ED_HTTP_HTTP1_INFO_H

#include "http/http1_server.h"

/* Both ends of a connection, stored at the first question. */
struct ed_http_ends {
        struct eddy_endpoint peer, local;
};

/*
 * Returns both ends of a connection's stream. A question costs a system call, so the answers are kept in
 * '*ends', which the caller frees. Without memory, and without a stream, both are unknown.
 */
const struct ed_http_ends *ed_http_ends(struct ed_http_ends **ends, const eddy_stream *stream);

/* Store what is known of TLS on a connection's stream, which may be another kind. */
void ed_http_describe_tls(const eddy_stream *stream, struct eddy_http_exchange_info *info);

/* As eddy_http_exchange_info(). */
void ed_http1_info(eddy_http_exchange *exchange, struct eddy_http_exchange_info *ret_info);

#endif
