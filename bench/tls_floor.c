/*
 * tls_floor.c - the least that TLS connections can cost: OpenSSL alone.
 *
 *     tls_floor full PORT HANDSHAKES WIDTH     connect, ask and close, WIDTH at once
 *     tls_floor resumed PORT HANDSHAKES WIDTH  the same, each session used once
 *     tls_floor serve CONNECTIONS CERT KEY     hold idle connections, and report memory
 *     tls_floor hold PORT CONNECTIONS          open them, and wait
 *
 * A level-triggered epoll loop.  The client asks for "/reused", which answers "r"
 * or "." and ends the connection; this brings the tickets too.
 */
#include <arpa/inet.h>
#include <sys/epoll.h>

#include "floor_tls.h"

enum { EVENTS_MAX = 64, SESSIONS_MAX = 256 };

static const char request[] = "GET /reused HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
static const char question[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n";

struct connection {
        int fd;
        char last; /* byte received */
        char asked;
        SSL *ssl;
};

static SSL_CTX *context;
static struct sockaddr_in address = { .sin_family = AF_INET };
static SSL_SESSION *sessions[SESSIONS_MAX];
static int sessions_count, epoll;
static long started, done, resumed;

static int session_keep(SSL *ssl, SSL_SESSION *session)
{
        (void) ssl;
        if (sessions_count == SESSIONS_MAX)
                return 0;
        sessions[sessions_count++] = session;
        return 1;
}

static void connection_watch(struct connection *connection)
{
        struct epoll_event event = { .events = EPOLLIN, .data.ptr = connection };

        if (fcntl(connection->fd, F_SETFL, O_NONBLOCK) < 0 ||
            epoll_ctl(epoll, EPOLL_CTL_ADD, connection->fd, &event) < 0)
                bench_die("epoll_ctl", strerror(errno));
}

/* Returns true when the handshake is over. */
static int handshake(struct connection *connection)
{
        int result = SSL_do_handshake(connection->ssl);

        if (result != 1 && SSL_get_error(connection->ssl, result) != SSL_ERROR_WANT_READ)
                floor_ssl_die("handshake");
        return result == 1;
}

static void message_send(SSL *ssl, const char *text)
{
        if (SSL_write(ssl, text, (int) strlen(text)) != (int) strlen(text))
                floor_ssl_die("SSL_write");
}

/* ---- handshakes ---------------------------------------------------------------- */

/*
 * Shake hands, and ask at the end of it.  Returns true when the request is sent.
 * A fast server answers so early that the first call already ends the handshake.
 */
static int client_ask(struct connection *connection)
{
        if (!connection->asked && handshake(connection)) {
                message_send(connection->ssl, request);
                connection->asked = 1;
        }
        return connection->asked;
}

static void client_start(struct connection *connection)
{
        started++;
        connection->asked = 0;
        connection->fd = floor_tcp_connect(&address);
        connection->ssl = floor_client_new(context, connection->fd);
        if (sessions_count > 0) {
                SSL_SESSION *session = sessions[--sessions_count];

                SSL_set_session(connection->ssl, session);
                SSL_SESSION_free(session);
        }
        connection_watch(connection);
        (void) client_ask(connection);
}

/* Returns true when the connection has ended. */
static int client_step(struct connection *connection)
{
        char buffer[4096];
        int64_t n;

        if (!client_ask(connection))
                return 0;
        while ((n = floor_ssl_read(connection->ssl, buffer, sizeof(buffer))) > 0)
                connection->last = buffer[n - 1];
        if (n == -EAGAIN)
                return 0;
        resumed += connection->last == 'r';
        done++;
        SSL_shutdown(connection->ssl);
        SSL_free(connection->ssl);
        close(connection->fd);
        return 1;
}

static void handshakes_run(long count, long width, int keep)
{
        struct connection connections[EVENTS_MAX];
        struct epoll_event events[EVENTS_MAX];
        struct bench_span span;

        bench_span_begin(&span);
        context = floor_client_context_new();
        if (keep) {
                SSL_CTX_set_session_cache_mode(context,
                                               SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
                SSL_CTX_sess_set_new_cb(context, session_keep);
        }
        for (long i = 0; i < width && started < count; i++)
                client_start(&connections[i]);
        while (done < count) {
                int n = epoll_wait(epoll, events, EVENTS_MAX, -1);

                for (int i = 0; i < n; i++)
                        if (client_step(events[i].data.ptr) && started < count)
                                client_start(events[i].data.ptr);
        }
        bench_span_end(&span);
        printf("{\"client\": \"%s\", \"ok\": %ld, \"resumed\": %ld, \"cpu_ns\": %lld, "
               "\"wall_ns\": %lld}\n",
               OpenSSL_version(OPENSSL_VERSION_STRING), done, resumed, (long long) span.cpu_ns,
               (long long) span.wall_ns);
}

/* ---- idle connections ---------------------------------------------------------- */

static void server_accept(int listener)
{
        struct connection *connection = calloc(1, sizeof(*connection));
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC), one = 1;

        if (!connection || fd < 0)
                bench_die("accept", strerror(errno));
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        connection->fd = fd;
        connection->ssl = SSL_new(context);
        if (!connection->ssl || SSL_set_fd(connection->ssl, fd) != 1)
                floor_ssl_die("SSL_new");
        SSL_set_accept_state(connection->ssl);
        connection_watch(connection);
}

static void server_step(struct connection *connection)
{
        char buffer[4096];

        if (!SSL_is_init_finished(connection->ssl) && !handshake(connection))
                return;
        if (floor_ssl_read(connection->ssl, buffer, sizeof(buffer)) <= 0)
                return;
        message_send(connection->ssl, answer);
        done++;
}

static int server_listen(void)
{
        struct epoll_event event = { .events = EPOLLIN };
        socklen_t bytes = sizeof(address);
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        if (fd < 0 || bind(fd, (struct sockaddr *) &address, sizeof(address)) < 0 ||
            listen(fd, 1024) < 0 || getsockname(fd, (struct sockaddr *) &address, &bytes) < 0 ||
            epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0)
                bench_die("listen", strerror(errno));
        return fd;
}

static void serve_run(long count, const char *cert, const char *key)
{
        struct epoll_event events[EVENTS_MAX];
        int listener = server_listen();
        long before;

        context = floor_context_new(TLS_server_method());
        SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
        if (SSL_CTX_use_certificate_chain_file(context, cert) != 1 ||
            SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1)
                floor_ssl_die("certificate");
        printf("%u\n", ntohs(address.sin_port));
        fflush(stdout);
        before = bench_memory_kib(1);
        while (done < count) {
                int n = epoll_wait(epoll, events, EVENTS_MAX, -1);

                for (int i = 0; i < n; i++)
                        if (events[i].data.ptr)
                                server_step(events[i].data.ptr);
                        else
                                server_accept(listener);
        }
        printf("{\"client\": \"%s\", \"ok\": %ld, \"kib\": %ld}\n",
               OpenSSL_version(OPENSSL_VERSION_STRING), done, bench_memory_kib(1) - before);
}

static void hold_run(long count)
{
        char buffer[4096];

        context = floor_client_context_new();
        SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
        for (long i = 0; i < count; i++) {
                SSL *ssl = floor_client_new(context, floor_tcp_connect(&address));

                message_send(ssl, question);
                if (floor_ssl_read(ssl, buffer, sizeof(buffer)) <= 0)
                        bench_die("hold", "the server closed a connection");
        }
        pause();
}

int main(int argc, char **argv)
{
        int serves = argc == 5 && strcmp(argv[1], "serve") == 0;
        int holds = argc == 4 && strcmp(argv[1], "hold") == 0;

        epoll = epoll_create1(EPOLL_CLOEXEC);
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
        if (serves) {
                serve_run(bench_count(argv[2], 1000000), argv[3], argv[4]);
                return 0;
        }
        if (argc != 5 && !holds)
                bench_die("usage", "tls_floor full|resumed|serve|hold ...");
        address.sin_port = htons((uint16_t) bench_count(argv[2], 65535));
        if (holds)
                hold_run(bench_count(argv[3], 1000000));
        else
                handshakes_run(bench_count(argv[3], 1000000), bench_count(argv[4], EVENTS_MAX),
                               strcmp(argv[1], "resumed") == 0);
        return 0;
}
