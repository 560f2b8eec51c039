/*
 * test_rule.c - which answers, and which lines of earlier runs, are successes.
 */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "batch/answer/body_error.h"
#include "batch/answer/rule_option.h"
#include "batch/request/api_path.h"
#include "common/outcome.h"

enum { OK = 0, STATUS = 1, FAILED = ED_RULE_LINE_FAILED, LINE_OK = ED_RULE_LINE_OK };

static int judge(const char *ok, bool is_api, int status, const char *body)
{
        struct ed_condition_answer answer = { .status = status,
                                              .body = body,
                                              .body_bytes = body ? strlen(body) : 0 };
        struct ed_rule rule = { 0 };
        int judged;

        if (ok)
                CHECK_EQ(ed_rule_set_ok(&rule, "batch", ok), 0);
        judged = ed_rule_judge(&rule, is_api, &answer);
        ed_rule_fini(&rule);
        return judged;
}

TEST(without_ok_the_status_decides_and_for_an_api_the_body)
{
        CHECK_EQ(judge(NULL, false, 200, "<html>"), OK);
        CHECK_EQ(judge(NULL, false, 299, "{\"error\":1}"), OK);
        CHECK_EQ(judge(NULL, false, 300, "{}"), STATUS);
        CHECK_EQ(judge(NULL, true, 500, "{}"), STATUS);
        CHECK_EQ(judge(NULL, true, 200, "{\"id\":1}"), OK);
        CHECK_EQ(judge(NULL, true, 200, "[1]"), OK);
        CHECK_EQ(judge(NULL, true, 200, ""), ED_E_ANSWER_NOT_JSON);
        CHECK_EQ(judge(NULL, true, 204, NULL), ED_E_ANSWER_NOT_JSON);
        CHECK_EQ(judge(NULL, true, 200, "<html>"), ED_E_ANSWER_NOT_JSON);
        CHECK_EQ(judge(NULL, true, 200, "{\"id\":1"), ED_E_ANSWER_NOT_JSON);
        CHECK_EQ(judge(NULL, true, 200, "{\"error\":{\"message\":\"no\"}}"), ED_E_ANSWER_HAS_ERROR);
        CHECK_EQ(judge(NULL, true, 200, "{\"a\":1,\"error\" : \"no\"}"), ED_E_ANSWER_HAS_ERROR);
        CHECK_EQ(judge(NULL, true, 200, "[{\"error\":{\"code\":503}}]"), ED_E_ANSWER_HAS_ERROR);
        /* No error: without contents, elsewhere, or as a text. */
        CHECK_EQ(judge(NULL, true, 200, "{\"error\":null}"), OK);
        CHECK_EQ(judge(NULL, true, 200, "{\"error\":false,\"a\":{\"error\":1}}"), OK);
        CHECK_EQ(judge(NULL, true, 200, "{\"error\":{}}"), OK);
        CHECK_EQ(judge(NULL, true, 200, "{\"name\":\"error\"}"), OK);
}

TEST(ok_decides_alone)
{
        static const char ok[] = "status in (200, 404) and json('/x') != 1";

        CHECK_EQ(judge(ok, false, 404, "{}"), OK);
        CHECK_EQ(judge(ok, true, 200, "<html>"), OK);
        CHECK_EQ(judge(ok, true, 200, "{\"x\":1}"), ED_E_ANSWER_NOT_OK);
        CHECK_EQ(judge(ok, true, 404, "{\"x\":1}"), STATUS);
        CHECK_EQ(judge(ok, true, 201, "{}"), ED_E_ANSWER_NOT_OK);
}

/* The sentence about an answer that is not a success. */
static const char *why(const char *ok, int error, const char *body)
{
        static char text[300];
        struct ed_rule rule = { 0 };

        if (ok)
                CHECK_EQ(ed_rule_set_ok(&rule, "batch", ok), 0);
        ed_rule_describe(&rule, error, body, strlen(body), text, sizeof(text));
        ed_rule_fini(&rule);
        return text;
}

TEST(the_reason_has_the_message_of_the_server_and_a_bound)
{
        char body[2000] = "{\"error\":{\"message\":\"", text[300];

        CHECK_STR(why(NULL, ED_E_ANSWER_HAS_ERROR, "{\"error\":{\"message\":\"too many\"}}"),
                  "the body has an error: too many");
        CHECK_STR(why(NULL, ED_E_ANSWER_HAS_ERROR, "{\"error\":\"no\\nway\"}"),
                  "the body has an error: no?way");
        CHECK_STR(why(NULL, ED_E_ANSWER_NOT_JSON, "<h1>busy</h1>"),
                  "the body is not JSON: <h1>busy</h1>");
        CHECK_STR(why(NULL, ED_E_ANSWER_NOT_JSON, ""), "the body is empty");
        CHECK_STR(why("status == 1", ED_E_ANSWER_NOT_OK, "{\"a\":1}"),
                  "--ok status == 1 does not hold: {\"a\":1}");
        memset(body + strlen(body), 'x', 1500);
        memcpy(body + 1515, "\"}}", 4);
        CHECK(strlen(why(NULL, ED_E_ANSWER_HAS_ERROR, body)) < 200);
        ed_rule_describe(&(struct ed_rule){ 0 }, ED_E_ANSWER_NOT_JSON, "x", 1, text, 8);
        CHECK_STR(text, "the bod");
}

static int judge_line(const char *ok, const char *line, bool is_output)
{
        static char id[ED_ANSWER_ID_ROOM];
        struct ed_answer_seen seen;
        struct ed_rule rule = { 0 };
        int judged;

        CHECK_EQ(ed_answer_read(line, strlen(line), id, &seen), 0);
        if (ok)
                CHECK_EQ(ed_rule_set_ok(&rule, "batch", ok), 0);
        judged = ed_rule_judge_line(&rule, &seen, is_output);
        ed_rule_fini(&rule);
        return judged;
}

#define LINE(status, body, error)                                                                  \
        "{\"custom_id\":\"a\",\"response\":{\"status_code\":" #status ",\"body\":" body            \
        "},\"error\":" error "}"

TEST(lines_of_earlier_runs_are_judged_by_the_same_rule)
{
        static const char not_1[] = "json('/x') != 1", on_field[] = "header(x) == '1'";

        CHECK_EQ(judge_line(NULL, LINE(200, "{\"x\":1}", "null"), true), LINE_OK);
        CHECK_EQ(judge_line(NULL, LINE(500, "{\"x\":1}", "null"), true), FAILED);
        CHECK_EQ(judge_line(NULL, LINE(200, "{\"x\":1}", "{\"code\":\"c\"}"), true), FAILED);
        CHECK_EQ(judge_line(NULL, LINE(200, "{\"error\":{\"m\":1}}", "null"), true),
                 ED_RULE_LINE_DOUBTED);
        CHECK_EQ(judge_line(NULL, LINE(200, "{\"_text\":\"<html>\"}", "null"), true),
                 ED_RULE_LINE_DOUBTED);
        CHECK_EQ(judge_line(NULL, LINE(200, "{\"_base64\":\"/w==\"}", "null"), true),
                 ED_RULE_LINE_DOUBTED);
        /* As another program writes them again. */
        CHECK_EQ(
                judge_line(
                        NULL,
                        "{\"custom_id\": \"a\", \"response\": {\"body\" : {\"_text\": \"<html>\"}, "
                        "\"status_code\": 200}}",
                        true),
                ED_RULE_LINE_DOUBTED);
        CHECK_EQ(
                judge_line(
                        NULL,
                        "{\"custom_id\":\"a\",\"response\":{\"status_code\":200,\"x\":{\"body\":1},"
                        "\"b\\u006fdy\":{\"_base64\":\"/w==\"}}}",
                        true),
                ED_RULE_LINE_DOUBTED);
        CHECK_EQ(judge_line(NULL,
                            "{\"custom_id\":\"a\",\"response\":{\"status_code\":200,"
                            "\"x\":{\"body\":{\"_text\":\"t\"}},\"body\":{}}}",
                            true),
                 LINE_OK);
        CHECK_EQ(judge_line(NULL,
                            "{\"custom_id\":\"a\",\"response\":{\"status_code\":200,\"body\":1}}",
                            true),
                 LINE_OK);
        CHECK_EQ(judge_line(NULL, LINE(200, "{\"_json\":[1]}", "null"), true), LINE_OK);
        CHECK_EQ(judge_line(NULL, LINE(200, "{\"_json\":[{\"error\":\"e\"}]}", "null"), true),
                 ED_RULE_LINE_DOUBTED);
        CHECK_EQ(judge_line(NULL, LINE(200, "{\"a\":{\"error\":1}}", "null"), true), LINE_OK);

        CHECK_EQ(judge_line(not_1, LINE(200, "{\"x\":1}", "null"), true), FAILED);
        CHECK_EQ(judge_line(not_1, LINE(404, "{\"x\":2}", "null"), true), LINE_OK);
        CHECK_EQ(judge_line(not_1, LINE(404, "{\"x\":2}", "null"), false), LINE_OK);
        CHECK_EQ(judge_line(not_1, LINE(200, "{\"x\":2}", "{\"code\":\"c\"}"), true), FAILED);
        CHECK_EQ(judge_line("json('/0') == 1", LINE(200, "{\"_json\":[1]}", "null"), true),
                 LINE_OK);
        CHECK_EQ(judge_line("json('') == null", LINE(200, "{\"_text\":\"1\"}", "null"), true),
                 LINE_OK);
        CHECK_EQ(judge_line("status == 0",
                            "{\"custom_id\":\"a\",\"response\":null,\"error\":\"e\"}", true),
                 FAILED);
        /* Headers are not kept: the file says what the line was. */
        CHECK_EQ(judge_line(on_field, LINE(404, "{}", "null"), true), LINE_OK);
        CHECK_EQ(judge_line(on_field, LINE(404, "{}", "null"), false), FAILED);
        CHECK_EQ(judge_line(on_field, LINE(200, "{}", "{\"code\":\"c\"}"), true), FAILED);
}

TEST(lines_judged_by_an_earlier_run_are_judged_again)
{
        static const char not_1[] = "json('/x') != 1", on_field[] = "header(x) == '1'";
        static const char *const codes[] = { "answer_not_ok", "answer_not_schema",
                                             "answer_has_error", "answer_not_json" };
        char line[256];

        for (int i = 0; i < 4; i++) {
                snprintf(line, sizeof(line), LINE(200, "{\"x\":1}", "{\"code\":\"%s\"}"), codes[i]);
                CHECK_EQ(judge_line("status == 200", line, false), LINE_OK);
                CHECK_EQ(judge_line(not_1, line, false), FAILED);
                CHECK_EQ(judge_line(on_field, line, false), FAILED);
                CHECK_EQ(judge_line(on_field, line, true), FAILED);
                CHECK_EQ(judge_line(NULL, line, false), i < 2 ? LINE_OK : FAILED);
        }
        CHECK_EQ(judge_line("status == 200",
                            LINE(200, "{\"x\":1}", "{\"code\":\"answer_not_rows\"}"), false),
                 FAILED);
        CHECK_EQ(
                judge_line("status == 200", LINE(200, "{}", "{\"code\":\"answer_not_ok\"}"), false),
                FAILED); /* it may have been empty */
        CHECK_EQ(judge_line("status == 200",
                            LINE(200, "{\"_file\":\"f\"}", "{\"code\":\"answer_not_ok\"}"), false),
                 FAILED);
        CHECK_EQ(judge_line("status == 200",
                            LINE(200, "{\"x\":1}",
                                 "{\"code\":\"answer_not_ok\"},\"x_meta\":{\"rows\":2}"),
                            false),
                 FAILED); /* the body is the answer of two lines */
        CHECK_EQ(judge_line(NULL, LINE(200, "{\"error\":\"e\"}", "{\"code\":\"answer_not_ok\"}"),
                            false),
                 ED_RULE_LINE_DOUBTED);
}

TEST(a_run_and_the_next_one_judge_alike)
{
        static const char *const bodies[] = { "",
                                              "{}",
                                              "{\"error\":null}",
                                              "{\"error\":\"e\"}",
                                              "[]",
                                              "[{\"error\":{\"code\":1}}]",
                                              "\"text\"",
                                              "1",
                                              "text",
                                              "\xff\xfe",
                                              "{\"x\":1}",
                                              "{\"x\":1",
                                              "{\"_text\":1",
                                              "null" };
        static const char *const rules[] = { NULL, "json('/x') == 1", "json('') != null",
                                             "status == 200", "json('/error')" };

        for (size_t r = 0; r < sizeof(rules) / sizeof(rules[0]); r++)
                for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
                        struct ed_answer answer = { .id = "a",
                                                    .id_bytes = 1,
                                                    .status = 200,
                                                    .body = bodies[i],
                                                    .body_bytes = strlen(bodies[i]) };
                        struct ed_draft line = { 0 };
                        int now = judge(rules[r], true, 200, bodies[i]), then;
                        bool has_error = now < 0;

                        if (has_error)
                                answer.code = ed_outcome_of(now)->code;
                        ed_answer_write(&answer, 0, &line);
                        ed_draft_add(&line, "", 1);
                        CHECK(ed_draft_is_whole(&line));
                        line.data[line.bytes - 2] = '\0';
                        then = judge_line(rules[r], line.data, true);
                        /* An empty body is written as {}. */
                        if (i > 0 || has_error)
                                CHECK_EQ(now == 0, then == ED_RULE_LINE_OK);
                        ed_draft_fini(&line);
                }
}

TEST(paths_of_apis_are_recognised)
{
        static const char *const apis[] = {
                "/v1/chat/completions",
                "/v1/completions?a=/x",
                "https://api.openai.com/v1/responses",
                "https://h/openai/deployments/m/chat/completions?api-version=2024-10-21",
                "/v1/embeddings#x",
                "/v1/embeddings/",
                "https://api.anthropic.com/v1/messages",
                "/v1beta/models/gemini-2.5-flash:generateContent?key=k",
                "/api/generate",
        };
        static const char *const others[] = { "/v1/echo",
                                              "/",
                                              "",
                                              "/v1/completions2",
                                              "/v1/audio/speech",
                                              "https://h/x?u=/v1/embeddings",
                                              "embeddings" };

        for (size_t i = 0; i < sizeof(apis) / sizeof(apis[0]); i++)
                CHECK(ed_api_path_is(apis[i]));
        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
                CHECK(!ed_api_path_is(others[i]));
}

static int status_of(const char *json)
{
        struct eddy_json_value value;

        CHECK_EQ(eddy_json_parse(json, strlen(json), NULL, &value, NULL), 0);
        return ed_body_error_status(&value);
}

TEST(errors_have_the_status_that_their_names_mean)
{
        CHECK_EQ(status_of("{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}"), 529);
        CHECK_EQ(status_of("{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\"}}"), 429);
        CHECK_EQ(
                status_of(
                        "{\"message\":\"m\",\"type\":\"tokens\",\"code\":\"rate_limit_exceeded\"}"),
                429);
        CHECK_EQ(status_of("{\"code\":null,\"type\":\"invalid_request_error\"}"), 400);
        CHECK_EQ(status_of("{\"code\":503,\"status\":\"UNAVAILABLE\"}"), 503);
        CHECK_EQ(status_of("{\"code\":14,\"status\":\"UNAVAILABLE\"}"), 503);
        CHECK_EQ(status_of("{\"code\":\"502\"}"), 502);
        CHECK_EQ(status_of("{\"object\":\"error\",\"type\":\"BadRequestError\"}"), 400);
        CHECK_EQ(status_of("\"overloaded\""), 503);
        CHECK_EQ(status_of("\"the model is tired\""), 0);
        CHECK_EQ(status_of("{\"code\":200}"), 0);
        CHECK_EQ(status_of("{\"code\":{\"a\":1},\"type\":[]}"), 0);
        CHECK_EQ(status_of("7"), 0);
}
