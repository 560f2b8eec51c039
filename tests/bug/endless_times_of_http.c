/*
 * The longest time there is means "never" for a client's idle connections and
 * a server's limits; it once overflowed into "at once".
 */
#include <errno.h>

#include "eddy/eddy.h"
#include "test.h"

static int answer(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, "ok", 2);
}

static int serve(void *listener)
{
        struct eddy_http_server_opts opts = { .head_timeout_ns = INT64_MAX,
                                              .idle_timeout_ns = INT64_MAX,
                                              .drain_ns = INT64_MAX };

        return eddy_http_serve(listener, &opts, answer, NULL);
}

static void get(eddy_http_client *client, const char *url)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;

        CHECK_EQ(
                eddy_http_client_send(client, &(struct eddy_http_request){ .url = url }, &response),
                0);
        CHECK_EQ(eddy_http_response_status(response), 200);
        CHECK_EQ(eddy_http_response_discard(response), 0);
}

static int exchange_twice(void *arg)
{
        struct eddy_http_client_opts opts = { .idle_timeout_ns = INT64_MAX };
        struct eddy_http_client_stats stats;
        eddy_http_client *client = NULL;
        eddy_listener *listener = NULL;
        eddy_scope scope;
        char url[64];

        (void) arg;
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        CHECK_EQ(eddy_http_client_new(&opts, &client), 0);
        snprintf(url, sizeof(url), "http://127.0.0.1:%u/", eddy_listener_port(listener));
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, serve, listener), 0);
        get(client, url);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        get(client, url);
        eddy_http_client_stats(client, &stats);
        CHECK_EQ(stats.connections, 1);
        eddy_http_client_close(client);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_listener_close(listener);
        return 0;
}

TEST(the_longest_times_of_http_mean_never)
{
        CHECK_EQ(eddy_run(exchange_twice, NULL, NULL), 0);
}
