/*
 * eddy/http_sse_server.h - a handler that answers with server-sent events (text/event-stream,
 * WHATWG HTML, 9.2). The reader's side is eddy/http_sse.h.
 *
 *     static int events(eddy_http_exchange *exchange, void *arg)
 *     {
 *             struct message message;
 *             int err = eddy_http_exchange_sse_begin(exchange, NULL);
 *
 *             while (err == 0 && (err = wait_for_message(arg, &message)) == 0) {
 *                     struct eddy_http_sse_out event = { .data = message.text,
 *                                                        .data_bytes = message.bytes };
 *
 *                     err = eddy_http_exchange_sse_send(exchange, &event);
 *             }
 *             return err;
 *     }
 *
 * Comments.  While the handler waits, however it waits, the server sends a comment every 15 s, so
 * that proxies keep the connection, and clients can distinguish silence from a lost connection.  A
 * client that has closed its connection answers a comment with a reset, and the handler is cancelled
 * (eddy/http_server.h).  With EDDY_HTTP_SERVER_CANCEL_AT_END the handler is cancelled when the client
 * closes.
 *
 * A slow client.  The server keeps at most 16 KiB for it: then eddy_http_exchange_sse_send() waits
 * until the connection takes the event.  If the client takes less than 'download_rate_min', the call
 * returns EDDY_E_NET_TIMED_OUT, or the handler is cancelled.
 *
 * The end.  When the response ends, clients connect again and send the id of the last event that had
 * one.  A status 204 (eddy_http_exchange_respond()) ends their attempts.
 *
 * A stop of the server gives handlers 'drain_ns'.  A handler that waits for events in
 * eddy_serve_idle() (eddy/serve.h) is cancelled at once then.
 */
#ifndef EDDY_HTTP_SSE_SERVER_H
#define EDDY_HTTP_SSE_SERVER_H

#include "eddy/def.h"
#include "eddy/http_exchange.h"

EDDY_BEGIN_DECLS

/* All zero is the default. */
struct eddy_http_sse_begin_opts {
        int64_t comment_ns EDDY_UNSET;    /* time between two comments; 0: 15 s; below 0: none */
        uintptr_t reserved[3] EDDY_UNSET; /* zero */
};

/*
 * Begin the events: a response 200 with "Content-Type: text/event-stream", "Cache-Control: no-store"
 * and "X-Accel-Buffering: no", by which nginx passes each event on at once.  Add other headers by
 * eddy_http_exchange_add_header() before.
 *
 * Returns 0, or 1 if the request is a HEAD: then the response is complete, and the handler returns.
 * The head leaves when the handler waits, or with the first event that does not fit beside it.
 * eddy_http_exchange_end() ends the events.
 *
 * Suspends: yes.
 * Errors: those of eddy_http_exchange_begin()
 */
EDDY_API EDDY_MUST_USE int eddy_http_exchange_sse_begin(
        eddy_http_exchange *exchange, const struct eddy_http_sse_begin_opts *opts);

/* An event to send.  Its texts are in UTF-8.  All zero: an empty line, which clients ignore. */
struct eddy_http_sse_out {
        const char *type EDDY_UNSET;  /* NULL: "message" */
        const char *data EDDY_UNSET;  /* may have several lines, which end in LF, CR or CR LF; NULL:
                                          none, so a browser shows no event but takes 'id' */
        size_t data_bytes EDDY_UNSET; /* at most EDDY_HTTP_SSE_EVENT_BYTES_MAX (eddy/http_sse.h) */
        const char *id EDDY_UNSET;    /* "": the last id is forgotten; NULL: it remains */
        int64_t retry_ns EDDY_UNSET;  /* the client's wait before it connects again, rounded up to
                                          milliseconds; 0: unchanged */
        uintptr_t reserved[3] EDDY_UNSET; /* zero */
};

/*
 * Send an event.  It leaves when the handler waits, as a piece of eddy_http_exchange_write().  The
 * client gets each line end of the data as LF.  An event of more than 1 KiB costs an allocation.
 *
 * Suspends: yes.
 * Errors: -EINVAL                'event' is NULL, 'data' is NULL and 'data_bytes' is not 0, 'type' or
 *                                'id' has a CR or LF, or 'retry_ns' is negative; nothing was sent
 *         EDDY_E_HTTP_TOO_LARGE  'data_bytes' is above the maximum; nothing was sent
 *         -ENOMEM                nothing was sent
 *         those of eddy_http_exchange_write()
 */
EDDY_API EDDY_MUST_USE int eddy_http_exchange_sse_send(eddy_http_exchange *exchange,
                                                       const struct eddy_http_sse_out *event);

/*
 * Returns the id of the last event that the client has received from an earlier response, which it
 * sends in Last-Event-ID, or "".
 *
 * Suspends: no.
 * Owns: valid as long as the exchange.
 */
EDDY_API const char *eddy_http_exchange_sse_last_id(const eddy_http_exchange *exchange);

EDDY_END_DECLS

#endif
