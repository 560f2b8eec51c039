/*
 * test_copy.c - copying from one stream to another: in any pieces, cancelled anywhere, and when one
 * side fails.
 */
#include <errno.h>

#include "cancel_at.h"
#include "eddy/test.h"
#include "script.h"
#include "test.h"

static void run(eddy_task_fn *fn)
{
        int result = eddy_test_run(fn, NULL, NULL, NULL);

        CHECK_STR(result ? eddy_error_name(result) : "0", "0");
}

static const char text[] = "abcdefghijklmnopqrstuvwxyz0123456789";

enum { BYTES = sizeof(text) - 1 };

static void check_taken(const struct script *to, size_t bytes)
{
        CHECK_EQ(to->taken_bytes, bytes);
        CHECK(memcmp(to->taken, text, bytes) == 0);
        CHECK_EQ(to->held, 0);
}

static int in_any_pieces(void *arg)
{
        struct eddy_stream_copied copied;
        struct script from, to;

        (void) arg;
        for (size_t piece = 0; piece < 8; piece++) {
                for (size_t max = 0; max < BYTES + 3; max++) {
                        uint64_t wanted = max < BYTES ? max : BYTES;

                        script_init(&from, text, BYTES, 0x8421248124842112);
                        script_init(&to, NULL, 0, 0);
                        to.piece_max = piece;
                        CHECK_EQ(eddy_stream_copy(&from.stream, &to.stream, max, &copied), 0);
                        CHECK_EQ(copied.bytes, wanted);
                        CHECK_EQ(copied.dropped, 0);
                        check_taken(&to, wanted);
                        CHECK_EQ(from.at, wanted);
                }
        }
        script_init(&from, text, BYTES, UINT64_MAX);
        script_init(&to, NULL, 0, 0);
        CHECK_EQ(eddy_stream_copy(&from.stream, &to.stream, UINT64_MAX, NULL), 0);
        check_taken(&to, BYTES);
        return 0;
}

TEST(a_copy_ends_with_the_source_or_at_its_maximum_and_reads_no_byte_more)
{
        run(in_any_pieces);
}

static int begins_with_the_buffer(void *arg)
{
        struct eddy_stream_copied copied;
        struct script from, to;
        char buf[16];
        const char *got;
        eddy_reader reader;

        (void) arg;
        script_init(&from, text, BYTES, 1 << 9 | 1 << 11);
        script_init(&to, NULL, 0, 0);
        eddy_reader_init(&reader, &from.stream, buf, sizeof(buf));
        CHECK_EQ(eddy_reader_peek(&reader, 1, &got), 10);
        CHECK_EQ(eddy_reader_copy(&reader, &to.stream, 4, &copied), 0);
        CHECK_EQ(copied.bytes, 4);
        check_taken(&to, 4);
        CHECK_EQ(eddy_reader_buffered(&reader), 6);
        CHECK_EQ(eddy_reader_copy(&reader, &to.stream, 0, &copied), 0);
        CHECK_EQ(copied.bytes, 0);
        CHECK_EQ(eddy_reader_copy(&reader, &to.stream, UINT64_MAX, NULL), 0);
        check_taken(&to, BYTES);
        CHECK(eddy_reader_is_at_end(&reader));
        return 0;
}

TEST(a_copy_from_a_reader_begins_with_its_buffer)
{
        run(begins_with_the_buffer);
}

/* A destination like TLS: before the next read, what it holds has gone. */
static int held_until_flushed(void *arg)
{
        struct script from, to;

        (void) arg;
        script_init(&from, text, BYTES, 1 << 9);
        script_init(&to, NULL, 0, 0);
        to.holds = true;
        CHECK_EQ(eddy_stream_copy(&from.stream, &to.stream, 10, NULL), 0);
        check_taken(&to, 10);
        CHECK_EQ(eddy_stream_copy(&from.stream, &to.stream, UINT64_MAX, NULL), 0);
        CHECK_EQ(to.held, 0);
        CHECK_EQ(to.taken_bytes, BYTES);
        return 0;
}

TEST(bytes_that_the_destination_holds_are_passed_on_before_the_next_read)
{
        run(held_until_flushed);
}

static int says_which_side(void *arg)
{
        struct eddy_stream_copied copied;
        struct script from, to;
        char buf[16];
        eddy_reader reader;

        (void) arg;
        script_init(&from, text, BYTES, 1 << 9);
        from.error = -ECONNRESET;
        script_init(&to, NULL, 0, 0);
        CHECK_EQ(eddy_stream_copy(&from.stream, &to.stream, UINT64_MAX, &copied), -ECONNRESET);
        CHECK_EQ(copied.failed, EDDY_STREAM_READING);
        CHECK_EQ(copied.bytes, BYTES);
        CHECK_EQ(copied.dropped, 0);

        script_init(&from, text, BYTES, 1 << 9);
        script_init(&to, NULL, 0, 0);
        to.write_error = -EPIPE;
        to.write_error_at = to.piece_max = 4;
        CHECK_EQ(eddy_stream_copy(&from.stream, &to.stream, UINT64_MAX, &copied), -EPIPE);
        CHECK_EQ(copied.failed, EDDY_STREAM_WRITING);
        CHECK_EQ(copied.bytes, 4);
        CHECK_EQ(copied.dropped, 6);

        script_init(&from, text, BYTES, 1 << 9);
        script_init(&to, NULL, 0, 0);
        to.write_error = -EPIPE;
        to.write_error_at = to.piece_max = 4;
        eddy_reader_init(&reader, &from.stream, buf, sizeof(buf));
        CHECK_EQ(eddy_reader_copy(&reader, &to.stream, UINT64_MAX, &copied), -EPIPE);
        CHECK_EQ(copied.bytes, 4);
        CHECK_EQ(copied.dropped, 0);
        CHECK_EQ(eddy_reader_buffered(&reader), 6);
        CHECK(memcmp(buf + 4, text + 4, 6) == 0);
        return 0;
}

TEST(a_copy_that_fails_says_how_far_it_came_and_which_side_failed)
{
        run(says_which_side);
}

/* --- cancels --- */

struct copy {
        struct script from, to;
        eddy_reader reader;
        struct eddy_stream_copied copied;
};

static int copy_streams(void *arg)
{
        struct copy *copy = arg;

        return eddy_stream_copy(&copy->from.stream, &copy->to.stream, UINT64_MAX, &copy->copied);
}

static int copy_reader(void *arg)
{
        struct copy *copy = arg;

        return eddy_reader_copy(&copy->reader, &copy->to.stream, UINT64_MAX, &copy->copied);
}

static void copy_init(struct copy *copy, char *buf, size_t bytes)
{
        script_init(&copy->from, text, BYTES, 0x8421248124842112);
        script_init(&copy->to, NULL, 0, 0);
        copy->to.piece_max = 3;
        copy->to.holds = true;
        eddy_reader_init(&copy->reader, &copy->from.stream, buf, bytes);
}

static int cancelled_anywhere(void *arg)
{
        static struct copy copy;
        uint64_t before;
        bool reached = true;
        char buf[5];

        (void) arg;
        for (int n = 0; reached; n++) {
                copy_init(&copy, buf, sizeof(buf));
                if (cancel_at(n, copy_streams, &copy, &reached) == -ECANCELED) {
                        CHECK(reached);
                        CHECK_EQ(copy.to.taken_bytes, copy.copied.bytes);
                        CHECK_EQ(copy.from.at, copy.copied.bytes + copy.copied.dropped);
                }
        }
        reached = true;
        for (int n = 0; reached; n++) {
                copy_init(&copy, buf, sizeof(buf));
                before = 0;
                if (cancel_at(n, copy_reader, &copy, &reached) == -ECANCELED) {
                        before = copy.copied.bytes;
                        CHECK_EQ(copy.to.taken_bytes, before);
                        CHECK_EQ(copy_reader(&copy), 0);
                }
                CHECK_EQ(before + copy.copied.bytes, BYTES);
                check_taken(&copy.to, BYTES);
        }
        return 0;
}

TEST(a_cancelled_copy_counts_each_byte_and_one_from_a_reader_continues)
{
        run(cancelled_anywhere);
}

static int without_memory(void *arg)
{
        struct eddy_stream_copied copied = { .bytes = 99 };
        struct script from, to;

        (void) arg;
        script_init(&from, text, BYTES, 0);
        script_init(&to, NULL, 0, 0);
        CHECK_EQ(eddy_stream_copy(&from.stream, &to.stream, UINT64_MAX, &copied), -ENOMEM);
        CHECK_EQ(copied.bytes, 0);
        CHECK_EQ(from.at, 0);
        return 0;
}

TEST(a_copy_without_memory_reads_nothing)
{
        struct eddy_test_opts opts = { .alloc_at = 1, .alloc_forever = 1 };
        struct eddy_test_result result;
        int err = -ENOMEM;

        /* The first allocations are the run's own. */
        while (err == -ENOMEM) {
                err = eddy_test_run(without_memory, NULL, &opts, &result);
                opts.alloc_at++;
                CHECK(opts.alloc_at < 100);
        }
        CHECK_EQ(err, 0);
}
