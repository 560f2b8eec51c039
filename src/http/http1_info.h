/*
 * http/http1_info.h - what is known of an exchange of HTTP/1 and of its connection.
 */
#ifndef ED_HTTP_HTTP1_INFO_H
#define ED_HTTP_HTTP1_INFO_H

#include "http/http1_server.h"

/* The addresses of both ends of a connection. */
struct ed_http_ends {
        struct eddy_endpoint peer, local;
};

/*
 * Returns both ends of a connection's stream. They are stored in '*ends', which the caller frees,
 * because asking the kernel costs system calls. Without memory or without a stream, both ends are
 * unknown.
 */
const struct ed_http_ends *ed_http_ends(struct ed_http_ends **ends, const eddy_stream *stream);

/* Store the version, cipher and names of TLS, if the stream uses TLS. */
void ed_http_describe_tls(const eddy_stream *stream, struct eddy_http_exchange_info *info);

/* As eddy_http_exchange_info(). */
void ed_http1_info(eddy_http_exchange *exchange, struct eddy_http_exchange_info *ret_info);

#endif
