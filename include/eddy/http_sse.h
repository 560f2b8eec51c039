/*
 * eddy/http_sse.h - server-sent events (text/event-stream, WHATWG HTML, 9.2), with
 * reconnection.
 *
 *     struct eddy_http_sse_event event;
 *     eddy_http_sse *sse;
 *     int err = eddy_http_sse_open(client, &(struct eddy_http_request){ .url = url }, NULL, &sse);
 *
 *     if (err < 0)
 *             return err;
 *     while ((err = eddy_http_sse_next(sse, &event)) > 0)
 *             printf("%s: %s\n", event.type, event.data);
 *     eddy_http_sse_close(sse);
 *
 * Chat completions are streamed in this format too: such a request is a POST, which is sent
 * once, and 'event.data' is the JSON of a piece of the answer, or "[DONE]".
 *
 * Reconnection.  If a stream ends or breaks, the events continue in another one: the
 * request is sent again, with "Last-Event-ID" after an event that had an id.  The wait before is
 * the time that the server gave last ("retry"), or 'retry_ns'; and a random time, whose bound
 * is a second, and doubles with each connection that fails, up to a minute.  A response 429 or
 * 5xx that may be temporary (eddy/retry.h) counts as such a failure, and its Retry-After is
 * honoured.  The status 204 ends the events.  Only a request that may be repeated is sent
 * again, see eddy_http_request_is_idempotent(); and none with EDDY_HTTP_SSE_ONCE.
 *
 * A connection that is silent looks like one that has no events.  Servers send comments
 * against this, so set 'timeouts.read_ns' to more than the time between two of them: then
 * silence breaks the stream.  'timeouts.total_ns' limits each stream.
 *
 * Calls with a NULL stream, or with NULL where a result goes, return -EINVAL, unless their
 * comment says otherwise.
 */
#ifndef EDDY_HTTP_SSE_H
#define EDDY_HTTP_SSE_H

#include "eddy/def.h"
#include "eddy/http_client.h"

EDDY_BEGIN_DECLS

typedef struct eddy_http_sse eddy_http_sse;

/* Flags of struct eddy_http_sse_opts. */
enum { EDDY_HTTP_SSE_ONCE = 1 << 0 }; /* the events end with the first stream */

enum { EDDY_HTTP_SSE_EVENT_BYTES_MAX = 1 << 30 };

/* All zero is the default. */
struct eddy_http_sse_opts {
        /* of one event: its data, its type and the line that is being received; 0: 1 MiB; at most
         * EDDY_HTTP_SSE_EVENT_BYTES_MAX */
        uint32_t event_bytes_max EDDY_UNSET;
        /* connections in a row that may fail after a stream has ended; 0: 10; UINT32_MAX: no limit */
        uint32_t reconnects_max EDDY_UNSET;
        /* wait before another connection, until the server gives a time; 0: 3 s */
        int64_t retry_ns EDDY_UNSET;
        /* the id of the last event that an earlier stream gave; copied; NULL: none */
        const char *last_event_id EDDY_UNSET;
        unsigned flags EDDY_UNSET;        /* EDDY_HTTP_SSE_ONCE */
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Send a request for events, and wait for the head of its response.  "Accept: text/event-stream"
 * and "Cache-Control: no-store" are added, unless the caller sets these headers.  The client's
 * limit of a body does not count; 'body_bytes_max' of the request does, for each stream.
 *
 * A failure of this first request is returned, and not repeated, unless the client or the
 * request does so with 'retry'.
 *
 * Suspends: yes.
 * Errors: EDDY_E_HTTP_STATUS        the status is neither 200 nor 204; 'ret_fault' has it, and
 *                                   the first bytes of the body
 *         EDDY_E_HTTP_CONTENT_TYPE  the response is not text/event-stream; 'ret_fault' has its type
 *         those of eddy_http_client_send()
 *         -EINVAL                   'event_bytes_max' is too large, a time is negative,
 *                                   'last_event_id' cannot be the value of a header, or a flag is
 *                                   unknown; 'ret_fault' names the option
 * Owns: borrows what the request refers to, with 'ret_fault', until the stream is closed;
 *       returns (owned) '*ret_sse', to be closed by eddy_http_sse_close().
 */
EDDY_API EDDY_MUST_USE int eddy_http_sse_open(eddy_http_client *client,
                                              const struct eddy_http_request *request,
                                              const struct eddy_http_sse_opts *opts,
                                              eddy_http_sse **ret_sse);

/* An event.  Its texts are valid until the next call with the stream. */
struct eddy_http_sse_event {
        const char *type; /* "message", if the server gives none */
        const char *data; /* its lines, with LF between them; a NUL follows */
        size_t data_bytes;
        const char *id;        /* of this event, or the last earlier one that had an id; "": none */
        uintptr_t reserved[4]; /* zero */
};

/*
 * Wait for the next event.  Returns 1 and stores it; or 0 after the end of the events: the
 * server has answered 204, or ended a stream whose request is not sent again.  Connects again
 * if necessary.  Comments, and events without data, are skipped.  Bytes that are not UTF-8 are
 * not changed.  An event at the end of a stream, without its empty line, is dropped.
 *
 * A cancelled call loses nothing: the next one continues.  Any other error is final, and
 * returned by later calls too.
 *
 * Suspends: yes.
 * Errors: EDDY_E_HTTP_TOO_LARGE  an event is larger than 'event_bytes_max', or a stream than the
 *                                request's 'body_bytes_max'
 *         EDDY_E_HTTP_CODING_UNKNOWN, _CODING_INVALID  with the client's option 'decode'
 *         without reconnection, those of eddy_http_response_read()
 *         with reconnection, those of eddy_http_sse_open(), for the last connection that failed;
 *         EDDY_E_HTTP_CLOSED if its stream ended
 *         EDDY_E_RUN_OTHER_LOOP, -ECANCELED, -ENOMEM
 *         -EBUSY  another task waits for an event of this stream
 */
EDDY_API EDDY_MUST_USE int eddy_http_sse_next(eddy_http_sse *sse,
                                              struct eddy_http_sse_event *ret_event);

/* The state of a stream; valid until the next call with it. */
struct eddy_http_sse_info {
        eddy_http_response *response; /* whose events are read, for its head; NULL: none now */
        const char *last_event_id;    /* "": none */
        int64_t retry_ns;      /* the wait before another connection, without its random part */
        uint64_t connections;  /* responses with events so far */
        uintptr_t reserved[4]; /* zero */
};

/*
 * Store the present state of the stream.  NULL: zeros, and an empty id.
 *
 * Suspends: no.
 */
EDDY_API void eddy_http_sse_info(const eddy_http_sse *sse, struct eddy_http_sse_info *ret_info);

/*
 * End the stream, and free it.  A connection with HTTP/1 is closed, unless all of its response
 * was read, so the server sees at once that the reader has left.  Works in a cancelled task.  No
 * other task may be in eddy_http_sse_next().  NULL is ignored.
 *
 * Suspends: no.
 */
EDDY_API void eddy_http_sse_close(eddy_http_sse *sse);

static inline void eddy_http_sse_auto_release(eddy_http_sse **sse)
{
        eddy_http_sse_close(*sse);
}

EDDY_END_DECLS

#endif
