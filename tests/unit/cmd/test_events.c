/*
 * test_events.c - a stream of server-sent events gives the same events wherever it is split, with
 * each kind of line end, and hostile streams meet a limit.
 */
#include "test.h"

#include <errno.h>

#include "batch/stream/events.h"
#include "eddy/alloc.h"
#include "starve.h"

/* What the events of a stream were: "type|data\n" each. */
struct seen {
        char text[1024];
        size_t bytes;
        int count;
        int fails_at; /* the event, from 1, for which fn returns 7 */
};

static int event_note(void *arg, const char *type, const char *data, size_t bytes)
{
        struct seen *seen = arg;

        seen->bytes += (size_t) snprintf(seen->text + seen->bytes, sizeof(seen->text) - seen->bytes,
                                         "%s|%.*s\n", type, (int) bytes, data);
        CHECK(seen->bytes < sizeof(seen->text));
        seen->count++;
        return seen->count == seen->fails_at ? 7 : 0;
}

/* Gives the stream in two parts, and then byte by byte. */
static void check_events(const char *stream, const char *expected)
{
        size_t bytes = strlen(stream);

        for (size_t split = 0; split <= bytes + 1; split++) {
                struct ed_events events = { 0 };
                struct seen seen = { 0 };
                size_t first = split <= bytes ? split : 0, step = split <= bytes ? bytes : 1;

                CHECK_EQ(ed_events_take(&events, stream, first, event_note, &seen), 0);
                for (size_t at = first; at < bytes; at += step) {
                        size_t n = bytes - at < step ? bytes - at : step;
                        char *copy = eddy_malloc(n); /* so that a sanitizer sees one byte more */

                        CHECK(copy);
                        memcpy(copy, stream + at, n);
                        CHECK_EQ(ed_events_take(&events, copy, n, event_note, &seen), 0);
                        eddy_free(copy);
                }
                CHECK_STR(seen.text, expected);
                ed_events_fini(&events);
        }
}

TEST(events_are_the_same_wherever_the_stream_is_split)
{
        check_events("\xef\xbb\xbf"
                     "event: first\r\n: a comment\r\ndata: one\r\ndata:two\r\ndata:  three\r\n\r\n"
                     "id: 4\nretry: 5\nevent: dropped\n\ndata\ndata\n\ndata: [DONE]\n\n",
                     "first|one\ntwo\n three\n|\n\n|[DONE]\n");
}

TEST(line_ends_are_cr_or_lf_or_both)
{
        check_events("data: a\n\ndata: b\n\n", "|a\n|b\n");
        check_events("data: a\r\rdata: b\r\r", "|a\n|b\n");
        check_events("data: a\r\n\r\ndata: b\r\n\r\n", "|a\n|b\n");
        check_events("data: a\r\ndata: b\n\rdata: c\r\n\n", "|a\nb\n|c\n");
}

TEST(fields_have_exact_names_and_lose_one_space)
{
        check_events("data : no\nDATA: no\n data: no\ndatax: no\ndata:\n\n", "|\n");
        check_events("data:   x: y \nevent:  e\n\n", " e|  x: y \n");
        check_events("event: a\nevent: b\ndata: x\n\ndata: y\n\n", "b|x\n|y\n");
        check_events(":\n::\n:data: no\ndata: yes\n\n", "|yes\n");
}

TEST(event_without_an_empty_line_at_the_end_does_not_count)
{
        check_events("data: a\n\ndata: b\n", "|a\n");
        check_events("data: a\n\ndata: b", "|a\n");
        /* Only one mark, and only at the start. */
        check_events("\xef\xbb\xbf\xef\xbb\xbf"
                     "data: a\n\ndata: b\n\n",
                     "|b\n");
        check_events("\n\xef\xbb\xbf"
                     "data: a\n\ndata: b\n\n",
                     "|b\n");
}

TEST(result_of_the_function_ends_the_stream)
{
        struct ed_events events = { 0 };
        struct seen seen = { .fails_at = 2 };

        CHECK_EQ(
                ed_events_take(&events, "data: 1\n\ndata: 2\n\ndata: 3\n\n", 27, event_note, &seen),
                7);
        CHECK_EQ(seen.count, 2);
        CHECK_EQ(ed_events_take(&events, "data: 4\n\n", 9, event_note, &seen), 7);
        CHECK_EQ(seen.count, 2);
        ed_events_fini(&events);
}

static int bytes_note(void *arg, const char *type, const char *data, size_t bytes)
{
        *(size_t *) arg = bytes;
        return 0;
}

enum { BLOCK_BYTES = 1 << 20 };

TEST_ROOM(char, block, BLOCK_BYTES);

TEST(line_and_event_have_a_maximum)
{
        struct ed_events events = { 0 };
        size_t seen = 0;
        int err = 0, i;

        /* A line without an end. */
        memset(block, 'x', BLOCK_BYTES);
        CHECK_EQ(ed_events_take(&events, "data:", 5, bytes_note, &seen), 0);
        for (i = 0; err == 0 && i < 100; i++)
                err = ed_events_take(&events, block, BLOCK_BYTES, bytes_note, &seen);
        CHECK_EQ(err, -EMSGSIZE);
        CHECK_EQ(i, 64);
        CHECK_EQ(ed_events_take(&events, "\n\n", 2, bytes_note, &seen), -EMSGSIZE);
        ed_events_fini(&events);

        /* An event of many lines. */
        events = (struct ed_events){ 0 };
        memcpy(block, "\ndata:", 6);
        for (err = i = 0; err == 0 && i < 100; i++)
                err = ed_events_take(&events, block, BLOCK_BYTES, bytes_note, &seen);
        CHECK_EQ(err, -EMSGSIZE);
        CHECK(i >= 64 && i <= 66);
        ed_events_fini(&events);

        /* The largest line: the stream has its end. */
        events = (struct ed_events){ 0 };
        CHECK_EQ(ed_events_take(&events, "data:", 5, bytes_note, &seen), 0);
        memset(block, 'x', BLOCK_BYTES);
        for (i = 0; i < 63; i++)
                CHECK_EQ(ed_events_take(&events, block, BLOCK_BYTES, bytes_note, &seen), 0);
        CHECK_EQ(ed_events_take(&events, block, BLOCK_BYTES - 5, bytes_note, &seen), 0);
        CHECK_EQ(ed_events_take(&events, "\n\n", 2, bytes_note, &seen), 0);
        CHECK_EQ(seen, ED_EVENTS_BYTES_MAX - 5);
        ed_events_fini(&events);
}

TEST(stream_of_line_ends_takes_linear_time)
{
        enum { BYTES = 16 << 20 };
        struct ed_events events = { 0 };
        char *stream = eddy_malloc(BYTES);
        size_t seen = 0;

        CHECK(stream);
        memset(stream, '\r', BYTES);
        CHECK_EQ(ed_events_take(&events, stream, BYTES, bytes_note, &seen), 0);
        memset(stream, '\n', BYTES);
        CHECK_EQ(ed_events_take(&events, stream, BYTES, bytes_note, &seen), 0);
        ed_events_fini(&events);
        eddy_free(stream);
}

TEST(allocations_may_fail)
{
        static const char first[] = "event: e\nda", rest[] = "ta: x\ndata: y\n\n";

        eddy_alloc_set(starve, NULL);
        for (int n = 0; n < 3; n++) {
                struct ed_events events = { 0 };
                struct seen seen = { 0 };
                int err;

                allocations_left = n;
                err = ed_events_take(&events, first, sizeof(first) - 1, event_note, &seen);
                if (err == 0)
                        err = ed_events_take(&events, rest, sizeof(rest) - 1, event_note, &seen);
                CHECK_EQ(err, -ENOMEM);
                CHECK_EQ(seen.count, 0);
                ed_events_fini(&events);
        }
}
