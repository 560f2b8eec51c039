/*
 * test_writer.c - a buffered writer: every size of buffer, piece and write; a cancel at each wait;
 * errors in each place.
 *
 * - The stream gets the pieces in order, each byte once; a piece that was refused gets there whole or
 *   not at all.
 * - After a cancel the buffer has the bytes that the stream has not taken.
 */
#include <errno.h>

#include "cancel_at.h"
#include "eddy/eddy.h"
#include "eddy/test.h"
#include "test.h"

enum { TEXT_MAX = 4096 };

/* A stream that takes at most 'at_once' bytes in a write (0: any), and waits before each but the first. */
struct sink {
        struct eddy_stream stream;
        char taken[TEXT_MAX];
        size_t bytes, at_once;
        size_t error_at; /* 'error' follows this many bytes */
        int error;
        int writes, slices; /* slices of the last write */
        const void *last;   /* the data of its last slice */
        bool waits, has_room, holds;
};

static int64_t sink_try_writev(eddy_stream *stream, const struct eddy_slice *slices, size_t n)
{
        struct sink *sink = (struct sink *) stream;
        size_t room = sink->at_once ? sink->at_once : TEXT_MAX, taken = 0;

        if (sink->error && sink->bytes >= sink->error_at)
                return sink->error;
        if (sink->waits && !sink->has_room)
                return -EAGAIN;
        if (sink->error && room > sink->error_at - sink->bytes)
                room = sink->error_at - sink->bytes;
        sink->has_room = false;
        sink->writes++;
        sink->slices = (int) n;
        sink->last = slices[n - 1].data;
        for (size_t i = 0; i < n && taken < room; i++) {
                size_t bytes = slices[i].bytes < room - taken ? slices[i].bytes : room - taken;

                CHECK(sink->bytes + bytes <= TEXT_MAX);
                memcpy(sink->taken + sink->bytes, slices[i].data, bytes);
                sink->bytes += bytes;
                taken += bytes;
        }
        return (int64_t) taken;
}

static int sink_flush(eddy_stream *stream)
{
        struct sink *sink = (struct sink *) stream;

        if (!sink->holds)
                return 0;
        if (!sink->has_room)
                return -EAGAIN;
        sink->holds = sink->has_room = false;
        return 0;
}

static int sink_wait(eddy_stream *stream, enum eddy_stream_side side)
{
        struct sink *sink = (struct sink *) stream;
        int err = eddy_sleep(EDDY_MS(1));

        CHECK_EQ(side, EDDY_STREAM_WRITING);
        if (err == 0)
                sink->has_room = true;
        return err;
}

static const struct eddy_stream_ops sink_ops = {
        .kind = "sink", .try_writev = sink_try_writev, .flush = sink_flush, .wait = sink_wait
};

/* In the caller's memory; never closed. */
static void sink_init(struct sink *sink, size_t at_once, bool waits)
{
        memset(sink, 0, sizeof(*sink));
        sink->stream.ops = &sink_ops;
        sink->at_once = at_once;
        sink->waits = waits;
}

static void run(eddy_task_fn *fn)
{
        int result = eddy_test_run(fn, NULL, NULL, NULL);

        CHECK_STR(result ? eddy_error_name(result) : "0", "0");
}

static char letter(size_t i)
{
        return (char) ('a' + i % 23);
}

/* Bytes 'at' and following of the text that is written. */
static void letters(char *to, size_t at, size_t bytes)
{
        for (size_t i = 0; i < bytes; i++)
                to[i] = letter(at + i);
}

/* The stream and then the buffer have exactly 'bytes' bytes of the text. */
static void check_kept(const struct sink *sink, const eddy_writer *writer, size_t bytes)
{
        CHECK_EQ(sink->bytes + eddy_writer_buffered(writer), bytes);
        for (size_t i = 0; i < sink->bytes; i++)
                CHECK_EQ(sink->taken[i], letter(i));
        for (size_t i = sink->bytes; i < bytes; i++)
                CHECK_EQ(writer->buf[writer->begin + i - sink->bytes], letter(i));
}

/* ---- pieces ---------------------------------------------------------------- */

enum { SIZE_MAX_TRIED = 9, PIECE_MAX_TRIED = 12 };

static void write_pieces(size_t size, size_t piece, size_t at_once)
{
        static struct sink sink;
        char data[PIECE_MAX_TRIED], *buf = malloc(size + (size == 0));
        eddy_writer writer;
        size_t total = 0;

        CHECK(buf != NULL); /* of the exact size: ASan sees a write after it */
        sink_init(&sink, at_once, at_once % 2);
        eddy_writer_init(&writer, &sink.stream, buf, size);
        for (size_t i = 0; i < 5; i++) {
                size_t bytes = i % 2 ? piece : (piece + i) % PIECE_MAX_TRIED;

                letters(data, total, bytes);
                CHECK_EQ(eddy_writer_write(&writer, data, bytes), 0);
                total += bytes;
                CHECK(eddy_writer_buffered(&writer) <= size);
                check_kept(&sink, &writer, total);
        }
        CHECK_EQ(eddy_writer_flush(&writer), 0);
        CHECK_EQ(eddy_writer_buffered(&writer), 0);
        check_kept(&sink, &writer, total);
        free(buf);
}

static int write_all_sizes(void *arg)
{
        for (size_t size = 0; size <= SIZE_MAX_TRIED; size++)
                for (size_t piece = 0; piece < PIECE_MAX_TRIED; piece++)
                        for (size_t at_once = 0; at_once <= 4; at_once++)
                                write_pieces(size, piece, at_once);
        return arg == NULL ? 0 : -EINVAL;
}

TEST(pieces_of_each_size_arrive_in_order)
{
        run(write_all_sizes);
}

static int write_small(void *arg)
{
        static struct sink sink;
        char buf[64], data[64];
        eddy_writer writer;

        sink_init(&sink, 0, false);
        eddy_writer_init(&writer, &sink.stream, buf, sizeof(buf));
        letters(data, 0, 64);
        for (size_t i = 0; i < 64; i++)
                CHECK_EQ(eddy_writer_write(&writer, data + i, 1), 0);
        CHECK_EQ(sink.writes, 0);
        check_kept(&sink, &writer, 64);
        CHECK_EQ(eddy_writer_flush(&writer), 0);
        CHECK_EQ(sink.writes, 1);
        CHECK_EQ(eddy_writer_flush(&writer), 0);
        CHECK_EQ(sink.writes, 1);
        return arg == NULL ? 0 : -EINVAL;
}

TEST(many_small_pieces_are_one_write)
{
        run(write_small);
}

static int write_large(void *arg)
{
        static struct sink sink;
        char buf[16], data[100];
        eddy_writer writer;

        sink_init(&sink, 0, false);
        eddy_writer_init(&writer, &sink.stream, buf, sizeof(buf));
        letters(data, 0, sizeof(data));
        CHECK_EQ(eddy_writer_write(&writer, data, 10), 0);
        CHECK_EQ(eddy_writer_write(&writer, data + 10, 90), 0);
        CHECK_EQ(sink.writes, 1);
        CHECK_EQ(sink.slices, 2);
        CHECK(sink.last == data + 10); /* not copied */
        check_kept(&sink, &writer, 100);
        CHECK_EQ(eddy_writer_buffered(&writer), 0);
        return arg == NULL ? 0 : -EINVAL;
}

TEST(a_large_piece_is_written_with_the_buffer_without_a_copy)
{
        run(write_large);
}

/* ---- formatted text -------------------------------------------------------- */

static int print_some(void *arg)
{
        static struct sink sink;
        char *buf = malloc(8);
        eddy_writer writer;

        CHECK(buf != NULL);
        sink_init(&sink, 3, true);
        eddy_writer_init(&writer, &sink.stream, buf, 8);
        CHECK_EQ(eddy_writer_printf(&writer, "%s", ""), 0);
        CHECK_EQ(eddy_writer_printf(&writer, "%d,", 12), 0);
        CHECK_EQ(eddy_writer_printf(&writer, "%s", "abcd"), 0);
        CHECK_EQ(sink.bytes, 0);
        CHECK_EQ(eddy_writer_printf(&writer, "%c", '!'), 0); /* its NUL has no room */
        CHECK_EQ(sink.bytes, 7);
        CHECK_EQ(eddy_writer_printf(&writer, "%s", "1234567"), 0);
        CHECK_EQ(sink.bytes, 8);
        CHECK_EQ(eddy_writer_flush(&writer), 0);
        CHECK_EQ(sink.bytes, 15);
        CHECK(memcmp(sink.taken, "12,abcd!1234567", 15) == 0);
        free(buf);
        return arg == NULL ? 0 : -EINVAL;
}

TEST(texts_are_formatted_in_the_buffer)
{
        run(print_some);
}

static int print_too_long(void *arg)
{
        static const wchar_t no_character[] = { 0x7fffffff, 0 };
        static struct sink sink;
        char buf[8];
        eddy_writer writer;

        sink_init(&sink, 0, false);
        eddy_writer_init(&writer, &sink.stream, buf, sizeof(buf));
        CHECK_EQ(eddy_writer_printf(&writer, "ab"), 0);
        CHECK_EQ(eddy_writer_printf(&writer, "%s", "12345678"), EDDY_E_STREAM_LIMIT);
        CHECK_EQ(sink.writes, 0);
        /* The text would have a gap, so no further piece is taken. */
        CHECK_EQ(eddy_writer_printf(&writer, "c"), EDDY_E_STREAM_LIMIT);
        CHECK_EQ(eddy_writer_write(&writer, "c", 1), EDDY_E_STREAM_LIMIT);
        CHECK_EQ(eddy_writer_flush(&writer), EDDY_E_STREAM_LIMIT);
        CHECK_EQ(sink.bytes, 2);
        CHECK_EQ(eddy_writer_buffered(&writer), 0);
        CHECK_EQ(eddy_writer_clear_error(&writer), 0);
        CHECK_EQ(eddy_writer_printf(&writer, "%ls", no_character), -EILSEQ);
        CHECK_EQ(eddy_writer_flush(&writer), -EILSEQ);
        CHECK_EQ(eddy_writer_clear_error(&writer), 0);
        CHECK_EQ(eddy_writer_clear_error(&writer), 0);
        CHECK_EQ(eddy_writer_printf(&writer, "c"), 0);
        CHECK_EQ(eddy_writer_flush(&writer), 0);
        CHECK_EQ(sink.bytes, 3);
        CHECK(memcmp(sink.taken, "abc", 3) == 0);
        return arg == NULL ? 0 : -EINVAL;
}

TEST(a_text_that_cannot_be_written_is_an_error_until_it_is_cleared)
{
        run(print_too_long);
}

/* ---- cancels --------------------------------------------------------------- */

/* Pieces of a text; the third has the buffer's size, the fourth is formatted. */
enum { STEPS = 6, CANCEL_BUFFER = 8 };
static const size_t steps[STEPS] = { 5, 6, 8, 7, 1, 0 /* a flush */ };

struct work {
        eddy_writer *writer;
        int step; /* the next one */
        size_t at;
};

static int do_steps(void *arg)
{
        struct work *work = arg;

        for (; work->step < STEPS; work->step++) {
                size_t bytes = steps[work->step];
                char data[CANCEL_BUFFER + 1] = "";
                int err;

                letters(data, work->at, bytes);
                if (bytes == 0)
                        err = eddy_writer_flush(work->writer);
                else if (bytes == 7)
                        err = eddy_writer_printf(work->writer, "%s", data);
                else
                        err = eddy_writer_write(work->writer, data, bytes);
                if (err < 0)
                        return err;
                work->at += bytes;
        }
        return 0;
}

static bool cancel_steps(int n, size_t at_once)
{
        static struct sink sink;
        char buf[CANCEL_BUFFER];
        eddy_writer writer;
        struct work work = { &writer, 0, 0 };
        bool reached;
        int err;

        sink_init(&sink, at_once, true);
        eddy_writer_init(&writer, &sink.stream, buf, sizeof(buf));
        err = cancel_at(n, do_steps, &work, &reached);
        check_kept(&sink, &writer, work.at);
        if (err == -ECANCELED && steps[work.step] > 0) {
                CHECK_EQ(eddy_writer_write(&writer, "?", 1), -ECANCELED);
                /* The pieces before the one that was cancelled are sent. */
                CHECK_EQ(eddy_writer_flush(&writer), -ECANCELED);
                CHECK_EQ(eddy_writer_buffered(&writer), 0);
                check_kept(&sink, &writer, work.at);
                CHECK_EQ(eddy_writer_clear_error(&writer), 0);
        }
        CHECK(err == 0 || err == -ECANCELED);
        CHECK_EQ(do_steps(&work), 0);
        check_kept(&sink, &writer, 27);
        CHECK_EQ(eddy_writer_buffered(&writer), 0);
        return reached;
}

static int cancel_everywhere(void *arg)
{
        for (size_t at_once = 0; at_once <= 5; at_once++) {
                int n = 0;

                while (cancel_steps(n, at_once))
                        n++;
                CHECK(n > 3);
        }
        return arg == NULL ? 0 : -EINVAL;
}

TEST(a_cancel_at_each_wait_loses_and_repeats_no_byte)
{
        run(cancel_everywhere);
}

static int write_long(void *arg)
{
        char data[20];

        letters(data, 0, sizeof(data));
        return eddy_writer_write(arg, data, sizeof(data));
}

static int cancel_a_long_piece(void *arg)
{
        static struct sink sink;
        char buf[8];
        eddy_writer writer;
        bool reached;

        /* Before its first byte the piece can be repeated. */
        sink_init(&sink, 5, true);
        eddy_writer_init(&writer, &sink.stream, buf, sizeof(buf));
        CHECK_EQ(cancel_at(1, write_long, &writer, &reached), -ECANCELED);
        CHECK_EQ(sink.bytes, 0);
        CHECK_EQ(eddy_writer_clear_error(&writer), 0);
        CHECK_EQ(write_long(&writer), 0);
        CHECK_EQ(eddy_writer_flush(&writer), 0);
        check_kept(&sink, &writer, 20);

        /* After a part, it cannot. */
        sink_init(&sink, 5, true);
        eddy_writer_init(&writer, &sink.stream, buf, sizeof(buf));
        CHECK_EQ(cancel_at(2, write_long, &writer, &reached), -ECANCELED);
        CHECK(reached);
        CHECK_EQ(sink.bytes, 5);
        CHECK_EQ(eddy_writer_clear_error(&writer), EDDY_E_STREAM_BROKEN);
        CHECK_EQ(eddy_writer_write(&writer, "x", 1), -ECANCELED);
        CHECK_EQ(eddy_writer_flush(&writer), -ECANCELED);
        CHECK_EQ(sink.bytes, 5);
        return arg == NULL ? 0 : -EINVAL;
}

TEST(a_long_piece_that_was_sent_in_part_breaks_the_writer)
{
        run(cancel_a_long_piece);
}

/* ---- errors ---------------------------------------------------------------- */

static int fail_everywhere(void *arg)
{
        for (size_t error_at = 0; error_at < 27; error_at++) {
                static struct sink sink;
                char buf[CANCEL_BUFFER];
                eddy_writer writer;
                struct work work = { &writer, 0, 0 };

                sink_init(&sink, 3, true);
                sink.error = -EPIPE;
                sink.error_at = error_at;
                eddy_writer_init(&writer, &sink.stream, buf, sizeof(buf));
                CHECK_EQ(do_steps(&work), -EPIPE);
                check_kept(&sink, &writer, work.at);
                CHECK_EQ(eddy_writer_flush(&writer), -EPIPE);
                CHECK_EQ(sink.bytes, error_at);
                sink.error = 0; /* such as a full disk that has room again */
                CHECK_EQ(eddy_writer_clear_error(&writer), 0);
                CHECK_EQ(do_steps(&work), 0);
                check_kept(&sink, &writer, 27);
        }
        return arg == NULL ? 0 : -EINVAL;
}

TEST(an_error_after_each_byte_is_returned_and_loses_none)
{
        run(fail_everywhere);
}

static int without_a_stream(void *arg)
{
        char buf[4];
        eddy_writer writer;

        eddy_writer_init(&writer, NULL, buf, sizeof(buf));
        CHECK_EQ(eddy_writer_write(&writer, "ab", 2), 0);
        CHECK_EQ(eddy_writer_flush(&writer), -EINVAL);
        CHECK_EQ(eddy_writer_write(&writer, "cde", 3), -EINVAL);
        CHECK_EQ(eddy_writer_buffered(&writer), 2);
        return arg == NULL ? 0 : -EINVAL;
}

TEST(without_a_stream_or_a_task_nothing_is_written)
{
        static struct sink sink;
        char buf[4];
        eddy_writer writer;

        run(without_a_stream);
        sink_init(&sink, 0, false);
        eddy_writer_init(&writer, &sink.stream, buf, sizeof(buf));
        CHECK_EQ(eddy_writer_flush(&writer), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_writer_write(&writer, "a", 1), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(sink.writes, 0);
}

/* ---- several tasks, and streams that hold bytes ---------------------------- */

static int write_slowly(void *arg)
{
        return write_long(arg);
}

static int write_x(void *arg)
{
        return eddy_writer_write(arg, "x", 1);
}

static int two_tasks(void *arg)
{
        static struct sink sink;
        char buf[8];
        eddy_writer writer;
        eddy_scope scope;
        bool reached;

        sink_init(&sink, 5, true);
        eddy_writer_init(&writer, &sink.stream, buf, sizeof(buf));
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, write_slowly, &writer);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(eddy_writer_write(&writer, "x", 1), -EBUSY);
        CHECK_EQ(eddy_writer_printf(&writer, "x"), -EBUSY);
        CHECK_EQ(eddy_writer_flush(&writer), -EBUSY);
        CHECK_EQ(eddy_writer_clear_error(&writer), -EBUSY);
        CHECK_EQ(cancel_at(0, write_x, &writer, &reached), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_writer_flush(&writer), 0);
        check_kept(&sink, &writer, 20);
        return arg == NULL ? 0 : -EINVAL;
}

TEST(a_second_task_is_refused_and_changes_nothing)
{
        run(two_tasks);
}

static int flush_held(void *arg)
{
        static struct sink sink;
        char buf[8];
        eddy_writer writer;

        sink_init(&sink, 0, false);
        sink.holds = true;
        eddy_writer_init(&writer, &sink.stream, buf, sizeof(buf));
        CHECK_EQ(eddy_writer_write(&writer, "abc", 3), 0);
        CHECK_EQ(eddy_writer_flush(&writer), 0);
        CHECK(!sink.holds);
        return arg == NULL ? 0 : -EINVAL;
}

TEST(a_flush_waits_for_bytes_that_the_stream_holds)
{
        run(flush_held);
}
