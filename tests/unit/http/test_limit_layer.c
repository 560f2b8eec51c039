/*
 * test_limit_layer.c - the rate limit and the breaker of a client's attempts.
 */
#include "eddy/test.h"
#include "http_test.h"

static struct {
        eddy_http_client *client;
        eddy_limiter *limiter;
        int status, calls;
        const char *retry_after;
} seen;

static int handle(eddy_http_exchange *exchange, void *arg)
{
        struct eddy_http_header header = { "Retry-After", seen.retry_after };

        (void) arg;
        seen.calls++;
        return eddy_http_exchange_respond(exchange, seen.status, &header, seen.retry_after ? 1 : 0,
                                          "ok", 2);
}

static int client_new(const struct eddy_http_client_opts *opts)
{
        struct eddy_http_client_opts own = *opts;

        own.handler = handle;
        return eddy_http_client_new(&own, &seen.client);
}

static int limiter_new(uint64_t amount)
{
        struct eddy_limiter_limit limit = { EDDY_LIMITER_REQUESTS, amount, EDDY_SEC(10) };

        memset(&seen, 0, sizeof(seen));
        seen.status = 200;
        return eddy_limiter_new(
                &(struct eddy_limiter_opts){ .limits = &limit, .limits_count = 1, .burst_ns = -1 },
                &seen.limiter);
}

/* Returns the status, or an error. */
static int fetch(const struct eddy_http_request *request)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request own = *request;
        int err;

        if (!own.url)
                own.url = "http://a/";
        err = eddy_http_client_send(seen.client, &own, &response);
        return err < 0 ? err : eddy_http_response_status(response);
}

#define FETCH(...) fetch(&(struct eddy_http_request){ .headers_count = 0, __VA_ARGS__ })

static int64_t seconds_since(int64_t began_ns)
{
        return (eddy_now() - began_ns) / EDDY_SEC(1);
}

static int limits(void *arg)
{
        static const struct eddy_retry_policy retry = { .base_ns = -1, .attempts = 2 };
        struct eddy_limiter_stats stats;
        int64_t began_ns;

        (void) arg;
        CHECK_EQ(limiter_new(3), 0);
        CHECK_EQ(client_new(OPTIONS(.limiter = seen.limiter, .retry = &retry)), 0);
        began_ns = eddy_now();
        CHECK_EQ(FETCH(.method = "GET"), 200);
        seen.status = 500;
        CHECK_EQ(FETCH(.method = "GET"), 500); /* two attempts */
        CHECK_EQ(seconds_since(began_ns), 0);
        CHECK_EQ(FETCH(.flags = EDDY_HTTP_NO_LIMIT), 500);
        CHECK_EQ(seconds_since(began_ns), 0);
        CHECK_EQ(FETCH(.flags = EDDY_HTTP_NO_RETRY), 500);
        CHECK_EQ(seconds_since(began_ns), 10);
        CHECK_EQ(FETCH(.timeouts.total_ns = EDDY_SEC(1)), 500);
        CHECK_ERR(FETCH(.timeouts.total_ns = EDDY_SEC(1)), EDDY_E_HTTP_TIMEOUT_TOTAL);
        eddy_limiter_stats(seen.limiter, &stats);
        CHECK_EQ(stats.waiting, 0);
        CHECK_ERR(FETCH(.url = "http://a b/"), EDDY_E_URL_INVALID); /* nothing was sent */
        eddy_limiter_stats(seen.limiter, &stats);
        CHECK_EQ(stats.released, 1);
        eddy_http_client_close(seen.client);
        eddy_limiter_close(seen.limiter);
        return 0;
}

/* B19: The total time covers the wait for the limiter too. */
TEST(each_attempt_that_sends_takes_its_place_in_the_limit)
{
        http_run(limits, NULL);
}

static int pauses(void *arg)
{
        int64_t began_ns = eddy_now();

        (void) arg;
        CHECK_EQ(limiter_new(100), 0);
        CHECK_EQ(client_new(OPTIONS(.limiter = seen.limiter)), 0);
        seen.status = 429;
        seen.retry_after = "9";
        CHECK_EQ(FETCH(.method = "GET"), 429);
        seen.status = 503;
        seen.retry_after = "9999";
        CHECK_EQ(FETCH(.method = "GET"), 503);
        CHECK_EQ(seconds_since(began_ns), 9);
        seen.status = 200;
        CHECK_EQ(FETCH(.method = "GET"), 200);
        CHECK_EQ(seconds_since(began_ns), 129); /* at most two minutes */
        CHECK_EQ(FETCH(.method = "GET"), 200);
        CHECK_EQ(seconds_since(began_ns), 129);
        eddy_http_client_close(seen.client);
        eddy_limiter_close(seen.limiter);
        return 0;
}

TEST(retry_after_pauses_all_requests_of_the_limiter)
{
        http_run(pauses, NULL);
}

static int opens(void *arg)
{
        eddy_breaker breaker, other;

        (void) arg;
        memset(&seen, 0, sizeof(seen));
        CHECK_EQ(eddy_breaker_init(&breaker, &(struct eddy_breaker_opts){ .calls = 4,
                                                                          .trials = 1,
                                                                          .open_ns = EDDY_SEC(5) }),
                 0);
        CHECK_EQ(eddy_breaker_init(&other, NULL), 0);
        CHECK_EQ(client_new(OPTIONS(.breaker = &breaker)), 0);
        seen.status = 404; /* not a failure of the service */
        CHECK_EQ(FETCH(.method = "GET"), 404);
        CHECK_EQ(FETCH(.method = "GET"), 404);
        seen.status = 500;
        CHECK_EQ(FETCH(.method = "GET"), 500);
        CHECK_ERR(FETCH(.url = "http://a b/"), EDDY_E_URL_INVALID); /* does not count */
        CHECK_EQ(FETCH(.method = "GET"), 500);
        CHECK_ERR(FETCH(.method = "GET"), EDDY_E_BREAKER_OPEN);
        CHECK_EQ(seen.calls, 4);
        CHECK_EQ(FETCH(.breaker = &other), 500);
        CHECK_EQ(FETCH(.flags = EDDY_HTTP_NO_LIMIT), 500);
        http_pause(EDDY_SEC(5));
        seen.status = 200;
        CHECK_EQ(FETCH(.method = "GET"), 200); /* the trial closes it */
        CHECK_EQ(FETCH(.method = "GET"), 200);
        eddy_http_client_close(seen.client);
        return 0;
}

TEST(breaker_opens_after_failures_of_the_service)
{
        http_run(opens, NULL);
}

/* How many calls a breaker counts, and how many of them failed. */
#define CHECK_COUNTED(breaker, all, bad)                                                           \
        do {                                                                                       \
                struct eddy_breaker_stats test_stats;                                              \
                                                                                                   \
                eddy_breaker_stats((breaker), &test_stats);                                        \
                CHECK_EQ(test_stats.counted, (all));                                               \
                CHECK_EQ(test_stats.failed, (bad));                                                \
        } while (0)

static eddy_breaker silent_breaker; /* ready to use when zero */

static int get_silent(void *arg)
{
        struct eddy_http_request request = { .url = "/", .breaker = &silent_breaker };

        request.timeouts.total_ns = EDDY_SEC(2);
        return rig_fetch(arg, &request);
}

CLIENT_TEST(total_time_of_a_silent_server_is_a_failure_for_the_breaker, NULL, SCRIPT("?"))
{
        struct eddy_http_request request = { .url = "http://10.9.9.9/" };
        eddy_http_response *response;

        silent_breaker = (eddy_breaker){ 0 };
        CHECK_ERR(get_silent(rig), EDDY_E_HTTP_TIMEOUT_TOTAL);
        CHECK_COUNTED(&silent_breaker, 1, 1);
        /* The caller's deadline, also if it ends with the total time; and the caller's cancel. */
        CHECK_ERR(eddy_call_timeout(get_silent, rig, EDDY_SEC(1)), -ETIMEDOUT);
        CHECK_ERR(eddy_call_timeout(get_silent, rig, EDDY_SEC(2)), -ETIMEDOUT);
        CHECK_COUNTED(&silent_breaker, 1, 1);
        /* The server is not reached: the time passes while the connection is opened. */
        http_let_die();
        request.breaker = &silent_breaker;
        request.timeouts.total_ns = EDDY_SEC(2);
        CHECK_ERR(eddy_http_client_send(rig->client, &request, &response),
                  EDDY_E_HTTP_TIMEOUT_TOTAL);
        CHECK_COUNTED(&silent_breaker, 2, 2);
}

CLIENT_TEST(total_time_in_the_callers_own_queues_is_no_failure_for_the_breaker,
            OPTIONS(.connections_max = 1),
            SCRIPT("?", "<HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no"))
{
        struct eddy_limiter_limit limit = { EDDY_LIMITER_REQUESTS, 1, EDDY_SEC(60) };
        struct eddy_http_request request = { .url = "/", .breaker = &silent_breaker };
        eddy_limiter *limiter;
        eddy_http_response *response;

        silent_breaker = (eddy_breaker){ 0 };
        CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = "/" }, &response), 0);
        CHECK_ERR(get_silent(rig), EDDY_E_HTTP_TIMEOUT_TOTAL); /* no connection is free */
        CHECK_COUNTED(&silent_breaker, 0, 0);
        eddy_http_response_close(response);

        CHECK_EQ(eddy_limiter_new(&(struct eddy_limiter_opts){ .limits = &limit,
                                                               .limits_count = 1,
                                                               .burst_ns = -1 },
                                  &limiter),
                 0);
        request.limiter = limiter;
        request.timeouts.total_ns = EDDY_SEC(2);
        CHECK_EQ(rig_send(rig, &request, &response), 0);
        eddy_http_response_close(response);
        CHECK_COUNTED(&silent_breaker, 1, 0);
        CHECK_ERR(rig_fetch(rig, &request), EDDY_E_HTTP_TIMEOUT_TOTAL); /* the limiter's wait */
        CHECK_COUNTED(&silent_breaker, 1, 0);
        eddy_limiter_close(limiter);
}

static int send_some(void *arg)
{
        eddy_breaker breaker;
        int err = limiter_new(1);

        (void) arg;
        if (err < 0)
                return err;
        CHECK_EQ(eddy_breaker_init(&breaker, NULL), 0);
        err = client_new(OPTIONS(.limiter = seen.limiter, .breaker = &breaker));
        if (err >= 0) {
                err = FETCH(.method = "GET");
                if (err == 200)
                        err = FETCH(.method = "GET");
                eddy_http_client_close(seen.client);
        }
        eddy_limiter_close(seen.limiter);
        return err < 0 ? err : 0;
}

TEST(cancel_or_shortage_at_any_point_leaves_nothing)
{
        static const int kinds[] = { EDDY_TEST_SEEDS, EDDY_TEST_CANCEL, EDDY_TEST_ALLOC,
                                     EDDY_TEST_ALLOC_FOREVER };

        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
                struct eddy_test_sweep sweep;

                CHECK_EQ(eddy_test_sweep(kinds[i], send_some, NULL, NULL, &sweep), 0);
                CHECK(sweep.tried > 0);
        }
}
