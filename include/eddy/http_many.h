/*
 * eddy/http_many.h - many requests of an HTTP client in one call: a limit on the number in
 * progress, and a result for each, in the order of the requests.
 *
 *     struct eddy_http_request requests[N] = { { .url = "https://a.test/1" }, ... };
 *     struct eddy_http_result results[N] = { 0 };
 *
 *     err = eddy_http_fetch_many(client, requests, N, 8, results);
 *     if (err < 0 && err != -ECANCELED)
 *             err = eddy_http_fetch_many(client, requests, N, 8, results); (only the failed)
 *     for (size_t i = 0; i < N; i++)
 *             if (results[i].error == 0)
 *                     use(results[i].status, results[i].body, results[i].body_bytes);
 *     eddy_http_results_fini(results, N);
 */
#ifndef EDDY_HTTP_MANY_H
#define EDDY_HTTP_MANY_H

#include "eddy/def.h"
#include "eddy/http_client.h"

EDDY_BEGIN_DECLS

/* The result of a request.  All zero: the request has not been sent. */
struct eddy_http_result {
        int error;         /* 0: the response is whole; else why there is none */
        int status;        /* of the response; 0: none; after EDDY_E_HTTP_STATUS that status */
        char *body;        /* owned, with a NUL after it; NULL: no response */
        size_t body_bytes; /* after EDDY_E_HTTP_STATUS at most EDDY_HTTP_FAULT_BODY_BYTES */
        uintptr_t reserved[2];
};

/*
 * Send 'n' requests, at most 'at_once' at a time, in their order, and read the responses as
 * eddy_http_response_body() does.  0 as 'at_once' means the client's connections_max,
 * which may be one connection with HTTP/2.  A request that fails cancels no other request.
 *
 * Before the first call, set the results to zero.  A result with a response (a status, and error 0)
 * is kept, and its request is not sent.  A second call with the same requests and results therefore
 * sends only those that have failed or were not sent.  A status of 400 or above is a failure only
 * with the flag EDDY_HTTP_STATUS_IS_ERROR of the client or the request.  Each request may have a
 * 'ret_fault' of its own for the reason of its failure.  To send a request again in
 * spite of its response, call eddy_http_results_fini() for its result.  If the call is cancelled,
 * complete results remain, and the error of all others is -ECANCELED.
 *
 * The call uses one task for each request in progress, and one copy of each body.  The results hold
 * at most 'n' times the limit body_bytes_max (64 MiB unless the options or the request set it), and
 * the responses in progress at most 'at_once' times as much.
 *
 * Suspends: yes.
 * Errors: the first failure in the order of the requests, after all requests have been tried: an
 *         error of eddy_http_client_send() or of eddy_http_response_body(); or
 *         -EINVAL     the client is NULL, or an array is NULL and 'n' is above 0
 *         -ENOMEM     also if there is no memory for the tasks; then no request was sent
 *         -ECANCELED
 * Owns: borrows the arrays for the call, during which no other call may use 'results'; returns
 *       (owned) the bodies of 'results', to be freed by eddy_http_results_fini().
 */
EDDY_API EDDY_MUST_USE int eddy_http_fetch_many(eddy_http_client *client,
                                                const struct eddy_http_request *requests, size_t n,
                                                uint32_t at_once, struct eddy_http_result *results);

/* Free the bodies of 'n' results, and set the results to zero.  NULL is ignored.  Suspends: no. */
EDDY_API void eddy_http_results_fini(struct eddy_http_result *results, size_t n);

EDDY_END_DECLS

#endif
