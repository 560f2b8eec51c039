/*
 * eddy/http_response.h - the response of an HTTP server to a request of a client.
 *
 * A response comes from eddy_http_client_send() with its head.  The body is read as a
 * whole, in parts, as a stream, or not at all.
 *
 * A response belongs to the loop of its client (eddy/def.h).  In another loop, or after the
 * client's loop has ended, calls that read the body return EDDY_E_RUN_OTHER_LOOP.  All other
 * calls only read the head, and do not check the loop.
 *
 * Calls with a NULL response, or with NULL where a result goes, return -EINVAL, unless
 * their comment says otherwise.
 */
#ifndef EDDY_HTTP_RESPONSE_H
#define EDDY_HTTP_RESPONSE_H

#include <stdbool.h>

#include "eddy/def.h"
#include "eddy/endpoint.h"
#include "eddy/http_header.h"
#include "eddy/json.h"
#include "eddy/retry.h"
#include "eddy/stream.h"

EDDY_BEGIN_DECLS

typedef struct eddy_http_response eddy_http_response;

/*
 * Returns the status code, 200 to 999, or 101 (eddy/http_upgrade.h), or 0 if the response is NULL.
 *
 * Suspends: no.
 */
EDDY_API int eddy_http_response_status(const eddy_http_response *response);

/*
 * Returns the value of the first header with this name (case-insensitive), or NULL,
 * also if an argument is NULL.  Valid until the response is freed.  In a value that was
 * sent in several lines, spaces replace the line ends (RFC 9112, 5.2).
 *
 * Suspends: no.
 */
EDDY_API const char *eddy_http_response_header(const eddy_http_response *response,
                                               const char *name);

/*
 * Store header number 'i', in the order received.  Returns 0, or -ENOENT after the last.
 *
 * Suspends: no.
 * Errors: -ENOENT, -EINVAL
 */
EDDY_API int eddy_http_response_header_at(const eddy_http_response *response, size_t i,
                                          struct eddy_http_header *ret_header);

/*
 * Durations in nanoseconds; -1 if a step did not happen, because the connection was
 * open already, or has not happened yet.
 */
struct eddy_http_timings {
        int64_t wait_ns;       /* for a slot on a connection */
        int64_t name_ns;       /* to look up the host's name */
        int64_t connect_ns;    /* to connect to an address */
        int64_t tls_ns;        /* for the handshake */
        int64_t first_byte_ns; /* from sending the request to the response's first byte */
        int64_t total_ns;      /* from the call that sent the request until the end of the body
                                  was received */
};

/* About a response and its connection.  Valid until the response is freed. */
struct eddy_http_response_info {
        int version;                      /* 10 (HTTP/1.0), 11 (HTTP/1.1) or 20 (HTTP/2) */
        const char *url;                  /* of the request that was answered */
        const struct eddy_endpoint *peer; /* of the connection; EDDY_ENDPOINT_NONE: unknown */
        struct eddy_http_timings timings;
        bool request_sent;  /* the system took the whole request; false: some is still to be sent,
                              or the sending ended early, because the server refused the request
                              or took no more of it */
        uint32_t redirects; /* that were followed */
        uintptr_t reserved[3]; /* zero */
};

/*
 * Store what is known about the response now.  For a NULL response: version 0, an
 * empty URL, no peer and no durations.  A NULL 'ret_info' is ignored.
 *
 * Suspends: no.
 */
EDDY_API void eddy_http_response_info(const eddy_http_response *response,
                                      struct eddy_http_response_info *ret_info);

/*
 * eddy_http_response_header() and eddy_http_response_header_at() for the trailers, the
 * fields after a body that was sent in chunks (RFC 9112, 7.1.2).  They are known when
 * the end of the body was read; before that none is found.  Fields that are forbidden
 * there, for example Content-Length, are dropped (RFC 9110, 6.5.1).
 *
 * Suspends: no.
 * Errors: as eddy_http_response_header_at()
 */
EDDY_API const char *eddy_http_response_trailer(const eddy_http_response *response,
                                                const char *name);
EDDY_API int eddy_http_response_trailer_at(const eddy_http_response *response, size_t i,
                                           struct eddy_http_header *ret_trailer);

/*
 * Read at least one and at most 'bytes' bytes of the body.  Returns their number;
 * 0 at the end of the body.  A cancelled call loses no byte: a later call
 * continues.
 *
 * Suspends: yes.
 * Errors: EDDY_E_HTTP_TRUNCATED, _INVALID_RESPONSE, _TOO_LARGE; -ECONNRESET, ...;
 *         EDDY_E_HTTP_CODING_UNKNOWN, _CODING_INVALID, with the option 'decode';
 *         EDDY_E_HTTP_TIMEOUT_READ, _TOTAL; EDDY_E_RUN_OTHER_LOOP; -ECANCELED, -EINVAL
 */
EDDY_API EDDY_MUST_USE int64_t eddy_http_response_read(eddy_http_response *response, void *buf,
                                                       size_t bytes);

/*
 * Read the rest of the body into the response.  The bytes are followed by a NUL
 * and valid until the response is freed.
 *
 * Suspends: yes.
 * Errors: as eddy_http_response_read(); -ENOMEM
 */
EDDY_API EDDY_MUST_USE int eddy_http_response_body(eddy_http_response *response,
                                                   const void **ret_data, size_t *ret_bytes);

/*
 * Read the rest of the body as eddy_http_response_body(), and read it as JSON into the struct at
 * 'out' (eddy/fields.h), as eddy_json_read().  The caller checks the status first.  Neither the
 * status nor Content-Type is checked: servers send JSON as text/plain too, and a page of HTML is
 * an error at its first byte.  On failure 'out' is not changed, and the body can be read again.
 *
 * Suspends: yes.
 * Errors: as eddy_http_response_body() and eddy_json_read()
 * Owns: returns strings and lists (owned), until eddy_fields_fini().
 */
EDDY_API EDDY_MUST_USE int eddy_http_response_json(eddy_http_response *response,
                                                   const struct eddy_fields *fields, void *out);

/*
 * Returns the details of the last eddy_http_response_json() that could not use the body, or NULL:
 * the place and a sentence.  Valid until the response is closed or the next call.
 *
 * Suspends: no.
 */
EDDY_API const struct eddy_json_error *eddy_http_response_json_error(
        const eddy_http_response *response);

/*
 * Make a stream that reads the rest of the body as eddy_http_response_read() does, decoded and
 * within the same limits: for eddy_reader, which reads lines, and for eddy_stream_copy().  It
 * reads up to 16 KiB ahead; other calls that read the body do not get bytes that the stream has
 * read.  After -ECANCELED the next read continues, and no byte is lost.  An error of the body
 * is returned by the read that meets it and by later ones.  Writes and eddy_stream_shutdown()
 * return -EBADF; eddy_stream_peer() is that of the connection.
 *
 * The response must outlive the stream; closing the stream leaves it open.  With
 * EDDY_HTTP_STREAM_OWN, closing the stream closes the response instead, and its head can be
 * read until then.  If another task is in a read of the stream, that read returns -ECANCELED,
 * and the response is closed, or may be closed, after that.
 *
 * Suspends: no.
 * Errors: -EINVAL  an unknown flag
 *         EDDY_E_RUN_OTHER_LOOP, -ENOMEM
 * Owns: returns (owned) '*ret_stream', to be closed by eddy_stream_close().  On failure the
 *       response is still the caller's.
 */
enum { EDDY_HTTP_STREAM_OWN = 1 << 0 };
EDDY_API EDDY_MUST_USE int eddy_http_response_stream(eddy_http_response *response, unsigned flags,
                                                     eddy_stream **ret_stream);

/*
 * Read and drop the rest of the body, so that the exchange is complete and an HTTP/1
 * connection can be kept.  If the call is cancelled, the rest of a body that is decoded
 * (option 'decode') cannot be read any more: later reads return EDDY_E_HTTP_STATE.
 *
 * Suspends: yes.
 * Errors: as eddy_http_response_read()
 */
EDDY_API EDDY_MUST_USE int eddy_http_response_discard(eddy_http_response *response);

/*
 * Returns the rule that the response violates, in words, after a call that returned
 * EDDY_E_HTTP_INVALID_RESPONSE or _TOO_LARGE, such as "a chunk's data is not followed by CR LF".
 * With HTTP/2 also the reason of a reset, after -ECONNRESET, such as "the server reset the request:
 * INTERNAL_ERROR".
 * Returns "" if there is none, also for a NULL response.  'ret_fault' of the request has only
 * errors of eddy_http_client_send(), and none of the body.
 *
 * Suspends: no.
 */
EDDY_API const char *eddy_http_response_fault_text(const eddy_http_response *response);

/*
 * Free the response, and end its exchange.  An HTTP/1 connection is kept if the exchange
 * is known to be complete, and closed otherwise.  Works in a cancelled task.  NULL is ignored.
 *
 * Suspends: no.
 */
EDDY_API void eddy_http_response_close(eddy_http_response *response);

/*
 * Read what the response says about another attempt: Retry-After, or else
 * X-RateLimit-Retry-After, retry-after-ms and x-should-retry (eddy/retry.h).  A date counts from the response's Date, or from the
 * time of day.  NULL stores a hint that is all zero, as of a response without these
 * headers.
 *
 * Suspends: no.
 */
EDDY_API void eddy_http_response_retry_hint(const eddy_http_response *response,
                                            struct eddy_retry_hint *ret_hint);

static inline void eddy_http_response_auto_release(eddy_http_response **response)
{
        eddy_http_response_close(*response);
}

EDDY_END_DECLS

#endif
