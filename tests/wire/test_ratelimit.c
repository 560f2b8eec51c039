/*
 * test_ratelimit.c - headers that report rate limits; malformed ones are ignored.
 */
#include <errno.h>

#include "eddy/ratelimit.h"
#include "eddy/time.h"
#include "test.h"

static const int64_t now_s = 1795406400; /* 2026-11-23 04:00:00 UTC */

static int64_t duration(const char *text)
{
        int64_t ns = -7;

        if (eddy_ratelimit_duration_parse(text, &ns) < 0) {
                CHECK_EQ(ns, -7);
                return -1;
        }
        return ns;
}

TEST(durations_are_sums_of_numbers_with_units_or_seconds)
{
        CHECK_EQ(duration("1s"), EDDY_SEC(1));
        CHECK_EQ(duration("6m0s"), EDDY_MIN(6));
        CHECK_EQ(duration("12ms"), EDDY_MS(12));
        CHECK_EQ(duration("1h30m1.5s"), EDDY_MIN(90) + EDDY_MS(1500));
        CHECK_EQ(duration("250us"), EDDY_US(250));
        CHECK_EQ(duration("17ns"), 17);
        CHECK_EQ(duration("0s"), 0);
        CHECK_EQ(duration("30"), EDDY_SEC(30));
        CHECK_EQ(duration("0.25"), EDDY_MS(250));
        CHECK_EQ(duration("0.1234567890123s"), 123456789);
        CHECK_EQ(duration("99999999999999999999h"), INT64_MAX);
        CHECK_EQ(duration("9000000000s9000000000s"), INT64_MAX);
}

TEST(other_texts_are_not_durations)
{
        static const char *const texts[] = { "",   "s",    "1x",  "1 s",  "-1s", "1s ",  "1.s",
                                             ".5", "1..",  "1s2", "1d",   "1e3", "inf",  "1m-1s",
                                             "ms", "1mss", "+1",  "0x10", "1,5", "1.5.5" };

        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
                if (duration(texts[i]) != -1)
                        test_fail(__FILE__, __LINE__, "'%s' was read", texts[i]);
}

/* --- headers --- */

static void check_unit(const struct eddy_ratelimit *seen, int64_t limit, int64_t remaining,
                       int64_t reset_ns, int64_t window_ns)
{
        CHECK_EQ(seen->limit, limit);
        CHECK_EQ(seen->remaining, remaining);
        CHECK_EQ(seen->reset_ns, reset_ns);
        CHECK_EQ(seen->window_ns, window_ns);
}

TEST(limits_of_requests_and_tokens_with_durations)
{
        struct eddy_ratelimits seen = EDDY_RATELIMITS;

        CHECK(eddy_ratelimits_read(&seen, "x-ratelimit-limit-requests", "60", now_s));
        CHECK(eddy_ratelimits_read(&seen, "X-RateLimit-Remaining-Requests", "59", now_s));
        CHECK(eddy_ratelimits_read(&seen, "x-ratelimit-reset-requests", "1s", now_s));
        CHECK(eddy_ratelimits_read(&seen, "x-ratelimit-limit-tokens", "150000", now_s));
        CHECK(eddy_ratelimits_read(&seen, "x-ratelimit-remaining-tokens", "149984", now_s));
        CHECK(eddy_ratelimits_read(&seen, "x-ratelimit-reset-tokens", "6m0s", now_s));
        check_unit(&seen.requests, 60, 59, EDDY_SEC(1), -1);
        check_unit(&seen.tokens, 150000, 149984, EDDY_MIN(6), -1);
        CHECK(seen.requests.refills && seen.tokens.refills);
}

TEST(limits_with_times)
{
        struct eddy_ratelimits seen = EDDY_RATELIMITS;

        CHECK(eddy_ratelimits_read(&seen, "anthropic-ratelimit-requests-limit", "50", now_s));
        CHECK(eddy_ratelimits_read(&seen, "anthropic-ratelimit-requests-remaining", "49", now_s));
        CHECK(eddy_ratelimits_read(&seen, "anthropic-ratelimit-requests-reset",
                                   "2026-11-23T04:00:12Z", now_s));
        CHECK(eddy_ratelimits_read(&seen, "anthropic-ratelimit-tokens-remaining", "0", now_s));
        CHECK(eddy_ratelimits_read(&seen, "anthropic-ratelimit-tokens-reset",
                                   "2026-11-23T03:00:00Z", now_s));
        check_unit(&seen.requests, 50, 49, EDDY_SEC(12), -1);
        check_unit(&seen.tokens, -1, 0, 0, -1);
}

TEST(limits_with_seconds_from_now_or_since_1970)
{
        struct eddy_ratelimits seen = EDDY_RATELIMITS;

        CHECK(eddy_ratelimits_read(&seen, "X-RateLimit-Limit", "5000", now_s));
        CHECK(eddy_ratelimits_read(&seen, "X-RateLimit-Remaining", "4999", now_s));
        CHECK(eddy_ratelimits_read(&seen, "X-RateLimit-Reset", "1795406460", now_s));
        check_unit(&seen.requests, 5000, 4999, EDDY_MIN(1), -1);
        CHECK(eddy_ratelimits_read(&seen, "X-RateLimit-Reset", "30", now_s));
        CHECK_EQ(seen.requests.reset_ns, EDDY_SEC(30));
        CHECK(eddy_ratelimits_read(&seen, "X-RateLimit-Reset", "1795406399", now_s));
        CHECK_EQ(seen.requests.reset_ns, 0);
        CHECK(!seen.requests.refills);
        /* Milliseconds. */
        CHECK(eddy_ratelimits_read(&seen, "X-RateLimit-Reset", "1795406460500", now_s));
        CHECK_EQ(seen.requests.reset_ns, EDDY_MS(60500));
        CHECK(eddy_ratelimits_read(&seen, "X-RateLimit-Reset", "1795406399999", now_s));
        CHECK_EQ(seen.requests.reset_ns, 0);
}

TEST(limits_of_requests_and_tokens_until_a_time_of_day)
{
        struct eddy_ratelimits seen = EDDY_RATELIMITS;

        CHECK(eddy_ratelimits_read(&seen, "x-ratelimit-reset-requests", "1795406460", now_s));
        CHECK_EQ(seen.requests.reset_ns, EDDY_MIN(1));
        CHECK(!seen.requests.refills);
        CHECK(eddy_ratelimits_read(&seen, "x-ratelimit-reset-tokens", "1795406460500", now_s));
        CHECK_EQ(seen.tokens.reset_ns, EDDY_MS(60500));
        CHECK(!seen.tokens.refills);
        CHECK(eddy_ratelimits_read(&seen, "x-ratelimit-reset-tokens", "1795406399", now_s));
        CHECK_EQ(seen.tokens.reset_ns, 0);
        CHECK(eddy_ratelimits_read(&seen, "x-ratelimit-reset-tokens", "7.66", now_s));
        CHECK_EQ(seen.tokens.reset_ns, EDDY_MS(7660));
        CHECK(seen.tokens.refills);
}

TEST(limits_of_the_early_drafts)
{
        struct eddy_ratelimits seen = EDDY_RATELIMITS;

        CHECK(eddy_ratelimits_read(&seen, "RateLimit-Limit", "100, 100;w=60, 5000;w=3600", now_s));
        CHECK(eddy_ratelimits_read(&seen, "RateLimit-Remaining", "50", now_s));
        CHECK(eddy_ratelimits_read(&seen, "RateLimit-Reset", "30", now_s));
        check_unit(&seen.requests, 100, 50, EDDY_SEC(30), EDDY_MIN(1));
        seen = (struct eddy_ratelimits) EDDY_RATELIMITS;
        CHECK(eddy_ratelimits_read(&seen, "RateLimit", "limit=100, remaining=50, reset=5", now_s));
        check_unit(&seen.requests, 100, 50, EDDY_SEC(5), -1);
}

TEST(limits_of_the_draft_with_policies)
{
        struct eddy_ratelimits seen = EDDY_RATELIMITS;

        CHECK(eddy_ratelimits_read(&seen, "RateLimit",
                                   "\"default\";r=50;t=30;pk=:dGVzdA==:", now_s));
        check_unit(&seen.requests, -1, 50, EDDY_SEC(30), -1);
        CHECK(eddy_ratelimits_read(&seen, "RateLimit", "\"day\";r=900;t=9, \"burst\";r=7;t=3",
                                   now_s));
        check_unit(&seen.requests, -1, 7, EDDY_SEC(3), -1);
        CHECK(eddy_ratelimits_read(&seen, "RateLimit-Policy",
                                   "\"bytes\";q=9;w=1;qu=\"content-bytes\", \"burst\";q=100;w=60;"
                                   "qu=\"requests\", \"daily\";q=1000;w=86400",
                                   now_s));
        check_unit(&seen.requests, 100, 7, EDDY_SEC(3), EDDY_MIN(1));
        CHECK(eddy_ratelimits_read(&seen, "ratelimit", "default;r=1;t=2", now_s));
        check_unit(&seen.requests, 100, 1, EDDY_SEC(2), EDDY_MIN(1));
        CHECK_EQ(seen.tokens.limit, -1);
}

TEST(malformed_values_and_other_headers_are_ignored)
{
        static const char *const cases[][2] = {
                { "x-ratelimit-limit-requests", "" },
                { "x-ratelimit-limit-requests", "many" },
                { "x-ratelimit-limit-requests", "-1" },
                { "x-ratelimit-limit-requests", "99999999999999999999" },
                { "x-ratelimit-remaining-tokens", "1, 2" },
                { "x-ratelimit-remaining-tokens", "5 requests" },
                { "x-ratelimit-reset-tokens", "soon" },
                { "x-ratelimit-reset-tokens", "-1" },
                { "x-ratelimit-reset-tokens", "nan" },
                { "x-ratelimit-reset", "1e3" },
                { "x-ratelimit-reset", "6m0s" },
                { "x-ratelimit-reset", "Mon, 23 Nov 2026 04:00:00 GMT" },
                { "anthropic-ratelimit-tokens-reset", "12s" },
                { "ratelimit", "\"default;r=50;t=30" },
                { "ratelimit", "\"default\";r=50;t=30;pk=:dGVz" },
                { "ratelimit", "\"default\";r=50;t=30," },
                { "ratelimit", "\"default\";r=50;t=-30" },
                { "ratelimit", "\"default\";r=50;;t=30" },
                { "ratelimit", "\"default\";r=50 t=30" },
                { "ratelimit", "\"a\\" },
                { "ratelimit", "limit=100 remaining=50" },
                { "ratelimit", "" },
                { "ratelimit-policy", "\"burst\";w=60" },
                { "ratelimit-policy", "\"bytes\";q=9;qu=\"content-bytes\"" },
                { "ratelimit-limit", "limit" },
                { "ratelimits", "\"default\";r=50;t=30" },
                { "retry-after", "5" },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct eddy_ratelimits seen = EDDY_RATELIMITS;

                if (eddy_ratelimits_read(&seen, cases[i][0], cases[i][1], now_s))
                        test_fail(__FILE__, __LINE__, "%s: %s was read", cases[i][0], cases[i][1]);
                check_unit(&seen.requests, -1, -1, -1, -1);
                check_unit(&seen.tokens, -1, -1, -1, -1);
        }
}

/* Every prefix of a value, and every value with another byte, is read or ignored. */
TEST(no_value_harms)
{
        static const char *const names[] = { "x-ratelimit-limit-requests",
                                             "x-ratelimit-reset-tokens",
                                             "anthropic-ratelimit-tokens-reset",
                                             "x-ratelimit-reset",
                                             "ratelimit",
                                             "ratelimit-policy" };
        static const char *const values[] = {
                "100, 100;w=60",
                "1h6m0.5s",
                "2026-11-23T04:00:12.5Z",
                "1795406460",
                "\"a\\\"b\";r=50;t=30;pk=:dGVzdA==:;x",
                "\"burst\";q=100;w=60;qu=\"requests\";b=?1, token;q=1"
        };

        for (size_t i = 0; i < 6 * 6; i++) {
                const char *value = values[i / 6];
                size_t bytes = strlen(value);

                for (size_t at = 0; at < bytes; at++)
                        for (int byte = 0; byte < 256; byte++) {
                                struct eddy_ratelimits seen = EDDY_RATELIMITS;
                                char *text = malloc(bytes + 1);

                                CHECK(text);
                                memcpy(text, value, bytes + 1);
                                text[at] = (char) byte;
                                (void) eddy_ratelimits_read(&seen, names[i % 6], text, now_s);
                                free(text);
                        }
        }
}
