/*
 * test_broken.c - writes that end in the middle: what the stream does after
 * them, on sockets and pipes of the kernel and in memory, and what the peer
 * reads.
 */
#include <errno.h>
#include <unistd.h>

#include "cancel_at.h"
#include "eddy/test.h"
#include "eddy/test_net.h"
#include "io_test.h"

/* More than any pair of socket buffers on the loopback, or any pipe, holds. */
enum { MUCH = 16 * 1024 * 1024 };

TEST_ROOM(char, much, MUCH);

struct writing {
        eddy_stream *stream;
        const void *data;
        size_t bytes;
};

static int write_call(void *arg)
{
        struct writing *w = arg;

        return eddy_stream_write(w->stream, w->data, w->bytes);
}

/* Nothing is sent any more, whatever is tried, and nothing waits for room. */
static void check_broken(eddy_stream *stream)
{
        struct eddy_slice slices[2] = { { "x", 1 }, { "y", 1 } };
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_SEC(1) });
        CHECK_EQ(eddy_stream_write(stream, "x", 1), EDDY_E_STREAM_BROKEN);
        CHECK_EQ(eddy_stream_write(stream, "", 0), EDDY_E_STREAM_BROKEN);
        CHECK_EQ(eddy_stream_writev(stream, slices, 2), EDDY_E_STREAM_BROKEN);
        CHECK_EQ(eddy_stream_write_some(stream, slices, 2), EDDY_E_STREAM_BROKEN);
        CHECK_EQ(eddy_stream_shutdown(stream), EDDY_E_STREAM_BROKEN);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

/* Read to the end; all of it are first bytes of 'much', and not all of them. */
static void check_part(eddy_stream *stream)
{
        static char got[64 * 1024];
        size_t at = 0;
        int64_t n;

        while ((n = eddy_stream_read(stream, got, sizeof(got))) > 0) {
                CHECK(at + (size_t) n < MUCH);
                CHECK(memcmp(got, much + at, (size_t) n) == 0);
                at += (size_t) n;
        }
        CHECK_EQ(n, 0);
        CHECK(at > 0);
}

static void fill_much(void)
{
        for (size_t i = 0; i < MUCH; i++)
                much[i] = (char) (i * 7 + i / 251);
}

/* Write to 'out' until a deadline cuts it off, and read what came of it from 'in'. */
static void cut_off(eddy_stream *in, eddy_stream *out)
{
        struct writing w = { out, much, MUCH };

        fill_much();
        CHECK_EQ(eddy_call_timeout(write_call, &w, EDDY_MS(5)), -ETIMEDOUT);
        check_broken(out);
        eddy_stream_close(out);
        check_part(in);
        eddy_stream_close(in);
}

static int socket_cut_off(void *arg)
{
        struct io_pair pair;
        char buf[8];

        io_pair_open(&pair);
        CHECK_EQ(eddy_stream_write(pair.b, "there", 5), 0);
        io_read_all(pair.a, buf, 2);
        /* Reading goes on. */
        CHECK_EQ(eddy_call_timeout(write_call, &(struct writing){ pair.a, much, MUCH }, EDDY_MS(5)),
                 -ETIMEDOUT);
        check_broken(pair.a);
        io_read_all(pair.a, buf, 3);
        CHECK(memcmp(buf, "ere", 3) == 0);
        io_pair_close(&pair);

        io_pair_open(&pair);
        cut_off(pair.b, pair.a);
        return 0;
}

TEST(a_write_that_was_cut_off_breaks_a_socket_for_writing)
{
        io_run(socket_cut_off);
}

static int pipe_cut_off(void *arg)
{
        eddy_stream *in, *out;
        int fds[2];

        CHECK_EQ(pipe(fds), 0);
        CHECK_EQ(eddy_stream_from_fd(fds[0], EDDY_STREAM_OWN_FD, &in), 0);
        CHECK_EQ(eddy_stream_from_fd(fds[1], EDDY_STREAM_OWN_FD, &out), 0);
        cut_off(in, out);
        return 0;
}

TEST(a_write_that_was_cut_off_breaks_a_pipe_for_writing)
{
        io_run(pipe_cut_off);
}

/* -- errors ------------------------------------------------------------------ */

static int64_t (*real_send)(struct ed_sys *, int, const struct eddy_slice *, size_t);
static int sends_left; /* that move one byte, before those that fail */

static int64_t failing_send(struct ed_sys *sys, int fd, const struct eddy_slice *slices, size_t n)
{
        struct eddy_slice byte = { slices->data, 1 };

        if (sends_left-- > 0)
                return real_send(sys, fd, &byte, 1);
        return -ENOBUFS;
}

/* An error that passes: after a part it cuts the message off, before it nothing has happened. */
static int errors(void *arg)
{
        struct io_tables *tables = io_tables();
        struct io_pair pair;
        char buf[16] = "";

        io_pair_open(&pair);
        real_send = tables->socket.send;
        tables->socket.send = failing_send;
        sends_left = 0;
        CHECK_EQ(eddy_stream_write(pair.a, "one ", 4), -ENOBUFS);
        tables->socket.send = real_send;
        CHECK_EQ(eddy_stream_write(pair.a, "one ", 4), 0);
        tables->socket.send = failing_send;
        sends_left = 2;
        CHECK_EQ(eddy_stream_write(pair.a, "two ", 4), -ENOBUFS);
        tables->socket.send = real_send;
        check_broken(pair.a);
        eddy_stream_close(pair.a);
        io_read_all(pair.b, buf, 6);
        CHECK_STR(buf, "one tw");
        CHECK_EQ(eddy_stream_read(pair.b, buf, sizeof(buf)), 0);
        eddy_stream_close(pair.b);
        return 0;
}

TEST(an_error_after_a_part_breaks_the_stream_and_before_it_does_not)
{
        io_run(errors);
}

/* -- in memory: buffers of a known size --------------------------------------- */

enum { BUFFER = 64 };

static void pair_open(eddy_stream **here, eddy_stream **there)
{
        struct eddy_test_link link = { .buffer_bytes = BUFFER };

        CHECK_EQ(eddy_test_stream_pair(&link, here, there), 0);
}

static int cancelled_before_a_byte(void *arg)
{
        eddy_stream *here, *there;
        char buf[BUFFER];
        bool reached;

        pair_open(&here, &there);
        CHECK_EQ(eddy_stream_write(here, much, BUFFER), 0);
        /* There is no room: each of these waits with no byte sent. */
        for (int i = 0; i < 3; i++) {
                struct writing w = { here, "more", 4 };

                CHECK_EQ(cancel_at(i > 0, write_call, &w, &reached), -ECANCELED);
                CHECK(reached);
        }
        io_read_all(there, buf, BUFFER);
        CHECK_EQ(eddy_stream_write(here, "again", 5), 0);
        CHECK_EQ(eddy_stream_shutdown(here), 0);
        CHECK_EQ(eddy_stream_read(there, buf, BUFFER), 5);
        CHECK(memcmp(buf, "again", 5) == 0);
        CHECK_EQ(eddy_stream_read(there, buf, BUFFER), 0);
        eddy_stream_close(here);
        eddy_stream_close(there);
        return 0;
}

TEST(a_write_that_was_cancelled_before_its_first_byte_can_be_repeated)
{
        CHECK_EQ(eddy_test_run(cancelled_before_a_byte, NULL, NULL, NULL), 0);
}

static int write_task(void *arg)
{
        CHECK_EQ(write_call(arg), 0);
        return 0;
}

static int shutdown_meanwhile(void *arg)
{
        struct writing w = { .data = much, .bytes = 2 * BUFFER };
        eddy_stream *there;
        char buf[2 * BUFFER];
        eddy_scope scope;

        pair_open(&w.stream, &there);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, write_task, &w);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(eddy_stream_shutdown(w.stream), -EBUSY);
        CHECK_EQ(eddy_stream_write(w.stream, "x", 1), -EBUSY);
        io_read_all(there, buf, sizeof(buf));
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_stream_shutdown(w.stream), 0);
        CHECK_EQ(eddy_stream_read(there, buf, sizeof(buf)), 0);
        eddy_stream_close(w.stream);
        eddy_stream_close(there);
        return 0;
}

/* A128: one task writes at a time. */
TEST(the_end_is_not_sent_in_the_middle_of_another_tasks_write)
{
        CHECK_EQ(eddy_test_run(shutdown_meanwhile, NULL, NULL, NULL), 0);
}

/* Parts count: what is written by pieces that fit goes on after a cancel. */
static int some(void *arg)
{
        struct eddy_slice slices[2] = { { much, 100 }, { much + 100, 100 } };
        eddy_stream *here, *there;
        char buf[BUFFER];

        pair_open(&here, &there);
        CHECK_EQ(eddy_stream_write_some(here, slices, 2), BUFFER);
        CHECK_EQ(eddy_stream_write(here, much, 0), 0);
        CHECK_EQ(eddy_stream_write_some(here, NULL, 0), 0);
        io_read_all(there, buf, BUFFER);
        slices[0] = (struct eddy_slice){ "ab", 2 };
        CHECK_EQ(eddy_stream_write_some(here, slices, 1), 2);
        CHECK_EQ(eddy_stream_read(there, buf, BUFFER), 2);
        eddy_stream_close(here);
        eddy_stream_close(there);
        return 0;
}

TEST(writing_some_breaks_nothing)
{
        CHECK_EQ(eddy_test_run(some, NULL, NULL, NULL), 0);
}

/* -- at each point ------------------------------------------------------------ */

/* Messages of 50 bytes through a buffer of 64, and a last word, also when cancelled. */
enum { MESSAGE = 50, MESSAGES = 6 };

static struct {
        eddy_stream *here, *there;
        char got[MESSAGE * MESSAGES + 8];
        size_t got_bytes;
        int last;
        int broken, whole; /* runs that ended so */
} world;

/* In the background, so that a cancel of the main task does not reach it. */
static int receive(void *arg)
{
        int64_t n;

        while ((n = eddy_stream_read(world.there, world.got + world.got_bytes,
                                     sizeof(world.got) - world.got_bytes)) > 0)
                world.got_bytes += (size_t) n;
        EDDY_TEST_CHECK(n == 0);
        eddy_stream_close(world.there);
        return 0;
}

static int say_the_last_word(void)
{
        eddy_scope shield;
        int err;

        eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
        err = eddy_stream_write(world.here, "bye", 3);
        if (err == 0)
                err = eddy_stream_shutdown(world.here);
        (void) eddy_scope_end(&shield);
        return err;
}

static int converse(void *arg)
{
        int err = 0;

        world.got_bytes = 0;
        pair_open(&world.here, &world.there);
        CHECK_EQ(eddy_background(receive, NULL), 0);
        for (int i = 0; i < MESSAGES && err == 0; i++) {
                struct eddy_slice slices[2] = { { much, 20 }, { much + 20, MESSAGE - 20 } };

                err = eddy_stream_writev(world.here, slices, 2);
        }
        world.last = say_the_last_word();
        eddy_stream_close(world.here);
        return err;
}

/* What the peer got: messages, and then the last word or a part of a message. */
static int look(void *arg, int result)
{
        const char *at = world.got, *end = world.got + world.got_bytes;

        while (end - at >= MESSAGE && memcmp(at, much, MESSAGE) == 0)
                at += MESSAGE;
        if (world.last == 0) {
                EDDY_TEST_CHECK(end - at == 3 && memcmp(at, "bye", 3) == 0);
                world.whole++;
        } else {
                EDDY_TEST_CHECK(world.last == EDDY_E_STREAM_BROKEN);
                EDDY_TEST_CHECK(end - at > 0 && memcmp(at, much, (size_t) (end - at)) == 0);
                world.broken++;
        }
        return 0;
}

TEST(at_each_point_of_a_cancel_the_last_word_is_said_whole_or_not_at_all)
{
        struct eddy_test_opts opts = { .name = "last-word", .after = look };

        fill_much();
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_CANCEL, converse, NULL, &opts, NULL), 0);
        printf("# the last word was said in %d runs, and not in %d\n", world.whole, world.broken);
        CHECK(world.whole > 1);
        CHECK(world.broken > 1);
}
