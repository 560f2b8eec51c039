/*
 * eddy/http_request.h - a request of an HTTP client: its contents, its time limits, and the
 * reason if it fails.  eddy_http_client_send() sends it.
 */
#ifndef EDDY_HTTP_REQUEST_H
#define EDDY_HTTP_REQUEST_H

#include <stdbool.h>

#include "eddy/breaker.h"
#include "eddy/def.h"
#include "eddy/fields.h"
#include "eddy/http_auth.h"
#include "eddy/http_cookies.h"
#include "eddy/http_header.h"
#include "eddy/http_hooks.h"
#include "eddy/limiter.h"
#include "eddy/retry.h"
#include "eddy/stream.h"
#include "eddy/tls.h"

EDDY_BEGIN_DECLS

/*
 * Time limits, in nanoseconds.  In a client's options 0 means no limit, which is the
 * default.  In a request 0 means the client's limit, and a negative value means no limit.
 * A limit that passes ends the call with the error given below.  If the request has a
 * connection, the exchange ends too; with HTTP/1 the connection is closed.  Exception: if
 * 'total_ns' passes while a connection is being opened, the opening may continue, for
 * other requests.
 *
 *     pool_ns     wait for a free connection when connections_max or per_host_max is
 *                 reached: EDDY_E_HTTP_TIMEOUT_POOL
 *     connect_ns  for the name, the connection, the proxy's tunnel (CONNECT, SOCKS)
 *                 and the TLS handshake, each time the client connects:
 *                 EDDY_E_HTTP_TIMEOUT_CONNECT
 *     read_ns     the longest silence within a call: the time in which no byte is
 *                 received and no byte of the request is sent:
 *                 EDDY_E_HTTP_TIMEOUT_READ
 *     total_ns    from the call of eddy_http_client_send() until the end of the body
 *                 was read, the caller's own pauses included: EDDY_E_HTTP_TIMEOUT_TOTAL
 */
struct eddy_http_timeouts {
        int64_t pool_ns EDDY_UNSET;
        int64_t connect_ns EDDY_UNSET;
        int64_t read_ns EDDY_UNSET;
        int64_t total_ns EDDY_UNSET;
};

/*
 * A body that is read from a stream or a function while it is sent.  The client
 * reads it in a helper task, and only during calls that send this request or read its
 * response.  For the progress of an upload, count the bytes in 'read', which may call the 'read' of
 * another source, such as that of a file (eddy/http_file.h).  The count includes the last piece, of at
 * most 16 KiB, before the system has taken it.
 */
struct eddy_http_body_source {
        /* Read to its end; NULL: use 'read' below.  If it is closed during the request, the request
         * fails with -EBADF. */
        eddy_stream *stream EDDY_UNSET;

        /* Stores at least one and at most 'bytes' bytes and returns their number; 0 at the end of
         * the body.  May suspend.  An error ends the request and is its result.  If a suspending
         * call in 'read' returns -ECANCELED, return -ECANCELED without losing bytes: the next call
         * of 'read' continues from there. */
        int64_t (*read)(void *arg, void *buf, size_t bytes) EDDY_UNSET;

        /* Starts the body again; returns 0 or an error.  NULL: not possible. */
        int (*rewind)(void *arg) EDDY_UNSET;
        void *arg EDDY_UNSET;
        /* The body's length; 0: the body is empty and the source is not read; below 0: unknown, the
         * body is sent in chunks. */
        int64_t bytes EDDY_UNSET;
        /* Sent after a body of unknown length (RFC 9110, 6.5), and announced by the header Trailer
         * unless the request has this header; at most 32, with 8,190 bytes in all.  The array is read
         * again when the source has ended: until then 'read' may set the values, for example a
         * digest.  A trailer whose value is NULL is left out.  RFC 9110, 6.5.1 forbids names such as
         * Content-Length, Authorization and Host. */
        const struct eddy_http_header *trailers EDDY_UNSET;
        size_t trailers_count EDDY_UNSET;
};

enum { EDDY_HTTP_FAULT_BODY_BYTES = 512 };

/*
 * The reason for a failed request.  eddy_http_client_send() clears the struct first, and fills
 * in what is known if it returns an error.
 */
struct eddy_http_fault {
        /* The reason; "" if the error code has no details.  Filled in after EDDY_E_TLS_*,
         * EDDY_E_URL_INVALID and _SCHEME; after an error of 'refresh' (eddy/http_auth.h), with the
         * error's eddy_error_text(); after EDDY_E_HTTP_INVALID_REQUEST, with the field of the
         * request, and the name of a header, but never its value; after an error of a proxy, with
         * the proxy's host and port, and the rule that an invalid answer violates; after
         * EDDY_E_HTTP_INVALID_RESPONSE and _TOO_LARGE, with the error's eddy_error_text() and the
         * rule that the response violates; after EDDY_E_WEBSOCKET_HANDSHAKE.  If a time limit passed or the call was cancelled during
         * the lookup of the host's addresses, the text names the host.  After
         * EDDY_E_HTTP_TIMEOUT_POOL the text counts the responses that keep connections
         * because they are neither read to the end nor closed, and names the first.  For values
         * that cannot be written ('json', 'form', 'query'), the text names the field. */
        char text[384];
        /* after EDDY_E_HTTP_STATUS that of the response; after EDDY_E_WEBSOCKET_HANDSHAKE that of an
         * answer other than 101; or of a proxy's response that refused the request; else 0 */
        int status;
        /* After EDDY_E_HTTP_STATUS the first bytes of the response's body, with a NUL after them. */
        size_t body_bytes;
        char body[EDDY_HTTP_FAULT_BODY_BYTES + 1];
        uintptr_t reserved[4];
};

struct eddy_http_multipart; /* eddy/http_multipart.h */

/* A struct and the table of its fields (eddy/fields.h): .json = { &user_fields, &user }. */
struct eddy_http_values {
        const struct eddy_fields *fields EDDY_UNSET; /* NULL: none */
        const void *value EDDY_UNSET;
};

/* In a request.  A client's options may have EDDY_HTTP_STATUS_IS_ERROR and _REDIRECT_*. */
enum {
        /* A response of 400 or above is an error: EDDY_E_HTTP_STATUS, and 'ret_fault' has the status
         * and the first EDDY_HTTP_FAULT_BODY_BYTES bytes of the body. */
        EDDY_HTTP_STATUS_IS_ERROR = 1 << 0,
        /* Any status is a success, also if the client's options have EDDY_HTTP_STATUS_IS_ERROR. */
        EDDY_HTTP_ANY_STATUS = 1 << 1,
        /* No retries, whatever 'retry' of the client or the request is. */
        EDDY_HTTP_NO_RETRY = 1 << 2,
        /* Neither the limiter nor the breaker of the client or the request. */
        EDDY_HTTP_NO_LIMIT = 1 << 3,
        /* No cookies are sent and kept, also if the client's options have 'cookies'. */
        EDDY_HTTP_NO_COOKIES = 1 << 4,
        /* A redirect from https to http is followed.  A client's options may have this flag too. */
        EDDY_HTTP_REDIRECT_TO_HTTP = 1 << 5,
        /* A redirect after which the request would be a GET without its body is not followed, and
         * is the response.  A client's options may have this flag too. */
        EDDY_HTTP_REDIRECT_SAME_METHOD = 1 << 6,
        /* Without the options 'auth' of the request and of the client. */
        EDDY_HTTP_NO_AUTH = 1 << 7,
};

/*
 * A request has at most one body: 'body', 'body_source', 'form', 'json' or 'multipart'.  Two are
 * EDDY_E_HTTP_INVALID_REQUEST, and 'ret_fault' names them.
 */
struct eddy_http_request {
        const char *method EDDY_UNSET; /* NULL: GET, or POST if there is a body */
        /* absolute, http or https; or relative to the client's 'base_url' */
        const char *url EDDY_UNSET;
        /* Each replaces the client's default headers of its name.  The value NULL removes a header that
         * the client would add: a default header, User-Agent, Accept, Accept-Encoding, Content-Type,
         * Authorization or Proxy-Authorization.  With another name NULL is an error. */
        const struct eddy_http_header *headers EDDY_UNSET;
        size_t headers_count EDDY_UNSET;
        /* appended to the URL's query (eddy_query_write()) */
        struct eddy_http_values query EDDY_UNSET;
        const void *body EDDY_UNSET;
        size_t body_bytes EDDY_UNSET;
        const struct eddy_http_body_source *body_source EDDY_UNSET;
        /* a body of application/x-www-form-urlencoded (eddy_query_write()), or of application/json
         * (eddy_json_write()); with that Content-Type unless 'headers' have another */
        struct eddy_http_values form EDDY_UNSET;
        struct eddy_http_values json EDDY_UNSET;
        /* A form with files (eddy/http_multipart.h), with its Content-Type unless 'headers' have
         * another.  Borrowed until the response is freed.  If a part cannot be read, 'ret_fault'
         * names it, and its file. */
        const struct eddy_http_multipart *multipart EDDY_UNSET;
        /* Above 0: send "Expect: 100-continue" with the head, and send the body only after the
         * server's "100 Continue", after a response below 400, or after this time without a
         * response, because old servers send no 100.  If a response of 400 or above comes first,
         * the body is not sent and a 'body_source' is not read; with HTTP/1 the connection is
         * closed after the exchange.  After a 417 the request is repeated once without Expect, if
         * the body can be sent again (RFC 9110, 10.1.1); the hooks see another attempt.  'read_ns'
         * does not run during the wait.  If the caller or a hook sets a header "Expect", it
         * must be "100-continue", and is sent once.  0: no Expect is added, and that of the caller
         * or a hook is sent without a wait.  Ignored without a body. */
        int64_t expect_continue_ns EDDY_UNSET;
        struct eddy_http_timeouts timeouts EDDY_UNSET; /* 0: the client's; below 0: none */
        uint64_t body_bytes_max EDDY_UNSET;            /* of the response; 0: the client's limit */
        /* for https; borrowed for the call; the client keeps a reference while a connection uses
         * it; NULL: the client's */
        eddy_tls_config *tls EDDY_UNSET;
        /* of this request; called after the client's; copied; NULL: none */
        const struct eddy_http_hooks *hooks EDDY_UNSET;
        int redirects_max EDDY_UNSET;          /* 0: the client's; below 0: none */
        eddy_http_cookies *cookies EDDY_UNSET; /* borrowed for the call; NULL: the client's */
        /* in place of the client's (eddy/http_client_opts.h); borrowed for the call; NULL: those */
        const struct eddy_retry_policy *retry EDDY_UNSET;
        eddy_limiter *limiter EDDY_UNSET;
        eddy_breaker *breaker EDDY_UNSET;
        eddy_http_auth *auth EDDY_UNSET; /* borrowed for the call; NULL: the client's */
        unsigned flags EDDY_UNSET;       /* EDDY_HTTP_STATUS_IS_ERROR and others */
        struct eddy_http_fault *ret_fault EDDY_UNSET; /* filled in on failure; NULL: not wanted */
        uintptr_t reserved[7] EDDY_UNSET;             /* zero */
};

/*
 * Returns true if a request may be repeated without a second effect on the server: its
 * method is idempotent (RFC 9110, 9.2.2), or 'headers' have Idempotency-Key or
 * X-Idempotency-Key, as in Go's net/http.  A header that a hook adds does not count.
 * Returns false for NULL.
 *
 * Suspends: no.
 */
EDDY_API bool eddy_http_request_is_idempotent(const struct eddy_http_request *request);

EDDY_END_DECLS

#endif
