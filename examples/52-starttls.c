/*
 * 52-starttls - a line protocol that begins in plain text and goes on with TLS, client and
 * server in one program.
 *
 * Between the answer to STARTTLS and the handshake, the client refuses bytes that have
 * arrived already.  Otherwise the client would read text that an attacker injects there
 * as if the text had come through TLS (RFC 3207, section 6).  The server passes early
 * bytes to the handshake, where only TLS is accepted.  After the handshake each side
 * begins with an empty reader.
 *
 * Run: 52-starttls
 * Time: wall 0 s
 * Output:
 *     client: 250 hello over TLSv1.3
 *     client: refused 24 early bytes
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eddy/eddy.h"

static char cert[64], key[64];
static eddy_tls_config *server_config, *client_config;

/* --- both sides --- */

struct session {
        eddy_stream *stream; /* plain, then TLS */
        eddy_reader reader;
        char buf[512];
};

static void session_init(struct session *session, eddy_stream *stream)
{
        session->stream = stream;
        eddy_reader_init(&session->reader, stream, session->buf, sizeof(session->buf));
}

static int send_line(struct session *session, const char *line)
{
        return eddy_stream_write(session->stream, line, strlen(line));
}

/* Read a line that begins with 'start'. */
static int expect(struct session *session, const char *start, char **ret_line)
{
        size_t bytes;
        int64_t n = eddy_reader_line(&session->reader, ret_line, &bytes);

        if (n <= 0)
                return n < 0 ? (int) n : EDDY_E_STREAM_ENDED;
        return strncmp(*ret_line, start, strlen(start)) == 0 ? 0 : -EPROTO;
}

/* --- the server --- */

static int injects; /* send text after the answer, as an attacker in the middle would */

static int serve(void *arg)
{
        struct eddy_tls_conn_opts opts = { 0 };
        struct session session;
        const char *early;
        char *line;
        int err;

        session_init(&session, arg);
        err = expect(&session, "STARTTLS", &line);
        if (err == 0)
                err = send_line(&session, injects ? "220 go ahead\r\n250 hello from nowhere\r\n"
                                                  : "220 go ahead\r\n");
        if (err == 0) {
                opts.received_bytes = (size_t) eddy_reader_take(&session.reader, &early);
                opts.received = early;
                err = eddy_tls_server(session.stream, server_config, &opts, &session.stream);
        }
        if (err == 0) {
                session_init(&session, session.stream);
                err = expect(&session, "HELLO", &line);
        }
        if (err == 0)
                err = send_line(&session, "250 hello\r\n");
        eddy_stream_close(session.stream);
        return injects ? 0 : err; /* a client that refuses early bytes closes the stream */
}

/* --- the client --- */

static int start_tls(struct session *session)
{
        eddy_stream *secure;
        size_t early;
        char *line;
        int err = send_line(session, "STARTTLS\r\n");

        if (err == 0)
                err = expect(session, "220", &line);
        if (err < 0)
                return err;
        early = eddy_reader_buffered(&session->reader);
        if (early > 0) {
                printf("client: refused %d early bytes\n", (int) early);
                return -EPROTO;
        }
        err = eddy_tls_client(session->stream, client_config, "localhost", NULL, &secure);
        if (err == 0)
                session_init(session, secure);
        return err;
}

static int ask(struct session *session)
{
        static struct eddy_tls_info info; /* large for a stack */
        char *line;
        int err = start_tls(session);

        if (err == 0)
                err = send_line(session, "HELLO\r\n");
        if (err == 0)
                err = expect(session, "250", &line);
        if (err == 0)
                err = eddy_tls_info(session->stream, &info);
        if (err == 0)
                printf("client: %s over TLSv1.%d\n", line, info.version == EDDY_TLS_1_3 ? 3 : 2);
        return err;
}

static int talk(void)
{
        struct session session;
        eddy_stream *client, *server;
        eddy_scope scope;
        int err = eddy_stream_pair(NULL, &client, &server);

        if (err < 0)
                return err;
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_SEC(10) });
        if (eddy_scope_start(&scope, serve, server) < 0)
                eddy_stream_close(server); /* 'serve' does that otherwise */
        session_init(&session, client);
        err = ask(&session);
        eddy_stream_close(session.stream);
        if (injects && err == -EPROTO)
                err = 0;
        return eddy_scope_end_with(&scope, err);
}

/* --- the program --- */

static int app(void *folder)
{
        struct eddy_tls_opts server = { .flags = EDDY_TLS_SERVER,
                                        .cert_file = cert,
                                        .key_file = key };
        struct eddy_tls_opts client = { .ca_file = cert };
        int err;

        snprintf(cert, sizeof(cert), "%s/cert.pem", (char *) folder);
        snprintf(key, sizeof(key), "%s/key.pem", (char *) folder);
        err = eddy_tls_make_certificate("localhost", EDDY_SEC(3600), cert, key);
        if (err == 0)
                err = eddy_tls_config_new(&server, NULL, &server_config);
        if (err == 0)
                err = eddy_tls_config_new(&client, NULL, &client_config);
        for (injects = 0; err == 0 && injects < 2; injects++)
                err = talk();
        eddy_tls_config_close(client_config);
        eddy_tls_config_close(server_config);
        return err;
}

int main(void)
{
        char folder[] = "/tmp/starttls-XXXXXX";
        int err = mkdtemp(folder) ? eddy_run(app, folder, NULL) : -EIO;

        if (err < 0)
                fprintf(stderr, "%s\n", eddy_error_text(err));
        unlink(cert);
        unlink(key);
        rmdir(folder);
        return err < 0;
}
