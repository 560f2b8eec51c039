/*
 * http/exchange.h - a handler's calls as a table of operations, one table for each protocol.
 */
#ifndef ED_HTTP_EXCHANGE_H
#define ED_HTTP_EXCHANGE_H

#include <stdbool.h>
#include <string.h>

#include "eddy/file.h"
#include "eddy/http_server.h"
#include "loop/timer.h"
#include "wire/accept_coding.h"

struct ed_task;

/* An error that a server answers in place of a handler. */
struct ed_http_failure {
        int error;          /* 0: there is nothing to answer */
        int status;         /* 0: by the error (http/problem.h) */
        const char *detail; /* for the client; NULL: none */
};

/* The state of an exchange's answer. */
enum ed_http_answer {
        ED_HTTP_UNANSWERED, /* no final response was begun */
        ED_HTTP_ANSWERING,  /* a response was begun, but not sent completely */
        ED_HTTP_ANSWERED,
};

/*
 * The operations of a protocol for a handler. The calls of eddy/http_exchange.h use this table; errors
 * and cancellation are as described there.
 */
struct ed_http_exchange_ops {
        const char *(*method)(const eddy_http_exchange *exchange);
        const char *(*target)(const eddy_http_exchange *exchange);
        const char *(*path)(const eddy_http_exchange *exchange);
        const char *(*query)(const eddy_http_exchange *exchange);
        const char *(*host)(const eddy_http_exchange *exchange);
        const char *(*header)(const eddy_http_exchange *exchange, const char *name);
        int (*header_at)(const eddy_http_exchange *exchange, size_t i,
                         struct eddy_http_header *ret_header);
        int (*trailer_at)(const eddy_http_exchange *exchange, size_t i,
                          struct eddy_http_header *ret_trailer);
        /* Returns the bytes of the request's body, or -1: unknown. Not after a read. */
        int64_t (*body_bytes)(const eddy_http_exchange *exchange);
        int64_t (*read)(eddy_http_exchange *exchange, void *buf, size_t bytes);
        int (*body)(eddy_http_exchange *exchange, const void **ret_data, size_t *ret_bytes);
        /* Lower the limit of the body. Errors: EDDY_E_HTTP_TOO_LARGE: its length is above it. */
        int (*limit_body)(eddy_http_exchange *exchange, uint64_t bytes_max);
        int (*add_header)(eddy_http_exchange *exchange, const char *name, const char *value);
        /* Store the added header at '*at', which is 0 for the first, and move '*at' to the next. */
        bool (*added_next)(const eddy_http_exchange *exchange, size_t *at,
                           struct eddy_http_header *ret_header);
        int (*add_trailer)(eddy_http_exchange *exchange, const char *name, const char *value);
        int (*early_hints)(eddy_http_exchange *exchange, const struct eddy_http_header *headers,
                           size_t headers_count);
        int (*respond)(eddy_http_exchange *exchange, int status,
                       const struct eddy_http_header *headers, size_t headers_count,
                       const void *body, size_t body_bytes);
        int (*begin)(eddy_http_exchange *exchange, int status,
                     const struct eddy_http_header *headers, size_t headers_count,
                     int64_t body_bytes);
        /*
         * Wait until the answer takes some of 'bytes' bytes, and keep room for them, so that the next
         * write of as many need not wait. Returns how many. NULL: all, and a write waits.
         */
        int64_t (*reserve)(eddy_http_exchange *exchange, size_t bytes);
        int (*write)(eddy_http_exchange *exchange, const void *data, size_t bytes);
        /* As ed_http_exchange_send_file(). NULL: not supported. */
        int64_t (*send_file)(eddy_http_exchange *exchange, const eddy_file *file, int64_t offset,
                             size_t bytes);
        int (*end)(eddy_http_exchange *exchange);
        int (*flush)(eddy_http_exchange *exchange);
        /*
         * Also write a small piece of a body in pieces, beside the handler. The piece is left out if
         * bytes are on their way already: the client is not idle then. If bytes of the answer cannot
         * be sent while the handler waits, the handler is cancelled as if its client were gone.
         * Returns false if the answer takes no more pieces.
         */
        bool (*keep)(eddy_http_exchange *exchange, const char *piece, size_t bytes);
        int (*upgrade)(eddy_http_exchange *exchange, const struct eddy_http_header *headers,
                       size_t headers_count, eddy_stream **ret_stream, const void **ret_early,
                       size_t *ret_early_bytes);
        void (*abort)(eddy_http_exchange *exchange);
        void (*info)(eddy_http_exchange *exchange, struct eddy_http_exchange_info *ret_info);
        /* Refuse the handler's answer with a reason. Returns EDDY_E_HTTP_INVALID_ANSWER. */
        int (*refuse)(eddy_http_exchange *exchange, const char *reason);
        /*
         * Store the failure that the server will answer if the handler returns 'result', which may be
         * 0 or more: then the status is 404 unless there is another.  Changes nothing.
         */
        void (*failure)(const eddy_http_exchange *exchange, int result,
                        struct ed_http_failure *ret_failure);
        /*
         * The server answers in place of the handler, which has returned 'result', an error.  The
         * failure is that of reading the request if that failed, else 'result'.  It is nothing if a
         * response was begun, or the handler has called abort, or the client is gone.
         */
        void (*take_over)(eddy_http_exchange *exchange, int result,
                          struct ed_http_failure *ret_failure);
        /* Answer in place of a handler that has returned 'result', if no response was begun. */
        void (*answer_missing)(eddy_http_exchange *exchange, int result);
};

/* A callback for ed_http_exchange_after(). First member of a struct with the other arguments. */
struct ed_http_after {
        struct ed_http_after *next;
        void (*fn)(eddy_http_exchange *exchange, const struct ed_http_after *after);
        int result;        /* of the handler and the inner middleware */
        const char *route; /* of the request */
};

/* A call into middleware before an answer begins, to add headers. In the middleware's frame. */
struct ed_http_before {
        struct ed_http_before *outer; /* NULL: none */
        /* Called before each attempt to begin an answer. An error is the result of the attempt. */
        int (*fn)(struct ed_http_before *before);
};

/*
 * Functions of a middleware that replace the operations of these names, and call those operations.
 * In the middleware's stack frame.
 */
struct ed_http_filter {
        int (*respond)(struct ed_http_filter *filter, eddy_http_exchange *exchange, int status,
                       const struct eddy_http_header *headers, size_t headers_count,
                       const void *body, size_t body_bytes);
        int (*begin)(struct ed_http_filter *filter, eddy_http_exchange *exchange, int status,
                     const struct eddy_http_header *headers, size_t headers_count,
                     int64_t body_bytes);
        int (*write)(struct ed_http_filter *filter, eddy_http_exchange *exchange, const void *data,
                     size_t bytes);
        int (*end)(struct ed_http_filter *filter, eddy_http_exchange *exchange);
        int (*flush)(struct ed_http_filter *filter, eddy_http_exchange *exchange);
        /* The next answer is a 304 for a 200 with these headers and a body of 'body_bytes'. */
        void (*not_modified)(struct ed_http_filter *filter, eddy_http_exchange *exchange,
                             const struct eddy_http_header *headers, size_t headers_count,
                             int64_t body_bytes);
};

/* The first member of a protocol's exchange. */
struct eddy_http_exchange {
        const struct ed_http_exchange_ops *ops;
        const struct ed_http_params *params;       /* of its route (http/router.h); NULL: none */
        struct ed_http_value *values;              /* owned (http/values.h); NULL: none */
        struct ed_http_wrong *wrong;               /* owned (http/input.h); NULL: no wrong fields */
        struct ed_http_after *after;               /* owned; NULL: none */
        int input_error;                           /* the last error of an input not in 'wrong' */
        const char *input_detail;                  /* for the client; a static text, or NULL */
        const char *request_id;                    /* in the frame of a middleware; NULL: none */
        const struct ed_http_forwarded *forwarded; /* likewise (http/forwarded.h) */
        struct ed_http_before *before;             /* the innermost; NULL: none */
        struct ed_http_filter *filter;     /* compression (http/compression.c); NULL: none */
        struct eddy_http_session *session; /* the innermost (eddy/http_session.h); NULL: none */
        struct ed_timer repeat_timer;      /* armed while a piece is repeated (http/repeat.h) */
        const char *repeated;
        int64_t repeat_ns;
};

/* Returns true for GET and HEAD, the methods whose answers may be conditional. */
static inline bool ed_http_exchange_is_get_or_head(const eddy_http_exchange *exchange)
{
        const char *method = exchange->ops->method(exchange);

        return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

/* Returns true for HEAD, whose answer has no body. */
static inline bool ed_http_exchange_is_head(const eddy_http_exchange *exchange)
{
        return strcmp(exchange->ops->method(exchange), "HEAD") == 0;
}

/* Read all fields Accept-Encoding of the request. */
void ed_http_exchange_accept_coding(const eddy_http_exchange *exchange,
                                    struct ed_accept_coding *ret_accept);

/*
 * Write bytes of a regular file without copying them in this process. May write fewer than 'bytes'.
 * Returns the number of written bytes, at least 1, or 0 at the end of the file.
 *
 * Suspends: yes, and may block the loop while the disk is read: check ed_file_is_cached() first.
 * Errors: those of eddy_http_exchange_write()
 *         -EAGAIN   no byte was written, after a wait: try again
 *         -ENOTSUP  no byte was written: use eddy_http_exchange_write()
 */
EDDY_MUST_USE int64_t ed_http_exchange_send_file(eddy_http_exchange *exchange,
                                                 const eddy_file *file, int64_t offset,
                                                 size_t bytes);

/*
 * Begin a call that reads up to 'bytes' of the request's body.
 *
 * Errors: 'failed', the error of an earlier read; -EINVAL, -ECANCELED
 */
EDDY_MUST_USE int ed_http_exchange_read_begin(int failed, size_t bytes, struct ed_task **ret_task);

/*
 * Returns the status by which a server will answer if the handler and all middleware return 'result'
 * now, as far as the server's table says; 0: the client gets no answer.
 *
 * Suspends: no.
 */
int ed_http_exchange_status(eddy_http_exchange *exchange, int result);

/*
 * Call 'after->fn' when the request has an answer, so that middleware can log or count the answer.
 * If a response was begun, the call is made at once. Otherwise it is made after the server has
 * answered instead of the handler, and before the handler's values end, with a copy of the 'bytes'
 * bytes at 'after' and a copy of the route. Without memory for the copies, the call is made at
 * once.
 *
 * Suspends: no.
 */
void ed_http_exchange_after(eddy_http_exchange *exchange, const struct ed_http_after *after,
                            size_t bytes);

#endif
