/*
 * http/http1_info.h - what is known of an exchange of HTTP/1 and of its connection.
 */
#ifndef ED_HTTP_HTTP1_INFO_H
#define ED_HTTP_HTTP1_INFO_H

#include "http/http1_server.h"

/* Both ends of a connection, stored at the first question. */
struct ed_http1_ends {
        struct eddy_endpoint peer, local;
};

/* As eddy_http_exchange_info(). */
void ed_http1_info(eddy_http_exchange *exchange, struct eddy_http_exchange_info *ret_info);

#endif
