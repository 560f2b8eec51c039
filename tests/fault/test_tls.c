/*
 * test_tls.c - TLS connections that are cut, reset and stalled after every byte of their handshake
 * and of what follows, and very many that are cancelled at random.
 *
 * All runs are simulated: each also ends without a task, a timer, a descriptor or memory left.
 */
#include <errno.h>

#include "../fault_proxy.h"
#include "../turning.h"
#include "eddy/test.h"
#include "eddy/test_net.h"
#include "tls_test.h"

enum { SAMPLE = 40, STORM_EACH = 500, STORM_RUNS = 2, STORM_RUNS_FULL = 200, STORM_AT_ONCE = 20 };

static struct tls_files files;

static bool is_full(void)
{
        const char *full = getenv("EDDY_TEST_FULL");

        return full && *full && !getenv("EDDY_TEST_QUICK");
}

/* ---- one conversation -------------------------------------------------------------- */

static const char question[] = "what is it?", answer[] = "an answer of the server, and the last";

struct talk {
        struct fault_proxy proxy;
        eddy_tls_config *client_config, *server_config;
        eddy_listener *listener;
        int64_t client_result; /* 0: the whole answer and its end came; or an error */
        int64_t server_result; /* 0: the whole question and its end came; or an error */
};

/* Read until the end. Returns 0 if all of 'text' came, and nothing else; or an error. */
static int64_t read_whole(eddy_stream *stream, const char *text, size_t bytes)
{
        char buf[256];
        size_t held = 0;
        int64_t n;

        while ((n = eddy_stream_read(stream, buf + held, sizeof(buf) - held)) > 0)
                held += (size_t) n;
        if (n < 0)
                return n;
        if (held == 0)
                return -ENODATA; /* the peer was cancelled before it wrote */
        CHECK_EQ(held, bytes);   /* a clean end of a part would be a lie */
        CHECK(memcmp(buf, text, bytes) == 0);
        return 0;
}

static int64_t serve_one(struct talk *talk, eddy_stream *stream)
{
        int64_t result = eddy_tls_server(stream, talk->server_config, NULL, &stream);

        if (result == 0)
                result = read_whole(stream, question, sizeof(question));
        if (result == 0)
                result = eddy_stream_write(stream, answer, sizeof(answer));
        eddy_stream_close(stream);
        return result;
}

static int serve(void *arg)
{
        struct talk *talk = arg;
        eddy_stream *stream;

        if (eddy_listener_accept(talk->listener, &stream) == 0)
                talk->server_result = serve_one(talk, stream);
        return 0;
}

static int ask(void *arg)
{
        struct talk *talk = arg;
        eddy_stream *lower, *stream;
        int64_t result = eddy_tcp_connect("127.0.0.1", talk->proxy.own_port, NULL, &lower);

        if (result < 0)
                return (int) result;
        result = eddy_tls_client(lower, talk->client_config, "localhost", NULL, &stream);
        if (result < 0)
                stream = lower;
        if (result == 0)
                result = eddy_stream_write(stream, question, sizeof(question));
        if (result == 0)
                result = eddy_stream_shutdown(stream);
        if (result == 0)
                result = read_whole(stream, answer, sizeof(answer));
        eddy_stream_close(stream);
        return (int) result;
}

static int converse(void *arg)
{
        struct talk *talk = arg;
        struct eddy_tls_opts server = { .flags = EDDY_TLS_SERVER,
                                        .cert_file = files.cert,
                                        .key_file = files.key };
        struct eddy_tls_opts client = { .ca_file = files.cert };
        eddy_scope scope;

        CHECK_EQ(eddy_tls_config_new(&server, NULL, &talk->server_config), 0);
        CHECK_EQ(eddy_tls_config_new(&client, NULL, &talk->client_config), 0);
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &talk->listener), 0);
        talk->proxy.host = "127.0.0.1";
        talk->proxy.port = eddy_listener_port(talk->listener);
        eddy_scope_begin(&scope, NULL);
        fault_proxy_start(&talk->proxy, &scope);
        CHECK_EQ(eddy_scope_start(&scope, serve, talk), 0);
        talk->client_result = eddy_call_timeout(ask, talk, EDDY_SEC(10));
        if (talk->client_result != -ETIMEDOUT)
                CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0); /* the server sees the end, too */
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        fault_proxy_stop(&talk->proxy);
        eddy_listener_close(talk->listener);
        eddy_tls_config_close(talk->client_config);
        eddy_tls_config_close(talk->server_config);
        return 0;
}

/* ---- cuts at every byte --------------------------------------------------------------- */

static bool is_expected(enum fault_then then, int64_t result)
{
        switch (then) {
        case FAULT_END:
                return result == EDDY_E_TLS_TRUNCATED || result == -ECONNRESET || result == -EPIPE;
        case FAULT_RESET:
                return result == -ECONNRESET || result == -EPIPE;
        default:
                return result == -ETIMEDOUT;
        }
}

/* Each fault after each byte of one direction; returns how many conversations failed. */
static void sweep(bool by_server, enum fault_then then)
{
        struct talk whole = { .client_result = 1, .server_result = 1 };
        uint64_t total, step, failed = 0;

        CHECK_EQ(eddy_test_run(converse, &whole, NULL, NULL), 0);
        CHECK_EQ(whole.client_result, 0);
        CHECK_EQ(whole.server_result, 0);
        total = by_server ? whole.proxy.passed_down : whole.proxy.passed_up;
        CHECK(total > 300);
        step = is_full() ? 1 : total / SAMPLE;
        for (uint64_t bytes = 0; bytes < total; bytes += step) {
                struct talk talk = { .client_result = 1, .server_result = -ECANCELED };
                struct fault_way way = { .then = then, .bytes = bytes };

                *(by_server ? &talk.proxy.down : &talk.proxy.up) = way;
                CHECK_EQ(eddy_test_run(converse, &talk, NULL, NULL), 0);
                if (by_server || talk.server_result != 0)
                        CHECK(talk.client_result != 0);
                if (talk.client_result != 0 && !is_expected(then, talk.client_result))
                        test_fail(__FILE__, __LINE__, "byte %d of %d: %s", (int) bytes, (int) total,
                                  eddy_error_name((int) talk.client_result));
                failed += talk.client_result != 0;
        }
        CHECK(failed > SAMPLE / 2);
        printf("# %d bytes, %d conversations failed\n", (int) total, (int) failed);
}

#define SWEEP(claim, by_server, then)                                                              \
        TEST(claim)                                                                                \
        {                                                                                          \
                tls_files_make_fixed(&files);                                                      \
                turning_watch();                                                                   \
                sweep(by_server, then);                                                            \
        }
SWEEP(the_client_of_tls_is_cut_off_after_every_byte, false, FAULT_END)
SWEEP(the_client_of_tls_is_reset_after_every_byte, false, FAULT_RESET)
/* A133: the deadline of the scope ends a handshake that stalls. */
SWEEP(the_client_of_tls_stalls_after_every_byte, false, FAULT_STALL)
SWEEP(the_server_of_tls_is_cut_off_after_every_byte, true, FAULT_END)
SWEEP(the_server_of_tls_is_reset_after_every_byte, true, FAULT_RESET)
SWEEP(the_server_of_tls_stalls_after_every_byte, true, FAULT_STALL)

/* ---- connections cancelled at random ---------------------------------------------------- */

struct storm {
        struct talk talk;
        eddy_scope *scope;
        long left, whole, cancelled;
};

/* A connection's task. The server is cancelled at random, too. */
struct visitor {
        struct storm *storm;
        eddy_stream *stream;
};

static int serve_visitor(void *arg)
{
        struct visitor *visitor = arg;

        return (int) serve_one(&visitor->storm->talk, visitor->stream);
}

static int64_t some_time(void)
{
        return 1 + (int64_t) eddy_test_chance(EDDY_MS(12));
}

static int handle_visitor(void *arg)
{
        if (eddy_test_chance(4) == 0)
                (void) eddy_call_timeout(serve_visitor, arg, some_time());
        else
                (void) serve_visitor(arg);
        return 0;
}

static int receive_visitors(void *arg)
{
        struct storm *storm = arg;
        struct visitor visitor = { .storm = storm };

        while (eddy_listener_accept(storm->talk.listener, &visitor.stream) == 0)
                CHECK_EQ(eddy_scope_start_copy(storm->scope, handle_visitor, &visitor,
                                               sizeof(visitor)),
                         0);
        return 0;
}

static int visit_often(void *arg)
{
        struct storm *storm = arg;

        while (storm->left > 0) {
                int64_t result;

                storm->left--;
                result = eddy_call_timeout(ask, &storm->talk, some_time());
                storm->whole += result == 0;
                storm->cancelled += result == -ETIMEDOUT;
        }
        return 0;
}

static int storm_main(void *arg)
{
        struct storm *storm = arg;
        struct eddy_test_link link = { .delay_ns = EDDY_MS(1), .jitter_ns = EDDY_US(500) };
        struct eddy_tls_opts server = { .flags = EDDY_TLS_SERVER,
                                        .cert_file = files.cert,
                                        .key_file = files.key };
        struct eddy_tls_opts client = { .ca_file = files.cert };
        struct talk *talk = &storm->talk;
        eddy_scope servers, visitors;

        CHECK_EQ(eddy_test_link_set(&link), 0);
        CHECK_EQ(eddy_tls_config_new(&server, NULL, &talk->server_config), 0);
        CHECK_EQ(eddy_tls_config_new(&client, NULL, &talk->client_config), 0);
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &talk->listener), 0);
        talk->proxy.own_port = eddy_listener_port(talk->listener);
        eddy_scope_begin(&servers, NULL);
        storm->scope = &servers;
        CHECK_EQ(eddy_scope_start(&servers, receive_visitors, storm), 0);
        eddy_scope_begin(&visitors, NULL);
        for (int i = 0; i < STORM_AT_ONCE; i++)
                CHECK_EQ(eddy_scope_start(&visitors, visit_often, storm), 0);
        CHECK_EQ(eddy_scope_end(&visitors), 0);
        eddy_scope_cancel(&servers);
        (void) eddy_scope_end(&servers);
        eddy_listener_close(talk->listener);
        eddy_tls_config_close(talk->client_config);
        eddy_tls_config_close(talk->server_config);
        return 0;
}

TEST(connections_cancelled_at_random_leave_nothing)
{
        int runs = is_full() ? STORM_RUNS_FULL : STORM_RUNS;
        long whole = 0, cancelled = 0;

        tls_files_make_fixed(&files);
        for (int i = 1; i <= runs; i++) {
                struct storm storm = { .left = STORM_EACH };
                struct eddy_test_opts opts = { .name = "storm", .seed = (uint64_t) i };

                CHECK_EQ(eddy_test_run(storm_main, &storm, &opts, NULL), 0);
                whole += storm.whole;
                cancelled += storm.cancelled;
        }
        CHECK(cancelled > (long) STORM_EACH * runs / 3);
        CHECK(whole > (long) STORM_EACH * runs / 20);
        printf("# %d connections: %ld whole, %ld cancelled\n", STORM_EACH * runs, whole, cancelled);
}
