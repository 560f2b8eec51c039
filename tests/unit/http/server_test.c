/*
 * server_test.c - see server_test.h.
 */
#include "server_test.h"

#include <stdlib.h>

static struct site site;

/* ---- the handler ----------------------------------------------------------- */

static int answer_with(eddy_http_exchange *exchange, int status, const char *text)
{
        return eddy_http_exchange_respond(exchange, status, NULL, 0, text, strlen(text));
}

static int echo(eddy_http_exchange *exchange)
{
        const void *body;
        size_t bytes;
        int err = eddy_http_exchange_body(exchange, &body, &bytes);

        return err < 0 ? err : eddy_http_exchange_respond(exchange, 200, NULL, 0, body, bytes);
}

static int stream_out(eddy_http_exchange *exchange, int64_t promised, int pieces, bool end)
{
        int err = eddy_http_exchange_begin(exchange, 200, NULL, 0, promised);

        for (int i = 0; i < pieces && err == 0; i++)
                err = eddy_http_exchange_write(exchange, "abc", 3);
        if (err == 0 && end)
                err = eddy_http_exchange_end(exchange);
        return err;
}

/* As slow as a handler likes: its own time is not the client's. */
static int echo_slowly(eddy_http_exchange *exchange)
{
        char first[10];
        int64_t n = 0;

        for (int i = 0; i < 3 && n >= 0; i++) {
                n = eddy_sleep(EDDY_SEC(25));
                if (n == 0)
                        n = eddy_http_exchange_read(exchange, first, sizeof(first));
        }
        return n < 0 ? (int) n : echo(exchange);
}

static int flood(eddy_http_exchange *exchange, int pieces, int64_t pause_ns)
{
        static char piece[1000];
        int err = eddy_http_exchange_begin(exchange, 200, NULL, 0, -1);

        memset(piece, 'x', sizeof(piece));
        for (int i = 0; i < pieces && err == 0; i++) {
                err = eddy_http_exchange_write(exchange, piece, sizeof(piece));
                if (err == 0 && pause_ns > 0)
                        err = eddy_sleep(pause_ns);
        }
        return err < 0 ? err : eddy_http_exchange_end(exchange);
}

/* Headers that must not go out; then one that may. */
static int inject(eddy_http_exchange *exchange)
{
        static const struct eddy_http_header bad[] = {
                { "x", "a\r\nEvil: 1" },
                { "x", "a\nb" },
                { "x\r\nEvil", "1" },
                { "x y", "1" },
                { "", "1" },
                { NULL, "1" },
                { "x", NULL },
                { "Content-Length", "3" },
                { "transfer-encoding", "gzip" },
                { "Connection", "upgrade" },
        };
        static const struct eddy_http_header good = { "X-Good", "1" };

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                CHECK_ERR(eddy_http_exchange_respond(exchange, 200, &bad[i], 1, "evil", 4),
                          EDDY_E_HTTP_INVALID_ANSWER);
        CHECK_ERR(eddy_http_exchange_respond(exchange, 99, NULL, 0, NULL, 0),
                  EDDY_E_HTTP_INVALID_ANSWER);
        CHECK_ERR(eddy_http_exchange_respond(exchange, 100, NULL, 0, NULL, 0),
                  EDDY_E_HTTP_INVALID_ANSWER);
        CHECK_ERR(eddy_http_exchange_respond(exchange, 204, NULL, 0, "x", 1),
                  EDDY_E_HTTP_INVALID_ANSWER);
        return eddy_http_exchange_respond(exchange, 200, &good, 1, "fine", 4);
}

static int close_after(eddy_http_exchange *exchange)
{
        static const struct eddy_http_header last = { "connection", "Close" };

        return eddy_http_exchange_respond(exchange, 200, &last, 1, "bye", 3);
}

static int tell(eddy_http_exchange *exchange)
{
        char text[512];

        snprintf(text, sizeof(text), "%s|%s|%s|%s", eddy_http_exchange_method(exchange),
                 eddy_http_exchange_target(exchange), eddy_http_exchange_path(exchange),
                 eddy_http_exchange_query(exchange));
        return answer_with(exchange, 200, text);
}

static int send_host(eddy_http_exchange *exchange)
{
        char text[300];

        snprintf(text, sizeof(text), "[%s]", eddy_http_exchange_host(exchange));
        return answer_with(exchange, 200, text);
}

static int abort_inside(eddy_http_exchange *exchange)
{
        int err = stream_out(exchange, -1, 1, false);

        eddy_http_exchange_abort(exchange);
        return err;
}

static int respond_twice(eddy_http_exchange *exchange)
{
        int err = answer_with(exchange, 200, "once");

        CHECK_ERR(answer_with(exchange, 200, "twice"), EDDY_E_HTTP_STATE);
        CHECK_ERR(eddy_http_exchange_write(exchange, "x", 1), EDDY_E_HTTP_STATE);
        CHECK_ERR(eddy_http_exchange_end(exchange), EDDY_E_HTTP_STATE);
        return err;
}

/* A status without content: a body is refused, and none is sent in pieces either. */
static int reset_content(eddy_http_exchange *exchange)
{
        int err;

        CHECK_ERR(eddy_http_exchange_respond(exchange, 205, NULL, 0, "x", 1),
                  EDDY_E_HTTP_INVALID_ANSWER);
        CHECK_ERR(eddy_http_exchange_begin(exchange, 205, NULL, 0, 3), EDDY_E_HTTP_INVALID_ANSWER);
        err = eddy_http_exchange_begin(exchange, 205, NULL, 0, -1);
        return err < 0 ? err : eddy_http_exchange_end(exchange);
}

static int handle_path(eddy_http_exchange *exchange, const char *path)
{
        int err;

        if (strcmp(path, "/ok") == 0)
                return answer_with(exchange, 200, "ok");
        if (strncmp(path, "/tell", 5) == 0)
                return tell(exchange);
        if (strcmp(path, "/host") == 0)
                return send_host(exchange);
        if (strcmp(path, "/echo") == 0)
                return echo(exchange);
        if (strcmp(path, "/slow-echo") == 0)
                return echo_slowly(exchange);
        if (strcmp(path, "/flood") == 0)
                return flood(exchange, 40, 0);
        if (strcmp(path, "/long-flood") == 0)
                return flood(exchange, 20000, 0);
        if (strcmp(path, "/slow-flood") == 0)
                return flood(exchange, 6, EDDY_SEC(25));
        if (strcmp(path, "/chunked") == 0)
                return stream_out(exchange, -1, 3, true);
        if (strcmp(path, "/length") == 0)
                return stream_out(exchange, 9, 3, true);
        if (strcmp(path, "/short") == 0)
                return stream_out(exchange, 10, 3, true);
        if (strcmp(path, "/long") == 0)
                return stream_out(exchange, 8, 3, true);
        if (strcmp(path, "/unended") == 0)
                return stream_out(exchange, -1, 3, false);
        if (strcmp(path, "/fail") == 0)
                return -EIO;
        if (strcmp(path, "/fail-canceled") == 0)
                return -ECANCELED;
        if (strcmp(path, "/fail-late") == 0) {
                err = stream_out(exchange, -1, 1, false);
                return err < 0 ? err : -EIO;
        }
        if (strcmp(path, "/abort") == 0) {
                eddy_http_exchange_abort(exchange);
                return 0;
        }
        if (strcmp(path, "/abort-inside") == 0)
                return abort_inside(exchange);
        if (strcmp(path, "/twice") == 0)
                return respond_twice(exchange);
        if (strcmp(path, "/inject") == 0)
                return inject(exchange);
        if (strcmp(path, "/last") == 0)
                return close_after(exchange);
        if (strcmp(path, "/empty") == 0)
                return eddy_http_exchange_respond(exchange, 204, NULL, 0, NULL, 0);
        if (strcmp(path, "/reset") == 0)
                return reset_content(exchange);
        if (strcmp(path, "/not-modified") == 0)
                return eddy_http_exchange_respond(exchange, 304, NULL, 0, NULL, 0);
        if (strcmp(path, "/slow") == 0) {
                err = eddy_sleep(EDDY_SEC(3));
                return err < 0 ? err : answer_with(exchange, 200, "slow");
        }
        return 0;
}

static int handle(eddy_http_exchange *exchange, void *arg)
{
        const char *path = eddy_http_exchange_path(exchange);
        size_t n = strlen(site.order);
        int err;

        CHECK(arg == &site);
        site.handled++;
        if (n + 1 < sizeof(site.order))
                site.order[n] = path[1];
        err = site.handler ? site.handler(exchange, arg) : handle_path(exchange, path);
        if (err < 0)
                site.failed = err;
        return err;
}

/* ---- running --------------------------------------------------------------- */

struct site_call {
        const struct eddy_http_server_opts *opts;
        site_fn *prepare;
        site_fn *fn;
};

static int site_serve(void *arg)
{
        (void) arg;
        site.result = eddy_http_serve(site.listener, &site.opts, handle, &site);
        site.ended_ns = eddy_now();
        return 0;
}

static int site_main(void *arg)
{
        struct site_call *call = arg;
        eddy_scope scope;

        memset(&site, 0, sizeof(site));
        if (call->opts)
                site.opts = *call->opts;
        if (call->prepare)
                call->prepare(&site);
        if (!site.listener)
                CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &site.listener), 0);
        site.port = eddy_listener_port(site.listener);
        site.scope = &scope;
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, site_serve, NULL), 0);
        call->fn(&site);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        CHECK_ERR(site.result, -ECANCELED);
        eddy_listener_close(site.listener);
        eddy_tls_config_close(site.opts.tls);
        eddy_tls_config_close(site.client_tls);
        return 0;
}

void site_run_prepared(const struct eddy_http_server_opts *opts, bool real, site_fn *prepare,
                       site_fn *fn)
{
        struct site_call call = { opts, prepare, fn };

        (real ? http_run_real : http_run)(site_main, &call);
}

void site_run(const struct eddy_http_server_opts *opts, bool real, site_fn *fn)
{
        site_run_prepared(opts, real, NULL, fn);
}

/* ---- a client of raw bytes ------------------------------------------------- */

eddy_stream *site_connect(struct site *of)
{
        eddy_stream *stream;

        CHECK_EQ(eddy_tcp_connect("127.0.0.1", of->port, NULL, &stream), 0);
        if (of->client_tls)
                CHECK_EQ(eddy_tls_client(stream, of->client_tls, "127.0.0.1", NULL, &stream), 0);
        return stream;
}

void read_answer(eddy_stream *stream, struct answer *ret_answer)
{
        int64_t before = eddy_now(), n;

        memset(ret_answer, 0, sizeof(*ret_answer));
        do {
                CHECK(ret_answer->bytes + 1 < sizeof(ret_answer->text));
                n = eddy_stream_read(stream, ret_answer->text + ret_answer->bytes,
                                     sizeof(ret_answer->text) - ret_answer->bytes - 1);
                ret_answer->bytes += n > 0 ? (size_t) n : 0;
        } while (n > 0);
        ret_answer->error = (int) n;
        ret_answer->lasted_ns = eddy_now() - before;
        for (const char *at = ret_answer->text; (at = strstr(at, "HTTP/1.1 ")); at += 9) {
                const char *code = at + 9;
                int status = 0;

                for (int i = 0; i < 3 && code[i] >= '0' && code[i] <= '9'; i++)
                        status = 10 * status + (code[i] - '0');

                if (status >= 200 && ret_answer->responses++ == 0)
                        ret_answer->status = status;
        }
}

static struct answer answer;

const struct answer *ask_bytes(struct site *of, const char *data, size_t bytes)
{
        eddy_stream *stream = site_connect(of);

        CHECK_EQ(eddy_stream_write(stream, data, bytes), 0);
        read_answer(stream, &answer);
        eddy_stream_close(stream);
        return &answer;
}

const struct answer *ask(struct site *of, const char *text)
{
        return ask_bytes(of, text, strlen(text));
}

const char *say(eddy_stream *stream, const char *text, const char *end)
{
        static char buf[65536];

        CHECK_EQ(eddy_stream_write(stream, text, strlen(text)), 0);
        CHECK(read_until(stream, buf, sizeof(buf), end));
        return buf;
}

void send_all_then_read(struct site *of, const char *head, size_t bytes, int status)
{
        eddy_stream *stream = site_connect(of);
        struct answer *got = calloc(1, sizeof(*got));
        char *body = calloc(1, bytes);

        CHECK(got && body);
        CHECK_EQ(eddy_stream_write(stream, head, strlen(head)), 0);
        CHECK_EQ(eddy_stream_write(stream, body, bytes), 0);
        read_answer(stream, got);
        CHECK_EQ(got->status, status);
        CHECK_EQ(got->error, 0);
        eddy_stream_close(stream);
        free(body);
        free(got);
}
