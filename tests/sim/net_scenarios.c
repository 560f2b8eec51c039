/*
 * net_scenarios.c - programs of TCP clients and servers.
 */
#include <errno.h>
#include <signal.h>
#include <sys/socket.h>

#include "eddy/eddy.h"
#include "loop/loop.h"
#include "scenario.h"
#include "test.h"

enum { CLIENTS = 4, BYTES = 5000, PIECE = 700 };

struct net {
        eddy_listener *listener;
        const char *host;
        int to_accept;
        eddy_task_fn *serve; /* given a stream, which it closes */
};

/* --- servers --- */

static int echo_stream(void *arg)
{
        eddy_stream *stream = arg;
        char buf[512];
        int64_t n;
        int err = 0;

        tasks_begun++;
        while (err == 0 && (n = eddy_stream_read(stream, buf, sizeof(buf))) != 0)
                err = n < 0 ? (int) n : eddy_stream_write(stream, buf, (size_t) n);
        eddy_stream_close(stream);
        tasks_ended++;
        return err;
}

static int serve(void *arg)
{
        struct net *net = arg;
        eddy_stream *stream;
        eddy_scope scope;
        int err = 0, end_err;

        tasks_begun++;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < net->to_accept && err == 0; i++) {
                err = eddy_listener_accept(net->listener, &stream);
                if (err < 0)
                        break;
                err = eddy_scope_start(&scope, net->serve, stream);
                if (err < 0)
                        eddy_stream_close(stream);
        }
        end_err = eddy_scope_end(&scope);
        tasks_ended++;
        return err < 0 ? err : end_err;
}

/*
 * Run 'clients' tasks of 'client' beside a server for as many connections.
 * The deadline is for a server that has no memory to accept with: it waits
 * until there is some.
 */
static int run_net(struct net *net, eddy_task_fn *client, int clients)
{
        struct eddy_scope_opts opts = { .timeout_ns = EDDY_MIN(5) };
        eddy_scope scope;
        int err, started;

        err = eddy_tcp_listen("127.0.0.1", 0, NULL, &net->listener);
        if (err < 0)
                return err;
        net->to_accept = clients;
        if (!net->host)
                net->host = "127.0.0.1";
        eddy_scope_begin(&scope, &opts);
        started = eddy_scope_start(&scope, serve, net) == 0;
        for (int i = 0; i < clients; i++)
                started += eddy_scope_start(&scope, client, net) == 0;
        err = eddy_scope_end(&scope);
        eddy_listener_close(net->listener);
        return err == 0 && started < clients + 1 ? -ECANCELED : err;
}

static int connect_to(const struct net *net, eddy_stream **ret_stream)
{
        return eddy_tcp_connect(net->host, eddy_listener_port(net->listener), NULL, ret_stream);
}

/* --- echo --- */

static int put_pattern(eddy_stream *stream)
{
        char piece[PIECE];
        size_t at = 0;
        int err = 0;

        while (at < BYTES && err == 0) {
                size_t n = BYTES - at < PIECE ? BYTES - at : PIECE;
                struct eddy_slice slices[2] = { { piece, n / 3 }, { piece + n / 3, n - n / 3 } };

                for (size_t i = 0; i < n; i++)
                        piece[i] = (char) ((at + i) % 127);
                err = eddy_stream_writev(stream, slices, 2);
                at += n;
        }
        return err;
}

/* The reader is not to wait for a writer that was cancelled. */
static int shut_down(eddy_stream *stream)
{
        struct eddy_scope_opts shield = { .flags = EDDY_SCOPE_SHIELD };
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, &shield);
        err = eddy_stream_shutdown(stream);
        return eddy_scope_end(&scope) < 0 ? -ETIMEDOUT : err;
}

static int write_pattern(void *arg)
{
        int err, end_err;

        tasks_begun++;
        err = put_pattern(arg);
        end_err = shut_down(arg);
        tasks_ended++;
        return err < 0 ? err : end_err;
}

/* What is no socket has no other end. */
static int write_and_close(void *arg)
{
        int err;

        tasks_begun++;
        err = put_pattern(arg);
        eddy_stream_close(arg);
        tasks_ended++;
        return err;
}

/* Read the pattern to its end. */
static int read_pattern(eddy_stream *stream)
{
        char buf[300];
        size_t at = 0;
        int64_t n;

        while ((n = eddy_stream_read(stream, buf, sizeof(buf))) > 0) {
                for (size_t i = 0; i < (size_t) n; i++)
                        CHECK_EQ(buf[i], (at + i) % 127);
                at += (size_t) n;
                CHECK(at <= BYTES);
        }
        return n < 0 ? (int) n : at == BYTES ? 0 : -ENODATA;
}

static int echo_client(void *arg)
{
        eddy_stream *stream;
        eddy_scope scope;
        int err, end_err;

        tasks_begun++;
        err = connect_to(arg, &stream);
        if (err == 0) {
                eddy_scope_begin(&scope, NULL);
                (void) eddy_scope_start(&scope, write_pattern, stream);
                err = read_pattern(stream);
                if (err < 0)
                        eddy_scope_cancel(&scope);
                end_err = eddy_scope_end(&scope);
                if (err == 0 || (err == -ECANCELED && end_err < 0))
                        err = end_err;
                eddy_stream_close(stream);
        }
        tasks_ended++;
        return err;
}

int scenario_echo(void *arg)
{
        struct net net = { .serve = echo_stream };

        (void) arg;
        return run_net(&net, echo_client, CLIENTS);
}

/* "localhost" is two addresses, of which the first is refused. */
int scenario_names(void *arg)
{
        struct net net = { .serve = echo_stream, .host = "localhost" };

        (void) arg;
        return run_net(&net, echo_client, 2);
}

/* --- resets --- */

static int abort_stream(void *arg)
{
        char byte;
        int64_t n;

        tasks_begun++;
        n = eddy_stream_read(arg, &byte, 1);
        eddy_stream_abort(arg);
        tasks_ended++;
        return n < 0 ? (int) n : 0;
}

static int reset_client(void *arg)
{
        eddy_stream *stream;
        char byte;
        int64_t n;
        int err;

        tasks_begun++;
        err = connect_to(arg, &stream);
        if (err == 0) {
                err = eddy_stream_write(stream, "x", 1);
                if (err == 0) {
                        n = eddy_stream_read(stream, &byte, 1);
                        CHECK(n <= 0);
                        err = n == -ECONNRESET ? 0 : n == 0 ? -ENODATA : (int) n;
                }
                eddy_stream_close(stream);
        }
        tasks_ended++;
        return err;
}

int scenario_resets(void *arg)
{
        struct net net = { .serve = abort_stream };
        eddy_stream *stream = NULL;
        uint16_t port;
        int err;

        (void) arg;
        err = run_net(&net, reset_client, CLIENTS);
        if (err < 0)
                return err;
        err = eddy_tcp_listen("127.0.0.1", 0, NULL, &net.listener);
        if (err < 0)
                return err;
        port = eddy_listener_port(net.listener);
        eddy_listener_close(net.listener);
        err = eddy_tcp_connect("127.0.0.1", port, NULL, &stream);
        if (err == 0)
                eddy_stream_close(stream);
        CHECK(err < 0);
        return err == -ECONNREFUSED ? 0 : err;
}

/* --- idle connections --- */

static int speak_late(void *arg)
{
        eddy_stream *stream = arg;
        int err;

        tasks_begun++;
        err = eddy_sleep(EDDY_MS(5));
        if (err == 0)
                err = eddy_stream_write(stream, "now", 3);
        eddy_stream_close(stream);
        tasks_ended++;
        return err;
}

static void on_idle(void *arg)
{
        eddy_semaphore_release(arg);
}

static int idle_client(void *arg)
{
        eddy_semaphore spoken = { 0 };
        eddy_stream *stream;
        char buf[8];
        int64_t n = 0;
        int err;

        tasks_begun++;
        eddy_semaphore_init(&spoken, 0, 0);
        err = connect_to(arg, &stream);
        if (err == 0) {
                err = eddy_stream_watch_idle(stream, on_idle, &spoken);
                if (err == 0) {
                        err = eddy_semaphore_acquire(&spoken);
                        (void) eddy_stream_watch_idle(stream, NULL, NULL);
                }
                while (err == 0 && (n = eddy_stream_read(stream, buf, sizeof(buf))) > 0)
                        continue;
                if (err == 0)
                        err = (int) n;
                eddy_stream_close(stream);
        }
        tasks_ended++;
        return err;
}

int scenario_idle(void *arg)
{
        struct net net = { .serve = speak_late };

        (void) arg;
        return run_net(&net, idle_client, 2);
}

/* --- half-closed --- */

static int answer_after_end(void *arg)
{
        eddy_stream *stream = arg;
        int err = read_pattern(stream);

        tasks_begun++;
        if (err == 0)
                err = eddy_stream_write(stream, "thanks", 6);
        eddy_stream_close(stream);
        tasks_ended++;
        return err;
}

static int half_client(void *arg)
{
        eddy_stream *stream;
        char buf[16];
        size_t got = 0;
        int64_t n;
        int err;

        tasks_begun++;
        err = connect_to(arg, &stream);
        if (err == 0) {
                err = write_pattern(stream);
                while (err == 0 && got < sizeof(buf)) {
                        n = eddy_stream_read(stream, buf + got, sizeof(buf) - got);
                        if (n < 0)
                                err = (int) n;
                        if (n <= 0)
                                break;
                        got += (size_t) n;
                }
                if (err == 0 && got != 6)
                        err = -ENODATA;
                if (err == 0)
                        CHECK(memcmp(buf, "thanks", 6) == 0);
                eddy_stream_close(stream);
        }
        tasks_ended++;
        return err;
}

int scenario_half_closed(void *arg)
{
        struct net net = { .serve = answer_after_end };

        (void) arg;
        return run_net(&net, half_client, 3);
}

/* --- races of addresses --- */

/* The first address never answers, so that the second begins 250 ms later; one alone times out. */
int scenario_races(void *arg)
{
        static const struct eddy_address addresses[3] = {
                { .family = AF_INET6, .bytes = { 0xfd, [15] = 1 } },
                { .family = AF_INET, .bytes = { 10, 0, 0, 1 } },
                { .family = AF_INET, .bytes = { 127, 0, 0, 1 } },
        };
        struct net net = { .serve = echo_stream, .host = "api.example" };
        struct ed_sys *sys = ed_loop_current->sys;
        int64_t begin = eddy_now();
        eddy_stream *stream = NULL;
        int err;

        (void) arg;
        CHECK_EQ(ed_sim_address_dead(sys, &addresses[0]), 0);
        CHECK_EQ(ed_sim_address_dead(sys, &addresses[1]), 0);
        CHECK_EQ(ed_sim_name_add(sys, "api.example", addresses, 3), 0);
        CHECK_EQ(ed_sim_name_add(sys, "dead.example", addresses, 1), 0);
        err = run_net(&net, echo_client, 2);
        if (err < 0)
                return err;
        /* Where an attempt of each client fails at once, as without memory, one wait is left. */
        CHECK(eddy_now() - begin >= EDDY_MS(250));
        err = eddy_tcp_connect("dead.example", 80, NULL, &stream);
        if (err == 0)
                eddy_stream_close(stream);
        CHECK(err < 0);
        return err == EDDY_E_NET_TIMED_OUT ? 0 : err;
}

/* --- a server of connections, on a Unix socket and on a port --- */

enum { CALLERS = 3 };

static int echo_connection(eddy_stream *stream, void *arg)
{
        (void) arg;
        return echo_stream(stream);
}

static int serve_connections(void *arg)
{
        struct eddy_serve_opts opts = { .connections_max = 2, .drain_ns = EDDY_MS(10) };
        int err;

        tasks_begun++;
        err = eddy_serve(arg, &opts, echo_connection, NULL);
        tasks_ended++;
        return err;
}

/* Over the Unix socket, or over TCP with all options. */
static int call_server(eddy_listener *listener, eddy_stream **ret_stream)
{
        struct eddy_endpoint local = { .kind = EDDY_ENDPOINT_IP,
                                       .address = { .family = AF_INET,
                                                    .bytes = { 127, 0, 0, 9 } } };
        struct eddy_tcp_connect_opts opts = { .local = &local, .keepalive_ns = EDDY_SEC(10) };
        uint16_t port = eddy_listener_port(listener);

        return port ? eddy_tcp_connect("127.0.0.1", port, &opts, ret_stream)
                    : eddy_unix_connect("@scenario", NULL, ret_stream);
}

static int serve_client(void *arg)
{
        eddy_stream *stream;
        char byte = 'x';
        int64_t n;
        int err;

        tasks_begun++;
        err = call_server(arg, &stream);
        if (err == 0) {
                n = eddy_stream_write(stream, &byte, 1);
                if (n == 0)
                        n = eddy_stream_read(stream, &byte, 1);
                err = n < 0 ? (int) n : n == 0 ? -EPIPE : 0;
                eddy_stream_close(stream);
        }
        tasks_ended++;
        return err;
}

static int run_served(eddy_listener *listener)
{
        struct eddy_scope_opts opts = { .timeout_ns = EDDY_MIN(5) };
        eddy_scope serving, calling;
        int err, started = 0;

        eddy_scope_begin(&serving, NULL);
        if (eddy_scope_start(&serving, serve_connections, listener) == 0) {
                eddy_scope_begin(&calling, &opts);
                for (int i = 0; i < CALLERS; i++)
                        started += eddy_scope_start(&calling, serve_client, listener) == 0;
                err = eddy_scope_end(&calling);
                eddy_scope_cancel(&serving);
        } else {
                err = -ECANCELED;
        }
        (void) eddy_scope_end(&serving);
        eddy_listener_close(listener);
        return err == 0 && started < CALLERS ? -ECANCELED : err;
}

int scenario_served(void *arg)
{
        eddy_listener *listener;
        int err = eddy_unix_listen("@scenario", NULL, &listener);

        (void) arg;
        if (err == 0)
                err = run_served(listener);
        if (err == 0)
                err = eddy_tcp_listen("127.0.0.1", 0, NULL, &listener);
        return err < 0 ? err : run_served(listener);
}

/* --- descriptors of the program's own, and its signals --- */

/* Both are closed, whatever comes of it. */
static int streams_from(const int fds[2], eddy_stream *ret_streams[2])
{
        struct ed_sys *sys = ed_loop_current->sys;
        int err = 0;

        ret_streams[0] = ret_streams[1] = NULL;
        for (int i = 0; i < 2; i++) {
                int one_err = eddy_stream_from_fd(fds[i], EDDY_STREAM_OWN_FD, &ret_streams[i]);

                if (one_err < 0) {
                        sys->socket->close(sys, fds[i]);
                        err = one_err;
                }
        }
        for (int i = 0; i < 2 && err < 0; i++)
                eddy_stream_close(ret_streams[i]);
        return err;
}

/* The pattern from one end to the other. */
static int pass_pattern(const int fds[2], bool ends)
{
        eddy_stream *streams[2];
        eddy_scope scope;
        int err, end_err;

        err = streams_from(fds, streams);
        if (err < 0)
                return err;
        eddy_scope_begin(&scope, NULL);
        (void) eddy_scope_start(&scope, ends ? write_pattern : write_and_close, streams[1]);
        err = read_pattern(streams[0]);
        if (err < 0)
                eddy_scope_cancel(&scope);
        end_err = eddy_scope_end(&scope);
        eddy_stream_close(streams[0]);
        if (ends)
                eddy_stream_close(streams[1]);
        return end_err < 0 ? end_err : err;
}

static int on_readable(void *arg)
{
        eddy_event_set(arg);
        return 0;
}

/* A descriptor of another library: this program writes, and is called when there is something. */
static int watch_one(const int fds[2])
{
        struct ed_sys *sys = ed_loop_current->sys;
        eddy_event readable = { 0 };
        eddy_handle handle = { 0 };
        int err;

        err = eddy_loop_watch(eddy_loop_current(), &handle, fds[0], EDDY_LOOP_READ, on_readable,
                              &readable);
        if (err < 0)
                return err;
        err = eddy_event_wait(&readable);
        (void) eddy_handle_cancel(&handle);
        CHECK(err < 0 || sys->poll->is_readable(sys, fds[0]));
        return err;
}

static int watch_end_of_pipe(void)
{
        struct ed_sys *sys = ed_loop_current->sys;
        int fds[2], err;

        err = ed_sim_pipe(sys, fds);
        if (err < 0)
                return err;
        sys->socket->close(sys, fds[1]);
        err = watch_one(fds);
        sys->socket->close(sys, fds[0]);
        return err;
}

int scenario_descriptors(void *arg)
{
        struct ed_sys *sys = ed_loop_current->sys;
        int fds[2], err;

        (void) arg;
        err = ed_sim_pair(sys, NULL, fds);
        if (err == 0)
                err = pass_pattern(fds, true);
        if (err == 0)
                err = ed_sim_pipe(sys, fds);
        if (err == 0)
                err = pass_pattern(fds, false);
        return err < 0 ? err : watch_end_of_pipe();
}

static int wait_for_signal(void *arg)
{
        return eddy_signal_wait(arg);
}

/* One that does not come. */
int scenario_signals(void *arg)
{
        static const int signos[] = { SIGUSR2 };
        eddy_signal *signal;
        int err;

        (void) arg;
        err = eddy_signal_open(signos, 1, &signal);
        if (err < 0)
                return err;
        err = eddy_call_timeout(wait_for_signal, signal, EDDY_MS(5));
        eddy_signal_close(signal);
        return err == -ETIMEDOUT ? 0 : err;
}
