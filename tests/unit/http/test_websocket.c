/*
 * test_websocket.c - eddy's client and server of WebSocket with each other: messages of each size,
 * several writers, the stop of a server, and cancels and shortages at each point.
 */
#include <stdlib.h>
#include <string.h>

#include "../tls/tls_test.h"
#include "eddy/test.h"
#include "server_test.h"

static struct eddy_websocket_opts opts; /* of both sides */

static int echo(eddy_http_exchange *exchange, void *arg)
{
        EDDY_AUTO(eddy_websocket) eddy_websocket *websocket = NULL;
        struct eddy_websocket_message message;
        int err = eddy_websocket_accept(exchange, &opts, &websocket);

        (void) arg;
        while (err >= 0 && (err = eddy_websocket_read(websocket, &message)) > 0)
                err = eddy_websocket_write(websocket, message.kind, message.data, message.bytes);
        return err;
}

/* ---- messages ------------------------------------------------------------------------ */

static const size_t sizes[] = { 0,    1,    125,   126,   127,   1009,  1010,  1011,   4000,   4082,
                                4090, 4096, 16384, 65521, 65522, 65535, 65536, 200000, 1 << 20 };

enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static char *text_of(size_t bytes)
{
        char *text = malloc(bytes + 1);

        CHECK(text != NULL);
        for (size_t i = 0; i < bytes; i++)
                text[i] = (char) ('a' + (i * 7 + bytes) % 26);
        return text;
}

static void echo_sizes(eddy_websocket *websocket)
{
        struct eddy_websocket_message message;

        for (size_t i = 0; i < SIZES; i++) {
                enum eddy_websocket_kind kind = i % 2 ? EDDY_WEBSOCKET_TEXT : EDDY_WEBSOCKET_BINARY;
                char *text = text_of(sizes[i]);

                CHECK_EQ(eddy_websocket_write(websocket, kind, text, sizes[i]), 0);
                CHECK_EQ(eddy_websocket_ping(websocket, "still there?", 12), 0);
                CHECK_EQ(eddy_websocket_read(websocket, &message), 1);
                CHECK_EQ(message.kind, kind);
                CHECK_EQ(message.bytes, sizes[i]);
                CHECK(memcmp(message.data, text, sizes[i]) == 0);
                CHECK_EQ(message.data[message.bytes], '\0');
                free(text);
        }
}

static void talk_to_site(struct site *site)
{
        static const size_t fragments[] = { 0, 1 << 14, 1000 };

        for (size_t i = 0; i < sizeof(fragments) / sizeof(fragments[0]); i++) {
                eddy_http_client *client;
                eddy_websocket *websocket;
                char url[64];

                opts = (struct eddy_websocket_opts){ .fragment_bytes = fragments[i] };
                snprintf(url, sizeof(url), "%s://127.0.0.1:%d/", site->client_tls ? "wss" : "ws",
                         site->port);
                CHECK_EQ(eddy_http_client_new(OPTIONS(.tls = site->client_tls), &client), 0);
                CHECK_EQ(eddy_websocket_connect(client, url, &opts, &websocket), 0);
                eddy_http_client_close(client); /* the WebSocket remains */
                echo_sizes(websocket);
                eddy_websocket_close(websocket, 0, NULL);
        }
}

static void prepare(struct site *site)
{
        site->handler = echo;
}

/* Both sides know HTTP/2, which has no upgrades: the client asks by HTTP/1.1. */
static void prepare_tls(struct site *site)
{
        struct eddy_tls_opts server = { .flags = EDDY_TLS_SERVER }, client = { .flags = 0 };
        struct tls_files files;

        tls_files_make(&files, "127.0.0.1");
        server.cert_file = client.ca_file = files.cert;
        server.key_file = files.key;
        CHECK_EQ(eddy_tls_config_new(&server, NULL, &site->opts.tls), 0);
        CHECK_EQ(eddy_tls_config_new(&client, NULL, &site->client_tls), 0);
        site->handler = echo;
}

TEST(a_message_of_each_size_comes_back_whole_or_in_fragments)
{
        site_run_prepared(NULL, false, prepare, talk_to_site);
        site_run_prepared(NULL, true, prepare, talk_to_site);
        site_run_prepared(NULL, false, prepare_tls, talk_to_site);
        site_run_prepared(NULL, true, prepare_tls, talk_to_site);
}

static int write_wrong(void *arg)
{
        eddy_http_client *client;
        eddy_websocket *websocket;
        struct eddy_websocket_message message;

        (void) arg;
        opts = (struct eddy_websocket_opts){ 0 };
        CHECK_EQ(eddy_http_client_new(OPTIONS(.handler = echo), &client), 0);
        CHECK_EQ(eddy_websocket_connect(client, "ws://a/", NULL, &websocket), 0);
        CHECK_ERR(eddy_websocket_write(websocket, EDDY_WEBSOCKET_TEXT, "a\xff", 2),
                  EDDY_E_WEBSOCKET_UTF8);
        CHECK_ERR(eddy_websocket_write(websocket, EDDY_WEBSOCKET_TEXT, "a\xc3", 2),
                  EDDY_E_WEBSOCKET_UTF8);
        CHECK_ERR(eddy_websocket_write(websocket, 0, "a", 1), -EINVAL);
        CHECK_ERR(eddy_websocket_write(websocket, 8, "a", 1), -EINVAL);
        CHECK_ERR(eddy_websocket_write(websocket, EDDY_WEBSOCKET_TEXT, NULL, 1), -EINVAL);
        CHECK_ERR(eddy_websocket_write(NULL, EDDY_WEBSOCKET_TEXT, "a", 1), -EINVAL);
        CHECK_ERR(eddy_websocket_ping(websocket, message.data = "", EDDY_WEBSOCKET_PING_MAX + 1),
                  -EINVAL);
        CHECK_ERR(eddy_websocket_ping(websocket, NULL, 1), -EINVAL);
        CHECK_ERR(eddy_websocket_read(websocket, NULL), -EINVAL);
        CHECK_ERR(eddy_websocket_read(NULL, &message), -EINVAL);
        CHECK_EQ(eddy_websocket_ping(websocket, NULL, 0), 0);
        CHECK_EQ(eddy_websocket_write(websocket, EDDY_WEBSOCKET_TEXT, NULL, 0), 0);
        CHECK_EQ(eddy_websocket_read(websocket, &message), 1);
        CHECK_EQ(message.bytes, 0);
        CHECK_STR(eddy_websocket_protocol(websocket), "");
        CHECK_EQ(eddy_websocket_close_code(websocket), 0);
        CHECK_STR(eddy_websocket_close_reason(websocket), "");
        CHECK_EQ(eddy_websocket_close_code(NULL), 0);
        CHECK_STR(eddy_websocket_close_reason(NULL), "");
        CHECK_STR(eddy_websocket_protocol(NULL), "");
        eddy_websocket_close(websocket, 0, NULL);
        eddy_http_client_close(client);
        return 0;
}

TEST(a_message_that_is_not_valid_is_not_sent)
{
        http_run(write_wrong, NULL);
}

/* ---- several tasks ------------------------------------------------------------------- */

enum { WRITERS = 5, MESSAGES = 20, MESSAGE_BYTES = 3000 };

struct writer {
        eddy_websocket *websocket;
        char letter;
};

static int write_many(void *arg)
{
        struct writer *writer = arg;
        char text[MESSAGE_BYTES];

        memset(text, writer->letter, sizeof(text));
        for (int i = 0; i < MESSAGES; i++) {
                CHECK_EQ(eddy_websocket_write(writer->websocket, EDDY_WEBSOCKET_TEXT, text,
                                              sizeof(text)),
                         0);
                CHECK_EQ(eddy_websocket_ping(writer->websocket, NULL, 0), 0);
        }
        return 0;
}

static int read_busy(void *arg)
{
        struct eddy_websocket_message message;

        CHECK_ERR(eddy_websocket_read(arg, &message), -EBUSY);
        return 0;
}

static int write_together(void *arg)
{
        struct writer writers[WRITERS];
        struct eddy_websocket_message message;
        eddy_http_client *client;
        eddy_websocket *websocket;
        int counts[WRITERS] = { 0 };
        eddy_scope scope;

        (void) arg;
        opts = (struct eddy_websocket_opts){ .fragment_bytes = 100 };
        CHECK_EQ(eddy_http_client_new(OPTIONS(.handler = echo), &client), 0);
        CHECK_EQ(eddy_websocket_connect(client, "ws://a/", &opts, &websocket), 0);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < WRITERS; i++) {
                writers[i] = (struct writer){ websocket, (char) ('a' + i) };
                CHECK_EQ(eddy_scope_start(&scope, write_many, &writers[i]), 0);
        }
        CHECK_EQ(eddy_scope_start(&scope, read_busy, websocket), 0);
        for (int i = 0; i < WRITERS * MESSAGES; i++) {
                CHECK_EQ(eddy_websocket_read(websocket, &message), 1);
                CHECK_EQ(message.bytes, MESSAGE_BYTES);
                for (size_t at = 1; at < message.bytes; at++)
                        CHECK_EQ(message.data[at], message.data[0]);
                counts[message.data[0] - 'a']++;
        }
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < WRITERS; i++)
                CHECK_EQ(counts[i], MESSAGES);
        eddy_websocket_close(websocket, 0, NULL);
        eddy_http_client_close(client);
        return 0;
}

TEST(messages_of_several_tasks_are_not_mixed)
{
        http_run(write_together, NULL);
}

/* ---- the end ------------------------------------------------------------------------- */

static int closing_code;

static int close_by_server(eddy_http_exchange *exchange, void *arg)
{
        eddy_websocket *websocket;
        int err = eddy_websocket_accept(exchange, NULL, &websocket);

        (void) arg;
        if (err == 0)
                eddy_websocket_close(websocket, closing_code, "why not");
        return err;
}

static int see_closes(void *arg)
{
        static const struct {
                int code, result;
        } rows[] = { { 1000, 0 },
                     { 1001, 0 },
                     { 1005, 0 },
                     { 1011, EDDY_E_WEBSOCKET_CLOSED },
                     { 4321, EDDY_E_WEBSOCKET_CLOSED } };
        struct eddy_websocket_message message;
        eddy_http_client *client;

        (void) arg;
        CHECK_EQ(eddy_http_client_new(OPTIONS(.handler = close_by_server), &client), 0);
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
                eddy_websocket *websocket;
                int64_t before = eddy_now();

                closing_code = rows[i].code;
                CHECK_EQ(eddy_websocket_connect(client, "ws://a/", NULL, &websocket), 0);
                for (int again = 0; again < 2; again++)
                        CHECK_EQ(eddy_websocket_read(websocket, &message), rows[i].result);
                CHECK_EQ(eddy_websocket_close_code(websocket), rows[i].code);
                CHECK_STR(eddy_websocket_close_reason(websocket),
                          rows[i].code == 1005 ? "" : "why not");
                CHECK_ERR(eddy_websocket_write(websocket, EDDY_WEBSOCKET_TEXT, "a", 1),
                          EDDY_E_WEBSOCKET_CLOSED);
                CHECK_ERR(eddy_websocket_ping(websocket, NULL, 0), EDDY_E_WEBSOCKET_CLOSED);
                eddy_websocket_close(websocket, 0, NULL);
                CHECK(eddy_now() - before < EDDY_MS(100)); /* virtual: no wait was necessary */
        }
        eddy_http_client_close(client);
        return 0;
}

TEST(the_code_of_a_close_is_the_end_or_an_error)
{
        http_run(see_closes, NULL);
}

static void stop_while_idle(struct site *site)
{
        struct eddy_scope_opts shield = { .flags = EDDY_SCOPE_SHIELD, .timeout_ns = EDDY_MIN(1) };
        struct eddy_websocket_message message;
        eddy_http_client *client;
        eddy_websocket *websocket;
        int64_t before = eddy_now();
        eddy_scope scope;
        char url[64];

        opts = (struct eddy_websocket_opts){ 0 };
        snprintf(url, sizeof(url), "ws://127.0.0.1:%d/", site->port);
        eddy_scope_begin(&scope, &shield);
        CHECK_EQ(eddy_http_client_new(NULL, &client), 0);
        CHECK_EQ(eddy_websocket_connect(client, url, NULL, &websocket), 0);
        CHECK_EQ(eddy_websocket_write(websocket, EDDY_WEBSOCKET_TEXT, "a", 1), 0);
        CHECK_EQ(eddy_websocket_read(websocket, &message), 1);
        eddy_scope_cancel(site->scope);
        CHECK_EQ(eddy_websocket_read(websocket, &message), 0);
        CHECK_EQ(eddy_websocket_close_code(websocket), EDDY_WEBSOCKET_GOING_AWAY);
        eddy_websocket_close(websocket, 0, NULL);
        eddy_http_client_close(client);
        while (site->ended_ns == 0)
                http_pause(EDDY_MS(1));
        CHECK(site->ended_ns - before < EDDY_SEC(1)); /* virtual: before the time to drain */
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

TEST(a_stop_of_the_server_closes_idle_websockets_at_once)
{
        site_run_prepared(NULL, false, prepare, stop_while_idle);
}

static void prepare_drain(struct site *site)
{
        site->handler = echo;
        site->opts.drain_ns = EDDY_SEC(5);
}

/* The client has not seen the close yet, and sends: the server waits for the client's part. */
static void stop_while_sending(struct site *site)
{
        struct eddy_scope_opts shield = { .flags = EDDY_SCOPE_SHIELD, .timeout_ns = EDDY_MIN(1) };
        struct eddy_websocket_message message;
        eddy_http_client *client;
        eddy_websocket *websocket;
        eddy_scope scope;
        char url[64];

        opts = (struct eddy_websocket_opts){ 0 };
        snprintf(url, sizeof(url), "ws://127.0.0.1:%d/", site->port);
        eddy_scope_begin(&scope, &shield);
        CHECK_EQ(eddy_http_client_new(NULL, &client), 0);
        CHECK_EQ(eddy_websocket_connect(client, url, NULL, &websocket), 0);
        http_pause(EDDY_MS(1));
        eddy_scope_cancel(site->scope);
        for (int i = 0; i < 3; i++) {
                http_pause(EDDY_MS(1));
                CHECK_EQ(eddy_websocket_write(websocket, EDDY_WEBSOCKET_TEXT, "a", 1), 0);
        }
        CHECK_EQ(eddy_websocket_read(websocket, &message), 0);
        CHECK_EQ(eddy_websocket_close_code(websocket), EDDY_WEBSOCKET_GOING_AWAY);
        eddy_websocket_close(websocket, 0, NULL);
        eddy_http_client_close(client);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

TEST(a_stop_of_the_server_waits_for_the_close_of_a_client_that_sends)
{
        site_run_prepared(NULL, false, prepare_drain, stop_while_sending);
}

/* ---- faults -------------------------------------------------------------------------- */

static int talk(void *arg)
{
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        EDDY_AUTO(eddy_websocket) eddy_websocket *websocket = NULL;
        static const size_t bytes[] = { 5, 3000, 70000 };
        struct eddy_websocket_message message = { .bytes = 0 };
        static char data[70000];
        int err = eddy_http_client_new(OPTIONS(.handler = echo, .connections_max = 1), &client);

        (void) arg;
        if (err == 0)
                err = eddy_websocket_connect(client, "ws://a/", NULL, &websocket);
        for (size_t i = 0; i < 3 && err >= 0; i++) {
                err = eddy_websocket_ping(websocket, "x", 1);
                if (err == 0)
                        err = eddy_websocket_write(websocket, EDDY_WEBSOCKET_TEXT, data, bytes[i]);
                if (err == 0)
                        err = eddy_websocket_read(websocket, &message);
                if (err == 0)
                        err = EDDY_E_WEBSOCKET_LOST; /* the other side has ended early */
                if (err == 1)
                        CHECK_EQ(message.bytes, bytes[i]);
        }
        return err < 0 ? err : 0;
}

TEST(a_cancel_or_a_shortage_at_any_point_leaves_nothing)
{
        static const int kinds[] = { EDDY_TEST_SEEDS, EDDY_TEST_CANCEL, EDDY_TEST_ALLOC,
                                     EDDY_TEST_ALLOC_FOREVER, EDDY_TEST_CANCEL_TASK };

        opts = (struct eddy_websocket_opts){ .fragment_bytes = 1000 };
        http_run_real(talk, NULL);
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
                struct eddy_test_sweep sweep;

                CHECK_EQ(eddy_test_sweep(kinds[i], talk, NULL, NULL, &sweep), 0);
                CHECK(sweep.tried > 0);
        }
}

/* A read that is cancelled loses no byte: the next one continues. */
static int write_slowly(void *arg)
{
        for (int i = 0; i < 20; i++) {
                CHECK_EQ(eddy_websocket_write(arg, EDDY_WEBSOCKET_TEXT, "0123456789", 10), 0);
                CHECK_EQ(eddy_sleep(EDDY_MS(7)), 0);
        }
        return 0;
}

static int read_one(void *arg)
{
        struct eddy_websocket_message message;
        int err = eddy_websocket_read(arg, &message);

        if (err == 1)
                CHECK_STR(message.data, "0123456789");
        return err;
}

static int read_in_slices(void *arg)
{
        eddy_http_client *client;
        eddy_websocket *websocket;
        eddy_scope scope;
        int got = 0;

        (void) arg;
        opts = (struct eddy_websocket_opts){ .fragment_bytes = 3 };
        CHECK_EQ(eddy_http_client_new(OPTIONS(.handler = echo), &client), 0);
        CHECK_EQ(eddy_websocket_connect(client, "ws://a/", &opts, &websocket), 0);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, write_slowly, websocket), 0);
        while (got < 20) {
                int err = eddy_call_timeout(read_one, websocket, EDDY_MS(2));

                CHECK(err == 1 || err == -ETIMEDOUT);
                got += err == 1;
        }
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_websocket_close(websocket, 0, NULL);
        eddy_http_client_close(client);
        return 0;
}

TEST(a_read_that_is_cancelled_loses_no_message)
{
        http_run(read_in_slices, NULL);
}
