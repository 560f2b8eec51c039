/*
 * http_scenarios.c - programs of an HTTP client and server.
 */
#include <errno.h>

#include "eddy/eddy.h"
#include "scenario.h"
#include "test.h"

enum { CLIENTS = 3, BYTES = 1000, CHUNKS = 5, CHUNK = 150 };

/* More than two buffers between sockets hold: it goes out while it comes back. */
size_t scenario_upload_bytes = 200000;

struct web {
        eddy_listener *listener;
        eddy_http_client *client;
        char base[64];
        int cut_short; /* requests that were given up on purpose */
};

/* --- the server --- */

static int answer_bytes(eddy_http_exchange *exchange)
{
        struct eddy_http_header header = { "Content-Type", "text/plain" };
        char body[BYTES];

        letters_fill(body, 0, sizeof(body));
        return eddy_http_exchange_respond(exchange, 200, &header, 1, body, sizeof(body));
}

static int answer_echo(eddy_http_exchange *exchange)
{
        const void *body;
        size_t bytes;
        int err = eddy_http_exchange_body(exchange, &body, &bytes);

        return err < 0 ? err : eddy_http_exchange_respond(exchange, 200, NULL, 0, body, bytes);
}

static int answer_chunks(eddy_http_exchange *exchange)
{
        char chunk[CHUNK];
        int err = eddy_http_exchange_begin(exchange, 200, NULL, 0, -1);

        for (size_t i = 0; i < CHUNKS && err == 0; i++) {
                letters_fill(chunk, i * CHUNK, CHUNK);
                err = eddy_http_exchange_write(exchange, chunk, CHUNK);
                if (err == 0)
                        err = eddy_sleep(EDDY_MS(1));
        }
        return err < 0 ? err : eddy_http_exchange_end(exchange);
}

/* The request's body goes back as it comes; neither is held whole. */
static int answer_both_ways(eddy_http_exchange *exchange)
{
        char piece[8000];
        int64_t n = 0;
        int err = eddy_http_exchange_begin(exchange, 200, NULL, 0, scenario_upload_bytes);

        while (err == 0 && (n = eddy_http_exchange_read(exchange, piece, sizeof(piece))) > 0)
                err = eddy_http_exchange_write(exchange, piece, (size_t) n);
        if (err == 0)
                err = n < 0 ? (int) n : eddy_http_exchange_end(exchange);
        return err;
}

static int answer(eddy_http_exchange *exchange, void *arg)
{
        const char *path = eddy_http_exchange_path(exchange);
        int err;

        (void) arg;
        tasks_begun++;
        if (strcmp(path, "/bytes") == 0)
                err = answer_bytes(exchange);
        else if (strcmp(path, "/echo") == 0)
                err = answer_echo(exchange);
        else if (strcmp(path, "/chunks") == 0)
                err = answer_chunks(exchange);
        else if (strcmp(path, "/both-ways") == 0)
                err = answer_both_ways(exchange);
        else if (strcmp(path, "/slow") == 0)
                err = eddy_sleep(EDDY_MIN(1));
        else
                err = 0;
        tasks_ended++;
        return err;
}

static int serve(void *arg)
{
        struct web *web = arg;
        int err;

        tasks_begun++;
        err = eddy_http_serve(web->listener, NULL, answer, NULL);
        tasks_ended++;
        return err;
}

/* --- the client --- */

static int get(struct web *web, const char *path, const char *body, int status, size_t want_bytes)
{
        struct eddy_http_request request = { .body = body, .body_bytes = body ? strlen(body) : 0 };
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        char url[100];
        const void *data;
        size_t bytes;
        int err;

        snprintf(url, sizeof(url), "%s%s", web->base, path);
        request.url = url;
        err = eddy_http_client_send(web->client, &request, &response);
        if (err < 0)
                return err;
        if (eddy_http_response_status(response) != status)
                return -EBADMSG;
        err = eddy_http_response_body(response, &data, &bytes);
        if (err < 0)
                return err;
        if (status != 200)
                return 0;
        CHECK_EQ(bytes, want_bytes);
        CHECK(body ? memcmp(data, body, bytes) == 0 : letters_are(data, 0, bytes));
        return 0;
}

/* Read some of a body, and leave the rest: the connection is not used again. */
static int get_some(struct web *web)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request request = { 0 };
        char url[100], buf[10];
        int64_t n;
        int err;

        snprintf(url, sizeof(url), "%s/chunks", web->base);
        request.url = url;
        err = eddy_http_client_send(web->client, &request, &response);
        if (err < 0)
                return err;
        n = eddy_http_response_read(response, buf, sizeof(buf));
        if (n >= 0)
                CHECK(n > 0 && n <= (int64_t) sizeof(buf));
        return n < 0 ? (int) n : 0;
}

/* By a URL with credentials and without a path, and a Host of one's own. */
static int ask_as_somebody(struct web *web)
{
        static const struct eddy_http_header host = { .name = "Host", .value = "web.example" };
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request request = { .headers = &host, .headers_count = 1 };
        char url[100];
        int err;

        snprintf(url, sizeof(url), "http://me:secret@%s?what", web->base + strlen("http://"));
        request.url = url;
        err = eddy_http_client_send(web->client, &request, &response);
        if (err < 0)
                return err;
        return eddy_http_response_status(response) == 404 ? 0 : -EBADMSG;
}

static int get_slow(void *arg)
{
        return get(arg, "/slow", NULL, 404, 0);
}

static int browse(void *arg)
{
        struct web *web = arg;
        int err;

        tasks_begun++;
        err = get(web, "/bytes", NULL, 200, BYTES);
        if (err == 0)
                err = get(web, "/echo", "a body that comes back", 200, 22);
        if (err == 0)
                err = get(web, "/chunks", NULL, 200, (size_t) CHUNKS * CHUNK);
        if (err == 0)
                err = get(web, "/nothing-here", NULL, 404, 0);
        tasks_ended++;
        return err;
}

static int browse_hastily(void *arg)
{
        struct web *web = arg;
        int err;

        tasks_begun++;
        err = get_some(web);
        if (err == 0)
                err = ask_as_somebody(web);
        if (err == 0)
                err = eddy_call_timeout(get_slow, web, EDDY_MS(5));
        if (err == -ETIMEDOUT) {
                web->cut_short++;
                err = get(web, "/bytes", NULL, 200, BYTES);
        }
        tasks_ended++;
        return err;
}

/* A body that is still being sent when its answer comes; it is gone when send returns. */
static int send_upload(struct web *web, eddy_http_response **ret_response)
{
        struct eddy_http_request request = { .body_bytes = scenario_upload_bytes };
        char *body = eddy_malloc(scenario_upload_bytes);
        char url[100];
        int err;

        if (!body)
                return -ENOMEM;
        letters_fill(body, 0, scenario_upload_bytes);
        snprintf(url, sizeof(url), "%s/both-ways", web->base);
        request.url = url;
        request.body = body;
        err = eddy_http_client_send(web->client, &request, ret_response);
        eddy_free(body);
        return err;
}

static int go_both_ways(void *arg)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct web *web = arg;
        char buf[9000];
        size_t at = 0;
        int64_t n;
        int err;

        tasks_begun++;
        err = send_upload(web, &response);
        if (err == 0 && eddy_http_response_status(response) != 200)
                err = -EBADMSG;
        while (err == 0 && (n = eddy_http_response_read(response, buf, sizeof(buf))) != 0) {
                err = n < 0 ? (int) n : 0;
                if (n > 0) {
                        CHECK(letters_are(buf, at, (size_t) n));
                        at += (size_t) n;
                }
        }
        if (err == 0)
                CHECK_EQ(at, scenario_upload_bytes);
        tasks_ended++;
        return err;
}

static int run_clients(struct web *web, eddy_task_fn *client)
{
        /* Fewer connections than tasks: some wait for one. */
        struct eddy_http_client_opts opts = { .per_host_max = 2 };
        struct eddy_http_client_stats stats;
        eddy_scope scope;
        int started = 0, err;

        err = eddy_http_client_new(&opts, &web->client);
        if (err < 0)
                return err;
        snprintf(web->base, sizeof(web->base), "http://127.0.0.1:%u",
                 eddy_listener_port(web->listener));
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < CLIENTS; i++)
                started += eddy_scope_start(&scope, client, web) == 0;
        err = eddy_scope_end(&scope);
        /* All are back in the pool or closed. */
        eddy_http_client_stats(web->client, &stats);
        CHECK_EQ(stats.waiting, 0);
        CHECK_EQ(stats.open, stats.idle);
        CHECK(stats.open <= 2);
        eddy_http_client_close(web->client);
        return err == 0 && started < CLIENTS ? -ECANCELED : err;
}

static int run_web(struct web *web, eddy_task_fn *client)
{
        struct eddy_scope_opts opts = { .timeout_ns = EDDY_MIN(5) };
        eddy_scope scope;
        int err, end_err;

        err = eddy_tcp_listen("127.0.0.1", 0, NULL, &web->listener);
        if (err < 0)
                return err;
        eddy_scope_begin(&scope, &opts);
        err = eddy_scope_start(&scope, serve, web);
        if (err == 0)
                err = run_clients(web, client);
        eddy_scope_cancel(&scope);
        end_err = eddy_scope_end(&scope);
        eddy_listener_close(web->listener);
        return err == 0 || (err == -ECANCELED && end_err < 0) ? end_err : err;
}

int scenario_http(void *arg)
{
        struct web web = { 0 };

        (void) arg;
        return run_web(&web, browse);
}

int scenario_http_both_ways(void *arg)
{
        struct web web = { 0 };

        (void) arg;
        return run_web(&web, go_both_ways);
}

int scenario_http_hasty(void *arg)
{
        struct web web = { 0 };
        int err;

        (void) arg;
        err = run_web(&web, browse_hastily);
        if (err == 0 && !one_was_cancelled())
                CHECK_EQ(web.cut_short, CLIENTS);
        return err;
}
