/*
 * test_reader.c - a buffered reader: every split of its input, a cancel at each wait, tiny limits,
 * and ends in the middle.
 */
#include <errno.h>

#include "cancel_at.h"
#include "eddy/test.h"
#include "script.h"
#include "test.h"

enum { BUFFER = 64 };

/* Runs 'call' for an input in every split into up to three pieces, and byte by byte. */
static void for_each_split(const char *data, size_t bytes,
                           void (*call)(const char *data, size_t bytes, uint64_t cuts))
{
        CHECK(bytes <= 64);
        call(data, bytes, 0);
        call(data, bytes, UINT64_MAX);
        for (size_t i = 0; i < bytes; i++)
                for (size_t j = i; j < bytes; j++)
                        call(data, bytes, UINT64_C(1) << i | UINT64_C(1) << j);
}

static void run(eddy_task_fn *fn)
{
        int result = eddy_test_run(fn, NULL, NULL, NULL);

        CHECK_STR(result ? eddy_error_name(result) : "0", "0");
}

/* --- lines --- */

struct line {
        const char *text;
        size_t bytes;
};

/* The lines of an input, by another way. */
static size_t lines_of(const char *data, size_t bytes, struct line *lines)
{
        size_t n = 0;

        for (const char *at = data, *end = data + bytes; at < end; n++) {
                const char *stop = memchr(at, '\n', (size_t) (end - at));
                const char *next = stop ? stop + 1 : end;

                if (!stop)
                        stop = end;
                else if (stop > at && stop[-1] == '\r')
                        stop--;
                lines[n] = (struct line){ at, (size_t) (stop - at) };
                at = next;
        }
        return n;
}

static void read_lines(const char *data, size_t bytes, uint64_t cuts)
{
        struct script script;
        struct line wanted[BUFFER];
        size_t n = lines_of(data, bytes, wanted), line_bytes, total = 0;
        char buf[BUFFER], *line;
        eddy_reader reader;
        int64_t taken;

        script_init(&script, data, bytes, cuts);
        eddy_reader_init(&reader, &script.stream, buf, sizeof(buf));
        for (size_t i = 0; i < n; i++) {
                CHECK(!eddy_reader_is_at_end(&reader));
                taken = eddy_reader_line(&reader, &line, &line_bytes);
                CHECK(taken > 0);
                CHECK_EQ(line_bytes, wanted[i].bytes);
                CHECK(memcmp(line, wanted[i].text, line_bytes) == 0);
                CHECK_EQ(line[line_bytes], '\0');
                total += (size_t) taken;
                CHECK_EQ(taken == (int64_t) line_bytes, total == bytes && data[bytes - 1] != '\n');
        }
        CHECK_EQ(total, bytes);
        for (int i = 0; i < 2; i++)
                CHECK_EQ(eddy_reader_line(&reader, &line, &line_bytes), 0);
        CHECK(eddy_reader_is_at_end(&reader));
}

static int lines_in_any_pieces(void *arg)
{
        static const char nuls[] = "a\0b\n\0\n\0\0\r\n\r\r\n";

        (void) arg;
        for_each_split("one\r\ntwo\n\nthree\r\n", 17, read_lines);
        for_each_split("\n", 1, read_lines);
        for_each_split("\r\n", 2, read_lines);
        for_each_split("\r", 1, read_lines);
        for_each_split("a\rb\r\n\rc", 7, read_lines);
        for_each_split("no end", 6, read_lines);
        for_each_split(nuls, sizeof(nuls) - 1, read_lines);
        for_each_split("", 0, read_lines);
        return 0;
}

TEST(lines_are_found_whatever_the_pieces_they_arrive_in)
{
        run(lines_in_any_pieces);
}

/* --- separators --- */

static const char *separator;
static size_t separator_bytes;

static void read_messages(const char *data, size_t bytes, uint64_t cuts)
{
        struct script script;
        char buf[BUFFER];
        const char *got, *at = data, *end = data + bytes, *next;
        eddy_reader reader;

        script_init(&script, data, bytes, cuts);
        eddy_reader_init(&reader, &script.stream, buf, sizeof(buf));
        while ((next = memmem(at, (size_t) (end - at), separator, separator_bytes))) {
                next += separator_bytes;
                CHECK_EQ(eddy_reader_until(&reader, separator, separator_bytes, &got), next - at);
                CHECK(memcmp(got, at, (size_t) (next - at)) == 0);
                at = next;
        }
        /* What has no separator remains, however often it is asked for. */
        for (int i = 0; i < 2; i++)
                CHECK_EQ(eddy_reader_until(&reader, separator, separator_bytes, &got),
                         at == end ? 0 : EDDY_E_STREAM_ENDED);
        CHECK_EQ(eddy_reader_is_at_end(&reader), at == end);
        CHECK_EQ(eddy_reader_take(&reader, &got), end - at);
        CHECK(memcmp(got, at, (size_t) (end - at)) == 0);
        CHECK(eddy_reader_is_at_end(&reader));
}

static void messages(const char *data, size_t bytes, const char *sep, size_t sep_bytes)
{
        separator = sep;
        separator_bytes = sep_bytes;
        for_each_split(data, bytes, read_messages);
}

static int messages_in_any_pieces(void *arg)
{
        (void) arg;
        messages("a: b\r\nc: d\r\n\r\nrest\r\n\r", 21, "\r\n\r\n", 4);
        messages("aaaabaaabaab", 12, "aab", 3);
        messages("ababababcabab", 13, "ababc", 5);
        messages("\r\r\n\n\r\n\r\n\r\n", 10, "\r\n\r\n", 4);
        messages("x;y;;z", 6, ";", 1);
        messages("a\0b\0\0c\0\0\0", 9, "\0\0", 2);
        messages("aaaa", 4, "aa", 2);
        messages("ab", 2, "abc", 3);
        messages("", 0, "abc", 3);
        return 0;
}

/* A126: ST:test_readuntil_eof, ST:test_readuntil_multi_separator_negative_offset */
TEST(a_separator_is_found_across_reads_also_after_a_part_that_looked_like_it)
{
        run(messages_in_any_pieces);
}

/* --- fixed sizes --- */

static void read_sizes(const char *data, size_t bytes, uint64_t cuts)
{
        struct script script;
        char buf[8];
        const char *got;
        eddy_reader reader;
        size_t at = 0;

        script_init(&script, data, bytes, cuts);
        eddy_reader_init(&reader, &script.stream, buf, sizeof(buf));
        for (size_t n = 1; at + n <= bytes; at += n, n = n % 8 + 1) {
                CHECK_EQ(eddy_reader_exactly(&reader, n, &got), n);
                CHECK(memcmp(got, data + at, n) == 0);
        }
        for (int i = 0; i < 2; i++)
                CHECK_EQ(eddy_reader_exactly(&reader, 8, &got),
                         at == bytes ? 0 : EDDY_E_STREAM_ENDED);
        CHECK_EQ(eddy_reader_buffered(&reader), bytes - at);
        CHECK_EQ(eddy_reader_take(&reader, &got), bytes - at);
        CHECK(memcmp(got, data + at, bytes - at) == 0);
        CHECK_EQ(eddy_reader_exactly(&reader, 1, &got), 0);
}

static int sizes_in_any_pieces(void *arg)
{
        (void) arg;
        for_each_split("abcdefghijklmnopqrstuvwxyz0123456789", 36, read_sizes);
        for_each_split("abcdefghijklmnopqrstuvwxyz0123456789ABC", 39, read_sizes);
        for_each_split("", 0, read_sizes);
        return 0;
}

/* A126: ST:test_readexactly_eof */
TEST(a_fixed_size_is_read_whole_or_not_at_all)
{
        run(sizes_in_any_pieces);
}

/* Each way to take bytes, one after the other. */
static void read_all_ways(const char *data, size_t bytes, uint64_t cuts)
{
        struct script script;
        char buf[8], copy[4];
        const char *got;
        eddy_reader reader;
        uint64_t skipped = 99;
        size_t at;
        int64_t n;

        script_init(&script, data, bytes, cuts);
        eddy_reader_init(&reader, &script.stream, buf, sizeof(buf));
        n = eddy_reader_peek(&reader, 5, &got);
        CHECK(n >= 5 && n <= 8);
        CHECK(memcmp(got, data, (size_t) n) == 0);
        CHECK_EQ(eddy_reader_skip(&reader, 0, &skipped), 0);
        CHECK_EQ(skipped, 0);
        CHECK_EQ(eddy_reader_skip(&reader, 3, NULL), 0);
        CHECK_EQ(eddy_reader_exactly(&reader, 2, &got), 2);
        CHECK(memcmp(got, data + 3, 2) == 0);
        CHECK_EQ(eddy_reader_skip(&reader, 20, &skipped), 0);
        CHECK_EQ(skipped, 20);
        for (at = 25; (n = eddy_reader_read(&reader, copy, sizeof(copy))) > 0; at += (size_t) n)
                CHECK(memcmp(copy, data + at, (size_t) n) == 0);
        CHECK_EQ(n, 0);
        CHECK_EQ(at, bytes);
        CHECK_EQ(eddy_reader_peek(&reader, 1, &got), 0);
        CHECK_EQ(eddy_reader_skip(&reader, 1, &skipped), EDDY_E_STREAM_ENDED);
        CHECK_EQ(skipped, 0);
}

static int all_ways_in_any_pieces(void *arg)
{
        (void) arg;
        for_each_split("abcdefghijklmnopqrstuvwxyz0123456789", 36, read_all_ways);
        return 0;
}

TEST(peek_takes_nothing_skip_keeps_nothing_and_read_gives_the_bytes)
{
        run(all_ways_in_any_pieces);
}

static int skip_to_the_end(void *arg)
{
        struct script script;
        char buf[4];
        const char *got;
        eddy_reader reader;
        uint64_t skipped;

        (void) arg;
        script_init(&script, "0123456789", 10, 1 << 3);
        eddy_reader_init(&reader, &script.stream, buf, sizeof(buf));
        CHECK_EQ(eddy_reader_skip(&reader, UINT64_MAX, &skipped), EDDY_E_STREAM_ENDED);
        CHECK_EQ(skipped, 10);
        CHECK_EQ(eddy_reader_take(&reader, &got), 0);
        return 0;
}

TEST(a_skip_beyond_the_end_says_how_much_it_skipped)
{
        run(skip_to_the_end);
}

/* --- limits --- */

static void lines_at_the_limit(const char *data, size_t bytes, uint64_t cuts)
{
        struct script script;
        char buf[8], *line = NULL;
        const char *got;
        eddy_reader reader;
        size_t line_bytes = 99;

        script_init(&script, data, bytes, cuts);
        eddy_reader_init(&reader, &script.stream, buf, sizeof(buf));
        CHECK_EQ(eddy_reader_line(&reader, &line, &line_bytes), 8); /* "0123456\n" */
        CHECK_EQ(line_bytes, 7);
        line_bytes = 99;
        line = NULL;
        for (int i = 0; i < 2; i++)
                CHECK_EQ(eddy_reader_line(&reader, &line, &line_bytes), EDDY_E_STREAM_LIMIT);
        CHECK(line == NULL && line_bytes == 99);
        CHECK_EQ(eddy_reader_until(&reader, "\n", 1, &got), EDDY_E_STREAM_LIMIT);
        CHECK_EQ(eddy_reader_buffered(&reader), 8);
        CHECK_EQ(eddy_reader_exactly(&reader, 9, &got), EDDY_E_STREAM_LIMIT);
        CHECK_EQ(eddy_reader_peek(&reader, 9, &got), EDDY_E_STREAM_LIMIT);
        CHECK_EQ(eddy_reader_peek(&reader, 8, &got), 8);
        CHECK(memcmp(got, "abcdefgh", 8) == 0);
        /* Skip the rest of the line, as the header says. */
        while (eddy_reader_line(&reader, &line, &line_bytes) == EDDY_E_STREAM_LIMIT)
                CHECK_EQ(eddy_reader_take(&reader, &got), 8);
        CHECK_STR(line, "qr");
        CHECK_EQ(eddy_reader_line(&reader, &line, &line_bytes), 7);
        CHECK_STR(line, "last ll");
        CHECK_EQ(eddy_reader_line(&reader, &line, &line_bytes), 0);
}

static int limits_of_lines(void *arg)
{
        (void) arg;
        for_each_split("0123456\nabcdefghijklmnopqr\nlast ll", 34, lines_at_the_limit);
        return 0;
}

/* A125, A126: ST:test_readline_limit, ST:test_readuntil_limit_found_sep */
TEST(a_line_of_the_buffers_size_is_read_and_a_longer_one_stays_in_the_buffer)
{
        run(limits_of_lines);
}

static void separator_at_the_limit(const char *data, size_t bytes, uint64_t cuts)
{
        struct script script;
        char buf[8];
        const char *got;
        eddy_reader reader;

        script_init(&script, data, bytes, cuts);
        eddy_reader_init(&reader, &script.stream, buf, sizeof(buf));
        CHECK_EQ(eddy_reader_until(&reader, "--+", 3, &got), 8);
        CHECK(memcmp(got, data, 8) == 0);
        CHECK_EQ(eddy_reader_until(&reader, "--+", 3, &got), EDDY_E_STREAM_LIMIT);
        CHECK_EQ(eddy_reader_exactly(&reader, 8, &got), 8);
        CHECK(memcmp(got, data + 8, 8) == 0);
        CHECK_EQ(eddy_reader_until(&reader, "0123456789", 10, &got), EDDY_E_STREAM_ENDED);
        CHECK_EQ(eddy_reader_exactly(&reader, 1, &got), 1);
}

static int limits_of_separators(void *arg)
{
        (void) arg;
        /* The second message needs nine bytes. */
        for_each_split("abcde--+uvwxyz--+", 17, separator_at_the_limit);
        return 0;
}

TEST(a_message_ends_exactly_at_the_limit_or_one_byte_after_it)
{
        run(limits_of_separators);
}

static int bad_arguments(void *arg)
{
        struct script script;
        char buf[1], *line;
        const char *got;
        size_t bytes;
        eddy_reader reader;

        (void) arg;
        script_init(&script, "a\nb", 3, 0);
        eddy_reader_init(&reader, &script.stream, buf, sizeof(buf));
        CHECK_EQ(eddy_reader_read(&reader, buf, 0), -EINVAL);
        CHECK_EQ(eddy_reader_exactly(&reader, 0, &got), -EINVAL);
        CHECK_EQ(eddy_reader_peek(&reader, 0, &got), -EINVAL);
        CHECK_EQ(eddy_reader_until(&reader, "", 0, &got), -EINVAL);
        /* A buffer of one byte: no line but the empty one. */
        CHECK_EQ(eddy_reader_line(&reader, &line, &bytes), EDDY_E_STREAM_LIMIT);
        CHECK_EQ(eddy_reader_exactly(&reader, 1, &got), 1);
        CHECK_EQ(*got, 'a');
        CHECK_EQ(eddy_reader_line(&reader, &line, &bytes), 1);
        CHECK_EQ(bytes, 0);
        CHECK_EQ(eddy_reader_line(&reader, &line, &bytes), EDDY_E_STREAM_LIMIT);
        CHECK_EQ(eddy_reader_exactly(&reader, 1, &got), 1);
        CHECK_EQ(*got, 'b');
        CHECK_EQ(eddy_reader_line(&reader, &line, &bytes), 0);
        /* Without a buffer, only plain reads. */
        script_init(&script, "ab", 2, 1);
        eddy_reader_init(&reader, &script.stream, NULL, 0);
        CHECK_EQ(eddy_reader_exactly(&reader, 1, &got), EDDY_E_STREAM_LIMIT);
        CHECK_EQ(eddy_reader_line(&reader, &line, &bytes), EDDY_E_STREAM_LIMIT);
        CHECK_EQ(eddy_reader_read(&reader, buf, 1), 1);
        CHECK_EQ(buf[0], 'a');
        return 0;
}

TEST(zero_is_not_a_size_and_a_buffer_may_have_one_byte_or_none)
{
        run(bad_arguments);
}

/* --- errors and cancels --- */

struct call {
        eddy_reader *reader;
        int way;
        const char *got;
        uint64_t skipped;
};

enum { WAYS = 5 };

static int call_one(void *arg)
{
        struct call *call = arg;
        size_t bytes;
        char *line;

        switch (call->way) {
        case 0:
                return (int) eddy_reader_exactly(call->reader, 10, &call->got);
        case 1:
                return (int) eddy_reader_until(call->reader, "89", 2, &call->got);
        case 2:
                return (int) eddy_reader_line(call->reader, &line, &bytes);
        case 3:
                return (int) eddy_reader_peek(call->reader, 10, &call->got);
        default: {
                int err = eddy_reader_skip(call->reader, 10 - call->skipped, &call->skipped);

                return err < 0 ? err : 10;
        }
        }
}

/* What the call comes to in the end, after a cancel at its n-th wait. */
static void cancel_one(int way, int n, uint64_t cuts, bool *ret_reached)
{
        struct script script;
        char buf[16];
        const char *got;
        eddy_reader reader;
        struct call call = { &reader, way, NULL, 0 };
        int result;

        script_init(&script, "012345678\nrest", 14, cuts);
        if (way == 1)
                script.data = "0123456789rest";
        eddy_reader_init(&reader, &script.stream, buf, sizeof(buf));
        result = cancel_at(n, call_one, &call, ret_reached);
        if (*ret_reached && result == -ECANCELED) {
                uint64_t skipped = call.skipped;

                CHECK_EQ(eddy_reader_buffered(&reader) + skipped, script.at);
                CHECK(memcmp(buf, script.data + skipped, way == 4 ? 0 : script.at) == 0);
                result = call_one(&call);
        }
        CHECK_EQ(result >= 10, 1);
        if (way == 3)
                CHECK_EQ(eddy_reader_exactly(&reader, 10, &got), 10);
        CHECK_EQ(eddy_reader_exactly(&reader, 4, &got), 4);
        CHECK(memcmp(got, "rest", 4) == 0);
}

static int cancel_everywhere(void *arg)
{
        (void) arg;
        for (int way = 0; way < WAYS; way++) {
                bool reached = true;
                int n = 0;

                while (reached)
                        cancel_one(way, n++, UINT64_MAX, &reached);
                CHECK(n > 10);
                for (int cut = 0; cut < 14; cut++) {
                        reached = true;
                        for (n = 0; reached; n++)
                                cancel_one(way, n, UINT64_C(1) << cut, &reached);
                }
        }
        return 0;
}

/* A127: ST:test_exception_cancel */
TEST(a_cancelled_call_loses_no_byte_and_can_be_repeated)
{
        run(cancel_everywhere);
}

static int fails_in_the_middle(void *arg)
{
        struct script script;
        char buf[16], byte;
        const char *got;
        eddy_reader reader;

        (void) arg;
        script_init(&script, "half", 4, UINT64_MAX);
        script.error = -ECONNRESET;
        eddy_reader_init(&reader, &script.stream, buf, sizeof(buf));
        CHECK_EQ(eddy_reader_exactly(&reader, 10, &got), -ECONNRESET);
        CHECK_EQ(eddy_reader_until(&reader, "\n", 1, &got), -ECONNRESET);
        CHECK(!eddy_reader_is_at_end(&reader));
        CHECK_EQ(eddy_reader_exactly(&reader, 4, &got), 4);
        CHECK(memcmp(got, "half", 4) == 0);
        CHECK_EQ(eddy_reader_read(&reader, &byte, 1), -ECONNRESET);
        CHECK(!eddy_reader_is_at_end(&reader));
        return 0;
}

TEST(after_an_error_of_the_stream_the_bytes_before_it_can_be_taken)
{
        run(fails_in_the_middle);
}

static int reads_ten(void *arg)
{
        const char *got;

        CHECK_EQ(eddy_reader_exactly(arg, 10, &got), 10);
        return 0;
}

static int used_by_two(void *arg)
{
        struct script script;
        char buf[16], *line;
        const char *got;
        size_t bytes;
        eddy_reader reader;
        eddy_scope scope;

        (void) arg;
        script_init(&script, "0123456789", 10, UINT64_MAX);
        eddy_reader_init(&reader, &script.stream, buf, sizeof(buf));
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, reads_ten, &reader), 0);
        CHECK_EQ(eddy_sleep(EDDY_US(3500)), 0);
        CHECK_EQ(eddy_reader_read(&reader, buf, 1), -EBUSY);
        CHECK_EQ(eddy_reader_exactly(&reader, 1, &got), -EBUSY);
        CHECK_EQ(eddy_reader_until(&reader, "1", 1, &got), -EBUSY);
        CHECK_EQ(eddy_reader_line(&reader, &line, &bytes), -EBUSY);
        CHECK_EQ(eddy_reader_peek(&reader, 1, &got), -EBUSY);
        CHECK_EQ(eddy_reader_skip(&reader, 1, NULL), -EBUSY);
        CHECK_EQ(eddy_reader_take(&reader, &got), -EBUSY);
        CHECK_EQ(eddy_reader_buffered(&reader), 3);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_reader_take(&reader, &got), 0);
        return 0;
}

/* A125: one reader at a time. */
TEST(a_second_task_in_a_reader_is_refused_and_takes_nothing)
{
        run(used_by_two);
}

static int reads_a_byte(void *arg)
{
        const char *got;
        int64_t n = 1;

        while (n == 1)
                n = eddy_reader_exactly(arg, 1, &got);
        return (int) n;
}

static int counts_turns(void *arg)
{
        for (int *turns = arg; *turns < 1000; ++*turns)
                CHECK_EQ(eddy_sleep(0), 0);
        return 0;
}

static int is_fair(void *arg)
{
        static char buf[1000], data[1000];
        struct script script;
        eddy_reader reader;
        eddy_scope scope;
        int turns = 0;

        (void) arg;
        script_init(&script, data, sizeof(data), 0);
        eddy_reader_init(&reader, &script.stream, buf, sizeof(buf));
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, counts_turns, &turns), 0);
        CHECK_EQ(reads_a_byte(&reader), 0);
        CHECK(turns >= 1000 / 128);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        return 0;
}

TEST(calls_that_the_buffer_serves_give_way_to_other_tasks)
{
        run(is_fair);
}

static int taken_in_a_cancelled_task(void *arg)
{
        struct script script;
        char buf[16];
        const char *got;
        eddy_reader reader;
        eddy_scope scope;

        (void) arg;
        script_init(&script, "0123456789", 10, 0);
        eddy_reader_init(&reader, &script.stream, buf, sizeof(buf));
        CHECK_EQ(eddy_reader_exactly(&reader, 1, &got), 1);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_reader_exactly(&reader, 1, &got), -ECANCELED);
        CHECK_EQ(eddy_reader_take(&reader, &got), 9);
        CHECK(memcmp(got, "123456789", 9) == 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        return 0;
}

TEST(early_bytes_can_be_taken_even_in_a_cancelled_task)
{
        run(taken_in_a_cancelled_task);
}
