/*
 * test_websocket_waits.c - a WebSocket whose calls wait: for room, for another task's message, for a
 * silent peer, and for the end. The peer is raw bytes.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "eddy/stream_ops.h"
#include "http/websocket.h"
#include "server_test.h"

enum { ROOM = 64 };

#define M "\0\0\0\0" /* a mask that changes nothing */

static eddy_websocket *websocket;
static eddy_stream *peer;

static void begin(bool is_server, const struct eddy_websocket_opts *opts)
{
        struct eddy_stream_pair_opts pair = { .buffer_bytes = ROOM };
        eddy_stream *own;

        CHECK_EQ(ed_websocket_new(opts, "", is_server, &websocket), 0);
        CHECK_EQ(eddy_stream_pair(&pair, &own, &peer), 0);
        websocket->stream = own;
}

/* Fill the stream's buffer, so that the next write waits. */
static void fill_room(void)
{
        static const char zeros[ROOM];

        CHECK_EQ(eddy_stream_try_writev(websocket->stream, &(struct eddy_slice){ zeros, ROOM }, 1),
                 ROOM);
}

static void skip_bytes(size_t bytes)
{
        char skipped[4096];

        while (bytes > 0) {
                size_t n = bytes < sizeof(skipped) ? bytes : sizeof(skipped);
                int64_t got = eddy_stream_read(peer, skipped, n);

                CHECK(got > 0);
                bytes -= (size_t) got;
        }
}

static void expect_bytes(const char *bytes, size_t n)
{
        char got[ROOM];
        size_t have = 0;

        CHECK(n <= sizeof(got));
        while (have < n) {
                int64_t more = eddy_stream_read(peer, got + have, n - have);

                CHECK(more > 0);
                have += (size_t) more;
        }
        CHECK(memcmp(got, bytes, n) == 0);
}

static void end(void)
{
        eddy_stream_close(peer);
        eddy_websocket_close(websocket, 0, NULL);
}

/* ---- cancels --------------------------------------------------------------------------- */

static int write_hello(void *arg)
{
        (void) arg;
        return eddy_websocket_write(websocket, EDDY_WEBSOCKET_TEXT, "hello", 5);
}

static int cancel_without_room(void *arg)
{
        static const struct eddy_websocket_opts opts = { .fragment_bytes = 2 };

        (void) arg;
        begin(true, &opts);
        fill_room();
        CHECK_ERR(eddy_call_timeout(write_hello, NULL, EDDY_MS(5)), -ETIMEDOUT);
        skip_bytes(ROOM);
        CHECK_EQ(write_hello(NULL), 0);
        expect_bytes("\x01\x02he\x00\x02ll\x80\x01o", 11);
        end();
        return 0;
}

TEST(a_write_in_fragments_that_is_cancelled_before_its_first_byte_breaks_nothing)
{
        http_run(cancel_without_room, NULL);
}

/* ---- answers to pings while another task sends -------------------------------------------- */

static int ping(void *arg)
{
        (void) arg;
        return eddy_websocket_ping(websocket, "p", 1);
}

static int read_to_end(void *arg)
{
        struct eddy_websocket_message message;

        (void) arg;
        return eddy_websocket_read(websocket, &message);
}

static int ping_while_task_sends(void *arg)
{
        static const struct eddy_websocket_opts opts = { .ping_ns = -1 };
        eddy_task_fn *const *fn = arg;
        eddy_scope scope;

        begin(true, &opts);
        fill_room();
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, *fn, NULL), 0);
        CHECK_EQ(eddy_scope_start(&scope, read_to_end, NULL), 0);
        CHECK_EQ(eddy_stream_write(peer, "\x89\x81" M "1", 7), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0); /* the answer waits for the other task */
        skip_bytes(ROOM);
        if (*fn == ping)
                expect_bytes("\x89\x01p", 3);
        else
                expect_bytes("\x81\x05hello", 7);
        expect_bytes("\x8a\x01"
                     "1",
                     3);
        CHECK_EQ(eddy_stream_write(peer, "\x88\x80" M, 6), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        end();
        return 0;
}

TEST(a_ping_that_comes_while_a_task_sends_is_answered_after_it)
{
        eddy_task_fn *const fns[] = { write_hello, ping };

        for (size_t i = 0; i < 2; i++)
                http_run(ping_while_task_sends, (void *) &fns[i]);
}

/* The answers are being sent after a message when another ping comes. */
static int ping_while_answer_waits(void *arg)
{
        static const struct eddy_websocket_opts opts = { .ping_ns = -1 };
        eddy_scope scope;

        (void) arg;
        begin(true, &opts);
        fill_room();
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, write_hello, NULL), 0);
        CHECK_EQ(eddy_scope_start(&scope, read_to_end, NULL), 0);
        CHECK_EQ(eddy_stream_write(peer, "\x89\x81" M "1", 7), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        skip_bytes(7); /* room for the message only */
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(eddy_stream_write(peer, "\x89\x81" M "2", 7), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        skip_bytes(ROOM - 7);
        expect_bytes("\x81\x05hello\x8a\x01"
                     "1\x8a\x01"
                     "2",
                     13);
        CHECK_EQ(eddy_stream_write(peer, "\x88\x80" M, 6), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        end();
        return 0;
}

TEST(a_ping_that_comes_while_an_earlier_answer_waits_for_room_is_answered)
{
        http_run(ping_while_answer_waits, NULL);
}

static int cancel_while_ping_comes(void *arg)
{
        static const struct eddy_websocket_opts opts = { .ping_ns = -1 };
        eddy_scope scope, writing;

        (void) arg;
        begin(true, &opts);
        fill_room();
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, read_to_end, NULL), 0);
        eddy_scope_begin(&writing, NULL);
        CHECK_EQ(eddy_scope_start(&writing, write_hello, NULL), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(eddy_stream_write(peer, "\x89\x81" M "1", 7), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        eddy_scope_cancel(&writing);
        (void) eddy_scope_end(&writing);
        skip_bytes(ROOM);
        expect_bytes("\x8a\x01"
                     "1",
                     3);
        CHECK_EQ(eddy_stream_write(peer, "\x88\x80" M, 6), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        end();
        return 0;
}

TEST(a_ping_that_comes_while_a_task_sends_is_answered_also_if_that_task_is_cancelled)
{
        http_run(cancel_while_ping_comes, NULL);
}

/* ---- silence --------------------------------------------------------------------------- */

static int read_in_slices(void *arg)
{
        static const struct eddy_websocket_opts opts = { .ping_ns = 0 };
        int64_t before = eddy_now();
        int err;

        (void) arg;
        begin(true, &opts);
        do
                err = eddy_call_timeout(read_to_end, NULL, EDDY_SEC(3));
        while (err == -ETIMEDOUT && eddy_now() - before < EDDY_MIN(5));
        CHECK_ERR(err, EDDY_E_NET_TIMED_OUT);
        CHECK_EQ((eddy_now() - before) / EDDY_SEC(1), 40);
        expect_bytes("\x89\x00", 2);
        end();
        return 0;
}

TEST(a_silent_peer_is_lost_also_if_each_read_is_cancelled_before)
{
        http_run(read_in_slices, NULL);
}

static int write_much(void *arg)
{
        static const char zeros[10 * ROOM];

        (void) arg;
        return eddy_websocket_write(websocket, EDDY_WEBSOCKET_BINARY, zeros, sizeof(zeros));
}

/* The peer takes the message so slowly that it lasts some pings, or, with 'arg' 0, nothing. */
static int stick(void *arg)
{
        static const struct eddy_websocket_opts opts = { .ping_ns = 0 };
        int64_t before = eddy_now();
        int turns = *(int *) arg;
        eddy_scope scope;
        int err = 0;

        begin(true, &opts);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, write_much, NULL), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(eddy_stream_write(peer, "\x89\x80" M, 6), 0); /* the answer waits */
        for (int i = 0; i < turns; i++) {
                err = eddy_call_timeout(read_to_end, NULL, EDDY_SEC(15));
                CHECK_ERR(err, -ETIMEDOUT);
                skip_bytes(ROOM);
        }
        before = eddy_now();
        err = eddy_call_timeout(read_to_end, NULL, EDDY_MIN(5));
        CHECK_ERR(err, EDDY_E_NET_TIMED_OUT);
        CHECK(eddy_now() - before <= EDDY_SEC(60));
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        end();
        return 0;
}

TEST(a_peer_that_takes_nothing_of_a_message_is_lost_and_a_slow_one_is_not)
{
        int turns[] = { 0, 5 };

        for (size_t i = 0; i < 2; i++)
                http_run(stick, &turns[i]);
}

/* ---- the end --------------------------------------------------------------------------- */

static int64_t slow_try_read(eddy_stream *stream, void *buf, size_t bytes)
{
        (void) stream;
        (void) buf;
        (void) bytes;
        return -EAGAIN;
}

static int64_t slow_try_writev(eddy_stream *stream, const struct eddy_slice *slices, size_t n)
{
        int64_t bytes = 0;

        (void) stream;
        for (size_t i = 0; i < n; i++)
                bytes += (int64_t) slices[i].bytes;
        return bytes;
}

static int slow_wait(eddy_stream *stream, enum eddy_stream_side side)
{
        (void) stream;
        (void) side;
        return eddy_sleep(EDDY_MIN(1));
}

/* As TLS, which sends what it holds. */
static void slow_close(eddy_stream *stream, unsigned flags)
{
        (void) stream;
        if (!flags)
                (void) eddy_sleep(EDDY_SEC(7));
}

static const struct eddy_stream_ops slow_ops = { .kind = "slow",
                                                 .try_read = slow_try_read,
                                                 .try_writev = slow_try_writev,
                                                 .wait = slow_wait,
                                                 .close = slow_close };

static int close_slowly(void *arg)
{
        static const struct eddy_websocket_opts opts = { .close_ns = EDDY_SEC(3) };
        struct eddy_stream stream = { .ops = NULL };
        int64_t before = eddy_now();

        (void) arg;
        CHECK_EQ(ed_websocket_new(&opts, "", true, &websocket), 0);
        eddy_stream_init(&stream, &slow_ops);
        websocket->stream = &stream;
        eddy_websocket_close(websocket, 0, NULL);
        CHECK_EQ(eddy_now() - before, EDDY_SEC(3));
        return 0;
}

TEST(the_close_of_the_stream_is_within_the_time_of_a_close)
{
        http_run(close_slowly, NULL);
}

/* ---- a connect that fails at once ------------------------------------------------------- */

static void *connect_in_thread(void *arg)
{
        eddy_websocket *none = NULL;

        CHECK_ERR(eddy_websocket_connect(arg, "ws://a/", NULL, &none), EDDY_E_RUN_NOT_RUNNING);
        return NULL;
}

static int connect_wrong(void *arg)
{
        struct eddy_http_fault fault;
        const struct eddy_websocket_opts wrong = { .pong_ns = -1, .ret_fault = &fault };
        eddy_websocket *none = NULL;
        eddy_http_client *client;
        pthread_t thread;

        (void) arg;
        memset(&fault, 'x', sizeof(fault));
        CHECK_EQ(eddy_http_client_new(NULL, &client), 0);
        CHECK_ERR(eddy_websocket_connect(client, "ws://a/", &wrong, &none), -EINVAL);
        CHECK_STR(fault.text, "");
        CHECK_EQ(fault.status, 0);
        CHECK_EQ(pthread_create(&thread, NULL, connect_in_thread, client), 0);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        eddy_http_client_close(client);
        return 0;
}

TEST(a_connect_with_a_wrong_option_or_outside_a_run_is_an_error)
{
        http_run(connect_wrong, NULL);
}
