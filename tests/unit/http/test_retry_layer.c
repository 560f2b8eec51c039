/*
 * test_retry_layer.c - other attempts of a request by a policy of the client or the request.
 *
 * Only failures that may pass lead to one; a request that may do harm twice is not repeated after
 * its bytes were sent; the body is sent again from its beginning, or not at all; the last result is
 * the caller's.
 */
#include "eddy/test.h"
#include "http_test.h"

enum { BODY_BYTES = 5000, STATUSES_MAX = 8 };

static const struct eddy_retry_policy at_once = { .attempts = 3, .base_ns = -1 };

static struct {
        eddy_http_client *client;
        struct eddy_http_fault fault;
        int statuses[STATUSES_MAX]; /* of the answers; 0: 200; below 0: the connection ends */
        int calls;
        const char *retry_after;
        int64_t bytes[STATUSES_MAX]; /* of the requests' bodies */
        int started, begun, ended;   /* by hooks */
} seen;

static int handle(eddy_http_exchange *exchange, void *arg)
{
        struct eddy_http_header header = { "Retry-After", seen.retry_after };
        int status = seen.statuses[seen.calls];
        const void *data;
        size_t bytes;
        int err = eddy_http_exchange_body(exchange, &data, &bytes);

        (void) arg;
        if (err < 0)
                return err;
        seen.bytes[seen.calls++] = (int64_t) bytes;
        if (status >= 0)
                return eddy_http_exchange_respond(exchange, status ? status : 200, &header,
                                                  seen.retry_after ? 1 : 0, "body", 4);
        eddy_http_exchange_abort(exchange);
        return 0;
}

static void on_start(const struct eddy_http_attempt *attempt, void *arg)
{
        (void) attempt;
        (void) arg;
        seen.started++;
}

static int before(struct eddy_http_attempt *attempt, void *arg)
{
        (void) arg;
        CHECK_EQ(attempt->number, ++seen.begun);
        return 0;
}

static void after(const struct eddy_http_attempt *attempt, void *arg)
{
        (void) attempt;
        (void) arg;
        seen.ended++;
}

static const struct eddy_http_hooks hooks = { .on_start = on_start,
                                              .before = before,
                                              .after = after };

static int client_new(const struct eddy_http_client_opts *opts, const int *statuses, int count)
{
        struct eddy_http_client_opts own = *opts;

        memset(&seen, 0, sizeof(seen));
        for (int i = 0; i < count; i++)
                seen.statuses[i] = statuses[i];
        own.handler = handle;
        return eddy_http_client_new(&own, &seen.client);
}

/* Returns the status, or an error. */
static int fetch(const struct eddy_http_request *request)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request own = *request;
        const void *data;
        size_t bytes;
        int err;

        own.ret_fault = &seen.fault;
        if (!own.url)
                own.url = "http://a/";
        err = eddy_http_client_send(seen.client, &own, &response);
        if (err >= 0)
                err = eddy_http_response_body(response, &data, &bytes);
        return err < 0 ? err : eddy_http_response_status(response);
}

/* Send one request to a new client whose handler answers so. */
static void check(const struct eddy_http_request *request, const int *statuses, int count,
                  int result, int calls)
{
        struct eddy_http_client_stats stats;

        CHECK_EQ(client_new(OPTIONS(.retry = &at_once), statuses, count), 0);
        CHECK_EQ(fetch(request), result);
        CHECK_EQ(seen.calls, calls);
        eddy_http_client_stats(seen.client, &stats);
        CHECK_EQ(stats.open, stats.idle);
        eddy_http_client_close(seen.client);
}

#define ANSWERS(...)                                                                               \
        (const int[]){ __VA_ARGS__ }, (int) (sizeof((const int[]){ __VA_ARGS__ }) / sizeof(int))
#define REQUEST(...) (&(struct eddy_http_request){ .ret_fault = NULL, __VA_ARGS__ })

/* ---- what is repeated ---------------------------------------------------------------- */

static int causes(void *arg)
{
        static const struct eddy_http_header key = { "Idempotency-Key", "k" };

        (void) arg;
        check(REQUEST(.method = "GET"), ANSWERS(503, 502, 200), 200, 3);
        check(REQUEST(.method = "GET"), ANSWERS(500, 504, 429, 200), 429, 3);
        check(REQUEST(.method = "GET"), ANSWERS(-1, 200), 200, 2);
        check(REQUEST(.method = "GET"), ANSWERS(-1, -1, -1), EDDY_E_HTTP_CLOSED, 3);
        check(REQUEST(.method = "GET"), ANSWERS(404), 404, 1);
        check(REQUEST(.method = "GET"), ANSWERS(501), 501, 1);
        check(REQUEST(.method = "POST"), ANSWERS(502), 502, 1);
        check(REQUEST(.method = "POST"), ANSWERS(-1), EDDY_E_HTTP_CLOSED, 1);
        check(REQUEST(.method = "POST"), ANSWERS(429, 503, 200), 200, 3);
        check(REQUEST(.method = "POST", .headers = &key, .headers_count = 1), ANSWERS(502, -1, 200),
              200, 3);
        check(REQUEST(.method = "GET", .flags = EDDY_HTTP_NO_RETRY), ANSWERS(503), 503, 1);
        check(REQUEST(.method = "GET", .flags = EDDY_HTTP_STATUS_IS_ERROR), ANSWERS(503, 503, 503),
              EDDY_E_HTTP_STATUS, 3);
        CHECK_EQ(seen.fault.status, 503);
        CHECK_STR(seen.fault.body, "body");
        check(REQUEST(.method = "GET", .flags = EDDY_HTTP_STATUS_IS_ERROR), ANSWERS(503, 200), 200,
              2);
        CHECK_EQ(seen.fault.status, 0);
        return 0;
}

/* B50, B51, B55: By status, error and method. */
TEST(failure_that_may_pass_is_repeated_if_that_does_no_harm)
{
        http_run(causes, NULL);
}

static int refused(void *arg)
{
        struct eddy_retry_policy policy = { .attempts = 4, .base_ns = EDDY_SEC(1) };
        eddy_http_client *client;
        struct eddy_http_client_stats stats;
        eddy_http_response *response;

        (void) arg;
        http_let_die();
        memset(&seen, 0, sizeof(seen));
        CHECK_EQ(eddy_http_client_new(OPTIONS(.retry = &policy, .hooks = &hooks,
                                              .timeouts.connect_ns = EDDY_SEC(1)),
                                      &client),
                 0);
        CHECK_ERR(eddy_http_client_send(
                          client, REQUEST(.url = "http://10.9.9.9/", .method = "POST"), &response),
                  EDDY_E_HTTP_TIMEOUT_CONNECT);
        eddy_http_client_stats(client, &stats);
        CHECK_EQ(stats.requests, 0);
        CHECK_EQ(seen.begun, 4);
        eddy_http_client_close(client);
        http_pause(EDDY_SEC(1));
        return 0;
}

/* B50, B52, B55: A connection that cannot be made. */
TEST(request_of_which_no_byte_was_sent_is_repeated_whatever_its_method)
{
        http_run(refused, NULL);
}

static bool never(int error, void *arg)
{
        (void) error;
        (void) arg;
        return false;
}

static int waits_seen, last_error;
static int64_t last_wait_ns;

static void note_wait(int error, uint32_t attempts, int64_t wait_ns, void *arg)
{
        (void) arg;
        CHECK_EQ(attempts, ++waits_seen);
        last_error = error;
        last_wait_ns = wait_ns;
}

static int callbacks(void *arg)
{
        struct eddy_retry_policy policy = { .base_ns = -1,
                                            .is_passing = never,
                                            .before_wait = note_wait };

        (void) arg;
        waits_seen = 0;
        CHECK_EQ(client_new(OPTIONS(.hooks = &hooks), ANSWERS(503)), 0);
        CHECK_EQ(fetch(REQUEST(.retry = &policy)), 200);
        CHECK_EQ(waits_seen, 1);
        CHECK_ERR(last_error, EDDY_E_HTTP_STATUS);
        CHECK_EQ(seen.started, 1);
        CHECK_EQ(seen.begun, 2);
        CHECK_EQ(seen.ended, 2);
        eddy_http_client_close(seen.client);
        CHECK_EQ(client_new(OPTIONS(.retry = &policy), ANSWERS(-1)), 0);
        CHECK_ERR(fetch(REQUEST(.method = "GET")), EDDY_E_HTTP_CLOSED);
        CHECK_EQ(seen.calls, 1);
        eddy_http_client_close(seen.client);
        return 0;
}

TEST(functions_of_the_policy_and_hooks_see_each_attempt)
{
        http_run(callbacks, NULL);
}

/* ---- the wait ----------------------------------------------------------------------- */

static int waits(void *arg)
{
        struct eddy_retry_policy policy = { .base_ns = -1 };
        int64_t began_ns = eddy_now();

        (void) arg;
        CHECK_EQ(client_new(OPTIONS(.retry = &policy), ANSWERS(429, 200)), 0);
        seen.retry_after = "7";
        CHECK_EQ(fetch(REQUEST(.method = NULL)), 200);
        CHECK_EQ((eddy_now() - began_ns) / EDDY_SEC(1), 7);
        /* A wait that is too long, or that the total time does not allow, is not begun. */
        seen.calls = 0;
        began_ns = eddy_now();
        CHECK_EQ(fetch(REQUEST(.timeouts.total_ns = EDDY_SEC(7))), 429);
        seen.calls = 0;
        seen.retry_after = "121";
        CHECK_EQ(fetch(REQUEST(.method = NULL)), 429);
        CHECK_EQ((eddy_now() - began_ns) / EDDY_SEC(1), 0);
        eddy_http_client_close(seen.client);
        return 0;
}

/* B50, B51, B53: A wait that the total time does not allow is not begun. */
TEST(retry_after_is_obeyed_within_limits)
{
        http_run(waits, NULL);
}

static int closed_meanwhile(void *arg)
{
        (void) arg;
        CHECK_ERR(fetch(REQUEST(.method = NULL)), EDDY_E_HTTP_CLIENT_CLOSED);
        return 0;
}

static int client_closes(void *arg)
{
        struct eddy_retry_policy policy = { .base_ns = -1 };
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(client_new(OPTIONS(.retry = &policy), ANSWERS(429, 200)), 0);
        seen.retry_after = "7";
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, closed_meanwhile, NULL);
        http_pause(EDDY_SEC(1));
        eddy_http_client_close(seen.client);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(seen.calls, 1);
        return 0;
}

TEST(client_that_is_closed_during_a_wait_ends_the_call)
{
        http_run(client_closes, NULL);
}

static int result_meanwhile;

static int fetch_meanwhile(void *arg)
{
        (void) arg;
        result_meanwhile = fetch(REQUEST(.method = NULL));
        return 0;
}

static int during_a_wait(void *arg)
{
        struct eddy_retry_policy policy = { .base_ns = -1 };
        struct eddy_http_client_stats stats;
        int64_t began_ns;
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(
                client_new(OPTIONS(.retry = &policy, .connections_max = 1), ANSWERS(429, 200, 429)),
                0);
        seen.retry_after = "7";
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, fetch_meanwhile, NULL);
        http_pause(EDDY_SEC(1));
        eddy_http_client_stats(seen.client, &stats);
        CHECK_EQ(stats.idle, 1);
        began_ns = eddy_now();
        CHECK_EQ(fetch(REQUEST(.method = NULL)), 200); /* on the only connection */
        CHECK_EQ((eddy_now() - began_ns) / EDDY_SEC(1), 0);
        /* The other task's second attempt is answered by a 429 too. */
        http_pause(EDDY_SEC(8));
        CHECK_EQ(seen.calls, 3);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_ERR(result_meanwhile, -ECANCELED);
        CHECK_EQ((eddy_now() - began_ns) / EDDY_SEC(1), 8);
        CHECK_EQ(seen.calls, 3);
        eddy_http_client_close(seen.client);
        return 0;
}

/* B54: The connection serves others meanwhile, and a cancel ends the wait. */
TEST(a_wait_holds_no_connection_and_ends_with_a_cancel)
{
        http_run(during_a_wait, NULL);
}

/* ---- the body ----------------------------------------------------------------------- */

struct source {
        size_t left;
        int rewinds;
};

static int64_t source_read(void *arg, void *buf, size_t bytes)
{
        struct source *source = arg;
        size_t n = source->left < bytes ? source->left : bytes;

        memset(buf, 'x', n);
        source->left -= n;
        return (int64_t) n;
}

static int source_rewind(void *arg)
{
        struct source *source = arg;

        source->left = BODY_BYTES;
        source->rewinds++;
        return 0;
}

static int bodies(void *arg)
{
        struct source state = { BODY_BYTES, 0 };
        struct eddy_http_body_source source = {
                .read = source_read, .rewind = source_rewind, .arg = &state, .bytes = BODY_BYTES
        };

        (void) arg;
        check(REQUEST(.method = "PUT", .body_source = &source), ANSWERS(503, -1, 200), 200, 3);
        CHECK_EQ(state.rewinds, 2);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(seen.bytes[i], BODY_BYTES);
        state = (struct source){ BODY_BYTES, 0 };
        source.rewind = NULL;
        check(REQUEST(.method = "PUT", .body_source = &source), ANSWERS(503, 200), 503, 1);
        state.left = BODY_BYTES;
        check(REQUEST(.method = "PUT", .body_source = &source), ANSWERS(-1, 200),
              EDDY_E_HTTP_CLOSED, 1);
        check(REQUEST(.method = "PUT", .body = "abc", .body_bytes = 3), ANSWERS(-1, 200), 200, 2);
        CHECK_EQ(seen.bytes[1], 3);
        return 0;
}

TEST(body_is_sent_again_whole_or_not_at_all)
{
        http_run(bodies, NULL);
}

/* ---- cancels and memory ------------------------------------------------------------- */

static int send_some(void *arg)
{
        struct source state = { BODY_BYTES, 0 };
        struct eddy_http_body_source source = {
                .read = source_read, .rewind = source_rewind, .arg = &state, .bytes = BODY_BYTES
        };
        int err = client_new(OPTIONS(.retry = &at_once), ANSWERS(503, -1, 200));

        (void) arg;
        if (err < 0)
                return err;
        err = fetch(REQUEST(.method = "PUT", .body_source = &source));
        eddy_http_client_close(seen.client);
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
