/*
 * test_sessions.c - sessions are resumed only by what made them; and what a peer may not ask for
 * after the handshake.
 */
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>

#include "tls/connection.h"
#include "tls_test.h"

static SSL *ssl_of(eddy_stream *stream)
{
        return ed_container_of(stream, struct ed_tls, stream)->ssl;
}

/* -- resumption ------------------------------------------------------------------- */

/* Do a handshake with a client of 'config', take its tickets, and return whether it was resumed. */
static bool visit(struct tls_rig *rig, eddy_tls_config *config)
{
        struct eddy_tls_info info;
        char byte;

        rig->client_config = config;
        tls_rig_shake(rig);
        CHECK_EQ(rig->client_err, 0);
        CHECK_EQ(rig->server_err, 0);
        CHECK_EQ(eddy_stream_write(rig->server, "x", 1), 0);
        CHECK_EQ(eddy_stream_read(rig->client, &byte, 1), 1);
        CHECK_EQ(eddy_tls_info(rig->client, &info), 0);
        tls_rig_hang_up(rig);
        return info.is_resumed;
}

enum { CLIENTS = 7 };

static int differing_clients(void *arg)
{
        static const char *const hosts[] = { "localhost", "127.0.0.1" };
        struct tls_rig rig = { .server_opts = { .alpn = "a,b" } };
        struct eddy_tls_opts opts[CLIENTS];
        struct tls_files other;
        eddy_tls_config *configs[CLIENTS];
        char both[128];
        int rounds = 0;

        tls_files_make(&rig.files, NULL);
        tls_files_make(&other, NULL);
        snprintf(both, sizeof(both), "%s/both.pem", tls_folder());
        tls_shell("cat %s %s > %s", rig.files.cert, other.cert, both);
        tls_rig_open(&rig);
        for (int i = 0; i < CLIENTS; i++)
                opts[i] = (struct eddy_tls_opts){ .ca_file = rig.files.cert };
        opts[1].ca_file = both;
        opts[2].flags = EDDY_TLS_INSECURE;
        opts[3].alpn = "a";
        opts[4].alpn = "b";
        opts[5].cert_file = other.cert;
        opts[5].key_file = other.key;
        opts[6].version_min = EDDY_TLS_1_3;
        eddy_tls_config_close(rig.client_config);
        for (int i = 0; i < CLIENTS * CLIENTS * 2; i++) {
                int first = i % CLIENTS, second = i / CLIENTS % CLIENTS;

                if (first == second)
                        continue;
                rounds++;
                CHECK_EQ(eddy_tls_config_new(&opts[first], NULL, &configs[0]), 0);
                CHECK_EQ(eddy_tls_config_new(&opts[second], NULL, &configs[1]), 0);
                rig.host = hosts[i / CLIENTS / CLIENTS];
                CHECK(!visit(&rig, configs[0]));
                CHECK(!visit(&rig, configs[1]));
                CHECK(visit(&rig, configs[0]));
                rig.host = hosts[1 - i / CLIENTS / CLIENTS];
                CHECK(!visit(&rig, configs[0]));
                eddy_tls_config_close(configs[0]);
                eddy_tls_config_close(configs[1]);
        }
        printf("# %d rounds of two clients that differ, 4 handshakes each\n", rounds);
        rig.client_config = NULL;
        tls_rig_close(&rig);
        return 0;
}

/* S2 */
TEST(no_session_is_resumed_by_a_client_that_differs_in_an_option_or_the_host)
{
        io_run(differing_clients);
}

static int differing_routes(void *arg)
{
        static const char *const routes[] = { NULL, "443", "44", "443 http a:1", "443 http b:1" };
        size_t n = sizeof(routes) / sizeof(routes[0]);
        struct tls_rig rig = { .host = NULL };
        eddy_tls_config *config;

        tls_rig_open(&rig);
        eddy_tls_config_close(rig.client_config);
        for (size_t i = 0; i < n * n * 2; i++) {
                CHECK_EQ(eddy_tls_config_new(&rig.client_opts, NULL, &config), 0);
                if (i >= n * n) /* a session of TLS 1.2 is kept again */
                        SSL_CTX_set_max_proto_version(config->contexts->list[0], TLS1_2_VERSION);
                rig.route = routes[i % n];
                CHECK(!visit(&rig, config));
                rig.route = routes[i / n % n];
                CHECK_EQ(visit(&rig, config), i % n == i / n % n);
                CHECK(visit(&rig, config));
                rig.route = rig.route ? NULL : "";
                CHECK_EQ(visit(&rig, config), rig.route || i % n == 0);
                eddy_tls_config_close(config);
        }
        printf("# %zu rounds of two routes, 4 handshakes each\n", n * n * 2);
        rig.client_config = NULL;
        tls_rig_close(&rig);
        return 0;
}

/* S2 */
TEST(no_session_is_resumed_on_another_route)
{
        io_run(differing_routes);
}

static int differing_servers(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        eddy_tls_config *first, *second, *with_clients, *client;
        struct eddy_tls_opts opts;

        tls_rig_open(&rig);
        first = rig.server_config;
        client = rig.client_config;
        opts = rig.server_opts;
        CHECK_EQ(eddy_tls_config_new(&opts, NULL, &second), 0);
        CHECK(!visit(&rig, client));
        rig.server_config = second;
        CHECK(!visit(&rig, client));
        CHECK(visit(&rig, client));

        /* A server that requires certificates of clients gives no tickets. */
        opts.flags |= EDDY_TLS_VERIFY_CLIENT;
        opts.ca_file = rig.files.cert;
        CHECK_EQ(eddy_tls_config_new(&opts, NULL, &with_clients), 0);
        eddy_tls_config_close(client);
        rig.client_opts.cert_file = rig.files.cert;
        rig.client_opts.key_file = rig.files.key;
        CHECK_EQ(eddy_tls_config_new(&rig.client_opts, NULL, &client), 0);
        rig.server_config = with_clients;
        CHECK(!visit(&rig, client));
        CHECK(!visit(&rig, client));
        /* Nor does it take those of another server with the same certificate. */
        rig.server_config = first;
        CHECK(!visit(&rig, client));
        rig.server_config = with_clients;
        CHECK(!visit(&rig, client));

        CHECK_EQ(eddy_tls_config_reload(first, NULL), 0);
        rig.server_config = first;
        CHECK(!visit(&rig, client));
        eddy_tls_config_close(second);
        eddy_tls_config_close(with_clients);
        rig.client_config = client;
        tls_rig_close(&rig);
        return 0;
}

TEST(no_session_is_resumed_by_another_server)
{
        io_run(differing_servers);
}

/* -- after the handshake ------------------------------------------------------------- */

static int no_early_data(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        char byte;

        tls_rig_open(&rig);
        tls_rig_shake(&rig);
        CHECK_EQ(eddy_stream_write(rig.server, "x", 1), 0);
        CHECK_EQ(eddy_stream_read(rig.client, &byte, 1), 1);
        CHECK_EQ(SSL_SESSION_get_max_early_data(SSL_get0_session(ssl_of(rig.client))), 0);
        tls_rig_close(&rig);
        return 0;
}

TEST(a_server_offers_no_early_data)
{
        io_run(no_early_data);
}

static int renegotiation(void *arg)
{
        for (int by_server = 0; by_server < 2; by_server++) {
                struct tls_rig rig = { .host = NULL };
                eddy_stream *asks, *other;
                struct ed_tls *tls;
                char buf[8];

                tls_rig_open(&rig);
                SSL_CTX_set_max_proto_version(rig.client_config->contexts->list[0], TLS1_2_VERSION);
                tls_rig_shake(&rig);
                asks = by_server ? rig.server : rig.client;
                other = by_server ? rig.client : rig.server;
                tls = ed_container_of(asks, struct ed_tls, stream);
                SSL_clear_options(tls->ssl, SSL_OP_NO_RENEGOTIATION);
                CHECK_EQ(SSL_renegotiate(tls->ssl), 1);
                (void) SSL_do_handshake(tls->ssl);
                CHECK_EQ(ed_tls_out_flush(&tls->bio), 0);
                ERR_clear_error();
                io_settle();
                /* The other side refuses by a warning, and does not begin a handshake. */
                CHECK_EQ(eddy_stream_try_read(other, buf, sizeof(buf)), -EAGAIN);
                CHECK(!SSL_in_init(ssl_of(other)));
                CHECK_EQ(SSL_num_renegotiations(ssl_of(other)), 0);
                eddy_stream_abort(asks);
                *(by_server ? &rig.server : &rig.client) = NULL;
                tls_rig_close(&rig);
        }
        return 0;
}

/* S4 */
TEST(renegotiation_is_refused_by_both_sides)
{
        io_run(renegotiation);
}

static int later_certificate(void *arg)
{
        struct tls_rig rig = { .host = NULL };

        tls_files_make(&rig.files, NULL);
        rig.client_opts.cert_file = rig.files.cert;
        rig.client_opts.key_file = rig.files.key;
        tls_rig_open(&rig);
        tls_rig_shake(&rig);
        SSL_set_verify(ssl_of(rig.server), SSL_VERIFY_PEER, NULL);
        CHECK_EQ(SSL_verify_client_post_handshake(ssl_of(rig.server)), 0);
        CHECK_EQ(ERR_GET_REASON(ERR_peek_error()), SSL_R_EXTENSION_NOT_RECEIVED);
        ERR_clear_error();
        tls_rig_close(&rig);
        return 0;
}

TEST(a_client_offers_no_certificate_after_the_handshake)
{
        io_run(later_certificate);
}

/* -- errors of others ------------------------------------------------------------------ */

enum { ROUNDS_FEW = 2000, ROUNDS_FULL = 100000, BURST = 10 };

static int rounds(void)
{
        bool full = test_is_full();

        return full ? ROUNDS_FULL : ROUNDS_FEW;
}

static int healthy(void *arg)
{
        struct tls_rig *rig = arg;
        char buf[4];

        for (int i = 0, n = rounds(); i < n; i++) {
                CHECK_EQ(eddy_stream_write(rig->client, "ping", 4), 0);
                CHECK_EQ(eddy_sleep(0), 0);
                io_read_all(rig->server, buf, 4);
                CHECK_EQ(eddy_stream_try_read(rig->server, buf, 4), -EAGAIN);
                CHECK_EQ(eddy_sleep(0), 0);
        }
        return 0;
}

/* Connections that fail, in the handshake, while reading and while writing. */
static int failing(void *arg)
{
        struct tls_rig *rig = arg;

        for (int i = 0, n = rounds() / BURST; i < n; i++) {
                struct tls_rig one = *rig;
                eddy_stream *lower;
                char byte;

                one.lower = (struct io_pair){ 0 };
                one.host = i % 2 ? "other" : NULL;
                io_pair_open(&one.lower);
                lower = one.lower.b;
                tls_rig_shake(&one);
                if (one.client_err == 0) {
                        CHECK_EQ(eddy_stream_write(lower, "not a record", 12), 0);
                        CHECK_EQ(eddy_stream_read(one.server, &byte, 1), EDDY_E_TLS_PROTOCOL);
                        for (int j = 0; j < BURST; j++) {
                                ERR_raise(ERR_LIB_SYS, EIO); /* another library's, left behind */
                                CHECK_EQ(eddy_stream_try_read(one.server, &byte, 1),
                                         EDDY_E_TLS_PROTOCOL);
                                CHECK_EQ(eddy_sleep(0), 0);
                        }
                } else {
                        CHECK_EQ(one.client_err, EDDY_E_TLS_WRONG_HOST);
                }
                tls_rig_hang_up(&one);
                ERR_raise(ERR_LIB_SYS, EIO);
        }
        ERR_clear_error();
        return 0;
}

static int side_by_side(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        eddy_scope scope;

        tls_rig_open(&rig);
        tls_rig_shake(&rig);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, healthy, &rig);
        eddy_scope_start(&scope, failing, &rig);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_STR(eddy_tls_fault_text(rig.client), "");
        CHECK_STR(eddy_tls_fault_text(rig.server), "");
        printf("# %d rounds of a healthy connection beside %d that fail\n", rounds(),
               rounds() / BURST);
        tls_rig_close(&rig);
        return 0;
}

/* S5 */
TEST(failures_of_one_connection_do_not_reach_another)
{
        io_run(side_by_side);
}
