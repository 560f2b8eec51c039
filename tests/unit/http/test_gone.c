/*
 * test_gone.c - a handler whose client is gone, and streams that a handler takes
 * from the server by an upgrade.
 */
#include <stdlib.h>
#include <unistd.h>

#include "http_test.h"

static struct {
        eddy_listener *listener;
        const char *unix_path; /* NULL: TCP */
        eddy_http_handler_fn *handler;
        unsigned flags;
        int handled, result; /* of the handler's wait */
        int64_t took_ns;
} site;

static eddy_stream *connected(const char *request)
{
        eddy_stream *stream;

        if (site.unix_path)
                CHECK_EQ(eddy_unix_connect(site.unix_path, NULL, &stream), 0);
        else
                CHECK_EQ(eddy_tcp_connect("127.0.0.1", eddy_listener_port(site.listener), NULL,
                                          &stream),
                         0);
        CHECK_EQ(eddy_stream_write(stream, request, strlen(request)), 0);
        return stream;
}

static int serve(void *arg)
{
        struct eddy_http_server_opts opts = { .flags = site.flags };

        (void) arg;
        (void) eddy_http_serve(site.listener, &opts, site.handler, NULL);
        return 0;
}

struct call {
        void (*fn)(void);
};

static int site_main(void *arg)
{
        struct call *call = arg;
        eddy_scope scope;

        site.handled = 0;
        site.result = 1;
        if (site.unix_path)
                CHECK_EQ(eddy_unix_listen(site.unix_path, NULL, &site.listener), 0);
        else
                CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &site.listener), 0);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, serve, NULL), 0);
        call->fn();
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        eddy_listener_close(site.listener);
        return 0;
}

/* Run 'fn' against a server with this handler, on the simulated table and on the real one. */
static void site_run(eddy_http_handler_fn *handler, unsigned flags, void (*fn)(void))
{
        struct call call = { fn };

        site.handler = handler;
        site.flags = flags;
        http_run(site_main, &call);
        http_run_real(site_main, &call);
}

#define GET "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

/* ---- the client is gone ------------------------------------------------------------ */

static int wait_long(eddy_http_exchange *exchange, void *arg)
{
        int64_t before = eddy_now();

        (void) arg;
        site.result = eddy_sleep(EDDY_MS(400));
        site.took_ns = eddy_now() - before;
        site.handled++;
        if (site.result < 0)
                return site.result;
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, "ok", 2);
}

static void until_handled(void)
{
        while (site.handled == 0)
                http_pause(EDDY_MS(1));
}

static void reset_while_handled(void)
{
        eddy_stream *stream = connected(GET);

        http_pause(EDDY_MS(20));
        eddy_stream_abort(stream);
        until_handled();
}

static void reset_cancels(void)
{
        reset_while_handled();
        CHECK_ERR(site.result, -ECANCELED);
        CHECK(site.took_ns < EDDY_MS(300));
}

TEST(reset_of_the_client_cancels_its_handler)
{
        site_run(wait_long, 0, reset_cancels);
}

static void reset_changes_nothing(void)
{
        reset_while_handled();
        CHECK_EQ(site.result, 0);
}

TEST(reset_of_the_client_is_ignored_by_option)
{
        site_run(wait_long, EDDY_HTTP_SERVER_FINISH, reset_changes_nothing);
}

static void half_close(void)
{
        eddy_stream *stream = connected(GET);
        char buf[1024];

        CHECK_EQ(eddy_stream_shutdown(stream), 0);
        CHECK(read_until(stream, buf, sizeof(buf), "\r\n\r\nok"));
        CHECK_EQ(site.result, 0);
        eddy_stream_close(stream);
}

TEST(client_that_ends_only_its_sending_gets_its_answer)
{
        site_run(wait_long, 0, half_close);
}

static int write_and_wait(eddy_http_exchange *exchange, void *arg)
{
        int64_t before;

        (void) arg;
        CHECK_EQ(eddy_http_exchange_begin(exchange, 200, NULL, 0, -1), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(40)), 0);
        CHECK_EQ(eddy_http_exchange_write(exchange, "one", 3), 0); /* the client has closed */
        before = eddy_now();
        site.result = eddy_sleep(EDDY_SEC(2));
        site.took_ns = eddy_now() - before;
        site.handled++;
        return site.result;
}

static void full_close(void)
{
        eddy_stream *stream = connected(GET);
        char buf[1024];

        CHECK(read_until(stream, buf, sizeof(buf), "\r\n\r\n"));
        eddy_stream_close(stream);
        until_handled();
        CHECK_ERR(site.result, -ECANCELED);
        CHECK(site.took_ns < EDDY_SEC(1));
}

TEST(full_close_cancels_the_handler_once_something_was_written)
{
        site_run(write_and_wait, 0, full_close);
}

static int read_all(eddy_http_exchange *exchange, void *arg)
{
        const void *data;
        size_t bytes;

        (void) arg;
        site.result = eddy_http_exchange_body(exchange, &data, &bytes);
        site.handled++;
        return site.result;
}

static void reset_inside_the_body(void)
{
        eddy_stream *stream =
                connected("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabc");

        http_pause(EDDY_MS(20));
        eddy_stream_abort(stream);
        until_handled();
        CHECK(site.result == -ECANCELED || site.result == -ECONNRESET);
}

TEST(reset_inside_a_body_ends_the_read)
{
        site_run(read_all, 0, reset_inside_the_body);
}

static void close_of_unix_socket(void)
{
        eddy_stream *stream = connected(GET);

        http_pause(EDDY_MS(20));
        eddy_stream_close(stream);
        until_handled();
        CHECK_ERR(site.result, -ECANCELED);
        CHECK(site.took_ns < EDDY_MS(300));
        site.handled = 0;
        half_close();
}

TEST(close_of_a_unix_socket_cancels_the_handler_at_once)
{
        struct call call = { close_of_unix_socket };
        char folder[] = "/tmp/eddy-gone-XXXXXX", path[64];

        CHECK(mkdtemp(folder));
        snprintf(path, sizeof(path), "%s/s", folder);
        site.unix_path = path;
        site.handler = wait_long;
        site.flags = 0;
        http_run_real(site_main, &call);
        site.unix_path = NULL;
        CHECK_EQ(rmdir(folder), 0);
}

/* ---- upgrade ----------------------------------------------------------------------- */

#define UPGRADE_HEAD "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n"

static const struct eddy_http_header upgrade_headers[] = { { "Upgrade", "echo" } };

static int echo_upgraded(eddy_http_exchange *exchange, void *arg)
{
        eddy_stream *stream;
        const void *early;
        size_t early_bytes;
        char buf[64];
        int64_t n;
        int err;

        (void) arg;
        CHECK_ERR(eddy_http_exchange_upgrade(exchange, NULL, 0, &stream, &early, &early_bytes),
                  EDDY_E_HTTP_INVALID_ANSWER);
        err = eddy_http_exchange_upgrade(exchange, upgrade_headers, 1, &stream, &early,
                                         &early_bytes);
        CHECK_EQ(err, 0);
        CHECK_ERR(eddy_http_exchange_respond(exchange, 200, NULL, 0, "ok", 2), EDDY_E_HTTP_STATE);
        CHECK_EQ(eddy_stream_write(stream, early, early_bytes), 0);
        while ((n = eddy_stream_read(stream, buf, sizeof(buf))) > 0)
                CHECK_EQ(eddy_stream_write(stream, buf, (size_t) n), 0);
        site.result = (int) n;
        eddy_stream_close(stream);
        site.handled++;
        return 0;
}

static void talk_upgraded(void)
{
        eddy_stream *stream = connected(UPGRADE_HEAD "early");
        char buf[1024];

        CHECK(read_until(stream, buf, sizeof(buf), "\r\n\r\nearly"));
        CHECK(strstr(buf, "HTTP/1.1 101 "));
        CHECK(strstr(buf, "\r\nUpgrade: echo\r\n"));
        CHECK(strstr(buf, "\r\nConnection: Upgrade\r\n"));
        CHECK_EQ(eddy_stream_write(stream, "late", 4), 0);
        CHECK(read_until(stream, buf, sizeof(buf), "late"));
        CHECK_EQ(eddy_stream_shutdown(stream), 0);
        CHECK_EQ(eddy_stream_read(stream, buf, sizeof(buf)), 0);
        eddy_stream_close(stream);
        until_handled();
        CHECK_EQ(site.result, 0);
}

TEST(upgrade_hands_over_the_stream_and_the_early_bytes)
{
        site_run(echo_upgraded, 0, talk_upgraded);
        site_run(echo_upgraded, EDDY_HTTP_SERVER_FINISH, talk_upgraded);
}

/* Take the body, then upgrade; the body and the early bytes are both whole. */
static int upgrade_after_body(eddy_http_exchange *exchange, void *arg)
{
        eddy_stream *stream;
        const void *body, *early;
        size_t body_bytes, early_bytes;

        (void) arg;
        CHECK_EQ(eddy_http_exchange_body(exchange, &body, &body_bytes), 0);
        CHECK_EQ(eddy_http_exchange_upgrade(exchange, upgrade_headers, 1, &stream, &early,
                                            &early_bytes),
                 0);
        CHECK_STR(body, body_bytes > 0 ? "abc" : "");
        CHECK_EQ(eddy_stream_write(stream, early, early_bytes), 0);
        eddy_stream_close(stream);
        site.handled++;
        return 0;
}

static void upgrade_with_bodies(void)
{
#define PUT_HEAD "PUT / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: echo\r\n"
        static const char *const requests[] = {
                UPGRADE_HEAD "early",
                PUT_HEAD "Content-Length: 3\r\n\r\nabcearly",
                PUT_HEAD "Content-Length: 0\r\n\r\nearly",
                PUT_HEAD "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n0\r\n\r\nearly",
                PUT_HEAD "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nearly",
        };

        for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
                eddy_stream *stream = connected(requests[i]);
                char buf[1024];

                CHECK(read_until(stream, buf, sizeof(buf), "\r\n\r\nearly"));
                eddy_stream_close(stream);
        }
}

TEST(upgrade_after_the_body_was_taken_returns_all_early_bytes)
{
        site_run(upgrade_after_body, 0, upgrade_with_bodies);
}

static int refuse_upgrade(eddy_http_exchange *exchange, void *arg)
{
        eddy_stream *stream;
        const void *early;
        size_t early_bytes;

        (void) arg;
        site.result = eddy_http_exchange_upgrade(exchange, upgrade_headers, 1, &stream, &early,
                                                 &early_bytes);
        site.handled++;
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, "ok", 2);
}

static void ask_without_upgrade(void)
{
        static const char *const requests[] = {
                GET,
                "GET / HTTP/1.0\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n",
                ("PUT / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: echo\r\n"
                 "Content-Length: 2\r\n\r\nab"),
        };

        for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
                eddy_stream *stream = connected(requests[i]);
                char buf[1024];

                CHECK(read_until(stream, buf, sizeof(buf), "\r\n\r\nok"));
                CHECK_ERR(site.result, EDDY_E_HTTP_STATE);
                eddy_stream_close(stream);
        }
}

TEST(request_that_asks_for_no_upgrade_gets_none)
{
        site_run(refuse_upgrade, 0, ask_without_upgrade);
}
