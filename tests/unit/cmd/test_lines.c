/*
 * test_lines.c - lines and rows of CSV: the same ones however the input is split, lines of the
 * maximum and beyond, positions that cover the input, and no memory.
 */
#include "test.h"

#include "common/lines.h"
#include "eddy/alloc.h"
#include "starve.h"

enum { LINE_BYTES_MAX = 8, COLLECTED_MAX = 4096 };

/* Collects lines as "text|", and lines that are too long as "text>|". */
struct collected {
        char text[COLLECTED_MAX];
        size_t bytes;
        uint64_t next, number;
};

static void line_collect(struct collected *all, const struct ed_line *line)
{
        CHECK(all->bytes + line->bytes + 3 < sizeof(all->text));
        CHECK(line->bytes <= LINE_BYTES_MAX);
        if (line->bytes > 0)
                memcpy(all->text + all->bytes, line->data, line->bytes);
        all->bytes += line->bytes;
        if (line->is_too_long)
                all->text[all->bytes++] = '>';
        all->text[all->bytes++] = '|';
        all->text[all->bytes] = '\0';
        CHECK(line->offset == all->next || (all->number == 0 && line->offset == 3));
        CHECK(line->next >= line->offset + line->bytes);
        CHECK_EQ(line->number, ++all->number);
        all->next = line->next;
}

/* Feeds a first piece of 'first' bytes, then pieces of 'piece' bytes. */
static void lines_feed(const char *data, size_t bytes, size_t first, size_t piece, bool csv,
                       struct collected *all)
{
        struct ed_lines lines;
        struct ed_line line;
        size_t at = 0, n = first;

        *all = (struct collected){ 0 };
        ed_lines_init(&lines, LINE_BYTES_MAX, csv);
        while (at < bytes) {
                size_t room;
                char *to = ed_lines_room(&lines, &room);

                CHECK(to && room > 0);
                n = n < bytes - at ? n : bytes - at;
                n = n < room ? n : room;
                memcpy(to, data + at, n);
                ed_lines_grow(&lines, n);
                at += n;
                n = piece;
                while (ed_lines_next(&lines, false, &line))
                        line_collect(all, &line);
        }
        while (ed_lines_next(&lines, true, &line))
                line_collect(all, &line);
        CHECK_EQ(lines.offset, bytes);
        ed_lines_fini(&lines);
}

static void check_split(const char *data, size_t bytes, bool csv, const char *expected)
{
        static struct collected all;

        for (size_t piece = 1; piece <= bytes + 1; piece++) {
                lines_feed(data, bytes, piece, piece, csv, &all);
                CHECK_STR(all.text, expected);
                lines_feed(data, bytes, piece, bytes, csv, &all);
                CHECK_STR(all.text, expected);
        }
}

static void check_lines(const char *data, const char *expected)
{
        check_split(data, strlen(data), false, expected);
}

static void check_rows(const char *data, const char *expected)
{
        check_split(data, strlen(data), true, expected);
}

TEST(line_feed_or_crlf_or_the_end_ends_a_line)
{
        check_lines("a\nb\r\nc", "a|b|c|");
        check_lines("a\n", "a|");
        check_lines("a\r", "a|");
        check_lines("a\rb\n\n\r\n", "a\rb|||");
        check_lines("", "");
}

TEST(byte_order_mark_at_the_start_is_not_part_of_a_line)
{
        check_lines("\xef\xbb\xbf{}\n\xef\xbb\xbf\n", "{}|\xef\xbb\xbf|");
        check_lines("\xef\xbb\n", "\xef\xbb|");
        check_lines("\xef\xbb", "\xef\xbb|");
        check_lines("\xef\xbb\xbf\xef\xbb\xbf\n", "\xef\xbb\xbf|");
        check_lines("\xef\xbb\xbf", "");
        check_rows("\xef\xbb\xbf\"a\nb\"\n", "\"a\nb\"|");
}

TEST(line_of_the_maximum_passes_and_one_more_byte_does_not)
{
        check_lines("12345678\nx\n", "12345678|x|");
        check_lines("12345678\r\nx\n", "12345678|x|");
        check_lines("12345678\r", "12345678|");
        check_lines("123456789\nx\n", "12345678>|x|");
        check_lines("12345678\r9\nx\n", "12345678>|x|");
        check_lines("12345678\r\r\nx\n", "12345678>|x|");
        check_lines("123456789\r\nx\n", "12345678>|x|");
        check_lines("123456789", "12345678>|");
}

TEST(rest_of_a_line_that_is_too_long_is_skipped)
{
        check_lines("123456789abcdefghijklmnopqrstuvwxyz\nx\n123456789\n",
                    "12345678>|x|12345678>|");
        check_lines("123456789abcdefghijklmnopqrstuvwxyz", "12345678>|");
        check_rows("\"3456\n89\nabcdefgh\nijk\"\nx\n", "\"3456\n89>|x|");
}

TEST(line_feed_in_a_quoted_field_does_not_end_a_row)
{
        check_rows("a,\"b\nc\"\nd\n", "a,\"b\nc\"|d|");
        check_rows("\"\n\"\"\n\",\nx\n", "\"\n\"\"\n\",|x|");
        check_rows("\"a\r\nb\"\r\nx\r\n", "\"a\r\nb\"|x|");
        check_rows("a\n\"b\nc", "a|\"b\nc|");
}

TEST(quote_within_a_plain_field_opens_nothing)
{
        check_rows("5\" d\nx\n", "5\" d|x|");
        check_rows("a,5\"\"\nx\n", "a,5\"\"|x|");
        check_rows("\"a\"b\"\nx\n", "\"a\"b\"|x|");
        check_lines("\"a\nb\"\n", "\"a|b\"|");
}

TEST(buffer_grows_with_the_longest_line_and_not_beyond_the_maximum)
{
        enum { BIG = 1 << 20, PIECES = 40 };
        static const char piece[BIG / 8];
        struct ed_lines lines;
        struct ed_line line;
        size_t room, bytes = 0;

        ed_lines_init(&lines, BIG, false);
        for (int i = 0; i < PIECES; i++) {
                for (size_t at = 0; at < sizeof(piece); at += room) {
                        char *to = ed_lines_room(&lines, &room);

                        CHECK(to && room > 0);
                        room = room < sizeof(piece) - at ? room : sizeof(piece) - at;
                        memcpy(to, piece + at, room);
                        ed_lines_grow(&lines, room);
                        CHECK(!ed_lines_next(&lines, false, &line));
                        bytes += room;
                }
                CHECK(lines.room <= BIG + (64 << 10));
        }
        CHECK(ed_lines_next(&lines, true, &line));
        CHECK(line.is_too_long);
        CHECK_EQ(line.bytes, BIG);
        CHECK_EQ(line.next, bytes);
        CHECK(!ed_lines_next(&lines, true, &line));
        ed_lines_fini(&lines);
}

TEST(lack_of_memory_is_reported_and_loses_nothing)
{
        struct ed_lines lines;
        struct ed_line line;
        size_t room, held = 0;
        char *to;

        ed_lines_init(&lines, 1 << 20, false);
        CHECK(!ed_lines_next(&lines, true, &line));
        eddy_alloc_set(starve, NULL);
        allocations_left = 0;
        CHECK(!ed_lines_room(&lines, &room));
        allocations_left = 1;
        while ((to = ed_lines_room(&lines, &room))) {
                memset(to, 'x', room);
                ed_lines_grow(&lines, room);
                held += room;
                CHECK(!ed_lines_next(&lines, false, &line));
        }
        allocations_left = 1;
        to = ed_lines_room(&lines, &room);
        CHECK(to && room > 0);
        *to = '\n';
        ed_lines_grow(&lines, 1);
        CHECK(ed_lines_next(&lines, false, &line));
        CHECK_EQ(line.bytes, held);
        ed_lines_fini(&lines);
        allocations_left = -1;
        eddy_alloc_set(NULL, NULL);
}
