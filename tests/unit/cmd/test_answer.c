/*
 * test_answer.c - a line of the output: its exact text, that it is one line of JSON whatever the
 * body is, that it is read as it was written, and which lines of others are read.
 */
#include "test.h"

#include <errno.h>
#include <stdint.h>

#include "batch/answer/answer_line.h"
#include "batch/answer/shard_mark.h"
#include "eddy/alloc.h"
#include "eddy/json.h"

static struct ed_draft line;
static char id_room[ED_ANSWER_ID_ROOM];
static struct ed_answer_seen seen;

static struct ed_answer answer_make(const void *body, size_t bytes)
{
        return (struct ed_answer){ .id = "a",
                                   .id_bytes = 1,
                                   .number = 7,
                                   .hash = 0x0123456789abcdef,
                                   .status = 200,
                                   .body = body,
                                   .body_bytes = bytes,
                                   .attempts = 1,
                                   .first_ns = -1 };
}

/* Writes the line, which ends with its only line feed; replaces this by a NUL. */
static void answer_print(struct ed_answer *answer, unsigned flags)
{
        ed_draft_reset(&line, SIZE_MAX);
        ed_answer_write(answer, flags, &line);
        CHECK(ed_draft_is_whole(&line));
        CHECK(memchr(line.data, '\n', line.bytes) == line.data + line.bytes - 1);
        line.data[--line.bytes] = '\0';
        CHECK_EQ(eddy_json_check(line.data, line.bytes,
                                 &(struct eddy_json_opts){ .depth_max = EDDY_JSON_DEPTH_MAX },
                                 NULL),
                 0);
}

/* Checks the body's text in the line; the rest is as of answer_make(). */
static void check_body(const void *body, size_t bytes, const char *expected)
{
        struct ed_answer answer = answer_make(body, bytes);
        const char *begin, *end = "},\"error\":null}";
        size_t end_bytes = strlen(end);

        answer_print(&answer, 0);
        begin = strstr(line.data, "\"body\":");
        CHECK(begin != NULL);
        begin += 7;
        CHECK_STR(line.data + line.bytes - end_bytes, end);
        line.data[line.bytes - end_bytes] = '\0';
        CHECK_STR(begin, expected);
}

#define CHECK_BODY(body, expected) check_body(body, sizeof(body) - 1, expected)

static int line_read(const char *text)
{
        return ed_answer_read(text, strlen(text), id_room, &seen);
}

TEST(line_has_the_form_of_the_batch_api)
{
        struct ed_answer answer = answer_make("{\"x\": 1}", 8);
        char digits[25], expected[300];

        answer_print(&answer, 0);
        memcpy(digits, line.data + 17, 24);
        digits[24] = '\0';
        CHECK_EQ(strspn(digits, "0123456789abcdef"), 24);
        snprintf(expected, sizeof(expected),
                 "{\"id\":\"batch_req_%s\",\"custom_id\":\"a\",\"response\":{\"status_code\":200,"
                 "\"request_id\":\"req_%s\",\"body\":{\"x\":1}},\"error\":null}",
                 digits, digits);
        CHECK_STR(line.data, expected);
        /* Another answer to the request has the same name. */
        answer.status = 500;
        answer.body_bytes = 0;
        answer.request_id = "req \"1\"";
        answer_print(&answer, 0);
        snprintf(expected, sizeof(expected),
                 "{\"id\":\"batch_req_%s\",\"custom_id\":\"a\",\"response\":{\"status_code\":500,"
                 "\"request_id\":\"req \\\"1\\\"\",\"body\":{}},\"error\":null}",
                 digits);
        CHECK_STR(line.data, expected);
        answer.hash++;
        answer_print(&answer, 0);
        CHECK(strncmp(line.data + 17, digits, 24) != 0);
        answer.hash--;
        answer.id = "b";
        answer_print(&answer, 0);
        CHECK(strncmp(line.data + 17, digits, 24) != 0);
}

TEST(request_without_an_answer_has_an_error)
{
        struct ed_answer answer = answer_make(NULL, 0);

        answer.status = 0;
        answer.code = "connect_error";
        answer.message = "a \"b\"\n\xff";
        answer_print(&answer, 0);
        CHECK_STR(line.data + 41,
                  "\",\"custom_id\":\"a\",\"response\":null,\"error\":{\"code\":\"connect_error\","
                  "\"message\":\"a \\\"b\\\"\\n\xef\xbf\xbd\"}}");
}

TEST(meta_holds_all_that_is_known)
{
        struct ed_answer answer = answer_make("{}", 2);
        const char *meta;

        answer_print(&answer, ED_ANSWER_META);
        CHECK_STR(
                strstr(line.data, ",\"x_meta\":"),
                ",\"x_meta\":{\"input_line\":7,\"input_hash\":\"0123456789abcdef\",\"attempts\":1,"
                "\"t_queue_ms\":0.0,\"t_total_ms\":0.0}}");
        answer.hash = 0;
        answer.metadata = "{\"a\" :\n[1]}";
        answer.metadata_bytes = strlen(answer.metadata);
        answer.endpoint = "http://h:80";
        answer.attempts = 3;
        answer.at_ms = 1700000000123;
        answer.queue_ns = 1540000;
        answer.first_ns = 0;
        answer.total_ns = 2000000000;
        answer.body = "{\"usage\":{\"prompt_tokens\":0,\"completion_tokens\":6}}";
        answer.body_bytes = strlen(answer.body);
        answer_print(&answer, ED_ANSWER_META);
        meta = ",\"x_meta\":{\"input_line\":7,\"attempts\":3,\"endpoint\":\"http://h:80\","
               "\"completed_at_ms\":1700000000123,\"t_queue_ms\":1.5,\"t_first_ms\":0.0,"
               "\"t_total_ms\":2000.0,\"input_tokens\":0,\"output_tokens\":6,"
               "\"metadata\":{\"a\":[1]}}}";
        CHECK_STR(strstr(line.data, ",\"x_meta\":"), meta);
}

TEST(shard_of_a_line_is_read_again)
{
        static const char *const others[] = { "3/64 of 1001 bytes",  "3/63 of 1000 bytes",
                                              "4/64 of 1000 bytes",  "3/64 of 1000 byte",
                                              "3/64 of 10000 bytes", "" };
        static const char slashed[] = "{\"custom_id\":\"a\",\"response\":{\"status_code\":200,"
                                      "\"body\":{}},\"error\":null,"
                                      "\"x_meta\":{\"shard\":\"3\\/64 of 1000 bytes\"}}";
        struct ed_answer answer = answer_make("{}", 2);
        char mark[ED_SHARD_MARK_BYTES], seen_mark[ED_SHARD_MARK_BYTES], id[ED_ANSWER_ID_ROOM];
        struct ed_answer_seen found;

        ed_shard_mark_print((struct ed_shard){ 99999, 100000 }, UINT64_MAX, mark);
        CHECK_STR(mark, "99999/100000 of 18446744073709551615 bytes");
        ed_shard_mark_print((struct ed_shard){ 3, 64 }, 1000, mark);
        answer.number = 0;
        answer.shard = mark;
        answer_print(&answer, ED_ANSWER_META);
        CHECK_STR(
                strstr(line.data, ",\"x_meta\":"),
                ",\"x_meta\":{\"shard\":\"3/64 of 1000 bytes\",\"input_hash\":\"0123456789abcdef\","
                "\"attempts\":1,\"t_queue_ms\":0.0,\"t_total_ms\":0.0}}");
        CHECK_EQ(ed_answer_read(line.data, strlen(line.data), id, &found), 0);
        CHECK_EQ(ed_shard_mark_compare(&found, mark), ED_SHARD_MARK_SAME);
        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
                CHECK_EQ(ed_shard_mark_compare(&found, others[i]), ED_SHARD_MARK_OTHER);
        ed_shard_mark_read(&found, seen_mark);
        CHECK_STR(seen_mark, mark);
        CHECK_EQ(ed_answer_read(slashed, strlen(slashed), id, &found), 0);
        CHECK_EQ(ed_shard_mark_compare(&found, mark), ED_SHARD_MARK_SAME);
        answer.shard = "";
        answer_print(&answer, ED_ANSWER_META);
        CHECK_EQ(ed_answer_read(line.data, strlen(line.data), id, &found), 0);
        CHECK_EQ(ed_shard_mark_compare(&found, mark), ED_SHARD_MARK_NONE);
        ed_shard_mark_read(&found, seen_mark);
        CHECK_STR(seen_mark, "");
}

TEST(every_body_becomes_an_object_on_one_line)
{
        CHECK_BODY("", "{}");
        CHECK_BODY("{}", "{}");
        CHECK_BODY(" \r\n\t{ \"a\" : [ 1.50e+3 ,\n\"x\\u0041 \\/\" ] }\n", /* keeps spellings */
                   "{\"a\":[1.50e+3,\"x\\u0041 \\/\"]}");
        CHECK_BODY("[1,\n2]", "{\"_json\":[1,2]}");
        CHECK_BODY(" null ", "{\"_json\":null}");
        CHECK_BODY("\"{\"", "{\"_json\":\"{\"}");
        CHECK_BODY("not\nJSON", "{\"_text\":\"not\\nJSON\"}");
        CHECK_BODY(" ", "{\"_text\":\" \"}");
        CHECK_BODY("{\"a\":1", "{\"_text\":\"{\\\"a\\\":1\"}");
        CHECK_BODY("{}{}", "{\"_text\":\"{}{}\"}");
        CHECK_BODY("[1]]", "{\"_text\":\"[1]]\"}");
        CHECK_BODY("a\0b", "{\"_text\":\"a\\u0000b\"}");
        CHECK_BODY("\xef\xbb\xbf{}", "{\"_text\":\"\xef\xbb\xbf{}\"}");
        CHECK_BODY("{\"a\":\"\xff\"}", "{\"_base64\":\"eyJhIjoi/yJ9\"}");
        CHECK_BODY("\x00\xff", "{\"_base64\":\"AP8=\"}");
}

TEST(body_of_any_depth_makes_a_line_that_can_be_read)
{
        static char body[2 * 5000];

        for (size_t depth = 1000; depth <= 1040; depth++) {
                struct ed_answer answer = answer_make(body, 2 * depth);

                for (int is_object = 0; is_object < 2; is_object++) {
                        memset(body, '[', depth);
                        memset(body + depth, ']', depth);
                        if (is_object) {
                                memcpy(body, "{\"\":", 4); /* three brackets fewer */
                                memcpy(body + 2 * depth - 4, "}   ", 4);
                        }
                        answer_print(&answer, ED_ANSWER_META);
                        CHECK_EQ(ed_answer_read(line.data, line.bytes, id_room, &seen), 0);
                }
        }
}

TEST(line_is_read_as_it_was_written)
{
        static const char *ids[] = {
                "a", "", "line-1", "\"\\/\n\t", "a\0b", "\xc3\xa9\xe2\x82\xac"
        };
        static const size_t ids_bytes[] = { 1, 0, 6, 5, 3, 5 };

        for (int i = 0; i < 12; i++)
                for (int status = 0; status < 600; status += status < 99 ? 99 : 1) {
                        struct ed_answer answer = answer_make("{\"error\":{\"code\":1}}", 20);
                        bool has_fault = status == 0 || i >= 6; /* also beside an answer */

                        answer.id = ids[i % 6];
                        answer.id_bytes = ids_bytes[i % 6];
                        answer.status = status;
                        answer.code = has_fault ? "dns\"error" : NULL;
                        answer_print(&answer, ED_ANSWER_META);
                        CHECK_EQ(ed_answer_read(line.data, line.bytes, id_room, &seen), 0);
                        CHECK(seen.id == id_room);
                        CHECK_EQ(seen.id_bytes, answer.id_bytes);
                        CHECK(memcmp(seen.id, answer.id, answer.id_bytes + 1) == 0);
                        CHECK_EQ(seen.status, status);
                        CHECK_EQ(seen.is_ok, status >= 200 && status < 300 && !has_fault);
                        CHECK_EQ(seen.mark,
                                 ed_answer_mark(answer.id, answer.id_bytes, answer.hash));
                        CHECK_EQ(seen.code_bytes, has_fault ? 12 : 0);
                        CHECK(has_fault ? memcmp(seen.code, "\"dns\\\"error\"", 12) == 0
                                        : !seen.code);
                }
}

TEST(longest_id_is_read_and_a_longer_one_refused)
{
        char id[ED_ANSWER_ID_ROOM];
        struct ed_answer answer = answer_make("{}", 2);

        memset(id, 'x', sizeof(id));
        answer.id = id;
        answer.id_bytes = sizeof(id) - 1;
        answer_print(&answer, 0);
        CHECK_EQ(ed_answer_read(line.data, line.bytes, id_room, &seen), 0);
        CHECK_EQ(seen.id_bytes, sizeof(id) - 1);
        answer.id_bytes = sizeof(id);
        answer_print(&answer, 0);
        CHECK_EQ(ed_answer_read(line.data, line.bytes, id_room, &seen), -EINVAL);
}

TEST(lines_of_openai_and_vllm_are_read)
{
        /* OpenAI's documentation. */
        CHECK_EQ(
                line_read("{\"id\": \"batch_req_123\", \"custom_id\": \"request-2\", \"response\": "
                          "{\"status_code\": 200, \"request_id\": \"req_123\", \"body\": {\"id\": "
                          "\"chatcmpl-123\"}}, \"error\": null}\r"),
                0);
        CHECK(seen.is_ok && seen.status == 200 && seen.mark == 0 && !seen.code);
        CHECK_STR(seen.id, "request-2");
        CHECK_EQ(
                line_read("{\"id\": \"batch_req_123\", \"custom_id\": \"request-3\", \"response\": "
                          "null, \"error\": {\"code\": \"batch_expired\", \"message\": \"This "
                          "request could not be executed before the completion window "
                          "expired.\"}}"),
                0);
        CHECK(!seen.is_ok && seen.status == 0);
        CHECK_EQ(seen.code_bytes, 15);
        /* vLLM. */
        CHECK_EQ(line_read(
                         "{\"id\":\"vllm-1\",\"custom_id\":\"r\",\"response\":{\"status_code\":400,"
                         "\"request_id\":\"vllm-batch-1\",\"body\":null},\"error\":{\"object\":"
                         "\"error\",\"message\":\"m\",\"type\":\"BadRequestError\",\"code\":400}}"),
                 0);
        CHECK(!seen.is_ok && seen.status == 400 && !seen.code);
        CHECK_EQ(line_read("{\"id\":\"vllm-1\",\"custom_id\":\"r\",\"response\":null,"
                           "\"error\":\"bad\"}"),
                 0);
        CHECK(!seen.is_ok && !seen.code);
        /* An answer with an error too is not a good one. */
        CHECK_EQ(line_read("{\"custom_id\":\"r\",\"response\":{\"status_code\":200},"
                           "\"error\":\"bad\"}"),
                 0);
        CHECK(!seen.is_ok);
        CHECK_EQ(line_read("{\"custom_id\":\"r\",\"response\":{\"status_code\":200},"
                           "\"error\":\"\"}"),
                 0);
        CHECK(seen.is_ok);
        /* Of two, the first. */
        CHECK_EQ(line_read(
                         "{\"custom_id\":\"a\",\"custom_id\":\"b\",\"response\":{\"status_code\":1,"
                         "\"status_code\":2},\"response\":null}"),
                 0);
        CHECK_STR(seen.id, "a");
        CHECK_EQ(seen.status, 1);
}

/* Members beside "custom_id", as other programs write them: successes, and failures with their status. */
TEST(successes_and_failures_of_other_programs_are_distinguished)
{
        static const char *const successes[] = {
                "\"response\":{\"status_code\":200}",
                "\"response\":{\"status_code\":200},\"error\":null",
                "\"response\":{\"status_code\":200},\"error\":{}",
                "\"response\":{\"status_code\":200},\"error\":[]",
                "\"response\":{\"status_code\":200},\"error\":false",
                "\"response\":{\"status_code\":200},\"error\":{\"code\":null,\"message\":\"\"}",
                "\"response\":{\"status_code\":200},\"error\":{\"error\":{ \"code\" : [ ] } }",
                "\"response\":{\"status_code\":200.0}",
                "\"response\":{\"status_code\":\"200\"}",
                "\"error\":{},\"response\":{\"body\":{},\"status_code\":299}",
        };
        static const struct {
                int status;
                const char *text;
        } failures[] = {
                { 0, "\"response\":null,\"error\":null" },
                { 0, "\"response\":null" },
                { 0, "\"error\":null" },
                { 0, "\"error\":{}" },
                { 0, "\"error\":\"bad\"" },
                { 0, "\"response\":{\"status_code\":0,\"body\":{}},\"error\":null" },
                { 0, "\"response\":{\"status_code\":null,\"body\":null},\"error\":{}" },
                { 0, "\"response\":{\"status_code\":-1}" },
                { 0, "\"response\":{\"status_code\":1000}" },
                { 0, "\"response\":{\"status_code\":1e300}" },
                { 0, "\"response\":{\"status_code\":200.5}" },
                { 0, "\"response\":{\"status_code\":\"2000\"}" },
                { 0, "\"response\":{\"status_code\":\"OK\"}" },
                { 0, "\"response\":{\"status_code\":[200]}" },
                { 0, "\"response\":{},\"error\":\"bad\"" },
                { 0, "\"response\":\"text\",\"error\":{\"message\":\"bad\"}" },
                { 200, "\"response\":{\"status_code\":200},\"error\":7" },
                { 200, "\"response\":{\"status_code\":200},\"error\":true" },
                { 200, "\"response\":{\"status_code\":200},\"error\":[[],[0]]" },
                { 200, "\"response\":{\"status_code\":200},\"error\":{\"error\":{\"code\":0}}" },
                { 200, "\"response\":{\"status_code\":200},\"error\":[[[[[[[[[[]]]]]]]]]]" },
                { 404, "\"response\":{\"status_code\":\"404\"},\"error\":null" },
                { 400, "\"response\":{\"status_code\":400},\"error\":{\"error\":{\"message\":"
                       "\"m\",\"code\":400}}" },
        };
        char text[200];

        for (size_t i = 0; i < sizeof(successes) / sizeof(successes[0]); i++) {
                snprintf(text, sizeof(text), "{\"custom_id\":\"a\",%s}", successes[i]);
                if (line_read(text) < 0 || !seen.is_ok || seen.has_fault)
                        test_fail(__FILE__, __LINE__, "not a success: %s", text);
        }
        for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
                snprintf(text, sizeof(text), "{%s,\"custom_id\":\"a\"}", failures[i].text);
                if (line_read(text) < 0 || seen.is_ok || seen.status != failures[i].status)
                        test_fail(__FILE__, __LINE__, "not a failure: %s", text);
        }
        CHECK_EQ(line_read("{\"custom_id\":\"a\",\"error\":{\"error\":{\"code\":\"c\"}}}"), 0);
        CHECK(seen.code_bytes == 3 && memcmp(seen.code, "\"c\"", 3) == 0);
        /* An integer is an id in the input too. */
        CHECK_EQ(line_read("{\"custom_id\":-17,\"response\":{\"status_code\":200}}"), 0);
        CHECK_STR(seen.id, "-17");
        /* An editor's byte order mark. */
        CHECK_EQ(line_read("\xef\xbb\xbf{\"custom_id\":\"a\",\"response\":{\"status_code\":200}}"),
                 0);
        CHECK(seen.is_ok);
}

TEST(lines_that_are_not_answers_are_refused)
{
        static const char *const lines[] = {
                "",
                " ",
                "null",
                "[]",
                "{}",
                "x",
                "\"custom_id\"",
                "{\"custom_id\":\"a\"}",
                "{\"custom_id\":1.5,\"response\":{\"status_code\":200}}",
                "{\"custom_id\":1e3,\"response\":{\"status_code\":200}}",
                "{\"custom_id\":true,\"response\":{\"status_code\":200}}",
                "{\"custom_id\":null,\"response\":{\"status_code\":200}}",
                "{\"custom_id\":\"\\ud800\",\"response\":{\"status_code\":200}}",
                "{\"response\":{\"status_code\":200}}",
                "{\"custom_id\":\"a\",\"response\":{}}",
                "{\"custom_id\":\"a\",\"response\":[]}",
                "{\"custom_id\":\"a\",\"response\":200}",
                "{\"custom_id\":\"a\",\"response\":{\"body\":{}},\"error\":{}}",
                "\xef\xbb\xbf",
                "\xef\xbb\xbf\xef\xbb\xbf{\"custom_id\":\"a\",\"error\":\"e\"}",
                "{\"custom_id\":\"a\",\"response\":{\"status_code\":200}}{}",
                "{\"custom_id\":\"a\",\"method\":\"POST\",\"url\":\"/v1/x\",\"body\":{}}",
        };
        struct ed_answer_seen before;

        memset(&seen, 7, sizeof(seen));
        before = seen;
        for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
                if (line_read(lines[i]) != -EINVAL)
                        test_fail(__FILE__, __LINE__, "accepted: %s", lines[i]);
                CHECK(memcmp(&seen, &before, sizeof(seen)) == 0);
        }
}

TEST(mark_is_of_id_and_request_and_only_in_lines_of_eddy)
{
        static const char *const names[] = { "null",
                                             "1",
                                             "{}",
                                             "\"batch_req_\"",
                                             "\"batch_req_0123456789abcdef0123456\"",
                                             "\"batch_req_0123456789abcdef012345678\"",
                                             "\"batch_req_0123456789abcdef0123456G\"",
                                             "\"batch_req_0123456789abcdef0123456F\"",
                                             "\"batch-req_0123456789abcdef01234567\"" };
        static const char form[] =
                "{\"id\":%s,\"custom_id\":\"a\",\"response\":{\"status_code\":200}}";
        char text[200];

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
                snprintf(text, sizeof(text), form, names[i]);
                CHECK_EQ(line_read(text), 0);
                CHECK_EQ(seen.mark, 0);
        }
        snprintf(text, sizeof(text), form, "\"batch_req_0123456789abcdef01234567\"");
        CHECK_EQ(line_read(text), 0);
        CHECK(seen.mark == 0x89abcdef01234567);
        CHECK(ed_answer_mark("a", 1, 1) != ed_answer_mark("a", 1, 2));
        CHECK(ed_answer_mark("a", 1, 1) != ed_answer_mark("b", 1, 1));
        CHECK_EQ(ed_answer_mark("a", 1, 0), 0);
}

/* In memory of exactly their size, so that a read beyond them is seen. */
TEST(line_that_is_cut_anywhere_is_refused_and_flipped_bits_do_no_harm)
{
        struct ed_answer answer = answer_make("{\"a\":[true,null,-1.5e3,\"\\u00e9\"]}", 33);
        size_t bytes;
        char *copy;

        answer_print(&answer, ED_ANSWER_META);
        bytes = line.bytes;
        for (size_t cut = 0; cut < bytes; cut++) {
                copy = malloc(cut + (cut == 0));
                memcpy(copy, line.data, cut);
                CHECK_EQ(ed_answer_read(copy, cut, id_room, &seen), -EINVAL);
                free(copy);
        }
        copy = malloc(bytes);
        memcpy(copy, line.data, bytes);
        for (size_t bit = 0; bit < 8 * bytes; bit++) {
                int result;

                copy[bit / 8] ^= (char) (1 << bit % 8);
                result = ed_answer_read(copy, bytes, id_room, &seen);
                CHECK(result == 0 || result == -EINVAL);
                copy[bit / 8] ^= (char) (1 << bit % 8);
        }
        free(copy);
}

static void *allocate_none(void *ctx, void *ptr, size_t bytes)
{
        (void) ctx;
        if (bytes == 0)
                free(ptr);
        return NULL;
}

TEST(line_without_memory_or_above_its_maximum_is_marked)
{
        static char body[5000];
        struct ed_answer answer = answer_make(body, sizeof(body));

        for (size_t max = 1; max < 300; max++) {
                struct ed_draft small = { .max = max };

                ed_answer_write(&answer, ED_ANSWER_META, &small);
                CHECK(!ed_draft_is_whole(&small));
                CHECK(small.bytes <= max);
                ed_draft_fini(&small);
        }
        eddy_alloc_set(allocate_none, NULL);
        answer.metadata = "{}";
        answer.metadata_bytes = 2;
        line = (struct ed_draft){ 0 };
        ed_answer_write(&answer, ED_ANSWER_META, &line);
        CHECK(!ed_draft_is_whole(&line));
}
