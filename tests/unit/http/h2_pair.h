/*
 * h2_pair.h - both sides of a connection of HTTP/2 on a pair of streams in memory, without a server
 * or a client: a handler is called for each stream.
 */
#ifndef ED_H2_PAIR_H
#define ED_H2_PAIR_H

#include "http/h2_stream.h"
#include "http_test.h"

enum { H2_WINDOW = 64 << 10, H2_CONNECTION_WINDOW = 1 << 20 };

/* A stream of a test, of either side. */
struct h2_call {
        struct ed_h2_stream stream;
        struct h2_side *side;
        eddy_event changed; /* a part is complete, or the stream has ended */
        int parts[3];       /* how many there were of each */
        int status;         /* client: of the response */
        bool leaves_early;  /* set by a handler that needs no more of the request */
};

typedef void h2_handler_fn(struct h2_call *call);

struct h2_side {
        struct ed_h2 h2;
        struct ed_h2_opts opts;
        struct ed_h2_memory memory;
        h2_handler_fn *handler; /* of a server */
        eddy_scope handlers;
        eddy_event ready;
        int calls;  /* alive */
        int begun;  /* of a server */
        int result; /* of ed_h2_run() */
        bool is_running;
        int pongs;
        int going;            /* of the last GOAWAY: its code and 1 */
        int32_t going_ids[2]; /* of the first two */
        int goings;
};

struct h2_pair {
        eddy_stream *ends[2]; /* of the client, of the server */
        struct h2_side client, server;
        eddy_scope scope;
};

/* Begin both sides in a scope. Options may be changed between these two. */
int h2_pair_init(struct h2_pair *pair, h2_handler_fn *handler);
int h2_pair_start(struct h2_pair *pair);

/* End the client by GOAWAY, wait for both, and check that all calls are gone. Returns 0 or an error. */
int h2_pair_end(struct h2_pair *pair);

/*
 * A client alone, on a stream that it closes: initialise it, begin it in a scope, and end it by GOAWAY; the
 * end of the scope waits for it.
 */
void h2_client_init(struct h2_side *side, eddy_stream *stream);
int h2_client_start(struct h2_side *side, eddy_scope *scope);
void h2_client_stop(struct h2_side *side);

/* Prepare a server on a stream, which h2_side_run() closes. Options may be changed before. */
void h2_server_init(struct h2_side *side, eddy_stream *stream, h2_handler_fn *handler);

/* Run a side on a stream until its connection ends. For a task. */
int h2_side_run(void *side);

/* Begin a request. Returns NULL without memory or without a connection. The first header is a secret. */
struct h2_call *h2_send(struct h2_side *side, const char *method, const char *path, bool has_body,
                        const struct eddy_http_header *headers, size_t n);

/* The same, with fields that are joined, left out, trimmed or kept from tables. */
struct h2_call *h2_request(struct h2_side *side, const char *method, const char *path,
                           bool has_body);

/* Wait for the head of the response. Returns its status, or an error. */
int h2_await(struct h2_call *call);

/* Read the body to its end. Returns its bytes, or an error. */
int64_t h2_read_all(struct h2_call *call, uint32_t *ret_sum);

/* Write bytes whose sum is added to '*sum'. */
int h2_write_bytes(struct h2_call *call, size_t bytes, uint32_t *sum);

/* Respond with a status, and a body that follows or not. */
int h2_respond(struct h2_call *call, const char *status, bool has_body);

/* Returns the value of a pseudo-header such as ":path", or NULL. */
const char *h2_pseudo(const struct ed_h2_head *head, const char *name);

/* The task has done its part. */
void h2_close(struct h2_call *call);

#endif
