/*
 * test_pair.c - two connected streams in memory: bytes, bounds, ends, resets, closes under waiters,
 * idle watching.
 */
#include <errno.h>

#include "cancel_at.h"
#include "eddy/eddy.h"
#include "eddy/test.h"
#include "test.h"

enum { SMALL = 7 };

static eddy_stream *a, *b;

static void pair_open(size_t bytes)
{
        struct eddy_stream_pair_opts opts = { .buffer_bytes = bytes };

        CHECK_EQ(eddy_stream_pair(&opts, &a, &b), 0);
}

static void pair_close(void)
{
        eddy_stream_close(a);
        eddy_stream_close(b);
        a = b = NULL;
}

static void run(eddy_task_fn *fn)
{
        int result = eddy_test_run(fn, NULL, NULL, NULL);

        CHECK_STR(result ? eddy_error_name(result) : "0", "0");
}

/* --- bytes --- */

enum { BYTES = 500 };

static unsigned char sent[BYTES], got[BYTES];

static int sends(void *arg)
{
        struct eddy_slice slices[3] = { { sent, 3 },
                                        { sent + 3, 100 },
                                        { sent + 103, BYTES - 103 } };

        CHECK_EQ(eddy_stream_writev(arg, slices, 3), 0);
        CHECK_EQ(eddy_stream_shutdown(arg), 0);
        return 0;
}

static int receives(void *arg)
{
        size_t at = 0;
        int64_t n;

        while ((n = eddy_stream_read(arg, got + at, BYTES + 1 - at)) > 0) {
                at += (size_t) n;
                CHECK_EQ(eddy_sleep(at % 3 == 0 ? EDDY_MS(1) : 0), 0);
        }
        CHECK_EQ(n, 0);
        CHECK_EQ(at, BYTES);
        CHECK(memcmp(got, sent, BYTES) == 0);
        return 0;
}

static int both_directions(void *arg)
{
        (void) arg;
        for (int i = 0; i < BYTES; i++)
                sent[i] = (unsigned char) (i * 7 + i / 251);
        for (size_t bytes = 1; bytes < 2000; bytes = bytes * 3 + 1) {
                for (int way = 0; way < 2; way++) {
                        eddy_scope scope;

                        pair_open(bytes);
                        eddy_scope_begin(&scope, NULL);
                        eddy_scope_start(&scope, sends, way ? a : b);
                        eddy_scope_start(&scope, receives, way ? b : a);
                        CHECK_EQ(eddy_scope_end(&scope), 0);
                        pair_close();
                }
        }
        return 0;
}

TEST(bytes_arrive_in_order_through_a_buffer_of_any_size)
{
        run(both_directions);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_SEEDS, both_directions, NULL, NULL, NULL), 0);
}

static int bounded(void *arg)
{
        struct eddy_slice slice = { "0123456789", 10 };
        struct eddy_stream_sent counts;
        char buf[16];

        (void) arg;
        pair_open(SMALL);
        CHECK_EQ(eddy_stream_try_read(b, buf, sizeof(buf)), -EAGAIN);
        CHECK_EQ(eddy_stream_is_readable(b), 0);
        CHECK_EQ(eddy_stream_try_writev(a, &slice, 1), SMALL);
        CHECK_EQ(eddy_stream_try_writev(a, &slice, 1), -EAGAIN);
        CHECK_EQ(eddy_stream_is_readable(b), 1);
        eddy_stream_sent(a, &counts);
        CHECK_EQ(counts.pending, SMALL);
        CHECK_EQ(counts.acknowledged, 0);
        CHECK_EQ(eddy_stream_try_read(b, buf, 2), 2);
        eddy_stream_sent(a, &counts);
        CHECK_EQ(counts.pending, SMALL - 2);
        CHECK_EQ(counts.acknowledged, 2);
        CHECK_EQ(eddy_stream_try_writev(a, &slice, 1), 2);
        CHECK_EQ(eddy_stream_read(b, buf, sizeof(buf)), SMALL);
        CHECK(memcmp(buf, "2345601", SMALL) == 0);
        CHECK_STR(eddy_stream_kind(a), "pair");
        CHECK_EQ(eddy_stream_fd(a), -1);
        pair_close();
        CHECK_EQ(eddy_stream_pair(&(struct eddy_stream_pair_opts){ SIZE_MAX, { 0 } }, &a, &b),
                 -EINVAL);
        CHECK_EQ(eddy_stream_pair(NULL, &a, &b), 0);
        pair_close();
        return 0;
}

TEST(the_buffer_is_bounded_each_way)
{
        CHECK_EQ(eddy_stream_pair(NULL, &a, &b), EDDY_E_RUN_NOT_RUNNING);
        run(bounded);
}

/* --- ends --- */

static int ends(void *arg)
{
        char buf[16];

        (void) arg;
        pair_open(SMALL);
        CHECK_EQ(eddy_stream_write(a, "last", 4), 0);
        for (int i = 0; i < 2; i++)
                CHECK_EQ(eddy_stream_shutdown(a), 0);
        CHECK_EQ(eddy_stream_write(a, "x", 1), -EPIPE);
        CHECK_EQ(eddy_stream_read(b, buf, sizeof(buf)), 4);
        for (int i = 0; i < 2; i++)
                CHECK_EQ(eddy_stream_read(b, buf, sizeof(buf)), 0);
        /* The other direction continues. */
        CHECK_EQ(eddy_stream_write(b, "still", 5), 0);
        CHECK_EQ(eddy_stream_read(a, buf, sizeof(buf)), 5);
        pair_close();

        pair_open(SMALL);
        CHECK_EQ(eddy_stream_write(a, "last", 4), 0);
        eddy_stream_close(a);
        CHECK_EQ(eddy_stream_write(b, "x", 1), -EPIPE);
        CHECK_EQ(eddy_stream_shutdown(b), 0);
        CHECK_EQ(eddy_stream_read(b, buf, sizeof(buf)), 4);
        CHECK_EQ(eddy_stream_read(b, buf, sizeof(buf)), 0);
        eddy_stream_close(b);
        return 0;
}

TEST(after_a_shutdown_or_close_the_peer_reads_the_rest_and_then_the_end)
{
        run(ends);
}

static void check_reset(eddy_stream *stream, int rest)
{
        char buf[16];

        if (rest > 0)
                CHECK_EQ(eddy_stream_read(stream, buf, sizeof(buf)), rest);
        for (int i = 0; i < 2; i++) {
                CHECK_EQ(eddy_stream_read(stream, buf, sizeof(buf)), -ECONNRESET);
                CHECK_EQ(eddy_stream_write(stream, "x", 1), -ECONNRESET);
                CHECK_EQ(eddy_stream_shutdown(stream), -ENOTCONN);
        }
        eddy_stream_close(stream);
}

static int resets(void *arg)
{
        (void) arg;
        pair_open(SMALL);
        CHECK_EQ(eddy_stream_write(a, "last", 4), 0);
        eddy_stream_abort(a);
        check_reset(b, 4);
        pair_open(SMALL);
        eddy_stream_abort(b);
        check_reset(a, 0);
        /* A close with unread bytes, as on a socket. */
        pair_open(SMALL);
        CHECK_EQ(eddy_stream_write(a, "unread", 6), 0);
        eddy_stream_close(b);
        check_reset(a, 0);
        return 0;
}

/* A131: the close does not wait. */
TEST(an_abort_or_a_close_with_unread_bytes_is_a_reset_for_the_peer)
{
        run(resets);
}

/* --- waiters --- */

struct wait {
        eddy_stream *stream;
        enum eddy_stream_side side;
        int64_t result;
};

static int waits(void *arg)
{
        struct wait *wait = arg;
        char buf[16] = "0123456789";

        if (wait->side == EDDY_STREAM_READING)
                wait->result = eddy_stream_read(wait->stream, buf, sizeof(buf));
        else
                wait->result = eddy_stream_write(wait->stream, buf, 10);
        return 0;
}

/* What a reader and a writer of 'a' get when 'end' is called on 'stream'. */
static void end_under_waiters(void (*end)(eddy_stream *stream), bool of_peer, int64_t reader,
                              int64_t writer)
{
        struct wait in, out;
        eddy_scope scope;

        pair_open(SMALL);
        in = (struct wait){ a, EDDY_STREAM_READING, 99 };
        out = (struct wait){ a, EDDY_STREAM_WRITING, 99 };
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, waits, &in);
        eddy_scope_start(&scope, waits, &out);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(in.result, 99);
        CHECK_EQ(out.result, 99);
        end(of_peer ? b : a);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(in.result, reader);
        CHECK_EQ(out.result, writer);
        eddy_stream_close(of_peer ? a : b);
}

static int ended_under_waiters(void *arg)
{
        (void) arg;
        end_under_waiters(eddy_stream_close, false, -ECANCELED, -ECANCELED);
        end_under_waiters(eddy_stream_abort, false, -ECANCELED, -ECANCELED);
        end_under_waiters(eddy_stream_abort, true, -ECONNRESET, -ECONNRESET);
        /* The peer has not read the writer's first bytes. */
        end_under_waiters(eddy_stream_close, true, -ECONNRESET, -ECONNRESET);
        return 0;
}

/* A128: a lost connection wakes the writer. */
TEST(waiters_are_woken_by_the_close_of_either_end)
{
        run(ended_under_waiters);
}

static int call_wait(void *arg)
{
        waits(arg);
        return (int) ((struct wait *) arg)->result;
}

static int writes_later(void *arg)
{
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        return eddy_stream_write(arg, "later", 5);
}

static int cancelled_anywhere(void *arg)
{
        bool reached = true;
        char buf[16];

        (void) arg;
        for (int n = 0; reached; n++) {
                struct wait in = { 0 };
                eddy_scope scope;
                int result;

                pair_open(SMALL);
                in = (struct wait){ a, EDDY_STREAM_READING, 99 };
                eddy_scope_begin(&scope, NULL);
                eddy_scope_start(&scope, writes_later, b);
                result = cancel_at(n, call_wait, &in, &reached);
                CHECK(result == 5 || (result == -ECANCELED && reached));
                if (result < 0)
                        CHECK_EQ(eddy_stream_read(a, buf, sizeof(buf)), 5);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                pair_close();
        }
        return 0;
}

TEST(a_cancelled_read_of_a_pair_takes_nothing)
{
        run(cancelled_anywhere);
}

static int waits_for_ever(void *arg)
{
        char byte;

        (void) arg;
        pair_open(SMALL);
        CHECK_EQ(eddy_stream_read(a, &byte, 1), -ECANCELED);
        pair_close();
        return 0;
}

static void no_report(const struct eddy_report *report, void *arg)
{
        *(int *) arg |= report->kind == EDDY_REPORT_DEADLOCK;
}

TEST(a_reader_that_no_task_can_serve_is_a_deadlock)
{
        int reported = 0;
        struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_SIGNALS | EDDY_RUN_NO_WATCHDOG,
                                      .report = no_report,
                                      .report_arg = &reported };

        CHECK_EQ(eddy_run(waits_for_ever, NULL, &opts), -EDEADLK);
        CHECK(reported);
}

/* --- idle --- */

static void counts(void *arg)
{
        ++*(int *) arg;
}

static void closes(void *arg)
{
        eddy_stream_close(*(eddy_stream **) arg);
        *(eddy_stream **) arg = NULL;
}

static int watched(void *arg)
{
        char byte;
        int calls = 0;

        (void) arg;
        pair_open(SMALL);
        CHECK_EQ(eddy_stream_watch_idle(a, counts, &calls), 0);
        CHECK_EQ(eddy_stream_read(a, &byte, 1), -EBUSY);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(calls, 0);
        CHECK_EQ(eddy_stream_write(b, "xy", 2), 0);
        CHECK_EQ(calls, 0); /* from the loop only */
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(calls, 1);
        CHECK_EQ(eddy_stream_read(a, &byte, 1), 1);
        /* Bytes that are there already. */
        CHECK_EQ(eddy_stream_watch_idle(a, counts, &calls), 0);
        CHECK_EQ(calls, 1);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(calls, 2);
        /* Withdrawn, also between the event and the call. */
        CHECK_EQ(eddy_stream_watch_idle(a, counts, &calls), 0);
        CHECK_EQ(eddy_stream_watch_idle(a, NULL, NULL), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(calls, 2);
        CHECK_EQ(eddy_stream_read(a, &byte, 1), 1);
        /* The end counts, and the callback may close the stream. */
        CHECK_EQ(eddy_stream_watch_idle(a, closes, &a), 0);
        eddy_stream_close(b);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK(a == NULL);
        /* Closed before the call. */
        pair_open(SMALL);
        CHECK_EQ(eddy_stream_watch_idle(a, counts, &calls), 0);
        CHECK_EQ(eddy_stream_write(b, "x", 1), 0);
        pair_close();
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(calls, 2);
        return 0;
}

TEST(an_idle_end_reports_bytes_and_the_end_once_from_the_loop)
{
        run(watched);
}

/* --- the end of the connection --- */

/* Half-closes are not the end; both of them, a close and a reset are. */
static int hung_up(void *arg)
{
        int calls = 0, idle = 0;
        char byte;

        (void) arg;
        pair_open(SMALL);
        CHECK_EQ(eddy_stream_watch_hangup(a, counts, &calls), 0);
        CHECK_EQ(eddy_stream_write(b, "x", 1), 0);
        CHECK_EQ(eddy_stream_shutdown(b), 0);
        CHECK_EQ(eddy_stream_read(a, &byte, 1), 1);
        CHECK_EQ(eddy_stream_read(a, &byte, 1), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(calls, 0);
        CHECK_EQ(eddy_stream_shutdown(a), 0);
        CHECK_EQ(calls, 0); /* from the loop only */
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(calls, 1);
        CHECK_EQ(eddy_stream_watch_hangup(a, counts, &calls), -EALREADY);
        pair_close();
        /* Beside the other callback, which closes the stream; and withdrawn between event and call. */
        for (int abort = 0; abort < 2; abort++) {
                pair_open(SMALL);
                calls = 0;
                CHECK_EQ(eddy_stream_watch_hangup(a, counts, &calls), 0);
                CHECK_EQ(eddy_stream_watch_idle(a, abort ? closes : counts,
                                                abort ? (void *) &a : &idle),
                         0);
                (abort ? eddy_stream_abort : eddy_stream_close)(b);
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
                CHECK_EQ(calls, 1);
                CHECK(abort ? a == NULL : idle == 1);
                b = NULL;
                pair_close();
                pair_open(SMALL);
                CHECK_EQ(eddy_stream_watch_hangup(a, counts, &calls), 0);
                (abort ? eddy_stream_abort : eddy_stream_close)(b);
                CHECK_EQ(eddy_stream_watch_hangup(a, NULL, NULL), 0);
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
                CHECK_EQ(calls, 1);
                b = NULL;
                pair_close();
        }
        return 0;
}

TEST(the_end_of_both_directions_and_a_reset_are_reported_once_from_the_loop)
{
        run(hung_up);
}

static int short_of_memory(void *arg)
{
        (void) arg;
        if (eddy_stream_pair(NULL, &a, &b) == -ENOMEM)
                return 0;
        pair_close();
        return 0;
}

TEST(a_pair_without_memory_leaves_nothing)
{
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_ALLOC, short_of_memory, NULL, NULL, NULL), 0);
}
