/*
 * http/failure.h - the error of a handler: it is answered and logged.
 */
#ifndef ED_HTTP_FAILURE_H
#define ED_HTTP_FAILURE_H

#include "http/exchange.h"
#include "http/server.h"

/*
 * The handler has returned 'result', an error: answer that if no response was begun, and log it. The
 * caller checks whether there is an answer now.
 *
 * Suspends: yes.
 */
void ed_http_server_failed(const struct ed_http_server *server, eddy_http_exchange *exchange,
                           int result);

#endif
