/*
 * digest_server.c - an https server for tests with other programs: POST /digest answers with the
 * SHA-256 of the body, and GET /bytes/N with N bytes, of which byte i is i % 251.
 *
 *     digest_server CERT KEY [CA]
 *
 * With CA, clients must have a certificate of it. The first line of output has the URL. It runs
 * until a signal.
 */
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/eddy.h"

enum { PIECE_BYTES = 251 * 256 };

struct files {
        const char *cert, *key, *ca;
};

static int answer_digest(eddy_http_exchange *exchange)
{
        static char piece[PIECE_BYTES];
        unsigned char digest[EVP_MAX_MD_SIZE];
        char text[2 * EVP_MAX_MD_SIZE + 2];
        unsigned bytes = 0;
        EVP_MD_CTX *context = EVP_MD_CTX_new();
        int64_t n;

        EVP_DigestInit_ex(context, EVP_sha256(), NULL);
        while ((n = eddy_http_exchange_read(exchange, piece, sizeof(piece))) > 0)
                EVP_DigestUpdate(context, piece, (size_t) n);
        EVP_DigestFinal_ex(context, digest, &bytes);
        EVP_MD_CTX_free(context);
        if (n < 0)
                return (int) n;
        for (unsigned i = 0; i < bytes; i++)
                snprintf(text + (size_t) i * 2, 3, "%02x", digest[i]);
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, text, (size_t) bytes * 2);
}

static int answer_bytes(eddy_http_exchange *exchange, int64_t bytes)
{
        static unsigned char piece[PIECE_BYTES];
        int err = eddy_http_exchange_begin(exchange, 200, NULL, 0, bytes);

        for (size_t i = 0; i < sizeof(piece); i++)
                piece[i] = (unsigned char) (i % 251);
        while (err == 0 && bytes > 0) {
                size_t n = bytes < PIECE_BYTES ? (size_t) bytes : PIECE_BYTES;

                err = eddy_http_exchange_write(exchange, piece, n);
                bytes -= (int64_t) n;
        }
        return err < 0 ? err : eddy_http_exchange_end(exchange);
}

static int answer(eddy_http_exchange *exchange, void *arg)
{
        const char *path = eddy_http_exchange_path(exchange);

        (void) arg;
        if (strcmp(path, "/digest") == 0)
                return answer_digest(exchange);
        if (strncmp(path, "/bytes/", 7) == 0)
                return answer_bytes(exchange, strtoll(path + 7, NULL, 10));
        return 0;
}

static int serve(void *arg)
{
        const struct files *files = arg;
        struct eddy_tls_opts tls = { .flags = EDDY_TLS_SERVER,
                                     .cert_file = files->cert,
                                     .key_file = files->key,
                                     .ca_file = files->ca };
        struct eddy_http_server_opts opts = { .body_bytes_max = UINT64_C(1) << 40 };
        struct eddy_tls_fault fault;
        eddy_listener *listener;
        int err;

        if (files->ca)
                tls.flags |= EDDY_TLS_VERIFY_CLIENT;
        err = eddy_tls_config_new(&tls, &fault, &opts.tls);
        if (err < 0) {
                fprintf(stderr, "digest_server: %s\n", fault.text);
                return err;
        }
        err = eddy_tcp_listen("127.0.0.1", 0, NULL, &listener);
        if (err == 0) {
                printf("listening on https://localhost:%u\n", eddy_listener_port(listener));
                fflush(stdout);
                err = eddy_http_serve(listener, &opts, answer, NULL);
                eddy_listener_close(listener);
        }
        eddy_tls_config_close(opts.tls);
        return err;
}

int main(int argc, char **argv)
{
        struct files files;

        if (argc < 3) {
                fprintf(stderr, "Usage: digest_server CERT KEY [CA]\n");
                return 2;
        }
        files = (struct files){ argv[1], argv[2], argc > 3 ? argv[3] : NULL };
        return eddy_run(serve, &files, NULL) < 0;
}
