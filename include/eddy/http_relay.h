/*
 * eddy/http_relay.h - what a reverse proxy passes on: the request of an exchange to another server, and
 * that server's response back.  Bodies pass in pieces, in both directions at once, and of any size.
 *
 *     static int pass_on(eddy_http_exchange *exchange, void *client)
 *     {
 *             EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
 *             struct eddy_http_request request;
 *             int err = eddy_http_relay_request(exchange, "http://10.0.0.7:8080", &request);
 *
 *             if (err == 0)
 *                     err = eddy_http_client_send(client, &request, &response);
 *             if (err < 0)
 *                     return eddy_http_relay_fail(exchange, err);
 *             return eddy_http_relay_response(exchange, response);
 *     }
 *
 * Bodies have the limits of the server: set its option 'body_bytes_max' to UINT64_MAX for any size.
 *
 * Not passed on, in both directions (RFC 9110, 7.6.1): Connection and the headers that it names,
 * Keep-Alive, Proxy-Authenticate, Proxy-Authorization, Proxy-Connection, TE, Transfer-Encoding, and
 * Upgrade.  A request to upgrade therefore becomes a plain request.  "Expect: 100-continue" is not
 * passed on: the client gets the 100 when the other server's connection is open and takes the body.
 * Interim responses of the other server are not passed on.
 *
 * A client that leaves before the other server has answered ends the request to that server if the
 * proxy's server has the flag EDDY_HTTP_SERVER_CANCEL_AT_END; otherwise the handler waits until the
 * answer, or a time limit of the eddy_http_client.
 */
#ifndef EDDY_HTTP_RELAY_H
#define EDDY_HTTP_RELAY_H

#include "eddy/def.h"
#include "eddy/http_exchange.h"
#include "eddy/http_request.h"
#include "eddy/http_response.h"

EDDY_BEGIN_DECLS

/*
 * Fill a request to another server with the exchange's method, path, query, headers and body.  'server'
 * is a URL, such as "http://10.0.0.7:8080" or "https://b.example/base", before the path as it was sent.
 *
 * These headers are replaced, so the other server may trust them if only the proxy can reach it:
 *
 *     Host                the host of 'server'; to pass on another one, append a header to a copy of
 *                         'headers'
 *     X-Forwarded-For     the client's address (eddy_http_exchange_client_text()), or "unknown"
 *     X-Forwarded-Proto   eddy_http_exchange_scheme()
 *     X-Forwarded-Host    eddy_http_exchange_client_host(), if there is one
 *     Forwarded           these three (RFC 7239)
 *     X-Forwarded-...     others are removed, also with '_' for '-' (X_Forwarded_For), because CGI
 *                         and WSGI programs take these for the same headers
 *     Via                 "1.1 eddy" is added to the client's (RFC 9110, 7.6.3)
 *
 * The client's User-Agent, Accept and Accept-Encoding are sent, or none.  Trailers of the request are
 * not passed on.  Any status is a success, no redirect is followed, and the response may have any size;
 * neither cookies nor credentials of the client's options are used.
 *
 * Before another attempt with another server call this again.  A request with 'body_source' cannot be
 * sent again after an attempt has read a part of it.
 *
 * Suspends: no.
 * Errors: -ENOTSUP  CONNECT, or "OPTIONS *"
 *         EDDY_E_URL_INVALID  'server' has a path, and the exchange's path would leave it: it has a part
 *                             "." or "..", also an escaped one, or %00
 *         -EINVAL   an argument is NULL
 *         -ENOMEM
 * Owns: '*ret_request' borrows from the exchange, and is valid during the handler's call, until the next
 *       call for this exchange.
 */
EDDY_API EDDY_MUST_USE int eddy_http_relay_request(eddy_http_exchange *exchange, const char *server,
                                                   struct eddy_http_request *ret_request);

/*
 * Answer with a response: its status, headers, body and trailers.  If its body breaks off, the exchange
 * is aborted (eddy_http_exchange_abort()), so that the client sees that the answer is not whole.  A body
 * that the client's option 'decode' has decoded is sent without Content-Encoding; one that it cannot
 * decode, because a coding is unknown or the body is a part (206), is sent as it came.
 *
 * Suspends: yes.
 * Errors: those of eddy_http_response_read(), eddy_http_exchange_begin() and eddy_http_exchange_write()
 *         -EINVAL  an argument is NULL
 *         -ENOMEM  no response was begun
 * Owns: borrows the response, which the caller closes.
 */
EDDY_API EDDY_MUST_USE int eddy_http_relay_response(eddy_http_exchange *exchange,
                                                    eddy_http_response *response);

/*
 * Answer after an error of eddy_http_relay_request() or eddy_http_client_send():
 *
 *     400  EDDY_E_URL_INVALID: the path of the request cannot be in a URL
 *     501  -ENOTSUP
 *     504  a time limit has passed
 *     502  any other error
 *
 * Nothing is sent, and the result is 'error', which the handler returns, if the other server is not the
 * reason: the exchange was cancelled, the request's body could not be read (the server answers 400, 408
 * or 413), memory is short, or a response was begun.
 *
 * Suspends: yes.
 * Errors: 'error', and those of eddy_http_exchange_respond()
 */
EDDY_API EDDY_MUST_USE int eddy_http_relay_fail(eddy_http_exchange *exchange, int error);

EDDY_END_DECLS

#endif
