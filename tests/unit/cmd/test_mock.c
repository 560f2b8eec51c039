/*
 * test_mock.c - the parts of the mock without I/O: waits, token buckets, tables of tokens and keys,
 * schedules, and requests and answers of the API.
 */
#include "test.h"

#include <errno.h>
#include <math.h>

#include "common/duration.h"
#include "eddy/alloc.h"
#include "eddy/base64.h"
#include "eddy/ratelimit.h"
#include "eddy/time.h"
#include "mock/bucket.h"
#include "mock/grant.h"
#include "mock/keys.h"
#include "mock/latency.h"
#include "mock/number.h"
#include "mock/openai.h"
#include "mock/schedule.h"
#include "mock/tokens.h"

static int compare(const void *a, const void *b)
{
        int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

        return (x > y) - (x < y);
}

enum { DRAWS = 40000 };
static int64_t draws[DRAWS];

TEST(latency_has_the_median_and_the_p99_asked_for)
{
        struct ed_latency distribution = ed_latency_of_p99(EDDY_MS(100), EDDY_MS(1000));
        struct ed_random random = { 5 };

        for (int i = 0; i < DRAWS; i++)
                draws[i] = ed_latency_draw(&distribution, &random);
        qsort(draws, DRAWS, sizeof(draws[0]), compare);
        CHECK(draws[0] > 0);
        CHECK(draws[DRAWS / 2] > EDDY_MS(97) && draws[DRAWS / 2] < EDDY_MS(103));
        CHECK(draws[DRAWS * 99 / 100] > EDDY_MS(920) && draws[DRAWS * 99 / 100] < EDDY_MS(1080));
        CHECK(draws[DRAWS - 1] <= ED_LATENCY_MAX_NS);
}

TEST(latency_without_a_p99_is_constant)
{
        struct ed_random random = { 5 };
        struct ed_latency none = ed_latency_of_p99(EDDY_MS(100), 0);
        struct ed_latency equal = ed_latency_of_p99(EDDY_MS(100), EDDY_MS(100));
        struct ed_latency zero = { .ns = 0 };

        CHECK_EQ(ed_latency_draw(&none, &random), EDDY_MS(100));
        CHECK_EQ(ed_latency_draw(&equal, &random), EDDY_MS(100));
        CHECK_EQ(ed_latency_draw(&zero, &random), 0);
}

TEST(bucket_lets_a_second_s_worth_through_and_then_the_rate)
{
        struct ed_bucket bucket;
        int64_t wait;
        int taken = 0;

        ed_bucket_init(&bucket, 10, EDDY_SEC(1));
        while ((wait = ed_bucket_take(&bucket, EDDY_SEC(1))) == 0)
                taken++;
        CHECK_EQ(taken, 10);
        CHECK(wait > EDDY_MS(99) && wait < EDDY_MS(101));
        CHECK(ed_bucket_take(&bucket, EDDY_SEC(1) + EDDY_MS(50)) > 0);
        CHECK_EQ(ed_bucket_take(&bucket, EDDY_SEC(1) + wait), 0);
        CHECK(ed_bucket_take(&bucket, EDDY_SEC(1) + wait) > 0);
        /* An hour of rest fills it no higher. */
        for (taken = 0; ed_bucket_take(&bucket, EDDY_SEC(3600)) == 0;)
                taken++;
        CHECK_EQ(taken, 10);
}

TEST(bucket_slower_than_one_per_second_still_lets_one_through)
{
        struct ed_bucket bucket;
        int64_t wait;

        ed_bucket_init(&bucket, 0.1, 0);
        CHECK_EQ(ed_bucket_take(&bucket, 0), 0);
        wait = ed_bucket_take(&bucket, 0);
        CHECK(wait > EDDY_MS(9990) && wait < EDDY_MS(10010));
        CHECK_EQ(ed_bucket_take(&bucket, wait), 0);
}

TEST(bucket_that_hardly_ever_fills_still_limits)
{
        struct ed_bucket bucket;

        ed_bucket_init(&bucket, 1e-14, 0);
        CHECK_EQ(ed_bucket_take(&bucket, 0), 0);
        CHECK_EQ(ed_bucket_take(&bucket, 0), ED_DURATION_MAX_NS);
        CHECK_EQ(ed_bucket_take(&bucket, EDDY_SEC(3600)), ED_DURATION_MAX_NS);
}

TEST(bucket_without_a_rate_does_not_limit)
{
        struct ed_bucket bucket;

        ed_bucket_init(&bucket, 0, 0);
        for (int i = 0; i < 1000; i++)
                CHECK_EQ(ed_bucket_take(&bucket, 0), 0);
}

static struct ed_tokens tokens;

static uint32_t count(const char *token)
{
        uint32_t before;

        CHECK_EQ(ed_tokens_count(&tokens, token, strlen(token), &before), 0);
        return before;
}

TEST(each_token_is_counted_for_itself)
{
        CHECK_EQ(count("a"), 0);
        CHECK_EQ(count("a"), 1);
        CHECK_EQ(count("b"), 0);
        CHECK_EQ(count(""), 0);
        CHECK_EQ(count("a"), 2);
        CHECK_EQ(count("aa"), 0);
        ed_tokens_fini(&tokens);
        CHECK_EQ(count("a"), 0);
        ed_tokens_fini(&tokens);
}

TEST(table_of_tokens_is_bounded_and_forgets_the_oldest)
{
        char token[16];

        for (int i = 0; i < ED_TOKENS_MAX; i++) {
                snprintf(token, sizeof(token), "%d", i);
                CHECK_EQ(count(token), 0);
        }
        CHECK_EQ(tokens.map.count, ED_TOKENS_MAX);
        CHECK_EQ(count("0"), 1);
        CHECK_EQ(count("new"), 0); /* drives out "0", which came first */
        CHECK_EQ(tokens.map.count, ED_TOKENS_MAX);
        CHECK_EQ(count("1"), 1);
        CHECK_EQ(count("0"), 0); /* drives out "1" */
        CHECK_EQ(count("new"), 1);
        CHECK_EQ(count("2"), 1);
        CHECK_EQ(count("1"), 0);
        ed_tokens_fini(&tokens);
}

TEST(token_that_is_too_long_is_refused)
{
        char token[ED_TOKEN_BYTES_MAX + 1] = "";
        uint32_t before = 77;

        CHECK_EQ(ed_tokens_count(&tokens, token, sizeof(token), &before), -EINVAL);
        CHECK_EQ(before, 77);
        CHECK_EQ(ed_tokens_count(&tokens, token, sizeof(token) - 1, &before), 0);
        ed_tokens_fini(&tokens);
}

static struct ed_latency latency(const char *text)
{
        struct ed_latency result = { .ns = -1 };
        const char *why = NULL;

        CHECK_EQ(ed_latency_parse(text, &result, &why), 0);
        return result;
}

/* Fills 'draws' in ascending order, and returns their mean. */
static double draw_many(const char *text)
{
        struct ed_latency distribution = latency(text);
        struct ed_random random = { 5 };
        double sum = 0;

        for (int i = 0; i < DRAWS; i++) {
                draws[i] = ed_latency_draw(&distribution, &random);
                sum += (double) draws[i];
        }
        qsort(draws, DRAWS, sizeof(draws[0]), compare);
        return sum / DRAWS;
}

TEST(each_distribution_has_its_quantiles)
{
        double mean;

        /* SIGMA 0.5: the 97.7th percentile, two deviations, is e times the median. */
        draw_many("lognormal:200ms:0.5");
        CHECK(draws[DRAWS / 2] > EDDY_MS(195) && draws[DRAWS / 2] < EDDY_MS(205));
        CHECK(draws[DRAWS * 977 / 1000] > EDDY_MS(520) && draws[DRAWS * 977 / 1000] < EDDY_MS(568));
        mean = draw_many("uniform:10ms:50ms");
        CHECK(draws[0] >= EDDY_MS(10) && draws[DRAWS - 1] <= EDDY_MS(50));
        CHECK(mean > EDDY_MS(29.7) && mean < EDDY_MS(30.3));
        mean = draw_many("exp:100ms");
        CHECK(mean > EDDY_MS(98) && mean < EDDY_MS(102));
        CHECK(draws[DRAWS / 2] > EDDY_MS(67) && draws[DRAWS / 2] < EDDY_MS(72));
        /* Half are above the minimum times 2^(1/ALPHA). */
        draw_many("pareto:50ms:1");
        CHECK(draws[0] >= EDDY_MS(50));
        CHECK(draws[DRAWS / 2] > EDDY_MS(97) && draws[DRAWS / 2] < EDDY_MS(103));
        /* The tail of this one is cut. */
        draw_many("pareto:1h:0.001");
        CHECK_EQ(draws[DRAWS - 1], ED_LATENCY_MAX_NS);
        CHECK_EQ(latency("uniform:5ms:5ms").max_ns, EDDY_MS(5));
        CHECK_EQ(latency("250us").ns, EDDY_US(250));
}

TEST(wrong_distributions_are_refused_with_their_form)
{
        static const struct {
                const char *text, *word;
        } wrong[] = {
                { "", "duration" },
                { "5", "unit" },
                { "2h", "1h" },
                { "normal:1ms:2", "unknown distribution" },
                { "lognormal", "duration" },
                { "lognormal:", "lognormal:MEDIAN:SIGMA" },
                { "lognormal:1ms", "lognormal:MEDIAN:SIGMA" },
                { "lognormal:1ms:", "lognormal:MEDIAN:SIGMA" },
                { "lognormal:1ms:0", "lognormal:MEDIAN:SIGMA" },
                { "lognormal:1ms:-1", "lognormal:MEDIAN:SIGMA" },
                { "lognormal:1ms:1x", "lognormal:MEDIAN:SIGMA" },
                { "lognormal:1ms:inf", "lognormal:MEDIAN:SIGMA" },
                { "lognormal:1ms:101", "lognormal:MEDIAN:SIGMA" },
                { "uniform:2ms:1ms", "uniform:MIN:MAX" },
                { "uniform:1ms:2ms:3ms", "uniform:MIN:MAX" },
                { "uniform:1ms:2h", "1h" },
                { "exp:1ms:2", "exp:MEAN" },
                { "pareto:1ms:0", "pareto:MIN:ALPHA" },
                { "exp:0000000000000000000000000000000000000000001ms", "exp:MEAN" },
        };

        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
                struct ed_latency result = { .ns = 77 };
                const char *why = "";

                CHECK_EQ(ed_latency_parse(wrong[i].text, &result, &why), -EINVAL);
                if (!strstr(why, wrong[i].word))
                        test_fail(__FILE__, __LINE__, "%s: %s", wrong[i].text, why);
                CHECK_EQ(result.ns, 77);
        }
}

TEST(part_is_a_fraction_or_a_percentage)
{
        double part = 77;

        CHECK(*ed_number_read_part("5%", &part) == '\0' && part == 0.05);
        CHECK(*ed_number_read_part("0.25", &part) == '\0' && part == 0.25);
        CHECK(*ed_number_read_part("100%", &part) == '\0' && part == 1);
        CHECK(*ed_number_read_part("0.5%:3s", &part) == ':' && part == 0.005);
        part = 77;
        CHECK(!ed_number_read_part("5", &part));
        CHECK(!ed_number_read_part("101%", &part));
        CHECK(!ed_number_read_part("%", &part));
        CHECK(!ed_number_read_part("", &part));
        CHECK(!ed_number_read_part(".", &part));
        CHECK(part == 77);
}

TEST(capacity_changes_at_the_times_of_its_steps)
{
        struct ed_schedule schedule = { .steps_count = 0 };
        const char *why;

        CHECK_EQ(ed_schedule_at(&schedule, EDDY_SEC(5)), UINT32_MAX);
        CHECK_EQ(ed_schedule_parse("8", &schedule, &why), 0);
        CHECK_EQ(ed_schedule_at(&schedule, 0), 8);
        CHECK_EQ(ed_schedule_parse("8@1s,0@10s,1000000@1m", &schedule, &why), 0);
        CHECK_EQ(ed_schedule_at(&schedule, EDDY_SEC(1) - 1), UINT32_MAX);
        CHECK_EQ(ed_schedule_at(&schedule, EDDY_SEC(1)), 8);
        CHECK_EQ(ed_schedule_at(&schedule, EDDY_SEC(10) - 1), 8);
        CHECK_EQ(ed_schedule_at(&schedule, EDDY_SEC(10)), 0);
        CHECK_EQ(ed_schedule_at(&schedule, EDDY_SEC(3600)), 1000000);
}

TEST(wrong_schedules_are_refused)
{
        static const char *const wrong[] = { "",          "@0s",       "8@",          "8@0s,",
                                             "8@0s;2@1s", "8@5",       "1000001",     "8@2s,4@2s",
                                             "8@2s,4",    "8@0s,x@1s", "99999999999", "-1@0s",
                                             "8@0s 2@1s" };
        char many[ED_SCHEDULE_STEPS_MAX * 8 + 16] = "";
        struct ed_schedule schedule = { .steps_count = 77 };
        const char *why;

        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
                why = NULL;
                if (ed_schedule_parse(wrong[i], &schedule, &why) != -EINVAL || !why)
                        test_fail(__FILE__, __LINE__, "%s is accepted", wrong[i]);
        }
        for (int i = 0; i <= ED_SCHEDULE_STEPS_MAX; i++)
                snprintf(many + strlen(many), 16, "%s1@%ds", i ? "," : "", i);
        CHECK_EQ(ed_schedule_parse(many, &schedule, &why), -EINVAL);
        CHECK(strstr(why, "64"));
        CHECK_EQ(schedule.steps_count, 77);
        *strrchr(many, ',') = '\0';
        CHECK_EQ(ed_schedule_parse(many, &schedule, &why), 0);
        CHECK_EQ(schedule.steps_count, ED_SCHEDULE_STEPS_MAX);
}

TEST(wave_begins_with_each_period_after_the_first)
{
        struct ed_wave wave = { .period_ns = 0 };
        const char *why;
        int64_t retry_ns = 77;

        CHECK(!ed_wave_is_on(&wave, EDDY_SEC(5), &retry_ns));
        CHECK_EQ(ed_wave_parse("30s:5s", &wave, &why), 0);
        CHECK(!ed_wave_is_on(&wave, 0, &retry_ns));
        CHECK(!ed_wave_is_on(&wave, EDDY_SEC(30) - 1, &retry_ns));
        CHECK_EQ(retry_ns, 77);
        CHECK(ed_wave_is_on(&wave, EDDY_SEC(30), &retry_ns));
        CHECK_EQ(retry_ns, EDDY_SEC(5));
        CHECK(ed_wave_is_on(&wave, EDDY_SEC(94), &retry_ns));
        CHECK_EQ(retry_ns, EDDY_SEC(1));
        CHECK(!ed_wave_is_on(&wave, EDDY_SEC(35), &retry_ns));
        CHECK_EQ(ed_wave_parse("30s:5s:250ms", &wave, &why), 0);
        CHECK(ed_wave_is_on(&wave, EDDY_SEC(31), &retry_ns));
        CHECK_EQ(retry_ns, EDDY_MS(250));
        CHECK_EQ(ed_wave_parse("30s:5s:0s", &wave, &why), 0);
        CHECK(ed_wave_is_on(&wave, EDDY_SEC(31), &retry_ns));
        CHECK_EQ(retry_ns, 0);
        for (const char *const *text =
                     (const char *const[]){ "", "30s", "30s:", "5s:5s", "5s:0s", "5s:6s",
                                            "5s:1s:", "5s:1s:2s:3s", "5:1s", NULL };
             *text; text++)
                CHECK_EQ(ed_wave_parse(*text, &wave, &why), -EINVAL);
}

TEST(bucket_of_a_minute_takes_many_or_none)
{
        struct ed_bucket bucket;

        ed_bucket_init_minute(&bucket, 600, 0);
        CHECK_EQ(ed_bucket_take_many(&bucket, 601, 0), ED_DURATION_MAX_NS);
        CHECK_EQ(ed_bucket_left(&bucket), 600);
        CHECK_EQ(ed_bucket_full_ns(&bucket), 0);
        CHECK_EQ(ed_bucket_take_many(&bucket, 590, 0), 0);
        CHECK_EQ(ed_bucket_left(&bucket), 10);
        CHECK(ed_bucket_full_ns(&bucket) - EDDY_SEC(59) <= 1);
        CHECK(ed_bucket_take_many(&bucket, 20, 0) - EDDY_SEC(1) <= 1);
        CHECK_EQ(ed_bucket_left(&bucket), 10);
        CHECK_EQ(ed_bucket_take_many(&bucket, 20, EDDY_SEC(1) + 1), 0);
        CHECK_EQ(ed_bucket_left(&bucket), 0);
        CHECK_EQ(ed_bucket_take_many(&bucket, 0, EDDY_SEC(1) + 1), 0);
        ed_bucket_init_minute(&bucket, 0, 0);
        CHECK_EQ(ed_bucket_take_many(&bucket, UINT64_MAX, 0), 0);
}

TEST(each_key_has_limits_of_its_own_and_the_idlest_is_forgotten)
{
        static struct ed_keys keys;
        struct ed_limits limits = { .rpm = 2 };
        struct ed_key *first = ed_keys_find(&keys, &limits, "a", 1, 0);
        char name[16];

        CHECK_EQ(ed_bucket_take(&first->requests, 0), 0);
        CHECK_EQ(ed_bucket_take(&first->requests, 0), 0);
        CHECK(ed_bucket_take(&first->requests, 0) > 0);
        CHECK_EQ(ed_bucket_take(&ed_keys_find(&keys, &limits, "b", 1, 0)->requests, 0), 0);
        CHECK(ed_keys_find(&keys, &limits, "a", 1, 0) == first);
        for (int i = 0; i < ED_KEYS_MAX - 2; i++) {
                snprintf(name, sizeof(name), "k%d", i);
                ed_keys_find(&keys, &limits, name, strlen(name), 0)->served = 1;
        }
        CHECK_EQ(keys.count, ED_KEYS_MAX);
        CHECK(ed_keys_find(&keys, &limits, "a", 1, 0) == first);
        CHECK_EQ(ed_keys_find(&keys, &limits, "new", 3, 0)->served, 0); /* drives out "b" */
        CHECK_EQ(keys.count, ED_KEYS_MAX);
        CHECK(ed_bucket_take(&ed_keys_find(&keys, &limits, "a", 1, 0)->requests, 0) > 0);
        CHECK_EQ(ed_bucket_left(&ed_keys_find(&keys, &limits, "b", 1, 0)->requests), 2);
}

TEST(resets_are_printed_as_the_library_reads_them)
{
        static const struct {
                int64_t ns;
                const char *text;
        } resets[] = {
                { -5, "0ms" },
                { 0, "0ms" },
                { 1, "1ms" },
                { EDDY_MS(12), "12ms" },
                { EDDY_MS(999) + 1, "1s" },
                { EDDY_SEC(1), "1s" },
                { EDDY_MS(8640), "8.64s" },
                { EDDY_MS(1005), "1.005s" },
                { EDDY_SEC(60), "1m0s" },
                { EDDY_SEC(360), "6m0s" },
                { EDDY_MS(3599500), "59m59.5s" },
                { EDDY_SEC(7200), "2h0m0s" },
                { ED_DURATION_MAX_NS, "8760h0m0s" },
        };
        char text[ED_RESET_TEXT_BYTES];
        int64_t ns;

        for (size_t i = 0; i < sizeof(resets) / sizeof(resets[0]); i++) {
                ed_reset_print(resets[i].ns, text);
                CHECK_STR(text, resets[i].text);
                CHECK_EQ(eddy_ratelimit_duration_parse(text, &ns), 0);
                CHECK(ns >= resets[i].ns && ns - resets[i].ns < EDDY_MS(1));
        }
}

/* ---- the API --------------------------------------------------------------------------------- */

static struct ed_draft draft;
static const struct ed_openai_opts api_opts = { .dimensions = 8 };

/* Returns the written text with a NUL. */
static const char *drafted(void)
{
        CHECK(ed_draft_is_whole(&draft));
        ed_draft_add(&draft, "", 1);
        draft.bytes--;
        return draft.data;
}

/* Stores a value of the drafted text. */
static struct eddy_json_value drafted_value(const char *path)
{
        struct eddy_json_value root, value;
        struct eddy_json_error error;

        CHECK(ed_draft_is_whole(&draft));
        if (eddy_json_parse(draft.data, draft.bytes, NULL, &root, &error) < 0)
                test_fail(__FILE__, __LINE__, "%s", error.text);
        if (eddy_json_get(&root, path, &value) < 0)
                test_fail(__FILE__, __LINE__, "there is no %s", path);
        return value;
}

static uint64_t drafted_number(const char *path)
{
        struct eddy_json_value value = drafted_value(path);
        uint64_t number;

        CHECK_EQ(eddy_json_uint64(&value, &number), 0);
        return number;
}

/* Writes the answer to a request for embeddings. */
static void embed(const char *body)
{
        struct ed_openai_ask ask;
        struct ed_openai_fault fault;

        if (ed_openai_read_embeddings(body, strlen(body), &api_opts, &ask, &fault) < 0)
                test_fail(__FILE__, __LINE__, "%s: %s", body, fault.message);
        ed_draft_reset(&draft, SIZE_MAX);
        ed_openai_write_embeddings(&ask, &draft);
}

TEST(vectors_depend_on_the_text_only_and_have_length_1)
{
        char first[512], *at;
        double squares = 0;
        struct eddy_json_value value;

        embed("{\"model\":\"m\",\"input\":\"gr\\u00fcn\"}");
        value = drafted_value("data[0].embedding");
        snprintf(first, sizeof(first), "%.*s", (int) value.bytes, value.text);
        at = first + 1;
        for (int i = 0; i < 8; i++)
                squares += pow(strtod(at, &at), 2), at++;
        CHECK(squares > 0.999999 && squares < 1.000001);
        embed("{\"input\":[\"x\",\"gr\303\274n\"],\"model\":\"other\"}");
        value = drafted_value("data[1].embedding");
        CHECK(strncmp(first, value.text, value.bytes) == 0);
        CHECK_EQ(drafted_number("data[1].index"), 1);
        value = drafted_value("data[0].embedding");
        CHECK(strncmp(first, value.text, value.bytes) != 0);
        CHECK_EQ(drafted_number("usage.prompt_tokens"), 3);
        ed_draft_fini(&draft);
}

TEST(base64_has_four_bytes_for_each_number)
{
        /* 49 floats: more than are encoded at once. */
        embed("{\"model\":\"m\",\"input\":[1,2],\"dimensions\":49,\"encoding_format\":\"base64\"}");
        CHECK_EQ(drafted_value("data[0].embedding").bytes, EDDY_BASE64_BYTES(49 * 4) + 2);
        CHECK_EQ(drafted_number("usage.total_tokens"), 2);
        embed("{\"model\":\"m\",\"input\":[[1,2],[3]],\"dimensions\":4096}");
        CHECK_EQ(drafted_number("usage.total_tokens"), 3);
        drafted_value("data[1].embedding[4095]");
        ed_draft_fini(&draft);
}

/* Reads a request that is refused, and checks the field and the code that the error names. */
static void refused(bool is_chat, const char *body, const char *param, const char *code)
{
        struct ed_openai_ask ask;
        struct ed_openai_fault fault = { 0 };
        int err = is_chat ? ed_openai_read_chat(body, strlen(body), &api_opts, &ask, &fault)
                          : ed_openai_read_embeddings(body, strlen(body), &api_opts, &ask, &fault);

        if (err != -EINVAL)
                test_fail(__FILE__, __LINE__, "%s is not refused", body);
        CHECK_EQ(fault.status, 400);
        CHECK_STR(fault.param ? fault.param : "null", param);
        CHECK_STR(fault.code ? fault.code : "null", code);
        ed_draft_reset(&draft, SIZE_MAX);
        ed_openai_write_fault(&fault, &draft);
        CHECK(strstr(drafted(), "\"type\":\"invalid_request_error\""));
        drafted_value("error.param");
}

TEST(wrong_requests_for_embeddings_are_refused_with_the_field)
{
        refused(false, "", "null", "null");
        refused(false, "{", "null", "null");
        refused(false, "[]", "null", "null");
        refused(false, "{\"input\":\"x\"}", "model", "missing_required_parameter");
        refused(false, "{\"model\":null,\"input\":\"x\"}", "model", "invalid_type");
        refused(false, "{\"model\":\"m\"}", "input", "missing_required_parameter");
        refused(false, "{\"model\":\"m\",\"input\":null}", "input", "missing_required_parameter");
        for (const char *const *input =
                     (const char *const[]){ "\"\"", "[]", "[\"\"]", "[[]]", "7", "{}", "[1,\"x\"]",
                                            "[\"x\",1]", "[-1]", "[1.5]", "[[1],[[2]]]",
                                            "\"\\ud800\"", "[null]", NULL };
             *input; input++) {
                char body[64];

                snprintf(body, sizeof(body), "{\"model\":\"m\",\"input\":%s}", *input);
                refused(false, body, "input", "invalid_type");
        }
        refused(false, "{\"model\":\"m\",\"input\":\"x\",\"dimensions\":0}", "dimensions",
                "invalid_value");
        refused(false, "{\"model\":\"m\",\"input\":\"x\",\"dimensions\":4097}", "dimensions",
                "invalid_value");
        refused(false, "{\"model\":\"m\",\"input\":\"x\",\"dimensions\":\"8\"}", "dimensions",
                "invalid_type");
        refused(false, "{\"model\":\"m\",\"input\":\"x\",\"encoding_format\":\"hex\"}",
                "encoding_format", "invalid_value");
        ed_draft_fini(&draft);
}

TEST(inputs_are_bounded)
{
        struct ed_draft body = { 0 };

        ed_draft_add_str(&body, "{\"model\":\"m\",\"input\":[\"x\"");
        for (int i = 1; i < ED_OPENAI_INPUTS_MAX; i++)
                ed_draft_add_str(&body, ",\"x\"");
        ed_draft_add(&body, "]}", 3);
        embed(body.data);
        CHECK_EQ(drafted_number("usage.prompt_tokens"), ED_OPENAI_INPUTS_MAX);
        body.bytes -= 3;
        ed_draft_add(&body, ",\"x\"]}", 7);
        refused(false, body.data, "input", "array_above_max_length");
        ed_draft_fini(&body);
        ed_draft_fini(&draft);
}

TEST(wrong_requests_for_chat_are_refused_with_the_field)
{
#define MODEL_AND "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],"
        refused(true, "{\"model\":\"m\"}", "messages", "missing_required_parameter");
        refused(true, "{\"model\":\"m\",\"messages\":\"x\"}", "messages", "invalid_type");
        refused(true, "{\"model\":\"m\",\"messages\":[]}", "messages", "empty_array");
        refused(true, "{\"model\":\"m\",\"messages\":[\"x\"]}", "messages", "invalid_type");
        refused(true, "{\"model\":\"m\",\"messages\":[{}]}", "messages[].role",
                "missing_required_parameter");
        refused(true, MODEL_AND "\"n\":0}", "n", "invalid_value");
        refused(true, MODEL_AND "\"n\":129}", "n", "invalid_value");
        refused(true, MODEL_AND "\"max_tokens\":0}", "max_tokens", "invalid_value");
        refused(true, MODEL_AND "\"max_completion_tokens\":1e9}", "max_completion_tokens",
                "invalid_value");
        refused(true, MODEL_AND "\"stream\":1}", "stream", "invalid_type");
        refused(true, MODEL_AND "\"stream_options\":{}}", "stream_options", "invalid_value");
        refused(true, MODEL_AND "\"stream\":true,\"stream_options\":[]}", "stream_options",
                "invalid_type");
        refused(true, MODEL_AND "\"stream\":true,\"stream_options\":{\"include_usage\":0}}",
                "stream_options.include_usage", "invalid_type");
        ed_draft_fini(&draft);
}

static struct ed_openai_ask chat(const char *body)
{
        struct ed_openai_ask ask;
        struct ed_openai_fault fault;

        if (ed_openai_read_chat(body, strlen(body), &api_opts, &ask, &fault) < 0)
                test_fail(__FILE__, __LINE__, "%s: %s", body, fault.message);
        return ask;
}

static const struct ed_openai_head head = { "chatcmpl-1", 1700000000 };

TEST(answer_that_max_tokens_cuts_has_finish_reason_length)
{
        struct ed_openai_ask ask = chat(MODEL_AND "\"n\":2,\"max_tokens\":3}");
        struct eddy_json_value value;

        ed_openai_write_chat(&ask, &head, &draft);
        value = drafted_value("choices[1].finish_reason");
        CHECK(eddy_json_is(&value, "length"));
        CHECK_EQ(drafted_number("usage.completion_tokens"), 6);
        CHECK_EQ(drafted_number("usage.prompt_tokens"), 1);
        ask = chat(MODEL_AND "\"max_completion_tokens\":1000}");
        ed_draft_reset(&draft, SIZE_MAX);
        ed_openai_write_chat(&ask, &head, &draft);
        value = drafted_value("choices[0].finish_reason");
        CHECK(eddy_json_is(&value, "stop"));
        value = drafted_value("choices[0].message.content");
        CHECK(memcmp(value.text + value.bytes - 2, ".\"", 2) == 0);
        CHECK(drafted_number("usage.total_tokens") >= 9);
        ed_draft_fini(&draft);
}

TEST(stream_has_the_words_of_the_answer)
{
        struct ed_openai_ask ask =
                chat(MODEL_AND "\"stream\":true,\"stream_options\":{\"include_usage\":true}}");
        char words[1024] = "\"", word[64];
        struct eddy_json_value content;
        uint32_t step;

        for (step = 0;; step++) {
                ed_draft_reset(&draft, SIZE_MAX);
                if (!ed_openai_write_event(&ask, &head, 0, step, &draft))
                        break;
                CHECK(strncmp(drafted(), "data: ", 6) == 0);
                CHECK_STR(draft.data + draft.bytes - 2, "\n\n");
                CHECK(strstr(draft.data, ",\"usage\":null"));
                memmove(draft.data, draft.data + 6, draft.bytes -= 6);
                if (step == 0 || step > ed_openai_completion_tokens(&ask))
                        continue;
                content = drafted_value("choices[0].delta.content");
                CHECK(eddy_json_string(&content, word, sizeof(word)) > 0);
                snprintf(words + strlen(words), 64, "%s", word);
        }
        CHECK_EQ(step, ed_openai_completion_tokens(&ask) + 2);
        snprintf(words + strlen(words), 2, "\"");
        ed_openai_write_end(&ask, &head, &draft);
        CHECK(strstr(drafted(), "\"choices\":[],\"usage\":{"));
        CHECK(strstr(draft.data, "}\n\ndata: [DONE]\n\n"));
        ed_draft_reset(&draft, SIZE_MAX);
        ed_openai_write_chat(&ask, &head, &draft);
        content = drafted_value("choices[0].message.content");
        CHECK_EQ(content.bytes, strlen(words));
        CHECK(strncmp(content.text, words, content.bytes) == 0);
        ed_draft_fini(&draft);
}

static long allocations_left;

static void *allocate(void *ctx, void *ptr, size_t bytes)
{
        (void) ctx;
        if (bytes == 0) {
                free(ptr);
                return NULL;
        }
        return allocations_left-- > 0 ? realloc(ptr, bytes) : NULL;
}

TEST(answer_without_memory_is_marked_and_not_torn)
{
        static const char body[] = "{\"model\":\"m\",\"input\":[\"a\",\"b\"],\"dimensions\":300}";
        struct ed_openai_ask ask;
        struct ed_openai_fault fault;
        bool whole = false;
        int n;

        eddy_alloc_set(allocate, NULL);
        for (n = 0; !whole && n < 100; n++) {
                allocations_left = n;
                CHECK_EQ(ed_openai_read_embeddings(body, strlen(body), &api_opts, &ask, &fault), 0);
                ed_openai_write_embeddings(&ask, &draft);
                whole = ed_draft_is_whole(&draft);
                ed_draft_reset(&draft, 0);
        }
        CHECK(whole);
        CHECK(n > 4);
        eddy_alloc_set(NULL, NULL);
}

/* ---- tokens that are granted ----------------------------------------------------------------- */

TEST(granted_token_is_valid_for_its_life_and_only_as_it_was_made)
{
        const int64_t now_ns = INT64_C(1700000000) * 1000000000;
        static const enum ed_grant_form forms[] = { ED_GRANT_OPAQUE, ED_GRANT_JWT };

        for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
                struct ed_draft text = { 0 };

                ed_grant_write(forms[i], 7, EDDY_SEC(2), now_ns, &text);
                CHECK(ed_draft_is_whole(&text));
                CHECK_EQ(text.data[text.bytes - 1], '\n');
                text.data[text.bytes - 1] = '\0';
                CHECK_EQ(ed_grant_check(text.data, 7, EDDY_SEC(2), now_ns), ED_GRANT_VALID);
                CHECK_EQ(ed_grant_check(text.data, 7, EDDY_SEC(2), now_ns + EDDY_SEC(2) - 1),
                         ED_GRANT_VALID);
                CHECK_EQ(ed_grant_check(text.data, 7, EDDY_SEC(2), now_ns + EDDY_SEC(2)),
                         ED_GRANT_EXPIRED);
                CHECK_EQ(ed_grant_check(text.data, 8, EDDY_SEC(2), now_ns), ED_GRANT_OTHER);
                for (size_t at = text.bytes - 30; at < text.bytes - 1; at++) {
                        text.data[at]++;
                        CHECK_EQ(ed_grant_check(text.data, 7, EDDY_SEC(2), now_ns), ED_GRANT_OTHER);
                        text.data[at]--;
                }
                text.data[text.bytes - 2] = '\0';
                CHECK_EQ(ed_grant_check(text.data, 7, EDDY_SEC(2), now_ns), ED_GRANT_OTHER);
                ed_draft_fini(&text);
        }
        CHECK_EQ(ed_grant_check("", 7, EDDY_SEC(2), now_ns), ED_GRANT_OTHER);
        CHECK_EQ(ed_grant_check("mock_", 7, EDDY_SEC(2), now_ns), ED_GRANT_OTHER);
}
