/*
 * test_urls.c - the list of URLs: what a line is, what is passed over, and
 * that the same lines come out however the bytes are split.
 */
#include "test.h"

#include "common/outcome.h"
#include "eddy/alloc.h"
#include "fetch/urls.h"

/* Collects lines as "url|" or "!error:url|". */
struct collected {
        char text[4096];
        size_t bytes;
        uint64_t offset;
};

static void collect(struct collected *all, const struct ed_urls_line *line)
{
        size_t shown = line->bytes < 100 ? line->bytes : 100;

        if (line->error == ED_E_LINE_TOO_LONG)
                all->text[all->bytes++] = '>';
        if (line->error == ED_E_LINE_NUL)
                all->text[all->bytes++] = '0';
        for (size_t i = 0; i < shown; i++)
                all->text[all->bytes++] = line->data[i] ? line->data[i] : '@';
        all->text[all->bytes++] = '|';
        all->text[all->bytes] = '\0';
        CHECK(line->offset >= all->offset);
        all->offset = line->offset;
}

/* Feeds 'data' in pieces of 'piece' bytes. */
static void feed(const char *data, size_t bytes, size_t piece, struct collected *all)
{
        struct ed_urls urls;
        struct ed_urls_line line;
        size_t at = 0;

        *all = (struct collected){ 0 };
        CHECK_EQ(ed_urls_init(&urls), 0);
        while (at < bytes) {
                size_t room;
                char *to = ed_urls_room(&urls, &room);
                size_t n = bytes - at < piece ? bytes - at : piece;

                CHECK(room > 0);
                if (n > room)
                        n = room;
                memcpy(to, data + at, n);
                ed_urls_grow(&urls, n);
                at += n;
                while (ed_urls_next(&urls, false, &line))
                        collect(all, &line);
        }
        while (ed_urls_next(&urls, true, &line))
                collect(all, &line);
        CHECK_EQ(urls.offset, bytes);
        ed_urls_fini(&urls);
}

static void check_lines(const char *data, size_t bytes, const char *expected)
{
        static struct collected all;

        for (size_t piece = 1; piece <= bytes + 1; piece++) {
                feed(data, bytes, piece, &all);
                CHECK_STR(all.text, expected);
        }
}

TEST(line_feed_or_both_or_the_end_ends_a_line)
{
        check_lines("a\nb\r\nc", 6, "a|b|c|");
        check_lines("a\n", 2, "a|");
        check_lines("a\r", 2, "a|");
        check_lines("", 0, "");
}

TEST(blank_lines_and_comments_are_passed_over)
{
        check_lines("\n\n# one\na\n  \n\t# two\r\n\r\nb#c\n#", 29, "a|b#c|");
}

TEST(blanks_around_a_url_are_taken_off)
{
        check_lines("  a \n\tb\t\r\n c d \n", 15, "a|b|c d|");
}

TEST(byte_order_mark_at_the_start_is_not_part_of_a_url)
{
        check_lines("\xef\xbb\xbf"
                    "a\n\xef\xbb\xbf"
                    "b\n",
                    10,
                    "a|\xef\xbb\xbf"
                    "b|");
}

TEST(nul_is_refused_in_its_line_only)
{
        check_lines("a\n\0b\nc\0d\ne\n", 11, "a|0@b|0c@d|e|");
}

TEST(line_of_the_maximum_passes_and_one_more_byte_does_not)
{
        size_t max = ED_URLS_LINE_BYTES_MAX;
        char *data = malloc(max + 16);
        struct ed_urls urls;
        struct ed_urls_line line;
        size_t room;

        CHECK(data);
        for (size_t extra = 0; extra < 2; extra++) {
                CHECK_EQ(ed_urls_init(&urls), 0);
                memset(data, '/', max + extra);
                memcpy(data + max + extra, "\r\ny\n", 4);
                memcpy(ed_urls_room(&urls, &room), data, max + extra + 4);
                ed_urls_grow(&urls, max + extra + 4);
                CHECK_EQ(ed_urls_next(&urls, false, &line), 1);
                CHECK_EQ(line.error, extra ? ED_E_LINE_TOO_LONG : 0);
                CHECK_EQ(line.bytes, extra ? (size_t) ED_URLS_SHOWN_BYTES_MAX : max);
                CHECK_EQ(ed_urls_next(&urls, false, &line), 1);
                CHECK_EQ(line.error, 0);
                CHECK_EQ(line.bytes, 1);
                CHECK_EQ(ed_urls_next(&urls, false, &line), 0);
                ed_urls_fini(&urls);
        }
        free(data);
}

/* The line is refused, and 'shown' bytes of it are shown. */
static void check_shown(const char *begin, size_t shown)
{
        const size_t bytes = 300;
        struct ed_urls_line line;
        struct ed_urls urls;
        size_t room;
        char *data;

        CHECK_EQ(ed_urls_init(&urls), 0);
        data = ed_urls_room(&urls, &room);
        CHECK(room > bytes);
        memset(data, 'x', bytes);
        memcpy(data, begin, strlen(begin));
        data[bytes - 3] = '\0'; /* not allowed in a line */
        data[bytes - 2] = '@';
        data[bytes - 1] = '\n';
        ed_urls_grow(&urls, bytes);
        CHECK_EQ(ed_urls_next(&urls, false, &line), 1);
        CHECK_EQ(line.error, ED_E_LINE_NUL);
        CHECK_EQ(line.bytes, shown);
        ed_urls_fini(&urls);
}

TEST(start_of_a_password_whose_end_is_cut_off_is_not_shown)
{
        check_shown("http://user:secret", 7);
        check_shown("user:secret", 0);
        check_shown("http://host/path", ED_URLS_SHOWN_BYTES_MAX);
        check_shown("http://user:secret@host", ED_URLS_SHOWN_BYTES_MAX); /* hidden later */
}

TEST(endless_line_is_refused_once_and_the_next_one_read)
{
        size_t bytes = 1000000;
        char *data = malloc(bytes + 4);
        static struct collected all;
        char expected[128];

        CHECK(data);
        memset(data, '/', bytes);
        memcpy(data + bytes, "\nok\n", 4);
        snprintf(expected, sizeof(expected), ">%.*s|ok|", 100, data);
        feed(data, bytes + 4, 4096, &all);
        CHECK_STR(all.text, expected);
        feed(data, bytes + 4, bytes, &all);
        CHECK_STR(all.text, expected);
        feed(data, bytes, 4096, &all); /* and no line feed at all */
        expected[102] = '\0';
        CHECK_STR(all.text, expected);
        data[0] = '#';
        feed(data, bytes + 4, 4096, &all);
        CHECK_STR(all.text, "ok|");
        memset(data, ' ', bytes - 1); /* something may come behind such a run of blanks */
        feed(data, bytes + 4, 4096, &all);
        CHECK_STR(all.text, ">|ok|");
        free(data);
}

static void check_hidden(const char *url, bool refused, const char *shown)
{
        char text[128];
        size_t bytes = strlen(url);

        memcpy(text, url, bytes + 1);
        bytes = ed_urls_hide_password(text, bytes, refused);
        text[bytes] = '\0';
        CHECK_STR(text, shown);
}

TEST(passwords_of_urls_are_not_shown)
{
        check_hidden("http://user:secret@host/a:b@c", false, "http://user:***@host/a:b@c");
        check_hidden("http://user:se@cret@host", false, "http://user:***@host");
        check_hidden("http://user:x@host/", false, "http://user:***@host/");
        check_hidden("http://user:@host/", false, "http://user:***@host/");
        check_hidden("http://user:***@host/", false, "http://user:***@host/");
        check_hidden("http://user@host:80/", false, "http://user@host:80/");
        check_hidden("http://host:80/x@y", false, "http://host:80/x@y");
        check_hidden("host:80/x", false, "host:80/x");
        check_hidden("http://", false, "http://");
}

TEST(nothing_before_the_at_of_a_refused_url_is_shown)
{
        check_hidden("no url at all: a@b", true, "***@b");
        check_hidden("user:secret@host/", true, "***@host/");
        check_hidden("http:/user:secret@host/", true, "***@host/");
        check_hidden("//user:se/cret@host/", true, "***@host/");
        check_hidden("http://u:sec/ret@host:1/", true, "http://***@host:1/");
        check_hidden("http://u:s?c#r@t@host:1/", true, "http://***@host:1/");
        check_hidden("http://@", true, "http://***@");
        check_hidden("http://***@host/", true, "http://***@host/");
        check_hidden("http://host:x/", true, "http://host:x/");
        check_hidden("", true, "");
}
