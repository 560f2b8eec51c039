/*
 * http/failure.h - the error of a handler: it is answered and logged.
 */
#ifndef ED_HTTP_FAILURE_H
#define ED_HTTP_FAILURE_H

#include "http/exchange.h"
#include "http/server.h"

/*
 * Finish an exchange whose handler has returned 'result': answer and log an error if no response
 * was begun, then make the calls of ed_http_exchange_after(). The caller checks whether there is an
 * answer.
 *
 * Suspends: yes.
 */
void ed_http_server_returned(const struct ed_http_server *server, eddy_http_exchange *exchange,
                             int result);

#endif
