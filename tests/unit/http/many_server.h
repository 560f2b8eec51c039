/*
 * many_server.h - a server of the protocol of many_protocol.h, and of HTTP/1.1 where ALPN chooses
 * that.
 */
#ifndef ED_MANY_SERVER_H
#define ED_MANY_SERVER_H

#include "many_protocol.h"

enum { MANY_ANSWERED = 1000 }; /* the number of an answer is that of its request, and this more */

struct many_server {
        eddy_tls_config *tls; /* NULL: plain, and only the made-up protocol */
        eddy_scope *scope;
        eddy_listener *listener;
        int64_t answer_ns; /* time until an answer; the longer the lower the request's number is */
        int refuses;       /* so many requests are refused */
        int accepted;
        int many; /* connections of the made-up protocol */
};

/* Listen on 127.0.0.1, and serve in tasks of 'scope' until it is cancelled. */
void many_server_start(struct many_server *server, eddy_scope *scope);
void many_server_stop(struct many_server *server);

#endif
