/*
 * test_condition.c - conditions of --ok and --retry-if, on answers.
 */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/condition.h"
#include "eddy/alloc.h"

static const char *field(void *arg, const char *name)
{
        (void) arg;
        return strcasecmp(name, "X-Busy") == 0 ? "yes" : strcasecmp(name, "n") == 0 ? "7" : NULL;
}

/* Whether a condition holds for an answer 200 with a body; -1: it is not well-formed. */
static int holds(const char *text, const char *body)
{
        struct ed_condition_answer answer = {
                .status = 200, .body = body, .body_bytes = body ? strlen(body) : 0, .header = field
        };
        struct ed_condition *condition;
        char error[ED_CONDITION_ERROR_BYTES];
        int result;

        if (ed_condition_parse(text, &condition, error) < 0)
                return -1;
        result = ed_condition_holds(condition, &answer);
        ed_condition_free(condition);
        return result;
}

/* The sentence about a condition that is not well-formed. */
static const char *refused(const char *text)
{
        static char error[ED_CONDITION_ERROR_BYTES];
        struct ed_condition *condition;

        CHECK_EQ(ed_condition_parse(text, &condition, error), -EINVAL);
        return error;
}

TEST(status_is_compared)
{
        CHECK_EQ(holds("status == 200", NULL), 1);
        CHECK_EQ(holds("status != 200", NULL), 0);
        CHECK_EQ(holds("status >= 200 and status < 300", NULL), 1);
        CHECK_EQ(holds("status<=199 or status>299", NULL), 0);
        CHECK_EQ(holds("status in (429, 503)", NULL), 0);
        CHECK_EQ(holds("status in (200)", NULL), 1);
        CHECK_EQ(holds("status not in (429, 503)", NULL), 1);
        CHECK_EQ(holds("status == 2e2", NULL), 1);
        CHECK_EQ(holds("status == \"200\"", NULL), 0);
}

TEST(values_of_the_body_are_compared)
{
        static const char body[] =
                "{\"a\": {\"b\": [1, \"x\\u0041\", null, true]}, \"s\": \"stop\", "
                "\"empty\": [], \"big\": 1e999}";

        CHECK_EQ(holds("json('/a/b/0') == 1", body), 1);
        CHECK_EQ(holds("json(\"/a/b/1\") == \"xA\"", body), 1);
        CHECK_EQ(holds("json('/a/b/1') == 'x\\u0041'", body), 0);
        CHECK_EQ(holds("json('/a/b/2') == null", body), 1);
        CHECK_EQ(holds("json('/none') == null", body), 1);
        CHECK_EQ(holds("json('/a') == null", body), 0);
        CHECK_EQ(holds("json('/a') == json('/a')", body), 0);
        CHECK_EQ(holds("json('/a/b/3')", body), 1);
        CHECK_EQ(holds("json('/a/b/3') == true", body), 1);
        CHECK_EQ(holds("json('/empty')", body), 0);
        CHECK_EQ(holds("json('/a')", body), 1);
        CHECK_EQ(holds("json('/big') and json('/big') != 1", body), 1);
        CHECK_EQ(holds("json('/s') in ('stop', \"length\")", body), 1);
        CHECK_EQ(holds("'to' in json('/s')", body), 1);
        CHECK_EQ(holds("'' in json('/s')", body), 1);
        CHECK_EQ(holds("'ta' in json('/s')", body), 0);
        CHECK_EQ(holds("json('/s') < 'stoq' and json('/s') > 'sto'", body), 1);
        CHECK_EQ(holds("json('/s') < 1 or json('/s') > 1", body), 0);
        CHECK_EQ(holds("json('')", body), 1);
}

TEST(a_body_that_is_not_json_has_no_values)
{
        CHECK_EQ(holds("json('/a')", "<html>"), 0);
        CHECK_EQ(holds("json('/a') == null", "{\"a\": 1"), 1);
        CHECK_EQ(holds("json('') == null", NULL), 1);
        CHECK_EQ(holds("json('') != null", "<html>"), 0);
}

TEST(header_fields_are_compared)
{
        CHECK_EQ(holds("header(x-busy) == 'yes'", NULL), 1);
        CHECK_EQ(holds("header('X-Busy') == \"yes\"", NULL), 1);
        CHECK_EQ(holds("header( X-None ) == null", NULL), 1);
        CHECK_EQ(holds("header(n) == '7'", NULL), 1);
}

TEST(operators_bind_in_their_order)
{
        CHECK_EQ(holds("true or false and false", NULL), 1);
        CHECK_EQ(holds("(true or false) and false", NULL), 0);
        CHECK_EQ(holds("not false and false", NULL), 0);
        CHECK_EQ(holds("not (false and false)", NULL), 1);
        CHECK_EQ(holds("not not true", NULL), 1);
        CHECK_EQ(holds("not 1 == 2", NULL), 1);
        CHECK_EQ(holds("true and true and false or true", NULL), 1);
        CHECK_EQ(holds("(1 == 1) == true", NULL), 1);
        CHECK_EQ(holds("1 in (2, (1), 3)", NULL), 1);
        CHECK_EQ(holds("0 or '' or null or 0.0", NULL), 0);
        CHECK_EQ(holds("-1", NULL), 1);
}

TEST(a_mistake_is_named_with_its_column)
{
        CHECK_STR(refused(""), "column 1: the condition ends where a value is expected");
        CHECK_STR(refused("stauts == 200"),
                  "column 1: the word stauts is unknown; is status meant?");
        CHECK_STR(refused("status = 200"), "column 8: equality is written ==");
        CHECK_STR(refused("status =="), "column 10: the condition ends where a value is expected");
        CHECK_STR(refused("(status"), "column 8: a \")\" is missing");
        CHECK_STR(refused("json('a')"), "column 5: a JSON Pointer has a \"/\" before each name or "
                                        "index; \"/\" in a name is "
                                        "~1, and \"~\" is ~0 (RFC 6901)");
        CHECK_STR(refused("json(/a)"), "column 6: a string in quotes is expected");
        CHECK_STR(refused("\"open"), "column 1: a string has no end");
        CHECK_STR(refused("status 200"),
                  "column 8: an operator is expected: and, or, ==, !=, <, <=, >, >=, in, not in");
        CHECK_STR(refused("status not 5"),
                  "column 12: after a value, \"not\" must be followed by in");
        CHECK_STR(refused("01"), "column 1: the number is not valid JSON");
        CHECK_STR(refused("status in (1,"),
                  "column 14: the condition ends where a value is expected");
        CHECK_STR(refused("header"), "column 7: header is written as header(NAME)");
        CHECK_STR(refused("1 < 2 < 3"),
                  "column 7: an operator is expected: and, or, ==, !=, <, <=, >, >=, in, not in");
}

TEST(each_beginning_of_a_condition_is_parsed_or_refused)
{
        static const char text[] = "not (json(\"/a~1b/\\u0041\") in ('x', 2.5e1, header(\"n\")) "
                                   "and status not in (1)) "
                                   "or header(x) != null";
        char part[sizeof(text)];

        CHECK_EQ(holds(text, "{}"), 1);
        for (size_t bytes = 0; bytes < sizeof(text); bytes++) {
                memcpy(part, text, bytes);
                part[bytes] = '\0';
                CHECK(holds(part, "{}") <= 1);
        }
}

/* Every text is parsed or refused with a sentence, and what is parsed is evaluated. */
TEST(each_byte_of_a_condition_may_be_another_one)
{
        static const char text[] = "not (json(\"/a~1b/\\u0041\") in ('x', -2.5e1) and status <= 2) "
                                   "or header(x) != null";
        static const char bodies[][12] = { "{\"a/b\":[]}", "[1,2,3]", "\"x\"", "{\"\":1}", "<p>" };
        char changed[sizeof(text)], error[ED_CONDITION_ERROR_BYTES];
        int parsed = 0;

        for (size_t at = 0; at < sizeof(text) - 1; at++)
                for (int byte = 1; byte < 256; byte++) {
                        struct ed_condition *condition;

                        memcpy(changed, text, sizeof(text));
                        changed[at] = (char) byte;
                        if (ed_condition_parse(changed, &condition, error) < 0) {
                                CHECK(strncmp(error, "column ", 7) == 0 && strlen(error) > 12);
                                continue;
                        }
                        ed_condition_free(condition);
                        CHECK(holds(changed, bodies[parsed++ % 5]) >= 0);
                }
        CHECK(parsed > 1000);
}

/* An allocator whose calls fail from one on. */
struct failing {
        int left;
        bool has_failed;
};

static void *failing_allocate(void *ctx, void *ptr, size_t bytes)
{
        struct failing *failing = ctx;

        if (bytes == 0) {
                free(ptr);
                return NULL;
        }
        if (failing->left-- <= 0) {
                failing->has_failed = true;
                return NULL;
        }
        return realloc(ptr, bytes);
}

TEST(each_allocation_of_a_condition_may_fail)
{
        static const char text[] = "json('/a') == json('/b') or 'x' in json('/a')";
        static const char body[] = "{\"a\":\"xyz\",\"b\":\"abc\"}";
        struct ed_condition_answer answer = { .status = 200,
                                              .body = body,
                                              .body_bytes = sizeof(body) - 1 };
        struct failing failing = { .has_failed = true };

        for (int i = 0; failing.has_failed; i++) {
                char error[ED_CONDITION_ERROR_BYTES];
                struct ed_condition *condition = NULL;
                int result;

                CHECK(i < 20);
                failing = (struct failing){ .left = i };
                eddy_alloc_set(failing_allocate, &failing);
                result = ed_condition_parse(text, &condition, error);
                if (result == 0)
                        result = ed_condition_holds(condition, &answer);
                ed_condition_free(condition);
                eddy_alloc_set(NULL, NULL);
                CHECK_EQ(result, failing.has_failed ? -ENOMEM : 1);
        }
}

TEST(limits_of_a_condition_are_named)
{
        static char text[2 * ED_CONDITION_BYTES_MAX];
        size_t bytes = 0;

        memset(text, ' ', ED_CONDITION_BYTES_MAX - 1);
        text[ED_CONDITION_BYTES_MAX - 1] = '1';
        CHECK_EQ(holds(text, NULL), 1);
        memset(text, ' ', ED_CONDITION_BYTES_MAX + 1);
        CHECK_STR(refused(text), "column 1: the condition is longer than 4096 bytes");

        memset(text, 0, sizeof(text));
        memset(text, '(', 100);
        CHECK_STR(refused(text), "column 33: the condition is nested too deeply");
        memset(text, 0, sizeof(text));
        bytes = (size_t) snprintf(text, sizeof(text), "1");
        for (int i = 0; i < 400; i++)
                bytes += (size_t) snprintf(text + bytes, sizeof(text) - bytes, " and 1");
        CHECK(strstr(refused(text), "the condition has too many parts") != NULL);
        text[1 + 200 * 6] = '\0';
        CHECK_EQ(holds(text, NULL), 1);
        memset(text, 'x', ED_CONDITION_BYTES_MAX);
        CHECK(strstr(refused(text), "the word xxxx") != NULL);
        text[0] = text[ED_CONDITION_BYTES_MAX - 1] = '"';
        text[ED_CONDITION_BYTES_MAX] = '\0';
        CHECK_EQ(holds(text, NULL), 1);
}
