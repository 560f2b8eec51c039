/*
 * test_vendor_line.c - lines of the batch files of Anthropic and Gemini as requests, and lines that
 * are nearly such.
 */
#include "test.h"

#include <errno.h>

#include "batch/request/request.h"

#define GEMINI_URL "https://generativelanguage.googleapis.com/v1beta/models/MODEL:generateContent"

static const struct ed_request_rules no_rules, url_rules = { .url = "https://h/x" };
static char error[ED_REQUEST_ERROR_BYTES];

/* Checks id, URL, header and body: "a /v1/messages anthropic-version {}". */
static void check_request(const struct ed_request_rules *rules, const char *line,
                          const char *expected)
{
        struct ed_request *request = NULL;
        char text[1000];

        snprintf(error, sizeof(error), "none");
        CHECK_EQ(ed_request_read(rules, line, strlen(line), 7, &request, error), 1);
        CHECK_STR(error, "none");
        snprintf(text, sizeof(text), "%s %s %s %s", request->id, request->url,
                 request->vendor ? request->vendor->key_header : "-", request->body);
        CHECK_STR(text, expected);
        CHECK_STR(request->method, "POST");
        ed_request_free(request);
}

static void check_fault(const struct ed_request_rules *rules, const char *line, const char *id,
                        const char *expected)
{
        struct ed_request *request;

        CHECK_EQ(ed_request_read(rules, line, strlen(line), 7, &request, error), -EINVAL);
        CHECK_STR(error, expected);
        CHECK_EQ(request != NULL, id != NULL);
        if (request)
                CHECK_STR(request->id, id);
        ed_request_free(request);
}

TEST(line_of_anthropic_is_a_message)
{
        check_request(&no_rules, "{\"custom_id\":\"a\",\"params\":{\"messages\":[]}}",
                      "a /v1/messages x-api-key {\"messages\":[]}");
        check_request(&no_rules, " { \"params\" : {\"model\":\"m\", \"messages\":[1]} } ",
                      "line-7 /v1/messages x-api-key {\"model\":\"m\", \"messages\":[1]}");
        check_request(&no_rules, "{\"custom_id\":5,\"x\":1,\"params\":{\"messages\":[]}}",
                      "5 /v1/messages x-api-key {\"messages\":[]}");
        check_request(&url_rules, "{\"custom_id\":\"a\",\"params\":{\"messages\":[]}}",
                      "a https://h/x x-api-key {\"messages\":[]}");
        /* The members of a request mean what they mean in other lines. */
        check_request(
                &no_rules,
                "{\"custom_id\":\"a\",\"params\":{\"messages\":[]},\"url\":null,\"body\":null}",
                "a /v1/messages x-api-key {\"messages\":[]}");
        check_request(&no_rules, "{\"params\":{\"messages\":[]},\"url\":\"/v1/x\",\"body\":{}}",
                      "line-7 /v1/x - {}");
        check_request(&url_rules, "{\"params\":{\"messages\":[]},\"method\":\"sum\"}",
                      "line-7 https://h/x - {\"params\":{\"messages\":[]},\"method\":\"sum\"}");
        check_request(&url_rules, "{\"params\":{\"message\":[]}}",
                      "line-7 https://h/x - {\"params\":{\"message\":[]}}");
}

TEST(line_of_gemini_is_a_request_to_the_url)
{
        check_request(&url_rules, "{\"key\":\"a\",\"request\":{\"contents\":[]}}",
                      "a https://h/x x-goog-api-key {\"contents\":[]}");
        check_request(&url_rules, "{\"request\":{\"content\":{}},\"key\":12}",
                      "12 https://h/x x-goog-api-key {\"content\":{}}");
        check_request(&url_rules, "{\"key\":null,\"request\":{\"contents\":[]}}",
                      "line-7 https://h/x x-goog-api-key {\"contents\":[]}");
        check_request(&url_rules,
                      "{\"key\":\"a\",\"custom_id\":\"b\",\"request\":{\"contents\":[]}}",
                      "b https://h/x x-goog-api-key {\"contents\":[]}");
        check_request(&url_rules, "{\"key\":\"a\",\"request\":\"b\"}",
                      "line-7 https://h/x - {\"key\":\"a\",\"request\":\"b\"}");
        check_fault(
                &no_rules, "{\"key\":\"a\",\"request\":{\"contents\":[]}}", "a",
                "the line has no URL, like all of Gemini's batch files: give --url " GEMINI_URL);
}

TEST(timeout_headers_and_metadata_may_be_added)
{
        static const char line[] =
                "{\"key\":\"a\",\"request\":{\"contents\":[]},\"headers\":{\"A\":\"b\"},"
                "\"metadata\":{\"m\":1},\"timeout\":2}";
        struct ed_request *request;

        CHECK_EQ(ed_request_read(&url_rules, line, strlen(line), 7, &request, error), 1);
        CHECK_STR(request->headers[0].value, "b");
        CHECK_STR(request->metadata, "{\"m\":1}");
        CHECK_EQ(request->timeout_ns, 2000000000);
        ed_request_free(request);
        check_fault(&no_rules, "{\"custom_id\":\"a\",\"params\":{\"messages\":[]},\"time_out\":2}",
                    "a", "\"time_out\" is not a member of a request: write \"timeout\"");
}

TEST(wrong_lines_are_refused_with_the_remedy)
{
        check_fault(
                &no_rules, "{\"custom_id\":\"a\",\"params\":{\"message\":[]}}", "a",
                "\"params\" is not an object with \"messages\", as in Anthropic's Message Batches: "
                "write the line in this form, or as a request with \"url\" and \"body\"");
        check_fault(&no_rules, "{\"key\":\"a\",\"request\":\"contents\"}", NULL,
                    "\"request\" is not an object with \"contents\", as in Gemini's batch files: "
                    "write the line in this form, or as a request with \"url\" and \"body\"");
        check_fault(&url_rules, "{\"key\":\"\",\"request\":{\"contents\":[]}}", NULL,
                    "\"key\" is empty: write a text, or leave it out");
        check_fault(&url_rules, "{\"key\":{},\"request\":{\"contents\":[]}}", NULL,
                    "\"key\" is {}: write a string or an integer");
        check_fault(&url_rules, "{\"key\":\"a\\u0000\",\"request\":{\"contents\":[]}}", NULL,
                    "\"key\" has \\u0000 in it: remove it");
        check_fault(&url_rules, "{\"key\":\"a\",\"request\":{\"contents\":[]},\"key\":\"b\"}", "b",
                    "\"key\" occurs twice: remove one of them");
        check_fault(&no_rules, "{\"params\":{\"messages\":1},\"params\":{\"messages\":2}}", NULL,
                    "\"params\" occurs twice: remove one of them");
        check_fault(&no_rules, "{\"params\":1,\"params\":{\"messages\":2}}", NULL,
                    "\"params\" occurs twice: remove one of them");
}

TEST(line_that_is_cut_at_any_byte_is_refused)
{
        static const char *const lines[] = {
                "{\"custom_id\":\"a\",\"params\":{\"model\":\"m\",\"messages\":[{\"role\":\"user\"}"
                "]}}",
                "{\"key\":\"a\",\"request\":{\"contents\":[{\"parts\":[{\"text\":\"\xc3\xa9\"}]}]}"
                "}",
        };

        for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
                for (size_t bytes = 1; bytes < strlen(lines[i]); bytes++) {
                        struct ed_request *request;
                        char *copy = malloc(bytes);

                        CHECK(copy);
                        memcpy(copy, lines[i], bytes);
                        *error = '\0';
                        CHECK_EQ(ed_request_read(&url_rules, copy, bytes, 7, &request, error),
                                 -EINVAL);
                        CHECK(!request);
                        CHECK(strncmp(error, "the line is not JSON: column ", 29) == 0);
                        free(copy);
                }
        }
}

TEST(line_with_a_wrong_byte_does_no_harm)
{
        static const char whole[] =
                "{\"key\":\"a\",\"request\":{\"contents\":[1]},\"params\":{\"messages\":2}}";
        static const char wrong[] = "\"\\{}[]:,\0\xff"
                                    "5n ";
        char line[sizeof(whole)];

        for (size_t at = 0; at < (sizeof(whole) - 1) * (sizeof(wrong) - 1); at++) {
                struct ed_request *request;
                int result;

                memcpy(line, whole, sizeof(whole));
                line[at / (sizeof(wrong) - 1)] = wrong[at % (sizeof(wrong) - 1)];
                for (int i = 0; i < 2; i++) {
                        *error = '\0';
                        result = ed_request_read(i ? &url_rules : &no_rules, line,
                                                 sizeof(whole) - 1, 7, &request, error);
                        CHECK(result == 1 || (result == -EINVAL && *error));
                        CHECK(result != 1 || (request->url && request->body));
                        ed_request_free(request);
                }
        }
}

TEST(configuration_of_gemini_limits_the_tokens)
{
        static const struct {
                const char *config;
                uint64_t tokens;
        } cases[] = {
                { "\"generationConfig\":{\"maxOutputTokens\":10,\"candidateCount\":3}", 30 },
                { "\"generation_config\":{\"max_output_tokens\":10,\"candidate_count\":3}", 30 },
                { "\"generation_config\":{\"maxOutputTokens\":10}", 10 },
                { "\"generation_config\":5", 0 },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct ed_request *request;
                char line[200];

                snprintf(line, sizeof(line), "{\"key\":1,\"request\":{\"contents\":[],%s}}",
                         cases[i].config);
                CHECK_EQ(ed_request_read(&url_rules, line, strlen(line), 7, &request, error), 1);
                CHECK_EQ(request->output_tokens_max, cases[i].tokens);
                CHECK(request->generates);
                ed_request_free(request);
        }
}
