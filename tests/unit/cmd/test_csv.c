/*
 * test_csv.c - the fields of a row (RFC 4180), and where a row ends, however its bytes are split.
 */
#include "common/csv.h"

#include <errno.h>

#include "test.h"

/* The fields of a row, each in brackets; "error" after a wrong quote. */
static void check_row(const char *row, const char *expected)
{
        struct ed_csv_cursor cursor = ed_csv_walk(row, strlen(row));
        struct ed_draft text = { 0 };
        struct ed_csv_field field;
        int more;

        while ((more = ed_csv_next(&cursor, &field)) > 0) {
                ed_draft_add_str(&text, "[");
                ed_csv_add(&field, &text);
                ed_draft_add_str(&text, "]");
        }
        if (more < 0) {
                CHECK_EQ(more, -EINVAL);
                ed_draft_add_str(&text, "error");
        } else {
                CHECK_EQ(ed_csv_next(&cursor, &field), 0);
        }
        ed_draft_add(&text, "", 1);
        CHECK(ed_draft_is_whole(&text));
        if (strcmp(text.data, expected) != 0)
                test_fail(__FILE__, __LINE__, "%s gives %s, expected %s", row, text.data, expected);
        ed_draft_fini(&text);
}

TEST(fields_are_between_commas)
{
        check_row("a,b,c", "[a][b][c]");
        check_row("", "[]");
        check_row(",", "[][]");
        check_row("a,", "[a][]");
        check_row(" a ,b", "[ a ][b]");
}

TEST(quoted_field_has_commas_quotes_and_line_feeds)
{
        check_row("\"a,b\",c", "[a,b][c]");
        check_row("\"a\"\"b\"", "[a\"b]");
        check_row("\"\"\"\"", "[\"]");
        check_row("\"\",\"\"", "[][]");
        check_row("\"a\nb\",\"\r\n\"", "[a\nb][\r\n]");
}

TEST(quote_within_a_plain_field_is_a_character)
{
        check_row("a\"b\",c", "[a\"b\"][c]");
        check_row(" \"a\"", "[ \"a\"]");
}

TEST(quote_that_is_not_closed_before_the_comma_is_refused)
{
        check_row("\"a", "error");
        check_row("\"", "error");
        check_row("a,\"b\"c", "[a]error");
        check_row("\"a\" ,b", "error");
}

/* The row ends at the same place, whether its bytes come at once or one by one. */
static void check_end(const char *data, size_t expected)
{
        size_t bytes = strlen(data), at = 0;
        uint8_t place = 0;

        CHECK_EQ(ed_csv_row_end(data, bytes, 0, &place), expected);
        place = 0;
        for (size_t known = 0; known <= bytes; known++)
                at = ed_csv_row_end(data, known, at, &place);
        CHECK_EQ(at, expected);
}

TEST(row_ends_at_a_line_feed_outside_of_quotes)
{
        check_end("a,b\nc", 3);
        check_end("\"a\nb\"\nc", 5);
        check_end("\"a\"\"\n\"\nc", 6);
        check_end("a\"b\nc\"\n", 3);
        check_end("\"a\n", 3);
        check_end("\n", 0);
        check_end("", 0);
}
