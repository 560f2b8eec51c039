/*
 * http/serve.c - serving HTTP on the connections of eddy_serve(), and on one stream.
 *
 * A connection's task does the handshake, which is an idle call: a stop of the server ends it at
 * once. The protocol then serves the connection.
 */
#include "eddy/serve.h"

#include <errno.h>
#include <string.h>

#include "eddy/call.h"
#include "eddy/error.h"
#include "eddy/stream_ops.h"
#include "eddy/tls.h"
#include "http/h2_connection.h"
#include "http/http1_connection.h"
#include "http/linger.h"
#include "http/server.h"
#include "io/serve.h"
#include "loop/member.h"
#include "scope/suspend.h"
#include "tls/config.h"

struct handshake {
        const struct ed_http_server *server;
        eddy_stream *stream; /* replaced by the secure one */
        enum ed_tls_cause cause;
};

/* Returns the names for ALPN, the preferred one first. */
static const char *protocols(uint32_t flags)
{
        if (flags & EDDY_HTTP_SERVER_HTTP2_ONLY)
                return "h2";
        return flags & EDDY_HTTP_SERVER_HTTP1_ONLY ? "http/1.1,http/1.0" : "h2,http/1.1,http/1.0";
}

static int handshake(void *arg)
{
        struct handshake *call = arg;
        const struct eddy_tls_conn_opts opts = { .alpn = protocols(call->server->opts.flags) };

        return ed_tls_server(call->stream, call->server->opts.tls, &opts, &call->cause,
                             &call->stream);
}

static int handshake_in_time(void *arg)
{
        const struct handshake *call = arg;

        return eddy_call_timeout(handshake, arg, call->server->opts.head_timeout_ns);
}

static int linger(void *stream)
{
        ed_http_linger(stream);
        return 0;
}

/* Answer a request without TLS: a user who has typed "http:" sees the mistake. */
static void refuse_plain(eddy_stream *stream)
{
        static const char text[] = "HTTP/1.1 400 Bad Request\r\n"
                                   "Content-Type: text/plain; charset=utf-8\r\n"
                                   "Content-Length: 33\r\n"
                                   "Connection: close\r\n\r\n"
                                   "This port needs https, not http.\n";
        const struct eddy_slice slice = { text, sizeof(text) - 1 };

        if (eddy_stream_try_writev(stream, &slice, 1) == (int64_t) slice.bytes)
                (void) !eddy_serve_idle(linger, stream);
}

/* Do the TLS handshake, if the server has TLS. */
static int secure(const struct ed_http_server *server, eddy_stream **stream)
{
        struct handshake call = { .server = server, .stream = *stream };
        int err;

        if (!server->opts.tls)
                return 0;
        err = eddy_serve_idle(handshake_in_time, &call);
        *stream = call.stream;
        if (err < 0 && call.cause == ED_TLS_PLAIN_HTTP)
                refuse_plain(*stream);
        return err == -ETIMEDOUT ? EDDY_E_NET_TIMED_OUT : err;
}

/* Returns true if ALPN chose HTTP/2. */
static bool speaks_http2(const eddy_stream *stream)
{
        return strcmp(eddy_stream_kind(stream), "tls") == 0 && ed_tls_speaks(stream, "h2");
}

/* Serve one connection; its stream is closed then. */
static int connection_run(eddy_stream *stream, void *arg)
{
        struct ed_http_server *server = arg;
        int err = secure(server, &stream);

        if (err < 0) {
                eddy_stream_close(stream);
                return err;
        }
        if (server->opts.flags & EDDY_HTTP_SERVER_HTTP2_ONLY || speaks_http2(stream))
                return ed_h2_connection_serve(server, stream, NULL, 0);
        return ed_http1_connection_serve(server, stream);
}

int eddy_http_serve(eddy_listener *listener, const struct eddy_http_server_opts *opts,
                    eddy_http_handler_fn *handler, void *arg)
{
        struct eddy_serve_opts serve_opts = { .name = "http_connection" };
        struct ed_http_server server;
        int err = ed_http_server_init(&server, opts, handler, arg);

        if (err < 0)
                return err;
        serve_opts.connections_max = server.opts.connections_max;
        serve_opts.drain_ns = server.opts.drain_ns;
        err = eddy_serve(listener, &serve_opts, connection_run, &server);
        ed_http_server_fini(&server);
        return err;
}

int eddy_http_serve_stream(eddy_stream *stream, const struct eddy_http_server_opts *opts,
                           eddy_http_handler_fn *handler, void *arg)
{
        struct ed_http_server server;
        struct ed_task *task;
        int err = stream && stream->member ? ed_member_check(stream->member) : 0;

        if (err == 0)
                err = ed_suspend_enter(&task);
        if (err == EDDY_E_RUN_NOT_RUNNING || err == EDDY_E_RUN_OTHER_LOOP)
                return err;
        if (err == 0)
                err = ed_http_server_init(&server, opts, handler, arg);
        /* A TLS stream of the program's own may have agreed on a protocol that is turned off. */
        if (err == 0 &&
            (!stream || (speaks_http2(stream) && server.opts.flags & EDDY_HTTP_SERVER_HTTP1_ONLY)))
                err = -EINVAL;
        if (err < 0) {
                eddy_stream_close(stream);
                return err;
        }
        err = ed_serve_stream(stream, server.opts.drain_ns, connection_run, &server);
        ed_http_server_fini(&server);
        return err;
}
