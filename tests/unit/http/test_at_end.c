/*
 * test_at_end.c - EDDY_HTTP_SERVER_CANCEL_AT_END: a handler is cancelled when its client ends its
 * sending, on each kind of stream; bytes after the request are not an end.
 */
#include <stdlib.h>
#include <unistd.h>

#include "../tls/tls_test.h"
#include "eddy/test.h"
#include "server_test.h"

#define GET "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

enum kind { PAIR, TCP, UNIX, TLS, KINDS };

static struct {
        enum kind kind;
        uint32_t flags;
        eddy_http_handler_fn *handler;
        eddy_tls_config *server_config, *client_config;
        eddy_stream *client, *server;
        int handled;
        int results[4]; /* of the handlers' waits */
        char body[5000];
        size_t body_bytes;
        bool began; /* a handler waits */
        int go;     /* so many handlers end their waits */
} site;

/* Wait until the test says so. */
static int wait_to_go(eddy_http_exchange *exchange, void *arg)
{
        int err = 0;

        (void) arg;
        site.began = true;
        while (site.go == 0 && err == 0)
                err = eddy_sleep(EDDY_MS(1));
        site.go -= err == 0;
        if (site.handled < 4)
                site.results[site.handled] = err;
        site.handled++;
        return err < 0 ? err : eddy_http_exchange_respond(exchange, 200, NULL, 0, "ok", 2);
}

/* Read the body first; see it again after the wait. */
static int read_then_wait(eddy_http_exchange *exchange, void *arg)
{
        const char *body;
        int err = eddy_http_exchange_body(exchange, (const void **) &body, &site.body_bytes);

        if (err < 0)
                return err;
        CHECK(site.body_bytes < sizeof(site.body));
        err = wait_to_go(exchange, arg);
        CHECK_EQ(strlen(body), site.body_bytes);
        memcpy(site.body, body, site.body_bytes + 1);
        return err;
}

static int serve(void *arg)
{
        const struct eddy_http_server_opts opts = { .flags = site.flags };

        (void) arg;
        if (site.kind == TLS)
                CHECK_EQ(eddy_tls_server(site.server, site.server_config, NULL, &site.server), 0);
        CHECK_EQ(eddy_http_serve_stream(site.server, &opts, site.handler, NULL), 0);
        return 0;
}

static void connect_by(eddy_listener *listener, const char *path)
{
        if (path)
                CHECK_EQ(eddy_unix_connect(path, NULL, &site.client), 0);
        else
                CHECK_EQ(eddy_tcp_connect("127.0.0.1", eddy_listener_port(listener), NULL,
                                          &site.client),
                         0);
        CHECK_EQ(eddy_listener_accept(listener, &site.server), 0);
        eddy_listener_close(listener);
}

static void streams_make(void)
{
        eddy_listener *listener;
        char path[64];

        snprintf(path, sizeof(path), "/tmp/eddy-at-end-%d", (int) getpid());
        if (site.kind == TCP) {
                CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
                connect_by(listener, NULL);
        } else if (site.kind == UNIX) {
                CHECK_EQ(eddy_unix_listen(path, NULL, &listener), 0);
                connect_by(listener, path);
        } else {
                CHECK_EQ(eddy_stream_pair(NULL, &site.client, &site.server), 0);
        }
}

/* Begin to serve in 'scope', and send 'request'. */
static void site_begin(eddy_scope *scope, uint32_t flags, eddy_http_handler_fn *handler,
                       const char *request)
{
        site.flags = flags;
        site.handler = handler;
        site.handled = 0;
        memset(site.results, 0x7f, sizeof(site.results));
        site.began = false;
        site.go = 0;
        streams_make();
        eddy_scope_begin(scope, NULL);
        CHECK_EQ(eddy_scope_start(scope, serve, NULL), 0);
        if (site.kind == TLS)
                CHECK_EQ(eddy_tls_client(site.client, site.client_config, "localhost", NULL,
                                         &site.client),
                         0);
        CHECK_EQ(eddy_stream_write(site.client, request, strlen(request)), 0);
}

static void until_begun(void)
{
        while (!site.began)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
}

/* Read until the server ends the connection. */
static const struct answer *site_end(eddy_scope *scope)
{
        static struct answer got;

        read_answer(site.client, &got);
        eddy_stream_close(site.client);
        CHECK_EQ(eddy_scope_end(scope), 0);
        return &got;
}

static void configs_make(void)
{
        struct eddy_tls_opts server = { .flags = EDDY_TLS_SERVER }, client = { .flags = 0 };
        struct tls_files files;

        tls_files_make(&files, "localhost");
        server.cert_file = client.ca_file = files.cert;
        server.key_file = files.key;
        CHECK_EQ(eddy_tls_config_new(&server, NULL, &site.server_config), 0);
        CHECK_EQ(eddy_tls_config_new(&client, NULL, &site.client_config), 0);
}

struct on_each {
        void (*fn)(void);
};

static int on_each_kind(void *arg)
{
        const struct on_each *call = arg;

        configs_make();
        for (site.kind = PAIR; site.kind < KINDS; site.kind++)
                call->fn();
        eddy_tls_config_close(site.server_config);
        eddy_tls_config_close(site.client_config);
        return 0;
}

/* AT_END_TEST(claim) { ... } runs on each kind of stream, simulated and real. */
#define AT_END_TEST(claim)                                                                         \
        static void each_##claim(void);                                                            \
        TEST(claim)                                                                                \
        {                                                                                          \
                struct on_each call = { each_##claim };                                            \
                                                                                                   \
                http_run(on_each_kind, &call);                                                     \
                http_run_real(on_each_kind, &call);                                                \
        }                                                                                          \
        static void each_##claim(void)

AT_END_TEST(a_client_that_ends_its_sending_cancels_the_handler)
{
        eddy_scope scope;

        site_begin(&scope, EDDY_HTTP_SERVER_CANCEL_AT_END, wait_to_go, GET);
        until_begun();
        CHECK_EQ(eddy_stream_shutdown(site.client), 0);
        CHECK_EQ(site_end(&scope)->responses, 0);
        CHECK_EQ(site.handled, 1);
        CHECK_ERR(site.results[0], -ECANCELED);
}

AT_END_TEST(an_end_that_comes_with_the_request_cancels_a_handler_that_waits)
{
        eddy_scope scope;

        site_begin(&scope, EDDY_HTTP_SERVER_CANCEL_AT_END, wait_to_go, GET);
        CHECK_EQ(eddy_stream_shutdown(site.client), 0);
        CHECK_EQ(site_end(&scope)->responses, 0);
        CHECK_ERR(site.results[0], -ECANCELED);
}

AT_END_TEST(without_the_option_the_answer_is_sent)
{
        eddy_scope scope;

        site_begin(&scope, 0, wait_to_go, GET);
        until_begun();
        CHECK_EQ(eddy_stream_shutdown(site.client), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(10)), 0);
        site.go = 1;
        CHECK_EQ(site_end(&scope)->responses, 1);
        CHECK_EQ(site.results[0], 0);
}

/* The second request is the last one, so the end cancels its handler. */
AT_END_TEST(a_next_request_is_not_an_end_and_its_handler_sees_the_end)
{
        eddy_scope scope;

        site_begin(&scope, EDDY_HTTP_SERVER_CANCEL_AT_END, wait_to_go, GET);
        until_begun();
        CHECK_EQ(eddy_stream_write(site.client, GET, strlen(GET)), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(10)), 0);
        CHECK_EQ(eddy_stream_shutdown(site.client), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(10)), 0);
        CHECK_EQ(site.handled, 0);
        site.go = 1;
        CHECK_EQ(site_end(&scope)->responses, 1);
        CHECK_EQ(site.handled, 2);
        CHECK_EQ(site.results[0], 0);
        CHECK_ERR(site.results[1], -ECANCELED);
}

/* A body that fills the buffer, or is chunked; the next request comes while the handler has it. */
static void check_body(const char *head, const char *body, size_t bytes)
{
        static char request[12000];
        eddy_scope scope;

        snprintf(request, sizeof(request), "%s%s", head, body);
        site_begin(&scope, EDDY_HTTP_SERVER_CANCEL_AT_END, read_then_wait, head);
        CHECK_EQ(eddy_sleep(EDDY_MS(5)), 0);
        CHECK(!site.began);
        CHECK_EQ(eddy_stream_write(site.client, body, strlen(body)), 0);
        until_begun();
        CHECK_EQ(eddy_stream_write(site.client, GET, strlen(GET)), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(5)), 0);
        CHECK_EQ(eddy_stream_shutdown(site.client), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(5)), 0);
        CHECK_EQ(site.handled, 0);
        site.go = 2;
        CHECK_EQ(site_end(&scope)->responses, 2);
        CHECK_EQ(site.handled, 2);
        CHECK_EQ(site.body_bytes, 0); /* of the second */
        (void) bytes;

        /* The same without a next request. */
        site_begin(&scope, EDDY_HTTP_SERVER_CANCEL_AT_END, read_then_wait, request);
        until_begun();
        CHECK_EQ(eddy_stream_shutdown(site.client), 0);
        CHECK_EQ(site_end(&scope)->responses, 0);
        CHECK_ERR(site.results[0], -ECANCELED);
        CHECK_EQ(site.body_bytes, bytes);
}

AT_END_TEST(a_body_is_read_before_an_end_counts_and_stays_whole)
{
        static char body[5001], head[200];

        for (size_t bytes = 1; bytes <= 5000; bytes = bytes < 4090 ? bytes + 4089 : bytes + 1) {
                if (bytes == 4100)
                        bytes = 4999;
                memset(body, 'b', bytes);
                body[bytes] = '\0';
                snprintf(head, sizeof(head),
                         "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %zu\r\n\r\n", bytes);
                if (bytes < sizeof(site.body))
                        check_body(head, body, bytes);
        }
        check_body("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
                   "3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n", 7);
}

/* The head ends at each place near the end of the buffer. */
AT_END_TEST(a_head_that_fills_the_buffer_is_watched)
{
        static char head[5000];
        eddy_scope scope;

        for (int bytes = 4090; bytes <= 4098; bytes++) {
                const int fill = bytes - (int) strlen("GET / HTTP/1.1\r\nHost: a\r\nX: \r\n\r\n");

                snprintf(head, sizeof(head), "GET / HTTP/1.1\r\nHost: a\r\nX: %0*d\r\n\r\n", fill,
                         0);
                CHECK_EQ(strlen(head), bytes);
                site_begin(&scope, EDDY_HTTP_SERVER_CANCEL_AT_END, wait_to_go, head);
                until_begun();
                CHECK_EQ(eddy_stream_shutdown(site.client), 0);
                CHECK_EQ(site_end(&scope)->responses, 0);
                CHECK_ERR(site.results[0], -ECANCELED);
        }
}

/* ---- a stream that a handler takes ------------------------------------------------- */

static int take(eddy_http_exchange *exchange, void *arg)
{
        const struct eddy_http_header upgrade = { "Upgrade", "echo" };
        eddy_stream *stream;
        const void *early;
        size_t early_bytes;
        char text[16];
        int64_t n;

        (void) arg;
        site.began = true;
        while (site.go == 0)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(eddy_http_exchange_upgrade(exchange, &upgrade, 1, &stream, &early, &early_bytes),
                 0);
        CHECK_EQ(early_bytes, 5);
        CHECK_EQ(eddy_stream_write(stream, early, early_bytes), 0);
        while ((n = eddy_stream_read(stream, text, sizeof(text))) > 0)
                CHECK_EQ(eddy_stream_write(stream, text, (size_t) n), 0);
        CHECK_EQ(n, 0);
        site.handled++;
        eddy_stream_close(stream);
        return 0;
}

AT_END_TEST(bytes_that_were_read_ahead_are_early_bytes_of_an_upgrade)
{
        eddy_scope scope;

        site_begin(&scope, EDDY_HTTP_SERVER_CANCEL_AT_END, take,
                   "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n");
        until_begun();
        CHECK_EQ(eddy_stream_write(site.client, "early", 5), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(10)), 0);
        site.go = 1;
        CHECK_HAS(say(site.client, "", "early"), "101 ");
        CHECK_HAS(say(site.client, "late", "late"), "late");
        CHECK_EQ(eddy_stream_shutdown(site.client), 0);
        (void) site_end(&scope);
        CHECK_EQ(site.handled, 1);
}

static int two_flags(void *arg)
{
        const struct eddy_http_server_opts opts = { .flags = *(const uint32_t *) arg };

        CHECK_EQ(eddy_stream_pair(NULL, &site.client, &site.server), 0);
        CHECK_EQ(eddy_http_serve_stream(site.server, &opts, wait_to_go, NULL), -EINVAL);
        eddy_stream_close(site.client);
        return 0;
}

TEST(a_handler_cannot_both_finish_and_be_cancelled)
{
        uint32_t flags = EDDY_HTTP_SERVER_FINISH | EDDY_HTTP_SERVER_CANCEL_AT_END;

        http_run(two_flags, &flags);
}

TEST(a_server_speaks_at_least_one_version)
{
        uint32_t flags = EDDY_HTTP_SERVER_HTTP1_ONLY | EDDY_HTTP_SERVER_HTTP2_ONLY;

        http_run(two_flags, &flags);
}
