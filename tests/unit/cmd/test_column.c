/*
 * test_column.c - columns of a table: names, pointers, and the values that they find.
 */
#include "select/column.h"

#include <errno.h>

#include "common/json_pointer.h"
#include "eddy/alloc.h"
#include "starve.h"
#include "test.h"

/* "NAME POINTER", with "line:" before it and "#INNER" after it; or the message. */
static const char *column_text(const char *spec, bool is_kept)
{
        static char text[ED_COLUMN_ERROR_BYTES];
        struct ed_column column;
        int err = is_kept ? ed_column_read_kept(spec, &column, text)
                          : ed_column_read(spec, &column, text);

        if (err == -EINVAL)
                return text;
        CHECK_EQ(err, 0);
        snprintf(text, sizeof(text), "%s %s%.*s%s%.*s", column.name,
                 column.is_of_line ? "line:" : "", (int) column.pointer_bytes, column.pointer,
                 column.inner ? "#" : "", (int) column.inner_bytes,
                 column.inner ? column.inner : "");
        ed_column_fini(&column);
        return text;
}

static const char *read_text(const char *spec)
{
        return column_text(spec, false);
}

TEST(name_is_given_or_the_last_part_of_the_pointer)
{
        CHECK_STR(read_text("answer=/choices/0/text"), "answer /choices/0/text");
        CHECK_STR(read_text("/choices/0/text"), "text /choices/0/text");
        CHECK_STR(read_text("/a~1b/c~0~1d"), "c~/d /a~1b/c~0~1d");
        CHECK_STR(read_text("/choices/0"), "/choices/0 /choices/0");
        CHECK_STR(read_text("/choices/"), "/choices/ /choices/");
        CHECK_STR(read_text("/0a"), "0a /0a");
        CHECK_STR(read_text("a name=/x"), "a name /x");
        CHECK_STR(read_text("/x=y"), "x=y /x=y");
        CHECK_STR(read_text("a=/x=y"), "a /x=y");
}

TEST(pointer_may_go_into_the_line_or_into_a_string)
{
        CHECK_STR(read_text("line:/x_meta/attempts"), "attempts line:/x_meta/attempts");
        CHECK_STR(read_text("n=line:/x_meta/attempts"), "n line:/x_meta/attempts");
        CHECK_STR(read_text("/a/b#/label"), "label /a/b#/label");
        CHECK_STR(read_text("all=/a/b#"), "all /a/b#");
        CHECK_STR(read_text("/a/b#"), "b /a/b#");
        CHECK_STR(read_text("/a#b"), "a#b /a#b");
        CHECK_STR(read_text("/a#b#/c"), "c /a#b#/c");
        CHECK_STR(read_text("body="), "body ");
        CHECK_STR(read_text("all=line:"), "all line:");
}

TEST(mistakes_name_the_remedy)
{
        CHECK(strstr(read_text("choices[0].text"), "not a JSON Pointer: write it as answer=/"));
        CHECK(strstr(read_text("a=choices"), "not a JSON Pointer"));
        CHECK(strstr(read_text("/a~2"), "not a JSON Pointer"));
        CHECK(strstr(read_text("/a#/~"), "not a JSON Pointer"));
        CHECK(strstr(read_text("=/a"), "name of the column is empty"));
        CHECK(strstr(read_text(""), "the whole body, which needs a name"));
        CHECK(strstr(read_text("line:"), "the whole line, which needs a name"));
}

TEST(kept_columns_are_names_or_pointers)
{
        CHECK_STR(column_text("text", true), "text text");
        CHECK_STR(column_text("prompt=text", true), "prompt text");
        CHECK_STR(column_text("/body/model", true), "model /body/model");
        CHECK_STR(column_text("line:x", true), "line:x line:x");
        CHECK(strstr(column_text("", true), "is empty"));
        CHECK(strstr(column_text("a=", true), "is empty"));
        CHECK(strstr(column_text("=a", true), "is empty"));
}

/* The text of the value that a column finds, or "(none)". */
static const char *found(const char *json, const char *spec)
{
        static char text[200];
        char error[ED_COLUMN_ERROR_BYTES];
        struct eddy_json_value whole, value;
        struct ed_draft room = { 0 };
        struct ed_column column;

        CHECK_EQ(ed_column_read(spec, &column, error), 0);
        CHECK_EQ(eddy_json_parse(json, strlen(json), NULL, &whole, NULL), 0);
        if (ed_column_get(&column, &whole, &room, &value) == 0)
                snprintf(text, sizeof(text), "%.*s", (int) value.bytes, value.text);
        else
                snprintf(text, sizeof(text), "(none)");
        ed_draft_fini(&room);
        ed_column_fini(&column);
        return text;
}

TEST(value_in_a_string_that_is_json_is_found)
{
        static const char json[] = "{\"a\":\"{\\\"label\\\": \\\"x\\\", \\\"n\\\": [1, 2.50]}\", "
                                   "\"b\": 1, \"c\": \"text\", \"d\": \"\\ud800\", \"e\": \"\"}";

        CHECK_STR(found(json, "/a#/label"), "\"x\"");
        CHECK_STR(found(json, "/a#/n/1"), "2.50");
        CHECK_STR(found(json, "/a#/other"), "(none)");
        CHECK_STR(found(json, "a=/a#"), "{\"label\": \"x\", \"n\": [1, 2.50]}");
        CHECK_STR(found(json, "/b#/x"), "(none)");
        CHECK_STR(found(json, "/c#/x"), "(none)");
        CHECK_STR(found(json, "/d#/x"), "(none)");
        CHECK_STR(found(json, "/e#/x"), "(none)");
        CHECK_STR(found(json, "/zz#/x"), "(none)");
        CHECK_STR(found(json, "/b"), "1");
        CHECK_STR(found("[1]", "whole="), "[1]");
}

TEST(memory_that_is_short_is_returned)
{
        static const char json[] = "{\"a\":\"{}\"}";
        char error[ED_COLUMN_ERROR_BYTES];
        struct eddy_json_value whole, value;
        struct ed_draft room = { 0 };
        struct ed_column column;

        eddy_alloc_set(starve, NULL);
        allocations_left = 0;
        CHECK_EQ(ed_column_read("a=/b", &column, error), -ENOMEM);
        CHECK_EQ(ed_column_read("/b", &column, error), -ENOMEM);
        CHECK_EQ(ed_column_read_kept("b", &column, error), -ENOMEM);
        allocations_left = 1;
        CHECK_EQ(ed_column_read("/a#", &column, error), 0);
        CHECK_EQ(eddy_json_parse(json, strlen(json), NULL, &whole, NULL), 0);
        CHECK_EQ(ed_column_get(&column, &whole, &room, &value), -ENOMEM);
        ed_column_fini(&column);
}
