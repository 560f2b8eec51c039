/*
 * test_json_pointer.c - values found by JSON Pointers (RFC 6901).
 */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "common/json_pointer.h"

/* The text of the value at a pointer, or "(none)". */
static const char *at(const char *json, const char *pointer)
{
        static char text[200];
        struct eddy_json_value whole, found;

        CHECK_EQ(eddy_json_parse(json, strlen(json), NULL, &whole, NULL), 0);
        CHECK(ed_json_pointer_is_valid(pointer, strlen(pointer)));
        if (ed_json_pointer_get(&whole, pointer, strlen(pointer), &found) == -ENOENT)
                return "(none)";
        snprintf(text, sizeof(text), "%.*s", (int) found.bytes, found.text);
        return text;
}

TEST(examples_of_the_rfc_are_found)
{
        static const char json[] = "{\"foo\": [\"bar\", \"baz\"], \"\": 0, \"a/b\": 1, \"c%d\": 2, "
                                   "\"e^f\": 3, \"g|h\": 4, \"i\\\\j\": 5, \"k\\\"l\": 6, "
                                   "\" \": 7, \"m~n\": 8}";

        CHECK_STR(at(json, "/foo"), "[\"bar\", \"baz\"]");
        CHECK_STR(at(json, "/foo/0"), "\"bar\"");
        CHECK_STR(at(json, "/"), "0");
        CHECK_STR(at(json, "/a~1b"), "1");
        CHECK_STR(at(json, "/c%d"), "2");
        CHECK_STR(at(json, "/e^f"), "3");
        CHECK_STR(at(json, "/g|h"), "4");
        CHECK_STR(at(json, "/i\\j"), "5");
        CHECK_STR(at(json, "/k\"l"), "6");
        CHECK_STR(at(json, "/ "), "7");
        CHECK_STR(at(json, "/m~0n"), "8");
        CHECK_STR(at("[1]", ""), "[1]");
}

TEST(absent_values_are_not_found)
{
        CHECK_STR(at("{\"a\": 1}", "/b"), "(none)");
        CHECK_STR(at("{\"a\": 1}", "/a/b"), "(none)");
        CHECK_STR(at("{\"a\": 1}", "/a/"), "(none)");
        CHECK_STR(at("[1, 2]", "/2"), "(none)");
        CHECK_STR(at("[1, 2]", "/-"), "(none)");
        CHECK_STR(at("[1, 2]", "/01"), "(none)");
        CHECK_STR(at("[1, 2]", "/1x"), "(none)");
        CHECK_STR(at("[1, 2]", "/18446744073709551617"), "(none)");
        CHECK_STR(at("\"text\"", "/0"), "(none)");
}

TEST(names_with_escapes_and_of_any_length_are_found)
{
        char json[2000], pointer[ED_JSON_POINTER_BYTES_MAX + 2];

        CHECK_STR(at("{\"caf\\u00e9\": 1}", "/caf\xc3\xa9"), "1");
        CHECK_STR(at("{\"a\\u0000b\": 1}", "/a"), "(none)");
        for (size_t bytes = 1; bytes < ED_JSON_POINTER_BYTES_MAX; bytes++) {
                memset(pointer, 'n', sizeof(pointer));
                pointer[0] = '/';
                pointer[bytes + 1] = '\0';
                snprintf(json, sizeof(json), "{\"%s\": 1}", pointer + 1);
                CHECK_STR(at(json, pointer), "1");
        }
}

TEST(malformed_pointers_are_refused)
{
        char pointer[ED_JSON_POINTER_BYTES_MAX + 1];

        CHECK(!ed_json_pointer_is_valid("a", 1));
        CHECK(!ed_json_pointer_is_valid("/~", 2));
        CHECK(!ed_json_pointer_is_valid("/~2", 3));
        CHECK(ed_json_pointer_is_valid("/~01", 4));
        memset(pointer, '/', sizeof(pointer));
        CHECK(ed_json_pointer_is_valid(pointer, ED_JSON_POINTER_BYTES_MAX));
        CHECK(!ed_json_pointer_is_valid(pointer, ED_JSON_POINTER_BYTES_MAX + 1));
}
