/*
 * test_proxy.c - each fault of fault_proxy.h with each protocol: the conversation is whole, or ends
 * in an error.
 */
#include <errno.h>

#include "../fault_proxy.h"
#include "eddy/test.h"
#include "tls_test.h"

enum { BODY_BYTES = 40000 };

enum protocol { PLAIN, TLS, HTTP, HTTPS, PROTOCOLS };

static struct tls_files files;
static char body[BODY_BYTES];

struct cell {
        enum protocol protocol;
        struct fault_proxy proxy;
        eddy_tls_config *client_config, *server_config;
        eddy_listener *listener;
        eddy_scope *scope;
        int64_t lasted_ns;
        int result;
};

/* ---- servers ------------------------------------------------------------------------- */

/* Answers three bytes by the body. */
static int serve_stream(struct cell *cell, eddy_stream *stream)
{
        static char piece[BODY_BYTES];
        size_t held = 0;
        int64_t n;
        int err = 0;

        if (cell->protocol == TLS)
                err = eddy_tls_server(stream, cell->server_config, NULL, &stream);
        while (err == 0 && held < 3 && (n = eddy_stream_read(stream, piece, 3)) > 0)
                held += (size_t) n;
        if (held == 3)
                err = eddy_stream_write(stream, body, sizeof(body));
        if (held == 3 && err == 0)
                err = eddy_stream_shutdown(stream);
        while (held == 3 && err == 0 && eddy_stream_read(stream, piece, sizeof(piece)) > 0)
                continue;
        eddy_stream_close(stream);
        return 0;
}

struct visitor {
        struct cell *cell;
        eddy_stream *stream;
};

static int serve_visitor(void *arg)
{
        struct visitor *visitor = arg;

        return serve_stream(visitor->cell, visitor->stream);
}

static int answer(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, body, sizeof(body));
}

static int serve(void *arg)
{
        struct cell *cell = arg;
        struct visitor visitor = { .cell = cell };

        if (cell->protocol == HTTP || cell->protocol == HTTPS) {
                struct eddy_http_server_opts opts = { 0 };

                if (cell->protocol == HTTPS)
                        opts.tls = cell->server_config;
                (void) eddy_http_serve(cell->listener, &opts, answer, NULL);
                return 0;
        }
        while (eddy_listener_accept(cell->listener, &visitor.stream) == 0)
                CHECK_EQ(eddy_scope_start_copy(cell->scope, serve_visitor, &visitor,
                                               sizeof(visitor)),
                         0);
        return 0;
}

/* ---- clients ---------------------------------------------------------------------------- */

static int ask_http(struct cell *cell)
{
        struct eddy_http_client_opts opts = { .tls = cell->client_config };
        eddy_http_client *client;
        eddy_http_response *response;
        char url[64];
        const void *data;
        size_t bytes;
        int err;

        snprintf(url, sizeof(url), "%s://127.0.0.1:%u/", cell->protocol == HTTPS ? "https" : "http",
                 cell->proxy.own_port);
        CHECK_EQ(eddy_http_client_new(&opts, &client), 0);
        err = eddy_http_client_send(client, &(struct eddy_http_request){ .url = url }, &response);
        if (err == 0) {
                err = eddy_http_response_body(response, &data, &bytes);
                if (err == 0) {
                        CHECK_EQ(bytes, BODY_BYTES);
                        CHECK(memcmp(data, body, BODY_BYTES) == 0);
                }
                eddy_http_response_close(response);
        }
        eddy_http_client_close(client);
        return err;
}

static int64_t read_body(eddy_stream *stream)
{
        static char got[BODY_BYTES + 1];
        size_t held = 0;
        int64_t n;

        while ((n = eddy_stream_read(stream, got + held, sizeof(got) - held)) > 0)
                held += (size_t) n;
        CHECK(memcmp(got, body, held < BODY_BYTES ? held : BODY_BYTES) == 0);
        return n < 0 ? n : (int64_t) held;
}

static int ask_stream(struct cell *cell)
{
        eddy_stream *lower, *stream;
        int64_t n = 0;
        int err = eddy_tcp_connect("127.0.0.1", cell->proxy.own_port, NULL, &lower);

        if (err < 0)
                return err;
        stream = lower;
        if (cell->protocol == TLS)
                err = eddy_tls_client(lower, cell->client_config, "localhost", NULL, &stream);
        if (err == 0)
                err = eddy_stream_write(stream, "ask", 3);
        if (err == 0)
                n = read_body(stream);
        eddy_stream_close(err < 0 ? lower : stream);
        if (err < 0 || n < 0)
                return err < 0 ? err : (int) n;
        /* A plain stream cannot report that its end came early; TLS must. */
        if (cell->protocol == TLS)
                CHECK_EQ(n, BODY_BYTES);
        return n == BODY_BYTES ? 0 : -ENODATA;
}

static int ask(void *arg)
{
        struct cell *cell = arg;

        return cell->protocol == HTTP || cell->protocol == HTTPS ? ask_http(cell)
                                                                 : ask_stream(cell);
}

static int converse(void *arg)
{
        struct cell *cell = arg;
        struct eddy_tls_opts server = { .flags = EDDY_TLS_SERVER,
                                        .cert_file = files.cert,
                                        .key_file = files.key };
        struct eddy_tls_opts client = { .ca_file = files.cert };
        eddy_scope scope;

        CHECK_EQ(eddy_tls_config_new(&server, NULL, &cell->server_config), 0);
        CHECK_EQ(eddy_tls_config_new(&client, NULL, &cell->client_config), 0);
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &cell->listener), 0);
        cell->proxy.host = "127.0.0.1";
        cell->proxy.port = eddy_listener_port(cell->listener);
        cell->scope = &scope;
        eddy_scope_begin(&scope, NULL);
        fault_proxy_start(&cell->proxy, &scope);
        CHECK_EQ(eddy_scope_start(&scope, serve, cell), 0);
        cell->lasted_ns = eddy_now();
        cell->result = eddy_call_timeout(ask, cell, EDDY_SEC(20));
        cell->lasted_ns = eddy_now() - cell->lasted_ns;
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        fault_proxy_stop(&cell->proxy);
        eddy_listener_close(cell->listener);
        eddy_tls_config_close(cell->client_config);
        eddy_tls_config_close(cell->server_config);
        return 0;
}

/* ---- the matrix --------------------------------------------------------------------------- */

struct toxic {
        const char *claim;
        struct fault_way up, down;
        bool is_down;
        bool is_whole;       /* the conversation succeeds */
        int64_t at_least_ns; /* and takes this time */
};

static const struct toxic toxics[] = {
        { "none", .is_whole = true },
        { "latency", .up = { .delay_ns = EDDY_MS(100) }, .down = { .delay_ns = EDDY_MS(200) },
          .is_whole = true, .at_least_ns = EDDY_MS(300) },
        { "latency and jitter", .down = { .delay_ns = EDDY_MS(50), .jitter_ns = EDDY_MS(100) },
          .is_whole = true, .at_least_ns = EDDY_MS(50) },
        { "bandwidth", .down = { .bytes_per_s = 4000 }, .is_whole = true,
          .at_least_ns = EDDY_SEC(10) },
        { "slow close", .down = { .end_delay_ns = EDDY_SEC(3) }, .is_whole = true },
        { "slices", .up = { .piece_bytes = 1 }, .down = { .piece_bytes = 7 }, .is_whole = true },
        { "slices with pauses", .down = { .piece_bytes = 500, .delay_ns = EDDY_MS(5) },
          .is_whole = true },
        { "timeout", .down = { .then = FAULT_STALL, .bytes = 2000 } },
        { "timeout of the request", .up = { .then = FAULT_STALL, .bytes = 2 } },
        { "reset", .down = { .then = FAULT_RESET, .bytes = 2000 } },
        { "reset at once", .up = { .then = FAULT_RESET } },
        { "limit of bytes", .down = { .then = FAULT_END, .bytes = 2000 } },
        { "limit just below the whole", .down = { .then = FAULT_END, .bytes = BODY_BYTES - 1 } },
        { "down", .is_down = true },
};

static void try_cell(const struct toxic *toxic, enum protocol protocol, bool real)
{
        struct cell cell = { .protocol = protocol };

        cell.proxy.up = toxic->up;
        cell.proxy.down = toxic->down;
        cell.proxy.is_down = toxic->is_down;
        if (real)
                CHECK_EQ(eddy_run(converse, &cell, NULL), 0);
        else
                CHECK_EQ(
                        eddy_test_run(converse, &cell, &(struct eddy_test_opts){ .seed = 1 }, NULL),
                        0);
        if ((cell.result == 0) != toxic->is_whole)
                test_fail(__FILE__, __LINE__, "%s, protocol %d: %s", toxic->claim, protocol,
                          eddy_error_name(cell.result));
        CHECK(cell.lasted_ns >= toxic->at_least_ns);
        CHECK(cell.proxy.accepted >= 1);
        if (toxic->down.then == FAULT_STALL || toxic->up.then == FAULT_STALL)
                CHECK_EQ(cell.result, -ETIMEDOUT);
}

static void prepare(void)
{
        tls_files_make_fixed(&files);
        for (size_t i = 0; i < sizeof(body); i++)
                body[i] = (char) (i * 7 + i / 251);
}

/* P4 */
TEST(each_fault_of_the_network_leaves_each_protocol_whole_or_with_an_error)
{
        prepare();
        for (size_t i = 0; i < sizeof(toxics) / sizeof(toxics[0]); i++)
                for (enum protocol protocol = PLAIN; protocol < PROTOCOLS; protocol++)
                        try_cell(&toxics[i], protocol, false);
}

/* Those that need no time. */
TEST(faults_that_need_no_time_are_the_same_on_the_kernel)
{
        prepare();
        for (size_t i = 0; i < sizeof(toxics) / sizeof(toxics[0]); i++) {
                const struct toxic *toxic = &toxics[i];

                if (toxic->at_least_ns > 0 || toxic->down.delay_ns > 0 ||
                    toxic->down.end_delay_ns > 0 || toxic->down.then == FAULT_STALL ||
                    toxic->up.then == FAULT_STALL)
                        continue;
                for (enum protocol protocol = PLAIN; protocol < PROTOCOLS; protocol++)
                        try_cell(toxic, protocol, true);
        }
}
