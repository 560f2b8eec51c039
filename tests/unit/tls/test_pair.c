/*
 * test_pair.c - TLS with both ends in one program, over a pair of streams in memory.
 */
#include <errno.h>

#include "tls_test.h"

enum { BUFFERS = 4, BYTES = 100000 };

static const size_t buffers[BUFFERS] = { 1, 100, 5000, 0 };

static void rig_over_pair(struct tls_rig *rig, size_t bytes)
{
        struct eddy_stream_pair_opts opts = { .buffer_bytes = bytes };

        CHECK_EQ(eddy_stream_pair(&opts, &rig->lower.a, &rig->lower.b), 0);
        tls_rig_shake(rig);
        CHECK_EQ(rig->client_err, 0);
        CHECK_EQ(rig->server_err, 0);
}

static char data[BYTES], got[BYTES];

static int sends(void *arg)
{
        CHECK_EQ(eddy_stream_write(arg, data, BYTES), 0);
        CHECK_EQ(eddy_stream_shutdown(arg), 0);
        return 0;
}

static int receives(void *arg)
{
        io_read_all(arg, got, BYTES);
        CHECK(memcmp(got, data, BYTES) == 0);
        CHECK_EQ(eddy_stream_read(arg, got, 1), 0);
        return 0;
}

static int through_pairs(void *arg)
{
        struct tls_rig rig = { .host = NULL };

        (void) arg;
        for (int i = 0; i < BYTES; i++)
                data[i] = (char) (i * 7 + i / 251);
        tls_rig_open(&rig);
        for (int i = 0; i < BUFFERS; i++) {
                eddy_scope scope;

                rig_over_pair(&rig, buffers[i]);
                CHECK_EQ(eddy_stream_fd(rig.client), -1);
                eddy_scope_begin(&scope, NULL);
                eddy_scope_start(&scope, sends, i % 2 ? rig.client : rig.server);
                eddy_scope_start(&scope, receives, i % 2 ? rig.server : rig.client);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                tls_rig_hang_up(&rig);
        }
        tls_rig_close(&rig);
        return 0;
}

TEST(tls_runs_over_a_pair_with_a_buffer_of_any_size)
{
        io_run(through_pairs);
}

static int truncated(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        char byte;

        (void) arg;
        tls_rig_open(&rig);
        rig_over_pair(&rig, 0);
        CHECK_EQ(eddy_stream_write(rig.server, "x", 1), 0);
        io_read_all(rig.client, &byte, 1);
        eddy_stream_abort(rig.server);
        rig.server = NULL;
        CHECK_EQ(eddy_stream_read(rig.client, &byte, 1), -ECONNRESET);
        tls_rig_close(&rig);
        return 0;
}

TEST(an_abort_below_tls_is_a_reset_and_no_end)
{
        io_run(truncated);
}

static void counts(void *arg)
{
        ++*(int *) arg;
}

static int idle(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        int calls = 0;
        char byte;

        (void) arg;
        tls_rig_open(&rig);
        rig_over_pair(&rig, 0);
        /* The server's tickets are consumed, and are no bytes. */
        CHECK_EQ(eddy_stream_watch_idle(rig.client, counts, &calls), 0);
        io_settle();
        CHECK_EQ(calls, 0);
        CHECK_EQ(eddy_stream_write(rig.server, "x", 1), 0);
        io_settle();
        CHECK_EQ(calls, 1);
        io_read_all(rig.client, &byte, 1);
        tls_rig_close(&rig);
        return 0;
}

TEST(an_idle_tls_stream_over_a_pair_reports_bytes_but_not_tickets)
{
        io_run(idle);
}
