/*
 * http/http1_server.h - one request and its response, on a server's connection.
 */
#ifndef ED_HTTP_HTTP1_SERVER_H
#define ED_HTTP_HTTP1_SERVER_H

#include "base/buf.h"
#include "eddy/event.h"
#include "eddy/scope.h"
#include "http/exchange.h"
#include "http/message.h"
#include "http/refuse.h"
#include "loop/loop.h"

extern const struct ed_http_exchange_ops ed_http1_exchange_ops;

/* An exchange of HTTP/1. Lives as long as its connection; reset for each request. */
struct ed_http1_exchange {
        struct eddy_http_exchange base;
        eddy_stream *stream;       /* NULL: the handler has taken it */
        struct ed_http_ends *ends; /* of the connection; NULL: not asked for */
        int64_t started_ns;        /* at the request's first byte */
        uint64_t number;           /* of the request on its connection; 0: none yet */
        uint64_t taken_before;     /* by the stream, before the request */
        uint64_t sent_bytes;       /* of a response after which the handler took the stream */
        struct ed_http_message message;
        struct ed_http_pace upload;   /* rate of the request's body */
        struct ed_http_pace download; /* rate of responses, for the whole connection */
        struct ed_buf out;            /* bytes of the answer that are kept, see http1_out.h */
        struct ed_call at_wait;       /* queued while there are some */
        eddy_event rest_sent;         /* not 'resting' any more */
        eddy_scope *scope;    /* of the connection: has the task that writes a rest; is cancelled if
                              the client is gone while a handler runs */
        struct ed_buf copies; /* the request's path, and the host of an absolute target */
        struct ed_buf added;  /* headers for the answer, see added.h; then its trailers */
        struct ed_buf trailers; /* of the request */
        const char *query;
        const char *host;
        const char *date;       /* for the Date field; kept current by the server */
        uint8_t answer;         /* enum ed_http_answer */
        uint8_t trailers_added; /* to the answer, see http1_trailers.h */
        int16_t status;         /* of the response; 0: not begun */
        bool head_only;         /* HEAD, or a status without a body: send no body */
        bool chunked;
        bool continued;       /* "100 Continue" was sent or is not expected */
        bool closing;         /* this is the connection's last exchange */
        bool is_own;          /* the server answers in place of the handler */
        bool aborted;         /* the handler called abort, or the client is gone */
        bool cancels_at_end;  /* also if the client has ended its sending */
        bool watches_sending; /* the stream is watched for that */
        bool cancels;         /* the handler, if the client is gone */
        bool stalled;         /* the client takes no response */
        bool sending;         /* a task writes 'out' */
        bool resting;         /* ... namely one that the server has started for it */
        int out_error;        /* of sending 'out'; 0: none */
        int64_t left;         /* unsent bytes of a body of known length, else negative */
        int failed;           /* error of reading the request's body or of responding */
        char refused[ED_HTTP_REFUSED_BYTES]; /* why the handler's answer was not valid; "" */
};

static inline struct ed_http1_exchange *ed_http1_exchange_of(const eddy_http_exchange *exchange)
{
        return (struct ed_http1_exchange *) (uintptr_t) exchange;
}

/*
 * Begin an exchange with a complete request head: prepare the body and the values that the
 * accessors return.
 *
 * Errors: EDDY_E_HTTP_TOO_LARGE  the body is above its limit
 *         -ENOMEM
 */
EDDY_MUST_USE int ed_http_exchange_begin_request(struct ed_http1_exchange *exchange);

/*
 * Answer with a problem (http/problem.h) if possible, and end the connection after that.
 *
 * Suspends: yes.
 */
void ed_http_exchange_refuse(struct ed_http1_exchange *exchange, int status, const char *detail);

/*
 * Answer in place of a handler that has returned 'result' and has begun no response.
 *
 * Suspends: yes.
 */
void ed_http1_answer_missing(struct ed_http1_exchange *exchange, int result);

/*
 * Store the failure of reading the request's body, which is exchange->failed.  Its status is 0 if the
 * client cannot be answered.
 */
void ed_http1_request_failure(const struct ed_http1_exchange *exchange,
                              struct ed_http_failure *ret_failure);

#endif
