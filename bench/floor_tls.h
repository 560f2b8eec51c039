/*
 * floor_tls.h - what the floors of TLS share: OpenSSL on the socket itself.
 *
 * SSL_set_fd(), not measured against a BIO in memory, which would copy each record
 * once more.  With read_ahead a record is one system call and not two.  All trust the
 * certificates of SSL_CERT_FILE and verify address 127.0.0.1.
 */
#ifndef BENCH_FLOOR_TLS_H
#define BENCH_FLOOR_TLS_H

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include "bench.h"

__attribute__((noreturn)) static inline void floor_ssl_die(const char *what)
{
        const char *reason = ERR_reason_error_string(ERR_peek_last_error());

        bench_die(what, reason ? reason : "failed");
}

static inline SSL_CTX *floor_context_new(const SSL_METHOD *method)
{
        SSL_CTX *context = SSL_CTX_new(method);

        if (!context)
                floor_ssl_die("SSL_CTX_new");
        SSL_CTX_set_read_ahead(context, 1);
        SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
        return context;
}

static inline SSL_CTX *floor_client_context_new(void)
{
        SSL_CTX *context = floor_context_new(TLS_client_method());

        if (SSL_CTX_set_default_verify_paths(context) != 1)
                floor_ssl_die("trusted certificates");
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
        X509_VERIFY_PARAM_set1_ip_asc(SSL_CTX_get0_param(context), "127.0.0.1");
        return context;
}

static inline SSL *floor_client_new(SSL_CTX *context, int fd)
{
        SSL *ssl = SSL_new(context);

        if (!ssl || SSL_set_fd(ssl, fd) != 1)
                floor_ssl_die("SSL_new");
        SSL_set_connect_state(ssl);
        return ssl;
}

static inline int floor_tcp_connect(const struct sockaddr_in *address)
{
        int one = 1;
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        if (fd < 0 || connect(fd, (const struct sockaddr *) address, sizeof(*address)) < 0)
                bench_die("connect", strerror(errno));
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        return fd;
}

/* Read once.  Returns the number of bytes, 0 at the end, or -EAGAIN. */
static inline int64_t floor_ssl_read(SSL *ssl, void *buf, size_t bytes)
{
        size_t n;

        if (SSL_read_ex(ssl, buf, bytes, &n) == 1)
                return (int64_t) n;
        switch (SSL_get_error(ssl, 0)) {
        case SSL_ERROR_WANT_READ:
                return -EAGAIN;
        case SSL_ERROR_ZERO_RETURN:
                return 0;
        default:
                floor_ssl_die("SSL_read");
        }
}

#endif
