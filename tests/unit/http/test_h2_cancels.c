/*
 * test_h2_cancels.c - streams of HTTP/2 that are cancelled at random on one connection without limits: the
 * others are right, and both sides agree on their windows at the end.
 */
#include "eddy/test.h"
#include "h2_pair.h"

/* A million with EDDY_TEST_FULL. */
enum { CANCELS = 2000, CANCELS_ALL = 1000000, TASKS = 32, BYTES_MAX = 12000 };

static struct {
        uint64_t state; /* of the random numbers */
        int left;       /* streams to cancel */
        int cancelled, timed_out, whole;
} run;

/* Returns a random number from 0 to n - 1. */
static unsigned draw(unsigned n)
{
        run.state ^= run.state << 13;
        run.state ^= run.state >> 7;
        run.state ^= run.state << 17;
        return (unsigned) (run.state >> 33) % n;
}

/* Send the request's body back, sometimes after a while or not at all. */
static void echo(struct h2_call *call)
{
        unsigned char buf[4096];
        int64_t n = 0;
        int err = 0;

        if (draw(3) == 0)
                err = eddy_sleep(EDDY_US(1 + draw(3000)));
        if (err == 0)
                err = h2_respond(call, "200", true);
        while (err == 0 && (n = eddy_stream_read(&call->stream.stream, buf, sizeof(buf))) > 0)
                err = eddy_stream_write(&call->stream.stream, buf, (size_t) n);
        if (err == 0 && n == 0)
                (void) eddy_stream_shutdown(&call->stream.stream);
}

static size_t draw_bytes(void)
{
        return draw(4) ? draw(200) : draw(BYTES_MAX);
}

/* Do a part of an exchange, and cancel it. */
static void ask_in_part(struct h2_side *client)
{
        struct h2_call *call = h2_request(client, "POST", "/", true);
        unsigned steps = draw(5);
        char buf[300];
        uint32_t sum = 0;

        CHECK(call);
        if (steps > 0)
                CHECK_EQ(h2_write_bytes(call, 1 + draw_bytes(), &sum), 0);
        if (steps > 1)
                http_pause(0);
        if (steps > 2)
                CHECK_EQ(h2_await(call), 200);
        if (steps > 3)
                CHECK(eddy_stream_read(&call->stream.stream, buf, 1 + draw(sizeof(buf))) > 0);
        eddy_stream_abort(&call->stream.stream);
        run.cancelled++;
}

/* Returns 0 if the body comes back, or -ECANCELED. */
static int ask_whole(void *arg)
{
        struct h2_call *call = h2_request(arg, "POST", "/", true);
        size_t bytes = draw_bytes();
        uint32_t sent = 0, got = 0;
        int64_t n;
        int err;

        CHECK(call);
        err = h2_write_bytes(call, bytes, &sent);
        if (err == 0)
                err = eddy_stream_shutdown(&call->stream.stream);
        n = err == 0 ? h2_await(call) : err;
        if (n == 200) {
                n = h2_read_all(call, &got);
                CHECK(n == (int64_t) bytes ? got == sent : n == -ECANCELED);
        }
        CHECK(n >= 0 || n == -ECANCELED);
        h2_close(call);
        return n < 0 ? (int) n : 0;
}

static int ask_at_random(void *client)
{
        int err;

        while (run.left > 0) {
                if (draw(2)) {
                        run.left--;
                        ask_in_part(client);
                        continue;
                }
                err = draw(3) ? ask_whole(client)
                              : eddy_call_timeout(ask_whole, client, EDDY_US(draw(2000)));
                CHECK(err == 0 || err == -ETIMEDOUT);
                run.left -= err < 0;
                run.timed_out += err < 0;
                run.whole += err == 0;
        }
        return 0;
}

static void check_windows(const struct h2_side *a, const struct h2_side *b)
{
        CHECK_EQ(a->calls, 0);
        CHECK_EQ(a->h2.streams_count, 0);
        CHECK_EQ(a->h2.unread, 0);
        CHECK_EQ(a->h2.kept, 0);
        /* One side may send the bytes that the other side is ready to receive. */
        CHECK_EQ(nghttp2_session_get_remote_window_size(a->h2.session),
                 nghttp2_session_get_local_window_size(b->h2.session));
}

static int cancel_at_random(void *arg)
{
        struct h2_pair pair;
        eddy_scope scope;

        (void) arg;
        memset(&run, 0, sizeof(run));
        run.state = 88172645463325252;
        run.left = getenv("EDDY_TEST_FULL") ? CANCELS_ALL : CANCELS;
        CHECK_EQ(h2_pair_init(&pair, echo), 0);
        CHECK_EQ(h2_pair_start(&pair), 0);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < TASKS; i++)
                CHECK_EQ(eddy_scope_start(&scope, ask_at_random, &pair.client), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        http_pause(EDDY_MS(10));
        check_windows(&pair.client, &pair.server);
        check_windows(&pair.server, &pair.client);
        CHECK(run.timed_out > 0);
        printf("# %d cancelled, %d of them by their time; %d whole\n",
               run.cancelled + run.timed_out, run.timed_out, run.whole);
        CHECK_EQ(h2_pair_end(&pair), 0);
        CHECK_EQ(pair.client.result, 0);
        CHECK_EQ(pair.server.result, 0);
        return 0;
}

TEST(random_cancels_on_one_connection_end_no_other_stream_and_lose_no_credit)
{
        http_run(cancel_at_random, NULL);
}
