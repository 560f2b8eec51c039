/*
 * test_outlived.c - objects that outlive their run, or are used in the run of another thread: each
 * call is refused, and each object can be closed.
 *
 * Databases have cases of their own.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "../tls/tls_test.h"
#include "http/websocket.h"
#include "outlived.h"

static char byte;
static const struct eddy_slice slice = { "x", 1 };

/* --- streams --- */

static int64_t use_read(void *stream)
{
        return eddy_stream_read(stream, &byte, 1);
}

static int64_t use_try_read(void *stream)
{
        return eddy_stream_try_read(stream, &byte, 1);
}

static int64_t use_write(void *stream)
{
        return eddy_stream_write(stream, "x", 1);
}

static int64_t use_try_writev(void *stream)
{
        return eddy_stream_try_writev(stream, &slice, 1);
}

static int64_t use_wait(void *stream)
{
        return eddy_stream_wait(stream, EDDY_STREAM_READING);
}

static int64_t use_shutdown(void *stream)
{
        return eddy_stream_shutdown(stream);
}

static int64_t use_is_readable(void *stream)
{
        return eddy_stream_is_readable(stream);
}

static void never(void *arg)
{
        (void) arg;
        test_fail(__FILE__, __LINE__, "a callback of a refused call was made");
}

static int64_t use_watch_idle(void *stream)
{
        return eddy_stream_watch_idle(stream, never, NULL);
}

static int64_t use_watch_hangup(void *stream)
{
        return eddy_stream_watch_hangup(stream, never, NULL);
}

static int64_t use_peer(void *stream)
{
        struct eddy_endpoint peer;

        return eddy_stream_peer(stream, &peer);
}

static int64_t use_reader(void *stream)
{
        eddy_reader reader;
        char buf[16], *line;

        eddy_reader_init(&reader, stream, buf, sizeof(buf));
        return eddy_reader_line(&reader, &line, NULL);
}

static void close_stream(void *stream)
{
        eddy_stream_close(stream);
}

static void abort_stream(void *stream)
{
        eddy_stream_abort(stream);
}

/* The end that stays; the other one is closed. */
static eddy_stream *connected(eddy_listener *listener)
{
        struct eddy_endpoint at = eddy_listener_endpoint(listener);
        eddy_stream *client, *server;

        if (at.kind == EDDY_ENDPOINT_UNIX)
                CHECK_EQ(eddy_unix_connect(at.path, NULL, &client), 0);
        else
                CHECK_EQ(eddy_tcp_connect("127.0.0.1", at.port, NULL, &client), 0);
        CHECK_EQ(eddy_listener_accept(listener, &server), 0);
        CHECK_EQ(eddy_stream_write(server, "abc", 3), 0);
        CHECK_EQ(eddy_stream_wait(client, EDDY_STREAM_READING), 0);
        eddy_stream_close(server);
        eddy_listener_close(listener);
        return client;
}

static eddy_listener *tcp_listener(void)
{
        eddy_listener *listener;

        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        return listener;
}

static void *make_tcp(void)
{
        return connected(tcp_listener());
}

static void *make_unix(void)
{
        eddy_listener *listener;
        char path[64];

        snprintf(path, sizeof(path), "/tmp/eddy-outlived-%d", (int) getpid());
        CHECK_EQ(eddy_unix_listen(path, NULL, &listener), 0);
        return connected(listener);
}

/* A pipe has bytes, and this end is its descriptor's only owner. */
static void *make_descriptor(void)
{
        eddy_stream *stream;
        int fds[2];

        CHECK_EQ(pipe(fds), 0);
        CHECK_EQ(write(fds[1], "abc", 3), 3);
        CHECK_EQ(close(fds[1]), 0);
        CHECK_EQ(eddy_stream_from_fd(fds[0], EDDY_STREAM_OWN_FD, &stream), 0);
        CHECK_EQ(eddy_stream_is_readable(stream), true);
        return stream;
}

/* The peer has gone, and its bytes are here. */
static void *make_tls(void)
{
        struct tls_rig rig = { .host = NULL };

        tls_rig_open(&rig);
        tls_rig_shake(&rig);
        CHECK_EQ(rig.client_err, 0);
        CHECK_EQ(eddy_stream_write(rig.server, "abc", 3), 0);
        CHECK_EQ(eddy_stream_read(rig.client, &byte, 1), 1);
        eddy_stream_close(rig.server);
        eddy_tls_config_close(rig.client_config);
        eddy_tls_config_close(rig.server_config);
        return rig.client;
}

static int64_t use_tls_info(void *stream)
{
        struct eddy_tls_info info;

        return eddy_tls_info(stream, &info);
}

struct both {
        eddy_stream *first, *second;
};

static void *make_pair(void)
{
        static struct both both;

        CHECK_EQ(eddy_stream_pair(NULL, &both.first, &both.second), 0);
        CHECK_EQ(eddy_stream_write(both.first, "abc", 3), 0);
        CHECK_EQ(eddy_stream_watch_idle(both.first, never, NULL), 0);
        return &both;
}

static int64_t use_pair(void *both)
{
        CHECK_EQ(use_try_read(((struct both *) both)->second), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(use_try_writev(((struct both *) both)->first), EDDY_E_RUN_OTHER_LOOP);
        return use_shutdown(((struct both *) both)->second);
}

static void close_pair(void *both)
{
        eddy_stream_close(((struct both *) both)->second);
        eddy_stream_close(((struct both *) both)->first);
}

/* --- what listens and receives --- */

static void *make_listener(void)
{
        return tcp_listener();
}

static int64_t use_accept(void *listener)
{
        eddy_stream *stream;

        return eddy_listener_accept(listener, &stream);
}

static void close_listener(void *listener)
{
        eddy_listener_close(listener);
}

static void *make_udp(void)
{
        eddy_udp *udp;

        CHECK_EQ(eddy_udp_bind("127.0.0.1", 0, NULL, &udp), 0);
        return udp;
}

static int64_t use_udp_receive(void *udp)
{
        return eddy_udp_receive(udp, &byte, 1);
}

static int64_t use_udp_send(void *udp)
{
        struct eddy_endpoint to = { .kind = EDDY_ENDPOINT_IP,
                                    .port = 9,
                                    .address = { .family = AF_INET, .bytes = { 127, 0, 0, 1 } } };

        return eddy_udp_send_to(udp, "x", 1, &to);
}

static int64_t use_udp_option(void *udp)
{
        return eddy_udp_option(udp, EDDY_UDP_TTL);
}

static int64_t use_udp_set_option(void *udp)
{
        return eddy_udp_set_option(udp, EDDY_UDP_TTL, 3);
}

static int64_t use_udp_local(void *udp)
{
        struct eddy_endpoint local;

        return eddy_udp_local(udp, &local);
}

static int64_t use_udp_error(void *udp)
{
        struct eddy_udp_error error;

        return eddy_udp_error(udp, &error);
}

static void close_udp(void *udp)
{
        eddy_udp_close(udp);
}

static void *make_signal(void)
{
        eddy_signal *signal;
        const int signo = SIGUSR1;

        CHECK_EQ(eddy_signal_open(&signo, 1, &signal), 0);
        return signal;
}

static int64_t use_signal(void *signal)
{
        return eddy_signal_wait(signal);
}

static void close_signal(void *signal)
{
        eddy_signal_close(signal);
}

static void *make_notify(void)
{
        eddy_notify *notify;

        CHECK_EQ(eddy_notify_open(NULL, &notify), 0);
        CHECK(eddy_notify_add(notify, "/tmp") > 0);
        return notify;
}

static int64_t use_notify_next(void *notify)
{
        struct eddy_notify_event event;

        return eddy_notify_next(notify, &event);
}

static int64_t use_notify_add(void *notify)
{
        return eddy_notify_add(notify, "/");
}

static int64_t use_notify_remove(void *notify)
{
        return eddy_notify_remove(notify, 1);
}

static void close_notify(void *notify)
{
        eddy_notify_close(notify);
}

/* --- files and processes --- */

static void *make_file(void)
{
        eddy_file *file;

        CHECK_EQ(eddy_file_temporary(NULL, &file), 0);
        CHECK_EQ(eddy_file_write(file, "abc", 3), 0);
        return file;
}

static int64_t use_file_read(void *file)
{
        return eddy_file_read_at(file, &byte, 1, 0);
}

static int64_t use_file_write(void *file)
{
        return eddy_file_write(file, "x", 1);
}

static int64_t use_file_sync(void *file)
{
        return eddy_file_sync(file, 0);
}

static int64_t use_file_seek(void *file)
{
        return eddy_file_seek(file, 0);
}

static int64_t use_file_stat(void *file)
{
        struct eddy_file_info info;

        return eddy_file_stat(file, &info);
}

static void close_file(void *file)
{
        eddy_file_close(file);
}

/* With bytes that it holds. */
static void *make_file_stream(void)
{
        eddy_stream *stream;

        CHECK_EQ(eddy_file_stream(make_file(), EDDY_FILE_STREAM_OWN, &stream), 0);
        CHECK_EQ(eddy_stream_try_writev(stream, &slice, 1), 1);
        return stream;
}

static void *make_folder(void)
{
        eddy_folder *folder;

        CHECK_EQ(eddy_folder_open("/", &folder), 0);
        return folder;
}

static int64_t use_folder(void *folder)
{
        struct eddy_folder_entry entry;

        return eddy_folder_next(folder, &entry);
}

static void close_folder(void *folder)
{
        eddy_folder_close(folder);
}

static void *make_process(void)
{
        static const char *const arguments[] = { "/bin/sh", "-c", "echo; exec sleep 1000", NULL };
        struct eddy_process_opts opts = { .arguments = (const char **) arguments,
                                          .in = { .kind = EDDY_PROCESS_PIPE },
                                          .out = { .kind = EDDY_PROCESS_PIPE } };
        eddy_process *process;

        CHECK_EQ(eddy_process_start(&opts, &process), 0);
        CHECK_EQ(eddy_stream_wait(eddy_process_stdout(process), EDDY_STREAM_READING), 0);
        return process;
}

static int64_t use_process_wait(void *process)
{
        return eddy_process_wait(process, NULL);
}

static int64_t use_process_signal(void *process)
{
        return eddy_process_signal(process, SIGTERM);
}

/* The end of the run closes the pipes. */
static int64_t use_process_pipes(void *process)
{
        eddy_stream *in = eddy_process_stdin(process), *out = eddy_process_stdout(process);

        if (!in || !out)
                return EDDY_E_RUN_OTHER_LOOP;
        CHECK_EQ(use_try_writev(in), EDDY_E_RUN_OTHER_LOOP);
        return use_try_read(out);
}

static void close_process(void *process)
{
        eddy_process_close(process);
}

static int does_nothing(void *arg)
{
        (void) arg;
        return 0;
}

static void *make_thread_pool(void)
{
        eddy_thread_pool *pool;

        CHECK_EQ(eddy_thread_pool_new(NULL, &pool), 0);
        CHECK_EQ(eddy_thread_pool_call(pool, does_nothing, NULL, NULL), 0);
        return pool;
}

/* The end of its run closes it. */
static int64_t use_thread_pool(void *pool)
{
        int err = eddy_thread_pool_call(pool, does_nothing, NULL, NULL);

        return err == EDDY_E_THREAD_POOL_CLOSED ? EDDY_E_RUN_OTHER_LOOP : err;
}

static void close_thread_pool(void *pool)
{
        eddy_thread_pool_close(pool);
}

/* --- what lends and limits --- */

static int item_open(void *arg, void **ret_item)
{
        (void) arg;
        *ret_item = make_tcp();
        return 0;
}

static void item_close(void *arg, void *item)
{
        (void) arg;
        eddy_stream_close(item);
}

struct lent {
        eddy_pool *pool;
        eddy_pool_loan lent, idle;
};

/* With an item that is lent, and one that is idle. */
static void *make_pool(void)
{
        static const struct eddy_pool_ops ops = { .open = item_open, .close = item_close };
        static struct lent lent;

        CHECK_EQ(eddy_pool_new(&(struct eddy_pool_opts){ .ops = &ops }, &lent.pool), 0);
        CHECK_EQ(eddy_pool_acquire(lent.pool, &lent.lent), 0);
        CHECK_EQ(eddy_pool_acquire(lent.pool, &lent.idle), 0);
        CHECK_EQ(eddy_pool_release(&lent.idle), 0);
        return &lent;
}

static int64_t use_pool(void *lent)
{
        eddy_pool_loan loan = { .item = NULL };

        eddy_pool_expire(((struct lent *) lent)->pool);
        return eddy_pool_acquire(((struct lent *) lent)->pool, &loan);
}

/* Without a run, the loan comes back after the close: the run of the pool has ended. */
static void close_pool(void *arg)
{
        struct lent *lent = arg;
        bool is_last = !eddy_task_current();

        if (!is_last)
                (void) eddy_pool_release(&lent->lent);
        eddy_pool_close(lent->pool);
        if (is_last)
                CHECK_EQ(eddy_pool_release(&lent->lent), 0);
}

static void *make_limiter(void)
{
        struct eddy_limiter_limit limit = { EDDY_LIMITER_REQUESTS, 10, EDDY_SEC(1) };
        struct eddy_limiter_opts opts = { .limits = &limit, .limits_count = 1 };
        eddy_limiter *limiter;

        CHECK_EQ(eddy_limiter_new(&opts, &limiter), 0);
        CHECK_EQ(eddy_limiter_pause(limiter, INT64_MAX), 0);
        return limiter;
}

static int64_t use_limiter(void *limiter)
{
        struct eddy_limiter_stats stats;

        eddy_limiter_stats(limiter, &stats);
        return eddy_limiter_try_reserve(limiter, 1, 0, NULL);
}

static int64_t use_limiter_resume(void *limiter)
{
        return eddy_limiter_resume(limiter);
}

static void close_limiter(void *limiter)
{
        eddy_limiter_close(limiter);
}

static void *make_log(void)
{
        struct eddy_log_opts opts = { .path = "/dev/null" };
        eddy_log *log;

        CHECK_EQ(eddy_log_open(&opts, &log), 0);
        eddy_log_info(log, "held");
        return log;
}

static int64_t use_log(void *log)
{
        eddy_log_info(log, "dropped");
        return eddy_log_flush(log);
}

static void close_log(void *log)
{
        eddy_log_close(log);
}

static void *make_client(void)
{
        eddy_http_client *client;

        CHECK_EQ(eddy_http_client_new(NULL, &client), 0);
        return client;
}

static int64_t use_client(void *client)
{
        eddy_http_response *response;

        return eddy_http_client_send(
                client, &(struct eddy_http_request){ .url = "http://127.0.0.1:1/" }, &response);
}

static void close_client(void *client)
{
        eddy_http_client_close(client);
}

/* --- a response, in the middle of its body --- */

struct answered {
        eddy_listener *listener;
        eddy_stream *server;
        eddy_http_client *client;
        eddy_http_response *response;
        eddy_stream *body;
        eddy_http_sse *events;
        char url[64];
};

static int answer(void *arg)
{
        static const char text[] = "HTTP/1.1 200 OK\r\nContent-Type: "
                                   "text/event-stream\r\nContent-Length: 9\r\n\r\nabc";
        struct answered *answered = arg;

        CHECK_EQ(eddy_listener_accept(answered->listener, &answered->server), 0);
        return eddy_stream_write(answered->server, text, sizeof(text) - 1);
}

static int ask(struct answered *answered)
{
        return eddy_http_client_send(answered->client,
                                     &(struct eddy_http_request){ .url = answered->url },
                                     &answered->response);
}

static int ask_for_events(struct answered *answered)
{
        return eddy_http_sse_open(answered->client,
                                  &(struct eddy_http_request){ .url = answered->url }, NULL,
                                  &answered->events);
}

static struct answered *make_answered(int (*fn)(struct answered *answered))
{
        static struct answered answered;
        eddy_scope scope;

        answered.listener = tcp_listener();
        answered.client = make_client();
        snprintf(answered.url, sizeof(answered.url), "http://127.0.0.1:%d/",
                 eddy_listener_port(answered.listener));
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, answer, &answered);
        CHECK_EQ(fn(&answered), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_stream_close(answered.server);
        eddy_listener_close(answered.listener);
        return &answered;
}

static void *make_response(void)
{
        struct answered *answered = make_answered(ask);

        CHECK_EQ(eddy_http_response_read(answered->response, &byte, 1), 1);
        return answered;
}

static void *make_events(void)
{
        return make_answered(ask_for_events);
}

static int64_t use_events(void *answered)
{
        struct eddy_http_sse_event event;

        return eddy_http_sse_next(((struct answered *) answered)->events, &event);
}

static void close_events(void *answered)
{
        eddy_http_sse_close(((struct answered *) answered)->events);
        eddy_http_client_close(((struct answered *) answered)->client);
}

/* The client is closed: the stream's response keeps what it needs. */
static void *make_body(void)
{
        struct answered *answered = make_answered(ask);

        CHECK_EQ(eddy_http_response_stream(answered->response, EDDY_HTTP_STREAM_OWN,
                                           &answered->body),
                 0);
        CHECK_EQ(eddy_stream_read(answered->body, &byte, 1), 1);
        eddy_http_client_close(answered->client);
        return answered->body;
}

static int64_t use_response_stream(void *answered)
{
        eddy_stream *stream;

        return eddy_http_response_stream(((struct answered *) answered)->response, 0, &stream);
}

static int64_t use_response_read(void *answered)
{
        return eddy_http_response_read(((struct answered *) answered)->response, &byte, 1);
}

static int64_t use_response_body(void *answered)
{
        const void *data;
        size_t bytes;

        return eddy_http_response_body(((struct answered *) answered)->response, &data, &bytes);
}

static int64_t use_response_discard(void *answered)
{
        return eddy_http_response_discard(((struct answered *) answered)->response);
}

static void close_response(void *answered)
{
        eddy_http_response_close(((struct answered *) answered)->response);
        eddy_http_client_close(((struct answered *) answered)->client);
}

/* --- a WebSocket --- */

static void *make_websocket(void)
{
        static const struct eddy_websocket_opts opts = { .close_ns = EDDY_MS(1) };
        eddy_websocket *websocket;

        CHECK_EQ(ed_websocket_new(&opts, "", false, &websocket), 0);
        websocket->stream = make_tcp();
        return websocket;
}

static int64_t use_websocket_read(void *websocket)
{
        struct eddy_websocket_message message;

        return eddy_websocket_read(websocket, &message);
}

static int64_t use_websocket_write(void *websocket)
{
        return eddy_websocket_write(websocket, EDDY_WEBSOCKET_TEXT, "x", 1);
}

static int64_t use_websocket_ping(void *websocket)
{
        return eddy_websocket_ping(websocket, NULL, 0);
}

static void close_websocket(void *websocket)
{
        eddy_websocket_close(websocket, 0, NULL);
}

/* --- metrics --- */

struct measured {
        eddy_metrics *metrics;
        eddy_metric *metric;
};

static void *make_metrics(void)
{
        static const char *const labels[] = { "name", NULL };
        static struct measured measured;

        CHECK_EQ(eddy_metrics_new(NULL, &measured.metrics), 0);
        measured.metric = eddy_metrics_counter(measured.metrics, "x_total", "", labels);
        eddy_series_add(eddy_metric_series(measured.metric, (const char *[]){ "made" }), 1);
        return &measured;
}

static int64_t use_metrics_write(void *measured)
{
        char *text;
        size_t bytes;

        return eddy_metrics_write(((struct measured *) measured)->metrics, &text, &bytes);
}

static int64_t use_metrics_new(void *measured)
{
        struct eddy_metric_opts opts = { .name = "y_total" };
        eddy_metric *metric;

        return eddy_metric_new(((struct measured *) measured)->metrics, EDDY_METRIC_COUNTER, &opts,
                               &metric);
}

static int64_t use_metrics_series(void *measured)
{
        const eddy_series *series = eddy_metric_series(((struct measured *) measured)->metric,
                                                       (const char *[]){ "made" });

        return series ? 0 : EDDY_E_RUN_OTHER_LOOP;
}

static void close_metrics(void *measured)
{
        eddy_metrics_close(((struct measured *) measured)->metrics);
}

#define STREAM_USES                                                                                \
        {                                                                                          \
                use_read, use_try_read, use_write, use_try_writev, use_wait, use_shutdown,         \
                        use_is_readable, use_watch_idle, use_watch_hangup, use_peer, use_reader    \
        }

static const struct outlived kinds[] = {
        { "a TCP stream", make_tcp, STREAM_USES, close_stream },
        { "an aborted TCP stream", make_tcp, STREAM_USES, abort_stream },
        { "a Unix stream", make_unix, STREAM_USES, close_stream },
        { "a stream of a descriptor", make_descriptor, STREAM_USES, close_stream },
        { "a stream of a file", make_file_stream, STREAM_USES, close_stream },
        { "a TLS stream", make_tls, STREAM_USES, close_stream },
        { "an aborted TLS stream", make_tls, STREAM_USES, abort_stream },
        { "a TLS connection", make_tls, { use_tls_info }, close_stream },
        { "a pair", make_pair, { use_pair }, close_pair },
        { "a listener", make_listener, { use_accept }, close_listener },
        { "a UDP socket",
          make_udp,
          { use_udp_receive, use_udp_send, use_udp_option, use_udp_set_option, use_udp_local,
            use_udp_error },
          close_udp },
        { "a signal object", make_signal, { use_signal }, close_signal },
        { "a notify object",
          make_notify,
          { use_notify_next, use_notify_add, use_notify_remove },
          close_notify },
        { "a file",
          make_file,
          { use_file_read, use_file_write, use_file_sync, use_file_seek, use_file_stat },
          close_file },
        { "a folder", make_folder, { use_folder }, close_folder },
        { "a process",
          make_process,
          { use_process_wait, use_process_signal, use_process_pipes },
          close_process },
        { "a thread pool", make_thread_pool, { use_thread_pool }, close_thread_pool },
        { "a pool", make_pool, { use_pool }, close_pool },
        { "a limiter", make_limiter, { use_limiter, use_limiter_resume }, close_limiter },
        { "a log", make_log, { use_log }, close_log },
        { "an HTTP client", make_client, { use_client }, close_client },
        { "an HTTP response",
          make_response,
          { use_response_read, use_response_body, use_response_discard, use_response_stream },
          close_response },
        { "the body of a response as a stream", make_body, STREAM_USES, close_stream },
        { "a stream of events", make_events, { use_events }, close_events },
        { "a WebSocket",
          make_websocket,
          { use_websocket_read, use_websocket_write, use_websocket_ping },
          close_websocket },
        { "a set of metrics",
          make_metrics,
          { use_metrics_write, use_metrics_new, use_metrics_series },
          close_metrics },
};

TEST(objects_are_refused_by_other_runs_and_can_be_closed)
{
        outlived_check_all(kinds, sizeof(kinds) / sizeof(kinds[0]));
}
