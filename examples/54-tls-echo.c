/*
 * 54-tls-echo - a TLS server that sends back what it receives, and a client of it.
 *
 * The task of each connection also does the handshake, so a slow client does not delay
 * the others; a handshake may take ten seconds.  The server runs until its scope is
 * cancelled.  This program makes its own certificate; a real server has one from an
 * authority.
 *
 * Run: 54-tls-echo
 * Time: wall 0 s
 * Output:
 *     echo of 1: hello
 *     echo of 2: hello
 *     echo of 3: hello
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eddy/eddy.h"

static struct {
        char folder[32], cert_file[64], key_file[64];
        eddy_listener *listener;
        eddy_tls_config *server, *client;
} app;

/* ---- the server ------------------------------------------------------------------- */

static int secure(void *arg)
{
        eddy_stream **stream = arg;

        return eddy_tls_server(*stream, app.server, NULL, stream);
}

static int serve_one(eddy_stream *stream, void *arg)
{
        char buf[1024];
        int64_t n = eddy_call_timeout(secure, &stream, EDDY_SEC(10));

        (void) arg;
        while (n >= 0 && (n = eddy_stream_read(stream, buf, sizeof(buf))) > 0)
                n = eddy_stream_write(stream, buf, (size_t) n);
        eddy_stream_close(stream);
        return (int) n;
}

static int serve(void *arg)
{
        (void) arg;
        return eddy_serve(app.listener, NULL, serve_one, NULL);
}

/* ---- the client ------------------------------------------------------------------- */

static int ask(int number)
{
        EDDY_AUTO(eddy_stream) eddy_stream *stream = NULL;
        char text[] = "hello", echo[sizeof(text)] = "";
        size_t bytes = 0;
        int64_t n = eddy_tcp_connect("127.0.0.1", eddy_listener_port(app.listener), NULL, &stream);

        if (n == 0)
                n = eddy_tls_client(stream, app.client, "localhost", NULL, &stream);
        if (n == 0)
                n = eddy_stream_write(stream, text, strlen(text));
        while (n >= 0 && bytes < strlen(text)) {
                n = eddy_stream_read(stream, echo + bytes, strlen(text) - bytes);
                if (n <= 0)
                        return n < 0 ? (int) n : -EPIPE;
                bytes += (size_t) n;
        }
        if (n < 0)
                return (int) n;
        printf("echo of %d: %s\n", number, echo);
        return 0;
}

/* ---- both ------------------------------------------------------------------------- */

static int open_both(void)
{
        struct eddy_tls_opts server = { .flags = EDDY_TLS_SERVER };
        struct eddy_tls_opts client = { .ca_file = app.cert_file };
        int err = eddy_tls_make_certificate("localhost", EDDY_SEC(86400), app.cert_file,
                                            app.key_file);

        server.cert_file = app.cert_file;
        server.key_file = app.key_file;
        if (err == 0)
                err = eddy_tls_config_new(&server, NULL, &app.server);
        if (err == 0)
                err = eddy_tls_config_new(&client, NULL, &app.client);
        return err < 0 ? err : eddy_tcp_listen("127.0.0.1", 0, NULL, &app.listener);
}

static int run(void *arg)
{
        int err = open_both();

        (void) arg;
        if (err == 0) {
                EDDY_SCOPE (scope, &err) {
                        eddy_scope_start(&scope, serve, NULL);
                        for (int i = 1; i <= 3 && err == 0; i++)
                                err = ask(i);
                        eddy_scope_cancel(&scope);
                }
        }
        eddy_listener_close(app.listener);
        eddy_tls_config_close(app.server);
        eddy_tls_config_close(app.client);
        return err;
}

int main(void)
{
        int err;

        snprintf(app.folder, sizeof(app.folder), "/tmp/eddy-example-XXXXXX");
        if (!mkdtemp(app.folder))
                return 1;
        snprintf(app.cert_file, sizeof(app.cert_file), "%s/cert.pem", app.folder);
        snprintf(app.key_file, sizeof(app.key_file), "%s/key.pem", app.folder);
        err = eddy_run(run, NULL, NULL);
        unlink(app.cert_file);
        unlink(app.key_file);
        rmdir(app.folder);
        if (err < 0)
                fprintf(stderr, "%s\n", eddy_error_text(err));
        return err == 0 ? 0 : 1;
}
