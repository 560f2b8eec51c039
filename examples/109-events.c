/*
 * 109-events - server-sent events: a handler that waits for news ends when its client leaves.
 *
 * The handler may wait for hours without a write, so no error of a write reports that the client has
 * left.  EDDY_HTTP_SERVER_CANCEL_AT_END cancels the handler when the client closes.  Each connection
 * is a task of eddy_serve() that gives its stream to eddy_http_serve_stream().  The events need no
 * flush: they leave when the handler waits.
 *
 * Run: 109-events
 * Time: wall 0 s
 * Output:
 *     the client hears: news 1
 *     the client hears: news 2
 *     the client hears: news 3
 *     the client leaves
 *     GET /events from 127.0.0.1:<n>: status 200, <n> bytes, the scope was cancelled
 */
#include <stdio.h>
#include <string.h>

#include "eddy/eddy.h"

static int made; /* the number of the latest news */
static eddy_event news, handler_ended;

static int send_events(eddy_http_exchange *exchange)
{
        static const struct eddy_http_header type = { "Content-Type", "text/event-stream" };
        int err = eddy_http_exchange_begin(exchange, 200, &type, 1, -1);
        char text[64];

        for (int sent = 0; err == 0;) {
                if (sent == made) {
                        err = eddy_event_wait(&news);
                        continue;
                }
                snprintf(text, sizeof(text), "data: news %d\n\n", ++sent);
                err = eddy_http_exchange_write(exchange, text, strlen(text));
        }
        return err;
}

static int answer(eddy_http_exchange *exchange, void *arg)
{
        struct eddy_http_exchange_info info;
        char peer[EDDY_ENDPOINT_TEXT_BYTES];
        int err = send_events(exchange);

        (void) arg;
        eddy_http_exchange_info(exchange, &info);
        eddy_endpoint_format(info.peer, peer);
        printf("%s %s from %s: status %d, %llu bytes, %s\n", eddy_http_exchange_method(exchange),
               eddy_http_exchange_path(exchange), peer, info.status,
               (unsigned long long) info.sent_bytes, eddy_error_text(err));
        eddy_event_set(&handler_ended);
        return err;
}

static int serve_stream(eddy_stream *stream, void *arg)
{
        const struct eddy_http_server_opts opts = { .flags = EDDY_HTTP_SERVER_CANCEL_AT_END };

        return eddy_http_serve_stream(stream, &opts, answer, arg);
}

static int serve(void *listener)
{
        return eddy_serve(listener, NULL, serve_stream, NULL);
}

static int hear(uint16_t port)
{
        static const char request[] = "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n";
        EDDY_AUTO(eddy_stream) eddy_stream *stream = NULL;
        char buf[1024], *line;
        eddy_reader reader;
        size_t bytes;
        int64_t n = eddy_tcp_connect("127.0.0.1", port, NULL, &stream);

        if (n == 0)
                n = eddy_stream_write(stream, request, strlen(request));
        eddy_reader_init(&reader, stream, buf, sizeof(buf));
        while (n >= 0 && made < 3) {
                made++;
                eddy_event_set(&news); /* wakes each handler that waits now */
                eddy_event_clear(&news);
                do
                        n = eddy_reader_line(&reader, &line, &bytes);
                while (n > 0 && strncmp(line, "data: ", 6) != 0);
                if (n > 0)
                        printf("the client hears: %s\n", line + 6);
        }
        puts("the client leaves");
        return n < 0 ? (int) n : 0;
}

static int run(void *arg)
{
        EDDY_AUTO(eddy_listener) eddy_listener *listener = NULL;
        int err = eddy_tcp_listen("127.0.0.1", 0, NULL, &listener);

        (void) arg;
        if (err < 0)
                return err;
        EDDY_SCOPE (scope, &err, .timeout_ns = EDDY_SEC(10)) {
                eddy_scope_start(&scope, serve, listener);
                err = hear(eddy_listener_port(listener));
                if (err == 0)
                        err = eddy_event_wait(&handler_ended);
                eddy_scope_cancel(&scope);
        }
        return err;
}

int main(void)
{
        return eddy_run(run, NULL, NULL) == 0 ? 0 : 1;
}
