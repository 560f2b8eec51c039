/*
 * test_usage.c - the usage of an answer is found in the forms of each provider, at its end, at its
 * start and after long members, and never in a text or a nested object.
 */
#include "test.h"

#include <errno.h>

#include "batch/answer/usage.h"
#include "eddy/alloc.h"
#include "eddy/json.h"

static void check_usage_of(const char *body, size_t bytes, uint64_t input, uint64_t output,
                           uint64_t cached)
{
        struct ed_usage usage;
        char *copy = eddy_malloc(bytes + 1); /* so that a sanitizer sees one byte more */

        CHECK(copy);
        memcpy(copy, body, bytes);
        CHECK(eddy_json_check(copy, bytes, NULL, NULL) == 0);
        if (ed_usage_read(copy, bytes, &usage) != 0)
                test_fail(__FILE__, __LINE__, "no usage in %.200s", body);
        CHECK_EQ(usage.input, input);
        CHECK_EQ(usage.output, output);
        CHECK_EQ(usage.cached, cached);
        eddy_free(copy);
}

/* At the end, before a long member, and after one. */
static void check_usage(const char *members, uint64_t input, uint64_t output, uint64_t cached)
{
        static char body[32768], pad[8192];
        int n;

        memset(pad, 'x', sizeof(pad) - 1);
        n = snprintf(body, sizeof(body), "{%s}", members);
        check_usage_of(body, (size_t) n, input, output, cached);
        n = snprintf(body, sizeof(body), " {%s , \"pad\" : [\"%s\"] }\n", members, pad);
        check_usage_of(body, (size_t) n, input, output, cached);
        n = snprintf(body, sizeof(body), "{\"pad\":\"%s\",%s }\r\n", pad, members);
        check_usage_of(body, (size_t) n, input, output, cached);
}

TEST(usage_is_read_in_the_form_of_each_provider)
{
        /* OpenAI: chat completions, responses, embeddings; DeepSeek. */
        check_usage("\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":12,\"total_tokens\":21,"
                    "\"prompt_tokens_details\":{\"cached_tokens\":4,\"audio_tokens\":0},"
                    "\"completion_tokens_details\":{\"reasoning_tokens\":5}}",
                    9, 12, 4);
        check_usage("\"usage\": {\"input_tokens\": 36, \"input_tokens_details\": "
                    "{\"cached_tokens\": 6}, \"output_tokens\": 87, \"output_tokens_details\": "
                    "{\"reasoning_tokens\": 0}, \"total_tokens\": 123}, \"user\": null",
                    36, 87, 6);
        check_usage("\"usage\":{\"prompt_tokens\":8,\"total_tokens\":8}", 8, 0, 0);
        check_usage("\"usage\":{\"total_tokens\":8}", 8, 0, 0);
        check_usage("\"usage\":{\"prompt_tokens\":8,\"completion_tokens\":1,"
                    "\"prompt_cache_hit_tokens\":3,\"prompt_cache_miss_tokens\":5}",
                    8, 1, 3);
        check_usage("\"usage\":{\"billed_units\":{\"input_tokens\":5,\"output_tokens\":6},"
                    "\"tokens\":{\"input_tokens\":71,\"output_tokens\":7}}",
                    71, 7, 0);
        /* Anthropic counts what is cached beside the input. */
        check_usage("\"usage\":{\"input_tokens\":10,\"cache_creation_input_tokens\":200,"
                    "\"cache_read_input_tokens\":3000,\"cache_creation\":"
                    "{\"ephemeral_5m_input_tokens\":200},\"output_tokens\":40}",
                    3210, 40, 3000);
        /* A proxy with both. */
        check_usage("\"usage\":{\"prompt_tokens\":3210,\"completion_tokens\":40,"
                    "\"cache_read_input_tokens\":3000}",
                    3210, 40, 3000);
        check_usage("\"usageMetadata\":{\"promptTokenCount\":7,\"candidatesTokenCount\":20,"
                    "\"thoughtsTokenCount\":100,\"cachedContentTokenCount\":2,"
                    "\"totalTokenCount\":127}",
                    7, 120, 2);
        check_usage("\"done\":true,\"total_duration\":5,\"prompt_eval_count\":26,"
                    "\"prompt_eval_duration\":7,\"eval_count\":298,\"eval_duration\":9",
                    26, 298, 0);
        check_usage("\"eval_count\":298", 0, 298, 0);
}

static void check_reasoning(const char *body, uint64_t reasoning)
{
        struct ed_usage usage;

        CHECK_EQ(ed_usage_read(body, strlen(body), &usage), 0);
        CHECK_EQ(usage.reasoning, reasoning);
}

TEST(tokens_of_reasoning_are_a_part_of_the_output)
{
        check_reasoning("{\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":12,"
                        "\"completion_tokens_details\":{\"reasoning_tokens\":5}}}",
                        5);
        check_reasoning("{\"usage\":{\"input_tokens\":9,\"output_tokens\":12,"
                        "\"output_tokens_details\":{\"reasoning_tokens\":50}}}",
                        12);
        check_reasoning("{\"usageMetadata\":{\"candidatesTokenCount\":20,"
                        "\"thoughtsTokenCount\":100}}",
                        100);
        check_reasoning("{\"usage\":{\"completion_tokens\":12}}", 0);
        check_reasoning("{\"usage\":{\"completion_tokens\":12,"
                        "\"completion_tokens_details\":{\"reasoning_tokens\":null}}}",
                        0);
}

TEST(usage_in_texts_and_nested_objects_does_not_count)
{
        static const char *const decoys[] = {
                "\"a\":{\"usage\":{\"prompt_tokens\":1}}",
                "\"a\":\"\\\"usage\\\":{\\\"prompt_tokens\\\":1}\"",
                "\"a\":[{\"usage\":{\"prompt_tokens\":1}}]",
                "\"a\":\"}\",\"b\":\"{\"",
                "\"a\":\"\\\\\",\"b\":\"\\\\\\\"\"",
                "\"a\":\"usage\",\"usage \":{\"prompt_tokens\":1}",
                "\"usage\":null",
                "\"usage\":[1],\"usage\":5,\"usage\":\"usage\"",
                "\"usage\":{}",
                "\"usage\":{\"prompt_tokens\":null,\"total_tokens\":\"1\"}",
                "\"usage\":{\"completion_tokens\":-1}",
                "\"a\\\"usage\":{\"prompt_tokens\":1}",
                "\"eval_count\":null",
        };

        for (size_t i = 0; i < sizeof(decoys) / sizeof(decoys[0]); i++) {
                struct ed_usage usage = { 1, 1, 1, 1 };
                char body[512];
                int n = snprintf(body, sizeof(body), "{%s}", decoys[i]);

                CHECK_EQ(eddy_json_check(body, (size_t) n, NULL, NULL), 0);
                CHECK_EQ(ed_usage_read(body, (size_t) n, &usage), -ENOENT);
                CHECK(usage.input == 0 && usage.output == 0 && usage.cached == 0);
                CHECK_EQ(usage.reasoning, 0);
                if (strncmp(decoys[i], "\"usage\"", 7) == 0)
                        continue;
                /* Before and after a real one. */
                n = snprintf(body, sizeof(body), "{%s,\"usage\":{\"prompt_tokens\":7}}", decoys[i]);
                check_usage_of(body, (size_t) n, 7, 0, 0);
                n = snprintf(body, sizeof(body), "{\"usage\":{\"prompt_tokens\":7},%s}", decoys[i]);
                check_usage_of(body, (size_t) n, 7, 0, 0);
        }
}

TEST(usage_is_found_wherever_the_tail_begins)
{
        static char body[8192];

        /* The name, its quotes and backslashes pass the place where the tail begins. */
        for (size_t pad = 3900; pad < 4200; pad++) {
                size_t n = (size_t) snprintf(body, sizeof(body),
                                             "{\"x\\\\\\\"usage\":{\"prompt_tokens\":1},"
                                             "\"usage\":{\"prompt_tokens\":7},\"pad\":\"");

                memset(body + n, pad % 2 ? 'x' : ' ', pad);
                n += pad;
                memcpy(body + n, "\"}", 2);
                check_usage_of(body, n + 2, 7, 0, 0);
        }
}

TEST(counts_that_are_too_large_are_limited)
{
        check_usage("\"usage\":{\"prompt_tokens\":99999999999999999999999,"
                    "\"completion_tokens\":18446744073709551615}",
                    ED_USAGE_TOKENS_MAX, ED_USAGE_TOKENS_MAX, 0);
        check_usage("\"usage\":{\"input_tokens\":1e300,\"cache_read_input_tokens\":1e300,"
                    "\"output_tokens\":12.0}",
                    ED_USAGE_TOKENS_MAX, 12, ED_USAGE_TOKENS_MAX);
        check_usage("\"usage\":{\"prompt_tokens\":5,\"prompt_tokens_details\":"
                    "{\"cached_tokens\":9}}",
                    5, 0, 5);
}

TEST(texts_that_are_not_objects_have_no_usage)
{
        static const char *const texts[] = { "",      " ",     "[]",
                                             "{}",    "null",  "\"usage\"",
                                             "5",     "}",     "\"",
                                             "{",     ":}",    "\"}",
                                             "\\\"}", "]}}}}", "{\"usage\":{\"prompt_tokens\":}}" };
        struct ed_usage usage;

        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
                size_t bytes = strlen(texts[i]);
                char *copy = eddy_malloc(bytes + 1);

                CHECK(copy);
                memcpy(copy, texts[i], bytes);
                CHECK_EQ(ed_usage_read(copy, bytes, &usage), -ENOENT);
                eddy_free(copy);
        }
}
