/*
 * http/h2_exchange.h - one request by HTTP/2 and its response, on a server.
 *
 * The protocol makes the exchange when a head begins, and starts its task when the head is complete.
 */
#ifndef ED_HTTP_H2_EXCHANGE_H
#define ED_HTTP_H2_EXCHANGE_H

#include "eddy/http2_server.h"
#include "eddy/scope.h"
#include "http/exchange.h"
#include "http/h2_stream.h"
#include "http/refuse.h"
#include "http/server.h"
#include "loop/loop.h"

struct ed_http_ends;

extern const struct ed_http_exchange_ops ed_h2_exchange_ops;

/* A connection of a server. */
struct ed_h2_connection {
        struct ed_h2 h2;
        struct ed_http_server *server;
        struct eddy_http2_server_stats *stats; /* the caller's, or 'own' */
        struct eddy_http2_server_stats own;
        struct ed_http_ends *ends; /* NULL: not asked for */
        eddy_scope handlers;
        uint32_t streams_max;
        uint32_t tasks;          /* of exchanges */
        uint64_t heads;          /* bytes of memory of all heads */
        uint64_t requests;       /* that have a task or had one */
        int64_t going_ns;        /* when the first GOAWAY of a stop was sent; 0: not */
        int64_t idle_ns;         /* when GOAWAY was queued, since there were no requests; 0: not */
        struct ed_timer sweeper; /* armed while the client takes nothing of what is kept */
        bool is_stopping;        /* ... and the first GOAWAY was queued */
        bool has_gone;           /* the second was queued */
};

/* Count one. Servers of several threads may share the counters. */
static inline void ed_h2_count(uint64_t *counter)
{
        (void) __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

struct ed_h2_exchange {
        struct eddy_http_exchange base;
        struct ed_h2_stream stream;
        struct ed_h2_connection *connection;
        struct ed_h2_exchange *next_spare; /* of a server, after the exchange has ended */
        struct ed_http_pace upload;        /* rate of the request's body */
        struct ed_http_pace download;      /* rate of the response, while a task waits */
        int64_t started_ns;
        const char *method, *target, *path, *query, *host;
        const char *date;
        struct ed_buf copies;       /* of the path; "name\0value\0" are in the stream's head */
        struct ed_buf added;        /* headers for the answer, likewise */
        struct ed_buf whole;        /* the request's body as far as it was gathered */
        struct ed_h2_head trailers; /* of the answer */
        eddy_scope scope;           /* of the handler */
        uint64_t number;            /* of the request on its connection */
        uint64_t body_max;          /* of the request */
        uint64_t body_bytes;        /* read */
        int64_t body_length;        /* that the client has announced; below 0: unknown */
        int64_t left;               /* unsent bytes of a body of known length, else negative */
        uint64_t swept;             /* bytes sent when the speed was checked */
        size_t head_room;           /* counted in 'heads' */
        int refusal;                /* the status for a request that no handler gets; 0: none */
        const char *refusal_text;
        int failed;     /* error of reading the request's body or of responding */
        uint8_t answer; /* enum ed_http_answer */
        int16_t status; /* of the response; 0: not begun */
        bool head_only; /* send no body */
        bool is_head;   /* the method is HEAD */
        bool continued; /* "100" was sent or is not expected */
        bool is_gathered;
        bool is_own;     /* the server answers in place of the handler */
        bool aborted;    /* the handler called abort, or the client is gone */
        bool is_running; /* the handler */
        bool has_task;
        bool is_swept;
        char refused[ED_HTTP_REFUSED_BYTES]; /* why the handler's answer was not valid; "" */
};

static inline struct ed_h2_exchange *ed_h2_exchange_of(const eddy_http_exchange *exchange)
{
        return (struct ed_h2_exchange *) (uintptr_t) exchange;
}

/* A stream begins. Returns NULL without memory. */
struct ed_h2_exchange *ed_h2_exchange_new(struct ed_h2_connection *connection, int32_t id);

/* End the exchange, whose stream has no owner. The server keeps some for further requests. */
void ed_h2_exchange_free(struct ed_h2_exchange *exchange);

/*
 * The head is complete: prepare what the accessors return, or a refusal.
 *
 * Errors: EDDY_E_HTTP_INVALID_REQUEST  the request is malformed
 *         -ENOMEM
 */
EDDY_MUST_USE int ed_h2_exchange_begin(struct ed_h2_exchange *exchange);

/* Store the failure of reading the request's body, as ed_http1_request_failure() does. */
void ed_h2_request_failure(const struct ed_h2_exchange *exchange,
                           struct ed_http_failure *ret_failure);

/*
 * Answer in place of a handler that has returned 'result' and has begun no response.
 *
 * Suspends: yes.
 */
void ed_h2_answer_missing(struct ed_h2_exchange *exchange, int result);

/* ---- operations of struct ed_http_exchange_ops, h2_answer.c ---------------------- */

int ed_h2_add_header(eddy_http_exchange *base, const char *name, const char *value);
bool ed_h2_added_next(const eddy_http_exchange *base, size_t *at,
                      struct eddy_http_header *ret_header);
int ed_h2_add_trailer(eddy_http_exchange *base, const char *name, const char *value);
int ed_h2_early_hints(eddy_http_exchange *base, const struct eddy_http_header *headers,
                      size_t headers_count);
int ed_h2_respond(eddy_http_exchange *base, int status, const struct eddy_http_header *headers,
                  size_t headers_count, const void *body, size_t body_bytes);
int ed_h2_begin(eddy_http_exchange *base, int status, const struct eddy_http_header *headers,
                size_t headers_count, int64_t body_bytes);
int64_t ed_h2_reserve(eddy_http_exchange *base, size_t bytes);
int ed_h2_write(eddy_http_exchange *base, const void *data, size_t bytes);
int ed_h2_end_answer(eddy_http_exchange *base);
int ed_h2_flush(eddy_http_exchange *base);
bool ed_h2_keep(eddy_http_exchange *base, const char *piece, size_t bytes);
int ed_h2_upgrade(eddy_http_exchange *base, const struct eddy_http_header *headers,
                  size_t headers_count, eddy_stream **ret_stream, const void **ret_early,
                  size_t *ret_early_bytes);

#endif
