/*
 * middleware_test.h - what the tests of middleware share: a server with a router, and a log whose lines a
 * test can read.
 */
#ifndef ED_HTTP_MIDDLEWARE_TEST_H
#define ED_HTTP_MIDDLEWARE_TEST_H

#include "eddy/http_router.h"
#include "server_test.h"

#define SAY(method, path, fields)                                                                  \
        method " " path " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" fields "\r\n"
#define GET(path)           SAY("GET", path, "")
#define GET_WITH(path, ...) SAY("GET", path, __VA_ARGS__)

struct guarded {
        eddy_http_router *router;
        eddy_http_handler_fn *show; /* of the route "/show" */
        eddy_stream *near, *far;    /* of the log */
        eddy_log *log;
        struct site *site;
        int handled; /* calls of a handler */
};

extern struct guarded guarded;

/*
 * Serve a router to which 'build' has added its middleware. Its routes:
 *
 *     /ok               "ok"
 *     /users/{id}       "ok"
 *     /result/{number}  the result is the number; below 0 an error
 *     /body             the number of bytes of the body, in pieces
 *     /late             begins a response, and then fails
 *     /wait             sleeps a minute
 *     /begun            begins a response, and then sleeps a minute
 *     /abort            aborts the exchange
 *     /show             guarded.show
 */
void guarded_run(const struct eddy_http_server_opts *opts, void (*build)(void), site_fn *fn);

/* Stop the server, and return the lines of its log. */
const char *guarded_lines(void);

/* Returns the body of the answer to a request. */
const char *body_of(const struct answer *answer);

#define GUARDED_TEST_WITH(claim, options, build)                                                   \
        static void guarded_##claim(struct site *site);                                            \
        TEST(claim)                                                                                \
        {                                                                                          \
                guarded_run((options), (build), guarded_##claim);                                  \
        }                                                                                          \
        static void guarded_##claim(struct site *site)
#define GUARDED_TEST(claim, build) GUARDED_TEST_WITH(claim, NULL, build)

/* Sweep 'fn', which builds a router and asks it, by cancels and failed allocations at each point. */
void guarded_sweep(int (*fn)(void *arg));

/* Ask 'router' for a URL by a client without a network. Returns the status, or an error. */
int guarded_ask(eddy_http_router *router, const char *url, const struct eddy_http_header *headers,
                size_t headers_count);

#endif
