/*
 * test_on_sim.c - the same calls on the simulated table: transfers cut by
 * chance, addresses that nothing answers at, and each call of the table
 * failing in its turn.
 */
#include <errno.h>
#include <sys/socket.h>

#include "eddy/eddy.h"
#include "loop/loop.h"
#include "sim/sim.h"
#include "test.h"
#include "test/run.h"

enum { BYTES = 20000, PORT = 7 };

static const struct eddy_address dead = { .family = AF_INET6, .bytes = { 0x20, 1 } };
static const struct eddy_address alive = { .family = AF_INET, .bytes = { 127, 0, 0, 1 } };

static char sent[BYTES], got[BYTES];
static size_t got_bytes;
static int64_t connected_after_ns;
static int (*fault)[2]; /* which call fails, and how */

/* Sends back all that comes, until the end. */
static int echo(void *arg)
{
        eddy_listener *listener = arg;
        eddy_stream *stream;
        char buf[1000];
        int64_t n;
        int err = eddy_listener_accept(listener, &stream);

        if (err < 0)
                return err;
        while ((n = eddy_stream_read(stream, buf, sizeof(buf))) > 0) {
                n = eddy_stream_write(stream, buf, (size_t) n);
                if (n < 0)
                        break;
        }
        eddy_stream_close(stream);
        return (int) n;
}

struct sender {
        eddy_stream *stream;
};

static int send_all(void *arg)
{
        struct eddy_slice slices[3] = { { sent, 100 },
                                        { sent + 100, 1 },
                                        { sent + 101, BYTES - 101 } };
        eddy_stream *stream = arg;
        int err = eddy_stream_writev(stream, slices, 3);

        return err < 0 ? err : eddy_stream_shutdown(stream);
}

static int receive_all(eddy_stream *stream)
{
        int64_t n;

        while ((n = eddy_stream_read(stream, got + got_bytes, BYTES - got_bytes)) > 0) {
                got_bytes += (size_t) n;
                if (got_bytes == BYTES)
                        break;
        }
        return (int) (n < 0 ? n : 0);
}

static int talk(eddy_listener *listener)
{
        eddy_stream *stream = NULL;
        int64_t start = eddy_now();
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, echo, listener);
        err = eddy_tcp_connect("peer.test", PORT, NULL, &stream);
        if (err == 0) {
                connected_after_ns = eddy_now() - start;
                eddy_scope_start(&scope, send_all, stream);
                err = receive_all(stream);
        }
        if (err < 0)
                eddy_scope_cancel(&scope);
        if (eddy_scope_end(&scope) < 0 && err == 0)
                err = -EIO;
        eddy_stream_close(stream);
        return err;
}

static int scenario(void *arg)
{
        struct ed_sys *sys = ed_loop_current->sys;
        struct eddy_address both[2] = { alive, dead };
        eddy_listener *listener;
        int err;

        CHECK_EQ(ed_sim_name_add(sys, "peer.test", both, 2), 0);
        CHECK_EQ(ed_sim_address_dead(sys, &dead), 0);
        if (fault)
                ed_sim_fail_at(sys, (uint64_t) (*fault)[0], (*fault)[1]);
        err = eddy_tcp_listen("127.0.0.1", PORT, NULL, &listener);
        if (err < 0)
                return err;
        err = talk(listener);
        eddy_listener_close(listener);
        CHECK_EQ(ed_loop_current->waits, 0);
        return err;
}

static int run(const struct ed_sim_opts *sim, struct ed_sim_end *ret_end)
{
        struct eddy_test_opts opts = { .name = "peers", .seed = sim->seed };
        struct ed_test_more more = { .sim = *sim };
        struct eddy_test_result result;
        struct ed_test_figures figures;

        got_bytes = 0;
        for (size_t i = 0; i < BYTES; i++)
                sent[i] = (char) (i * 31 + i / 77);
        (void) ed_test_run_with(scenario, NULL, &opts, &more, &result, &figures);
        CHECK_STR(result.problem, "");
        if (ret_end)
                *ret_end = figures.end;
        return result.result;
}

static void cut_by_chance(bool chop, bool urgent)
{
        for (uint64_t seed = 1; seed <= 100; seed++) {
                struct ed_sim_opts opts = { .seed = seed,
                                            .chop = chop,
                                            .urgent = urgent,
                                            .latency_ns = EDDY_US(100),
                                            .jitter_ns = EDDY_MS(seed % 3),
                                            .buffer_bytes = 1000 + (uint32_t) (seed * 37) };
                struct ed_sim_end end;

                CHECK_EQ(run(&opts, &end), 0);
                CHECK_EQ(got_bytes, BYTES);
                CHECK(memcmp(sent, got, BYTES) == 0);
                CHECK_EQ(end.sockets, 0);
        }
}

TEST(bytes_arrive_whole_and_in_order_however_they_are_cut)
{
        cut_by_chance(true, false);
}

TEST(bytes_arrive_whole_and_in_order_around_urgent_data)
{
        cut_by_chance(false, true);
        cut_by_chance(true, true);
}

/* A136: the dead address gets a quarter of a second, then the other is tried. */
TEST(a_dead_address_costs_a_quarter_of_a_second)
{
        struct ed_sim_opts opts = { .latency_ns = EDDY_MS(10) };
        struct ed_sim_end end;

        CHECK_EQ(run(&opts, &end), 0);
        CHECK(connected_after_ns >= EDDY_MS(260));
        CHECK(connected_after_ns < EDDY_MS(300));
        CHECK_EQ(end.sockets, 0);
}

/* Whatever call fails and however: an error or success, no hang, nothing left open. */
TEST(every_call_of_the_table_may_fail)
{
        static const int errors[] = { -ENOMEM, -EMFILE, -ECONNRESET, -ETIMEDOUT, -EPIPE, -EIO };
        struct ed_sim_opts opts = { .latency_ns = EDDY_MS(1), .buffer_bytes = 4096 };
        struct ed_sim_end end;
        int calls, failed = 0;

        CHECK_EQ(run(&opts, &end), 0);
        calls = (int) end.calls;
        CHECK(calls > 20);
        for (size_t e = 0; e < ed_array_count(errors); e++) {
                for (int n = 1; n <= calls; n++) {
                        int one[2] = { n, errors[e] }, result;

                        fault = &one;
                        result = run(&opts, &end);
                        fault = NULL;
                        CHECK_EQ(end.sockets, 0);
                        CHECK_EQ(end.faults, 1);
                        if (result > 0 || result == -ETIMEDOUT || result == -EDEADLK)
                                test_fail(__FILE__, __LINE__, "call %d failing with %d gives %d", n,
                                          errors[e], result);
                        CHECK(end.lasted_ns < EDDY_SEC(130));
                        failed += result < 0;
                }
        }
        CHECK(failed > calls);
}
