/*
 * http/http1_connection.c - see http1_connection.h.
 *
 * Waits for a request are idle calls, which a stop of the server ends at once. Requests in progress
 * get the time set in the options.
 */
#include "http/http1_connection.h"

#include <errno.h>

#include "base/alloc.h"
#include "eddy/call.h"
#include "eddy/error.h"
#include "eddy/scope.h"
#include "eddy/serve.h"
#include "eddy/time.h"
#include "http/added.h"
#include "http/h2_connection.h"
#include "http/http1_gone.h"
#include "http/http1_out.h"
#include "http/http1_server.h"
#include "http/linger.h"
#include "http/repeat.h"
#include "io/serve.h"
#include "loop/loop.h"
#include "scope/suspend.h"

enum {
        BUFFER_BYTES = 4 << 10, /* initial size of a connection's buffer */
        OUT_BYTES_MAX = 64 << 10,
        DROPPED_BYTES_MAX = 256 << 10,
        RATE_DEFAULT = 240, /* bytes per second */
};

struct connection {
        struct ed_http_server *server;
        eddy_stream *stream; /* NULL: the handler has taken it */
        eddy_scope scope;    /* of the requests; cancelled if the client is gone */
        struct ed_http1_exchange *exchange;
        bool speaks_http2; /* the client begins so: the bytes are in the message */
};

/* ---- one request ----------------------------------------------------------- */

enum request { REQUEST_COMPLETE = 1, REQUEST_NONE = 0 };

/* Have the memory for a head, of which nothing was parsed yet. */
static int take_room(struct connection *connection)
{
        struct ed_http_message *message = &connection->exchange->message;
        int err = ed_http1_room_take(&connection->server->rooms, connection->exchange);

        if (err == 0)
                ed_http1_request_init(&message->head, message->fields, &message->limits);
        return err;
}

/* Read the first bytes of a request. */
static int64_t fill_first(struct connection *connection)
{
        struct ed_http_message *message = &connection->exchange->message;
        struct ed_task *task;
        int64_t n;
        int err = ed_suspend_enter(&task);

        while (err == 0) {
                n = ed_http_message_try_fill(message);
                if (n != -EAGAIN) {
                        ed_suspend_passed(task);
                        return n;
                }
                ed_http1_room_give(&connection->server->rooms, connection->exchange);
                err = eddy_stream_wait(connection->stream, EDDY_STREAM_READING);
                if (err == 0)
                        err = take_room(connection);
        }
        return err;
}

/* A head has begun and is not complete: read more of it, within the time for a head. */
static int64_t fill_more(struct connection *connection, eddy_scope *scope)
{
        struct ed_http1_exchange *exchange = connection->exchange;

        (void) eddy_scope_set_deadline(
                scope,
                ed_time_after(exchange->started_ns, connection->server->opts.head_timeout_ns));
        return ed_http_message_fill(&exchange->message);
}

/*
 * Read until a head is complete. The scope has the deadline of an idle connection until the first
 * bytes have arrived, then the deadline of a head. Most heads arrive whole.
 */
static int read_head_within(struct connection *connection, eddy_scope *scope)
{
        struct ed_http_message *message = &connection->exchange->message;
        bool begun = message->end > message->base;
        int64_t n;
        int err;

        if (begun)
                connection->exchange->started_ns = eddy_now();
        for (;;) {
                err = ed_http_message_parse(message);
                if (err != 0)
                        return err;
                n = begun ? fill_more(connection, scope) : fill_first(connection);
                if (n <= 0)
                        return n < 0 ? (int) n : ed_http1_head_finish(&message->head);
                if (!begun)
                        connection->exchange->started_ns = eddy_now();
                begun = true;
        }
}

/* Wait for a request and read its head. Errors: -ETIMEDOUT, and errors that end the connection. */
static int read_head(struct connection *connection)
{
        struct eddy_scope_opts opts = { .timeout_ns = connection->server->opts.idle_timeout_ns };
        struct ed_http1_exchange *exchange = connection->exchange;
        struct ed_serve_idle idle;
        int err;

        ed_http_message_next(&exchange->message);
        err = take_room(connection);
        if (err < 0)
                return err;
        exchange->message.body = (struct ed_http1_body){ .done = false };
        exchange->answer = ED_HTTP_UNANSWERED;
        exchange->head_only = false;
        exchange->is_own = false;
        ed_buf_consume(&exchange->added, ed_buf_bytes(&exchange->added));
        err = ed_serve_idle_begin(&idle, &opts);
        if (err < 0)
                return err;
        err = read_head_within(connection, &idle.scope);
        return ed_serve_idle_end(&idle, err);
}

/* Answer a head that could not be read. */
static void refuse_head(struct ed_http1_exchange *exchange, int err)
{
        const struct ed_http_message *message = &exchange->message;
        enum ed_http1_fault fault = message->head.fault;

        if (err == -ETIMEDOUT && message->end > message->base)
                ed_http_exchange_refuse(exchange, 408, "the request took too long");
        else if (fault != ED_HTTP1_FAULT_NONE)
                ed_http_exchange_refuse(exchange, ed_http1_fault_status(fault),
                                        ed_http1_fault_text(fault));
        exchange->closing = true;
}

/* Read and drop the rest of a request's body, within the time limit for a head. */
static int drop_body(void *arg)
{
        return ed_http_message_discard(arg, DROPPED_BYTES_MAX);
}

/* Complete the request after the handler has returned. */
static void finish_request(struct connection *connection, int result)
{
        struct ed_http1_exchange *exchange = connection->exchange;
        struct ed_http_message *message = &exchange->message;

        ed_http_repeat_stop(&exchange->base);
        ed_http1_out_finish(exchange);
        if (exchange->aborted) {
                exchange->closing = true;
                return;
        }
        if (exchange->refused[0] && (exchange->answer == ED_HTTP_UNANSWERED || exchange->is_own))
                ed_http_report_refused(&exchange->base, exchange->refused);
        if (exchange->answer == ED_HTTP_UNANSWERED)
                ed_http1_answer_missing(exchange, result);
        if (exchange->answer != ED_HTTP_ANSWERED)
                exchange->closing = true;
        /* write_head() has checked that the rest is small, or else closes the connection. */
        if (!exchange->closing && !message->body.done &&
            eddy_call_timeout(drop_body, message, connection->server->opts.head_timeout_ns) < 0)
                exchange->closing = true;
}

/* Call the handler. If its client is gone, the handler and the connection are cancelled. */
static int handle(struct connection *connection)
{
        struct ed_http1_exchange *exchange = connection->exchange;
        int result;

        ed_http1_gone_watch(exchange, connection->server->opts.flags);
        result = ed_http_server_handle(connection->server, &exchange->base);
        ed_http1_gone_unwatch(exchange);
        return result;
}

/* Serve a request whose head is complete. */
static void serve_request(struct connection *connection)
{
        struct ed_http_server *server = connection->server;
        struct ed_http1_exchange *exchange = connection->exchange;
        int err;

        exchange->number++;
        exchange->date = ed_http_server_date(server);
        if (eddy_serve_is_stopping())
                exchange->closing = true;
        err = ed_http_exchange_begin_request(exchange);
        if (err == EDDY_E_HTTP_TOO_LARGE) {
                ed_http_exchange_refuse(exchange, 413, "the body is too large");
                return;
        }
        if (err < 0) {
                exchange->closing = true;
                return;
        }
        if (exchange->message.head.expect_other) {
                ed_http_exchange_refuse(exchange, 417, "Expect is other than 100-continue");
                return;
        }
        finish_request(connection, handle(connection));
        if (eddy_serve_is_stopping())
                exchange->closing = true;
}

/* ---- one connection -------------------------------------------------------- */

/* Returns true if the peer may still be sending, or has sent bytes that were not read. */
static bool must_linger(const struct ed_http1_exchange *exchange)
{
        const struct ed_http_message *message = &exchange->message;

        if (!exchange->stream || exchange->answer != ED_HTTP_ANSWERED || exchange->aborted)
                return false;
        return message->head.fault != ED_HTTP1_FAULT_NONE || !message->body.done ||
               message->end > message->at || eddy_stream_is_readable(exchange->stream);
}

/*
 * Returns true if the connection must end with a reset: the body ends with the connection and is
 * incomplete, so it must not look complete; or the client takes no response, whose rest would stay
 * in the kernel.
 */
static bool must_reset(const struct ed_http1_exchange *exchange)
{
        if (exchange->stalled)
                return true;
        return exchange->answer == ED_HTTP_ANSWERING && exchange->left < 0 && !exchange->chunked;
}

/* Returns true if the client of a connection without TLS begins with HTTP/2, which is not off. */
static bool begins_http2(const struct connection *connection)
{
        const struct ed_http_message *message = &connection->exchange->message;

        return !(connection->server->opts.flags & EDDY_HTTP_SERVER_HTTP1_ONLY) &&
               connection->exchange->number == 0 && !connection->server->opts.tls &&
               ed_h2_is_preface(message->in + message->base, message->end - message->base);
}

static void connection_serve(struct connection *connection)
{
        struct ed_http1_exchange *exchange = connection->exchange;
        int err;

        eddy_scope_begin(&connection->scope, NULL);
        exchange->scope = &connection->scope;
        /* The server may have stopped before this task first ran. */
        while (!exchange->closing && !eddy_serve_is_stopping()) {
                err = read_head(connection);
                if (err == REQUEST_COMPLETE) {
                        serve_request(connection);
                } else if (begins_http2(connection)) {
                        connection->speaks_http2 = exchange->closing = true;
                } else {
                        exchange->date = ed_http_server_date(connection->server);
                        refuse_head(exchange, err);
                }
        }
        (void) eddy_scope_end(&connection->scope);
        if (!connection->speaks_http2 && must_linger(exchange))
                ed_http_linger(connection->stream);
}

/* Returns the rate for an option: 0 is the default, a negative value means no minimum. */
static uint32_t rate_of(int32_t rate)
{
        if (rate == 0)
                return RATE_DEFAULT;
        return rate < 0 ? 0 : (uint32_t) rate;
}

static struct ed_http1_exchange *exchange_new(struct ed_http_server *server, eddy_stream **stream)
{
        const struct ed_http1_limits limits = { .fields_max = server->opts.headers_max,
                                                .head_bytes_max = server->opts.head_bytes_max };
        struct ed_http1_exchange *exchange = ed_alloc_zero(sizeof(*exchange));

        if (!exchange)
                return NULL;
        exchange->base.ops = &ed_http1_exchange_ops;
        exchange->stream = *stream;
        ed_http_message_init(&exchange->message, NULL, &limits, BUFFER_BYTES,
                             server->opts.body_bytes_max);
        exchange->message.stream = stream;
        exchange->message.closed_error = -ECANCELED;
        exchange->message.pace = &exchange->upload;
        ed_http_pace_init(&exchange->upload, rate_of(server->opts.upload_rate_min),
                          server->opts.rate_over_ns);
        ed_http_pace_init(&exchange->download, rate_of(server->opts.download_rate_min),
                          server->opts.rate_over_ns);
        ed_buf_init(&exchange->out, OUT_BYTES_MAX);
        ed_buf_init(&exchange->added, ED_HTTP_ADDED_BYTES_MAX);
        ed_buf_init(&exchange->trailers, 2 * ED_HTTP1_TRAILERS_BYTES_MAX);
        exchange->message.trailers = &exchange->trailers;
        ed_buf_init(&exchange->copies, (size_t) limits.head_bytes_max + 4);
        return exchange;
}

static void exchange_free(struct ed_http1_exchange *exchange)
{
        ed_free(exchange->ends);
        ed_buf_fini(&exchange->copies);
        ed_buf_fini(&exchange->added);
        ed_buf_fini(&exchange->trailers);
        ed_buf_fini(&exchange->out);
        ed_free(exchange->message.fields);
        ed_http_message_fini(&exchange->message);
        ed_free(exchange);
}

/* Serve the connection by HTTP/2. Its first bytes are copied: the exchange ends. */
static int serve_http2(struct connection *connection)
{
        const struct ed_http_message *message = &connection->exchange->message;
        size_t bytes = message->end - message->base;
        char *data = ed_alloc(bytes);
        int err = -ENOMEM;

        if (data)
                memcpy(data, message->in + message->base, bytes);
        exchange_free(connection->exchange);
        if (data)
                err = ed_h2_connection_serve(connection->server, connection->stream, data, bytes);
        else
                eddy_stream_close(connection->stream);
        ed_free(data);
        return err;
}

int ed_http1_connection_serve(struct ed_http_server *server, eddy_stream *stream)
{
        struct connection connection = { .server = server, .stream = stream };
        bool reset = false;

        connection.exchange = exchange_new(server, &connection.stream);
        if (connection.exchange) {
                connection_serve(&connection);
                if (connection.speaks_http2)
                        return serve_http2(&connection);
                reset = must_reset(connection.exchange);
                exchange_free(connection.exchange);
        }
        if (reset)
                eddy_stream_abort(connection.stream);
        else
                eddy_stream_close(connection.stream);
        return connection.exchange ? 0 : -ENOMEM;
}
