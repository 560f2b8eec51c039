/*
 * test_user_stream.c - streams that a program implements: the optional operations, one that is
 * closed twice, and one that breaks the contract; and what each kind of stream reports of itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "../scope/sim_run.h"
#include "eddy/stream_ops.h"
#include "eddy/test.h"
#include "eddy/test_net.h"
#include "io_test.h"

/* -- a stream with the required operations only ------------------------------------- */

struct bare {
        struct eddy_stream stream;
        int64_t written; /* the result of try_writev */
        int closes;
        int result; /* of write_and_note() */
};

static struct bare *bare_of(eddy_stream *stream)
{
        return (struct bare *) stream;
}

static int64_t bare_try_read(eddy_stream *stream, void *buf, size_t bytes)
{
        (void) stream;
        (void) buf;
        (void) bytes;
        return 0;
}

static int64_t bare_try_writev(eddy_stream *stream, const struct eddy_slice *slices, size_t n)
{
        (void) slices;
        (void) n;
        return bare_of(stream)->written;
}

static int bare_wait(eddy_stream *stream, enum eddy_stream_side side)
{
        (void) stream;
        (void) side;
        return eddy_sleep(EDDY_MS(1));
}

static bool bare_is_readable(eddy_stream *stream)
{
        (void) stream;
        return true;
}

static int bare_shutdown(eddy_stream *stream)
{
        (void) stream;
        return eddy_sleep(EDDY_MS(5));
}

static void bare_close(eddy_stream *stream, unsigned flags)
{
        bare_of(stream)->closes++;
        if (!(flags & (EDDY_STREAM_ABORT | EDDY_STREAM_NO_WAIT)))
                CHECK_EQ(eddy_sleep(EDDY_MS(5)), 0);
}

static const struct eddy_stream_ops bare_ops = {
        .kind = "bare",
        .try_read = bare_try_read,
        .try_writev = bare_try_writev,
        .wait = bare_wait,
        .is_readable = bare_is_readable,
        .shutdown = bare_shutdown,
        .close = bare_close,
};

static void on_idle(void *arg)
{
        (void) arg;
        CHECK(false);
}

static int optional(void *arg)
{
        struct bare bare = { .written = 1 };
        struct eddy_stream_sent sent = { 1, 1 };

        eddy_stream_init(&bare.stream, &bare_ops);
        CHECK_EQ(eddy_stream_watch_idle(&bare.stream, on_idle, NULL), -ENOTSUP);
        CHECK_EQ(eddy_stream_watch_hangup(&bare.stream, on_idle, NULL), -ENOTSUP);
        CHECK_STR(eddy_stream_kind(&bare.stream), "bare");
        CHECK_EQ(eddy_stream_fd(&bare.stream), -1);
        eddy_stream_sent(&bare.stream, &sent);
        CHECK_EQ(sent.acknowledged, 0);
        CHECK_EQ(sent.pending, 0);
        /* No flush: nothing is held. */
        CHECK_EQ(eddy_stream_try_writev(&bare.stream, NULL, 0), 0);
        CHECK_EQ(eddy_stream_write(&bare.stream, "abc", 3), 0);
        eddy_stream_close(&bare.stream);
        return 0;
}

TEST(operations_that_a_stream_does_not_have_are_answered_for_it)
{
        io_run(optional);
}

static int takes_nothing(void *arg)
{
        struct bare bare = { .written = 0 };
        struct eddy_slice slice = { "x", 1 };

        eddy_stream_init(&bare.stream, &bare_ops);
        CHECK_EQ(eddy_stream_write(&bare.stream, "x", 1), -EIO);
        CHECK_EQ(eddy_stream_write_some(&bare.stream, &slice, 1), -EIO);
        eddy_stream_close(&bare.stream);
        return 0;
}

TEST(a_stream_that_takes_no_byte_and_reports_no_error_fails_the_write)
{
        io_run(takes_nothing);
}

static int write_and_note(void *arg)
{
        struct bare *bare = arg;

        bare->result = eddy_stream_write(&bare->stream, "x", 1);
        return 0;
}

/* The cancel is between the end of the stream's wait and the turn of the task. */
SIM_TEST(a_write_that_was_cancelled_at_the_end_of_a_wait_writes_nothing)
{
        struct bare bare = { .written = -EAGAIN, .result = 1 };
        eddy_scope scope;

        eddy_stream_init(&bare.stream, &bare_ops);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, write_and_note, &bare);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0); /* armed before the wait: this task runs first */
        CHECK_EQ(bare.result, 1);
        bare.written = 1;
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(bare.result, -ECANCELED);
        eddy_stream_close(&bare.stream);
}

/* -- a second close ------------------------------------------------------------------ */

static int closes(void *arg)
{
        eddy_stream_close(arg);
        return 0;
}

static int close_twice(void *arg)
{
        struct bare bare = { .written = 1 };
        struct eddy_slice slice = { "x", 1 };
        eddy_scope scope;
        char byte;

        eddy_stream_init(&bare.stream, &bare_ops);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, closes, &bare.stream);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(bare.closes, 1);
        eddy_stream_close(&bare.stream);
        eddy_stream_close_now(&bare.stream);
        eddy_stream_abort(&bare.stream);
        CHECK_EQ(eddy_stream_read(&bare.stream, &byte, 1), -ECANCELED);
        CHECK_EQ(eddy_stream_try_read(&bare.stream, &byte, 1), -ECANCELED);
        CHECK_EQ(eddy_stream_write(&bare.stream, "x", 1), -ECANCELED);
        CHECK_EQ(eddy_stream_try_writev(&bare.stream, &slice, 1), -ECANCELED);
        CHECK_EQ(eddy_stream_shutdown(&bare.stream), -ECANCELED);
        CHECK_EQ(eddy_stream_wait(&bare.stream, EDDY_STREAM_READING), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(bare.closes, 1);
        return 0;
}

TEST(a_second_close_while_the_first_waits_does_nothing)
{
        io_run(close_twice);
}

/* -- what a stream reports of itself --------------------------------------------------- */

static void check_self(eddy_stream *stream, const char *kind, bool has_fd, uint64_t sent_total)
{
        struct eddy_stream_sent sent = { 1, 1 };

        CHECK_STR(eddy_stream_kind(stream), kind);
        CHECK_EQ(eddy_stream_fd(stream) >= 0, has_fd);
        eddy_stream_sent(stream, &sent);
        CHECK_EQ(sent.acknowledged + sent.pending, sent_total);
}

static int kinds_of_the_kernel(void *arg)
{
        struct eddy_stream_sent sent = { 1, 1 };
        struct io_pair pair;
        eddy_stream *file;
        int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

        io_pair_open(&pair);
        CHECK_EQ(eddy_stream_write(pair.a, "hello", 5), 0);
        check_self(pair.a, "tcp", true, 5);
        check_self(pair.b, "tcp", true, 0);
        /* The loopback acknowledges at once, or when the receiver reads. */
        while (eddy_stream_sent(pair.a, &sent), sent.acknowledged < 5)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(sent.pending, 0);
        io_pair_close(&pair);

        CHECK(fd >= 0);
        CHECK_EQ(eddy_stream_from_fd(fd, EDDY_STREAM_OWN_FD, &file), 0);
        CHECK_EQ(eddy_stream_fd(file), fd);
        CHECK_EQ(eddy_stream_write(file, "hello", 5), 0);
        check_self(file, "fd", true, 0);
        eddy_stream_close(file);

        check_self(NULL, "", false, 0);
        return 0;
}

static int kinds_in_memory(void *arg)
{
        eddy_stream *first, *second;

        CHECK_EQ(eddy_test_stream_pair(NULL, &first, &second), 0);
        CHECK_EQ(eddy_stream_write(first, "hello", 5), 0);
        check_self(first, "tcp", true, 5);
        eddy_stream_close(first);
        eddy_stream_close(second);
        return 0;
}

TEST(each_kind_of_stream_reports_its_name_descriptor_and_counts)
{
        io_run(kinds_of_the_kernel);
        CHECK_EQ(eddy_test_run(kinds_in_memory, NULL, NULL, NULL), 0);
}
