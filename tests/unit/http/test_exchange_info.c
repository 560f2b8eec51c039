/*
 * test_exchange_info.c - what a handler learns of its request, its response and its connection.
 */
#include "../tls/tls_test.h"
#include "eddy/test.h"
#include "server_test.h"

#define GET  "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define POST "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"

/* Copies, because the texts end with the call. */
static struct {
        struct eddy_http_exchange_info before, after;
        struct eddy_endpoint peer, local;
        char cipher[64], server_name[64], alpn[16];
        eddy_stream *client, *server;
        eddy_tls_config *server_config, *client_config;
} site;

static int ask_info(eddy_http_exchange *exchange, void *arg)
{
        const void *body;
        size_t bytes;
        int err;

        (void) arg;
        eddy_http_exchange_info(exchange, &site.before);
        err = eddy_http_exchange_body(exchange, &body, &bytes);
        if (err == 0)
                err = eddy_http_exchange_respond(exchange, 201, NULL, 0, "ok", 2);
        eddy_http_exchange_info(exchange, &site.after);
        CHECK(site.after.peer == site.before.peer); /* asked once */
        site.peer = *site.after.peer;
        site.local = *site.after.local;
        snprintf(site.cipher, sizeof(site.cipher), "%s", site.after.tls_cipher);
        snprintf(site.server_name, sizeof(site.server_name), "%s", site.after.tls_server_name);
        snprintf(site.alpn, sizeof(site.alpn), "%s", site.after.tls_alpn);
        return err;
}

/* ---- TCP ----------------------------------------------------------------------------- */

static void prepare_info(struct site *of)
{
        memset(&site, 0, sizeof(site));
        of->handler = ask_info;
}

static void check_tcp(struct site *of)
{
        struct eddy_endpoint own;
        eddy_stream *stream;
        const char *got;

        http_pause(EDDY_SEC(5));
        stream = site_connect(of);
        CHECK_EQ(eddy_stream_local(stream, &own), 0);
        /* A part of the body, and the next request with the rest. */
        CHECK_EQ(eddy_stream_write(stream, POST "12", strlen(POST) + 2), 0);
        http_pause(EDDY_MS(20));
        CHECK_EQ(site.after.status, 0); /* still reading */
        CHECK_EQ(site.before.status, 0);
        CHECK_EQ(site.before.received_bytes, strlen(POST) + 2);
        CHECK_EQ(site.before.sent_bytes, 0);
        CHECK(eddy_now() - site.before.started_ns >= EDDY_MS(20));
        CHECK(eddy_now() - site.before.started_ns < EDDY_SEC(5));
        got = say(stream, "345" GET, "\r\n\r\nok");
        while (site.before.received_bytes != strlen(GET))
                http_pause(EDDY_MS(1));
        CHECK_EQ(site.after.version, 11);
        CHECK_EQ(site.after.number, 2);
        CHECK_EQ(site.after.status, 201);
        CHECK_EQ(site.after.received_bytes, strlen(GET));
        CHECK_EQ(site.after.sent_bytes, strstr(got, "\r\n\r\nok") + 6 - got);
        CHECK_EQ(site.peer.kind, EDDY_ENDPOINT_IP);
        CHECK_EQ(site.peer.port, own.port);
        CHECK_EQ(site.local.port, of->port);
        CHECK_EQ(site.after.tls_version, 0);
        CHECK_STR(site.cipher, "");
        CHECK_STR(site.server_name, "");
        CHECK_STR(site.alpn, "");
        eddy_stream_close(stream);
        (void) ask(of, "GET / HTTP/1.0\r\n\r\n");
        CHECK_EQ(site.after.version, 10);
        CHECK_EQ(site.after.number, 1);
}

TEST(a_handler_knows_both_ends_the_bytes_and_the_start_of_its_request)
{
        site_run_prepared(NULL, false, prepare_info, check_tcp);
}

/* ---- streams without endpoints, TLS -------------------------------------------------- */

static int serve(void *arg)
{
        const struct eddy_http_server_opts opts = { .tls = arg };

        CHECK_EQ(eddy_http_serve_stream(site.server, &opts, ask_info, NULL), 0);
        return 0;
}

static int on_pair(void *arg)
{
        struct eddy_tls_opts server = { .flags = EDDY_TLS_SERVER }, client = { .alpn = "http/1.1" };
        struct tls_files files;
        eddy_scope scope;

        (void) arg;
        memset(&site, 0, sizeof(site));
        tls_files_make(&files, "localhost");
        server.cert_file = client.ca_file = files.cert;
        server.key_file = files.key;
        CHECK_EQ(eddy_tls_config_new(&server, NULL, &site.server_config), 0);
        CHECK_EQ(eddy_tls_config_new(&client, NULL, &site.client_config), 0);
        CHECK_EQ(eddy_stream_pair(NULL, &site.client, &site.server), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, serve, site.server_config);
        CHECK_EQ(eddy_tls_client(site.client, site.client_config, "localhost", NULL, &site.client),
                 0);
        CHECK_HAS(say(site.client, GET, "\r\n\r\nok"), "201 ");
        eddy_stream_close(site.client);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_tls_config_close(site.server_config);
        eddy_tls_config_close(site.client_config);
        CHECK_EQ(site.peer.kind, EDDY_ENDPOINT_NONE);
        CHECK_EQ(site.local.kind, EDDY_ENDPOINT_NONE);
        CHECK_EQ(site.after.tls_version, EDDY_TLS_1_3);
        CHECK_HAS(site.cipher, "TLS_");
        CHECK_STR(site.server_name, "localhost");
        CHECK_STR(site.alpn, "http/1.1");
        return 0;
}

TEST(a_handler_knows_tls_and_that_a_pair_has_no_endpoints)
{
        http_run(on_pair, NULL);
}

/* ---- an upgrade ---------------------------------------------------------------------- */

static int upgrade(eddy_http_exchange *exchange, void *arg)
{
        const struct eddy_http_header header = { "Upgrade", "echo" };
        eddy_stream *stream;
        const void *early;
        size_t early_bytes;
        int err = eddy_http_exchange_upgrade(exchange, &header, 1, &stream, &early, &early_bytes);

        (void) arg;
        if (err < 0)
                return err;
        CHECK_EQ(eddy_stream_write(stream, "more", 4), 0);
        eddy_http_exchange_info(exchange, &site.after);
        CHECK_EQ(site.after.peer->kind, EDDY_ENDPOINT_NONE); /* the stream is the handler's */
        eddy_stream_close(stream);
        return 0;
}

static void prepare_upgrade(struct site *of)
{
        memset(&site, 0, sizeof(site));
        of->handler = upgrade;
}

static void check_upgrade(struct site *of)
{
        const struct answer *got = ask(of, "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\n"
                                           "Upgrade: echo\r\n\r\n");

        CHECK_HAS(got->text, "101 ");
        CHECK_EQ(site.after.status, 101);
        CHECK_EQ(site.after.sent_bytes, got->bytes - 4);
}

TEST(after_an_upgrade_the_bytes_are_those_of_the_101)
{
        site_run_prepared(NULL, false, prepare_upgrade, check_upgrade);
}

/* ---- memory -------------------------------------------------------------------------- */

static int ask_without_memory(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        http_memory_fails(0);
        eddy_http_exchange_info(exchange, &site.before);
        http_memory_is_back();
        CHECK_EQ(site.before.peer->kind, EDDY_ENDPOINT_NONE);
        CHECK_EQ(site.before.local->kind, EDDY_ENDPOINT_NONE);
        return ask_info(exchange, NULL);
}

static void prepare_without_memory(struct site *of)
{
        memset(&site, 0, sizeof(site));
        of->handler = ask_without_memory;
}

static void check_without_memory(struct site *of)
{
        CHECK_HAS(ask(of, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")->text, "201 ");
}

TEST(without_memory_both_ends_are_unknown_until_there_is_memory)
{
        site_run_prepared(NULL, false, prepare_without_memory, check_without_memory);
}
