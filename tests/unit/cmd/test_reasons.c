/*
 * test_reasons.c - causes are counted, the first message of each is kept, short and printable, and a
 * secret never.
 */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "batch/answer/reasons.h"

static struct ed_reasons reasons;

/* Adds an answer with a status. Returns what is kept for it, or NULL if its cause was known. */
static const char *kept(int status, const char *body)
{
        unsigned count = reasons.groups.count;

        ed_reasons_add(&reasons, &(struct ed_answer){ .id = "a",
                                                      .id_bytes = 1,
                                                      .status = status,
                                                      .body = body,
                                                      .body_bytes = body ? strlen(body) : 0 });
        return reasons.groups.count > count ? reasons.items[count].text : NULL;
}

TEST(first_message_of_a_cause_is_kept)
{
        memset(&reasons, 0, sizeof(reasons));
        CHECK_STR(kept(400, "{\"error\":{\"message\":\"no \\\"m\\\"\\u001b[2J\"}}"),
                  "no \"m\"?[2J");
        CHECK(!kept(400, "{\"error\":{\"message\":\"no \\\"n\\\"\\u001b[3J\"}}"));
        CHECK_STR(kept(400, "{\"error\":{\"message\":\"another\"}}"), "another");
        CHECK_STR(kept(401, "{\"error\":\"another\"}"), "another");
        CHECK_STR(kept(402, "{\"error\":null,\"message\":{\"a\":1}}"), "{\"a\":1}");
        CHECK_STR(kept(403, "{\"detail\":[1]}"), "[1]");
        CHECK_STR(kept(408, "{\"detail\":[\"\\u001b[31m\\n\\\\n\\u0085\\u00e9\\\"\"]}"),
                  "[\"?[31m?\\\\n?\\u00e9\\\"\"]");
        CHECK_STR(kept(404, "<html>"), "");
        CHECK_STR(kept(405, NULL), "");
        CHECK_STR(kept(406, "{\"error\":\"\\ud800\"}"), "\\ud800");
        CHECK_EQ(reasons.groups.items[0].members, 2);
        CHECK_STR(ed_reasons_text(&reasons, 400), "no \"m\"?[2J");
        CHECK_STR(ed_reasons_text(&reasons, 407), "");
}

TEST(further_causes_are_counted_together)
{
        memset(&reasons, 0, sizeof(reasons));
        for (int status = 400; status < 400 + ED_GROUPS_MAX; status++)
                CHECK_STR(kept(status, "{\"error\":\"e\"}"), "e");
        CHECK(!kept(599, "{\"error\":\"e\"}"));
        CHECK(!kept(400, "{\"error\":\"e\"}"));
        CHECK_EQ(reasons.groups.beyond, 1);
        CHECK_EQ(reasons.groups.members, ED_GROUPS_MAX + 2);
}

TEST(failure_without_an_answer_names_its_server_or_its_line)
{
        struct ed_answer answer = { .id = "line-7",
                                    .id_bytes = 6,
                                    .code = "invalid_request_line",
                                    .message = "the line is not JSON" };

        memset(&reasons, 0, sizeof(reasons));
        ed_reasons_add(&reasons, &answer);
        answer.code = "connect_error";
        answer.message = "Connection refused";
        answer.endpoint = "http://h:80";
        ed_reasons_add(&reasons, &answer);
        CHECK_STR(reasons.items[0].name, "invalid_request_line");
        CHECK_STR(reasons.items[0].text, "line-7: the line is not JSON");
        CHECK_STR(reasons.items[1].text, "http://h:80: Connection refused");
        /* Lines with the same fault, at different places, have one cause. */
        answer.id = "line-8";
        answer.code = "invalid_request_line";
        answer.message = "the line is not JSON";
        answer.endpoint = NULL;
        ed_reasons_add(&reasons, &answer);
        CHECK_EQ(reasons.groups.count, 2);
}

TEST(long_message_is_cut)
{
        static char body[5000];
        const char *text;

        memset(&reasons, 0, sizeof(reasons));
        for (int status = 400; status < 402; status++) {
                int bytes = status == 400 ? 900 : 4000;

                snprintf(body, sizeof(body), "{\"error\":\"%0*d\"}", bytes, 0);
                text = kept(status, body);
                CHECK_EQ(strlen(text), ED_REASON_TEXT_BYTES - 1);
                CHECK_STR(text + strlen(text) - 4, "0...");
        }
        /* An id may have more bytes than the room. */
        memset(body, 'i', 512);
        ed_reasons_add(&reasons, &(struct ed_answer){ .id = body,
                                                      .id_bytes = 512,
                                                      .code = "invalid_request_line",
                                                      .message = "wrong" });
        CHECK(strlen(reasons.items[2].text) < ED_REASON_TEXT_BYTES);
        CHECK(strstr(reasons.items[2].text, "...: wrong"));
}

TEST(excerpts_of_answers_are_no_part_of_the_cause)
{
        static const char *const same[][2] = {
                { "--ok a does not hold: {\"x\": \"comple...", "--ok a does not hold: other" },
                { "--schema does not accept the answer: its content is not JSON: it begins with `a",
                  "--schema does not accept the answer: its content is not JSON: it begins with "
                  "b" },
        };
        struct ed_answer answer = { .id = "a", .id_bytes = 1, .status = 200, .code = "c" };

        memset(&reasons, 0, sizeof(reasons));
        for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
                for (int k = 0; k < 2; k++) {
                        answer.message = same[i][k];
                        ed_reasons_add(&reasons, &answer);
                }
        CHECK_EQ(reasons.groups.count, 2);
        CHECK_STR(reasons.items[0].text, same[0][0]);
        answer.message = "--ok b does not hold: other";
        ed_reasons_add(&reasons, &answer);
        CHECK_EQ(reasons.groups.count, 3);
}

static bool has_key(const void *key, const struct ed_request *request, const char *text,
                    size_t bytes)
{
        CHECK(!request);
        return memmem(text, bytes, key, strlen(key)) != NULL;
}

TEST(secret_of_a_server_is_not_kept)
{
        memset(&reasons, 0, sizeof(reasons));
        reasons.has_secret = has_key;
        reasons.secrets = "sk-1";
        CHECK_STR(kept(401, "{\"error\":\"key sk-12 is wrong\"}"), "");
        CHECK_STR(kept(403, "{\"error\":\"key is wrong\"}"), "key is wrong");
}
