/*
 * http/h2_connection.c - see h2_connection.h.
 *
 * The connection's task reads; its waits are idle calls until the server stops. Each request has a
 * task of its own, in a scope of the connection.
 */
#include "http/h2_connection.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/call.h"
#include "eddy/error.h"
#include "eddy/serve.h"
#include "eddy/time.h"
#include "http/h2_exchange.h"
#include "http/http1_info.h"
#include "http/linger.h"
#include "http/problem.h"
#include "http/repeat.h"
#include "io/serve.h"
#include "scope/scope.h"
#include "scope/suspend.h"
#include "wire/http1.h"

enum {
        STREAMS_DEFAULT = 128,
        STREAM_WINDOW = 64 << 10,
        CONNECTION_WINDOW = 768 << 10, /* a connection may cost less than a megabyte */
        HEADS_BYTES_MAX = 256 << 10,
        HEAD_DECODED_TIMES = 4, /* the limit of a head may be exceeded while it is decoded */
        RATE_DEFAULT = 240,
};

#define GOING_NS EDDY_SEC(1) /* between both frames GOAWAY of a stop, if a PING is not answered */
#define LAST_NS  EDDY_SEC(1) /* for the client to read the last frames after a fault */

static struct ed_h2_connection *connection_of(struct ed_h2 *h2)
{
        return ed_container_of(h2, struct ed_h2_connection, h2);
}

static struct ed_h2_exchange *exchange_of(struct ed_h2_stream *stream)
{
        return ed_container_of(stream, struct ed_h2_exchange, stream);
}

/* ---- the time without requests ------------------------------------------------------- */

static int64_t earlier(int64_t a, int64_t b)
{
        return a < b ? a : b;
}

static bool is_idle(const struct ed_h2_connection *connection)
{
        return connection->h2.streams_count == 0 && connection->tasks == 0;
}

/* Returns when the connection must be looked at, whether or not bytes arrive. */
static int64_t deadline_of(struct ed_h2_connection *connection)
{
        const struct eddy_http_server_opts *opts = &connection->server->opts;
        const struct ed_h2 *h2 = &connection->h2;
        int64_t deadline_ns = INT64_MAX;

        if (h2->begun_ns)
                deadline_ns = ed_time_after(h2->begun_ns, opts->head_timeout_ns);
        if (connection->idle_ns)
                deadline_ns = earlier(deadline_ns, ed_time_after(connection->idle_ns, LAST_NS));
        else if (is_idle(connection))
                deadline_ns =
                        earlier(deadline_ns, ed_time_after(h2->quiet_ns, opts->idle_timeout_ns));
        if (connection->is_stopping && !connection->has_gone)
                deadline_ns = earlier(deadline_ns, ed_time_after(connection->going_ns, GOING_NS));
        return deadline_ns;
}

/*
 * The connection may have become idle while its task waits: the writing task has ended the last stream, or the
 * last handler has returned.
 */
static void note_idle(struct ed_h2_connection *connection)
{
        struct ed_h2 *h2 = &connection->h2;

        if (!is_idle(connection))
                return;
        h2->quiet_ns = eddy_now();
        if (h2->waiting)
                (void) eddy_scope_set_deadline(h2->waiting, deadline_of(connection));
}

/* ---- one request --------------------------------------------------------------------- */

/* Call the handler. If its client is gone, the handler is cancelled. */
static int handle(struct ed_h2_exchange *exchange)
{
        int result;

        eddy_scope_begin(&exchange->scope, NULL);
        exchange->is_running = true;
        result = ed_http_server_handle(exchange->connection->server, &exchange->base);
        exchange->is_running = false;
        (void) eddy_scope_end(&exchange->scope);
        return result;
}

/* Answer in place of the handler, if that is necessary. Returns the code of a reset. */
static uint32_t finish(struct ed_h2_exchange *exchange, int result)
{
        ed_http_repeat_stop(&exchange->base);
        if (exchange->aborted)
                return NGHTTP2_CANCEL;
        if (exchange->refused[0] && (exchange->answer == ED_HTTP_UNANSWERED || exchange->is_own))
                ed_http_report_refused(&exchange->base, exchange->refused);
        if (exchange->answer == ED_HTTP_UNANSWERED)
                ed_h2_answer_missing(exchange, result);
        return exchange->answer == ED_HTTP_ANSWERED ? NGHTTP2_NO_ERROR : NGHTTP2_INTERNAL_ERROR;
}

/* A refused request has no handler. */
static uint32_t refuse(struct ed_h2_exchange *exchange)
{
        exchange->failed =
                ed_http_problem_respond(&exchange->base, exchange->refusal, exchange->refusal_text);
        return exchange->answer == ED_HTTP_ANSWERED ? NGHTTP2_NO_ERROR : NGHTTP2_INTERNAL_ERROR;
}

/* The task of a request. */
static int serve_request(void *arg)
{
        struct ed_h2_exchange *exchange = arg;
        struct ed_h2_connection *connection = exchange->connection;
        uint32_t code = NGHTTP2_CANCEL;

        /* The client may have reset the stream before the task has begun. */
        if (!exchange->stream.is_reset) {
                exchange->date = ed_http_server_date(connection->server);
                code = exchange->refusal ? refuse(exchange) : finish(exchange, handle(exchange));
        }
        exchange->has_task = false;
        connection->tasks--;
        note_idle(connection);
        ed_h2_stream_leave(&exchange->stream, code);
        return 0;
}

/* ---- operations ------------------------------------------------------------------------ */

static struct ed_h2_stream *begin(struct ed_h2 *h2, int32_t id)
{
        struct ed_h2_connection *connection = connection_of(h2);
        struct ed_h2_exchange *exchange = NULL;

        if (connection->tasks < connection->streams_max && connection->heads <= HEADS_BYTES_MAX)
                exchange = ed_h2_exchange_new(connection, id);
        if (!exchange) {
                ed_h2_count(&connection->stats->refused);
                return NULL;
        }
        ed_h2_count(&connection->stats->streams);
        return &exchange->stream;
}

/* The request is malformed: the stream is reset, which counts as a fault of the client. */
static void refuse_malformed(struct ed_h2_exchange *exchange)
{
        ed_h2_count(&exchange->connection->stats->malformed);
        ed_h2_stream_reset(&exchange->stream, NGHTTP2_PROTOCOL_ERROR, -ECONNRESET);
        exchange->stream.reset_by_us = false;
}

/* Count the memory of the head and the trailers. */
static void count_fields(struct ed_h2_exchange *exchange)
{
        size_t room = ed_h2_head_room(&exchange->stream.head) + exchange->copies.room +
                      ed_h2_head_room(&exchange->stream.trailers);

        exchange->connection->heads += room - exchange->head_room;
        exchange->head_room = room;
}

static void begin_request(struct ed_h2_exchange *exchange)
{
        struct ed_h2_connection *connection = exchange->connection;
        struct ed_task *task;
        int err = ed_h2_exchange_begin(exchange);

        count_fields(exchange);
        if (err == EDDY_E_HTTP_INVALID_REQUEST) {
                refuse_malformed(exchange);
                return;
        }
        if (err == 0)
                err = ed_scope_try_start(ed_scope_of(&connection->handlers), serve_request,
                                         exchange, 0, "http_request", NULL, &task);
        if (err < 0) {
                ed_h2_count(&connection->stats->refused);
                ed_h2_stream_reset(&exchange->stream, NGHTTP2_REFUSED_STREAM, err);
                return;
        }
        ed_h2_stream_take(&exchange->stream);
        exchange->number = ++connection->requests;
        exchange->has_task = true;
        connection->tasks++;
}

/* Trailers that frame or route a message are forbidden (RFC 9110, 6.5.1). */
static bool are_allowed(const struct ed_h2_head *trailers)
{
        struct eddy_http_header header;

        for (size_t i = 0; ed_h2_head_at(trailers, i, &header) == 0; i++)
                if (ed_http1_trailer_is_forbidden(header.name, (uint32_t) strlen(header.name)))
                        return false;
        return !trailers->is_too_large;
}

static void end_trailers(struct ed_h2_exchange *exchange)
{
        struct ed_h2_connection *connection = exchange->connection;

        if (!are_allowed(&exchange->stream.trailers)) {
                refuse_malformed(exchange);
                return;
        }
        count_fields(exchange);
        if (connection->heads <= HEADS_BYTES_MAX)
                return;
        ed_h2_count(&connection->stats->refused);
        ed_h2_stream_reset(&exchange->stream, NGHTTP2_ENHANCE_YOUR_CALM, EDDY_E_HTTP_TOO_LARGE);
}

static void part(struct ed_h2_stream *stream, enum ed_h2_part part)
{
        if (part == ED_H2_MESSAGE)
                begin_request(exchange_of(stream));
        else
                end_trailers(exchange_of(stream));
}

static void closed(struct ed_h2_stream *stream)
{
        struct ed_h2_exchange *exchange = exchange_of(stream);
        struct ed_h2_connection *connection = exchange->connection;

        note_idle(connection);
        if (!stream->is_reset || !exchange->has_task)
                return;
        if (!stream->reset_by_us)
                ed_h2_count(&connection->stats->resets);
        if (connection->server->opts.flags & EDDY_HTTP_SERVER_FINISH)
                return;
        exchange->aborted = true;
        if (exchange->is_running)
                eddy_scope_cancel(&exchange->scope);
}

static void free_stream(struct ed_h2_stream *stream)
{
        ed_h2_exchange_free(exchange_of(stream));
}

/* ---- the end of a connection ------------------------------------------------------------- */

/*
 * The server stops: the first GOAWAY allows requests that are on their way; the second comes after the
 * client has seen the first, and names the last request that is served.
 */
static void begin_stop(struct ed_h2_connection *connection)
{
        nghttp2_session *session = connection->h2.session;

        connection->is_stopping = true;
        connection->going_ns = eddy_now();
        if (nghttp2_submit_shutdown_notice(session) < 0 ||
            nghttp2_submit_ping(session, NGHTTP2_FLAG_NONE, NULL) < 0)
                ed_h2_fail(&connection->h2, NGHTTP2_INTERNAL_ERROR);
        ed_h2_wake(&connection->h2);
}

static void complete_stop(struct ed_h2_connection *connection)
{
        nghttp2_session *session = connection->h2.session;

        if (!connection->is_stopping || connection->has_gone)
                return;
        connection->has_gone = true;
        if (nghttp2_submit_goaway(session, NGHTTP2_FLAG_NONE,
                                  nghttp2_session_get_last_proc_stream_id(session),
                                  NGHTTP2_NO_ERROR, NULL, 0) < 0)
                ed_h2_fail(&connection->h2, NGHTTP2_INTERNAL_ERROR);
        ed_h2_wake(&connection->h2);
}

static void pong(struct ed_h2 *h2)
{
        complete_stop(connection_of(h2));
}

/* ---- times ---------------------------------------------------------------------------------- */

/*
 * Reset streams whose task has ended and whose rest the client does not take. A task that writes checks
 * the speed itself.
 */
static void sweep(struct ed_h2_connection *connection)
{
        ed_list_each_safe (link, &connection->h2.streams) {
                struct ed_h2_stream *stream = ed_container_of(link, struct ed_h2_stream, link);
                struct ed_h2_exchange *exchange = exchange_of(stream);
                bool waits = !exchange->has_task && ed_buf_bytes(&stream->out) > 0;

                if (waits && exchange->is_swept && exchange->download.window_bytes > 0 &&
                    stream->data_out - exchange->swept < exchange->download.window_bytes) {
                        ed_h2_count(&connection->stats->slow);
                        ed_h2_stream_reset(stream, NGHTTP2_CANCEL, EDDY_E_NET_TIMED_OUT);
                        continue;
                }
                exchange->is_swept = waits;
                exchange->swept = stream->data_out;
        }
}

static void arm_sweeper(struct ed_h2_connection *connection)
{
        ed_timer_arm(&ed_loop_current->timers, &connection->sweeper,
                     ed_time_after(eddy_now(), connection->server->opts.rate_over_ns));
}

static void on_sweep(struct ed_timer *timer)
{
        struct ed_h2_connection *connection =
                ed_container_of(timer, struct ed_h2_connection, sweeper);

        sweep(connection);
        if (connection->h2.kept > 0)
                arm_sweeper(connection);
}

static void stalled(struct ed_h2 *h2)
{
        struct ed_h2_connection *connection = connection_of(h2);

        if (!connection->sweeper.armed)
                arm_sweeper(connection);
}

/* End a connection without requests. If the client does not read the GOAWAY, do not wait for it. */
static void end_idle(struct ed_h2_connection *connection, int64_t now_ns)
{
        int64_t idle_timeout_ns = connection->server->opts.idle_timeout_ns;
        struct ed_h2 *h2 = &connection->h2;

        if (connection->idle_ns) {
                if (now_ns >= ed_time_after(connection->idle_ns, LAST_NS))
                        ed_h2_fail(h2, NGHTTP2_ENHANCE_YOUR_CALM);
                return;
        }
        if (!is_idle(connection) || now_ns < ed_time_after(h2->quiet_ns, idle_timeout_ns))
                return;
        connection->idle_ns = now_ns;
        if (nghttp2_session_terminate_session(h2->session, NGHTTP2_NO_ERROR) < 0)
                ed_h2_fail(h2, NGHTTP2_INTERNAL_ERROR);
}

/* A deadline has passed. */
static void on_time(struct ed_h2_connection *connection)
{
        const struct eddy_http_server_opts *opts = &connection->server->opts;
        struct ed_h2 *h2 = &connection->h2;
        int64_t now_ns = eddy_now();

        if (h2->begun_ns && now_ns >= ed_time_after(h2->begun_ns, opts->head_timeout_ns)) {
                ed_h2_count(&connection->stats->late_ends);
                ed_h2_fail(h2, NGHTTP2_ENHANCE_YOUR_CALM);
                return;
        }
        end_idle(connection, now_ns);
        if (connection->is_stopping && now_ns >= ed_time_after(connection->going_ns, GOING_NS))
                complete_stop(connection);
        ed_h2_wake(h2);
}

/* Wait while the server runs: its stop ends the wait. */
static int wait_idle(struct ed_h2_connection *connection, const struct eddy_scope_opts *opts)
{
        struct ed_serve_idle idle;
        int err = ed_serve_idle_begin(&idle, opts);

        return err < 0 ? err : ed_serve_idle_end(&idle, ed_h2_wait(&connection->h2, &idle.scope));
}

static int wait_stopping(struct ed_h2_connection *connection, const struct eddy_scope_opts *opts)
{
        eddy_scope scope;
        int err, ended;

        eddy_scope_begin(&scope, opts);
        err = ed_h2_wait(&connection->h2, &scope);
        ended = eddy_scope_end(&scope);
        return err == -ECANCELED && ended < 0 ? ended : err;
}

static int wait(struct ed_h2 *h2)
{
        struct ed_h2_connection *connection = connection_of(h2);
        struct eddy_scope_opts opts = { .deadline_ns = deadline_of(connection) };
        int err;

        if (opts.deadline_ns == INT64_MAX)
                opts.deadline_ns = 0;
        err = connection->is_stopping ? wait_stopping(connection, &opts)
                                      : wait_idle(connection, &opts);
        if (err == -ETIMEDOUT) {
                on_time(connection);
                return 0;
        }
        if (err == -ECANCELED && !connection->is_stopping && eddy_serve_is_stopping()) {
                begin_stop(connection);
                return 0;
        }
        return err;
}

static const struct ed_h2_ops connection_ops = {
        .wait = wait,
        .begin = begin,
        .part = part,
        .closed = closed,
        .free = free_stream,
        .stalled = stalled,
        .pong = pong,
};

/* ---- one connection ---------------------------------------------------------------------------- */

static uint32_t limit_of(uint32_t given, uint32_t by_default)
{
        if (given == 0)
                return by_default;
        return given == UINT32_MAX ? 0 : given;
}

static void set_limits(struct ed_h2_opts *h2, const struct eddy_http_server_opts *opts)
{
        static const struct eddy_http2_server_opts defaults;
        const struct eddy_http2_server_opts *given = opts->http2 ? opts->http2 : &defaults;

        h2->streams_max = given->streams_max ? given->streams_max : STREAMS_DEFAULT;
        h2->limits[ED_H2_RESETS] = limit_of(given->resets_max, 1000);
        h2->limits[ED_H2_FAULTS] = limit_of(given->faults_max, 500);
        h2->limits[ED_H2_SETTINGS] = limit_of(given->settings_max, 100);
        h2->limits[ED_H2_PINGS] = limit_of(given->pings_max, 1000);
        h2->limits[ED_H2_OTHERS] = limit_of(given->others_max, 1000);
        h2->limits[ED_H2_EMPTY] = limit_of(given->empty_max, 100);
        h2->limits[ED_H2_UPDATES] = limit_of(given->updates_max, 1000);
        h2->limits[ED_H2_STRAYS] = h2->limits[ED_H2_OTHERS];
        h2->limits[ED_H2_CONTINUATIONS] = limit_of(given->continuations_max, 8);
        h2->limits[ED_H2_HEAD] = opts->head_bytes_max < UINT32_MAX / HEAD_DECODED_TIMES
                                         ? HEAD_DECODED_TIMES * opts->head_bytes_max
                                         : UINT32_MAX;
}

static int connection_init(struct ed_h2_connection *connection, struct ed_http_server *server,
                           eddy_stream *stream)
{
        const struct eddy_http_server_opts *opts = &server->opts;
        int32_t rate = opts->download_rate_min;
        struct ed_h2_opts h2 = {
                .ops = &connection_ops,
                .stream = stream,
                .memory = &server->memory,
                .is_server = true,
                .answers_at_end = !(opts->flags & EDDY_HTTP_SERVER_CANCEL_AT_END),
                .stream_window = STREAM_WINDOW,
                .connection_window = CONNECTION_WINDOW,
                .fields_max = opts->headers_max,
                .head_bytes_max = opts->head_bytes_max,
        };
        int err;

        connection->server = server;
        ed_timer_init(&connection->sweeper, on_sweep);
        connection->stats =
                opts->http2 && opts->http2->stats ? opts->http2->stats : &connection->own;
        set_limits(&h2, opts);
        connection->streams_max = h2.streams_max;
        err = ed_h2_init(&connection->h2, &h2);
        ed_http_pace_init(&connection->h2.pace,
                          rate < 0 ? 0 : (uint32_t) (rate ? rate : RATE_DEFAULT),
                          opts->rate_over_ns);
        return err;
}

/* Count why the connection has ended. */
static void count_end(const struct ed_h2_connection *connection)
{
        struct eddy_http2_server_stats *stats = connection->stats;
        uint64_t *const counters[ED_H2_LIMITS] = {
                [ED_H2_RESETS] = &stats->resets_ends,
                [ED_H2_FAULTS] = &stats->faults_ends,
                [ED_H2_SETTINGS] = &stats->settings_ends,
                [ED_H2_PINGS] = &stats->pings_ends,
                [ED_H2_OTHERS] = &stats->others_ends,
                [ED_H2_EMPTY] = &stats->empty_ends,
                [ED_H2_UPDATES] = &stats->updates_ends,
                [ED_H2_STRAYS] = &stats->others_ends,
                [ED_H2_CONTINUATIONS] = &stats->continuations_ends,
                [ED_H2_HEAD] = &stats->head_ends,
        };

        if (connection->h2.limit >= 0)
                ed_h2_count(counters[connection->h2.limit]);
        else if (connection->h2.fault == NGHTTP2_PROTOCOL_ERROR)
                ed_h2_count(&stats->faulty_ends);
        (void) __atomic_fetch_sub(&stats->open, 1, __ATOMIC_RELAXED);
}

static int linger(void *arg)
{
        ed_http_linger(arg);
        return 0;
}

/* End the stream. After a fault the client may still be sending, and should read the reason. */
static void end_stream(struct ed_h2_connection *connection)
{
        eddy_stream *stream = connection->h2.stream;

        connection->h2.stream = NULL;
        if (connection->h2.error == EDDY_E_NET_TIMED_OUT) {
                eddy_stream_abort(stream);
                return;
        }
        if (connection->h2.error == 0)
                (void) eddy_call_timeout(linger, stream, LAST_NS);
        eddy_stream_close(stream);
}

static void connection_run(struct ed_h2_connection *connection, const void *data, size_t bytes)
{
        const struct eddy_scope_opts opts = { .flags = EDDY_SCOPE_KEEP_GOING };

        ed_h2_count(&connection->stats->connections);
        ed_h2_count(&connection->stats->open);
        eddy_scope_begin(&connection->handlers, &opts);
        (void) ed_h2_run(&connection->h2, data, bytes);
        ed_timer_cancel(&ed_loop_current->timers, &connection->sweeper);
        ed_h2_end(&connection->h2, -ECONNRESET);
        count_end(connection);
        end_stream(connection);
        (void) eddy_scope_end(&connection->handlers);
}

bool ed_h2_is_preface(const void *data, size_t bytes)
{
        static const char preface[] = NGHTTP2_CLIENT_MAGIC;
        size_t least = sizeof("PRI * HTTP/2") - 1;

        if (bytes > sizeof(preface) - 1)
                bytes = sizeof(preface) - 1;
        return bytes >= least && memcmp(data, preface, bytes) == 0;
}

int ed_h2_connection_serve(struct ed_http_server *server, eddy_stream *stream, const void *data,
                           size_t bytes)
{
        struct ed_h2_connection *connection = ed_alloc_zero(sizeof(*connection));
        int err = connection ? connection_init(connection, server, stream) : -ENOMEM;

        server->h2_connections++;
        if (err == 0)
                connection_run(connection, data, bytes);
        else
                eddy_stream_close(stream);
        if (connection)
                ed_free(connection->ends);
        ed_free(connection);
        if (--server->h2_connections == 0)
                ed_h2_exchanges_free(server);
        return err;
}
