/*
 * test_schema.c - values that a schema accepts or not, and schemas that are refused.
 */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "batch/answer/schema.h"
#include "eddy/alloc.h"

static char text[ED_SCHEMA_ERROR_BYTES];

/* Returns 1 if the schema accepts the value; otherwise 'text' is the reason. */
static int accepts(const char *schema_text, const char *json)
{
        struct eddy_json_value value;
        struct ed_schema *schema;
        int result;

        CHECK_EQ(eddy_json_parse(json, strlen(json), NULL, &value, NULL), 0);
        CHECK_EQ(ed_schema_new(schema_text, strlen(schema_text), &schema, text), 0);
        result = ed_schema_check(schema, &value, text);
        ed_schema_free(schema);
        return result;
}

static const char *refused(const char *schema_text)
{
        struct ed_schema *schema;

        CHECK_EQ(ed_schema_new(schema_text, strlen(schema_text), &schema, text), -EINVAL);
        return text;
}

TEST(each_type_accepts_its_values)
{
        static const char *const values[] = { "null", "true",  "1.5", "\"a\"", "[1]",
                                              "{}",   "false", "2",   "2.0",   "-3e2" };
        static const struct {
                const char *type, *accepted; /* '1' for each value that is accepted */
        } types[] = {
                { "\"null\"", "1000000000" },   { "\"boolean\"", "0100001000" },
                { "\"number\"", "0010000111" }, { "\"integer\"", "0000000111" },
                { "\"string\"", "0001000000" }, { "\"array\"", "0000100000" },
                { "\"object\"", "0000010000" }, { "[\"null\",\"array\"]", "1000100000" },
        };
        char schema[100];

        for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++)
                for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
                        snprintf(schema, sizeof(schema), "{\"type\":%s}", types[t].type);
                        CHECK_EQ(accepts(schema, values[i]), types[t].accepted[i] == '1');
                }
}

TEST(limits_apply_to_their_types_only)
{
        static const struct {
                const char *schema, *value;
                int accepted;
        } cases[] = {
                { "{\"minimum\":2}", "2", 1 },
                { "{\"minimum\":2}", "1.99", 0 },
                { "{\"minimum\":2}", "\"a\"", 1 },
                { "{\"maximum\":-2}", "-2", 1 },
                { "{\"maximum\":-2}", "0", 0 },
                { "{\"minLength\":2}", "\"\\u00e9x\"", 1 },
                { "{\"minLength\":2}", "\"\xc3\xa9\"", 0 },
                { "{\"maxLength\":1}", "\"\\ud83d\\ude00\"", 1 },
                { "{\"maxLength\":1}", "\"ab\"", 0 },
                { "{\"maxLength\":1}", "[1,2]", 1 },
                { "{\"minItems\":1}", "[]", 0 },
                { "{\"minItems\":1}", "\"\"", 1 },
                { "{\"maxItems\":1}", "[1,2]", 0 },
                { "{\"maxItems\":2}", "[1,2]", 1 },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
                CHECK_EQ(accepts(cases[i].schema, cases[i].value), cases[i].accepted);
}

TEST(values_are_equal_as_json_and_not_as_text)
{
        CHECK_EQ(accepts("{\"const\":1}", "1.0"), 1);
        CHECK_EQ(accepts("{\"const\":\"a\"}", "\"\\u0061\""), 1);
        CHECK_EQ(accepts("{\"const\":\"a\"}", "\"b\""), 0);
        CHECK_EQ(accepts("{\"const\":{\"a\":[1],\"b\":null}}", "{ \"b\": null, \"a\": [ 1 ] }"), 1);
        CHECK_EQ(accepts("{\"const\":{\"a\":[1]}}", "{\"a\":[2]}"), 0);
        CHECK_EQ(accepts("{\"const\":{\"a\":1}}", "{\"a\":1,\"b\":2}"), 0);
        CHECK_EQ(accepts("{\"const\":[1,2]}", "[2,1]"), 0);
        CHECK_EQ(accepts("{\"const\":false}", "null"), 0);
        CHECK_EQ(accepts("{\"enum\":[\"x\",null,2]}", "2"), 1);
        CHECK_EQ(accepts("{\"enum\":[\"x\",null,2]}", "\"y\""), 0);
}

TEST(members_and_items_are_checked_and_the_place_is_named)
{
        static const char schema[] =
                "{\"$schema\":\"s\",\"title\":\"t\",\"type\":\"object\",\"required\":[\"rows\"],"
                "\"additionalProperties\":false,\"properties\":{\"rows\":{\"type\":\"array\","
                "\"items\":{\"type\":\"object\",\"properties\":{\"age\":{\"minimum\":0}}}},"
                "\"type\":{\"enum\":[1]}}}";

        CHECK_EQ(accepts(schema, "{\"rows\":[{\"age\":1},{}]}"), 1);
        CHECK_EQ(accepts(schema, "{\"rows\":[{\"age\":1},{\"age\":-1}]}"), 0);
        CHECK_STR(text, "minimum of /rows/1/age");
        CHECK_EQ(accepts(schema, "{\"ro\\u0077s\":[]}"), 1);
        CHECK_EQ(accepts(schema, "{}"), 0);
        CHECK_STR(text, "required of the whole");
        CHECK_EQ(accepts(schema, "{\"rows\":[],\"x\":1}"), 0);
        CHECK_STR(text, "additionalProperties of the whole");
        CHECK_EQ(accepts(schema, "{\"rows\":[],\"type\":2}"), 0);
        CHECK_STR(text, "enum of /type");
        CHECK_EQ(accepts(schema, "[]"), 0);
        CHECK_EQ(accepts("{\"required\":[\"a\"]}", "[]"), 1);
        CHECK_EQ(accepts("{}", "[]"), 1);
        CHECK_EQ(accepts("{\"additionalProperties\":false}", "{\"a\":1}"), 0);
        CHECK_EQ(accepts("{\"additionalProperties\":true}", "{\"a\":1}"), 1);
}

TEST(other_keywords_and_forms_are_refused)
{
        static const char *const bad[] = {
                "{\"type\":\"float\"}",
                "{\"type\":[\"array\",1]}",
                "{\"items\":[{}]}",
                "{\"items\":true}",
                "{\"minLength\":-1}",
                "{\"minLength\":1.5}",
                "{\"required\":\"a\"}",
                "{\"required\":[1]}",
                "{\"enum\":1}",
                "{\"minimum\":\"1\"}",
                "{\"properties\":[]}",
                "{\"additionalProperties\":{}}",
                "{\"properties\":{\"a\":true}}",
        };
        static const char *const unknown[] = {
                "pattern", "anyOf", "$ref", "format", "min", "Type"
        };
        char schema[100];

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                refused(bad[i]);
        for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
                snprintf(schema, sizeof(schema), "{\"properties\":{\"a\":{\"items\":{\"%s\":1}}}}",
                         unknown[i]);
                CHECK(strstr(refused(schema), unknown[i]) && strstr(text, "is not supported"));
        }
        CHECK_STR(refused("{"), "it is not JSON");
        CHECK_STR(refused("true"), "a schema is an object of keywords");
}

static int left;

static void *failing_allocate(void *ctx, void *ptr, size_t bytes)
{
        (void) ctx;
        if (bytes == 0) {
                free(ptr);
                return NULL;
        }
        return left-- > 0 ? realloc(ptr, bytes) : NULL;
}

TEST(each_allocation_may_fail)
{
        static const char schema_text[] =
                "{\"minLength\":1,\"const\":\"\\u0061\",\"enum\":[\"\\u0061\"]}";
        struct eddy_json_value value;
        int result = -ENOMEM;

        CHECK_EQ(eddy_json_parse("\"a\"", 3, NULL, &value, NULL), 0);
        for (int i = 0; result == -ENOMEM; i++) {
                struct ed_schema *schema = NULL;

                left = i;
                eddy_alloc_set(failing_allocate, NULL);
                result = ed_schema_new(schema_text, strlen(schema_text), &schema, text);
                if (result == 0)
                        result = ed_schema_check(schema, &value, text);
                ed_schema_free(schema);
                eddy_alloc_set(NULL, NULL);
                CHECK(i < 20);
        }
        CHECK_EQ(result, 1);
}
