/*
 * tls_scenarios.c - a program of an HTTPS server and its client, which trusts only that server.
 */
#include <errno.h>
#include <unistd.h>

#include "certificate.h"
#include "eddy/eddy.h"
#include "scenario.h"
#include "test.h"
#include "tls/config.h"

/* The long body needs several records of TLS. */
enum { BODY_BYTES = 3000, LONG_BYTES = 40000 };

/* MemorySanitizer does not see what OpenSSL writes: there the program does without TLS. */
#ifdef ED_MSAN
enum { HAS_TLS = 0 };
#define SCHEME "http"
#else
enum { HAS_TLS = 1 };
#define SCHEME "https"
#endif

struct site {
        eddy_listener *listener;
        eddy_tls_config *server, *client; /* NULL: without TLS */
};

/* --- configurations --- */

/* The file is gone when its contents are known. */
static int configs_make(struct site *site)
{
        char path[CERTIFICATE_PATH_BYTES];
        struct eddy_tls_opts server = { .flags = EDDY_TLS_SERVER, .cert_file = path };
        struct eddy_tls_opts client = { .ca_file = path };
        int err;

        if (!HAS_TLS)
                return 0;
        certificate_write(path);
        err = eddy_tls_config_new(&server, NULL, &site->server);
        if (err == 0)
                err = eddy_tls_config_new(&client, NULL, &site->client);
        CHECK_EQ(unlink(path), 0);
        return err;
}

static void configs_close(struct site *site)
{
        eddy_tls_config_close(site->client);
        eddy_tls_config_close(site->server);
}

/* --- the server --- */

static int answer_long(eddy_http_exchange *exchange)
{
        char *body = eddy_malloc(LONG_BYTES);
        int err;

        if (!body)
                return -ENOMEM;
        letters_fill(body, 0, LONG_BYTES);
        err = eddy_http_exchange_respond(exchange, 200, NULL, 0, body, LONG_BYTES);
        eddy_free(body);
        return err;
}

static int answer(eddy_http_exchange *exchange, void *arg)
{
        const void *body;
        size_t bytes;
        int err;

        (void) arg;
        tasks_begun++;
        err = eddy_http_exchange_body(exchange, &body, &bytes);
        if (err == 0 && strcmp(eddy_http_exchange_path(exchange), "/long") == 0)
                err = answer_long(exchange);
        else if (err == 0)
                err = eddy_http_exchange_respond(exchange, 200, NULL, 0, body, bytes);
        tasks_ended++;
        return err;
}

static int serve(void *arg)
{
        struct site *site = arg;
        struct eddy_http_server_opts opts = { .tls = site->server };
        int err;

        tasks_begun++;
        err = eddy_http_serve(site->listener, &opts, answer, NULL);
        tasks_ended++;
        return err;
}

/* --- the client --- */

/* 'bytes' of a body go to the server, and 'want' come back. */
static int ask(struct site *site, eddy_http_client *client, const char *path, size_t bytes,
               size_t want)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        char url[64], body[BODY_BYTES];
        struct eddy_http_request request = { .url = url,
                                             .body = bytes ? body : NULL,
                                             .body_bytes = bytes };
        const void *data;
        size_t got;
        int err;

        snprintf(url, sizeof(url), SCHEME "://localhost:%u%s", eddy_listener_port(site->listener),
                 path);
        letters_fill(body, 0, sizeof(body));
        err = eddy_http_client_send(client, &request, &response);
        if (err == 0 && eddy_http_response_status(response) != 200)
                err = -EBADMSG;
        if (err == 0)
                err = eddy_http_response_body(response, &data, &got);
        if (err < 0)
                return err;
        CHECK_EQ(got, want);
        CHECK(letters_are(data, 0, got));
        return 0;
}

static int ask_often(struct site *site, eddy_http_client *client)
{
        int err = ask(site, client, "/echo", BODY_BYTES, BODY_BYTES);

        if (err == 0)
                err = ask(site, client, "/long", 0, LONG_BYTES);
        return err < 0 ? err : ask(site, client, "/echo", 1, 1);
}

static int ask_once(struct site *site, eddy_http_client *client)
{
        return ask(site, client, "/echo", BODY_BYTES, BODY_BYTES);
}

/* A client with its own connection, which is kept. */
static int visit(struct site *site, int (*fn)(struct site *site, eddy_http_client *client))
{
        char address[64];
        const char *resolve = address;
        struct eddy_http_client_opts opts = { .tls = site->client,
                                              .resolve = &resolve,
                                              .resolve_count = 1 };
        struct eddy_http_client_stats stats;
        eddy_http_client *client;
        int err;

        snprintf(address, sizeof(address), "localhost:%u:127.0.0.1",
                 eddy_listener_port(site->listener));
        err = eddy_http_client_new(&opts, &client);
        if (err < 0)
                return err;
        err = fn(site, client);
        eddy_http_client_stats(client, &stats);
        CHECK(is_disturbed() || (err == 0 && stats.connections == 1));
        eddy_http_client_close(client);
        return err;
}

/* The second client resumes the session of the first. */
static int visit_twice(struct site *site)
{
        int err = visit(site, ask_often);

        if (err == 0)
                err = visit(site, ask_once);
        if (HAS_TLS && !is_disturbed())
                CHECK_EQ(SSL_CTX_sess_hits(site->client->contexts->list[0]), 1);
        return err;
}

static int run_site(struct site *site)
{
        eddy_scope scope;
        int err = eddy_tcp_listen("127.0.0.1", 0, NULL, &site->listener), end_err;

        if (err < 0)
                return err;
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_MIN(5) });
        err = eddy_scope_start(&scope, serve, site);
        if (err == 0)
                err = visit_twice(site);
        eddy_scope_cancel(&scope);
        end_err = eddy_scope_end(&scope);
        eddy_listener_close(site->listener);
        return err == 0 || (err == -ECANCELED && end_err < 0) ? end_err : err;
}

int scenario_https(void *arg)
{
        struct site site = { 0 };
        int err = configs_make(&site);

        (void) arg;
        if (err == 0)
                err = run_site(&site);
        configs_close(&site);
        return err;
}
