/*
 * test_retry.c - back-off is drawn from nought up to a bound that doubles;
 * Retry-After is seconds or a date; which results are worth another attempt.
 */
#include "test.h"

#include <errno.h>

#include "common/duration.h"
#include "eddy/error.h"
#include "eddy/time.h"
#include "fetch/outcome.h"
#include "fetch/retry.h"
#include "fetch/run.h"

enum { DRAWS = 2000 };

/* The largest and the mean of many draws. */
static int64_t largest(int64_t backoff_ns, unsigned failures, double *ret_mean)
{
        struct ed_random random = { 7 };
        int64_t max = 0;
        double sum = 0;

        for (int i = 0; i < DRAWS; i++) {
                int64_t wait = ed_retry_backoff(backoff_ns, failures, &random);

                CHECK(wait >= 0);
                sum += (double) wait;
                if (wait > max)
                        max = wait;
        }
        *ret_mean = sum / DRAWS;
        return max;
}

TEST(backoff_is_full_jitter_below_a_bound_that_doubles)
{
        double mean;

        for (unsigned failures = 1; failures <= 7; failures++) {
                int64_t bound = EDDY_MS(500) << (failures - 1);
                int64_t max = largest(EDDY_MS(500), failures, &mean);

                CHECK(max < bound);
                CHECK(max > bound - bound / 50);
                CHECK(mean > 0.45 * (double) bound && mean < 0.55 * (double) bound);
        }
}

TEST(backoff_never_exceeds_a_minute)
{
        double mean;

        CHECK(largest(EDDY_MS(500), 8, &mean) <= ED_RETRY_BACKOFF_MAX_NS);
        CHECK(largest(EDDY_MS(500), 1000, &mean) <= ED_RETRY_BACKOFF_MAX_NS);
        CHECK(largest(EDDY_MS(500), 1000, &mean) > ED_RETRY_BACKOFF_MAX_NS / 2);
}

TEST(backoff_above_a_minute_is_its_own_bound)
{
        double mean;

        CHECK(largest(EDDY_MIN(5), 9, &mean) <= EDDY_MIN(5));
        CHECK(largest(EDDY_MIN(5), 1, &mean) > EDDY_MIN(2));
        CHECK_EQ(largest(0, 5, &mean), 0);
}

static int64_t retry_after(const char *value, const char *date)
{
        int64_t ns = -7;

        if (ed_retry_after_parse(value, date, 1000000000, &ns) < 0) {
                CHECK_EQ(ns, -7);
                return -1;
        }
        return ns;
}

TEST(retry_after_takes_seconds_with_decimals)
{
        CHECK_EQ(retry_after("0", NULL), 0);
        CHECK_EQ(retry_after("120", NULL), EDDY_SEC(120));
        CHECK_EQ(retry_after("1.5", NULL), EDDY_MS(1500));
        CHECK_EQ(retry_after("99999999999999999999", NULL), ED_DURATION_MAX_NS);
}

TEST(retry_after_as_a_date_counts_from_the_response_s_date)
{
        const char *date = "Sun, 06 Nov 1994 08:49:37 GMT";

        CHECK_EQ(retry_after("Sun, 06 Nov 1994 08:50:07 GMT", date), EDDY_SEC(30));
        CHECK_EQ(retry_after("Sun, 06 Nov 1994 08:49:37 GMT", date), 0);
        CHECK_EQ(retry_after("Sun, 06 Nov 1994 08:49:00 GMT", date), 0);
        CHECK_EQ(retry_after("Mon, 06 Nov 2034 08:49:37 GMT", date), ED_DURATION_MAX_NS);
}

TEST(retry_after_as_a_date_counts_from_now_without_a_date)
{
        CHECK_EQ(retry_after("Sun, 09 Sep 2001 01:47:10 GMT", NULL), EDDY_SEC(30));
        CHECK_EQ(retry_after("Sun, 09 Sep 2001 01:47:10 GMT", "nonsense"), EDDY_SEC(30));
}

TEST(retry_after_that_is_neither_is_ignored)
{
        static const char *const cases[] = { "",
                                             "-1",
                                             "soon",
                                             "1 s",
                                             "1e3",
                                             "inf",
                                             "0x10",
                                             "Sun, 06 Nov 1994",
                                             "1,5",
                                             "1.2.3",
                                             "1..2",
                                             ".",
                                             "...",
                                             "5.5.",
                                             "99999999999999999999.0.0",
                                             "1.",
                                             ".5",
                                             "1 2",
                                             "12:30",
                                             "Sun, 06 Nov 1994 08:49:37",
                                             "\xff" };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
                CHECK_EQ(retry_after(cases[i], NULL), -1);
}

TEST(no_wait_reaches_over_the_deadline)
{
        CHECK(ed_retry_fits(100, INT64_MAX / 2, 0));
        CHECK(ed_retry_fits(100, 49, 150));
        CHECK(!ed_retry_fits(100, 50, 150));
        CHECK(!ed_retry_fits(100, 0, 100));
        CHECK(!ed_retry_fits(100, 0, 50));
}

/* The wait of a run with three attempts, no back-off and no deadline. */
static int64_t wait_after(struct ed_retry retry, bool idempotent)
{
        eddy_scope whole = { 0 };
        struct ed_fetch_run run = { .opts = { .attempts = 3 },
                                    .idempotent = idempotent,
                                    .whole = &whole };

        return ed_retry_wait(&run, &retry);
}

TEST(the_last_attempt_is_not_repeated)
{
        CHECK_EQ(wait_after((struct ed_retry){ .attempts = 2, .status = 503 }, true), 0);
        CHECK_EQ(wait_after((struct ed_retry){ .attempts = 3, .status = 503 }, true),
                 ED_RETRY_LAST);
}

TEST(only_failures_that_may_pass_are_repeated)
{
        struct ed_retry sent = { .attempts = 1, .error = -ECONNRESET, .sent = true };
        struct ed_retry unsent = { .attempts = 1, .error = -ECONNRESET };

        CHECK_EQ(wait_after((struct ed_retry){ .attempts = 1, .status = 200 }, true),
                 ED_RETRY_LAST);
        CHECK_EQ(wait_after((struct ed_retry){ .attempts = 1, .error = ED_E_LINE_NUL }, true),
                 ED_RETRY_LAST);
        CHECK_EQ(wait_after(sent, true), 0);
        CHECK_EQ(wait_after(sent, false), ED_RETRY_LAST);
        CHECK_EQ(wait_after(unsent, false), 0);
}

TEST(a_longer_retry_after_replaces_the_back_off_up_to_an_hour)
{
        struct ed_retry retry = { .attempts = 1, .status = 429, .after = "3600" };

        CHECK_EQ(wait_after(retry, true), ED_RETRY_AFTER_MAX_NS);
        retry.after = "3601";
        CHECK_EQ(wait_after(retry, true), ED_RETRY_TOO_LONG);
        retry.after = "Sun, 06 Nov 1994 08:49:47 GMT";
        retry.date = "Sun, 06 Nov 1994 08:49:37 GMT";
        CHECK_EQ(wait_after(retry, true), EDDY_SEC(10));
        retry.after = "soon";
        CHECK_EQ(wait_after(retry, true), 0);
}

TEST(statuses_408_429_and_5xx_are_retried)
{
        static const int retried[] = { 408, 429, 500, 502, 503, 504, 599 };
        static const int final[] = {
                200, 204, 301, 304, 400, 401, 403, 404, 409, 422, 499, 600, 999
        };

        for (size_t i = 0; i < sizeof(retried) / sizeof(retried[0]); i++)
                CHECK(ed_outcome_status_is_retried(retried[i]));
        for (size_t i = 0; i < sizeof(final) / sizeof(final[0]); i++)
                CHECK(!ed_outcome_status_is_retried(final[i]));
}

/* B8.50: before anything was sent, for every method; after that, for idempotent ones only. */
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
                CHECK(ed_outcome_is_retried(errors[i], true));
                CHECK(!ed_outcome_is_retried(errors[i], false));
        }
}

TEST(what_would_end_the_same_way_is_not_retried)
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
                CHECK(!ed_outcome_is_retried(errors[i], true));
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
