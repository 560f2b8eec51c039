/*
 * calls_serve.c - the worlds of a server of connections; see every_call.h.
 *
 * Each connection's function returns, and each caller that is not cut off gets
 * its bytes back.
 */
#include "every_call.h"

enum { CALLERS = 2, BYTES_EACH = 3 };

static struct {
        eddy_listener *listener;
        eddy_task_fn *receive; /* how a connection waits for a byte */
        int begun, ended;      /* connections */
        int called, echoed;
        bool drain;
} site;

struct reading {
        eddy_stream *stream;
        char byte;
};

static int receive_idle(void *arg)
{
        struct reading *reading = arg;

        return (int) eddy_stream_read(reading->stream, &reading->byte, 1);
}

static int idle_call(void *arg)
{
        return eddy_serve_idle(receive_idle, arg);
}

static int idle_as_victim(void *arg)
{
        return victim_call(idle_call, arg);
}

/* Sends back each byte. */
static int echo(eddy_stream *stream, void *arg)
{
        struct reading reading = { .stream = stream };

        (void) arg;
        site.begun++;
        while (site.receive(&reading) == 1) {
                (void) eddy_sleep(world_delay_ns());
                if (eddy_stream_write(stream, &reading.byte, 1) < 0)
                        break;
        }
        eddy_stream_close(stream);
        site.ended++;
        return 0;
}

static int serve(void *arg)
{
        struct eddy_serve_opts opts = { .connections_max = 1 + (uint32_t) world_chance(2),
                                        .drain_ns = site.drain ? EDDY_MS(2) : 0 };

        (void) arg;
        return eddy_serve(site.listener, &opts, echo, NULL);
}

static int serve_task(void *arg)
{
        CHECK_EQ(serve(arg), -ECANCELED);
        CHECK_EQ(site.begun, site.ended);
        return 0;
}

static int serve_as_victim(void *arg)
{
        CHECK_EQ(victim_call(serve, arg), -ECANCELED);
        CHECK_EQ(site.begun, site.ended);
        return 0;
}

/* Returns 0 if all bytes came back. */
static int talk(eddy_stream *stream)
{
        char byte = 0;

        for (int i = 0; i < BYTES_EACH; i++) {
                char sent = (char) ('a' + i);
                int64_t n = eddy_stream_write(stream, &sent, 1);

                if (n == 0)
                        n = eddy_stream_read(stream, &byte, 1);
                if (n != 1)
                        return n < 0 ? (int) n : -EPIPE;
                CHECK_EQ(byte, sent);
        }
        return 0;
}

static int call_in(void *arg)
{
        eddy_stream *stream;
        int err;

        (void) arg;
        world_pause();
        err = eddy_tcp_connect("127.0.0.1", eddy_listener_port(site.listener), NULL, &stream);
        if (err == 0) {
                err = talk(stream);
                eddy_stream_close(stream);
        }
        if (err < 0)
                CHECK(world_is_cancelled());
        site.echoed += err == 0;
        site.called++;
        return 0;
}

static int run_server(eddy_task_fn *server, eddy_task_fn *receive, int victims)
{
        eddy_scope serving, calling;

        memset(&site, 0, sizeof(site));
        site.receive = receive;
        site.drain = world_chance(2);
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &site.listener), 0);
        world_begin(victims);
        eddy_scope_begin(&serving, NULL);
        world_start(&serving, server, NULL, 1);
        eddy_scope_begin(&calling, &(struct eddy_scope_opts){ .timeout_ns = EDDY_MS(500) });
        world_start(&calling, call_in, NULL, CALLERS);
        (void) eddy_scope_end(&calling);
        CHECK_EQ(site.called, CALLERS);
        world_cancels_too();
        eddy_scope_cancel(&serving);
        CHECK_EQ(eddy_scope_end(&serving), 0);
        if (!world_is_cancelled())
                CHECK_EQ(site.echoed, CALLERS);
        eddy_listener_close(site.listener);
        return 0;
}

static int world_serve(void *arg)
{
        (void) arg;
        return run_server(serve_as_victim, idle_call, 1);
}
EVERY_POINT_LATE(serve, eddy_serve)

static int world_serve_idle(void *arg)
{
        (void) arg;
        return run_server(serve_task, idle_as_victim, CALLERS);
}
EVERY_POINT_LATE(serve_idle, eddy_serve_idle)
