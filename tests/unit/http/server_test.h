/*
 * server_test.h - what the tests of the server share: a server with a handler
 * that does what the path says, and a client of raw bytes.
 */
#ifndef ED_HTTP_SERVER_TEST_H
#define ED_HTTP_SERVER_TEST_H

#include "http_test.h"

struct site {
        struct eddy_http_server_opts opts;
        eddy_listener *listener;
        uint16_t port;
        eddy_tls_config *client_tls;   /* NULL: plain */
        eddy_http_handler_fn *handler; /* of a case's own; NULL: what the path says */
        eddy_scope *scope;             /* of the server; cancel it to stop */
        int result;                    /* of eddy_http_serve() */
        int64_t ended_ns;              /* when it returned; 0: not yet */
        int handled;                   /* calls of the handler */
        int failed;                    /* the last negative result in it that it did not expect */
        char order[64];                /* the first letter of each path handled */
};

typedef void site_fn(struct site *site);

/* Run 'fn' beside a server. */
void site_run(const struct eddy_http_server_opts *opts, bool real, site_fn *fn);

/* The same; 'prepare' runs before the server starts. It may set configurations of TLS, a listener and a handler. */
void site_run_prepared(const struct eddy_http_server_opts *opts, bool real, site_fn *prepare,
                       site_fn *fn);

#define SERVER_OPTIONS(...) (&(const struct eddy_http_server_opts){ __VA_ARGS__ })

/* SERVER_TEST(claim, SERVER_OPTIONS(...)) { ... site ... } */
#define SERVER_TEST_ON(claim, options, real)                                                       \
        static void site_##claim(struct site *site);                                               \
        TEST(claim)                                                                                \
        {                                                                                          \
                site_run((options), false, site_##claim);                                          \
                if (real)                                                                          \
                        site_run((options), true, site_##claim);                                   \
        }                                                                                          \
        static void site_##claim(struct site *site)
#define SERVER_TEST(claim, options)      SERVER_TEST_ON(claim, options, false)
#define SERVER_TEST_BOTH(claim, options) SERVER_TEST_ON(claim, options, true)

/* What a connection brought. */
struct answer {
        char text[65536];
        size_t bytes;
        int responses; /* final ones */
        int status;    /* of the first */
        int error;     /* of the last read; 0: the end */
        int64_t lasted_ns;
};

eddy_stream *site_connect(struct site *site);

/* Read until the connection ends. */
void read_answer(eddy_stream *stream, struct answer *ret_answer);

/* As Python's http.client: send all of a body of zeros first, then read the answer. */
void send_all_then_read(struct site *site, const char *head, size_t bytes, int status);

/* Send 'text' and read until the connection ends; the answer is good until the next call. */
const struct answer *ask(struct site *site, const char *text);
const struct answer *ask_bytes(struct site *site, const char *data, size_t bytes);

/* Send 'text' and read until 'end' has come. */
const char *say(eddy_stream *stream, const char *text, const char *end);

#define CHECK_HAS(text, part)                                                                      \
        do {                                                                                       \
                if (!strstr((text), (part)))                                                       \
                        test_fail(__FILE__, __LINE__, "'%s' is not in '%s'", (part), (text));      \
        } while (0)
#define CHECK_HAS_NOT(text, part)                                                                  \
        do {                                                                                       \
                if (strstr((text), (part)))                                                        \
                        test_fail(__FILE__, __LINE__, "'%s' is in '%s'", (part), (text));          \
        } while (0)

#endif
