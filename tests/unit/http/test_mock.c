/*
 * test_mock.c - the mock transport: a server's handler answers the requests of a client, without a
 * network.
 *
 * Bodies in both directions, limits and time limits are those of a client with a server; a close
 * of the client ends the handlers first; a cancel or a shortage of memory at any point leaves
 * nothing.
 */
#include "eddy/test.h"
#include "http_test.h"

enum { BODY_BYTES = 300000, SLOW_BYTES = 20000, PIECE_BYTES = 2000, AT_ONCE = 10, REQUESTS = 200 };

static char body[BODY_BYTES];
static bool by_http2;

static struct {
        eddy_http_client *client;
        int calls, running, most, cancelled, ended;
        char host[64], path[64];
        int64_t read; /* bytes of the request's body */
} seen;

static int answer_slowly(eddy_http_exchange *exchange)
{
        int err = eddy_sleep(EDDY_SEC(5));
        eddy_scope cleanup;

        if (err == 0)
                return eddy_http_exchange_respond(exchange, 200, NULL, 0, "late", 4);
        seen.cancelled++;
        eddy_scope_begin(&cleanup, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
        http_pause(EDDY_MS(300));
        CHECK_EQ(eddy_scope_end(&cleanup), 0);
        seen.ended++;
        return err;
}

static int answer_expected(eddy_http_exchange *exchange)
{
        const void *data;
        size_t bytes;
        int err;

        if (!strstr(eddy_http_exchange_query(exchange), "refuse")) {
                err = eddy_http_exchange_body(exchange, &data, &bytes);
                if (err < 0)
                        return err;
                seen.read = (int64_t) bytes;
                return eddy_http_exchange_respond(exchange, 200, NULL, 0, "ok", 2);
        }
        return eddy_http_exchange_respond(exchange, 413, NULL, 0, "no", 2);
}

static int answer(eddy_http_exchange *exchange)
{
        const char *path = eddy_http_exchange_path(exchange);

        if (strcmp(path, "/echo") == 0)
                return http_echo(exchange, NULL);
        if (strcmp(path, "/slow") == 0)
                return answer_slowly(exchange);
        if (strcmp(path, "/fails") == 0)
                return -EIO;
        if (strcmp(path, "/expect") == 0)
                return answer_expected(exchange);
        if (strcmp(path, "/abort") == 0) {
                eddy_http_exchange_abort(exchange);
                return 0;
        }
        if (strcmp(path, "/pause") == 0 && eddy_sleep(EDDY_MS(1)) < 0)
                return -ECANCELED;
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, "ok", 2);
}

static int handle(eddy_http_exchange *exchange, void *arg)
{
        int result;

        CHECK(arg == &seen);
        seen.calls++;
        seen.running++;
        if (seen.running > seen.most)
                seen.most = seen.running;
        snprintf(seen.host, sizeof(seen.host), "%s", eddy_http_exchange_host(exchange));
        snprintf(seen.path, sizeof(seen.path), "%s", eddy_http_exchange_target(exchange));
        result = answer(exchange);
        seen.running--;
        return result;
}

static int client_new(const struct eddy_http_client_opts *opts)
{
        struct eddy_http_client_opts own = *opts;

        memset(&seen, 0, sizeof(seen));
        own.handler = handle;
        own.handler_arg = &seen;
        own.flags |= by_http2 ? EDDY_HTTP_CLIENT_H2C : 0;
        return eddy_http_client_new(&own, &seen.client);
}

/* Returns the status, or an error. */
static int fetch(const struct eddy_http_request *request, uint64_t *ret_bytes)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        const void *data;
        size_t bytes;
        int err = eddy_http_client_send(seen.client, request, &response);

        if (err >= 0)
                err = eddy_http_response_body(response, &data, &bytes);
        if (err < 0)
                return err;
        if (ret_bytes)
                *ret_bytes = bytes;
        return eddy_http_response_status(response);
}

static int get(const char *url)
{
        return fetch(&(struct eddy_http_request){ .url = url }, NULL);
}

/* ---- without a network ------------------------------------------------------------- */

static int without_network(void *arg)
{
        static const char *const resolve[] = { "api.test:443:10.9.9.9" };
        struct eddy_http_response_info info;
        struct eddy_http_client_stats stats;
        eddy_http_response *response;

        (void) arg;
        http_let_die();
        CHECK_EQ(client_new(OPTIONS(.http_proxy = "10.9.9.9:1", .https_proxy = "10.9.9.9:1",
                                    .unix_path = "/nowhere", .resolve = resolve,
                                    .resolve_count = 1)),
                 0);
        CHECK_EQ(get("http://unknown.invalid:81/a?b=c"), 200);
        CHECK_STR(seen.host, "unknown.invalid:81");
        CHECK_STR(seen.path, "/a?b=c");
        CHECK_EQ(get("https://api.test/v1"), 200);
        CHECK_STR(seen.host, "api.test");
        CHECK_EQ(get("https://api.test/v2"), 200);
        CHECK_STR(seen.path, "/v2");
        CHECK_EQ(eddy_http_client_send(seen.client,
                                       &(struct eddy_http_request){ .url = "https://api.test/v3" },
                                       &response),
                 0);
        eddy_http_response_info(response, &info);
        CHECK_EQ(info.peer->kind, EDDY_ENDPOINT_NONE);
        CHECK_EQ(info.timings.name_ns, -1);
        CHECK_EQ(info.timings.tls_ns, -1);
        eddy_http_response_close(response);
        eddy_http_client_stats(seen.client, &stats);
        CHECK_EQ(stats.requests, 4);
        CHECK_EQ(stats.connections, 2); /* one for each origin */
        CHECK_STATS(seen.client, 2, 2, 0);
        http_pause(EDDY_SEC(16));
        CHECK_STATS(seen.client, 0, 0, 0); /* idle connections end as usual */
        CHECK_EQ(get("https://api.test/v4"), 200);
        eddy_http_client_close(seen.client);
        return 0;
}

TEST(handler_answers_http_and_https_urls_without_a_network)
{
        http_run(without_network, NULL);
}

static int on_kernel(void *arg)
{
        (void) arg;
        CHECK_EQ(client_new(OPTIONS(.connections_max = 3)), 0);
        CHECK_EQ(get("http://a.invalid/"), 200);
        CHECK_EQ(get("https://a.invalid/"), 200);
        eddy_http_client_close(seen.client);
        return 0;
}

TEST(handler_answers_on_the_real_loop)
{
        http_run_real(on_kernel, NULL);
}

/* ---- answers ------------------------------------------------------------------------ */

static int answers(void *arg)
{
        (void) arg;
        CHECK_EQ(client_new(OPTIONS(.timeouts.read_ns = EDDY_SEC(1))), 0);
        CHECK_EQ(get("http://a/fails"), 500);
        CHECK_ERR(get("http://a/abort"), EDDY_E_HTTP_CLOSED);
        CHECK_ERR(get("http://a/slow"), EDDY_E_HTTP_TIMEOUT_READ);
        http_pause(EDDY_SEC(1));
        CHECK_EQ(seen.cancelled, 1); /* its client was gone */
        CHECK_EQ(seen.ended, 1);
        CHECK_EQ(get("http://a/"), 200);
        eddy_http_client_close(seen.client);
        return 0;
}

TEST(errors_aborts_and_time_limits_are_those_of_a_server)
{
        http_run(answers, NULL);
}

/* ---- bodies ------------------------------------------------------------------------- */

struct source {
        size_t left;
        int64_t pause_ns;
};

static int64_t source_read(void *arg, void *buf, size_t bytes)
{
        struct source *source = arg;
        size_t n = source->left < bytes ? source->left : bytes;

        if (n > PIECE_BYTES)
                n = PIECE_BYTES;
        if (eddy_sleep(source->pause_ns) < 0)
                return -ECANCELED;
        memcpy(buf, body + BODY_BYTES - source->left, n);
        source->left -= n;
        return (int64_t) n;
}

static int bodies(void *arg)
{
        struct source state = { SLOW_BYTES, EDDY_SEC(20) }; /* slower than a server allows */
        struct eddy_http_body_source source = { .read = source_read, .arg = &state, .bytes = -1 };
        uint64_t bytes = 0;

        (void) arg;
        CHECK_EQ(client_new(OPTIONS(.connections_max = 0)), 0);
        CHECK_EQ(fetch(&(struct eddy_http_request){ .url = "http://a/echo",
                                                    .body = body,
                                                    .body_bytes = BODY_BYTES },
                       &bytes),
                 200);
        CHECK_EQ(bytes, BODY_BYTES);
        bytes = 0;
        CHECK_EQ(
                fetch(&(struct eddy_http_request){ .url = "http://a/echo", .body_source = &source },
                      &bytes),
                200);
        CHECK_EQ(bytes, SLOW_BYTES);
        eddy_http_client_close(seen.client);
        return 0;
}

TEST(bodies_of_any_speed_go_both_ways)
{
        http_run(bodies, NULL);
}

static int expected(void *arg)
{
        struct source state = { 1000, 0 };
        struct eddy_http_body_source source = { .read = source_read, .arg = &state, .bytes = 1000 };
        struct eddy_http_request request = { .url = "http://a/expect?refuse",
                                             .body_source = &source,
                                             .expect_continue_ns = EDDY_SEC(1) };

        (void) arg;
        CHECK_EQ(client_new(OPTIONS(.connections_max = 0)), 0);
        CHECK_EQ(fetch(&request, NULL), 413);
        CHECK_EQ(state.left, 1000);
        request.url = "http://a/expect";
        CHECK_EQ(fetch(&request, NULL), 200);
        CHECK_EQ(seen.read, 1000);
        eddy_http_client_close(seen.client);
        return 0;
}

TEST(body_waits_for_100_continue)
{
        http_run(expected, NULL);
}

TEST(handler_is_reached_by_http_2_if_an_option_says_so)
{
        by_http2 = true;
        http_run(without_network, NULL);
        http_run(bodies, NULL);
        http_run(expected, NULL);
        by_http2 = false;
}

/* ---- many connections --------------------------------------------------------------- */

static int get_once(void *arg)
{
        int result = get("http://a/pause");

        (void) arg;
        return result == 200 ? 0 : result < 0 ? result : -EPROTO;
}

static int many(void *arg)
{
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(client_new(OPTIONS(.connections_max = AT_ONCE)), 0);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < REQUESTS; i++)
                eddy_scope_start(&scope, get_once, NULL);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(seen.calls, REQUESTS);
        CHECK_EQ(seen.most, AT_ONCE);
        CHECK_STATS(seen.client, AT_ONCE, AT_ONCE, 0);
        eddy_http_client_close(seen.client);
        return 0;
}

TEST(limit_of_connections_holds)
{
        http_run(many, NULL);
}

/* ---- the close ---------------------------------------------------------------------- */

static int get_until_closed(void *arg)
{
        (void) arg;
        CHECK_ERR(get("http://a/slow"), EDDY_E_HTTP_CLIENT_CLOSED);
        return 0;
}

static int close_now(void *arg)
{
        int64_t began_ns = eddy_now();

        (void) arg;
        eddy_http_client_close(seen.client);
        CHECK_EQ((eddy_now() - began_ns) / EDDY_MS(1), 300); /* the cleanup of the handlers */
        CHECK_EQ(seen.cancelled, 3);
        CHECK_EQ(seen.ended, 3);
        CHECK_EQ(seen.running, 0);
        return 0;
}

static void closed_during_calls(bool in_cancelled_task)
{
        eddy_scope callers, scope;

        CHECK_EQ(client_new(OPTIONS(.connections_max = 0)), 0);
        eddy_scope_begin(&callers, NULL);
        for (int i = 0; i < 3; i++)
                eddy_scope_start(&callers, get_until_closed, NULL);
        http_pause(EDDY_SEC(1));
        CHECK_EQ(seen.running, 3);
        eddy_scope_begin(&scope, NULL);
        if (in_cancelled_task)
                eddy_scope_cancel(&scope);
        CHECK_EQ(close_now(NULL), 0);
        (void) eddy_scope_end(&scope);
        CHECK_EQ(eddy_scope_end(&callers), 0);
}

static int close_waits(void *arg)
{
        (void) arg;
        closed_during_calls(false);
        closed_during_calls(true);
        return 0;
}

TEST(close_cancels_the_handlers_and_waits_for_them)
{
        http_run(close_waits, NULL);
}

static int note_turn(void *arg)
{
        *(bool *) arg = true;
        return 0;
}

static int close_without_calls(void *arg)
{
        bool other_ran = false;
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(client_new(OPTIONS(.connections_max = 0)), 0);
        CHECK_EQ(get("http://a/"), 200);
        CHECK_STATS(seen.client, 1, 1, 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, note_turn, &other_ran);
        eddy_http_client_close(seen.client);
        CHECK(!other_ran);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        return 0;
}

TEST(close_does_not_suspend_if_no_handler_runs)
{
        http_run(close_without_calls, NULL);
        http_run_real(close_without_calls, NULL);
}

/* The connection's task has its request, and has not run yet when the client is closed. */
static int close_before_call(void *arg)
{
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(client_new(OPTIONS(.connections_max = 0)), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, get_until_closed, NULL);
        while (seen.calls == 0) {
                struct eddy_http_client_stats stats;

                (void) eddy_sleep(0);
                eddy_http_client_stats(seen.client, &stats);
                if (stats.requests == 1)
                        break;
        }
        CHECK_EQ(seen.calls, 0);
        eddy_http_client_close(seen.client);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        http_pause(1);
        CHECK_EQ(seen.calls, 0);
        return 0;
}

TEST(handler_is_not_called_after_the_close)
{
        http_run(close_before_call, NULL);
}

static int close_inside(eddy_http_exchange *exchange, void *arg)
{
        (void) exchange;
        (void) arg;
        eddy_http_client_close(seen.client);
        CHECK_ERR(eddy_sleep(1), -ECANCELED);
        seen.ended++;
        return -ECANCELED;
}

static int closed_by_handler(void *arg)
{
        (void) arg;
        memset(&seen, 0, sizeof(seen));
        CHECK_EQ(eddy_http_client_new(OPTIONS(.handler = close_inside), &seen.client), 0);
        CHECK_ERR(get("http://a/"), EDDY_E_HTTP_CLIENT_CLOSED);
        http_pause(1);
        CHECK_EQ(seen.ended, 1);
        return 0;
}

TEST(handler_may_close_the_client)
{
        http_run(closed_by_handler, NULL);
}

/* ---- faults ------------------------------------------------------------------------- */

static int fetch_some(void *arg)
{
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        struct source state = { 4000, EDDY_MS(1) };
        struct eddy_http_body_source source = { .read = source_read, .arg = &state, .bytes = -1 };
        int err = client_new(OPTIONS(.connections_max = 2));

        (void) arg;
        if (err < 0)
                return err;
        client = seen.client;
        err = get("http://a/pause");
        if (err == 200)
                err = fetch(&(struct eddy_http_request){ .url = "https://b/echo",
                                                         .body_source = &source },
                            NULL);
        if (err == 200)
                err = eddy_call_timeout(get_once, NULL, EDDY_SEC(1));
        return err <= 0 ? err : -EPROTO;
}

static void sweep_cancels_of(const char *name)
{
        struct eddy_test_opts opts = { .cancel_named = name };
        struct eddy_test_sweep sweep;

        CHECK_EQ(eddy_test_sweep(EDDY_TEST_CANCEL_TASK, fetch_some, NULL, &opts, &sweep), 0);
        CHECK(sweep.tried > 0);
}

TEST(cancel_of_one_task_ends_its_request)
{
        sweep_cancels_of("http_mock");
        sweep_cancels_of("http_upload");
}

TEST(cancel_or_shortage_at_any_point_leaves_nothing)
{
        static const int kinds[] = { EDDY_TEST_SEEDS, EDDY_TEST_CANCEL, EDDY_TEST_ALLOC,
                                     EDDY_TEST_ALLOC_FOREVER };

        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
                struct eddy_test_sweep sweep;

                CHECK_EQ(eddy_test_sweep(kinds[i], fetch_some, NULL, NULL, &sweep), 0);
                CHECK(sweep.tried > 0);
        }
}
