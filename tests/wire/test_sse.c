/*
 * test_sse.c - streams of server-sent events, whole and under every split.
 */
#include "eddy/error.h"
#include "test.h"
#include "wire/sse.h"

enum { OUT_BYTES = 2048, MAX = 1000 };

/* Append an event, or an error. */
static void describe(const struct ed_sse *sse, char *out)
{
        struct ed_sse_event event;
        size_t at = strlen(out);

        ed_sse_event(sse, &event);
        CHECK_EQ(event.data[event.data_bytes], '\0');
        at += (size_t) snprintf(out + at, OUT_BYTES - at, "[%s|", event.type);
        CHECK(at + event.data_bytes + 4 < OUT_BYTES);
        for (size_t i = 0; i < event.data_bytes; i++)
                out[at++] = event.data[i] == '\n' ? '/' : event.data[i] ? event.data[i] : '0';
        snprintf(out + at, OUT_BYTES - at, "|%s]", event.id);
}

/* Feed a piece, in memory of its own size. Returns 0 or an error. */
static int feed(struct ed_sse *sse, const char *text, size_t bytes, char *out)
{
        char *exact = malloc(bytes > 0 ? bytes : 1);
        size_t at = 0;
        bool is_event;
        int64_t n = 0;

        CHECK(exact);
        memcpy(exact, text, bytes);
        while (at < bytes && n >= 0) {
                n = ed_sse_read(sse, exact + at, bytes - at, &is_event);
                CHECK(n != 0);
                if (n > 0)
                        at += (size_t) n;
                if (n > 0 && is_event)
                        describe(sse, out);
                if (n > 0 && !is_event)
                        CHECK_EQ(at, bytes);
        }
        free(exact);
        return n < 0 ? (int) n : 0;
}

/* The events of a text that is cut at two places. */
static int events_of(const char *text, size_t bytes, size_t first, size_t second, size_t max,
                     char out[OUT_BYTES], int64_t *ret_retry_ms)
{
        struct ed_sse sse;
        int err;

        *out = '\0';
        ed_sse_init(&sse, max);
        err = feed(&sse, text, first, out);
        if (err == 0)
                err = feed(&sse, text + first, second - first, out);
        if (err == 0)
                err = feed(&sse, text + second, bytes - second, out);
        *ret_retry_ms = sse.retry_ms;
        ed_sse_fini(&sse);
        return err;
}

static void check_bytes(const char *text, size_t bytes, const char *expected, int64_t retry_ms)
{
        char out[OUT_BYTES];
        int64_t retry;

        for (size_t first = 0; first <= bytes; first++)
                for (size_t second = first; second <= bytes; second++) {
                        CHECK_EQ(events_of(text, bytes, first, second, MAX, out, &retry), 0);
                        CHECK_STR(out, expected);
                        CHECK_EQ(retry, retry_ms);
                }
}

static void check(const char *text, const char *expected)
{
        check_bytes(text, strlen(text), expected, -1);
}

TEST(lines_of_data_are_joined)
{
        check("data: a\n\n", "[message|a|]");
        check("data: a\ndata:b\ndata:  c\n\n", "[message|a/b/ c|]");
        check("data: YHOO\ndata: +2\ndata: 10\n\n", "[message|YHOO/+2/10|]");
        check("data\n\ndata\ndata\n\ndata:", "[message||][message|/|]");
        check("data:test\n\ndata: test\n\n", "[message|test|][message|test|]");
        check(": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third "
              "event\n",
              "[message|first event|1][message|second event|]");
}

TEST(line_ends_in_lf_cr_or_both)
{
        check("data: a\r\rdata: b\r\n\r\ndata: c\n\n", "[message|a|][message|b|][message|c|]");
        check("data: a\r\ndata: b\r\n\r\n", "[message|a/b|]");
        check("data: a\n\rdata: b\n\n", "[message|a|][message|b|]");
        check("data: a\r\r\ndata: b\r\n\n", "[message|a|][message|b|]");
        check("\r\n\r\n\n\n\r\rdata: a\n\n\n\n", "[message|a|]");
}

TEST(event_ends_at_the_cr_of_its_empty_line)
{
        char out[OUT_BYTES] = "";
        struct ed_sse sse;

        ed_sse_init(&sse, MAX);
        CHECK_EQ(feed(&sse, "data: a\r\n\r", 10, out), 0);
        CHECK_STR(out, "[message|a|]");
        CHECK_EQ(feed(&sse, "\ndata: b\r\r", 10, out), 0);
        CHECK_STR(out, "[message|a|][message|b|]");
        ed_sse_fini(&sse);
}

TEST(byte_order_mark_is_skipped_at_the_start_only)
{
        check("\xEF\xBB\xBF"
              "data: a\n\n",
              "[message|a|]");
        check("\xEF\xBB\xBF: comment\ndata: a\n\n", "[message|a|]");
        check("\xEF\xBB\xBF\xEF\xBB\xBF"
              "data: a\n\ndata: b\n\n",
              "[message|b|]");
        check("data: a\n\n\xEF\xBB\xBF"
              "data: b\n\n",
              "[message|a|]");
        check("\xEF\xBB"
              "data: a\ndata: b\n\n",
              "[message|b|]");
        check("\xEF\ndata: b\n\n", "[message|b|]");
        check("\xEF\xBB:x\ndata: b\n\n", "[message|b|]");
}

TEST(comments_and_unknown_fields_are_skipped)
{
        check(":\n: data: a\n:::\ndata: b\n:c\n\n", "[message|b|]");
        check("Data: a\n data: b\ndata : c\ndatas: d\ndat: e\n\nfoo\n\ndata: f\n\n",
              "[message|f|]");
        check("id: 1\n: \n\ndata: b\n\n", "[message|b|1]");
}

TEST(type_is_that_of_its_event_only)
{
        check("event: a\ndata: 1\n\ndata: 2\n\n", "[a|1|][message|2|]");
        check("event: a\n\ndata: 2\n\n", "[message|2|]");
        check("event: a\nevent:b \ndata: 1\n\nevent: c\nevent\ndata: 2\n\n", "[b |1|][message|2|]");
}

TEST(id_is_kept_and_counts_when_its_event_is_complete)
{
        static const char with_nul[] = "id: 1\0002\nid: 3\nid: \0\ndata: a\n\n";
        struct ed_sse sse;
        char out[OUT_BYTES] = "";

        check("id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n",
              "[message|a|1][message|b|1][message|c|]");
        check("id: 1\n\ndata: b\n\n", "[message|b|1]");
        check_bytes(with_nul, sizeof(with_nul) - 1, "[message|a|3]", -1);
        ed_sse_init(&sse, MAX);
        CHECK_STR(ed_sse_last_id(&sse), "");
        CHECK_EQ(ed_sse_set_last_id(&sse, "x"), 0);
        CHECK_EQ(feed(&sse, "id: 1\ndata: a\n", 14, out), 0);
        CHECK_STR(ed_sse_last_id(&sse), "x");
        ed_sse_restart(&sse);
        CHECK_EQ(feed(&sse, "data: b\n\nid: 2\nid: 3\n\nid: 4\r", 29, out), 0);
        CHECK_STR(out, "[message|b|x]");
        CHECK_STR(ed_sse_last_id(&sse), "3");
        ed_sse_restart(&sse);
        CHECK_EQ(feed(&sse,
                      "\xEF\xBB\xBF"
                      "data: c\n\n",
                      12, out),
                 0);
        CHECK_STR(out, "[message|b|x][message|c|3]");
        ed_sse_fini(&sse);
}

static void check_retry(const char *text, int64_t retry_ms)
{
        check_bytes(text, strlen(text), "", retry_ms);
}

TEST(retry_has_digits_only)
{
        check_retry("retry: 1000\n", 1000);
        check_retry("retry:0\n", 0);
        check_retry("retry: 5\nretry: 10x\nretry:  7\nretry: -1\nretry\nretry:\nretry: +8\n", 5);
        check_retry("retry: 1.5\n", -1);
        check_retry("retry: 9223372036854775807\n", INT64_MAX);
        check_retry("retry: 99999999999999999999999\n", INT64_MAX);
        check_retry("retry: 9223372036854775808\n", INT64_MAX);
}

TEST(event_without_its_empty_line_is_not_given)
{
        check("data: a\n\ndata: b\n", "[message|a|]");
        check("data: a", "");
        check("data: a\r\n", "");
}

TEST(bytes_of_any_value_are_data)
{
        check_bytes("data: a\0b\xFF\x01\n\n", 13, "[message|a0b\xFF\x01|]", -1);
}

/* Line, data and type together. */
TEST(event_has_a_largest_size)
{
        static const struct {
                const char *text;
                size_t bytes;
        } cases[] = {
                { "data: 12345678\n\n", 14 },       { "event: 123\ndata: 1\n\n", 4 + 7 },
                { "data\ndata\ndata\n\n", 4 + 2 },  { "data: 1\ndata: 12\n\n", 2 + 8 },
                { "unknown: field\ndata\n\n", 14 },
        };
        char out[OUT_BYTES];
        int64_t retry;

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                size_t n = strlen(cases[i].text);

                for (size_t cut = 0; cut <= n; cut++) {
                        CHECK_EQ(events_of(cases[i].text, n, cut, cut, cases[i].bytes, out, &retry),
                                 0);
                        CHECK(*out == '[');
                        CHECK_EQ(events_of(cases[i].text, n, cut, cut, cases[i].bytes - 1, out,
                                           &retry),
                                 EDDY_E_HTTP_TOO_LARGE);
                }
        }
}

TEST(long_comments_and_many_events_need_no_memory)
{
        char out[OUT_BYTES] = "";
        struct ed_sse sse;

        ed_sse_init(&sse, 20);
        CHECK_EQ(feed(&sse, ":", 1, out), 0);
        for (int i = 0; i < 100; i++)
                CHECK_EQ(feed(&sse, "0123456789", 10, out), 0);
        CHECK_EQ(ed_buf_bytes(&sse.line), 0);
        for (int i = 0; i < 1000; i++) {
                *out = '\0';
                CHECK_EQ(feed(&sse, "\ndata: 123\nid: 4\n\n", 18, out), 0);
                CHECK_STR(out, "[message|123|4]");
        }
        CHECK(sse.data.room < 4096 && sse.id.room < 4096);
        ed_sse_fini(&sse);
}
