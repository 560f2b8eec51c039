/*
 * test_serve.c - eddy_serve(): its limit, shortages, and how it stops; on a
 * simulated system, whose clock jumps.
 */
#include "../scope/sim_run.h"
#include "loop/loop.h"

enum { PORT = 80 };

static struct {
        eddy_listener *listener;
        struct eddy_serve_opts opts;
        eddy_scope *scope; /* of the server */
        int result;
        int64_t ended_ns;
        int open, most, ended, failed; /* connections */
        bool saw_stop;
} site;

static int serve_on(eddy_serve_fn *fn)
{
        int err = eddy_serve(site.listener, &site.opts, fn, NULL);

        site.result = err;
        site.ended_ns = eddy_now();
        CHECK_EQ(site.open, 0);
        return 0;
}

static void site_begin(void)
{
        memset(&site, 0, sizeof(site));
        site.result = 1;
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", PORT, NULL, &site.listener), 0);
}

static eddy_stream *dial(void)
{
        eddy_stream *stream;

        CHECK_EQ(eddy_tcp_connect("127.0.0.1", PORT, NULL, &stream), 0);
        return stream;
}

static void connection_begin(void)
{
        site.open++;
        if (site.open > site.most)
                site.most = site.open;
}

static int connection_end(eddy_stream *stream, int result)
{
        eddy_stream_close(stream);
        site.open--;
        site.ended++;
        site.failed += result < 0;
        return result;
}

static int read_byte(void *arg)
{
        char byte;

        return (int) eddy_stream_read(arg, &byte, 1);
}

/* Serves until the peer ends it; waits for bytes without saying that it is idle. */
static int busy(eddy_stream *stream, void *arg)
{
        int n;

        (void) arg;
        connection_begin();
        while ((n = read_byte(stream)) > 0)
                continue;
        return connection_end(stream, n);
}

static int serve_busy(void *arg)
{
        (void) arg;
        return serve_on(busy);
}

/* -- limits -------------------------------------------------------------------- */

SIM_TEST(connections_beyond_the_limit_wait_for_room)
{
        eddy_stream *streams[4];
        eddy_scope scope;

        site_begin();
        site.opts.connections_max = 2;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, serve_busy, NULL);
        for (int i = 0; i < 4; i++)
                streams[i] = dial();
        CHECK_EQ(eddy_sleep(EDDY_SEC(100)), 0);
        CHECK_EQ(site.open, 2);
        eddy_stream_close(streams[0]);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(site.open, 2);
        CHECK_EQ(site.ended, 1);
        for (int i = 1; i < 4; i++)
                eddy_stream_close(streams[i]);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(site.ended, 4);
        CHECK_EQ(site.most, 2);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(site.result, -ECANCELED);
        eddy_listener_close(site.listener);
}

SIM_TEST(a_connection_that_fails_ends_only_itself)
{
        eddy_stream *streams[2];
        eddy_scope scope;

        site_begin();
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, serve_busy, NULL);
        streams[0] = dial();
        streams[1] = dial();
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        eddy_stream_abort(streams[0]);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(site.failed, 1);
        CHECK_EQ(site.open, 1);
        CHECK_EQ(site.result, 1);
        eddy_stream_close(streams[1]);
        eddy_stream_close(dial());
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(site.ended, 3);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_listener_close(site.listener);
}

SIM_TEST(mistakes_in_the_options_are_refused)
{
        struct eddy_serve_opts opts = { .drain_ns = -1 };

        site_begin();
        CHECK_EQ(eddy_serve(site.listener, &opts, busy, NULL), -EINVAL);
        CHECK_EQ(eddy_serve(NULL, NULL, busy, NULL), -EINVAL);
        eddy_listener_close(site.listener);
}

SIM_TEST(a_listener_has_one_server)
{
        eddy_scope scope;

        site_begin();
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, serve_busy, NULL);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(eddy_serve(site.listener, NULL, busy, NULL), -EBUSY);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_listener_close(site.listener);
}

/* -- the stop ------------------------------------------------------------------ */

/* Idle until a byte comes; then 100 ms of work, and the byte back. */
static int worker(eddy_stream *stream, void *arg)
{
        int n;

        (void) arg;
        connection_begin();
        while ((n = eddy_serve_idle(read_byte, stream)) > 0) {
                n = eddy_sleep(EDDY_MS(100));
                site.saw_stop |= eddy_serve_is_stopping();
                if (n == 0)
                        n = eddy_stream_write(stream, "x", 1);
                if (n < 0)
                        break;
        }
        return connection_end(stream, n);
}

static int serve_worker(void *arg)
{
        (void) arg;
        return serve_on(worker);
}

/* Returns how long the server took to stop, with an idle connection and one at work. */
static int64_t stop_with(int64_t drain_ns, bool close_listener, int64_t *ret_answer)
{
        eddy_stream *idle, *working;
        int64_t stopped_ns;
        eddy_scope scope;
        int shield_err;
        char byte;

        site_begin();
        site.opts.drain_ns = drain_ns;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, serve_worker, NULL);
        idle = dial();
        working = dial();
        CHECK_EQ(eddy_stream_write(working, "a", 1), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(50)), 0);
        CHECK_EQ(site.open, 2);
        stopped_ns = eddy_now();
        if (close_listener)
                eddy_listener_close(site.listener);
        else
                eddy_scope_cancel(&scope);
        EDDY_SCOPE (shield, &shield_err, .flags = EDDY_SCOPE_SHIELD) {
                CHECK_EQ(eddy_stream_read(idle, &byte, 1), 0);
                CHECK_NS(eddy_now() - stopped_ns, 0);
                *ret_answer = eddy_stream_read(working, &byte, 1);
        }
        CHECK_EQ(shield_err, 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(site.result, -ECANCELED);
        CHECK_EQ(site.ended, 2);
        eddy_stream_close(idle);
        eddy_stream_close(working);
        if (!close_listener)
                eddy_listener_close(site.listener);
        return site.ended_ns - stopped_ns;
}

/* A135: a stop waits for connections. */
SIM_TEST(idle_connections_end_at_a_stop_and_others_finish)
{
        int64_t answer;

        CHECK_NS(stop_with(EDDY_SEC(1), false, &answer), EDDY_MS(50));
        CHECK_EQ(answer, 1);
        CHECK(site.saw_stop);
}

SIM_TEST(a_request_that_takes_longer_than_the_drain_is_cancelled)
{
        int64_t answer;

        CHECK_NS(stop_with(EDDY_MS(20), false, &answer), EDDY_MS(20));
        CHECK_EQ(answer, 0);
}

SIM_TEST(a_stop_without_a_drain_cancels_all_connections)
{
        int64_t answer;

        CHECK_NS(stop_with(0, false, &answer), 0);
        CHECK_EQ(answer, 0);
}

SIM_TEST(a_listener_closed_while_the_server_accepts_stops_it)
{
        int64_t answer;

        CHECK_NS(stop_with(EDDY_SEC(1), true, &answer), EDDY_MS(50));
        CHECK_EQ(answer, 1);
}

SIM_TEST(a_stop_without_connections_is_at_once)
{
        int64_t stopped_ns;
        eddy_scope scope;

        site_begin();
        site.opts.drain_ns = EDDY_SEC(10);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, serve_worker, NULL);
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0);
        stopped_ns = eddy_now();
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(site.result, -ECANCELED);
        CHECK_NS(site.ended_ns - stopped_ns, 0);
        eddy_listener_close(site.listener);
}

/* The server does not accept then: its memory of the listener must hold. */
SIM_TEST(a_listener_closed_while_the_server_waits_for_room_stops_it_later)
{
        eddy_stream *stream;
        eddy_scope scope;

        site_begin();
        site.opts.connections_max = 1;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, serve_busy, NULL);
        stream = dial();
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(site.open, 1);
        eddy_listener_close(site.listener);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(site.open, 1);
        eddy_stream_close(stream);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(site.result, -ECANCELED);
        CHECK_EQ(site.ended, 1);
}

SIM_TEST(a_server_in_a_cancelled_scope_does_nothing)
{
        eddy_scope scope;

        site_begin();
        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_serve(site.listener, NULL, busy, NULL), -ECANCELED);
        (void) eddy_scope_end(&scope);
        eddy_listener_close(site.listener);
}

/* A connection that first runs after the stop is not lost: it sees the stop. */
SIM_TEST(a_connection_accepted_just_before_the_stop_is_closed)
{
        eddy_stream *stream;
        eddy_scope scope;
        char byte;

        site_begin();
        site.opts.drain_ns = EDDY_SEC(1);
        stream = dial();
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, serve_worker, NULL);
        while (site.open == 0 && ed_sim_sockets(ed_loop_current->sys) < 3)
                CHECK_EQ(eddy_sleep(0), 0);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(site.ended, 1);
        CHECK_EQ(eddy_stream_read(stream, &byte, 1), 0);
        eddy_stream_close(stream);
        eddy_listener_close(site.listener);
}

/* -- idle calls ---------------------------------------------------------------- */

static int return_arg(void *arg)
{
        return *(int *) arg;
}

SIM_TEST(an_idle_call_outside_a_server_is_a_call)
{
        int value = 7;

        CHECK_EQ(eddy_serve_idle(return_arg, &value), 7);
        value = -EIO;
        CHECK_EQ(eddy_serve_idle(return_arg, &value), -EIO);
        CHECK(!eddy_serve_is_stopping());
}

static int idle_call(void *arg)
{
        return eddy_serve_idle(read_byte, arg);
}

/* The idle call is in a task that the connection starts, in a scope of its own. */
static int with_task(eddy_stream *stream, void *arg)
{
        eddy_scope scope;
        int err;

        (void) arg;
        connection_begin();
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, idle_call, stream);
        err = eddy_scope_end(&scope);
        CHECK_EQ(eddy_serve_idle(idle_call, stream), -ECANCELED); /* it has stopped */
        CHECK(eddy_serve_is_stopping());
        return connection_end(stream, err);
}

static int serve_with_task(void *arg)
{
        (void) arg;
        return serve_on(with_task);
}

SIM_TEST(an_idle_call_may_be_in_a_task_of_the_connection)
{
        eddy_stream *stream;
        int64_t stopped_ns;
        eddy_scope scope;

        site_begin();
        site.opts.drain_ns = EDDY_SEC(1);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, serve_with_task, NULL);
        stream = dial();
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(site.open, 1);
        stopped_ns = eddy_now();
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_NS(site.ended_ns - stopped_ns, 0);
        CHECK_EQ(site.ended, 1);
        eddy_stream_close(stream);
        eddy_listener_close(site.listener);
}

/* -- shortages ----------------------------------------------------------------- */

static const struct ed_sys_socket *real_socket;
static struct ed_sys_socket short_socket;
static int shortage;
static struct reports reports;

static int accept_short(struct ed_sys *sys, int fd)
{
        return shortage ? shortage : real_socket->accept(sys, fd);
}

static int main_short(void *arg)
{
        eddy_stream *first, *second;
        eddy_scope scope;
        char byte;

        (void) arg;
        real_socket = ed_loop_current->sys->socket;
        short_socket = *real_socket;
        short_socket.accept = accept_short;
        ed_loop_current->sys->socket = &short_socket;
        site_begin();
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, serve_worker, NULL);
        first = dial();
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        shortage = *(int *) arg;
        second = dial();
        CHECK_EQ(eddy_sleep(EDDY_SEC(10)), 0);
        CHECK_EQ(site.open, 1);
        CHECK_EQ(reports.count[EDDY_REPORT_ACCEPT], 1);
        CHECK_EQ(reports.error, shortage);
        /* The connection that the server has goes on. */
        CHECK_EQ(eddy_stream_write(first, "a", 1), 0);
        CHECK_EQ(eddy_stream_read(first, &byte, 1), 1);
        shortage = 0;
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0);
        CHECK_EQ(site.open, 2);
        /* A stop also ends the pause. */
        shortage = -ENFILE;
        eddy_stream_close(dial());
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(reports.count[EDDY_REPORT_ACCEPT], 1); /* within a minute */
        eddy_stream_close(first);
        eddy_stream_close(second);
        eddy_listener_close(site.listener);
        return 0;
}

TEST(a_server_pauses_while_descriptors_or_memory_are_short)
{
        static int errors[] = { -EMFILE, -ENFILE, -ENOMEM, -ENOBUFS };

        for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
                memset(&reports, 0, sizeof(reports));
                shortage = 0;
                CHECK_EQ(sim_run_with(main_short, &errors[i], 0,
                                      (struct eddy_run_opts){ .report = reports_add,
                                                              .report_arg = &reports }),
                         0);
        }
}
