/*
 * fuzz_h2.c - any bytes of a peer by HTTP/2, to a server whose handlers read and answer, and to a client whose
 * requests are sent meanwhile: nothing is left at the end, and the run of the test kit has no findings.
 *
 * The first byte says what is tested, the second how many bytes arrive at once, the third the time between them,
 * and the fourth which allocation fails. All else is what the peer sends; a server gets the preface before it.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/eddy.h"
#include "eddy/test.h"
#include "http/client.h"
#include "http/h2_client.h"
#include "http/opening.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum {
        HEAD_BYTES = 4,
        IS_CLIENT = 1 << 0,
        IS_SMALL = 1 << 1,  /* small limits of a server */
        FINISHES = 1 << 2,  /* handlers run on after their client has left */
        READS_NOT = 1 << 3, /* the peer does not read */
        STAYS = 1 << 4,     /* the peer keeps the connection after its bytes */
        REQUESTS = 3,
};

static struct {
        uint8_t flags;
        size_t piece;
        int64_t pause_ns;
        const uint8_t *at;
        size_t bytes;
        eddy_http_client *client;
        eddy_scope scope;
        bool is_lent; /* the client has the input's connection */
} fuzz;

static void require(bool is_so)
{
        if (!is_so)
                abort();
}

/* ---- the peer ------------------------------------------------------------------------ */

static int drop(void *stream)
{
        char buf[4096];

        while (eddy_stream_read(stream, buf, sizeof(buf)) > 0)
                continue;
        return 0;
}

/* Send the input, and end. */
static int talk(void *stream)
{
        static const char preface[] = NGHTTP2_CLIENT_MAGIC;
        int err = 0;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        if (!(fuzz.flags & READS_NOT))
                err = eddy_scope_start(&scope, drop, stream);
        if (err == 0 && !(fuzz.flags & IS_CLIENT))
                err = eddy_stream_write(stream, preface, sizeof(preface) - 1);
        else if (err == 0) /* the first request is on its way */
                err = eddy_sleep(EDDY_MS(1));
        while (err == 0 && fuzz.bytes > 0) {
                size_t n = fuzz.piece < fuzz.bytes ? fuzz.piece : fuzz.bytes;

                err = eddy_stream_write(stream, fuzz.at, n);
                fuzz.at += n;
                fuzz.bytes -= n;
                if (err == 0 && fuzz.pause_ns)
                        err = eddy_sleep(fuzz.pause_ns);
        }
        if (err == 0)
                err = eddy_sleep(fuzz.flags & STAYS ? EDDY_MIN(2) : EDDY_MS(10));
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        eddy_stream_close(stream);
        return 0;
}

/* ---- the server ------------------------------------------------------------------------ */

static int echo(eddy_http_exchange *exchange)
{
        char buf[1000];
        int64_t n = 0;
        int err = eddy_http_exchange_begin(exchange, 200, NULL, 0, -1);

        while (err == 0 && (n = eddy_http_exchange_read(exchange, buf, sizeof(buf))) > 0)
                err = eddy_http_exchange_write(exchange, buf, (size_t) n);
        if (err < 0 || n < 0)
                return err < 0 ? err : (int) n;
        return eddy_http_exchange_end(exchange);
}

static int send_parts(eddy_http_exchange *exchange)
{
        static const struct eddy_http_header hint = { "Link", "</a>" },
                                             named = { "Trailer", "X-A" };
        static const char piece[10000];
        int err = eddy_http_exchange_early_hints(exchange, &hint, 1);

        if (err == 0)
                err = eddy_http_exchange_begin(exchange, 200, &named, 1, -1);
        for (int i = 0; i < 20 && err == 0; i++)
                err = eddy_http_exchange_write(exchange, piece, sizeof(piece));
        if (err == 0)
                err = eddy_http_exchange_add_trailer(exchange, "X-A", "b");
        return err < 0 ? err : eddy_http_exchange_end(exchange);
}

static int handle(eddy_http_exchange *exchange, void *arg)
{
        const char *path = eddy_http_exchange_path(exchange);
        const void *body;
        size_t bytes;
        int err = 0;

        (void) arg;
        require(path[0] == '/' || strcmp(path, "*") == 0 ||
                strcmp(eddy_http_exchange_method(exchange), "CONNECT") == 0);
        switch (path[0] ? path[1] : '\0') {
        case 'e':
                return echo(exchange);
        case 'l': /* /large */
        case 'p':
                return send_parts(exchange);
        case 'w': /* /wait */
                err = eddy_sleep(EDDY_MS(100));
                break;
        case 'f':
                return -EIO;
        case 'a':
                eddy_http_exchange_abort(exchange);
                return 0;
        case 'n':
                return 0;
        default:
                err = eddy_http_exchange_body(exchange, &body, &bytes);
        }
        return err < 0 ? err : eddy_http_exchange_respond_text(exchange, 200, "hello");
}

static int serve(eddy_stream *stream)
{
        static struct eddy_http2_server_stats stats;
        const struct eddy_http2_server_opts small = { .streams_max = 3,
                                                      .resets_max = 5,
                                                      .faults_max = 5,
                                                      .settings_max = 5,
                                                      .pings_max = 5,
                                                      .others_max = 5,
                                                      .empty_max = 5,
                                                      .updates_max = 5,
                                                      .stats = &stats };
        const struct eddy_http2_server_opts large = { .stats = &stats };
        const bool is_small = fuzz.flags & IS_SMALL;
        const struct eddy_http_server_opts opts = {
                .flags = EDDY_HTTP_SERVER_HTTP2_ONLY |
                         (fuzz.flags & FINISHES ? EDDY_HTTP_SERVER_FINISH : 0),
                .head_bytes_max = is_small ? 1000 : 0,
                .body_bytes_max = is_small ? 1000 : 0,
                .http2 = is_small ? &small : &large,
        };
        int err = eddy_http_serve_stream(stream, &opts, handle, NULL);

        require(stats.open == 0);
        return err == -ENOMEM || err == -ECANCELED ? 0 : err;
}

/* ---- the client ------------------------------------------------------------------------ */

/* In place of the network: only the first connection has a peer. */
static int connect_pair(struct ed_http_conn *conn, struct eddy_http_fault *fault,
                        eddy_stream **ret_stream)
{
        eddy_stream *ours, *theirs;
        int err;

        (void) fault;
        if (fuzz.is_lent)
                return -ECONNREFUSED;
        err = eddy_stream_pair(NULL, &ours, &theirs);
        if (err < 0)
                return err;
        err = eddy_scope_start(&fuzz.scope, talk, theirs);
        if (err < 0) {
                eddy_stream_close_now(ours);
                eddy_stream_close_now(theirs);
                return err;
        }
        fuzz.is_lent = true;
        conn->protocol = &ed_h2_protocol;
        *ret_stream = ours;
        return 0;
}

static int ask(void *arg)
{
        static const char body[100000];
        const int i = *(const int *) arg;
        struct eddy_http_request request = { .url = i == 0 ? "http://h/?a" : "http://h/b",
                                             .method = i == 0 ? "GET" : "POST",
                                             .body = i == 0 ? NULL : body,
                                             .body_bytes = i == 2 ? sizeof(body) : (size_t) i,
                                             .timeouts = { .total_ns = EDDY_SEC(30) } };
        eddy_http_response *response;
        char buf[500];

        if (eddy_http_client_send(fuzz.client, &request, &response) < 0)
                return 0;
        require(eddy_http_response_status(response) >= 200);
        (void) eddy_http_response_header(response, "content-length");
        while (eddy_http_response_read(response, buf, sizeof(buf)) > 0)
                if (i == 1)
                        break;
        eddy_http_response_close(response);
        return 0;
}

static int use_client(void)
{
        const struct eddy_http_client_opts opts = { .redirects_max = 0 };
        int numbers[REQUESTS], err = eddy_http_client_new(&opts, &fuzz.client);

        if (err < 0)
                return 0;
        fuzz.client->pool.connect = connect_pair;
        fuzz.client->protocols.prior = &ed_h2_protocol;
        eddy_scope_begin(&fuzz.scope, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_KEEP_GOING });
        for (int i = 0; i < REQUESTS; i++) {
                numbers[i] = i;
                (void) eddy_scope_start(&fuzz.scope, ask, &numbers[i]);
        }
        (void) eddy_scope_end(&fuzz.scope);
        require(fuzz.client->h2_streams == 0 && fuzz.client->pool.in_use == 0);
        eddy_http_client_close(fuzz.client);
        return 0;
}

/* ---- both -------------------------------------------------------------------------------- */

static int run(void *arg)
{
        eddy_stream *ours, *theirs;
        eddy_scope scope;
        int err;

        (void) arg;
        if (fuzz.flags & IS_CLIENT)
                return use_client();
        if (eddy_stream_pair(NULL, &ours, &theirs) < 0)
                return 0;
        eddy_scope_begin(&scope, NULL);
        err = eddy_scope_start(&scope, talk, theirs);
        if (err < 0) {
                eddy_stream_close_now(ours);
                eddy_stream_close_now(theirs);
        } else {
                err = serve(ours);
        }
        (void) eddy_scope_end(&scope);
        return err == -ENOMEM ? 0 : err;
}

/* Returns true if an allocation has failed. */
static bool play(const uint8_t *data, size_t bytes, uint64_t alloc_at, bool forever)
{
        const struct eddy_test_opts opts = { .name = "fuzz_h2",
                                             .alloc_at = alloc_at,
                                             .alloc_forever = forever };
        struct eddy_test_result result;

        memset(&fuzz, 0, sizeof(fuzz));
        fuzz.flags = data[0];
        fuzz.piece = data[1] ? data[1] : SIZE_MAX;
        fuzz.pause_ns = EDDY_MS(data[2]);
        fuzz.at = data + HEAD_BYTES;
        fuzz.bytes = bytes - HEAD_BYTES;
        (void) eddy_test_run(run, NULL, &opts, &result);
        if (result.problem[0] || (result.result < 0 && result.result != -ENOMEM)) {
                fprintf(stderr, "%d: %s\n", result.result, result.problem);
                abort();
        }
        return result.was_failed;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
        if (bytes < HEAD_BYTES)
                return 0;
        (void) play(data, bytes, data[3], false);
        if (!getenv("EDDY_TEST_FULL"))
                return 0;
        /* Each allocation fails, and then all from each on. */
        for (uint64_t at = 1; play(data, bytes, at, false); at++)
                continue;
        for (uint64_t at = 1; play(data, bytes, at, true); at++)
                continue;
        return 0;
}
