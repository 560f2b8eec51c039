/*
 * test_server_metrics.c - the requests of a server as metrics.
 *
 * - Each request counts once, by its route and the class of its status, also if the server answers.
 * - No path becomes a label. A handler that was cancelled counts as that.
 * - A shortage of memory or a cancel at each point leaves nothing.
 */
#include <string.h>

#include "eddy/http_server_metrics.h"
#include "eddy/test.h"
#include "server_test.h"

#define GET(path) "GET " path " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

static eddy_metrics *metrics;
static eddy_http_server_metrics *measured;
static eddy_http_router *router;

static void check_page(const char *const *lines)
{
        size_t bytes;
        char *page;

        CHECK_EQ(eddy_metrics_write(metrics, &page, &bytes), 0);
        for (; *lines; lines++)
                CHECK_HAS(page, *lines);
        eddy_free(page);
}

static int show_user(eddy_http_exchange *exchange, void *arg)
{
        static const char *const one[] = { "\nhttp_requests_in_flight 1\n", NULL };
        int err = eddy_sleep(EDDY_MS(30));

        (void) arg;
        if (err < 0)
                return err;
        check_page(one);
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, "0123456789", 10);
}

static int fail(eddy_http_exchange *exchange, void *arg)
{
        (void) exchange;
        (void) arg;
        return -ETIMEDOUT;
}

/* Read the body, and return the error. */
static int read_body(eddy_http_exchange *exchange, void *arg)
{
        const void *data;
        size_t bytes;

        (void) arg;
        return eddy_http_exchange_body(exchange, &data, &bytes);
}

static int answer_nothing(eddy_http_exchange *exchange, void *arg)
{
        (void) exchange;
        (void) arg;
        return 0;
}

static int wait_long(eddy_http_exchange *exchange, void *arg)
{
        (void) exchange;
        (void) arg;
        return eddy_sleep(EDDY_MIN(1));
}

static int make(void)
{
        const struct eddy_metrics_opts own = { .without_process = true, .without_loop = true };
        int err = eddy_metrics_new(&own, &metrics);

        if (err >= 0)
                err = eddy_http_server_metrics_new(metrics, &measured);
        if (err >= 0)
                err = eddy_http_router_new(&router);
        if (err < 0)
                return err;
        (void) eddy_http_router_use(router, eddy_http_measure, measured);
        (void) eddy_http_router_add(router, "GET /users/{id}", show_user, NULL, NULL);
        (void) eddy_http_router_add(router, "GET /fail", fail, NULL, NULL);
        (void) eddy_http_router_add(router, "POST /body", read_body, NULL, NULL);
        (void) eddy_http_router_add(router, "GET /none", answer_nothing, NULL, NULL);
        (void) eddy_http_router_add(router, "GET /long", wait_long, NULL, NULL);
        return eddy_http_router_check(router, NULL);
}

static void unmake(void)
{
        eddy_http_router_free(router);
        eddy_http_server_metrics_free(measured);
        eddy_metrics_close(metrics);
        router = NULL;
        measured = NULL;
        metrics = NULL;
}

static int handle(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return eddy_http_router_handle(exchange, router);
}

static int answer_teapot(eddy_http_exchange *exchange, int error, void *arg)
{
        (void) arg;
        return error == -ETIMEDOUT ? eddy_http_exchange_respond(exchange, 418, NULL, 0, "own", 3)
                                   : 0;
}

static void prepare(struct site *site)
{
        CHECK_EQ(make(), 0);
        site->handler = handle;
        site->opts.on_error = answer_teapot;
}

static void see_requests(struct site *site)
{
        static char sent_by_fail[80];
        static const char *const lines[] = {
                "http_requests_total{route=\"GET /users/{id}\",status=\"2xx\"} 2\n",
                "http_requests_total{route=\"GET /fail\",status=\"4xx\"} 1\n",
                "http_requests_total{route=\"POST /body\",status=\"4xx\"} 1\n",
                "http_requests_total{route=\"GET /none\",status=\"4xx\"} 1\n",
                "http_requests_total{route=\"\",status=\"4xx\"} 2\n",
                "http_request_duration_seconds_bucket{route=\"GET /users/{id}\",le=\"0.025\"} 0\n",
                "http_request_duration_seconds_bucket{route=\"GET /users/{id}\",le=\"0.05\"} 2\n",
                "http_received_bytes_total{route=\"GET /users/{id}\"} 106\n",
                sent_by_fail,
                "\nhttp_requests_in_flight 0\n",
                NULL,
        };
        const struct answer *failed;
        size_t bytes;
        char *page;

        CHECK_EQ(strlen(GET("/users/1")), 53);
        CHECK_EQ(ask(site, GET("/users/1"))->status, 200);
        CHECK_EQ(ask(site, GET("/users/2"))->status, 200);
        failed = ask(site, GET("/fail"));
        CHECK_EQ(failed->status, 418);
        snprintf(sent_by_fail, sizeof(sent_by_fail),
                 "http_sent_bytes_total{route=\"GET /fail\"} %zu\n", failed->bytes);
        CHECK_EQ(ask(site, "POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz")
                         ->status,
                 400);
        CHECK_EQ(ask(site, GET("/none"))->status, 404);
        CHECK_EQ(ask(site, GET("/a/b"))->status, 404);
        CHECK_EQ(ask(site, GET("/users/.."))->status, 400);
        CHECK_EQ(ask(site, GET("/users/%zz"))->status, 400);
        check_page(lines);
        CHECK_EQ(eddy_metrics_write(metrics, &page, &bytes), 0);
        CHECK_HAS_NOT(page, "/users/1");
        CHECK_HAS_NOT(page, "/a/b");
        eddy_free(page);
        unmake();
}

TEST(each_request_counts_by_its_route_and_answer)
{
        site_run_prepared(NULL, false, prepare, see_requests);
}

static int ask_long(void *arg)
{
        (void) ask(arg, GET("/long"));
        return 0;
}

static void see_cancel(struct site *site)
{
        static const char *const lines[] = {
                "http_requests_total{route=\"GET /long\",status=\"canceled\"} 1\n",
                "\nhttp_requests_in_flight 0\n", NULL
        };
        struct eddy_scope_opts shield = { .flags = EDDY_SCOPE_SHIELD, .timeout_ns = EDDY_MIN(1) };
        eddy_scope scope;

        eddy_scope_begin(&scope, &shield);
        CHECK_EQ(eddy_scope_start(&scope, ask_long, site), 0);
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0);
        eddy_scope_cancel(site->scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        check_page(lines);
        unmake();
}

TEST(a_handler_that_a_stop_cancels_counts_as_canceled)
{
        site_run_prepared(NULL, false, prepare, see_cancel);
}

static int ask_without_metrics(void *arg)
{
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;

        (void) arg;
        CHECK_EQ(eddy_http_router_new(&router), 0);
        eddy_http_router_use(router, eddy_http_measure, NULL);
        eddy_http_router_add(router, "GET /", handle, NULL, NULL);
        CHECK_EQ(eddy_http_client_new(
                         &(struct eddy_http_client_opts){ .handler = eddy_http_router_handle,
                                                          .handler_arg = router },
                         &client),
                 0);
        CHECK_EQ(eddy_http_client_send(client, &(struct eddy_http_request){ .url = "http://a/" },
                                       &response),
                 0);
        CHECK_EQ(eddy_http_response_status(response), 500);
        eddy_http_response_close(response);
        response = NULL;
        eddy_http_router_free(router);
        router = NULL;
        return 0;
}

TEST(middleware_without_metrics_is_a_500_and_reported)
{
        struct eddy_test_result result;

        (void) eddy_test_run(ask_without_metrics, NULL, NULL, &result);
        CHECK_EQ(result.result, 0);
        CHECK_HAS(result.problem, "the argument of eddy_http_measure() is NULL");
}

static int make_twice(void *arg)
{
        eddy_http_server_metrics *second = NULL;

        (void) arg;
        CHECK_EQ(make(), 0);
        CHECK_ERR(eddy_http_server_metrics_new(metrics, &second), -EEXIST);
        CHECK_ERR(eddy_http_server_metrics_new(NULL, &second), -EINVAL);
        CHECK_ERR(eddy_http_server_metrics_new(metrics, NULL), -EINVAL);
        CHECK_ERR(eddy_http_measure(NULL, NULL, NULL), -EINVAL);
        CHECK(second == NULL);
        eddy_http_server_metrics_free(NULL);
        unmake();
        return 0;
}

TEST(a_set_has_the_metrics_once)
{
        http_run(make_twice, NULL);
}

static int make_and_ask(void *arg)
{
        eddy_http_client *client = NULL;
        eddy_http_response *response = NULL;
        int err = make();

        (void) arg;
        if (err >= 0)
                err = eddy_http_client_new(&(struct eddy_http_client_opts){ .handler = handle },
                                           &client);
        if (err >= 0)
                err = eddy_http_client_send(
                        client, &(struct eddy_http_request){ .url = "http://a/none" }, &response);
        eddy_http_response_close(response);
        eddy_http_client_close(client);
        unmake();
        return err;
}

TEST(a_cancel_or_a_shortage_of_memory_at_any_point_leaves_nothing)
{
        static const int kinds[] = { EDDY_TEST_SEEDS, EDDY_TEST_CANCEL, EDDY_TEST_ALLOC,
                                     EDDY_TEST_ALLOC_FOREVER };

        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
                struct eddy_test_sweep sweep;

                CHECK_EQ(eddy_test_sweep(kinds[i], make_and_ask, NULL, NULL, &sweep), 0);
                CHECK(sweep.tried > 0);
        }
}
