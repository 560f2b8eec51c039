/*
 * http_floor.c - the least that HTTP requests over many sockets can cost.
 *
 *     http_floor URL REQUESTS CONNECTIONS [FILE [BODY]]
 *
 * A level-triggered epoll loop: each socket is registered once, the request
 * is built once, nothing is allocated.  A response is checked as little as
 * one can: it starts with "HTTP/1.1 200" and has the length that its
 * Content-Length says; the length of head and body is learned from the first
 * response of the run and must stay the same.  The cost of a client library
 * above this is its own.  With FILE a line for each response is appended to
 * it, one write for a turn of the loop: the floor of a whole program.  With
 * BODY each request is a POST with the contents of that file, and each line has
 * the answer, which is not checked: the floor of `eddy batch`.  With https:
 * OpenSSL on each socket (floor_tls.h).
 */
#include <arpa/inet.h>
#include <sys/epoll.h>

#include "floor_tls.h"
#include "lines.h"

enum { CONNECTIONS_MAX = 4096, RESPONSE_MAX = 65536, REQUEST_MAX = 65536, EVENTS_MAX = 64 };

struct connection {
        int fd;
        SSL *ssl;   /* NULL: http */
        char *data; /* the buffer of all, or its own where answers are kept */
        size_t received;
        long index; /* of the request under way */
        int64_t start_ns;
};

static struct connection connections[CONNECTIONS_MAX];
static char buffer[RESPONSE_MAX];
static char request[REQUEST_MAX];
static size_t request_bytes;
static size_t response_bytes; /* of every response, learned from the first */
static size_t body_bytes;
static struct bench_lines lines;
static SSL_CTX *context; /* NULL: http */
static int keeps_answers;

static void connection_open(struct connection *connection, const struct sockaddr_in *address)
{
        connection->data = keeps_answers ? malloc(RESPONSE_MAX) : buffer;
        if (!connection->data)
                bench_die("malloc", "out of memory");
        connection->fd = floor_tcp_connect(address);
        if (!context)
                return;
        connection->ssl = floor_client_new(context, connection->fd);
        if (SSL_do_handshake(connection->ssl) != 1)
                floor_ssl_die("handshake");
        fcntl(connection->fd, F_SETFL, O_NONBLOCK);
}

static void request_send(struct connection *connection, long index, int64_t now_ns)
{
        connection->index = index;
        connection->start_ns = now_ns;
        if (connection->ssl) {
                if (SSL_write(connection->ssl, request, (int) request_bytes) <= 0)
                        floor_ssl_die("SSL_write");
        } else if (send(connection->fd, request, request_bytes, MSG_NOSIGNAL) !=
                   (ssize_t) request_bytes) {
                bench_die("send", strerror(errno));
        }
}

/* The length of head and body of the response that begins so, or 0: not yet known. */
static size_t response_length(const char *data, size_t bytes)
{
        const char *end = memmem(data, bytes, "\r\n\r\n", 4);
        const char *field = memmem(data, bytes, "Content-Length: ", 16);
        size_t length;

        if (!end || !field || field > end)
                return 0;
        body_bytes = strtoul(field + 16, NULL, 10);
        length = (size_t) (end + 4 - data) + body_bytes;
        if (keeps_answers && length > RESPONSE_MAX)
                bench_die("response", "too long to be kept");
        return length;
}

/* Where the next bytes go: after those before, if they are kept. */
static char *response_room(const struct connection *connection, size_t *ret_bytes)
{
        size_t kept = keeps_answers ? connection->received : 0;

        *ret_bytes = RESPONSE_MAX - kept;
        return connection->data + kept;
}

/* Take what is there; returns 1 when a response is complete and right. */
static int response_take(struct connection *connection, int64_t n)
{
        if (n <= 0)
                bench_die("recv", n < 0 ? strerror(errno) : "the server closed a connection");
        if (connection->received == 0 &&
            (n < 12 || memcmp(connection->data, "HTTP/1.1 200", 12) != 0))
                bench_die("response", "its status is not 200");
        if (!response_bytes && connection->received == 0)
                response_bytes = response_length(connection->data, (size_t) n);
        connection->received += (size_t) n;
        if (!response_bytes || connection->received < response_bytes)
                return 0;
        if (connection->received > response_bytes)
                bench_die("response", "longer than its Content-Length");
        connection->received = 0;
        return 1;
}

/* With TLS, epoll does not see what OpenSSL holds: read until nothing is left. */
static int response_receive(struct connection *connection)
{
        int is_complete = 0;
        size_t bytes;
        char *room = response_room(connection, &bytes);

        if (!connection->ssl)
                return response_take(connection, recv(connection->fd, room, bytes, 0));
        while (!is_complete) {
                int64_t n = floor_ssl_read(connection->ssl, room, bytes);

                if (n == -EAGAIN)
                        break;
                is_complete = response_take(connection, n);
                room = response_room(connection, &bytes);
        }
        return is_complete;
}

/* A GET, or a POST of what the file contains. */
static void request_build(const char *path, const char *host, unsigned port, const char *body_path)
{
        static char body[REQUEST_MAX - 1024];
        size_t bytes = 0;
        FILE *file;
        int n;

        if (!body_path) {
                n = snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: %s:%u\r\n\r\n",
                             path, host, port);
                request_bytes = (size_t) n;
                return;
        }
        file = fopen(body_path, "re");
        if (file) {
                bytes = fread(body, 1, sizeof(body), file);
                fclose(file);
        }
        if (bytes == 0 || bytes == sizeof(body))
                bench_die(body_path, "cannot be read, is empty or too long");
        n = snprintf(request, sizeof(request),
                     "POST %s HTTP/1.1\r\nHost: %s:%u\r\nContent-Type: application/json\r\n"
                     "Content-Length: %zu\r\n\r\n",
                     path, host, port, bytes);
        memcpy(request + n, body, bytes);
        request_bytes = (size_t) n + bytes;
}

/* http://ADDRESS:PORT/PATH or https, and nothing else. */
static void url_parse(const char *url, const char *body_path, struct sockaddr_in *ret_address)
{
        char host[64], path[256];
        unsigned port;

        if (strncmp(url, "https://", 8) == 0)
                context = floor_client_context_new();
        if (sscanf(url, context ? "https://%63[0-9.]:%u%255s" : "http://%63[0-9.]:%u%255s", host,
                   &port, path) != 3 ||
            port > 65535)
                bench_die(url, "expected http://ADDRESS:PORT/PATH");
        memset(ret_address, 0, sizeof(*ret_address));
        ret_address->sin_family = AF_INET;
        ret_address->sin_port = htons((uint16_t) port);
        if (inet_pton(AF_INET, host, &ret_address->sin_addr) != 1)
                bench_die(host, "not an address");
        request_build(path, host, port, body_path);
}

/* Add the line of a response to those of this turn. */
static void line_add(const struct connection *connection, int64_t now_ns)
{
        int64_t elapsed_ns = now_ns - connection->start_ns;
        struct bench_answer answer = {
                .index = connection->index,
                .body = connection->data + response_bytes - body_bytes,
                .body_bytes = body_bytes,
                .elapsed_ns = elapsed_ns,
        };

        if (keeps_answers)
                bench_answer_add(&lines, &answer);
        else if (lines.fd >= 0)
                bench_line_add(&lines, connection->index, (long) body_bytes, elapsed_ns);
}

int main(int argc, char **argv)
{
        struct bench_http_result result = { .client = "epoll floor",
                                            .rss_early_kib = -1,
                                            .rss_end_kib = -1 };
        struct epoll_event events[EVENTS_MAX];
        struct sockaddr_in address;
        long sent = 0, count, width;
        int epoll;

        if (argc < 4 || argc > 6)
                bench_die("usage", "http_floor URL REQUESTS CONNECTIONS [FILE [BODY]]");
        keeps_answers = argc == 6;
        count = bench_count(argv[2], 1000000000);
        width = bench_count(argv[3], CONNECTIONS_MAX);
        width = width < count ? width : count;

        bench_lines_open(&lines, argv[4], argv[1]);
        bench_span_begin(&result.span);
        url_parse(argv[1], keeps_answers ? argv[5] : NULL, &address);
        epoll = epoll_create1(EPOLL_CLOEXEC);
        if (epoll < 0)
                bench_die("epoll_create1", strerror(errno));
        for (; sent < width; sent++) {
                struct connection *connection = &connections[sent];
                struct epoll_event event = { .events = EPOLLIN, .data.ptr = connection };

                connection_open(connection, &address);
                if (epoll_ctl(epoll, EPOLL_CTL_ADD, connection->fd, &event) < 0)
                        bench_die("epoll_ctl", strerror(errno));
                request_send(connection, sent, lines.fd >= 0 ? bench_wall_ns() : 0);
        }
        while (result.ok < count) {
                int n = epoll_wait(epoll, events, EVENTS_MAX, -1);
                int64_t now_ns = lines.fd >= 0 ? bench_wall_ns() : 0;

                for (int i = 0; i < n; i++) {
                        struct connection *connection = events[i].data.ptr;

                        if (!response_receive(connection))
                                continue;
                        result.ok++;
                        line_add(connection, now_ns);
                        if (sent < count)
                                request_send(connection, sent++, now_ns);
                }
                bench_lines_write(&lines);
        }
        bench_lines_close(&lines);
        bench_span_end(&result.span);
        result.requests = result.ok;
        result.connections = width;
        bench_http_print(&result);
        return 0;
}
