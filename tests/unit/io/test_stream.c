/*
 * test_stream.c - streams over TCP connections: what reads and writes give,
 * what a cancel leaves, closing under those who wait, idle watching.
 */
#include <errno.h>
#include <sys/socket.h>

#include "cancel_at.h"
#include "io/socket.h"
#include "io_test.h"

/* -- helpers ---------------------------------------------------------------- */

struct reading {
        eddy_stream *stream;
        char buf[64];
        int64_t n;
};

static int read_some(void *arg)
{
        struct reading *r = arg;

        r->n = eddy_stream_read(r->stream, r->buf, sizeof(r->buf));
        return 0;
}

struct writing {
        eddy_stream *stream;
        const void *data;
        size_t bytes;
        int result;
};

static int write_all(void *arg)
{
        struct writing *w = arg;

        w->result = eddy_stream_write(w->stream, w->data, w->bytes);
        return 0;
}

/* More than any pair of socket buffers on the loopback holds. */
enum { MUCH = 16 * 1024 * 1024 };

static void *much(void)
{
        unsigned char *data = malloc(MUCH);

        CHECK(data);
        for (size_t i = 0; i < MUCH; i++)
                data[i] = (unsigned char) (i * 7 + i / 251);
        return data;
}

/* -- reading ---------------------------------------------------------------- */

static int reading_waits(void *arg)
{
        struct io_pair pair;
        struct reading r;
        eddy_scope scope;

        io_pair_open(&pair);
        r = (struct reading){ .stream = pair.b };
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, read_some, &r);
        io_settle();
        CHECK_EQ(r.n, 0);
        CHECK_EQ(ed_loop_current->waits, 1);
        CHECK_EQ(eddy_stream_write(pair.a, "hello", 5), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(r.n, 5);
        CHECK(memcmp(r.buf, "hello", 5) == 0);
        io_pair_close(&pair);
        return 0;
}

TEST(a_read_waits_for_bytes)
{
        io_run(reading_waits);
}

static int reading_parts(void *arg)
{
        struct io_pair pair;
        char buf[8];

        io_pair_open(&pair);
        CHECK_EQ(eddy_stream_write(pair.a, "abcdef", 6), 0);
        CHECK_EQ(eddy_stream_read(pair.b, buf, 4), 4);
        CHECK_EQ(eddy_stream_read(pair.b, buf, 4), 2);
        CHECK(memcmp(buf, "ef", 2) == 0);
        CHECK_EQ(eddy_stream_read(pair.b, buf, 0), -EINVAL);
        io_pair_close(&pair);
        return 0;
}

TEST(a_read_takes_at_most_the_requested_bytes)
{
        io_run(reading_parts);
}

static int reading_end(void *arg)
{
        struct io_pair pair;
        char buf[8];

        io_pair_open(&pair);
        CHECK_EQ(eddy_stream_write(pair.a, "x", 1), 0);
        CHECK_EQ(eddy_stream_shutdown(pair.a), 0);
        io_settle();
        CHECK_EQ(eddy_stream_read(pair.b, buf, 8), 1);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(eddy_stream_read(pair.b, buf, 8), 0);
        /* A130: the other direction lives on. */
        CHECK_EQ(eddy_stream_write(pair.b, "still", 5), 0);
        io_read_all(pair.a, buf, 5);
        io_pair_close(&pair);
        return 0;
}

TEST(the_end_is_zero_bytes_and_the_other_direction_lives_on)
{
        io_run(reading_end);
}

/* The end comes in one event with bytes, while a task waits; nothing of it may be lost. */
static int reading_last_bytes(void *arg)
{
        struct io_pair pair;
        struct reading r;
        eddy_scope scope;

        io_pair_open(&pair);
        r = (struct reading){ .stream = pair.b };
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, read_some, &r);
        io_settle();
        CHECK_EQ(eddy_stream_write(pair.a, "last", 4), 0);
        eddy_stream_close(pair.a);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(r.n, 4);
        CHECK_EQ(eddy_stream_read(pair.b, r.buf, sizeof(r.buf)), 0);
        eddy_stream_close(pair.b);
        return 0;
}

TEST(the_end_is_read_after_the_last_bytes)
{
        io_run(reading_last_bytes);
}

/* A127, A130: a reset is an error, and wakes the reader. */
static int reading_reset(void *arg)
{
        struct io_pair pair;
        struct reading r;
        eddy_scope scope;

        io_pair_open(&pair);
        r = (struct reading){ .stream = pair.b };
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, read_some, &r);
        io_settle();
        eddy_stream_abort(pair.a);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(r.n, -ECONNRESET);
        eddy_stream_close(pair.b);
        return 0;
}

TEST(an_abort_is_a_reset_to_the_peer)
{
        io_run(reading_reset);
}

/* -- writing ---------------------------------------------------------------- */

static int writing_to_nobody(void *arg)
{
        struct io_pair pair;
        int err = 0;

        io_pair_open(&pair);
        eddy_stream_abort(pair.a);
        io_settle();
        /* A129: an error each time, and no signal. */
        for (int i = 0; i < 3; i++) {
                err = eddy_stream_write(pair.b, "x", 1);
                CHECK(err == -EPIPE || err == -ECONNRESET);
        }
        eddy_stream_close(pair.b);
        return 0;
}

TEST(writing_to_a_closed_connection_is_an_error_and_no_signal)
{
        io_run(writing_to_nobody);
}

static int writing_much(void *arg)
{
        struct io_pair pair;
        struct writing w = { .data = much(), .bytes = MUCH, .result = 1 };
        char *got = malloc(MUCH);
        eddy_scope scope;

        io_pair_open(&pair);
        w.stream = pair.a;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, write_all, &w);
        io_settle();
        CHECK_EQ(w.result, 1); /* it waits for room */
        io_read_all(pair.b, got, MUCH);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(w.result, 0);
        CHECK(memcmp(got, w.data, MUCH) == 0);
        io_pair_close(&pair);
        free((void *) w.data);
        free(got);
        return 0;
}

TEST(a_write_goes_on_until_all_is_sent)
{
        io_run(writing_much);
}

static int writing_single_bytes(void *arg)
{
        struct eddy_slice slices[3] = { { "one ", 4 }, { NULL, 0 }, { "two", 3 } };
        struct io_pair pair;
        char buf[16] = { 0 };

        io_pair_open(&pair);
        ed_loop_current->sys->transfer_max = 1;
        CHECK_EQ(eddy_stream_writev(pair.a, slices, 3), 0);
        CHECK_EQ(eddy_stream_read(pair.b, buf, 16), 1);
        io_read_all(pair.b, buf + 1, 6);
        CHECK_STR(buf, "one two");
        io_pair_close(&pair);
        return 0;
}

TEST(one_byte_at_a_time_works)
{
        io_run(writing_single_bytes);
}

static int writing_slices(void *arg)
{
        struct eddy_slice slices[EDDY_STREAM_SLICES_MAX + 1];
        struct io_pair pair;
        char buf[64] = { 0 };

        for (size_t i = 0; i < ed_array_count(slices); i++)
                slices[i] = (struct eddy_slice){ &"abcdefghijklmnopqrstuvwxyz"[i], i % 3 };
        io_pair_open(&pair);
        CHECK_EQ(eddy_stream_writev(pair.a, slices, ed_array_count(slices)), -EINVAL);
        CHECK_EQ(eddy_stream_writev(pair.a, slices, EDDY_STREAM_SLICES_MAX), 0);
        CHECK_EQ(eddy_stream_write(pair.a, NULL, 0), 0);
        CHECK_EQ(eddy_stream_writev(pair.a, NULL, 0), 0);
        io_read_all(pair.b, buf, 15);
        CHECK_STR(buf, "bcdefghijklmnop");
        io_pair_close(&pair);
        return 0;
}

/* A129: the order is kept. */
TEST(slices_are_sent_in_order_and_empty_ones_do_no_harm)
{
        io_run(writing_slices);
}

static struct {
        int sends, recvs, polls, others;
        int64_t (*send)(struct ed_sys *, int, const struct eddy_slice *, size_t);
        int64_t (*recv)(struct ed_sys *, int, void *, size_t);
        int (*watch)(struct ed_sys *, int, struct ed_target *);
        bool (*is_readable)(struct ed_sys *, int);
} count;

static int64_t count_send(struct ed_sys *sys, int fd, const struct eddy_slice *slices, size_t n)
{
        count.sends++;
        return count.send(sys, fd, slices, n);
}

static int64_t count_recv(struct ed_sys *sys, int fd, void *buf, size_t bytes)
{
        count.recvs++;
        return count.recv(sys, fd, buf, bytes);
}

static int count_watch(struct ed_sys *sys, int fd, struct ed_target *target)
{
        count.others++;
        return count.watch(sys, fd, target);
}

static bool count_is_readable(struct ed_sys *sys, int fd)
{
        count.others++;
        return count.is_readable(sys, fd);
}

static int echo(void *arg)
{
        char buf[64];
        int64_t n;

        while ((n = eddy_stream_read(arg, buf, sizeof(buf))) > 0)
                CHECK_EQ(eddy_stream_write(arg, buf, (size_t) n), 0);
        CHECK_EQ(n, 0);
        return 0;
}

static void never(void *arg)
{
        test_fail(__FILE__, __LINE__, "an idle callback came that was taken back");
}

static int round_trips(void *arg)
{
        struct io_tables *tables = io_tables();
        struct io_pair pair;
        eddy_scope scope;
        char buf[64];

        count.send = tables->socket.send;
        count.recv = tables->socket.recv;
        count.watch = tables->poll.watch;
        count.is_readable = tables->poll.is_readable;
        tables->socket.send = count_send;
        tables->socket.recv = count_recv;
        tables->poll.watch = count_watch;
        tables->poll.is_readable = count_is_readable;
        io_pair_open(&pair);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, echo, pair.b);
        for (int i = 0; i < 101; i++) {
                if (i == 1)
                        count.sends = count.recvs = count.others = 0;
                /* As a pool does between two requests. */
                CHECK_EQ(eddy_stream_watch_idle(pair.a, never, NULL), 0);
                CHECK_EQ(eddy_stream_watch_idle(pair.a, NULL, NULL), 0);
                CHECK_EQ(eddy_stream_write(pair.a, "ping", 4), 0);
                CHECK_EQ(eddy_stream_read(pair.a, buf, sizeof(buf)), 4);
        }
        /* Both ends: a hundred round trips are 200 sends and 200 receives. */
        CHECK_EQ(count.sends, 200);
        CHECK_EQ(count.recvs, 200);
        CHECK_EQ(count.others, 0);
        eddy_stream_close(pair.a);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_stream_close(pair.b);
        return 0;
}

TEST(a_round_trip_is_one_send_and_one_receive_at_each_end)
{
        io_run(round_trips);
}

/* Such a read cannot know that no more bytes have arrived. */
static int full_reads(void *arg)
{
        struct io_tables *tables = io_tables();
        struct io_pair pair;
        char buf[4];

        count.watch = tables->poll.watch;
        tables->poll.watch = count_watch;
        io_pair_open(&pair);
        CHECK_EQ(eddy_stream_watch_idle(pair.a, never, NULL), 0);
        count.others = 0;
        for (int i = 0; i < 100; i++) {
                CHECK_EQ(eddy_stream_watch_idle(pair.a, NULL, NULL), 0);
                CHECK_EQ(eddy_stream_write(pair.b, "ping", 4), 0);
                CHECK_EQ(eddy_stream_read(pair.a, buf, sizeof(buf)), 4);
                CHECK_EQ(eddy_stream_watch_idle(pair.a, never, NULL), 0);
        }
        CHECK_EQ(count.others, 0);
        io_pair_close(&pair);
        return 0;
}

TEST(a_read_that_fills_its_buffer_makes_no_idle_connection_register_again)
{
        io_run(full_reads);
}

/* -- one at a time ---------------------------------------------------------- */

static int two_at_once(void *arg)
{
        struct io_pair pair;
        struct reading r;
        struct writing w = { .data = much(), .bytes = MUCH };
        eddy_scope scope;
        char buf[8];

        io_pair_open(&pair);
        r = (struct reading){ .stream = pair.a };
        w.stream = pair.a;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, read_some, &r);
        eddy_scope_start(&scope, write_all, &w);
        io_settle();
        CHECK_EQ(eddy_stream_read(pair.a, buf, 8), -EBUSY);
        CHECK_EQ(eddy_stream_write(pair.a, "x", 1), -EBUSY);
        CHECK_EQ(eddy_stream_watch_idle(pair.a, never, NULL), -EBUSY);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        CHECK_EQ(r.n, -ECANCELED);
        CHECK_EQ(w.result, -ECANCELED);
        io_pair_close(&pair);
        free((void *) w.data);
        return 0;
}

TEST(one_reader_and_one_writer_at_a_time)
{
        io_run(two_at_once);
}

/* -- cancelling ------------------------------------------------------------- */

static int read_one(void *arg)
{
        struct reading *r = arg;

        r->n = eddy_stream_read(r->stream, r->buf, sizeof(r->buf));
        return (int) r->n;
}

/* A127: a cancelled reader leaves the stream usable, and every byte in it. */
static int cancelled_reads(void *arg)
{
        struct io_pair pair;
        struct reading r;
        bool reached;

        io_pair_open(&pair);
        r = (struct reading){ .stream = pair.b };

        /* Before: though there are bytes, it does nothing. */
        CHECK_EQ(eddy_stream_write(pair.a, "abc", 3), 0);
        io_settle();
        CHECK_EQ(cancel_at(0, read_one, &r, &reached), -ECANCELED);
        /* At once: no suspension, so nothing to cancel at. */
        CHECK_EQ(cancel_at(1, read_one, &r, &reached), 3);
        CHECK(!reached);
        /* While parked. */
        CHECK_EQ(cancel_at(1, read_one, &r, &reached), -ECANCELED);
        CHECK(reached);
        CHECK_EQ(eddy_stream_write(pair.a, "def", 3), 0);
        CHECK_EQ(eddy_stream_read(pair.b, r.buf, sizeof(r.buf)), 3);
        CHECK(memcmp(r.buf, "def", 3) == 0);
        /* Readiness and the cancel come in one turn: readiness is no result. */
        CHECK_EQ(eddy_stream_write(pair.a, "ghi", 3), 0);
        CHECK_EQ(cancel_at(1, read_one, &r, &reached), -ECANCELED);
        CHECK(reached);
        CHECK_EQ(eddy_stream_read(pair.b, r.buf, sizeof(r.buf)), 3);
        CHECK(memcmp(r.buf, "ghi", 3) == 0);
        io_pair_close(&pair);
        return 0;
}

TEST(a_cancelled_read_takes_no_byte)
{
        io_run(cancelled_reads);
}

static int write_one(void *arg)
{
        struct writing *w = arg;

        return eddy_stream_write(w->stream, w->data, w->bytes);
}

static int cancelled_writes(void *arg)
{
        struct writing w = { .data = much(), .bytes = MUCH };
        bool reached = true;

        for (int n = 0; n < 3; n++) {
                struct io_pair pair;

                io_pair_open(&pair);
                w.stream = pair.a;
                CHECK_EQ(cancel_at(n < 2 ? n : 1, write_one, &w, &reached), -ECANCELED);
                CHECK(reached);
                if (n == 0) {
                        io_settle();
                        CHECK(!eddy_stream_is_readable(pair.b));
                }
                io_pair_close(&pair);
        }
        free((void *) w.data);
        return 0;
}

TEST(a_cancelled_write_ends_and_the_stream_can_be_closed)
{
        io_run(cancelled_writes);
}

static int deadlines(void *arg)
{
        struct eddy_scope_opts opts = { .timeout_ns = EDDY_MS(5) };
        struct writing w = { .data = much(), .bytes = MUCH };
        struct io_pair pair;
        eddy_scope scope;
        char buf[8];

        io_pair_open(&pair);
        eddy_scope_begin(&scope, &opts);
        CHECK_EQ(eddy_stream_read(pair.b, buf, 8), -ECANCELED);
        CHECK_EQ(eddy_stream_read(pair.b, buf, 8), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
        CHECK_EQ(eddy_stream_write(pair.a, "x", 1), 0);
        CHECK_EQ(eddy_stream_read(pair.b, buf, 8), 1);

        eddy_scope_begin(&scope, &opts);
        CHECK_EQ(eddy_stream_write(pair.a, w.data, w.bytes), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
        io_pair_close(&pair);
        free((void *) w.data);
        return 0;
}

TEST(a_deadline_ends_reads_and_writes)
{
        io_run(deadlines);
}

/* -- closing under those who wait ------------------------------------------- */

static int closing(void *arg)
{
        struct writing w = { .data = much(), .bytes = MUCH };
        struct io_pair pair;
        struct reading r;
        eddy_scope scope;

        io_pair_open(&pair);
        r = (struct reading){ .stream = pair.a };
        w.stream = pair.a;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, read_some, &r);
        eddy_scope_start(&scope, write_all, &w);
        io_settle();
        CHECK_EQ(ed_loop_current->waits, 2);
        eddy_stream_close(pair.a);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(r.n, -ECANCELED);
        CHECK_EQ(w.result, -ECANCELED);
        eddy_stream_close(pair.b);
        eddy_stream_close(NULL);
        eddy_stream_abort(NULL);
        free((void *) w.data);
        return 0;
}

TEST(closing_wakes_the_waiters)
{
        io_run(closing);
}

static void close_it(void *arg)
{
        eddy_stream **stream = arg;

        eddy_stream_close(*stream);
        *stream = NULL;
}

/*
 * Two connections become readable in one turn; a callback of the second
 * closes the first, whose reader was woken and has not yet run (first), or
 * whose event has not yet been reported (second).
 */
static int closing_in_one_turn(void *arg)
{
        for (int order = 0; order < 2; order++) {
                struct io_pair read, idle;
                struct reading r;
                eddy_scope scope;

                io_pair_open(&read);
                io_pair_open(&idle);
                r = (struct reading){ .stream = read.b };
                eddy_scope_begin(&scope, NULL);
                eddy_scope_start(&scope, read_some, &r);
                CHECK_EQ(eddy_stream_watch_idle(idle.b, close_it, &read.b), 0);
                io_settle();
                CHECK_EQ(eddy_stream_write(order == 0 ? read.a : idle.a, "x", 1), 0);
                CHECK_EQ(eddy_stream_write(order == 0 ? idle.a : read.a, "x", 1), 0);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                CHECK(!read.b);
                CHECK_EQ(r.n, -ECANCELED);
                io_pair_close(&read);
                io_pair_close(&idle);
        }
        return 0;
}

TEST(closing_between_the_event_and_the_reader_is_safe)
{
        io_run(closing_in_one_turn);
}

/* -- idle watching ---------------------------------------------------------- */

static void count_up(void *arg)
{
        ++*(int *) arg;
}

static int idling(void *arg)
{
        struct io_pair pair;
        char buf[8];
        int calls = 0;

        io_pair_open(&pair);
        CHECK_EQ(eddy_stream_watch_idle(pair.b, count_up, &calls), 0);
        CHECK_EQ(eddy_stream_read(pair.b, buf, 8), -EBUSY);
        io_settle();
        CHECK_EQ(calls, 0);
        CHECK_EQ(eddy_stream_write(pair.a, "ab", 2), 0);
        io_settle();
        CHECK_EQ(calls, 1);
        CHECK_EQ(eddy_stream_write(pair.a, "cd", 2), 0);
        io_settle();
        CHECK_EQ(calls, 1); /* once */

        /* Readable already: it comes all the same, and from the loop. */
        CHECK_EQ(eddy_stream_read(pair.b, buf, 2), 2);
        CHECK_EQ(eddy_stream_watch_idle(pair.b, count_up, &calls), 0);
        CHECK_EQ(calls, 1);
        io_settle();
        CHECK_EQ(calls, 2);
        CHECK_EQ(eddy_stream_read(pair.b, buf, 8), 2);

        /* Taken back. */
        CHECK_EQ(eddy_stream_watch_idle(pair.b, never, NULL), 0);
        CHECK_EQ(eddy_stream_watch_idle(pair.b, NULL, NULL), 0);
        CHECK_EQ(eddy_stream_write(pair.a, "ef", 2), 0);
        io_settle();
        CHECK_EQ(eddy_stream_read(pair.b, buf, 8), 2);

        /* B9: a peer that closes is heard of while the connection is idle. */
        CHECK_EQ(eddy_stream_watch_idle(pair.b, close_it, &pair.b), 0);
        eddy_stream_close(pair.a);
        io_settle();
        CHECK(!pair.b);
        return 0;
}

TEST(an_idle_stream_reports_once_that_it_is_readable)
{
        io_run(idling);
}

/* -- watching for a hang-up --------------------------------------------------- */

static int hang_up_by_reset(void *arg)
{
        struct io_pair pair;
        char buf[8];
        int calls = 0;

        io_pair_open(&pair);
        CHECK_EQ(eddy_stream_watch_hangup(pair.b, count_up, &calls), 0);
        CHECK_EQ(eddy_stream_write(pair.a, "ab", 2), 0);
        CHECK_EQ(eddy_stream_read(pair.b, buf, 8), 2); /* reads go on meanwhile */
        io_settle();
        CHECK_EQ(calls, 0);
        eddy_stream_abort(pair.a);
        io_settle();
        CHECK_EQ(calls, 1);
        CHECK_EQ(eddy_stream_watch_hangup(pair.b, count_up, &calls), -EALREADY);
        io_settle();
        CHECK_EQ(calls, 1);
        eddy_stream_close(pair.b);
        return 0;
}

TEST(a_reset_is_a_hang_up)
{
        io_run(hang_up_by_reset);
}

static int hang_up_by_two_ends(void *arg)
{
        struct io_pair pair;
        char buf[8];
        int calls = 0;

        io_pair_open(&pair);
        CHECK_EQ(eddy_stream_watch_hangup(pair.b, count_up, &calls), 0);
        CHECK_EQ(eddy_stream_shutdown(pair.a), 0);
        CHECK_EQ(eddy_stream_read(pair.b, buf, 8), 0);
        io_settle();
        CHECK_EQ(calls, 0); /* the peer may still read */
        CHECK_EQ(eddy_stream_write(pair.b, "cd", 2), 0);
        CHECK_EQ(eddy_stream_read(pair.a, buf, 8), 2);
        CHECK_EQ(eddy_stream_shutdown(pair.b), 0);
        io_settle();
        CHECK_EQ(calls, 1);
        io_pair_close(&pair);
        return 0;
}

TEST(one_end_is_not_a_hang_up_and_two_are)
{
        io_run(hang_up_by_two_ends);
}

static int hang_up_withdrawn(void *arg)
{
        struct io_pair pair;

        io_pair_open(&pair);
        CHECK_EQ(eddy_stream_watch_hangup(pair.b, never, NULL), 0);
        CHECK_EQ(eddy_stream_watch_hangup(pair.b, NULL, NULL), 0);
        eddy_stream_abort(pair.a);
        io_settle();
        eddy_stream_close(pair.b);
        io_pair_open(&pair);
        CHECK_EQ(eddy_stream_watch_hangup(pair.b, never, NULL), 0);
        eddy_stream_close(pair.b); /* withdraws it */
        eddy_stream_abort(pair.a);
        io_settle();
        return 0;
}

TEST(a_watch_for_a_hang_up_is_withdrawn)
{
        io_run(hang_up_withdrawn);
}

static int readability(void *arg)
{
        struct io_pair pair;
        char buf[8];

        io_pair_open(&pair);
        CHECK(!eddy_stream_is_readable(pair.b));
        CHECK_EQ(eddy_stream_write(pair.a, "ab", 2), 0);
        CHECK(eddy_stream_is_readable(pair.b));
        CHECK_EQ(eddy_stream_read(pair.b, buf, 8), 2);
        CHECK(!eddy_stream_is_readable(pair.b));
        eddy_stream_close(pair.a);
        CHECK(eddy_stream_is_readable(pair.b));
        eddy_stream_close(pair.b);
        return 0;
}

TEST(is_readable_reports_the_present_state)
{
        io_run(readability);
}

/* -- urgent data -------------------------------------------------------------- */

static void send_raw(eddy_stream *stream, const char *text, int flags)
{
        int fd = ed_container_of(stream, struct ed_fd_stream, stream)->watch.fd;

        CHECK_EQ(send(fd, text, strlen(text), flags | MSG_NOSIGNAL), (int64_t) strlen(text));
}

/* All that comes until the end, without urgent bytes: these are '!'. */
static int read_ordinary(void *arg)
{
        struct reading *r = arg;
        char buf[sizeof(r->buf)];
        int64_t n;

        r->n = 0;
        while ((n = eddy_stream_read(r->stream, buf, sizeof(buf))) > 0) {
                for (int64_t i = 0; i < n; i++)
                        if (buf[i] != '!')
                                r->buf[r->n++] = buf[i];
        }
        r->buf[r->n] = '\0';
        return (int) n;
}

/* The reader of 'r' has waited before, or not, and so is known to the poller, or not. */
static void urgent_in_between(struct reading *r, eddy_stream *from, bool waits_first)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_SEC(5) });
        eddy_scope_start(&scope, read_ordinary, r);
        if (waits_first)
                io_settle();
        send_raw(from, "abc", 0);
        send_raw(from, "!", MSG_OOB);
        send_raw(from, "def", 0);
        io_settle();
        /* Urgent bytes alone, and one that comes before anybody reads. */
        send_raw(from, "!", MSG_OOB);
        io_settle();
        send_raw(from, "gh", 0);
        send_raw(from, "!", MSG_OOB);
        send_raw(from, "i", 0);
        io_settle();
        CHECK_EQ(r->n, 9);
        send_raw(from, "j", 0);
        send_raw(from, "!", MSG_OOB);
        send_raw(from, "k", 0);
        CHECK_EQ(eddy_stream_shutdown(from), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_STR(r->buf, "abcdefghijk");
}

static int urgent(void *arg)
{
        struct io_pair pair;
        struct reading r;
        char buf[8];

        for (int i = 0; i < 2; i++) {
                io_pair_open(&pair);
                r = (struct reading){ .stream = pair.b };
                urgent_in_between(&r, pair.a, i);
                io_pair_close(&pair);
        }
        /* An urgent byte is not part of the stream, nor does it make the stream readable. */
        io_pair_open(&pair);
        send_raw(pair.a, "!", MSG_OOB);
        io_settle();
        CHECK(!eddy_stream_is_readable(pair.b));
        send_raw(pair.a, "ab", 0);
        CHECK_EQ(eddy_stream_read(pair.b, buf, 1), 1);
        CHECK_EQ(eddy_stream_read(pair.b, buf + 1, 7), 1);
        CHECK(memcmp(buf, "ab", 2) == 0);
        io_pair_close(&pair);
        return 0;
}

TEST(urgent_data_hides_no_byte_that_comes_after)
{
        io_run(urgent);
}

/* -- what the table can bring ------------------------------------------------ */

static int64_t timed_out_recv(struct ed_sys *sys, int fd, void *buf, size_t bytes)
{
        return -ETIMEDOUT;
}

static int64_t timed_out_send(struct ed_sys *sys, int fd, const struct eddy_slice *slices, size_t n)
{
        return -ETIMEDOUT;
}

static int kernel_timeouts(void *arg)
{
        struct io_tables *tables = io_tables();
        struct io_pair pair;
        char buf[8];

        io_pair_open(&pair);
        CHECK_EQ(eddy_stream_write(pair.b, "x", 1), 0);
        CHECK_EQ(eddy_stream_read(pair.a, buf, 8), 1);
        CHECK_EQ(eddy_stream_write(pair.b, "x", 1), 0);
        tables->socket.recv = timed_out_recv;
        tables->socket.send = timed_out_send;
        CHECK_EQ(eddy_stream_read(pair.a, buf, 8), EDDY_E_NET_TIMED_OUT);
        CHECK_EQ(eddy_stream_write(pair.a, "x", 1), EDDY_E_NET_TIMED_OUT);
        io_pair_close(&pair);
        return 0;
}

TEST(a_timeout_of_the_kernel_is_not_one_of_a_scope)
{
        io_run(kernel_timeouts);
}

static int full_watch(struct ed_sys *sys, int fd, struct ed_target *target)
{
        return -ENOSPC;
}

static int cannot_wait(void *arg)
{
        struct io_tables *tables = io_tables();
        int (*watch)(struct ed_sys *, int, struct ed_target *) = tables->poll.watch;
        struct io_pair pair;
        char buf[8];

        io_pair_open(&pair);
        tables->poll.watch = full_watch;
        CHECK_EQ(eddy_stream_read(pair.b, buf, 8), -ENOSPC);
        tables->poll.watch = watch;
        CHECK_EQ(eddy_stream_write(pair.a, "x", 1), 0);
        CHECK_EQ(eddy_stream_read(pair.b, buf, 8), 1);
        io_pair_close(&pair);
        return 0;
}

TEST(a_descriptor_that_cannot_be_watched_fails_the_call_only)
{
        io_run(cannot_wait);
}

static int outside(void *arg)
{
        eddy_stream *stream = (eddy_stream *) arg;
        eddy_listener *listener;

        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", 1, NULL, &stream), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_stream_from_fd(0, 0, &stream), EDDY_E_RUN_NOT_RUNNING);
        return 0;
}

TEST(outside_of_a_run_the_calls_say_so)
{
        CHECK_EQ(outside(NULL), 0);
}

/* -- fairness ----------------------------------------------------------------- */

static int count_turns(void *arg)
{
        for (;;) {
                if (eddy_sleep(0) < 0)
                        return 0;
                ++*(int *) arg;
        }
}

static int fair(void *arg)
{
        struct io_pair pair;
        eddy_scope scope;
        int turns = 0;
        char byte;

        io_pair_open(&pair);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, count_turns, &turns);
        ed_loop_current->sys->transfer_max = 1;
        for (int i = 0; i < 1000; i++)
                CHECK_EQ(eddy_stream_write(pair.a, "x", 1), 0);
        CHECK(turns >= 5);
        turns = 0;
        io_settle();
        for (int i = 0; i < 1000; i++)
                CHECK_EQ(eddy_stream_read(pair.b, &byte, 1), 1);
        CHECK(turns >= 5);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        io_pair_close(&pair);
        return 0;
}

TEST(calls_that_need_not_wait_give_way_now_and_then)
{
        io_run(fair);
}
