/*
 * http/http1_connection.h - a server's connection that speaks HTTP/1: one request after another.
 */
#ifndef ED_HTTP_HTTP1_CONNECTION_H
#define ED_HTTP_HTTP1_CONNECTION_H

#include "http/server.h"

ed_http_connection_fn ed_http1_connection_serve;

#endif
