/*
 * test_serve_stream.c - one given stream is served: pairs in memory, sockets without a listener, TLS
 * on both; its stop, its end, and mistakes of the caller.
 */
#include <sys/socket.h>

#include "../tls/tls_test.h"
#include "eddy/test.h"
#include "server_test.h"

#define GET  "GET /ok HTTP/1.1\r\nHost: a\r\n\r\n"
#define SLOW "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n"
#define LAST "GET /ok HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

static struct {
        eddy_stream *client, *server;
        struct eddy_http_server_opts opts;
        int result;       /* of the call; 1: it has not returned */
        int64_t ended_ns; /* when it returned, by the virtual clock of http_run() */
        int64_t began_ns;
        int handled, slow_result;
        eddy_stream *taken;
} site;

static int answer(eddy_http_exchange *exchange, void *arg)
{
        const struct eddy_http_header upgrade = { "Upgrade", "echo" };
        const void *early;
        size_t early_bytes;

        (void) arg;
        site.handled++;
        if (strcmp(eddy_http_exchange_path(exchange), "/slow") == 0) {
                site.slow_result = eddy_sleep(EDDY_SEC(3));
                if (site.slow_result < 0)
                        return site.slow_result;
        }
        if (strcmp(eddy_http_exchange_path(exchange), "/upgrade") == 0)
                return eddy_http_exchange_upgrade(exchange, &upgrade, 1, &site.taken, &early,
                                                  &early_bytes);
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, "ok", 2);
}

static int serve(void *arg)
{
        (void) arg;
        site.result = eddy_http_serve_stream(site.server, &site.opts, answer, NULL);
        site.ended_ns = eddy_now();
        return 0;
}

static void site_begin(void)
{
        memset(&site, 0, sizeof(site));
        site.result = 1;
        site.began_ns = eddy_now();
}

static void site_begin_on_pair(void)
{
        site_begin();
        CHECK_EQ(eddy_stream_pair(NULL, &site.client, &site.server), 0);
}

/*
 * Returns the milliseconds of the kit's virtual clock that the call took. This clock stops while a
 * task computes, so the speed of the machine does not matter.
 */
static int64_t virtual_ms_taken(void)
{
        return (site.ended_ns - site.began_ns) / EDDY_MS(1);
}

/* ---- kinds of streams -------------------------------------------------------------- */

/* Two requests; the client ends the connection in one of two ways. */
static void check_two_requests(const char *second)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, serve, NULL);
        CHECK_HAS(say(site.client, GET, "\r\n\r\nok"), "200 OK");
        CHECK_EQ(site.result, 1);
        if (second) {
                static struct answer got;

                CHECK_EQ(eddy_stream_write(site.client, second, strlen(second)), 0);
                read_answer(site.client, &got);
                CHECK_EQ(got.status, 200);
                CHECK_HAS(got.text, "Connection: close");
                CHECK_EQ(got.error, 0);
        }
        eddy_stream_close(site.client);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(site.result, 0);
        CHECK_EQ(site.handled, second ? 2 : 1);
}

static int on_pair(void *arg)
{
        (void) arg;
        site_begin_on_pair();
        check_two_requests(LAST);
        site_begin_on_pair();
        site.opts.drain_ns = EDDY_SEC(1);
        check_two_requests(NULL);
        return 0;
}

TEST(a_pair_in_memory_is_served_until_a_side_ends_it)
{
        http_run(on_pair, NULL);
        CHECK_EQ(eddy_test_run(on_pair, NULL, NULL, NULL), 0);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_SEEDS, on_pair, NULL, NULL, NULL), 0);
}

static int on_socket(void *arg)
{
        int fds[2];

        (void) arg;
        site_begin();
        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
        CHECK_EQ(eddy_stream_from_fd(fds[0], EDDY_STREAM_OWN_FD, &site.client), 0);
        CHECK_EQ(eddy_stream_from_fd(fds[1], EDDY_STREAM_OWN_FD, &site.server), 0);
        check_two_requests(LAST);
        return 0;
}

TEST(an_inherited_socket_is_served)
{
        http_run_real(on_socket, NULL);
}

/* ---- TLS --------------------------------------------------------------------------- */

static eddy_tls_config *server_config, *client_config;

static void configs_make(void)
{
        struct eddy_tls_opts server = { .flags = EDDY_TLS_SERVER }, client = { .flags = 0 };
        struct tls_files files;

        tls_files_make(&files, "localhost");
        server.cert_file = client.ca_file = files.cert;
        server.key_file = files.key;
        CHECK_EQ(eddy_tls_config_new(&server, NULL, &server_config), 0);
        CHECK_EQ(eddy_tls_config_new(&client, NULL, &client_config), 0);
}

static void configs_close(void)
{
        eddy_tls_config_close(server_config);
        eddy_tls_config_close(client_config);
}

static int secure_server(void *arg)
{
        const struct eddy_tls_conn_opts opts = { .alpn = arg };

        CHECK_EQ(eddy_tls_server(site.server, server_config, &opts, &site.server), 0);
        return 0;
}

/* Do the handshake of the client, and also that of the server with the given protocols. */
static void secure_both(const char *alpn)
{
        const struct eddy_tls_conn_opts opts = { .alpn = alpn };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, secure_server, (void *) (uintptr_t) alpn);
        CHECK_EQ(eddy_tls_client(site.client, client_config, "localhost", &opts, &site.client), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

static int with_tls(void *arg)
{
        eddy_scope scope;

        (void) arg;
        configs_make();
        site_begin_on_pair(); /* the call does the handshake */
        site.opts.tls = server_config;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, serve, NULL);
        CHECK_EQ(eddy_tls_client(site.client, client_config, "localhost", NULL, &site.client), 0);
        CHECK_HAS(say(site.client, GET, "\r\n\r\nok"), "200 OK");
        eddy_stream_close(site.client);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(site.result, 0);

        site_begin_on_pair(); /* the caller has done it */
        secure_both("http/1.1");
        check_two_requests(LAST);

        site_begin_on_pair(); /* for a protocol that is not spoken */
        secure_both("h2");
        site.opts.flags = EDDY_HTTP_SERVER_HTTP1_ONLY;
        CHECK_EQ(eddy_http_serve_stream(site.server, &site.opts, answer, NULL), -EINVAL);
        eddy_stream_close(site.client);
        configs_close();
        return 0;
}

TEST(tls_is_done_by_the_call_or_by_its_caller)
{
        http_run(with_tls, NULL);
}

static int without_handshake(void *arg)
{
        eddy_scope scope;

        (void) arg;
        configs_make();
        site_begin_on_pair();
        site.opts.tls = server_config;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, serve, NULL);
        CHECK_EQ(eddy_stream_write(site.client, GET, strlen(GET)), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_ERR(site.result, EDDY_E_TLS_PROTOCOL);
        eddy_stream_close(site.client);

        site_begin_on_pair(); /* a client that says nothing */
        site.opts.tls = server_config;
        site.opts.head_timeout_ns = EDDY_SEC(2);
        CHECK_EQ(serve(NULL), 0);
        CHECK_ERR(site.result, EDDY_E_NET_TIMED_OUT);
        CHECK_EQ(virtual_ms_taken(), 2000);
        eddy_stream_close(site.client);
        configs_close();
        return 0;
}

TEST(a_handshake_that_fails_is_the_result)
{
        http_run(without_handshake, NULL);
}

/* ---- the stop ---------------------------------------------------------------------- */

/* Stop the call a second after a request, or none, was sent; returns how long it took. */
static int64_t stopped_after_ms(int64_t drain_ns, const char *request)
{
        static struct answer got;
        eddy_scope scope;

        site_begin_on_pair();
        site.opts.drain_ns = drain_ns;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, serve, NULL);
        CHECK_EQ(eddy_stream_write(site.client, request, strlen(request)), 0);
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        CHECK_ERR(site.result, -ECANCELED);
        read_answer(site.client, &got);
        CHECK_EQ(got.responses, site.handled > 0 && site.slow_result == 0);
        if (got.responses > 0)
                CHECK_HAS(got.text, "Connection: close");
        eddy_stream_close(site.client);
        return virtual_ms_taken();
}

static int stops(void *arg)
{
        (void) arg;
        CHECK_EQ(stopped_after_ms(0, ""), 1000);
        CHECK_EQ(stopped_after_ms(EDDY_SEC(10), ""), 1000);
        CHECK_EQ(stopped_after_ms(EDDY_SEC(10), "GET / HT"), 1000);
        CHECK_EQ(stopped_after_ms(0, SLOW), 1000);
        CHECK_EQ(site.slow_result, -ECANCELED);
        CHECK_EQ(stopped_after_ms(EDDY_SEC(10), SLOW), 3000);
        CHECK_EQ(site.slow_result, 0);
        CHECK_EQ(stopped_after_ms(EDDY_SEC(1), SLOW), 2000);
        CHECK_EQ(site.slow_result, -ECANCELED);
        return 0;
}

TEST(a_cancel_lets_a_request_in_progress_finish_and_ends_a_wait_at_once)
{
        http_run(stops, NULL);
}

static int idle_too_long(void *arg)
{
        (void) arg;
        site_begin_on_pair();
        site.opts.idle_timeout_ns = EDDY_SEC(5);
        site.opts.drain_ns = EDDY_SEC(1);
        CHECK_EQ(serve(NULL), 0);
        CHECK_EQ(site.result, 0);
        CHECK_EQ(virtual_ms_taken(), 5000);
        eddy_stream_close(site.client);
        return 0;
}

TEST(an_idle_time_ends_the_call_with_success)
{
        http_run(idle_too_long, NULL);
}

/* ---- in a connection of eddy_serve() ----------------------------------------------- */

static int after_greeting(eddy_stream *stream, void *arg)
{
        (void) arg;
        CHECK_EQ(eddy_stream_write(stream, "hello\n", 6), 0);
        site.server = stream;
        return eddy_serve_idle(serve, NULL);
}

static int serve_listener(void *arg)
{
        const struct eddy_serve_opts opts = { .drain_ns = EDDY_SEC(10) };

        (void) eddy_serve(arg, &opts, after_greeting, NULL);
        return 0;
}

static int inside_serve(void *arg)
{
        eddy_listener *listener;
        eddy_scope scope;

        (void) arg;
        for (int busy = 0; busy < 2; busy++) {
                site_begin();
                site.opts.drain_ns = EDDY_SEC(10);
                CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
                eddy_scope_begin(&scope, NULL);
                eddy_scope_start(&scope, serve_listener, listener);
                CHECK_EQ(eddy_tcp_connect("127.0.0.1", eddy_listener_port(listener), NULL,
                                          &site.client),
                         0);
                CHECK_HAS(say(site.client, "", "hello\n"), "hello");
                if (busy)
                        CHECK_EQ(eddy_stream_write(site.client, SLOW, strlen(SLOW)), 0);
                CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0);
                eddy_scope_cancel(&scope);
                (void) eddy_scope_end(&scope);
                CHECK_ERR(site.result, -ECANCELED);
                CHECK_EQ(virtual_ms_taken(), busy ? 3000 : 1000);
                CHECK_EQ(site.handled, busy);
                eddy_stream_close(site.client);
                eddy_listener_close(listener);
        }
        return 0;
}

TEST(the_stop_of_an_outer_server_stops_the_call)
{
        http_run(inside_serve, NULL);
}

/* ---- the end ----------------------------------------------------------------------- */

static int client_goes(void *arg)
{
        eddy_scope scope;

        (void) arg;
        for (int abort = 0; abort < 2; abort++) {
                site_begin_on_pair();
                eddy_scope_begin(&scope, NULL);
                eddy_scope_start(&scope, serve, NULL);
                CHECK_EQ(eddy_stream_write(site.client, SLOW, strlen(SLOW)), 0);
                CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0);
                (abort ? eddy_stream_abort : eddy_stream_close)(site.client);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                CHECK_EQ(site.slow_result, -ECANCELED);
                CHECK_EQ(site.result, 0);
                CHECK_EQ(virtual_ms_taken(), 1000);
        }
        return 0;
}

TEST(a_client_that_closes_its_end_of_a_pair_cancels_the_handler)
{
        http_run(client_goes, NULL);
}

static int taken(void *arg)
{
        eddy_scope scope;

        (void) arg;
        site_begin_on_pair();
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, serve, NULL);
        CHECK_HAS(say(site.client,
                      "GET /upgrade HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\n"
                      "Upgrade: echo\r\n\r\n",
                      "\r\n\r\n"),
                  "101 ");
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(site.result, 0);
        CHECK(site.taken == site.server);
        CHECK_EQ(eddy_stream_write(site.taken, "mine", 4), 0);
        CHECK_HAS(say(site.client, "", "mine"), "mine");
        eddy_stream_close(site.taken);
        eddy_stream_close(site.client);
        return 0;
}

TEST(a_stream_that_a_handler_takes_is_not_closed)
{
        http_run(taken, NULL);
}

/* ---- mistakes ---------------------------------------------------------------------- */

/* The stream was closed, so the client reads its end. */
static void check_closed(void)
{
        char byte;

        CHECK_EQ(eddy_stream_read(site.client, &byte, 1), 0);
        eddy_stream_close(site.client);
}

static int mistaken(void *arg)
{
        const struct eddy_http_server_opts invalid = { .drain_ns = -1 };
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(eddy_http_serve_stream(NULL, NULL, answer, NULL), -EINVAL);
        site_begin_on_pair();
        CHECK_EQ(eddy_http_serve_stream(site.server, &invalid, answer, NULL), -EINVAL);
        check_closed();
        site_begin_on_pair();
        CHECK_EQ(eddy_http_serve_stream(site.server, NULL, NULL, NULL), -EINVAL);
        check_closed();
        site_begin_on_pair();
        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_http_serve_stream(site.server, NULL, answer, NULL), -ECANCELED);
        (void) eddy_scope_end(&scope);
        check_closed();
        return 0;
}

TEST(a_stream_is_closed_also_after_a_mistake)
{
        eddy_stream *stream;

        http_run(mistaken, NULL);
        CHECK_EQ(eddy_stream_from_fd(0, 0, &stream), EDDY_E_RUN_NOT_RUNNING);
        CHECK_ERR(eddy_http_serve_stream(NULL, NULL, answer, NULL), EDDY_E_RUN_NOT_RUNNING);
}

/* ---- shortages and cancels --------------------------------------------------------- */

static int short_of_something(void *arg)
{
        eddy_scope scope;
        char byte;

        (void) arg;
        site_begin();
        site.opts.drain_ns = EDDY_SEC(1);
        if (eddy_stream_pair(NULL, &site.client, &site.server) < 0)
                return 0;
        eddy_scope_begin(&scope, NULL);
        if (eddy_scope_start(&scope, serve, NULL) < 0)
                eddy_stream_close(site.server);
        if (eddy_stream_write(site.client, GET, strlen(GET)) == 0 &&
            eddy_stream_read(site.client, &byte, 1) == 1)
                CHECK_EQ(byte, 'H');
        eddy_stream_close(site.client);
        (void) eddy_scope_end(&scope);
        return 0;
}

TEST(shortages_and_cancels_of_a_served_stream_leave_nothing)
{
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_ALLOC, short_of_something, NULL, NULL, NULL), 0);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_CANCEL, short_of_something, NULL, NULL, NULL), 0);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_CANCEL_TASK, short_of_something, NULL, NULL, NULL), 0);
}
