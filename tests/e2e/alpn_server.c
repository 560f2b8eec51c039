/*
 * alpn_server.c - a TLS server that chooses a protocol whether or not the client offers it, and then
 * answers one request, whatever it is, by HTTP/1.1.
 *
 *     alpn_server CERT KEY 1.2|1.3 PROTOCOL
 *
 * The first line of output has the URL.
 */
#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";

static int choose(SSL *ssl, const unsigned char **ret_name, unsigned char *ret_bytes,
                  const unsigned char *offered, unsigned offered_bytes, void *arg)
{
        (void) ssl;
        (void) offered;
        (void) offered_bytes;
        *ret_name = arg;
        *ret_bytes = (unsigned char) strlen(arg);
        return SSL_TLSEXT_ERR_OK;
}

static SSL_CTX *context_new(char **argv)
{
        SSL_CTX *context = SSL_CTX_new(TLS_server_method());
        int version = strcmp(argv[3], "1.2") == 0 ? TLS1_2_VERSION : TLS1_3_VERSION;

        if (!context || SSL_CTX_use_certificate_chain_file(context, argv[1]) != 1 ||
            SSL_CTX_use_PrivateKey_file(context, argv[2], SSL_FILETYPE_PEM) != 1 ||
            SSL_CTX_set_min_proto_version(context, version) != 1 ||
            SSL_CTX_set_max_proto_version(context, version) != 1)
                return NULL;
        SSL_CTX_set_alpn_select_cb(context, choose, argv[4]);
        return context;
}

/* Returns a socket that listens on 127.0.0.1, and prints its URL; or -1. */
static int listen_here(void)
{
        struct sockaddr_in address = { .sin_family = AF_INET };
        socklen_t bytes = sizeof(address);
        int fd = socket(AF_INET, SOCK_STREAM, 0);

        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (bind(fd, (struct sockaddr *) &address, bytes) < 0 || listen(fd, 5) < 0 ||
            getsockname(fd, (struct sockaddr *) &address, &bytes) < 0)
                return -1;
        printf("listening on https://localhost:%u\n", ntohs(address.sin_port));
        fflush(stdout);
        return fd;
}

int main(int argc, char **argv)
{
        SSL_CTX *context = argc == 5 ? context_new(argv) : NULL;
        int listener = context ? listen_here() : -1;
        char request[4096];

        while (listener >= 0) {
                int fd = accept(listener, NULL, NULL);
                SSL *ssl = SSL_new(context);

                if (SSL_set_fd(ssl, fd) == 1 && SSL_accept(ssl) == 1 &&
                    SSL_read(ssl, request, sizeof(request)) > 0) {
                        (void) SSL_write(ssl, answer, sizeof(answer) - 1);
                        (void) SSL_shutdown(ssl);
                }
                SSL_free(ssl);
                close(fd);
        }
        return 1;
}
