/*
 * The connection of HTTP is ended and reset after each byte of a response, and after each byte of requests:
 * a call ends with an error or the whole message, and a handler sees whole requests or an error.
 */
#include "../../cut.h"
#include "coded.h"
#include "http_test.h"

/* ---- the client ------------------------------------------------------------------- */

static struct {
        eddy_listener *listener;
        char head[2000];
        struct data body; /* as it is sent */
} script;

static int answer_one(void *arg)
{
        eddy_stream *stream = *(eddy_stream **) arg;
        char buf[2000];

        while (eddy_stream_read(stream, buf, sizeof(buf)) > 0) {
                struct eddy_slice slices[] = { { script.head, strlen(script.head) },
                                               { script.body.bytes, script.body.n } };

                if (eddy_stream_writev(stream, slices, script.body.n > 0 ? 2 : 1) < 0)
                        break;
        }
        eddy_stream_close(stream);
        return 0;
}

static int answer_all(void *scope)
{
        eddy_stream *stream;

        while (eddy_listener_accept(script.listener, &stream) == 0)
                CHECK_EQ(eddy_scope_start_copy(scope, answer_one, &stream, sizeof(stream)), 0);
        return 0;
}

static struct data plain;

static int get(struct cut *cut, size_t wanted)
{
        struct eddy_http_client_opts opts = { .decode = true };
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        const void *body;
        size_t bytes;
        char url[64];
        int err;

        CHECK_EQ(eddy_http_client_new(&opts, &client), 0);
        snprintf(url, sizeof(url), "http://127.0.0.1:%d/", cut->proxy.own_port);
        cut_arm(cut);
        err = eddy_http_client_send(client, &(struct eddy_http_request){ .url = url }, &response);
        if (err == 0)
                err = eddy_http_response_body(response, &body, &bytes);
        if (err < 0)
                return err;
        CHECK_EQ(bytes, wanted);
        CHECK(wanted == 0 || memcmp(body, plain.bytes, wanted) == 0);
        if (strstr(script.head, "chunked"))
                CHECK_STR(eddy_http_response_trailer(response, "X-Sum"), "17");
        return 0;
}

static int head_cut(void *arg)
{
        snprintf(script.head, sizeof(script.head),
                 "HTTP/1.1 204 No Content\r\nServer: a script\r\nX-Long: %s\r\n\r\n",
                 "of some bytes");
        script.body.n = 0;
        return get(arg, 0);
}

static int length_cut(void *arg)
{
        snprintf(script.head, sizeof(script.head),
                 "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%.*s", plain.n, (int) plain.n,
                 (const char *) plain.bytes);
        script.body.n = 0;
        return get(arg, plain.n);
}

static int chunked_cut(void *arg)
{
        int half = (int) plain.n / 2, rest = (int) plain.n - half;

        snprintf(script.head, sizeof(script.head),
                 "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
                 "%x\r\n%.*s\r\n%x;name=value\r\n%.*s\r\n0\r\nX-Sum: 17\r\nX-More: 1\r\n\r\n",
                 half, half, (const char *) plain.bytes, rest, rest,
                 (const char *) plain.bytes + half);
        script.body.n = 0;
        return get(arg, plain.n);
}

static int gzip_cut(void *arg)
{
        struct data coded = gzip_code(plain);
        int err;

        snprintf(script.head, sizeof(script.head),
                 "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %zu\r\n\r\n",
                 coded.n);
        script.body = coded;
        err = get(arg, plain.n);
        script.body.n = 0;
        free(coded.bytes);
        return err;
}

static const int response_errors[] = { -ECONNRESET, EDDY_E_HTTP_CLOSED, EDDY_E_HTTP_TRUNCATED, 0 };

static const struct cut_state responses[] = {
        { "head of a response", head_cut, response_errors, false },
        { "body with a length", length_cut, response_errors, false },
        { "chunks and trailers", chunked_cut, response_errors, false },
        { "gzip", gzip_cut, response_errors, false },
        { .name = NULL },
};

static int responses_run(void *arg)
{
        struct cut cut = { .proxy = { .host = "127.0.0.1" } };
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &script.listener), 0);
        cut.proxy.port = eddy_listener_port(script.listener);
        plain = plain_new(300);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, answer_all, &scope), 0);
        cut_sweep(&cut, responses);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        eddy_listener_close(script.listener);
        free(plain.bytes);
        return 0;
}

/* B38: No response that was cut is taken for whole. */
TEST(a_response_that_ends_at_any_byte_is_an_error)
{
        http_run(responses_run, NULL);
}

/* ---- the server ------------------------------------------------------------------- */

static int whole, parts; /* requests that a handler has seen, and those that failed in it */

static int handle(eddy_http_exchange *exchange, void *arg)
{
        const void *body;
        size_t bytes;
        int err = eddy_http_exchange_body(exchange, &body, &bytes);

        (void) arg;
        if (err < 0) {
                parts++;
                return err;
        }
        CHECK(bytes == 0 || (bytes == 10 && memcmp(body, "0123456789", 10) == 0));
        whole++;
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, body, bytes);
}

static int serve(void *listener)
{
        return eddy_http_serve(listener, NULL, handle, NULL);
}

/* Send requests, and read what comes until the connection ends. */
static int request(struct cut *cut, const char *text, int count)
{
        char answers[4000] = "";
        size_t held = 0;
        eddy_stream *stream;
        int answered = 0;
        int64_t n;

        whole = parts = 0;
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", cut->proxy.own_port, NULL, &stream), 0);
        cut_arm(cut);
        n = eddy_stream_write(stream, text, strlen(text));
        while (n >= 0 && answered < count) {
                n = eddy_stream_read(stream, answers + held, sizeof(answers) - 1 - held);
                if (n <= 0)
                        break;
                held += (size_t) n;
                answered = 0;
                for (const char *at = answers; (at = strstr(at, "HTTP/1.1 200")); at++)
                        answered++;
        }
        eddy_stream_abort(stream);
        /* The server sees the end, too. */
        while (cut->proxy.open > 0)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(10)), 0);
        CHECK(answered <= whole && whole + parts <= count);
        if (cut->then != FAULT_NOTHING)
                CHECK(whole < count);
        return answered == count ? 0 : n < 0 ? (int) n : -ENODATA;
}

static int plain_request_cut(void *arg)
{
        return request(arg, "GET /a HTTP/1.1\r\nHost: a\r\nX-Some: header\r\n\r\n", 1);
}

static int body_request_cut(void *arg)
{
        return request(arg, "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n0123456789",
                       1);
}

static int chunked_request_cut(void *arg)
{
        return request(arg,
                       "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                       "4\r\n0123\r\n6\r\n456789\r\n0\r\nX-Sum: 1\r\n\r\n",
                       1);
}

static int pipelined_cut(void *arg)
{
        return request(arg,
                       "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n0123456789"
                       "GET /b HTTP/1.1\r\nHost: a\r\n\r\n",
                       2);
}

static const int request_errors[] = { -ECONNRESET, -EPIPE, -ENODATA, 0 };

static const struct cut_state requests[] = {
        { "head of a request", plain_request_cut, request_errors, true },
        { "body of a request", body_request_cut, request_errors, true },
        { "chunks of a request", chunked_request_cut, request_errors, true },
        { "second request", pipelined_cut, request_errors, true },
        { .name = NULL },
};

static int requests_run(void *arg)
{
        struct cut cut = { .proxy = { .host = "127.0.0.1" } };
        eddy_listener *listener;
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        cut.proxy.port = eddy_listener_port(listener);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, serve, listener), 0);
        cut_sweep(&cut, requests);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        eddy_listener_close(listener);
        return 0;
}

TEST(a_request_that_ends_at_any_byte_is_not_taken_for_a_whole_one)
{
        http_run(requests_run, NULL);
}
