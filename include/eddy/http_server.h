/*
 * eddy/http_server.h - a server of HTTP/1.1 and HTTP/2.  The handler is called once per request:
 * with HTTP/1 in the connection's task, with HTTP/2 in a task of its own.
 */
#ifndef EDDY_HTTP_SERVER_H
#define EDDY_HTTP_SERVER_H

#include "eddy/def.h"
#include "eddy/http2_server.h"
#include "eddy/http_exchange.h"
#include "eddy/listener.h"
#include "eddy/log.h"
#include "eddy/tls.h"

EDDY_BEGIN_DECLS

/*
 * Answers one request.  If the handler begins no response, the client gets a 404 after the
 * result 0, and after a negative result the answer to that error.  If the handler has begun
 * a response, and returns before the response is complete, the response ends: the client
 * sees that it is not whole, and with HTTP/1 the connection is closed.
 *
 * Errors as answers.  A negative result is answered with a document of
 * application/problem+json (RFC 9457) with the status of the error, see
 * eddy_http_error_status(), and a title.  The client does not get the reason: the server
 * writes it to the option 'log'.  The option 'on_error' answers in another way.  With HTTP/1
 * the connection is kept, unless the request's body could not be read to its end.
 *
 * Requests that the server refuses before it calls the handler (such as 400, 408, 413, 414, 417 or
 * 431) and the 404 above are answered with such documents too, even if 'on_error' is set.
 *
 *     static int user(eddy_http_exchange *exchange, void *arg)
 *     {
 *             int err = eddy_pg_query(arg, ...);
 *
 *             if (err < 0)
 *                     return err;         // the client gets a 500, the log the reason
 *             ...
 *     }
 *
 * Values that a handler sets (eddy/var.h) and log values that it binds (eddy/log.h) end
 * with its request: the next request begins with the server's values.
 *
 * If the client has reset the exchange or its connection, or closed the connection as far
 * as the server can know, the handler is cancelled: its calls return -ECANCELED, and its
 * result is ignored.  A client that only ended its sending (a half-close) still gets its
 * answer; with HTTP/2, which has no half-close, the answers that are sent within a second.
 * EDDY_HTTP_SERVER_FINISH turns these cancels off.
 *
 * EDDY_HTTP_SERVER_CANCEL_AT_END also cancels the handler when the client ends its sending
 * after its request, so that a handler that waits for events without writing (SSE, a chat)
 * learns that its client has left.  The handler must read the request's body first.  If the
 * client sends further bytes, they begin its next request, and its end cancels only the
 * handler of the last request: a handler that waits for ever should also write at times.
 * A client that half-closes before it reads loses its answer, as with Go's net/http.
 *
 * Some clients send a whole request and close without waiting for the answer.  On a
 * Unix socket the server knows of the close at once and cancels the handler.  With TCP
 * the handler often runs to its end, because the close looks like a half-close.  A
 * server on a Unix socket that has such clients needs EDDY_HTTP_SERVER_FINISH.
 */
typedef int eddy_http_handler_fn(eddy_http_exchange *exchange, void *arg);

/*
 * Answers an error of a handler that has begun no response.  'error' is the handler's result, or,
 * if the request could not be read, the error of that.  If the function begins no response, the
 * server answers as without it.  Values that the handler has set or bound are still there.
 * Headers that the handler has added (eddy_http_exchange_add_header()) are sent, except those
 * of its content.
 */
typedef int eddy_http_error_fn(eddy_http_exchange *exchange, int error, void *arg);

/*
 * Returns the status that answers an error of a handler, for example in 'on_error'.  If a call that
 * reads this request's inputs has returned the error (eddy/http_input.h,
 * eddy_http_exchange_multipart() and its reader, eddy_http_use_body_limit()):
 *
 *     400  EDDY_E_JSON_*, EDDY_E_URL_INVALID, EDDY_E_HTTP_MULTIPART, EDDY_E_HTTP_TRUNCATED
 *     413  EDDY_E_HTTP_TOO_LARGE
 *     415  EDDY_E_HTTP_CONTENT_TYPE
 *     422  EDDY_E_FIELD_*, except EDDY_E_FIELD_TABLE; eddy/http_input.h has the fields
 *
 * In all other cases, for example if the JSON of another service was wrong:
 *
 *     503  -ETIMEDOUT: a deadline of the handler passed
 *     500  any other error
 *
 * A handler that parses the body itself should answer wrong input with eddy_http_exchange_fail().
 * If the request's body could not be read, the server answers 400, 408 or 413 instead.
 *
 * Suspends: no.
 */
EDDY_API int eddy_http_error_status(const eddy_http_exchange *exchange, int error);

/*
 * The limits of a server.  All zero is the default.  A limit of a request ends only that
 * request's exchange, and with HTTP/1 its connection; a limit of a connection ends only
 * that connection.  The columns are the limit, its option or value, and the status of the
 * response or another effect.
 *
 *     connections at once     connections_max        the next one waits in the backlog
 *     bytes of a head         head_bytes_max         431
 *     bytes of a line in it   8,190                  414 (request line), 431
 *     fields                  headers_max            431
 *     bytes of a body         body_bytes_max         413
 *     chunk extensions        256 bytes per chunk,   400
 *                             16 KiB per body
 *     trailers                8,190 bytes, 32 fields 431
 *     time for a handshake    head_timeout_ns        no response
 *     time for a head         head_timeout_ns        408
 *     time between requests   idle_timeout_ns        no response
 *     speed of a body         upload_rate_min        408
 *     speed of a response     download_rate_min      the exchange ends with a reset
 *     end of a connection     30 s, 5 s of silence   see "Early answers" below
 *     time of the handler     none: open a scope with a deadline in the handler
 *
 * Speeds count only the time in which the server waits for the client, not the
 * time in which a handler computes or sleeps.  Bytes of a response count when
 * the client's system has acknowledged them.  The server checks speeds once per
 * 'rate_over_ns' of waiting, so a client that stops is disconnected after at most two
 * such periods.  On Unix sockets the system counts whole buffers, so a client that
 * takes less than a buffer in two periods may be disconnected.
 *
 * With HTTP/2, an invalid request is reset, a handler's header "Connection: close" has no effect,
 * and eddy/http2_server.h has more limits.
 *
 * With the option 'tls', a request without TLS (GET, HEAD, POST, PUT, CONNECT) is answered by 400 and a
 * text that names https.
 *
 * Lines of HTTP/1 end in CR LF.  A line that ends in LF alone, and a chunk's size with white space
 * after it, are answered by 400.
 *
 * Early answers.  A handler may answer without reading the request's body, for example
 * 401 or 413.  With HTTP/1, if the rest of the body is larger than 256 KiB, or is chunked
 * and has not arrived, this answer is the last on the connection.  The server then ends its
 * side of the connection, and reads and drops the bytes that the client still sends, so
 * that the answer also reaches a client that sends its whole body first.  The server closes
 * the connection when the client has closed it, has been silent for 5 seconds, or has sent
 * for 30 seconds.
 * A client that still sends after 30 seconds may lose the answer.  Until the close, the
 * connection counts in connections_max, and a stop waits for it up to 'drain_ns'.  While
 * the handler writes the answer, the body is not read: an answer larger than the system's
 * buffers does not reach a client that sends its whole body first.
 */
enum {
        EDDY_HTTP_SERVER_FINISH = 1 << 0, /* a handler continues if its client is gone */
        /* a handler is also cancelled when its client ends its sending; not with _FINISH */
        EDDY_HTTP_SERVER_CANCEL_AT_END = 1 << 1,
        /* speak only one version; without these flags a client chooses: with TLS by ALPN, where the
         * server prefers HTTP/2, and without TLS by beginning with HTTP/2 (prior knowledge, RFC
         * 9113, 3.3).  With _HTTP2_ONLY, a client of HTTP/1 gets frames of HTTP/2 and the end of
         * the connection: curl then says "Received HTTP/0.9" */
        EDDY_HTTP_SERVER_HTTP1_ONLY = 1 << 2,
        EDDY_HTTP_SERVER_HTTP2_ONLY = 1 << 3,
};

struct eddy_http_server_opts {
        uint32_t connections_max EDDY_UNSET; /* open at once; 0: 10,000 */
        uint32_t head_bytes_max EDDY_UNSET; /* of one request's head; 0: 64 KiB; at most 2^31 - 1 */
        uint32_t headers_max EDDY_UNSET;    /* fields of one request; 0: 128; at most 65,535 */
        /* bytes a second of a request's body; 0: 240; below 0: any */
        int32_t upload_rate_min EDDY_UNSET;
        /* bytes a second of a response; 0: 240; below 0: any */
        int32_t download_rate_min EDDY_UNSET;
        uint32_t flags EDDY_UNSET;          /* EDDY_HTTP_SERVER_* */
        uint64_t body_bytes_max EDDY_UNSET; /* of one request; 0: 16 MiB */
        /* from a request's first byte to the end of its head; 0: 30 s; also limits the time in
         * which the rest of a body that the handler did not read is dropped */
        int64_t head_timeout_ns EDDY_UNSET;
        int64_t idle_timeout_ns EDDY_UNSET; /* between requests; 0: 75 s */
        /* the waiting time over which speeds are averaged; 0: 10 s */
        int64_t rate_over_ns EDDY_UNSET;
        int64_t drain_ns EDDY_UNSET;     /* for requests in progress after a cancel; 0: none */
        eddy_tls_config *tls EDDY_UNSET; /* https: a server's configuration without a list 'alpn',
                                      borrowed; NULL: http */
        eddy_http_error_fn *on_error EDDY_UNSET; /* called with the handler's 'arg'; NULL: none */
        /* gets a line for each error of a handler, with the error, the method, the path, and the
         * status; at level error if the status is 500 or above or the response was cut, else at
         * level info, with the message "the request was refused"; borrowed; NULL: none, and the
         * reason for a 500 is lost */
        eddy_log *log EDDY_UNSET;
        /* limits and counters of HTTP/2 (eddy/http2_server.h), borrowed; NULL: the defaults */
        const struct eddy_http2_server_opts *http2 EDDY_UNSET;
        uintptr_t reserved[2] EDDY_UNSET; /* zero */
};

/*
 * Serve connections of 'listener' until cancelled; requests in progress then
 * have 'drain_ns' to finish.  While there are too few descriptors or too little
 * memory for further connections, the server pauses accepting and reports the
 * shortage once (EDDY_REPORT_ACCEPT).  If memory for a request is missing, only that
 * exchange ends; with HTTP/1 the connection ends with it.
 *
 * Suspends: yes.
 * Errors: -ECANCELED  the server was asked to stop
 *         -ENOMEM     the server could not be started
 *         -EINVAL     a limit is out of range, a time is negative, a flag is unknown or
 *                     excludes another, 'tls' has a list 'alpn' or is a client's, or
 *                     'listener' or 'handler' is NULL
 *         and those of eddy_http_router_check(), if 'handler' is eddy_http_router_handle();
 *         and other errors of accepting
 * Owns: borrows 'listener' and 'arg'.
 */
EDDY_API int eddy_http_serve(eddy_listener *listener, const struct eddy_http_server_opts *opts,
                             eddy_http_handler_fn *handler, void *arg);

/*
 * Serve the connection 'stream': a connection that the program has accepted, an inherited
 * socket (eddy_stream_from_fd()), an end of eddy_stream_pair(), or a stream of
 * eddy_tls_server().  With the option 'tls' the call first does the handshake on the stream.
 * The call returns when the connection has ended.  Requests are handled in the calling
 * task.  'connections_max' is not used.  If the program has already read bytes of the
 * stream, pass a stream of its own that returns these bytes first (eddy/stream_ops.h).
 *
 * A cancel of the caller stops the call: the wait for a request ends at once, and a
 * request in progress has 'drain_ns' to finish.  In a connection of eddy_serve(), pass
 * eddy_serve_idle() a function that makes this call: a stop of that server then stops the
 * call in the same way.
 *
 * Suspends: yes.
 * Errors: -ECANCELED  the call was asked to stop
 *         -ENOMEM     the connection could not be served
 *         -EINVAL     an option is not valid, as for eddy_http_serve(); 'stream' or
 *                     'handler' is NULL; ALPN chose a protocol for the stream that the
 *                     server does not speak
 *         EDDY_E_TLS_EXPIRED, ...  the handshake failed, see eddy_tls_server()
 *         EDDY_E_NET_TIMED_OUT     the handshake took longer than 'head_timeout_ns'
 *         EDDY_E_RUN_OTHER_LOOP, EDDY_E_RUN_NOT_RUNNING  'stream' is still the caller's
 *         (if a client breaks the connection or sends an invalid request, the result is 0)
 * Owns: takes 'stream' and closes it, also after an error, except after the last two.
 *       Borrows 'arg'.
 */
EDDY_API int eddy_http_serve_stream(eddy_stream *stream, const struct eddy_http_server_opts *opts,
                                    eddy_http_handler_fn *handler, void *arg);

EDDY_END_DECLS

#endif
