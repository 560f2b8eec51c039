/*
 * http/problem.h - errors as answers: documents of application/problem+json (RFC 9457).
 */
#ifndef ED_HTTP_PROBLEM_H
#define ED_HTTP_PROBLEM_H

#include "eddy/http_answer.h"
#include "http/exchange.h"

/*
 * Respond with a problem. Its title is the reason of the status. 'detail' may be NULL. Allocates
 * nothing.
 *
 * Suspends: yes.
 * Errors: those of eddy_http_exchange_respond()
 */
EDDY_MUST_USE int ed_http_problem_respond(eddy_http_exchange *exchange, int status,
                                          const char *detail);

#endif
