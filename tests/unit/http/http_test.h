/*
 * http_test.h - what the tests of the http floor share: running on the
 * simulated table or on the real loopback, a server that follows a script, and a
 * client of raw bytes.
 *
 * Time is virtual on the simulated table: waiting costs nothing.
 */
#ifndef ED_HTTP_TEST_H
#define ED_HTTP_TEST_H

#include <errno.h>

#include "eddy/eddy.h"
#include "test.h"

/*
 * Run 'fn' as the main task on the simulated table.  It must end within ten
 * minutes of its clock, leave no socket open, no timer armed and nobody
 * waiting.
 */
void http_run(eddy_task_fn *fn, void *arg);

/* The seed of the next runs; 0, as at first: nothing is random. */
void http_set_seed(uint64_t seed);

/* The same on the real loopback. */
void http_run_real(eddy_task_fn *fn, void *arg);

/* Let so much time pass. */
void http_pause(int64_t ns);

/* From now on nothing answers at the simulated address 10.9.9.9. */
void http_let_die(void);

/* The same error, by name. */
#define CHECK_ERR(a, b)                                                                            \
        do {                                                                                       \
                int test_err = (int) (a);                                                          \
                CHECK_STR(test_err < 0 ? eddy_error_name(test_err) : "success",                    \
                          eddy_error_name(b));                                                     \
        } while (0)

/* ---- a server that follows a script ---------------------------------------- */

/*
 * What is done on one connection, step by step: a text is sent once a request
 * has been read; or, by its first character,
 *
 *     +text   sent a while after the last step, unasked
 *     <text   the same, at once
 *     ?       a request's head is read
 *     .       nothing is done for a second
 *     ~       the connection is closed
 *     !       it is reset
 *     -       the socket ends: with TLS, without close_notify
 *     NULL    nothing more is done, and it is closed when the client closes
 */
enum { SCRIPT_STEPS_MAX = 24 };

struct script {
        const char *steps[SCRIPT_STEPS_MAX];
};

struct peer {
        eddy_listener *listener;
        const struct script *scripts; /* one per connection; the last goes on */
        size_t scripts_count;
        eddy_scope *scope;
        eddy_tls_config *tls;               /* NULL: plain */
        eddy_stream *latest, *latest_lower; /* of the latest connection, and the stream below */
        uint32_t accepted;
        uint32_t open;
        uint32_t requests;
        char last[8192]; /* the head of the last request */
};

/* Start it in 'scope'; it runs until that is cancelled. */
void peer_start(struct peer *peer, eddy_scope *scope, const struct script *scripts, size_t n);
void peer_stop(struct peer *peer);

/* Read from a stream until 'end' has come; returns false if it never does. */
bool read_until(eddy_stream *stream, char *buf, size_t room, const char *end);

/* ---- a client against it --------------------------------------------------- */

struct rig {
        struct peer peer;
        eddy_http_client *client;
        eddy_scope scope;
        const struct eddy_http_body_source *source; /* for the tests' own use */
        char url[64];                               /* "http://127.0.0.1:PORT" */
        char body[64];                              /* the last one's first bytes, as text */
        size_t body_bytes;
        int status;
};

typedef void rig_fn(struct rig *rig);

void rig_run(const struct script *scripts, size_t n, const struct eddy_http_client_opts *opts,
             bool real, rig_fn *fn);

/* One connection's steps. */
#define SCRIPT(...)                                                                                \
        {                                                                                          \
                {                                                                                  \
                        __VA_ARGS__                                                                \
                }                                                                                  \
        }
#define OPTIONS(...) (&(const struct eddy_http_client_opts){ __VA_ARGS__ })

/* CLIENT_TEST(claim, OPTIONS(...), script, script ...) { ... rig ... } */
#define CLIENT_TEST_ON(claim, options, real, ...)                                                  \
        static void rig_##claim(struct rig *rig);                                                  \
        TEST(claim)                                                                                \
        {                                                                                          \
                static const struct script scripts[] = { __VA_ARGS__ };                            \
                rig_run(scripts, sizeof(scripts) / sizeof(scripts[0]), (options), false,           \
                        rig_##claim);                                                              \
                if (real)                                                                          \
                        rig_run(scripts, sizeof(scripts) / sizeof(scripts[0]), (options), true,    \
                                rig_##claim);                                                      \
        }                                                                                          \
        static void rig_##claim(struct rig *rig)
#define CLIENT_TEST(claim, options, ...)      CLIENT_TEST_ON(claim, options, false, __VA_ARGS__)
#define CLIENT_TEST_BOTH(claim, options, ...) CLIENT_TEST_ON(claim, options, true, __VA_ARGS__)

/* Send a request to the peer; 'request->url' is the path. */
int rig_send(struct rig *rig, const struct eddy_http_request *request,
             eddy_http_response **ret_response);

/* The same, and read the body. */
int rig_fetch(struct rig *rig, const struct eddy_http_request *request);
int rig_get(struct rig *rig, const char *path);

void check_stats(const eddy_http_client *client, uint64_t open, uint64_t idle, uint64_t waiting,
                 const char *file, int line);
#define CHECK_STATS(client, open, idle, waiting)                                                   \
        check_stats((client), (open), (idle), (waiting), __FILE__, __LINE__)

/* A response of a body of known length. */
#define OK_2       "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define OK_2_CLOSE "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
#define OK_CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"

/* From now on the allocation with this number fails, 0 is the next; then memory is back. */
void http_memory_fails(int number);
/* Returns whether the allocation failed. */
bool http_memory_is_back(void);

/* A handler: the request's body goes back as it comes. */
int http_echo(eddy_http_exchange *exchange, void *arg);

#endif
