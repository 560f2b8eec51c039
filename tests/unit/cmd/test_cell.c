/*
 * test_cell.c - the cells of a table: each byte and each kind of value, as CSV that is read again,
 * and as JSON.
 */
#include "select/cell.h"

#include "eddy/alloc.h"
#include "starve.h"
#include "test.h"

/* The cell of a JSON value, NUL-terminated. */
static const char *cell(const char *json, enum ed_cell_format format)
{
        static struct ed_draft row;
        struct eddy_json_value value;

        ed_draft_fini(&row);
        if (json)
                CHECK_EQ(eddy_json_parse(json, strlen(json), NULL, &value, NULL), 0);
        ed_cell_add_value(&row, format, json ? &value : NULL);
        ed_draft_add(&row, "", 1);
        CHECK(ed_draft_is_whole(&row));
        return row.data;
}

TEST(values_keep_their_spelling_in_csv)
{
        CHECK_STR(cell("1.50", ED_CELL_CSV), "1.50");
        CHECK_STR(cell("123456789012345678901234567890", ED_CELL_CSV),
                  "123456789012345678901234567890");
        CHECK_STR(cell("-1E+2", ED_CELL_CSV), "-1E+2");
        CHECK_STR(cell("true", ED_CELL_CSV), "true");
        CHECK_STR(cell("false", ED_CELL_CSV), "false");
        CHECK_STR(cell("\"plain\"", ED_CELL_CSV), "plain");
        CHECK_STR(cell("\"007\"", ED_CELL_CSV), "007");
        CHECK_STR(cell("\"=1+1\"", ED_CELL_CSV), "=1+1");
        CHECK_STR(cell("[0.10, 2]", ED_CELL_CSV), "\"[0.10,2]\"");
        CHECK_STR(cell("[1]", ED_CELL_CSV), "[1]");
        CHECK_STR(cell("{ \"a\" : \"b\" }", ED_CELL_CSV), "\"{\"\"a\"\":\"\"b\"\"}\"");
}

TEST(null_is_an_empty_cell_and_an_empty_string_is_two_quotes)
{
        CHECK_STR(cell(NULL, ED_CELL_CSV), "");
        CHECK_STR(cell("null", ED_CELL_CSV), "");
        CHECK_STR(cell("\"\"", ED_CELL_CSV), "\"\"");
        CHECK_STR(cell(NULL, ED_CELL_JSON), "null");
        CHECK_STR(cell("null", ED_CELL_JSON), "null");
        CHECK_STR(cell("\"\"", ED_CELL_JSON), "\"\"");
}

TEST(values_are_as_written_in_json)
{
        CHECK_STR(cell("1.50", ED_CELL_JSON), "1.50");
        CHECK_STR(cell("\"a\\u00e9\\n\"", ED_CELL_JSON), "\"a\\u00e9\\n\"");
        CHECK_STR(cell("[1, {\"a\": null}]", ED_CELL_JSON), "[1,{\"a\":null}]");
}

TEST(string_with_half_of_a_pair_is_as_written)
{
        CHECK_STR(cell("\"\\ud800,\"", ED_CELL_CSV), "\"\\ud800,\"");
        CHECK_STR(cell("\"\\ud800\"", ED_CELL_CSV), "\\ud800");
}

/* A row of three cells with the text between two others is read again as it was. */
static void check_again(const char *text, size_t bytes)
{
        struct ed_csv_cursor cursor;
        struct ed_csv_field field;
        struct ed_draft row = { 0 }, value = { 0 };
        uint8_t place = 0;

        ed_draft_add_str(&row, "x,");
        ed_cell_add_text(&row, ED_CELL_CSV, text, bytes);
        ed_draft_add_str(&row, ",y");
        CHECK(ed_draft_is_whole(&row));
        CHECK_EQ(ed_csv_row_end(row.data, row.bytes, 0, &place), row.bytes);
        cursor = ed_csv_walk(row.data, row.bytes);
        CHECK_EQ(ed_csv_next(&cursor, &field), 1);
        CHECK_EQ(ed_csv_next(&cursor, &field), 1);
        ed_csv_add(&field, &value);
        CHECK_EQ(value.bytes, bytes);
        CHECK(bytes == 0 || memcmp(value.data, text, bytes) == 0);
        CHECK_EQ(ed_csv_next(&cursor, &field), 1);
        CHECK(field.bytes == 1 && field.text[0] == 'y');
        CHECK_EQ(ed_csv_next(&cursor, &field), 0);
        ed_draft_fini(&row);
        ed_draft_fini(&value);
}

TEST(each_byte_at_each_place_is_read_again)
{
        char text[3];

        check_again("", 0);
        for (int byte = 0; byte < 256; byte++)
                for (size_t bytes = 1; bytes <= sizeof(text); bytes++)
                        for (size_t at = 0; at < bytes; at++) {
                                memset(text, 'a', sizeof(text));
                                text[at] = (char) byte;
                                check_again(text, bytes);
                        }
}

TEST(texts_of_sizes_around_powers_of_two_are_read_again)
{
        static char text[2100];

        for (size_t size = 1; size <= 2048; size *= 2)
                for (size_t bytes = size - 1; bytes <= size + 1; bytes++)
                        for (int kind = 0; kind < 3; kind++) {
                                memset(text, kind == 1 ? '"' : 'b', sizeof(text));
                                if (kind == 2 && bytes > 0)
                                        text[bytes - 1] = '"';
                                check_again(text, bytes);
                        }
}

/* The cell of the first field of a row. */
static const char *kept(const char *row, enum ed_cell_format format)
{
        static struct ed_draft text;
        struct ed_csv_cursor cursor = ed_csv_walk(row, strlen(row));
        struct ed_csv_field field;

        CHECK_EQ(ed_csv_next(&cursor, &field), 1);
        ed_draft_fini(&text);
        ed_cell_add_field(&text, format, &field);
        ed_draft_add(&text, "", 1);
        CHECK(ed_draft_is_whole(&text));
        return text.data;
}

TEST(fields_of_the_input_are_kept_as_written)
{
        CHECK_STR(kept("1.0,b", ED_CELL_CSV), "1.0");
        CHECK_STR(kept("\"1.0\",b", ED_CELL_CSV), "\"1.0\"");
        CHECK_STR(kept(",b", ED_CELL_CSV), "");
        CHECK_STR(kept("\"\",b", ED_CELL_CSV), "\"\"");
        CHECK_STR(kept("\"a\"\"b\nc\",b", ED_CELL_CSV), "\"a\"\"b\nc\"");
        CHECK_STR(kept("5\" pipe,b", ED_CELL_CSV), "\"5\"\" pipe\"");
        CHECK_STR(kept("caf\xe9,b", ED_CELL_CSV), "caf\xe9");
        CHECK_STR(kept("\"a\"\"b\nc\",b", ED_CELL_JSON), "\"a\\\"b\\nc\"");
        CHECK_STR(kept(",b", ED_CELL_JSON), "\"\"");
}

TEST(cell_for_which_memory_is_short_marks_its_row)
{
        static const char *const texts[] = { "\"a \\\" string\"", "[1, 2]", "12" };
        struct eddy_json_value value;
        struct ed_draft row = { 0 };

        eddy_alloc_set(starve, NULL);
        for (size_t i = 0; i < 3; i++)
                for (int format = 0; format < 2; format++) {
                        CHECK_EQ(eddy_json_parse(texts[i], strlen(texts[i]), NULL, &value, NULL),
                                 0);
                        for (int left = 0;; left++) {
                                ed_draft_fini(&row);
                                row.failed = false;
                                allocations_left = left;
                                ed_cell_add_value(&row, (enum ed_cell_format) format, &value);
                                if (ed_draft_is_whole(&row))
                                        break;
                                CHECK(left < 10);
                        }
                        CHECK(row.bytes > 0);
                }
        ed_draft_fini(&row);
}
