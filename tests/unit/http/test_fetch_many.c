/*
 * test_fetch_many.c - many requests in one call: each response is in its own result, at most
 * 'at_once' requests are in progress, a second call sends only the failed, and a cancel or a
 * shortage of memory at any point leaves whole results and nothing else.
 */
#include "eddy/test.h"
#include "http_test.h"

enum { SOME = 50, MANY = 10000, AT_ONCE = 8, FEW = 6, LARGE_BYTES = 5000 };

TEST_ROOM(struct eddy_http_request, requests, MANY);
static struct eddy_http_result results[MANY];
typedef char url_text[64];
TEST_ROOM(url_text, urls, MANY);
static bool is_short; /* allocations may fail */

static struct {
        eddy_http_client *client;
        int calls, running, most;
        uint32_t broken; /* each request whose number it divides is aborted; 0: none */
        int64_t delay_ns;
        uint8_t answered[MANY]; /* how often each request was answered */
} seen;

static unsigned number_of(const char *digits)
{
        unsigned number = 0;

        for (; *digits >= '0' && *digits <= '9'; digits++)
                number = 10 * number + (unsigned) (*digits - '0');
        return number;
}

/* Answer "/N" with N, after a time that depends on N. */
static int handle(eddy_http_exchange *exchange, void *arg)
{
        static char large[LARGE_BYTES];
        unsigned number = number_of(eddy_http_exchange_path(exchange) + 1);
        char text[16];
        int err = 0, n = snprintf(text, sizeof(text), "%u", number);

        (void) arg;
        seen.calls++;
        seen.running++;
        if (seen.running > seen.most)
                seen.most = seen.running;
        if (seen.delay_ns > 0)
                err = eddy_sleep(seen.delay_ns * (1 + (7 * number) % 5));
        seen.running--;
        if (err < 0)
                return err;
        if (seen.broken && number % seen.broken == 0) {
                eddy_http_exchange_abort(exchange);
                return 0;
        }
        seen.answered[number]++;
        if (strcmp(eddy_http_exchange_query(exchange), "large") == 0)
                return eddy_http_exchange_respond(exchange, 200, NULL, 0, large, LARGE_BYTES);
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, text, (size_t) n);
}

static int begin(size_t n, uint32_t connections_max)
{
        memset(&seen, 0, sizeof(seen));
        for (size_t i = 0; i < n; i++) {
                snprintf(urls[i], sizeof(urls[i]), "http://h%zu/%zu", i % 2, i);
                requests[i] = (struct eddy_http_request){ .url = urls[i] };
                results[i] = (struct eddy_http_result){ 0 };
        }
        return eddy_http_client_new(OPTIONS(.handler = handle, .connections_max = connections_max),
                                    &seen.client);
}

static void end(size_t n)
{
        eddy_http_results_fini(results, n);
        for (size_t i = 0; i < n; i++)
                CHECK(results[i].body == NULL && results[i].status == 0 && results[i].error == 0);
        eddy_http_client_close(seen.client);
}

/* Each result with a response has that of its own request. Returns their number. */
static size_t check_results(size_t n)
{
        size_t done = 0;

        for (size_t i = 0; i < n; i++) {
                if (results[i].error < 0 || results[i].status == 0)
                        continue;
                done++;
                if (is_short && results[i].status == 500)
                        continue; /* the server had no memory */
                CHECK_EQ(results[i].status, 200);
                CHECK_EQ(number_of(results[i].body), i);
                CHECK_EQ(results[i].body_bytes, strlen(results[i].body));
        }
        return done;
}

static int fetch(size_t n, uint32_t at_once)
{
        return eddy_http_fetch_many(seen.client, requests, n, at_once, results);
}

/* ---- order and limits --------------------------------------------------------------- */

static int fetch_some(void *arg)
{
        (void) arg;
        CHECK_EQ(begin(SOME, 0), 0);
        seen.delay_ns = EDDY_MS(1);
        CHECK_EQ(fetch(SOME, AT_ONCE), 0);
        CHECK_EQ(check_results(SOME), SOME);
        CHECK_EQ(seen.calls, SOME);
        CHECK_EQ(seen.most, AT_ONCE);
        end(SOME);
        CHECK_EQ(begin(SOME, 5), 0);
        seen.delay_ns = EDDY_MS(1);
        CHECK_EQ(fetch(SOME, 0), 0); /* as many as connections */
        CHECK_EQ(seen.most, 5);
        CHECK_EQ(check_results(SOME), SOME);
        end(SOME);
        CHECK_EQ(begin(3, 0), 0);
        CHECK_EQ(fetch(3, UINT32_MAX), 0);
        CHECK_EQ(check_results(3), 3);
        end(3);
        return 0;
}

TEST(results_are_in_the_order_of_the_requests)
{
        http_run(fetch_some, NULL);
        http_run_real(fetch_some, NULL);
}

static int fetch_wrongly(void *arg)
{
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(begin(2, 0), 0);
        CHECK_EQ(fetch(0, 1), 0);
        CHECK_EQ(eddy_http_fetch_many(seen.client, NULL, 0, 1, NULL), 0);
        CHECK_EQ(eddy_http_fetch_many(NULL, requests, 2, 1, results), -EINVAL);
        CHECK_EQ(eddy_http_fetch_many(seen.client, NULL, 2, 1, results), -EINVAL);
        CHECK_EQ(eddy_http_fetch_many(seen.client, requests, 2, 1, NULL), -EINVAL);
        eddy_http_results_fini(NULL, 2);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        CHECK_EQ(fetch(2, 1), -ECANCELED);
        (void) eddy_scope_end(&scope);
        CHECK_EQ(results[0].error, 0); /* as it was */
        CHECK_EQ(seen.calls, 0);
        end(2);
        return 0;
}

TEST(call_without_requests_or_in_a_cancelled_task_sends_nothing)
{
        http_run(fetch_wrongly, NULL);
}

static int fetch_all(void *arg)
{
        struct eddy_http_client_stats stats;

        (void) arg;
        CHECK_EQ(begin(MANY, 0), 0);
        CHECK_EQ(fetch(MANY, 100), 0);
        CHECK_EQ(check_results(MANY), MANY);
        CHECK_EQ(seen.calls, MANY);
        eddy_http_client_stats(seen.client, &stats);
        CHECK(stats.connections <= 100);
        end(MANY);
        return 0;
}

TEST(ten_thousand_requests_have_their_own_responses)
{
        http_run(fetch_all, NULL);
}

/* ---- failures ----------------------------------------------------------------------- */

static int fetch_again(void *arg)
{
        char large[] = "http://h/7?large", wrong[] = "ftp://h/9";

        (void) arg;
        CHECK_EQ(begin(SOME, 0), 0);
        requests[7].url = large;
        requests[7].body_bytes_max = LARGE_BYTES - 1;
        requests[9].url = wrong;
        seen.broken = 10;
        CHECK_ERR(fetch(SOME, AT_ONCE), EDDY_E_HTTP_CLOSED); /* that of the first request */
        CHECK_EQ(check_results(SOME), SOME - 5 - 2);
        CHECK_ERR(results[40].error, EDDY_E_HTTP_CLOSED);
        CHECK_EQ(results[40].status, 0);
        CHECK_ERR(results[7].error, EDDY_E_HTTP_TOO_LARGE);
        CHECK_ERR(results[9].error, EDDY_E_URL_SCHEME);
        CHECK(results[7].body == NULL && results[9].body == NULL);
        seen.broken = 0;
        seen.calls = 0;
        requests[7].url = urls[7];
        CHECK_ERR(fetch(SOME, AT_ONCE), EDDY_E_URL_SCHEME);
        CHECK_EQ(seen.calls, 6);
        CHECK_EQ(check_results(SOME), SOME - 1);
        requests[9].url = urls[9];
        eddy_http_results_fini(&results[11], 1); /* again in spite of its response */
        CHECK_EQ(fetch(SOME, AT_ONCE), 0);
        CHECK_EQ(seen.calls, 8);
        CHECK_EQ(fetch(SOME, AT_ONCE), 0);
        CHECK_EQ(seen.calls, 8);
        CHECK_EQ(check_results(SOME), SOME);
        end(SOME);
        return 0;
}

TEST(second_call_sends_only_the_failed)
{
        http_run(fetch_again, NULL);
}

static int64_t fail_by_itself(void *arg, void *buf, size_t bytes)
{
        (void) arg;
        (void) buf;
        (void) bytes;
        return -ECANCELED;
}

static int fetch_with_source(void *arg)
{
        struct eddy_http_body_source source = { .read = fail_by_itself, .bytes = 5 };

        (void) arg;
        CHECK_EQ(begin(FEW, 0), 0);
        requests[0].body_source = &source;
        CHECK_ERR(fetch(FEW, 1), -ECANCELED);
        CHECK_ERR(results[0].error, -ECANCELED);
        CHECK_EQ(check_results(FEW), FEW - 1);
        end(FEW);
        return 0;
}

TEST(body_that_fails_as_if_cancelled_ends_only_its_request)
{
        http_run(fetch_with_source, NULL);
}

/* ---- cancel and shortage ------------------------------------------------------------ */

static int fetch_within(void *arg)
{
        size_t done;
        int err = 0;

        (void) arg;
        CHECK_EQ(begin(SOME, 0), 0);
        seen.delay_ns = EDDY_MS(10);
        EDDY_SCOPE (scope, &err, .timeout_ns = EDDY_MS(95))
                CHECK_EQ(fetch(SOME, AT_ONCE), -ECANCELED);
        CHECK_EQ(err, -ETIMEDOUT);
        done = check_results(SOME);
        CHECK(done > 0 && done < SOME);
        CHECK_EQ(fetch(SOME, AT_ONCE), 0);
        CHECK_EQ(check_results(SOME), SOME);
        for (int i = 0; i < SOME; i++)
                CHECK_EQ(seen.answered[i], 1);
        end(SOME);
        return 0;
}

TEST(cancel_leaves_the_responses_that_are_whole)
{
        http_run(fetch_within, NULL);
}

/* Fetch, and after a failure once more: only the requests without a response are sent. */
static int fetch_twice(void *arg)
{
        size_t done;
        int err = begin(FEW, 4);

        (void) arg;
        if (err < 0)
                return err;
        seen.delay_ns = EDDY_MS(1);
        err = fetch(FEW, 3);
        done = check_results(FEW);
        if (err < 0) {
                CHECK(done < FEW || err == -ECANCELED);
                seen.calls = 0;
                err = fetch(FEW, 3);
                CHECK(check_results(FEW) >= done);
                CHECK(seen.calls <= (int) (FEW - done));
        }
        if (err == 0)
                CHECK_EQ(check_results(FEW), FEW);
        end(FEW);
        return err;
}

TEST(cancel_or_shortage_at_any_point_mixes_no_responses)
{
        static const int kinds[] = { EDDY_TEST_SEEDS, EDDY_TEST_CANCEL, EDDY_TEST_CANCEL_TASK,
                                     EDDY_TEST_ALLOC, EDDY_TEST_ALLOC_FOREVER };

        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
                struct eddy_test_opts opts = { .cancel_named = "http_many" };
                struct eddy_test_sweep sweep;

                is_short = kinds[i] == EDDY_TEST_ALLOC || kinds[i] == EDDY_TEST_ALLOC_FOREVER;
                CHECK_EQ(eddy_test_sweep(kinds[i], fetch_twice, NULL, &opts, &sweep), 0);
                CHECK(sweep.tried > 0);
        }
}

/* ---- cancels at random --------------------------------------------------------------- */

enum { FIRE = 20, SENT_SAMPLE = 4000, SENT_FULL = 1000000 };

/* One client, whose calls are cancelled at random times, from before the first byte to the last. */
static int fetch_under_fire(void *arg)
{
        int sent_min = test_is_full() ? SENT_FULL : SENT_SAMPLE;
        uint64_t chance = 1;
        size_t done = 0, cancelled = 0;

        (void) arg;
        CHECK_EQ(begin(FIRE, 5), 0);
        seen.delay_ns = EDDY_US(100);
        while (seen.calls < sent_min) {
                int err = 0;

                chance = chance * 6364136223846793005u + 1442695040888963407u;
                EDDY_SCOPE (scope, &err, .timeout_ns = EDDY_US(1 + (int64_t) (chance >> 40) % 2000))
                        (void) fetch(FIRE, 1 + (uint32_t) (chance >> 33) % 7);
                CHECK(err == 0 || err == -ETIMEDOUT);
                cancelled += err < 0;
                done += check_results(FIRE);
                eddy_http_results_fini(results, FIRE);
        }
        CHECK(cancelled > 0 && done > 0 && done <= (size_t) seen.calls);
        end(FIRE);
        return 0;
}

TEST(cancels_at_random_give_no_response_to_another_request)
{
        http_run(fetch_under_fire, NULL);
}
