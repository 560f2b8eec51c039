/*
 * test_pace.c - the minimum speed at which a peer takes bytes, for streams that do not know what
 * the peer has taken: 240 bytes a second over 10 seconds.
 */
#include "../tls/tls_test.h"
#include "eddy/test_net.h"
#include "http/pace.h"
#include "http_test.h"

enum { BYTES = 30000, BUFFER_BYTES = 1000 };

/* A stream of a user, with no operations but the required ones. */
struct user_stream {
        struct eddy_stream stream;
        eddy_stream *lower;
        int64_t pause_ns; /* between two writes below; 0: none */
        size_t bytes_max; /* of a write below */
        int64_t next_ns;  /* no write before */
};

static struct user_stream *user_of(const eddy_stream *stream)
{
        return (struct user_stream *) (uintptr_t) stream;
}

static int64_t user_try_read(eddy_stream *stream, void *buf, size_t bytes)
{
        return eddy_stream_try_read(user_of(stream)->lower, buf, bytes);
}

static int64_t user_try_writev(eddy_stream *stream, const struct eddy_slice *slices, size_t n)
{
        struct user_stream *user = user_of(stream);
        struct eddy_slice part = slices[0];
        int64_t taken;

        if (eddy_now() < user->next_ns)
                return -EAGAIN;
        if (user->pause_ns == 0)
                return eddy_stream_try_writev(user->lower, slices, n);
        part.bytes = part.bytes < user->bytes_max ? part.bytes : user->bytes_max;
        taken = eddy_stream_try_writev(user->lower, &part, 1);
        if (taken > 0)
                user->next_ns = eddy_now() + user->pause_ns;
        return taken;
}

static int user_wait(eddy_stream *stream, enum eddy_stream_side side)
{
        struct user_stream *user = user_of(stream);

        if (side == EDDY_STREAM_WRITING && eddy_now() < user->next_ns)
                return eddy_sleep(user->next_ns - eddy_now());
        return eddy_stream_wait(user->lower, side);
}

static bool user_is_readable(eddy_stream *stream)
{
        return eddy_stream_is_readable(user_of(stream)->lower) > 0;
}

static int user_shutdown(eddy_stream *stream)
{
        return eddy_stream_shutdown(user_of(stream)->lower);
}

static void user_close(eddy_stream *stream, unsigned flags)
{
        (void) flags;
        eddy_stream_abort(user_of(stream)->lower);
}

static const struct eddy_stream_ops user_ops = {
        .kind = "user",
        .try_read = user_try_read,
        .try_writev = user_try_writev,
        .wait = user_wait,
        .is_readable = user_is_readable,
        .shutdown = user_shutdown,
        .close = user_close,
};

/* A stream that asks the one below, which may not know. */
static void asking_sent(const eddy_stream *stream, struct eddy_stream_sent *ret_sent)
{
        eddy_stream_sent(user_of(stream)->lower, ret_sent);
}

static const struct eddy_stream_ops asking_ops = {
        .kind = "asking",
        .try_read = user_try_read,
        .try_writev = user_try_writev,
        .wait = user_wait,
        .is_readable = user_is_readable,
        .shutdown = user_shutdown,
        .close = user_close,
        .sent = asking_sent,
};

struct peer_that_reads {
        eddy_stream *stream;
        size_t bytes; /* at each read */
        int64_t pause_ns;
        int64_t busy_ns; /* after each read, in which the loop does not run */
};

static int read_on(void *arg)
{
        struct peer_that_reads *peer = arg;
        static char buf[BYTES];

        for (;;) {
                int64_t n = eddy_sleep(peer->pause_ns);

                if (n == 0)
                        n = eddy_stream_read(peer->stream, buf, peer->bytes);
                if (n <= 0)
                        return 0;
                if (peer->busy_ns > 0)
                        io_clock_advance(peer->busy_ns);
        }
}

/* Write BYTES while the peer reads; the result must be 'expected'. Returns the duration. */
static int64_t write_to(eddy_stream *stream, struct peer_that_reads *peer, int expected)
{
        static char data[BYTES];
        struct eddy_slice halves[] = { { data, BYTES / 2 }, { NULL, 0 }, { data, BYTES / 2 } };
        int64_t before_ns = eddy_now();
        struct ed_http_pace pace;
        eddy_scope scope;

        ed_http_pace_init(&pace, 240, EDDY_SEC(10));
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, read_on, peer), 0);
        CHECK_EQ(ed_http_pace_writev(&pace, stream, halves, 3), expected);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        return eddy_now() - before_ns;
}

static void open_pair(struct user_stream *user, struct peer_that_reads *peer)
{
        struct eddy_stream_pair_opts opts = { .buffer_bytes = BUFFER_BYTES };

        CHECK_EQ(eddy_stream_pair(&opts, &user->lower, &peer->stream), 0);
        eddy_stream_init(&user->stream, &user_ops);
}

static int64_t write_to_reader(size_t bytes, int64_t pause_ns, int expected)
{
        struct user_stream user = { .pause_ns = 0 };
        struct peer_that_reads peer = { .bytes = bytes, .pause_ns = pause_ns };
        int64_t duration_ns;

        open_pair(&user, &peer);
        duration_ns = write_to(&user.stream, &peer, expected);
        eddy_stream_close(&user.stream);
        eddy_stream_close(peer.stream);
        return duration_ns;
}

static void check_cut(int64_t duration_ns)
{
        CHECK(duration_ns >= EDDY_SEC(10) && duration_ns <= EDDY_SEC(20));
}

/* ---- a stream that does not know --------------------------------------------------- */

static int slow_readers(void *arg)
{
        (void) arg;
        check_cut(write_to_reader(1, EDDY_SEC(1), EDDY_E_NET_TIMED_OUT));
        check_cut(write_to_reader(100, EDDY_SEC(1), EDDY_E_NET_TIMED_OUT));
        check_cut(write_to_reader(1, EDDY_MIN(5), EDDY_E_NET_TIMED_OUT)); /* takes none */
        return 0;
}

TEST(peer_that_takes_too_little_from_a_stream_that_does_not_know_is_cut)
{
        http_run(slow_readers, NULL);
}

static int fair_readers(void *arg)
{
        (void) arg;
        CHECK(write_to_reader(300, EDDY_SEC(1), 0) > EDDY_SEC(90));
        CHECK(write_to_reader(900, EDDY_SEC(3), 0) > EDDY_SEC(90));
        (void) write_to_reader(BYTES, EDDY_MS(1), 0);
        return 0;
}

TEST(peer_that_takes_300_bytes_a_second_from_a_stream_that_does_not_know_is_served)
{
        http_run(fair_readers, NULL);
}

/* The rate is limited by the stream itself, and the peer takes everything at once. */
static int limiters(void *arg)
{
        struct user_stream user = { .pause_ns = EDDY_SEC(1), .bytes_max = 300 };
        struct peer_that_reads peer = { .bytes = BYTES, .pause_ns = EDDY_MS(1) };

        (void) arg;
        open_pair(&user, &peer);
        CHECK(write_to(&user.stream, &peer, 0) > EDDY_SEC(90));
        user.bytes_max = 100;
        check_cut(write_to(&user.stream, &peer, EDDY_E_NET_TIMED_OUT));
        eddy_stream_close(&user.stream);
        eddy_stream_close(peer.stream);
        return 0;
}

TEST(stream_that_limits_its_rate_has_the_minimum_too)
{
        http_run(limiters, NULL);
}

/* The peer takes all that the stream holds, and the task that writes does not run. */
static int late_loop(void *arg)
{
        struct user_stream user = { .pause_ns = 0 };
        struct peer_that_reads peer = { .bytes = BYTES, .pause_ns = 0, .busy_ns = EDDY_SEC(15) };

        struct io_pair sockets;

        (void) arg;
        CHECK_EQ(eddy_test_link_set(&(struct eddy_test_link){ .buffer_bytes = BUFFER_BYTES }), 0);
        io_pair_open(&sockets);
        user.lower = sockets.a;
        peer.stream = sockets.b;
        eddy_stream_init(&user.stream, &user_ops);
        CHECK(write_to(&user.stream, &peer, 0) > EDDY_SEC(60));
        eddy_stream_close(&user.stream);
        eddy_stream_close(peer.stream);
        return 0;
}

TEST(loop_that_is_late_costs_the_peer_nothing)
{
        http_run(late_loop, NULL);
}

/* ---- a stream above it --------------------------------------------------------------- */

static int asks_below(void *arg)
{
        struct user_stream user = { .pause_ns = 0 };
        struct user_stream upper = { .lower = &user.stream };
        struct peer_that_reads peer = { .bytes = 300, .pause_ns = EDDY_SEC(1) };

        (void) arg;
        open_pair(&user, &peer);
        eddy_stream_init(&upper.stream, &asking_ops);
        CHECK(write_to(&upper.stream, &peer, 0) > EDDY_SEC(90));
        peer.bytes = 100;
        check_cut(write_to(&upper.stream, &peer, EDDY_E_NET_TIMED_OUT));
        eddy_stream_close(&upper.stream);
        eddy_stream_close(peer.stream);
        return 0;
}

TEST(stream_above_one_that_does_not_know_has_the_minimum_too)
{
        http_run(asks_below, NULL);
}

static struct tls_files files;

/* The peer takes bytes of TLS at this rate. Records are larger than what it takes in a window. */
static int64_t write_by_tls(size_t bytes, int expected)
{
        struct tls_rig rig = { .files = files };
        struct user_stream user = { .pause_ns = 0 };
        struct peer_that_reads peer = { .bytes = bytes, .pause_ns = EDDY_SEC(1) };
        int64_t duration_ns;

        tls_rig_open(&rig);
        open_pair(&user, &peer);
        rig.lower = (struct io_pair){ &user.stream, peer.stream };
        tls_rig_shake(&rig);
        CHECK_EQ(rig.server_err, 0);
        duration_ns = write_to(rig.server, &peer, expected);
        eddy_stream_abort(rig.client);
        eddy_stream_abort(rig.server);
        rig.client = rig.server = NULL;
        tls_rig_close(&rig);
        return duration_ns;
}

static int by_tls(void *arg)
{
        (void) arg;
        CHECK(write_by_tls(300, 0) > EDDY_SEC(90));
        check_cut(write_by_tls(100, EDDY_E_NET_TIMED_OUT));
        return 0;
}

TEST(peer_of_tls_on_a_stream_that_does_not_know_is_judged_by_its_reads)
{
        tls_files_make_fixed(&files);
        http_run(by_tls, NULL);
}
