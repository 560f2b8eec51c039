/*
 * test_flood.c - many messages without data do not hold the loop; and bytes that a stream holds
 * after a write leave while a task only reads.
 */
#include <errno.h>
#include <openssl/ssl.h>
#include <stdlib.h>

#include "eddy/stream_ops.h"
#include "eddy/test.h"
#include "eddy/test_net.h"
#include "scope/debug/debug.h"
#include "tls/connection.h"
#include "tls_test.h"

static struct ed_tls *tls_of(eddy_stream *stream)
{
        return ed_container_of(stream, struct ed_tls, stream);
}

/* -- messages without data --------------------------------------------------------- */

enum { FLOOD_BYTES = 256 << 10, STEP_BYTES = 18 << 10 };

/* Send tickets or key updates until the system takes no more, or there were enough. */
static size_t flood(eddy_stream *stream, bool tickets)
{
        struct ed_tls *tls = tls_of(stream);
        size_t sent = 0;

        while (sent < FLOOD_BYTES && ed_buf_bytes(&tls->bio.out) < STEP_BYTES) {
                size_t before = ed_buf_bytes(&tls->bio.out);

                CHECK_EQ(tickets ? SSL_new_session_ticket(tls->ssl)
                                 : SSL_key_update(tls->ssl, SSL_KEY_UPDATE_NOT_REQUESTED),
                         1);
                CHECK_EQ(SSL_do_handshake(tls->ssl), 1);
                sent += ed_buf_bytes(&tls->bio.out) - before;
                (void) ed_tls_out_flush(&tls->bio);
        }
        return sent - ed_buf_bytes(&tls->bio.out);
}

static int reads_one(void *arg)
{
        char byte;

        return (int) eddy_stream_read(arg, &byte, 1);
}

static int floods(void *arg)
{
        for (int tickets = 0; tickets < 2; tickets++) {
                struct tls_rig rig = { .host = NULL };
                size_t sent, steps = 0;
                eddy_scope scope;
                char byte;

                tls_rig_open(&rig);
                tls_rig_shake(&rig);
                sent = flood(rig.server, tickets);
                CHECK(sent > (size_t) 4 * STEP_BYTES);
                while (eddy_stream_is_readable(tls_of(rig.client)->bio.lower)) {
                        CHECK_EQ(eddy_stream_try_read(rig.client, &byte, 1), -EAGAIN);
                        steps++;
                }
                CHECK(steps > sent / STEP_BYTES);

                /* A reader continues, and other tasks run meanwhile. */
                sent = flood(rig.server, tickets);
                eddy_scope_begin(&scope, NULL);
                eddy_scope_start(&scope, reads_one, rig.client);
                for (steps = 0; eddy_stream_is_readable(tls_of(rig.client)->bio.lower); steps++)
                        CHECK_EQ(eddy_sleep(0), 0);
                CHECK(steps > sent / STEP_BYTES);
                CHECK_EQ(eddy_stream_write(rig.server, "x", 1), 0);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                tls_rig_close(&rig);
        }
        return 0;
}

TEST(key_updates_and_tickets_are_handled_in_short_steps)
{
        io_run(floods);
}

static void on_idle(void *arg)
{
        ++*(int *) arg;
}

static int floods_while_idle(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        int woken = 0;
        char byte;

        tls_rig_open(&rig);
        tls_rig_shake(&rig);
        CHECK_EQ(eddy_stream_watch_idle(rig.client, on_idle, &woken), 0);
        CHECK(flood(rig.server, false) > (size_t) 4 * STEP_BYTES);
        while (eddy_stream_is_readable(tls_of(rig.client)->bio.lower))
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(woken, 0);
        CHECK_EQ(eddy_stream_is_readable(rig.client), 0);
        CHECK_EQ(eddy_stream_write(rig.server, "x", 1), 0);
        while (woken == 0)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(eddy_stream_read(rig.client, &byte, 1), 1);
        tls_rig_close(&rig);
        return 0;
}

TEST(key_updates_do_not_wake_an_idle_connection)
{
        io_run(floods_while_idle);
}

/* -- a peer that is faster than the reader ----------------------------------------- */

/* A stream below that always has bytes, until it has delivered all. */
struct stored {
        struct eddy_stream stream;
        char *data;
        size_t at, bytes;
};

static struct stored *stored_of(eddy_stream *stream)
{
        return (struct stored *) stream;
}

static int64_t stored_try_read(eddy_stream *stream, void *buf, size_t bytes)
{
        struct stored *stored = stored_of(stream);
        size_t n = stored->bytes - stored->at < bytes ? stored->bytes - stored->at : bytes;

        if (n == 0)
                return -EAGAIN;
        memcpy(buf, stored->data + stored->at, n);
        stored->at += n;
        return (int64_t) n;
}

static int64_t stored_try_writev(eddy_stream *stream, const struct eddy_slice *slices, size_t n)
{
        return (int64_t) slices[0].bytes;
}

static bool stored_is_readable(eddy_stream *stream)
{
        return stored_of(stream)->at < stored_of(stream)->bytes;
}

static int stored_wait(eddy_stream *stream, enum eddy_stream_side side)
{
        return eddy_sleep(0);
}

static const struct eddy_stream_ops stored_ops = {
        .kind = "stored",
        .try_read = stored_try_read,
        .try_writev = stored_try_writev,
        .is_readable = stored_is_readable,
        .wait = stored_wait,
};

/* Store what the server would send. */
static void store(struct stored *stored, eddy_stream *server, int update)
{
        struct ed_tls *tls = tls_of(server);

        while (stored->bytes < FLOOD_BYTES) {
                size_t n;

                CHECK_EQ(SSL_key_update(tls->ssl, update), 1);
                CHECK_EQ(SSL_do_handshake(tls->ssl), 1);
                n = ed_buf_bytes(&tls->bio.out);
                memcpy(stored->data + stored->bytes, ed_buf_data(&tls->bio.out), n);
                ed_buf_consume(&tls->bio.out, n);
                stored->bytes += n;
        }
}

static int fast_peer(void *arg)
{
        for (int peeks = 0; peeks < 2; peeks++) {
                struct tls_rig rig = { .host = NULL };
                struct stored stored = { .data = malloc((size_t) 2 * FLOOD_BYTES) };
                struct ed_tls *client;
                eddy_stream *lower;
                size_t most = 0;
                char byte;

                tls_rig_open(&rig);
                tls_rig_shake(&rig);
                client = tls_of(rig.client);
                lower = client->bio.lower;
                CHECK_EQ(eddy_stream_is_readable(rig.client), 0); /* takes the tickets */
                store(&stored, rig.server, SSL_KEY_UPDATE_REQUESTED);
                eddy_stream_init(&stored.stream, &stored_ops);
                client->bio.lower = &stored.stream;
                while (stored.at < stored.bytes) {
                        size_t before = stored.at;

                        if (peeks)
                                CHECK_EQ(eddy_stream_is_readable(rig.client),
                                         stored.at < stored.bytes || !client->bio.starved);
                        else
                                CHECK_EQ(eddy_stream_try_read(rig.client, &byte, 1), -EAGAIN);
                        if (stored.at - before > most)
                                most = stored.at - before;
                }
                printf("# at most %zu bytes in a step\n", most);
                CHECK(most <= STEP_BYTES); /* 10 ms of key updates with answers */
                ed_debug_gone(&stored.stream);
                free(stored.data);
                client->bio.lower = lower;
                eddy_stream_abort(rig.client);
                rig.client = NULL;
                tls_rig_close(&rig);
        }
        return 0;
}

TEST(a_peer_that_is_always_faster_does_not_hold_the_loop)
{
        io_run(fast_peer);
}

/* -- bytes that a stream holds ------------------------------------------------------- */

enum { LINK_BYTES = 1000, HELD_BYTES = 60000 };

static struct tls_files fixed; /* if they were made before */

/* TLS streams over a link in memory that holds little. */
static void small_rig_open(struct tls_rig *rig)
{
        struct eddy_test_link link = { .buffer_bytes = LINK_BYTES };

        rig->files = fixed;
        tls_rig_open(rig);
        CHECK_EQ(eddy_test_stream_pair(&link, &rig->lower.a, &rig->lower.b), 0);
        tls_rig_shake(rig);
        CHECK_EQ(rig->client_err, 0);
}

/* Let the client hold bytes that its stream has taken. Returns their number. */
static size_t hold(struct tls_rig *rig)
{
        static const char data[HELD_BYTES];
        struct eddy_slice slice = { data, sizeof(data) };

        struct eddy_stream_sent sent;

        CHECK_EQ(eddy_stream_try_writev(rig->client, &slice, 1), HELD_BYTES);
        eddy_stream_sent(rig->client, &sent);
        CHECK(sent.pending > HELD_BYTES - LINK_BYTES);
        CHECK(sent.pending >= ed_buf_bytes(&tls_of(rig->client)->bio.out));
        CHECK(ed_buf_bytes(&tls_of(rig->client)->bio.out) > 0);
        return HELD_BYTES;
}

/* Read all that the client has written, and answer. */
static int takes_held(void *arg)
{
        char buf[HELD_BYTES];

        io_read_all(arg, buf, sizeof(buf));
        return eddy_stream_write(arg, "x", 1);
}

static int only_reads(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        eddy_scope scope;
        char byte;

        small_rig_open(&rig);
        hold(&rig);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, takes_held, rig.server);
        CHECK_EQ(eddy_stream_read(rig.client, &byte, 1), 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        tls_rig_close(&rig);
        return 0;
}

/* A write that was cancelled when all its bytes were taken has happened. */
TEST(bytes_that_a_stream_holds_leave_while_a_task_reads)
{
        for (uint64_t seed = 0; seed < 20; seed++)
                CHECK_EQ(eddy_test_run(only_reads, NULL, &(struct eddy_test_opts){ .seed = seed },
                                       NULL),
                         0);
}

static int writes_more(void *arg)
{
        static const char data[HELD_BYTES];

        return eddy_stream_write(arg, data, sizeof(data));
}

static int reads_end(void *arg)
{
        int64_t n = reads_one(arg);

        return n == -ECANCELED ? 0 : (int) n;
}

static int shuts_down_alone(void *arg)
{
        CHECK_EQ(eddy_stream_shutdown(arg), -ECANCELED);
        return 0;
}

/* Read all that the client has written, and its close. */
static int takes_all(void *arg)
{
        char buf[HELD_BYTES];

        io_read_all(arg, buf, sizeof(buf));
        CHECK_EQ(eddy_stream_read(arg, buf, 1), 0);
        return 0;
}

/* A writer, a shutdown and a close while the reader sends. */
static int reads_and_writes(void *arg)
{
        for (int how = 0; how < 4; how++) {
                struct tls_rig rig = { .host = NULL };
                eddy_scope scope;

                small_rig_open(&rig);
                hold(&rig);
                eddy_scope_begin(&scope, NULL);
                eddy_scope_start(&scope, reads_end, rig.client);
                CHECK_EQ(eddy_sleep(EDDY_MS(2)), 0);
                switch (how) {
                case 0: /* a writer */
                        eddy_scope_start(&scope, writes_more, rig.client);
                        CHECK_EQ(eddy_sleep(EDDY_MS(2)), 0);
                        CHECK_EQ(takes_held(rig.server), 0);
                        CHECK_EQ(takes_held(rig.server), 0);
                        break;
                case 1: /* a shutdown */
                        eddy_scope_start(&scope, takes_all, rig.server);
                        CHECK_EQ(eddy_stream_shutdown(rig.client), 0);
                        CHECK_EQ(eddy_stream_write(rig.server, "x", 1), 0);
                        break;
                case 2: /* a close, during a shutdown */
                        eddy_scope_start(&scope, shuts_down_alone, rig.client);
                        CHECK_EQ(eddy_sleep(EDDY_MS(2)), 0);
                        eddy_stream_close_now(rig.client);
                        rig.client = NULL;
                        break;
                default: /* a close that waits */
                        eddy_scope_start(&scope, takes_all, rig.server);
                        eddy_stream_close(rig.client);
                        rig.client = NULL;
                        break;
                }
                CHECK_EQ(eddy_scope_end(&scope), 0);
                tls_rig_close(&rig);
        }
        return 0;
}

TEST(a_writer_a_shutdown_and_a_close_may_come_while_a_reader_sends)
{
        for (uint64_t seed = 0; seed < 20; seed++)
                CHECK_EQ(eddy_test_run(reads_and_writes, NULL,
                                       &(struct eddy_test_opts){ .seed = seed }, NULL),
                         0);
}

static int cancelled_reader(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        char buf[HELD_BYTES];

        small_rig_open(&rig);
        hold(&rig);
        CHECK_EQ(eddy_call_timeout(reads_one, rig.client, EDDY_MS(5)), -ETIMEDOUT);
        eddy_stream_abort(rig.client);
        rig.client = NULL;
        CHECK(eddy_stream_read(rig.server, buf, sizeof(buf)) != 0);
        tls_rig_close(&rig);
        return 0;
}

TEST(a_reader_that_sends_the_streams_bytes_can_be_cancelled)
{
        CHECK_EQ(eddy_test_run(cancelled_reader, NULL, NULL, NULL), 0);
}

struct closer {
        struct tls_rig *rig;
        int yields; /* before the close */
        bool aborts;
};

static int closes_after_yields(void *arg)
{
        struct closer *closer = arg;
        eddy_stream *client = closer->rig->client;

        for (int i = 0; i < closer->yields; i++)
                CHECK_EQ(eddy_sleep(0), 0);
        closer->rig->client = NULL;
        if (closer->aborts)
                eddy_stream_abort(client);
        else
                eddy_stream_close_now(client);
        return 0;
}

static int closed_reader(void *arg)
{
        struct closer *closer = arg;
        struct tls_rig rig = { .host = NULL };
        eddy_scope scope;
        char byte;

        closer->rig = &rig;
        small_rig_open(&rig);
        hold(&rig);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, closes_after_yields, closer);
        CHECK_EQ(eddy_stream_read(rig.client, &byte, 1), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        tls_rig_close(&rig);
        return 0;
}

TEST(a_reader_that_sends_ends_when_its_stream_is_closed_at_any_point)
{
        for (int i = 0; i < 60; i++) {
                struct closer closer = { .yields = i % 3, .aborts = i % 2 };
                struct eddy_test_opts opts = { .seed = (uint64_t) i / 6 };

                CHECK_EQ(eddy_test_run(closed_reader, &closer, &opts, NULL), 0);
        }
}

/* Take what comes, and answer; the client may be gone. */
static int takes_some(void *arg)
{
        char buf[HELD_BYTES];
        size_t held = 0;
        int64_t n = 1;

        while (held < HELD_BYTES && n > 0) {
                n = eddy_stream_read(arg, buf, sizeof(buf));
                held += n > 0 ? (size_t) n : 0;
        }
        if (n > 0 && eddy_stream_write(arg, "x", 1) < 0)
                return 0;
        return 0;
}

static int reads_until_cancelled(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        eddy_scope shield, scope;
        char byte;
        int64_t n;

        eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
        small_rig_open(&rig);
        CHECK_EQ(eddy_scope_end(&shield), 0);
        hold(&rig);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, takes_some, rig.server);
        n = eddy_stream_read(rig.client, &byte, 1);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        CHECK(n == 1 || n == -ECANCELED);
        tls_rig_close(&rig);
        return n < 0 ? (int) n : 0;
}

TEST(a_reader_that_sends_is_cancelled_at_each_point)
{
        struct eddy_test_opts opts = { .name = "reads", .seed = 1 };

        tls_files_make_fixed(&fixed);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_CANCEL, reads_until_cancelled, NULL, &opts, NULL), 0);
}
