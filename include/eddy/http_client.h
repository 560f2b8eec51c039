/*
 * eddy/http_client.h - a client of HTTP/1.1 and HTTP/2 with a pool of connections.
 *
 *     EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
 *     const void *body;
 *     size_t body_bytes;
 *     int err;
 *
 *     err = eddy_http_client_send(client, &(struct eddy_http_request){ .url = url }, &response);
 *     if (err < 0)
 *             return err;
 *     err = eddy_http_response_body(response, &body, &body_bytes);
 *
 * Limit the time of a request in one of two ways: put the calls that send it and read
 * its response in a scope with a deadline, and the scope's end returns -ETIMEDOUT if
 * the deadline passes; or set 'timeouts', each of which has its own error.
 *
 * An exchange is a request and its response.  An HTTP/1 connection carries one exchange at
 * a time.  It returns to the pool only if the exchange is known to be complete; an
 * exchange that ends earlier closes it.  Each idle connection is checked before it is
 * reused: if the server has closed it or sent anything on it, the client uses another
 * one.  If the server says how long it keeps an idle connection ("Keep-Alive: timeout=5"),
 * the client does not use the connection in the last second of that time.
 *
 * https servers are offered HTTP/2 (ALPN), on which up to 100 exchanges share a connection,
 * unless the client has EDDY_HTTP_CLIENT_HTTP1_ONLY.  The calls are the same; names of headers
 * are then in lower case.  A request with "Connection: Upgrade" is sent by HTTP/1.  If a
 * response is closed early, only its own exchange ends.  If the server reports that it has not
 * processed a request, the request is sent once more, whatever its method.  A connection whose
 * exchanges are ended early too often (500 at once, and about 16 each second) gets no more
 * requests, because servers end a connection with many resets.  If no byte arrives for 30 s while
 * a request waits, the client sends a PING; if no answer arrives within 15 s, the requests fail
 * with EDDY_E_NET_TIMED_OUT.
 *
 * A request that a server of HTTP/2 refuses with HTTP_1_1_REQUIRED is sent once more, by HTTP/1,
 * whatever its method.
 *
 * Lines of HTTP/1 end in CR LF.  A line that ends in LF alone, and white space between
 * a chunk's size and the end of its line, are EDDY_E_HTTP_INVALID_RESPONSE.
 */
#ifndef EDDY_HTTP_CLIENT_H
#define EDDY_HTTP_CLIENT_H

#include <stdbool.h>

#include "eddy/def.h"
#include "eddy/http_client_opts.h"
#include "eddy/http_request.h"
#include "eddy/http_response.h"

EDDY_BEGIN_DECLS

typedef struct eddy_http_client eddy_http_client;

/*
 * Make a client for the loop of the calling task.
 *
 * Suspends: no.
 * Errors: -ENOMEM
 *         EDDY_E_URL_*, EDDY_E_DNS_BAD_NAME  'base_url' or a proxy is not valid
 *         EDDY_E_HTTP_INVALID_REQUEST  a default header is not valid
 *         EDDY_E_ENDPOINT_PATH, -ENAMETOOLONG  'unix_path' is not valid
 *         -EINVAL  the user agent contains a control character, a limit is above
 *                  its maximum (head_bytes_max 2^31 - 1, headers_max 65,535),
 *                  a time is negative, 'tls' has a list 'alpn', a flag is unknown,
 *                  'base_url' has a query or a fragment, or a text of 'resolve' is not
 *                  valid
 * Owns: returns (owned) '*ret_client', to be closed by eddy_http_client_close().
 */
EDDY_API EDDY_MUST_USE int eddy_http_client_new(const struct eddy_http_client_opts *opts,
                                                eddy_http_client **ret_client);

/*
 * Close all connections of the client and free it.  Calls in progress fail with
 * EDDY_E_HTTP_CLIENT_CLOSED; responses that were not freed must still be freed.
 * Works in a cancelled task.  NULL is ignored.
 *
 * Suspends: no.  If calls of the option 'handler' are in progress, they are cancelled, and the
 *           close waits until they have returned.  A close within such a call does not wait.
 */
EDDY_API void eddy_http_client_close(eddy_http_client *client);

/*
 * Send a request and wait for the head of its response.  Host, User-Agent and
 * Accept are added unless the caller sets them.  The client also adds Content-Length
 * (with a body, or for POST, PUT and PATCH), with HTTP/1 Transfer-Encoding (if the body's
 * length is unknown), and Authorization (if the URL has a user name).  Transfer-Encoding from
 * the caller is refused.  A Proxy-Authorization from the caller replaces the proxy's
 * credentials.  It is refused if there is no proxy or a tunnel is used, because the
 * server would receive it.  A Host from the caller that differs from the URL's is
 * refused if a proxy reads the request (RFC 9112, 3.2).  If the server closes a reused
 * connection before the first byte of a response, the client sends the request once
 * more on a new connection.  This requires that the request is idempotent (see
 * eddy_http_request_is_idempotent()), and that 'body_source' is not set, was not read
 * yet, or can be rewound.
 * Redirects are followed with the option 'redirects_max'.  Interim responses (1xx) are
 * skipped, up to 64 KiB of them; they are not the response, but their bytes restart
 * 'read_ns'.  A 101 is an error, unless the request has "Upgrade" and "Connection: Upgrade"
 * and no body (eddy/http_upgrade.h).
 *
 * A server may answer before it has read the whole request (RFC 9112, 9.3).
 * The call then returns the response at once:
 *   - A status of 400 or more stops the sending.  The body of the response can
 *     be read, and the exchange ends after it.
 *   - With any other status, the rest of the request is sent while the body of
 *     the response is read.  The call that reads the end of the response (this call,
 *     if the response is complete already) then waits until the server has taken the
 *     rest of the request; if the server accepts no byte for a second, the client
 *     ends the exchange.  That second does not include the time in which
 *     'body_source' is read; to limit that time, use 'total_ns' or a scope.  Closing
 *     the response early also ends the exchange.
 * 'request_sent' of eddy_http_response_info() shows whether the whole request was sent.
 * Response bytes that are not read stop the server from sending more; with HTTP/1 they
 * stay in the kernel's buffer.
 *
 * Suspends: yes.
 * Errors: EDDY_E_URL_INVALID, _SCHEME
 *         EDDY_E_URL_CREDENTIALS        the URL's user name contains a colon (%3A), the user name
 *                                       or password contains a control character (RFC 7617, 2), or
 *                                       they are together longer than 4,096 bytes; nothing was sent
 *         EDDY_E_HTTP_INVALID_REQUEST   a header, method or URL that HTTP forbids, or a list, a
 *                                       value or a body that is NULL; nothing was sent
 *         EDDY_E_DNS_*, -ECONNREFUSED, -ECONNRESET, -EPIPE, EDDY_E_NET_TIMED_OUT, ...
 *         EDDY_E_TLS_*                  see eddy_tls_client(); also EDDY_E_TLS_BAD_FILE if the
 *                                       system's trusted certificates cannot be read
 *         EDDY_E_HTTP_ALPN              the server offers none of the client's protocols (ALPN)
 *         EDDY_E_HTTP_INVALID_RESPONSE, _TOO_LARGE, _CLOSED
 *         EDDY_E_HTTP_BODY_LENGTH       the source ended before 'bytes' bytes
 *         EDDY_E_HTTP_PROXY_AUTH        the proxy does not accept the credentials, or wants some
 *         EDDY_E_HTTP_PROXY_REFUSED     the proxy cannot connect, or does not allow it
 *         EDDY_E_HTTP_PROXY_INVALID     the proxy does not follow its protocol
 *         EDDY_E_HTTP_TIMEOUT_*         a limit of 'timeouts' passed
 *         -ELOOP                        more redirects than redirects_max
 *         EDDY_E_HTTP_STATUS            the status is 400 or above, with
 *                                       EDDY_HTTP_STATUS_IS_ERROR; or a redirect that is not
 *                                       followed
 *         EDDY_E_BREAKER_OPEN, EDDY_E_LIMITER_CLOSED  with 'breaker', 'limiter'
 *         EDDY_E_FIELD_*, EDDY_E_JSON_*, -EMSGSIZE  'query', 'form' or 'json' cannot be written;
 *                                       'ret_fault' names the field
 *         EDDY_E_HTTP_CLIENT_CLOSED     the client was closed, or the run ends
 *         -EINVAL                       the client, the request, 'ret_response' or 'parts' of
 *                                       'multipart' is NULL, the request's 'tls' has a list 'alpn',
 *                                       or a flag is unknown
 *         -ECANCELED, -ENOMEM
 * Owns: borrows the request for the call (any unsent rest of 'body' is copied), and,
 *       until the response is freed, what 'body_source' refers to; returns (owned)
 *       '*ret_response', to be freed by eddy_http_response_close().
 */
EDDY_API EDDY_MUST_USE int eddy_http_client_send(eddy_http_client *client,
                                                 const struct eddy_http_request *request,
                                                 eddy_http_response **ret_response);

/*
 * Send a request, read the response's body as JSON into the struct at 'out' (eddy/fields.h), and
 * close the response.  A status of 400 or above is an error, as with EDDY_HTTP_STATUS_IS_ERROR.  With
 * 'fields' NULL the body is read and dropped.  On failure 'out' is not changed, and 'ret_fault', or
 * the request's 'ret_fault' if it is NULL, has the reason.  The reason begins with "response: " if the
 * body cannot be used, and for JSON it has the place in the body.
 *
 *     struct user user = { 0 };
 *
 *     err = eddy_http_client_json(client, &(struct eddy_http_request){ .url = "users/7" },
 *                                 &user_fields, &user, &fault);
 *
 * Suspends: yes.
 * Errors: as eddy_http_client_send() and eddy_http_response_json()
 *         EDDY_E_HTTP_STATUS
 * Owns: returns strings and lists (owned), until eddy_fields_fini().
 */
EDDY_API EDDY_MUST_USE int eddy_http_client_json(eddy_http_client *client,
                                                 const struct eddy_http_request *request,
                                                 const struct eddy_fields *fields, void *out,
                                                 struct eddy_http_fault *ret_fault);

/* Pool counters; zeros for a NULL client.  Suspends: no. */
struct eddy_http_client_stats {
        /* sent, including repeats; HTTP/2: also those that move to another connection unsent */
        uint64_t requests;
        uint64_t connections; /* opened since the client was made */
        uint64_t open;        /* connections now: idle, in use, or being opened for a request */
        uint64_t idle;        /* connections idle now */
        uint64_t spare;       /* connections being opened that no request waits for */
        uint64_t waiting;     /* tasks waiting for a connection now */
        uint64_t http2_connections; /* those of 'connections' that use HTTP/2 */
        uint64_t streams;           /* requests by HTTP/2 whose responses are not closed */
};
EDDY_API void eddy_http_client_stats(const eddy_http_client *client,
                                     struct eddy_http_client_stats *ret_stats);

static inline void eddy_http_client_auto_release(eddy_http_client **client)
{
        eddy_http_client_close(*client);
}

EDDY_END_DECLS

#endif
