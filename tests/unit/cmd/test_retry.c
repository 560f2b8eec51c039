/*
 * test_retry.c - the program's rules of another attempt: how --attempts and --backoff become a
 * policy, and which results are worth another attempt.
 */
#include "test.h"

#include <errno.h>

#include "common/duration.h"
#include "common/outcome.h"
#include "eddy/error.h"
#include "eddy/run.h"
#include "eddy/time.h"
#include "fetch/retry.h"

struct decision {
        struct ed_fetch_opts opts;
        struct ed_retry result;
        uint32_t attempts;
        int64_t wait_ns; /* -1: none follows */
};

static int decide(void *arg)
{
        struct decision *decision = arg;
        struct eddy_retry_policy policy;
        struct eddy_retry_cause cause;
        struct eddy_retry retry;

        ed_retry_policy_init(&policy, &decision->opts);
        eddy_retry_begin(&retry, &policy);
        ed_retry_cause_of(&decision->result, &cause);
        for (uint32_t i = 0; i < decision->attempts; i++)
                if (eddy_retry_next(&retry, &cause, &decision->wait_ns) < 0)
                        decision->wait_ns = -1;
        return 0;
}

static int64_t wait_of(struct decision decision)
{
        CHECK_EQ(eddy_run(decide, &decision, NULL), 0);
        return decision.wait_ns;
}

/* The wait of a run with three attempts and no back-off. */
static int64_t wait_after(uint32_t attempts, struct ed_retry result)
{
        return wait_of((struct decision){
                .opts = { .attempts = 3 }, .result = result, .attempts = attempts });
}

static bool status_is_retried(int status)
{
        return wait_after(1, (struct ed_retry){ .status = status, .sent = true }) == 0;
}

static bool error_is_retried(int error, bool sent, bool idempotent)
{
        return wait_after(1, (struct ed_retry){
                                     .error = error, .sent = sent, .idempotent = idempotent }) == 0;
}

TEST(backoff_is_below_a_bound_that_doubles_up_to_a_minute)
{
        struct decision decision = { .opts = { .attempts = 100, .backoff_ns = EDDY_MS(500) },
                                     .result = { .status = 503 } };
        int64_t bound_ns = EDDY_MS(500);

        for (decision.attempts = 1; decision.attempts < 20; decision.attempts++) {
                for (int i = 0; i < 20; i++)
                        CHECK(wait_of(decision) < bound_ns);
                bound_ns = bound_ns * 2 > EDDY_MIN(1) ? EDDY_MIN(1) : bound_ns * 2;
        }
        decision.opts.backoff_ns = 0;
        CHECK_EQ(wait_of(decision), 0);
}

TEST(the_last_attempt_is_not_repeated)
{
        CHECK_EQ(wait_after(2, (struct ed_retry){ .status = 503 }), 0);
        CHECK_EQ(wait_after(3, (struct ed_retry){ .status = 503 }), -1);
}

TEST(only_failures_that_may_pass_are_repeated)
{
        CHECK(!status_is_retried(200));
        CHECK(!error_is_retried(ED_E_LINE_NUL, false, true));
        CHECK(error_is_retried(-ECONNRESET, true, true));
        CHECK(!error_is_retried(-ECONNRESET, true, false));
        CHECK(error_is_retried(-ECONNRESET, false, false));
}

static int64_t wait_of_429(struct eddy_retry_headers headers)
{
        struct ed_retry retry = { .status = 429 };

        eddy_retry_hint_read(&headers, 1000000000, &retry.hint);
        return wait_after(1, retry);
}

TEST(a_longer_retry_after_replaces_the_back_off_up_to_an_hour)
{
        struct eddy_retry_headers headers = { .retry_after = "3600" };

        CHECK_EQ(wait_of_429(headers), ED_RETRY_AFTER_MAX_NS);
        headers.retry_after = "3601";
        CHECK_EQ(wait_of_429(headers), -1);
        headers.retry_after = "Sun, 06 Nov 1994 08:49:47 GMT";
        headers.date = "Sun, 06 Nov 1994 08:49:37 GMT";
        CHECK_EQ(wait_of_429(headers), EDDY_SEC(10));
        headers.retry_after = "soon";
        CHECK_EQ(wait_of_429(headers), 0);
        headers.retry_after_ms = "250";
        CHECK_EQ(wait_of_429(headers), EDDY_MS(250));
        headers.should_retry = "false";
        CHECK_EQ(wait_of_429(headers), -1);
}

TEST(statuses_408_425_429_and_5xx_but_501_and_505_are_retried)
{
        static const int retried[] = { 408, 425, 429, 500, 502, 503, 504, 599 };
        static const int final[] = { 200, 204, 301, 304, 400, 401, 403, 404,
                                     409, 422, 499, 501, 505, 600, 999 };

        for (size_t i = 0; i < sizeof(retried) / sizeof(retried[0]); i++)
                CHECK(status_is_retried(retried[i]));
        for (size_t i = 0; i < sizeof(final) / sizeof(final[0]); i++)
                CHECK(!status_is_retried(final[i]));
}

/* B50: before anything was sent, for every method; after that, for idempotent ones only. */
TEST(failures_that_pass_are_retried_where_that_does_no_harm)
{
        static const int errors[] = { -ECONNREFUSED,
                                      -EHOSTUNREACH,
                                      EDDY_E_DNS_FAILED,
                                      -ETIMEDOUT,
                                      -ECONNRESET,
                                      -EPIPE,
                                      EDDY_E_HTTP_CLOSED,
                                      EDDY_E_HTTP_TRUNCATED,
                                      EDDY_E_NET_TIMED_OUT,
                                      EDDY_E_HTTP_TIMEOUT_CONNECT,
                                      -ENOBUFS,
                                      -EMFILE,
                                      -EXDEV };

        for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
                CHECK(error_is_retried(errors[i], true, true));
                CHECK(error_is_retried(errors[i], false, false));
                CHECK(!error_is_retried(errors[i], true, false));
        }
}

TEST(a_request_that_would_end_the_same_way_is_not_retried)
{
        static const int errors[] = { EDDY_E_URL_INVALID,
                                      EDDY_E_URL_SCHEME,
                                      EDDY_E_TLS_EXPIRED,
                                      EDDY_E_TLS_SELF_SIGNED,
                                      EDDY_E_TLS_PROTOCOL,
                                      EDDY_E_DNS_NOT_FOUND,
                                      EDDY_E_HTTP_INVALID_RESPONSE,
                                      EDDY_E_HTTP_TOO_LARGE,
                                      ED_E_LINE_NUL,
                                      ED_E_LINE_TOO_LONG,
                                      -ECANCELED };

        for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
                CHECK(!error_is_retried(errors[i], true, true));
}

TEST(every_error_has_a_code_a_message_and_a_counter)
{
        static const struct {
                int error;
                const char *code;
        } cases[] = {
                { EDDY_E_URL_INVALID, "invalid_request_line" },
                { EDDY_E_URL_SCHEME, "invalid_request_line" },
                { EDDY_E_URL_CREDENTIALS, "invalid_request_line" },
                { ED_E_LINE_TOO_LONG, "invalid_request_line" },
                { ED_E_LINE_NUL, "invalid_request_line" },
                { EDDY_E_TLS_WRONG_HOST, "tls_error" },
                { EDDY_E_TLS_BAD_FILE, "tls_error" },
                { EDDY_E_TLS_TRUNCATED, "connection_reset" },
                { EDDY_E_DNS_NOT_FOUND, "dns_error" },
                { EDDY_E_DNS_FAILED, "dns_error" },
                { -ECONNREFUSED, "connect_error" },
                { -ENETUNREACH, "connect_error" },
                { EDDY_E_NET_TIMED_OUT, "connect_error" },
                { EDDY_E_HTTP_TIMEOUT_CONNECT, "connect_error" },
                { EDDY_E_HTTP_TIMEOUT_READ, "request_timeout" },
                { -ECONNRESET, "connection_reset" },
                { EDDY_E_HTTP_CLOSED, "connection_reset" },
                { -ETIMEDOUT, "request_timeout" },
                { EDDY_E_HTTP_TRUNCATED, "stream_truncated" },
                { EDDY_E_HTTP_INVALID_RESPONSE, "invalid_response" },
                { EDDY_E_HTTP_TOO_LARGE, "response_too_large" },
                { -ELOOP, "redirect_refused" },
                { EDDY_E_HTTP_STATUS, "redirect_refused" },
                { ED_E_DEADLINE, "deadline_exceeded" },
                { -ECANCELED, "cancelled" },
                { -ENOMEM, "out_of_memory" },
                { -EXDEV, "connect_error" }, /* in no table */
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                int number = ed_outcome_number(cases[i].error);

                CHECK_STR(ed_outcome_of(cases[i].error)->code, cases[i].code);
                CHECK(number >= 0 && number < ED_OUTCOME_CODES_MAX);
                CHECK_STR(ed_outcome_code(number), cases[i].code);
                CHECK(strlen(ed_outcome_message(cases[i].error)) > 5);
        }
        CHECK(!ed_outcome_code(ED_OUTCOME_CODES_MAX - 1));
}
