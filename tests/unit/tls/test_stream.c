/*
 * test_stream.c - TLS streams: bytes both ways, ends, closes, and what an idle connection does.
 */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "eddy/stream_ops.h"
#include "tls_test.h"

/* -- bytes ------------------------------------------------------------------ */

static int both_ways(void *arg)
{
        struct tls_rig rig = { .client_opts = { .alpn = "h2,http/1.1" },
                               .server_opts = { .alpn = "http/1.1" } };
        struct eddy_endpoint here, there;
        struct eddy_tls_info info;
        char buf[16];

        tls_rig_open(&rig);
        tls_rig_shake(&rig);
        CHECK_EQ(rig.client_err, 0);
        CHECK_EQ(rig.server_err, 0);
        CHECK_EQ(eddy_stream_write(rig.client, "question", 8), 0);
        io_read_all(rig.server, buf, 8);
        CHECK(memcmp(buf, "question", 8) == 0);
        CHECK_EQ(eddy_stream_write(rig.server, "answer", 6), 0);
        io_read_all(rig.client, buf, 6);
        CHECK(memcmp(buf, "answer", 6) == 0);

        CHECK_EQ(eddy_tls_info(rig.client, &info), 0);
        CHECK_EQ(info.version, EDDY_TLS_1_3);
        CHECK(!info.is_resumed);
        CHECK_STR(info.alpn, "http/1.1");
        CHECK_STR(info.server_name, "localhost");
        CHECK_STR(info.subject, "O=eddy test certificate");
        CHECK_STR(info.names, "DNS:localhost, IP Address:127.0.0.1");
        CHECK_EQ(strlen(info.fingerprint), 64);
        CHECK_EQ((info.valid_until_ns - info.valid_from_ns) / EDDY_SEC(1), 86400 + 3600);
        CHECK_STR(eddy_stream_kind(rig.client), "tls");
        CHECK(eddy_stream_fd(rig.client) >= 0);
        /* The ends are those of the stream below. */
        CHECK_EQ(eddy_stream_local(rig.client, &here), 0);
        CHECK_EQ(eddy_stream_peer(rig.server, &there), 0);
        CHECK(eddy_endpoint_is_equal(&here, &there));
        CHECK_EQ(eddy_stream_peer(rig.client, &here), 0);
        CHECK_EQ(eddy_stream_local(rig.server, &there), 0);
        CHECK(eddy_endpoint_is_equal(&here, &there));
        CHECK_EQ(eddy_tls_info(NULL, &info), -EINVAL);
        tls_rig_close(&rig);
        return 0;
}

TEST(bytes_go_both_ways_and_the_connection_is_described)
{
        io_run(both_ways);
}

static int without_end(void *arg)
{
        struct tls_rig rig = { 0 };
        struct eddy_tls_info info;

        snprintf(rig.files.cert, sizeof(rig.files.cert), "%s/endless.pem", tls_folder());
        snprintf(rig.files.key, sizeof(rig.files.key), "%s/endless.key", tls_folder());
        CHECK_EQ(eddy_tls_make_certificate("localhost", INT64_MAX, rig.files.cert, rig.files.key),
                 0);
        tls_rig_open(&rig);
        tls_rig_shake(&rig);
        CHECK_EQ(rig.client_err, 0);
        CHECK_EQ(eddy_tls_info(rig.client, &info), 0);
        CHECK(info.valid_from_ns > 0 && info.valid_from_ns <= eddy_time_of_day());
        CHECK_EQ(info.valid_until_ns, INT64_MAX);
        tls_rig_close(&rig);
        return arg == NULL ? 0 : -EINVAL;
}

TEST(a_certificate_that_ends_after_all_times_is_valid_until_the_latest)
{
        io_run(without_end);
}

enum { MUCH = 3 << 20 };

struct transfer {
        eddy_stream *stream;
        unsigned char *data; /* of MUCH bytes */
        size_t piece;
};

static int sends(void *arg)
{
        struct transfer *t = arg;

        for (size_t at = 0; at < MUCH;) {
                size_t n = MUCH - at < t->piece ? MUCH - at : t->piece;
                struct eddy_slice slices[3] = { { t->data + at, n / 3 },
                                                { t->data + at + n / 3, n / 2 },
                                                { t->data + at + n / 3 + n / 2,
                                                  n - n / 3 - n / 2 } };

                CHECK_EQ(eddy_stream_writev(t->stream, slices, 3), 0);
                at += n;
        }
        return 0;
}

static int receives(void *arg)
{
        struct transfer *t = arg;

        io_read_all(t->stream, t->data, MUCH);
        return 0;
}

static int much_both_ways(void *arg)
{
        static const size_t pieces[] = { 100, 16384, 16385, 70000, 1 << 20 };
        unsigned char *data = malloc(MUCH), *got[2] = { malloc(MUCH), malloc(MUCH) };
        struct tls_rig rig = { .host = NULL };

        for (size_t i = 0; i < MUCH; i++)
                data[i] = (unsigned char) (i * 7 + i / 251);
        tls_rig_open(&rig);
        tls_rig_shake(&rig);
        for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
                struct transfer out = { rig.client, data, pieces[i] },
                                back = { rig.server, data, pieces[i] };
                struct transfer in = { rig.server, got[0], 0 }, again = { rig.client, got[1], 0 };
                eddy_scope scope;

                memset(got[0], 0, MUCH);
                memset(got[1], 0, MUCH);
                eddy_scope_begin(&scope, NULL);
                eddy_scope_start(&scope, sends, &out);
                eddy_scope_start(&scope, sends, &back);
                eddy_scope_start(&scope, receives, &in);
                eddy_scope_start(&scope, receives, &again);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                CHECK(memcmp(got[0], data, MUCH) == 0);
                CHECK(memcmp(got[1], data, MUCH) == 0);
        }
        tls_rig_close(&rig);
        free(data);
        free(got[0]);
        free(got[1]);
        return 0;
}

TEST(megabytes_arrive_whole_both_ways_at_once_in_pieces_of_any_size)
{
        io_run(much_both_ways);
}

/* -- a stream below that moves one byte at a time ------------------------------ */

struct drip {
        struct eddy_stream stream;
        eddy_stream *lower;
        bool rests; /* the next try must wait */
};

static struct drip *drip_of(const eddy_stream *stream)
{
        return (struct drip *) (uintptr_t) stream;
}

static int64_t drip_try_read(eddy_stream *stream, void *buf, size_t bytes)
{
        struct drip *drip = drip_of(stream);

        drip->rests = !drip->rests;
        return drip->rests ? -EAGAIN : eddy_stream_try_read(drip->lower, buf, 1);
}

static int64_t drip_try_writev(eddy_stream *stream, const struct eddy_slice *slices, size_t n)
{
        struct eddy_slice one = { slices[0].data, 1 };

        return eddy_stream_try_writev(drip_of(stream)->lower, &one, 1);
}

static int drip_wait(eddy_stream *stream, enum eddy_stream_side side)
{
        return eddy_stream_wait(drip_of(stream)->lower, side);
}

static bool drip_is_readable(eddy_stream *stream)
{
        return eddy_stream_is_readable(drip_of(stream)->lower);
}

static int drip_shutdown(eddy_stream *stream)
{
        return eddy_stream_shutdown(drip_of(stream)->lower);
}

static void drip_close(eddy_stream *stream, unsigned flags)
{
        eddy_stream_close(drip_of(stream)->lower);
        free(drip_of(stream));
}

static const struct eddy_stream_ops drip_ops = {
        .kind = "drip",
        .try_read = drip_try_read,
        .try_writev = drip_try_writev,
        .wait = drip_wait,
        .is_readable = drip_is_readable,
        .shutdown = drip_shutdown,
        .close = drip_close,
};

static eddy_stream *drip_new(eddy_stream *lower)
{
        struct drip *drip = calloc(1, sizeof(*drip));

        eddy_stream_init(&drip->stream, &drip_ops);
        drip->lower = lower;
        return &drip->stream;
}

static int byte_by_byte(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        char buf[300], text[300];

        for (size_t i = 0; i < sizeof(text); i++)
                text[i] = (char) i;
        tls_rig_open(&rig);
        io_pair_open(&rig.lower);
        rig.lower.a = drip_new(rig.lower.a);
        rig.lower.b = drip_new(rig.lower.b);
        tls_rig_shake(&rig);
        CHECK_EQ(rig.client_err, 0);
        CHECK_EQ(rig.server_err, 0);
        CHECK_EQ(eddy_stream_write(rig.client, text, sizeof(text)), 0);
        io_read_all(rig.server, buf, sizeof(buf));
        CHECK(memcmp(buf, text, sizeof(text)) == 0);
        CHECK_EQ(eddy_stream_write(rig.server, "end", 3), 0);
        io_read_all(rig.client, buf, 3);
        eddy_stream_close(rig.client);
        rig.client = NULL;
        CHECK_EQ(eddy_stream_read(rig.server, buf, sizeof(buf)), 0);
        tls_rig_close(&rig);
        return 0;
}

TEST(tls_runs_over_a_users_own_stream_that_moves_one_byte_at_a_time)
{
        io_run(byte_by_byte);
}

/* -- ends ------------------------------------------------------------------- */

static int ends(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        char buf[16];

        tls_rig_open(&rig);
        tls_rig_shake(&rig);
        CHECK_EQ(eddy_stream_shutdown(rig.client), 0);
        CHECK_EQ(eddy_stream_read(rig.server, buf, sizeof(buf)), 0);
        CHECK_EQ(eddy_stream_read(rig.server, buf, sizeof(buf)), 0);
        CHECK_EQ(eddy_stream_write(rig.client, "x", 1), -EPIPE);
        /* The other direction continues. */
        CHECK_EQ(eddy_stream_write(rig.server, "late", 4), 0);
        io_read_all(rig.client, buf, 4);
        tls_rig_close(&rig);
        return 0;
}

/* A133: after the end of one direction, late data of the other is delivered. */
TEST(the_end_of_one_direction_is_0_bytes_and_the_other_continues)
{
        io_run(ends);
}

static int cut(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        eddy_stream *lower;
        char buf[16];

        tls_rig_open(&rig);
        io_pair_open(&rig.lower);
        lower = rig.lower.b;
        tls_rig_shake(&rig);
        CHECK_EQ(eddy_stream_write(rig.client, "whole", 5), 0);
        CHECK_EQ(eddy_stream_shutdown(lower), 0); /* the socket ends without TLS's close */
        io_read_all(rig.server, buf, 5);
        CHECK_EQ(eddy_stream_read(rig.server, buf, sizeof(buf)), EDDY_E_TLS_TRUNCATED);
        CHECK_EQ(eddy_stream_read(rig.server, buf, sizeof(buf)), EDDY_E_TLS_TRUNCATED);
        CHECK_STR(eddy_tls_fault_text(rig.server),
                  "the peer closed the connection without a TLS close");
        tls_rig_close(&rig);
        return 0;
}

TEST(a_connection_that_ends_without_a_close_is_truncated)
{
        io_run(cut);
}

static int writes_much(void *arg)
{
        struct transfer *t = arg;

        return eddy_stream_write(t->stream, t->data, MUCH) == 0 ? 0 : -EPIPE;
}

/* A write that a deadline ends in the middle: the peer must not take the part for the whole. */
static int stalls(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        struct transfer t = { .data = calloc(1, MUCH) };
        int64_t n;
        char *buf = malloc(1 << 16);

        tls_rig_open(&rig);
        tls_rig_shake(&rig);
        t.stream = rig.client;
        for (int i = 0; i < 40; i++) /* fill both sockets' buffers */
                if (eddy_call_timeout(writes_much, &t, EDDY_MS(50)) == -ETIMEDOUT)
                        break;
        CHECK_EQ(eddy_stream_write(rig.client, "x", 1), EDDY_E_STREAM_BROKEN);
        CHECK_EQ(eddy_stream_shutdown(rig.client), EDDY_E_STREAM_BROKEN);
        eddy_stream_close(rig.client);
        rig.client = NULL;
        while ((n = eddy_stream_read(rig.server, buf, 1 << 16)) > 0)
                continue;
        CHECK(n == EDDY_E_TLS_TRUNCATED || n == -ECONNRESET);
        tls_rig_close(&rig);
        free(t.data);
        free(buf);
        return 0;
}

TEST(a_write_that_ended_in_the_middle_is_not_closed_as_if_it_were_whole)
{
        io_run(stalls);
}

static int reader_is_closed(void *arg)
{
        struct transfer *t = arg;
        char buf[4];

        CHECK_EQ(eddy_stream_read(t->stream, buf, sizeof(buf)), -ECANCELED);
        return 0;
}

static int closed_under_a_reader(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        struct transfer t;
        eddy_scope scope;

        tls_rig_open(&rig);
        tls_rig_shake(&rig);
        t.stream = rig.client;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, reader_is_closed, &t);
        io_settle();
        eddy_stream_close(rig.client);
        rig.client = NULL;
        CHECK_EQ(eddy_scope_end(&scope), 0);
        tls_rig_close(&rig);
        return 0;
}

TEST(a_reader_whose_stream_is_closed_is_cancelled)
{
        io_run(closed_under_a_reader);
}

/* -- idle connections ---------------------------------------------------------- */

static void on_idle(void *arg)
{
        ++*(int *) arg;
}

/* The end inside TLS is a half-close; the reset of the connection below is a hang-up. */
static int hangs_up(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        int calls = 0;

        tls_rig_open(&rig);
        tls_rig_shake(&rig);
        CHECK_EQ(eddy_stream_watch_hangup(rig.server, on_idle, &calls), 0);
        CHECK_EQ(eddy_stream_shutdown(rig.client), 0);
        io_settle();
        CHECK_EQ(calls, 0);
        eddy_stream_abort(rig.client);
        rig.client = NULL;
        io_settle();
        CHECK_EQ(calls, 1);
        tls_rig_close(&rig);
        return 0;
}

TEST(reset_below_tls_is_a_hang_up_and_its_end_is_not)
{
        io_run(hangs_up);
}

static int idles(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        int woken = 0;
        char buf[4];

        tls_rig_open(&rig);
        tls_rig_shake(&rig);
        /* The server's session tickets arrive now. */
        CHECK_EQ(eddy_stream_watch_idle(rig.client, on_idle, &woken), 0);
        CHECK_EQ(eddy_stream_read(rig.client, buf, sizeof(buf)), -EBUSY);
        io_settle();
        CHECK_EQ(woken, 0);
        CHECK_EQ(eddy_stream_is_readable(rig.client), 0);
        CHECK_EQ(eddy_stream_write(rig.server, "data", 4), 0);
        io_settle();
        CHECK_EQ(woken, 1);
        CHECK_EQ(eddy_stream_is_readable(rig.client), 1);
        io_read_all(rig.client, buf, 4);
        CHECK_EQ(eddy_stream_watch_idle(rig.client, on_idle, &woken), 0);
        CHECK_EQ(eddy_stream_watch_idle(rig.client, NULL, NULL), 0);
        eddy_stream_close(rig.server);
        rig.server = NULL;
        io_settle();
        CHECK_EQ(woken, 1);
        CHECK_EQ(eddy_stream_is_readable(rig.client), 1);
        tls_rig_close(&rig);
        return 0;
}

TEST(session_tickets_do_not_wake_an_idle_connection_but_data_and_a_close_do)
{
        io_run(idles);
}

/* -- memory ------------------------------------------------------------------ */

enum { RECORD_ROOM = 16 << 10 };

/* The address sanitizer has its own heap. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t held_bytes(void)
{
        struct mallinfo2 info;

        if (__sanitizer_get_current_allocated_bytes)
                return __sanitizer_get_current_allocated_bytes();
        info = mallinfo2();
        return info.uordblks + info.hblkhd;
}

static int idles_without_buffers(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        int woken = 0;
        size_t before;
        char buf[4];

        tls_rig_open(&rig);
        tls_rig_shake(&rig);
        CHECK_EQ(eddy_stream_write(rig.server, "data", 4), 0);
        io_read_all(rig.client, buf, 4);
        before = held_bytes();
        CHECK_EQ(eddy_stream_watch_idle(rig.client, on_idle, &woken), 0);
        CHECK(held_bytes() + RECORD_ROOM <= before);
        CHECK_EQ(eddy_stream_watch_idle(rig.client, NULL, NULL), 0);
        /* A record of which a part was read stays, and is not idle. */
        CHECK_EQ(eddy_stream_write(rig.server, "data", 4), 0);
        io_read_all(rig.client, buf, 1);
        CHECK_EQ(eddy_stream_watch_idle(rig.client, on_idle, &woken), -EALREADY);
        io_read_all(rig.client, buf, 3);
        CHECK(memcmp(buf, "ata", 3) == 0);
        CHECK_EQ(woken, 0);
        tls_rig_close(&rig);
        return 0;
}

TEST(an_idle_connection_keeps_no_buffer_that_session_tickets_made)
{
        io_run(idles_without_buffers);
}
