/*
 * eddy/http_relay.h - a reverse proxy: passes the request of an exchange on to another server, and
 * that server's response back.  Bodies pass in pieces, in both directions at once.
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
 * Bodies of requests have the limit of the proxy's own server: set its option 'body_bytes_max' to
 * UINT64_MAX to allow any size.
 *
 * These headers are not passed on in either direction (RFC 9110, 7.6.1): Connection and the headers
 * that it names, Keep-Alive, Proxy-Authenticate, Proxy-Authorization, Proxy-Connection, TE,
 * Transfer-Encoding, and Upgrade.  An upgrade request therefore becomes a plain request.  "Expect:
 * 100-continue" is not passed on: the proxy sends the 100 when the connection to the other server
 * is open and the body can be sent.  Interim responses of the other server are not passed on.
 *
 * If the client leaves before the other server has answered, the request to the other server is
 * cancelled if the proxy's own server has the flag EDDY_HTTP_SERVER_CANCEL_AT_END.  Without the
 * flag the handler waits for the answer, or until a time limit of the eddy_http_client passes.
 */
#ifndef EDDY_HTTP_RELAY_H
#define EDDY_HTTP_RELAY_H

#include "eddy/def.h"
#include "eddy/http_exchange.h"
#include "eddy/http_request.h"
#include "eddy/http_response.h"

EDDY_BEGIN_DECLS

/*
 * Fill a request to another server with the exchange's method, path, query, headers and body.
 * 'server' is a URL, such as "http://10.0.0.7:8080" or "https://b.example/base".  The path of the
 * request is appended to the URL as the client sent it.
 *
 * These headers are replaced, so the other server may trust them if only the proxy can reach it:
 *
 *     Host                the host of 'server'; for another host, append a header Host to a copy
 *                         of 'headers'
 *     X-Forwarded-For     the client's address (eddy_http_exchange_client_text()), or "unknown"
 *     X-Forwarded-Proto   eddy_http_exchange_scheme()
 *     X-Forwarded-Host    eddy_http_exchange_client_host(), if there is one
 *     Forwarded           these three (RFC 7239)
 *     X-Forwarded-...     all others are removed, also with '_' for '-' (X_Forwarded_For), because
 *                         CGI and WSGI programs take both spellings for the same header
 *     Via                 "1.1 eddy" is added after the values of the request (RFC 9110, 7.6.3)
 *     Proxy               is removed: a CGI program would take it for its variable HTTP_PROXY
 *
 * User-Agent, Accept and Accept-Encoding are sent only if the request has them.  Trailers of the
 * request are not passed on.  Any status is a success, redirects are not followed, and the response
 * may have any size.  Cookies and credentials of the eddy_http_client's options are not used.
 * The option 'headers' of the client adds headers, except those that the exchange's request has.
 * To replace a header of that request, change a copy of the list 'headers', which has
 * 'headers_count' headers.
 *
 * Call this function again before an attempt with another server.  A request with a 'body_source'
 * cannot be sent again after an attempt has read a part of the body.
 *
 * Suspends: no.
 * Errors: -ENOTSUP  CONNECT, or "OPTIONS *"
 *         EDDY_E_URL_INVALID  'server' has a path, which the exchange's path could leave: it has
 *                             a segment "." or "..", plain or escaped, or a %00
 *         -EINVAL   an argument is NULL
 *         -ENOMEM
 * Owns: '*ret_request' borrows from the exchange.  It is valid until the handler returns, or until
 *       the next call of this function for the same exchange.
 */
EDDY_API EDDY_MUST_USE int eddy_http_relay_request(eddy_http_exchange *exchange, const char *server,
                                                   struct eddy_http_request *ret_request);

/*
 * Answer with the status, headers, body and trailers of a response.  If the body of the response
 * breaks off, the exchange is aborted (eddy_http_exchange_abort()), so that the client sees that
 * the answer is incomplete.  A body that the eddy_http_client's option 'decode' has decoded is sent
 * without Content-Encoding, Accept-Ranges and digests, and with a weak ETag instead of a strong
 * one.  A body that the option cannot decode, because a coding is unknown or the body is a part
 * (206), is passed on unchanged.
 *
 * Suspends: yes.
 * Errors: those of eddy_http_response_read(), eddy_http_exchange_begin() and
 *         eddy_http_exchange_write()
 *         -EINVAL  an argument is NULL
 *         -ENOMEM  no response was begun
 * Owns: borrows the response; the caller closes it.
 */
EDDY_API EDDY_MUST_USE int eddy_http_relay_response(eddy_http_exchange *exchange,
                                                    eddy_http_response *response);

/*
 * Answer after an error of eddy_http_relay_request() or eddy_http_client_send():
 *
 *     400  EDDY_E_URL_INVALID: the path cannot be in a URL, or would leave the path of 'server'
 *     501  -ENOTSUP
 *     504  a time limit has passed
 *     502  any other error
 *
 * Sends nothing and returns 'error', which the handler should return, if the other server is not
 * the cause: the exchange was cancelled, the request's body could not be read (the proxy's own
 * server then answers 400, 408 or 413), memory is short, or a response was begun.
 *
 * Suspends: yes.
 * Errors: 'error', and those of eddy_http_exchange_respond()
 */
EDDY_API EDDY_MUST_USE int eddy_http_relay_fail(eddy_http_exchange *exchange, int error);

EDDY_END_DECLS

#endif
