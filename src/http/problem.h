/*
 * http/problem.h - errors as answers: documents of application/problem+json (RFC 9457).
 */
#ifndef ED_HTTP_PROBLEM_H
#define ED_HTTP_PROBLEM_H

#include "http/exchange.h"
#include "http/server.h"

/* Bytes of a detail with its NUL; a longer one is cut. */
enum { ED_HTTP_DETAIL_BYTES = 256 };

/*
 * Respond with a problem. Its title is the reason of the status. 'detail' may be NULL. Allocates
 * nothing.
 *
 * Suspends: yes.
 * Errors: those of eddy_http_exchange_respond()
 */
EDDY_MUST_USE int ed_http_problem_respond(eddy_http_exchange *exchange, int status,
                                          const char *detail);

/*
 * The handler has returned 'result', an error: answer that if no response was begun, and log it. The
 * caller checks whether there is an answer now.
 *
 * Suspends: yes.
 */
void ed_http_server_failed(const struct ed_http_server *server, eddy_http_exchange *exchange,
                           int result);

#endif
