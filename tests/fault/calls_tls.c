/*
 * calls_tls.c - the worlds of TLS; see every_call.h.
 */
#include "every_call.h"

#include <stdio.h>
#include <unistd.h>

#include "certificate.h"

static struct {
        char file[CERTIFICATE_PATH_BYTES];
        eddy_tls_config *client_config, *server_config;
        eddy_stream *client, *server; /* the streams below, then those of TLS */
} tls;

static struct eddy_tls_opts server_opts(void)
{
        return (struct eddy_tls_opts){ .flags = EDDY_TLS_SERVER, .cert_file = tls.file };
}

static struct eddy_tls_opts client_opts(void)
{
        return (struct eddy_tls_opts){ .ca_file = tls.file };
}

/* One file has the certificate and its key. */
static void file_make(void)
{
        memset(&tls, 0, sizeof(tls));
        certificate_write(tls.file);
}

/* --- configurations --- */

static int make_config(void *arg)
{
        struct eddy_tls_opts opts = server_opts();
        eddy_tls_config *config = NULL;
        int err = eddy_tls_config_new(&opts, NULL, &config);

        (void) arg;
        CHECK_EQ(err == 0, config != NULL);
        eddy_tls_config_close(config);
        return err;
}

static int add_config(void *arg)
{
        return eddy_tls_config_add(arg, tls.file, NULL, NULL);
}

static int reload_config(void *arg)
{
        return eddy_tls_config_reload(arg, NULL);
}

static int make_certificate(void *arg)
{
        char cert[96], key[96];
        int err;

        (void) arg;
        snprintf(cert, sizeof(cert), "%s.cert", tls.file);
        snprintf(key, sizeof(key), "%s.key", tls.file);
        err = eddy_tls_make_certificate("localhost", EDDY_SEC(60), cert, key);
        CHECK_EQ(unlink(cert) == 0, err == 0);
        CHECK_EQ(unlink(key) == 0, err == 0);
        return err;
}

static int config_victim(void *arg)
{
        eddy_task_fn *const calls[] = { make_config, add_config, reload_config, make_certificate };

        for (int i = 0; i < 4; i++) {
                int err = victim_call(calls[i], arg);

                CHECK(err == 0 || err == -ECANCELED);
        }
        return 0;
}

static int world_tls_config_new(void *arg)
{
        struct eddy_tls_opts opts;

        (void) arg;
        file_make();
        opts = server_opts();
        CHECK_EQ(eddy_tls_config_new(&opts, NULL, &tls.server_config), 0);
        world_begin(4);
        world_run(config_victim, tls.server_config, 1);
        eddy_tls_config_close(tls.server_config);
        unlink(tls.file);
        return 0;
}
EVERY_POINT_TLS(tls_config_new, eddy_tls_config_new)
ALSO(tls_config_new, eddy_tls_config_add)
ALSO(tls_config_new, eddy_tls_config_reload)
ALSO(tls_config_new, eddy_tls_make_certificate)

/* --- handshakes --- */

static void pair_begin(void)
{
        struct eddy_tls_opts server = server_opts(), client;
        eddy_listener *listener;

        file_make();
        server = server_opts();
        client = client_opts();
        CHECK_EQ(eddy_tls_config_new(&server, NULL, &tls.server_config), 0);
        CHECK_EQ(eddy_tls_config_new(&client, NULL, &tls.client_config), 0);
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", eddy_listener_port(listener), NULL, &tls.client), 0);
        CHECK_EQ(eddy_listener_accept(listener, &tls.server), 0);
        eddy_listener_close(listener);
}

static void pair_end(void)
{
        eddy_stream_close(tls.client);
        eddy_stream_close(tls.server);
        eddy_tls_config_close(tls.client_config);
        eddy_tls_config_close(tls.server_config);
        unlink(tls.file);
}

/* One end: its handshake, and its stream. */
struct end {
        eddy_task_fn *shake;
        eddy_stream **stream;
};

static int client_shake(void *arg)
{
        (void) arg;
        return eddy_tls_client(tls.client, tls.client_config, "localhost", NULL, &tls.client);
}

static int server_shake(void *arg)
{
        (void) arg;
        return eddy_tls_server(tls.server, tls.server_config, NULL, &tls.server);
}

static const struct end client_end = { client_shake, &tls.client };
static const struct end server_end = { server_shake, &tls.server };

/* After a cancel the stream below is the caller's. */
static int shake_victim(void *arg)
{
        const struct end *end = arg;
        int err = victim_call(end->shake, NULL);

        CHECK(err == 0 || err == -ECANCELED);
        if (err < 0) {
                eddy_stream_close(*end->stream);
                *end->stream = NULL;
        }
        return 0;
}

/* The other end, which is not cancelled, gets an error if the victim was. */
static int shake_other(void *arg)
{
        const struct end *end = arg;
        int err = end->shake(NULL);

        CHECK(err == 0 || victims_cancelled() > 0);
        return 0;
}

static int run_pair(const struct end *victim, const struct end *other)
{
        eddy_scope scope;

        pair_begin();
        world_begin(1);
        eddy_scope_begin(&scope, NULL);
        world_start(&scope, shake_victim, (void *) victim, 1);
        world_start(&scope, shake_other, (void *) other, 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        pair_end();
        return 0;
}

static int world_tls_client(void *arg)
{
        (void) arg;
        return run_pair(&client_end, &server_end);
}
EVERY_POINT_TLS(tls_client, eddy_tls_client)

static int world_tls_server(void *arg)
{
        (void) arg;
        return run_pair(&server_end, &client_end);
}
EVERY_POINT_TLS(tls_server, eddy_tls_server)
