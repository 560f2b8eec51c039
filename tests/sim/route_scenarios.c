/*
 * route_scenarios.c - programs of an HTTP client with a proxy, addresses of its own for a name,
 * coded responses and a body from a function; and a tunnel.
 */
#include <errno.h>

#include "eddy/eddy.h"
#include "http/proxy.h"
#include "scenario.h"
#include "test.h"

static const char plain[] = "a coded body, a coded body, a coded body\n";
static const char coded_br[] =
        "\002\005\000\200\100\113\316\023\272\171\052\265\374\371\123\021\111"
        "\370\251\107\052\174\034\275\275\101";
static const char coded_gzip[] = "\037\213\010\000\000\000\000\000\002\003\113\124\110\316\117\111"
                                 "\115\121\110\312\117\251\324\121\110\304\311\343\002\000\142\215"
                                 "\142\101\051\000\000\000";

/* MemorySanitizer does not see what zlib and libbrotlidec write. */
#ifdef ED_MSAN
enum { IS_CODED = 0 };
#else
enum { IS_CODED = 1 };
#endif

/* --- the server: also the proxy of http, which gets absolute targets --- */

static int answer(eddy_http_exchange *exchange, void *arg)
{
        bool is_br = strcmp(eddy_http_exchange_path(exchange), "/br") == 0;
        struct eddy_http_header header = { "Content-Encoding", is_br ? "br" : "gzip" };
        const void *body;
        size_t bytes;
        int err = eddy_http_exchange_body(exchange, &body, &bytes);

        (void) arg;
        if (err < 0)
                return err;
        if (strcmp(eddy_http_exchange_method(exchange), "POST") == 0)
                CHECK_STR(body, "abc");
        if (!IS_CODED)
                return eddy_http_exchange_respond(exchange, 200, NULL, 0, plain, sizeof(plain) - 1);
        return eddy_http_exchange_respond(exchange, 200, &header, 1, is_br ? coded_br : coded_gzip,
                                          (is_br ? sizeof(coded_br) : sizeof(coded_gzip)) - 1);
}

static int serve(void *listener)
{
        return eddy_http_serve(listener, NULL, answer, NULL);
}

/* --- the client --- */

static int64_t next_letter(void *arg, void *buf, size_t bytes)
{
        int *at = arg;

        (void) bytes;
        if (*at == 3)
                return 0;
        *(char *) buf = (char) ('a' + (*at)++);
        return 1;
}

static int ask(eddy_http_client *client, const char *url, bool has_body)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        int at = 0;
        struct eddy_http_body_source source = { .read = next_letter, .arg = &at, .bytes = -1 };
        struct eddy_http_request request = { .url = url,
                                             .method = has_body ? "POST" : "GET",
                                             .body_source = has_body ? &source : NULL };
        const void *body;
        size_t bytes;
        int err = eddy_http_client_send(client, &request, &response);

        if (err == 0)
                err = eddy_http_response_body(response, &body, &bytes);
        if (err < 0)
                return err;
        if (eddy_http_response_status(response) != 200)
                return -EBADMSG;
        CHECK_STR(body, plain);
        return 0;
}

static int ask_all(uint16_t port)
{
        char proxy[64], direct[64], override[64];
        const char *overrides[] = { override };
        struct eddy_http_client_opts opts = { .http_proxy = proxy,
                                              .no_proxy = "direct.test",
                                              .resolve = overrides,
                                              .resolve_count = 1,
                                              .decode = true };
        eddy_http_client *client;
        int err;

        snprintf(proxy, sizeof(proxy), "user:pass@127.0.0.1:%u", port);
        snprintf(direct, sizeof(direct), "http://direct.test:%u/gzip", port);
        snprintf(override, sizeof(override), "direct.test:%u:127.0.0.1", port);
        err = eddy_http_client_new(&opts, &client);
        if (err < 0)
                return err;
        err = ask(client, "http://proxied.test/br", false);
        if (err == 0)
                err = ask(client, "http://proxied.test/gzip", true);
        if (err == 0)
                err = ask(client, direct, false);
        eddy_http_client_close(client);
        return err;
}

/* --- a tunnel --- */

/* A proxy that connects to a host that sends back what it receives. */
static int connect_to_echo(void *arg)
{
        eddy_stream *stream = arg;
        char buf[512];
        const char *head;
        eddy_reader reader;
        int64_t n;

        eddy_reader_init(&reader, stream, buf, sizeof(buf));
        n = eddy_reader_until(&reader, "\r\n\r\n", 4, &head);
        if (n > 0)
                n = eddy_stream_write(stream, "HTTP/1.1 200 OK\r\n\r\n", 19);
        if (n == 0)
                n = eddy_stream_copy(stream, stream, UINT64_MAX, NULL);
        eddy_stream_close(stream);
        return (int) n;
}

static int talk_through(eddy_stream *stream)
{
        struct ed_http_proxy proxy;
        const char *reason;
        int status;
        char echo[8];
        int64_t n = ed_http_proxy_parse("user:pass@proxy.test", &proxy);

        if (n == 0)
                n = ed_http_proxy_tunnel(&proxy, stream, "host.test", 443, &reason, &status);
        if (n == 0)
                n = eddy_stream_write(stream, "x", 1);
        if (n == 0)
                n = eddy_stream_read(stream, echo, sizeof(echo));
        if (n < 0)
                return (int) n;
        if (n != 1)
                return -EPIPE;
        CHECK_EQ(echo[0], 'x');
        return eddy_stream_shutdown(stream);
}

static int run_tunnel(void)
{
        eddy_stream *ours, *theirs;
        eddy_scope scope;
        int err = eddy_stream_pair(NULL, &ours, &theirs), end_err;

        if (err < 0)
                return err;
        eddy_scope_begin(&scope, NULL);
        err = eddy_scope_start(&scope, connect_to_echo, theirs);
        if (err < 0)
                eddy_stream_close(theirs);
        else
                err = talk_through(ours);
        if (err < 0)
                eddy_scope_cancel(&scope);
        end_err = eddy_scope_end(&scope);
        eddy_stream_close(ours);
        return err == 0 || (err == -ECANCELED && end_err < 0) ? end_err : err;
}

/* --- both --- */

int scenario_routed(void *arg)
{
        eddy_listener *listener;
        eddy_scope scope;
        int err = eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), end_err;

        (void) arg;
        if (err < 0)
                return err;
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_MIN(5) });
        err = eddy_scope_start(&scope, serve, listener);
        if (err == 0)
                err = ask_all(eddy_listener_port(listener));
        eddy_scope_cancel(&scope);
        end_err = eddy_scope_end(&scope);
        eddy_listener_close(listener);
        if (err == 0 || (err == -ECANCELED && end_err < 0))
                err = end_err;
        return err < 0 ? err : run_tunnel();
}
