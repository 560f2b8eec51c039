/*
 * http/route_doc.h - the inputs that the description of a route names: they are read before the handler
 * runs, and freed when the request ends.
 */
#ifndef ED_HTTP_ROUTE_DOC_H
#define ED_HTTP_ROUTE_DOC_H

#include "eddy/http_router.h"
#include "eddy/json.h"

/* The status of an answer; the first is that of 'answer', and 'answers' follow. */
static inline int ed_http_route_status(const struct eddy_http_route_doc *doc, size_t i)
{
        if (i > 0)
                return doc->answers[i - 1].status;
        return doc->status ? doc->status : 200;
}

/*
 * Check the tables and the statuses of a description.
 *
 * Errors: EDDY_E_HTTP_ROUTE  a table is not usable here, there are two bodies, or a status is not
 *                            valid or given twice, or an answer to an error is not one
 *         -ENOMEM
 */
EDDY_MUST_USE int ed_http_route_doc_check(const struct eddy_http_route_doc *doc,
                                          struct eddy_json_error *ret_error);

/*
 * Read all inputs of a request, also after a wrong one, so that the answer has all wrong fields.
 * Returns the first error.
 *
 * Suspends: yes, to read a body.
 */
EDDY_MUST_USE int ed_http_route_doc_read(const struct eddy_http_route_doc *doc,
                                         eddy_http_exchange *exchange);

/*
 * Answer the error (below 0) of a handler if the description has an answer to that error.  Returns
 * the result of the answer, or 'error' if there is none.
 *
 * Suspends: yes.
 */
EDDY_MUST_USE int ed_http_route_doc_answer(const struct eddy_http_route_doc *doc,
                                           eddy_http_exchange *exchange, int error);

#endif
