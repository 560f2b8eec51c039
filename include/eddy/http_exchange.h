/*
 * eddy/http_exchange.h - one request to an HTTP server and its response, as a handler sees
 * them (eddy/http_server.h).
 */
#ifndef EDDY_HTTP_EXCHANGE_H
#define EDDY_HTTP_EXCHANGE_H

#include "eddy/def.h"
#include "eddy/http_header.h"
#include "eddy/stream.h"

EDDY_BEGIN_DECLS

/* A request and its response; valid during the handler's call. */
typedef struct eddy_http_exchange eddy_http_exchange;

/*
 * The request.  The functions return:
 *
 *     method     as sent
 *     target     the target of the request line, as sent
 *     path       the target's path, not decoded and without the query; "/" if it is
 *                empty
 *     query      the target's text after '?', or ""
 *     host       host and port as sent: of the target if that is absolute (RFC 9112,
 *                3.2.2), else of the Host field; "" if an HTTP/1.0 request has neither
 *     header     the value of the first header with this name (case-insensitive), or
 *                NULL
 *     header_at  0 after storing header number 'i' in the order received, or -ENOENT
 *                after the last
 *
 * Suspends: no.
 * Owns: strings are valid as long as the exchange, also while its body is read.
 */
EDDY_API const char *eddy_http_exchange_method(const eddy_http_exchange *exchange);
EDDY_API const char *eddy_http_exchange_target(const eddy_http_exchange *exchange);
EDDY_API const char *eddy_http_exchange_path(const eddy_http_exchange *exchange);
EDDY_API const char *eddy_http_exchange_query(const eddy_http_exchange *exchange);
EDDY_API const char *eddy_http_exchange_host(const eddy_http_exchange *exchange);
EDDY_API const char *eddy_http_exchange_header(const eddy_http_exchange *exchange,
                                               const char *name);
EDDY_API int eddy_http_exchange_header_at(const eddy_http_exchange *exchange, size_t i,
                                          struct eddy_http_header *ret_header);

/*
 * Read some of the request's body.  Returns the number of bytes; 0 at the end of
 * the body.  The first call sends "100 Continue" if the client waits for that.
 *
 * Suspends: yes.
 * Errors: EDDY_E_HTTP_TRUNCATED, _INVALID_REQUEST, _TOO_LARGE; -ECONNRESET, ...
 *         EDDY_E_NET_TIMED_OUT  the client sends too slowly, or the kernel's timeout expired
 *         -ECANCELED            no byte was lost: another call continues
 */
EDDY_API EDDY_MUST_USE int64_t eddy_http_exchange_read(eddy_http_exchange *exchange, void *buf,
                                                       size_t bytes);

/*
 * Read all of the request's body, followed by a NUL.
 *
 * Suspends: yes.
 * Errors: those of eddy_http_exchange_read(), -ENOMEM
 * Owns: '*ret_data' is valid during the handler's call.
 */
EDDY_API EDDY_MUST_USE int eddy_http_exchange_body(eddy_http_exchange *exchange,
                                                   const void **ret_data, size_t *ret_bytes);

/*
 * eddy_http_exchange_header() and eddy_http_exchange_header_at() for the request's trailers, the
 * fields after a body that the client has sent in chunks (RFC 9110, 6.5), such as a digest of the
 * body.  None is found before the body has been read to its end.  A request
 * with a trailer that is forbidden there, such as Content-Length or Host, gets a 400.
 *
 * Suspends: no.
 * Owns: strings are valid during the handler's call.
 */
EDDY_API const char *eddy_http_exchange_trailer(const eddy_http_exchange *exchange,
                                                const char *name);
EDDY_API int eddy_http_exchange_trailer_at(const eddy_http_exchange *exchange, size_t i,
                                           struct eddy_http_header *ret_trailer);

/*
 * Add a header to the response before it begins, for example in middleware.
 * eddy_http_exchange_respond(), _begin() and _upgrade() send it before the headers of their
 * argument, also if both have the same name: do not add a header that may be sent only once,
 * such as Content-Type, if the handler may send it too.  If the handler does not answer, the
 * server's own response (404, 500) also has the added headers, except "Content-...", ETag,
 * Expires, Last-Modified, and a Cache-Control without "no-store".  The added names and values have
 * at most 16 KiB in all.
 *
 * Suspends: no.
 * Errors: EDDY_E_HTTP_STATE           a response was begun already
 *         EDDY_E_HTTP_INVALID_ANSWER  as for eddy_http_exchange_respond(), or the added
 *                                     headers are too large
 *         -ENOMEM
 * Owns: copies 'name' and 'value'.
 */
EDDY_API EDDY_MUST_USE int eddy_http_exchange_add_header(eddy_http_exchange *exchange,
                                                         const char *name, const char *value);

/*
 * Send the interim response 103 (Early Hints, RFC 8297) before the response begins, so that a browser
 * loads what the page needs while the handler still works:
 *
 *     { "Link", "</style.css>; rel=preload; as=style" }
 *
 * Can be repeated.  The headers are hints only: the response repeats those that it needs.  Headers of
 * eddy_http_exchange_add_header() are not sent here.  Without headers, and to a client of HTTP/1.0,
 * nothing is sent, and the result is 0.  Some clients of HTTP/1.1 take an interim response for the
 * final one, and browsers use a 103 only with HTTP/2 and later: send it to clients that skip it, as
 * eddy's client does, or to a proxy that passes it on.
 *
 * Suspends: yes.
 * Errors: EDDY_E_HTTP_STATE           a response was begun already
 *         EDDY_E_HTTP_INVALID_ANSWER  as for eddy_http_exchange_respond(), the header is Connection,
 *                                     or the headers have more than 16 KiB; nothing was sent
 *         -ENOMEM                     nothing was sent
 *         EDDY_E_NET_TIMED_OUT, -ECANCELED, -EPIPE, -ECONNRESET, ...
 */
EDDY_API EDDY_MUST_USE int eddy_http_exchange_early_hints(eddy_http_exchange *exchange,
                                                          const struct eddy_http_header *headers,
                                                          size_t headers_count);

/*
 * Send a complete response.  Content-Length and Date are added, and with HTTP/1 Connection;
 * a Date in 'headers' replaces the server's.  Statuses 204, 205 and 304 have no body.
 *
 * Suspends: yes.
 * Errors: EDDY_E_HTTP_STATE            a response was begun already
 *         EDDY_E_HTTP_INVALID_ANSWER   a status or header that HTTP forbids, or a header that
 *                                      the server writes: Content-Length, Transfer-Encoding,
 *                                      and Connection with a value other than "close".
 *                                      Nothing was sent.  Unless the handler then sends
 *                                      another response, the client gets a 500, and the
 *                                      reason is reported with the header's name
 *                                      (EDDY_REPORT_MISUSE)
 *         EDDY_E_NET_TIMED_OUT         the client accepts the response too slowly, or the
 *                                      kernel's timeout expired
 *         -ECANCELED, -EPIPE, -ECONNRESET, ...
 */
EDDY_API EDDY_MUST_USE int eddy_http_exchange_respond(eddy_http_exchange *exchange, int status,
                                                      const struct eddy_http_header *headers,
                                                      size_t headers_count, const void *body,
                                                      size_t body_bytes);

/*
 * Send a response in pieces: begin, write any number of times, end.  'body_bytes'
 * below 0 means an unknown length: with HTTP/1.1 the body is chunked, and for an HTTP/1.0
 * client it ends with the connection.  A write beyond 'body_bytes' returns EDDY_E_HTTP_STATE
 * and sends nothing.  An end before 'body_bytes' returns EDDY_E_HTTP_STATE, and the client
 * sees that the response is not whole.  With HTTP/1 both close the connection.
 *
 * The head and pieces of up to 16 KiB in all are kept and sent together: with the next
 * piece that does not fit, at the end, when the handler suspends in any call or returns,
 * or by eddy_http_exchange_flush().  A handler that waits between its pieces therefore need
 * not flush, unless the response is compressed (eddy/http_compression.h); a handler that computes
 * for long without suspending should.  If kept bytes cannot be sent, the next of these calls
 * returns the error.
 *
 * Suspends: yes.
 * Errors: EDDY_E_HTTP_STATE  begin: a response was begun already; write, end and flush: no
 *                            response was begun, or it has ended; write and end: the body
 *                            does not have 'body_bytes' bytes
 *         -EINVAL            'data' is NULL and 'bytes' is not 0; nothing was sent
 *         the others of eddy_http_exchange_respond()
 */
EDDY_API EDDY_MUST_USE int eddy_http_exchange_begin(eddy_http_exchange *exchange, int status,
                                                    const struct eddy_http_header *headers,
                                                    size_t headers_count, int64_t body_bytes);
EDDY_API EDDY_MUST_USE int eddy_http_exchange_write(eddy_http_exchange *exchange, const void *data,
                                                    size_t bytes);
EDDY_API EDDY_MUST_USE int eddy_http_exchange_end(eddy_http_exchange *exchange);
EDDY_API EDDY_MUST_USE int eddy_http_exchange_flush(eddy_http_exchange *exchange);

/*
 * Add a trailer, a field that is sent after the response's body (RFC 9110, 6.5), such as a digest or
 * the time that the work took.  Call it between eddy_http_exchange_begin() with 'body_bytes' below 0
 * and eddy_http_exchange_end(), also between writes.  The handler announces the names by a header
 * Trailer in eddy_http_exchange_begin(), so that clients and proxies expect them.
 *
 * A response that has no place for trailers is sent without them, and the call returns 0: to HEAD, to
 * a client of HTTP/1.0, and with a status without a body.  Others get them whether or not the request
 * has "TE: trailers": a proxy may drop them, so they must not be needed to understand the response
 * (RFC 9110, 6.5.1).
 *
 * At most 32 trailers, with 8,190 bytes in all.  Names that a client must know before the body are
 * refused: those that frame, route or authenticate a message or control caches and redirects, such as
 * Transfer-Encoding, Host, Set-Cookie, WWW-Authenticate, Cache-Control and Location; "Proxy-..."; and
 * "Content-..." except Content-Digest and Content-MD5.
 *
 * Suspends: no.
 * Errors: EDDY_E_HTTP_STATE           no response was begun, it has ended, or its length was given
 *         EDDY_E_HTTP_INVALID_ANSWER  such a name, or a name or value that HTTP forbids or that is NULL
 *         EDDY_E_HTTP_TOO_LARGE       more than the limits; the earlier trailers are kept
 *         -ENOMEM
 * Owns: copies 'name' and 'value'.
 */
EDDY_API EDDY_MUST_USE int eddy_http_exchange_add_trailer(eddy_http_exchange *exchange,
                                                          const char *name, const char *value);

/*
 * Answer 101 (RFC 9110, 7.8) and take the connection's stream from the server.  The
 * request must be HTTP/1.1 with an Upgrade field, and its body must have been read;
 * 'headers' must have an Upgrade field with the new protocol.  "Connection: Upgrade"
 * is added.  '*ret_early' are bytes of the new protocol that have already arrived;
 * process them before those of the stream.  From then on the server does not limit the
 * connection's speed, and does not cancel the handler when the client is gone; a stop
 * of the server still cancels the handler.
 *
 * Suspends: yes.
 * Errors: EDDY_E_HTTP_STATE  a response was begun already, the body was not read, or the
 *                            request has no Upgrade
 *         the others of eddy_http_exchange_respond()
 * Owns: returns (owned) '*ret_stream', to be closed by the handler.  '*ret_early' is
 *       valid during the handler's call.
 */
EDDY_API EDDY_MUST_USE int eddy_http_exchange_upgrade(
        eddy_http_exchange *exchange, const struct eddy_http_header *headers, size_t headers_count,
        eddy_stream **ret_stream, const void **ret_early, size_t *ret_early_bytes);

/* About a request, its response and its connection.  A text without a value is "". */
struct eddy_http_exchange_info {
        int version; /* 10 (HTTP/1.0), 11 (HTTP/1.1) or 20 (HTTP/2) */
        int status;  /* of the response; 0: not begun, also if the server will answer 404 or 500 */
        uint64_t received_bytes; /* of the request so far, with its head */
        /* of the response so far, with its head, without bytes that are still kept; TLS: before
         * encryption; HTTP/2: with the body's bytes that are kept, and the head when it has left */
        uint64_t sent_bytes;
        int64_t started_ns;               /* when the request's first byte came, by eddy_now() */
        const struct eddy_endpoint *peer; /* EDDY_ENDPOINT_NONE: unknown */
        const struct eddy_endpoint *local;
        int tls_version; /* EDDY_TLS_1_2, EDDY_TLS_1_3; 0: the connection has no TLS */
        const char *tls_cipher;
        const char *tls_server_name; /* the name that the client asked for (SNI) */
        const char *tls_alpn;        /* the protocol agreed on */
        uint64_t number;             /* of the request on its connection: 1, 2, ... */
        uintptr_t reserved[5];       /* zero */
};

/*
 * Store what is known now, for example for a line of the log after the response.  The
 * first call on a connection asks the system for the endpoints; if memory for them is
 * missing, both are EDDY_ENDPOINT_NONE.  After an upgrade, 'sent_bytes' counts only the
 * 101, and the members about TLS are empty.
 *
 * Suspends: no.
 * Owns: the texts and endpoints are valid during the handler's call.  If the handler takes
 *       the stream, the texts about TLS are valid until the stream is closed.
 */
EDDY_API void eddy_http_exchange_info(eddy_http_exchange *exchange,
                                      struct eddy_http_exchange_info *ret_info);

/*
 * End the exchange when the handler returns, with the response as it is then.  If the
 * response is not whole, the client sees that.  With HTTP/1 the connection is closed.
 *
 * Suspends: no.
 */
EDDY_API void eddy_http_exchange_abort(eddy_http_exchange *exchange);

EDDY_END_DECLS

#endif
