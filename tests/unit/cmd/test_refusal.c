/*
 * test_refusal.c - the table of vendors: which answers end a run or pause a server, and for how long,
 * with the bodies of the vendors; limits by the window in the names of headers; the dialects of the
 * mock, which the rules recognise.
 */
#include "test.h"

#include <string.h>

#include "batch/run/refusal.h"
#include "eddy/ratelimit.h"
#include "eddy/time.h"
#include "mock/dialect.h"
#include "vendor/limits.h"

static const int64_t now_s = 1795406400; /* 2026-11-23 04:00:00 */

static struct ed_refusal refusal;
static struct eddy_retry_hint hint;

static enum ed_meaning judge(int status, const char *body)
{
        ed_refusal_read(&refusal, status, false, body, strlen(body), &hint);
        return refusal.meaning;
}

static enum ed_meaning judge_plain(int status, const char *body)
{
        hint = (struct eddy_retry_hint){ 0 };
        return judge(status, body);
}

static enum ed_meaning judge_with_wait(int status, const char *body)
{
        hint = (struct eddy_retry_hint){ .has_wait = true, .wait_ns = EDDY_SEC(7) };
        return judge(status, body);
}

/* As the vendors document them, or as users have reported them. */
static const struct {
        int status;
        enum ed_meaning meaning;
        const char *body;
} bodies[] = {
        { 429, ED_MEANS_USED_UP,
          "{\"error\":{\"message\":\"You exceeded your current quota, please check your plan and "
          "billing details.\",\"type\":\"insufficient_quota\",\"param\":null,\"code\":"
          "\"insufficient_quota\"}}" },
        { 429, ED_MEANS_USED_UP,
          "{\"error\":{\"message\":\"m\",\"type\":\"insufficient_quota\",\"param\":null,"
          "\"code\":null}}" },
        { 429, ED_MEANS_USED_UP,
          "{\"error\":{\"message\":\"m\",\"type\":\"insufficient_quota\",\"code\":"
          "\"project_spend_limit_exceeded\"}}" },
        { 429, ED_MEANS_USED_UP, "{\"error\":{\"code\":\"credit_balance_exhausted\"}}" },
        { 429, ED_MEANS_USED_UP, "{\"error\":{\"code\":\"organization_spend_limit_exceeded\"}}" },
        { 429, ED_MEANS_USED_UP, "{\"error\":{\"code\":\"organization_usage_limit_exceeded\"}}" },
        { 400, ED_MEANS_USED_UP,
          "{\n  \"error\": {\n    \"code\": \"billing_hard_limit_reached\",\n    \"message\": "
          "\"Billing hard limit has been reached\",\n    \"param\": null,\n    \"type\": "
          "\"invalid_request_error\"\n  }\n}\n" },
        { 429, ED_MEANS_USED_UP, "{\"error\":{\"code\":\"billing_hard_limit_reached\"}}" },
        { 429, ED_MEANS_PAUSE,
          "{\"error\":{\"message\":\"Rate limit reached for gpt-4o on tokens per min (TPM): Limit "
          "30000, Used 29000, Requested 2000. Please try again in 2s.\",\"type\":\"tokens\","
          "\"param\":null,\"code\":\"rate_limit_exceeded\"}}" },
        { 429, ED_MEANS_OTHER,
          "{\"error\":{\"message\":\"Request too large for gpt-4o on tokens per min (TPM): Limit "
          "30000, Requested 40000.\",\"type\":\"tokens\",\"code\":\"rate_limit_exceeded\"}}" },
        { 400, ED_MEANS_USED_UP,
          "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"Your "
          "credit "
          "balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade "
          "or "
          "purchase credits.\"},\"request_id\":\"req_011\"}" },
        { 400, ED_MEANS_USED_UP,
          "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"You "
          "have "
          "reached your specified API usage limits. You will regain access on 2026-12-01.\"}}" },
        { 400, ED_MEANS_USED_UP,
          "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"You "
          "have "
          "reached your specified workspace API usage limits.\"}}" },
        { 400, ED_MEANS_OTHER,
          "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":"
          "\"messages: "
          "roles must alternate\"}}" },
        { 429, ED_MEANS_USED_UP,
          "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"You have "
          "reached "
          "your API usage limits: your organization has crossed its monthly API usage threshold.\","
          "\"details\":{\"error_code\":\"enforced_spend_limit_reached\"}},\"request_id\":\"req_"
          "018\"}" },
        { 429, ED_MEANS_PAUSE,
          "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"m\"}}" },
        { 402, ED_MEANS_USED_UP,
          "{\"type\":\"error\",\"error\":{\"type\":\"billing_error\",\"message\":\"m\"}}" },
        { 529, ED_MEANS_OTHER,
          "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}"
          "}" },
        { 429, ED_MEANS_USED_UP,
          "{\"error\":{\"code\":429,\"message\":\"Your prepayment credits are depleted. Please go "
          "to AI "
          "Studio at https://ai.studio/projects to manage your project and billing.\",\"status\":"
          "\"RESOURCE_EXHAUSTED\"}}" },
        { 429, ED_MEANS_USED_UP,
          "[{\"error\":{\"code\":429,\"message\":\"Your prepayment credits are depleted.\"}}]" },
        { 429, ED_MEANS_PAUSE,
          "[{\"error\":{\"code\":429,\"message\":\"Resource exhausted. Please try again later.\","
          "\"status\":\"RESOURCE_EXHAUSTED\"}}]" },
        { 498, ED_MEANS_PAUSE, "{\"error\":{\"message\":\"m\",\"code\":\"capacity_exceeded\"}}" },
        { 498, ED_MEANS_OTHER, "{\"error\":{\"code\":498,\"message\":\"Invalid Token\"}}" },
        { 429, ED_MEANS_PAUSE,
          "{\"message\":\"Requests per minute limit exceeded - too many requests sent.\",\"type\":"
          "\"too_many_requests_error\",\"param\":\"quota\",\"code\":\"request_quota_exceeded\"}" },
        { 429, ED_MEANS_PAUSE,
          "{\"object\":\"error\",\"message\":\"Rate limit "
          "exceeded\",\"type\":\"rate_limited\",\"param\":"
          "null,\"code\":\"1300\",\"raw_status_code\":429}" },
        { 402, ED_MEANS_USED_UP,
          "{\"error\":{\"message\":\"Insufficient "
          "Balance\",\"type\":\"unknown_error\",\"param\":null,"
          "\"code\":\"invalid_request_error\"}}" },
        { 429, ED_MEANS_USED_UP,
          "{\"error\":{\"message\":\"Your account org-1 <ak-1> is suspended due to insufficient "
          "balance, "
          "please recharge your account or check your plan and billing details\",\"type\":"
          "\"exceeded_current_quota_error\"}}" },
        { 429, ED_MEANS_PAUSE,
          "{\"error\":{\"message\":\"Your account request reached max request: 3, please try again "
          "after 1 seconds\",\"type\":\"rate_limit_reached_error\"}}" },
        { 402, ED_MEANS_USED_UP,
          "{\"error\":{\"code\":402,\"message\":\"Insufficient credits. Add more using "
          "https://openrouter.ai/credits\"}}" },
        { 429, ED_MEANS_PAUSE,
          "{\"error\":{\"code\":429,\"message\":\"Rate limit "
          "exceeded\",\"metadata\":{\"error_type\":"
          "\"rate_limit_exceeded\"}}}" },
        { 403, ED_MEANS_PAUSE,
          "{\"message\":\"You have exceeded a secondary rate limit. Please wait a few minutes "
          "before you "
          "try again.\",\"documentation_url\":\"https://docs.github.com/\",\"status\":\"403\"}" },
        { 403, ED_MEANS_OTHER,
          "{\"message\":\"Resource not accessible by integration\",\"documentation_url\":\"d\"}" },
        { 403, ED_MEANS_OTHER,
          "{\"error\":{\"message\":\"no access: your rate limit tier is too low\"}}" },
        { 403, ED_MEANS_OTHER, "{\"message\":\"API rate limit exceeded for this tier\"}" },
        { 400, ED_MEANS_OTHER,
          "{\"error\":{\"message\":\"invalid prompt: Your credit balance is too low\"}}" },
        { 400, ED_MEANS_OTHER, "{\"error\":{\"message\":\"Your credit balance is too low\"}}" },
        { 403, ED_MEANS_OTHER, "{\"error\":{\"message\":\"Country not supported\"}}" },
        { 402, ED_MEANS_USED_UP, "" },
        { 402, ED_MEANS_USED_UP, "<html>" },
        { 429, ED_MEANS_PAUSE, "" },
        { 413, ED_MEANS_OTHER, "" },
        { 420, ED_MEANS_OTHER, "Enhance Your Calm" },
        { 503, ED_MEANS_OTHER, "" },
        { 404, ED_MEANS_OTHER, "{\"error\":{\"code\":\"insufficient_quota\"}}" },
        { 200, ED_MEANS_OTHER, "{\"error\":{\"code\":\"rate_limit_exceeded\"}}" },
        /* A stream has reported it. */
        { 200, ED_MEANS_USED_UP, "{\"error\":{\"code\":\"insufficient_quota\"}}" },
        { 200, ED_MEANS_USED_UP, "{\"type\":\"insufficient_quota\"}" },
};

TEST(bodies_of_the_vendors_mean_their_documented_errors)
{
        for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
                enum ed_meaning meaning = judge_plain(bodies[i].status, bodies[i].body);

                if (meaning != bodies[i].meaning)
                        test_fail(__FILE__, __LINE__, "%d %s means %d", bodies[i].status,
                                  bodies[i].body, meaning);
                CHECK(refusal.rule != NULL || meaning == ED_MEANS_OTHER);
                CHECK(!hint.has_wait);
                CHECK(*ed_refusal_reason(&refusal));
        }
}

TEST(statuses_that_wait_only_with_a_time)
{
        static const int statuses[] = { 402, 403, 420, 429, 503 };

        for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
                CHECK_EQ(judge_with_wait(statuses[i], "{}"), ED_MEANS_PAUSE);
                CHECK_EQ(hint.wait_ns, EDDY_SEC(7));
        }
        CHECK_EQ(judge_with_wait(413, "{}"), ED_MEANS_WAIT);
        CHECK_EQ(judge_with_wait(400, "{}"), ED_MEANS_OTHER);
        CHECK_EQ(judge_with_wait(500, "{}"), ED_MEANS_OTHER);
        /* A quota that is used up comes first. */
        CHECK_EQ(judge_with_wait(429, "{\"error\":{\"code\":\"insufficient_quota\"}}"),
                 ED_MEANS_USED_UP);
}

TEST(a_403_waits_for_a_limit_that_is_used_up)
{
        hint = (struct eddy_retry_hint){ 0 };
        ed_refusal_read(&refusal, 403, true, "{}", 2, &hint);
        CHECK_EQ(refusal.meaning, ED_MEANS_PAUSE);
        CHECK_EQ(refusal.rule->wait_s, 0);
        CHECK_EQ(judge_plain(403, "{\"message\":\"API Rate Limit exceeded for user ID 1.\","
                                  "\"documentation_url\":\"d\"}"),
                 ED_MEANS_PAUSE);
        CHECK_EQ(refusal.rule->wait_s, 60);
}

/* Returns the time that a body of Gemini states, -1: none. */
static int64_t delay_of(const char *details)
{
        char body[512];

        snprintf(body, sizeof(body),
                 "{\"error\":{\"code\":429,\"message\":\"m\",\"status\":\"RESOURCE_EXHAUSTED\","
                 "\"details\":%s}}",
                 details);
        CHECK_EQ(judge_plain(429, body), ED_MEANS_PAUSE);
        return hint.has_wait ? hint.wait_ns : -1;
}

TEST(the_time_in_the_body_of_gemini)
{
        static const char head[] = "[{\"@type\":\"type.googleapis.com/google.rpc.QuotaFailure\","
                                   "\"violations\":[{\"quotaId\":\"q\"}]},{\"@type\":"
                                   "\"type.googleapis.com/google.rpc.RetryInfo\",\"retryDelay\":";
        static const struct {
                const char *value;
                int64_t wait_ns;
        } cases[] = {
                { "\"36s\"", EDDY_SEC(36) },
                { "\"45.837906927s\"", 45837906927 },
                { "\"0s\"", 0 },
                { "\"37065.723541104s\"", 37065723541104 },
                { "\"99999999999999999999s\"", INT64_MAX },
                { "\"-5s\"", -1 },
                { "\"NaN\"", -1 },
                { "\"\"", -1 },
                { "\"soon\"", -1 },
                { "36", -1 },
                { "null", -1 },
                { "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"",
                  -1 },
        };
        char details[512];

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                snprintf(details, sizeof(details), "%s%s}]", head, cases[i].value);
                CHECK_EQ(delay_of(details), cases[i].wait_ns);
        }
        CHECK_EQ(delay_of("{\"retryDelay\":\"5s\"}"), -1);
        CHECK_EQ(delay_of("[\"retryDelay\",5,null]"), -1);
        CHECK_EQ(delay_of("[]"), -1);
        /* A header takes precedence. */
        judge_with_wait(429, "{\"error\":{\"details\":[{\"retryDelay\":\"5s\"}]}}");
        CHECK_EQ(hint.wait_ns, EDDY_SEC(7));
}

TEST(the_code_of_an_error_is_kept)
{
        judge_plain(429, "{\"error\":{\"type\":\"a\",\"code\":\"b\"}}");
        CHECK_STR(refusal.code, "b");
        judge_plain(429, "{\"error\":{\"type\":\"a\",\"code\":7}}");
        CHECK_STR(refusal.code, "a");
        judge_plain(500, "{\"code\":\"c\"}");
        CHECK_STR(refusal.code, "c");
        judge_plain(500, "{\"code\":");
        CHECK_STR(refusal.code, "");
        judge_plain(402, "");
        CHECK_STR(ed_refusal_reason(&refusal), "402 Payment Required");
}

/* ---- limits --------------------------------------------------------------------------------- */

static struct ed_limits_seen seen;

static void see(const char *const (*headers)[2])
{
        ed_limits_init(&seen);
        for (; (*headers)[0]; headers++)
                ed_limits_read(&seen, (*headers)[0], (*headers)[1], now_s);
}

TEST(limits_by_minute_and_day_of_cerebras)
{
        static const char *const whole[][2] = {
                { "x-ratelimit-limit-requests-day", "1000000000" },
                { "x-ratelimit-limit-tokens-minute", "1000000000" },
                { "x-ratelimit-remaining-requests-day", "999997455" },
                { "x-ratelimit-remaining-tokens-minute", "999998298" },
                { "x-ratelimit-reset-requests-day", "33011.382867097855" },
                { "x-ratelimit-reset-tokens-minute", "11.382867097854614" },
                { NULL, NULL },
        };
        static const char *const used_up[][2] = {
                { "x-ratelimit-limit-requests-day", "14400" },
                { "x-ratelimit-remaining-requests-day", "0" },
                { "x-ratelimit-reset-requests-day", "33011.5" },
                { "x-ratelimit-limit-requests-minute", "30" },
                { "x-ratelimit-remaining-requests-minute", "0" },
                { "x-ratelimit-reset-requests-minute", "11.5" },
                { NULL, NULL },
        };
        struct eddy_ratelimits least;

        see(whole);
        CHECK(seen.any);
        least = ed_limits_least(&seen);
        CHECK_EQ(least.requests.remaining, 999997455);
        CHECK_EQ(least.requests.reset_ns, 33011382867097);
        CHECK(!least.requests.refills);
        CHECK_EQ(least.tokens.remaining, 999998298);
        CHECK_EQ(ed_limit_wait(&least.requests), 0);
        see(used_up);
        least = ed_limits_least(&seen);
        CHECK_EQ(ed_limit_wait(&least.requests), EDDY_MS(33011500));
        CHECK_EQ(least.tokens.remaining, -1);
}

TEST(limits_by_minute_of_mistral_without_a_reset)
{
        static const char *const whole[][2] = {
                { "x-ratelimit-limit-tokens-minute", "5000000" },
                { "x-ratelimit-remaining-tokens-minute", "4999911" },
                { "x-ratelimit-tokens-query-cost", "52" },
                { "x-ratelimit-limit-req-minute", "720" },
                { "x-ratelimit-remaining-req-minute", "0" },
                { NULL, NULL },
        };
        struct eddy_ratelimits least;

        see(whole);
        least = ed_limits_least(&seen);
        CHECK_EQ(least.requests.limit, 720);
        CHECK(least.requests.refills);
        CHECK_EQ(least.requests.reset_ns, EDDY_MIN(1));
        CHECK_EQ(ed_limit_wait(&least.requests), EDDY_MIN(1) / 720);
        CHECK_EQ(least.tokens.remaining, 4999911);
        CHECK(least.tokens.reset_ns > 0 && least.tokens.reset_ns < EDDY_MS(2));
}

TEST(limits_of_groq_are_of_a_day_and_fill_up_evenly)
{
        static const char *const used_up[][2] = {
                { "retry-after", "2" },
                { "x-ratelimit-limit-requests", "14400" },
                { "x-ratelimit-limit-tokens", "18000" },
                { "x-ratelimit-remaining-requests", "0" },
                { "x-ratelimit-remaining-tokens", "17997" },
                { "x-ratelimit-reset-requests", "24h0m0s" },
                { "x-ratelimit-reset-tokens", "7.66s" },
                { NULL, NULL },
        };
        struct eddy_ratelimits least;

        see(used_up);
        least = ed_limits_least(&seen);
        CHECK_EQ(ed_limit_wait(&least.requests), EDDY_SEC(6));
        CHECK_EQ(least.tokens.remaining, 17997);
}

TEST(limits_with_and_without_a_window_are_compared)
{
        static const char *const minute[][2] = {
                { "x-ratelimit-limit", "100" },
                { "x-ratelimit-remaining", "50" },
                { "x-ratelimit-reset", "1795406430" },
                { "X-RateLimit-Limit-Requests-Minute", "20" },
                { "X-RateLimit-Remaining-Requests-Minute", "7" },
                { "X-RateLimit-Reset-Requests-Minute", "1795406410500" },
                { NULL, NULL },
        };
        struct eddy_ratelimits least;

        see(minute);
        least = ed_limits_least(&seen);
        CHECK_EQ(least.requests.remaining, 7);
        CHECK_EQ(least.requests.reset_ns, EDDY_MS(10500));
}

TEST(malformed_limits_are_ignored)
{
        static const char *const values[] = { "-1", "nan", "NaN", "inf", "", "many", "1e3", " " };
        static const char *const names[] = {
                "x-ratelimit-limit-requests-day",
                "x-ratelimit-remaining-tokens-minute",
                "x-ratelimit-reset-requests-day",
                "x-ratelimit-limit-req-minute",
        };
        static const char *const others[] = {
                "x-ratelimit-tokens-query-cost",
                "x-ratelimit-limit-requests-year",
                "-minute",
                "ratelimit-minute",
                "x-ratelimit-limit-cats-day",
                "tokens-minute",
                "x-ratelimit-used-requests-day",
                "x-ratelimit-limit-limit-limit-limit-limit-limit-limit-limit-limit-requests-day",
        };

        ed_limits_init(&seen);
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); k++)
                        ed_limits_read(&seen, names[i], values[k], now_s);
        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
                ed_limits_read(&seen, others[i], "5", now_s);
        CHECK(!seen.any);
        CHECK_EQ(ed_limits_least(&seen).requests.remaining, -1);
        CHECK_EQ(ed_limits_least(&seen).tokens.remaining, -1);
        /* Huge ones, and times that have passed. */
        ed_limits_read(&seen, "x-ratelimit-remaining-requests-day", "0", now_s);
        ed_limits_read(&seen, "x-ratelimit-reset-requests-day", "99999999999999999999", now_s);
        CHECK_EQ(ed_limit_wait(&seen.requests[1]), INT64_MAX);
        ed_limits_read(&seen, "x-ratelimit-reset-requests-day", "1795406399", now_s);
        CHECK_EQ(ed_limit_wait(&seen.requests[1]), 0);
        ed_limits_read(&seen, "x-ratelimit-limit-requests-day", "999999999999999", now_s);
        seen.requests[1].reset_ns = -1;
        CHECK(ed_limits_least(&seen).requests.reset_ns > 0);
}

/* ---- dialects ------------------------------------------------------------------------------- */

static const struct ed_dialect_facts facts = {
        .requests = { 60, 59, EDDY_MS(1500) },
        .tokens = { 1000, 0, EDDY_SEC(362) },
        .wait_ns = EDDY_MS(36500),
        .now_ns = INT64_C(1795406400) * 1000000000,
        .id = "req_1",
};

static void check_expanded(const char *format, const char *expected)
{
        struct ed_draft text = { 0 };

        CHECK(ed_dialect_expand(format, &facts, &text));
        ed_draft_add(&text, "", 1);
        CHECK(ed_draft_is_whole(&text));
        CHECK_STR(text.data, expected);
        ed_draft_fini(&text);
}

TEST(values_of_a_dialect)
{
        struct ed_dialect_facts without = facts;
        struct ed_draft text = { 0 };

        check_expanded("{requests.limit} {requests.left} {tokens.left}", "60 59 0");
        check_expanded("{requests.reset} {requests.reset:go} {tokens.reset:go}", "1.500 1.5s 6m2s");
        check_expanded("{wait} {wait:s} {wait:go}", "36.500 37 36.5s");
        check_expanded("{wait:at} {wait:epoch} {wait:epochms}",
                       "2026-11-23T04:00:37Z 1795406437 1795406436500");
        check_expanded("{\"id\":\"{id}\",\"a\":{}}", "{\"id\":\"req_1\",\"a\":{}}");
        without.requests.limit = 0;
        CHECK(!ed_dialect_expand("{requests.left}", &without, &text));
        ed_draft_fini(&text);
}

/* Judges the refusal of a dialect, with its headers, as an answer. */
static enum ed_meaning judge_dialect(const char *vendor, enum ed_when when)
{
        const struct ed_dialect_refusal *answer = ed_dialect_refusal_of(vendor, when);
        struct eddy_retry_headers headers = { .retry_after = NULL };
        struct eddy_ratelimits least;
        struct ed_draft body = { 0 }, after = { 0 };

        CHECK(answer);
        ed_limits_init(&seen);
        for (const struct ed_dialect_header *header = ed_dialect_headers; header->vendor;
             header++) {
                struct ed_draft value = { 0 };

                if (ed_dialect_has(header, vendor, when) &&
                    ed_dialect_expand(header->value, &facts, &value)) {
                        ed_draft_add(&value, "", 1);
                        ed_limits_read(&seen, header->name, value.data, now_s);
                        if (strcasecmp(header->name, "retry-after") == 0)
                                ed_draft_add(&after, value.data, value.bytes);
                }
                ed_draft_fini(&value);
        }
        headers.retry_after = after.data;
        eddy_retry_hint_read(&headers, now_s, &hint);
        CHECK(ed_dialect_expand(answer->body, &facts, &body));
        least = ed_limits_least(&seen);
        ed_refusal_read(&refusal, answer->status, ed_limit_wait(&least.requests) > 0, body.data,
                        body.bytes, &hint);
        if (!hint.has_wait && ed_limit_wait(&least.requests) > 0) {
                hint.has_wait = true;
                hint.wait_ns = ed_limit_wait(&least.requests);
        }
        ed_draft_fini(&body);
        ed_draft_fini(&after);
        return refusal.meaning;
}

TEST(the_rules_recognise_all_dialects)
{
        for (const char *const *vendor = ed_vendors; *vendor; vendor++) {
                enum ed_meaning spent;

                CHECK(ed_dialect_find(*vendor) == *vendor);
                CHECK_EQ(judge_dialect(*vendor, ED_WHEN_LIMITED), ED_MEANS_PAUSE);
                if (hint.has_wait)
                        CHECK(hint.wait_ns >= EDDY_MS(36500) && hint.wait_ns <= EDDY_SEC(37));
                spent = judge_dialect(*vendor, ED_WHEN_SPENT);
                CHECK(spent == ED_MEANS_USED_UP || (spent == ED_MEANS_PAUSE && hint.has_wait));
        }
        CHECK(!ed_dialect_find("nothing"));
}

TEST(each_rule_applies_to_an_answer)
{
        for (const struct ed_vendor_rule *rule = ed_vendor_rules; rule->vendor; rule++) {
                char body[256];

                snprintf(body, sizeof(body),
                         "{\"type\":\"error\",\"documentation_url\":\"d\","
                         "\"error\":{\"code\":\"%s\",\"message\":\"%s\"}}",
                         rule->code ? rule->code : "none", rule->text ? rule->text : "none");
                hint = (struct eddy_retry_hint){ .has_wait = rule->needs == ED_NEEDS_TIME,
                                                 .wait_ns = 1 };
                ed_refusal_read(&refusal, rule->status, rule->needs == ED_NEEDS_LIMIT, body,
                                strlen(body), &hint);
                CHECK(refusal.rule == rule);
        }
}
