/*
 * server_load.c - the client of the servers that `bench/run poller` and `bench/run server` measure.
 *
 *     server_load PORT PID CONNECTIONS MESSAGES [PATH]
 *
 * Sends 512 bytes on each connection, and again whenever they have returned, until MESSAGES have
 * returned after a tenth as many that do not count.  With PATH each message is a GET request, and
 * an answer is complete when it is as long as the first, whose end its Content-Length or its last
 * chunk shows; it must have status 200 and the same last byte.  Prints the time between, and the
 * CPU time of the server PID, all threads, by the kernel's count.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "bench.h"

enum { CONNECTIONS_MAX = 10000, MESSAGE = 512, ANSWER_MAX = 16384, EVENTS = 64 };

static struct connection {
        int fd;
        int missing; /* bytes of the answer that have not come */
} connections[CONNECTIONS_MAX];

static clockid_t server_clock;
static struct bench_span span;
static long messages, sent, returned, warm;
static int set;
static char message[MESSAGE];
static size_t message_bytes = MESSAGE;
static int answer_bytes = MESSAGE;
static char answer_last; /* the last byte of each answer */
static int is_http;

static void check(long result, const char *what)
{
        if (result < 0)
                bench_die(what, strerror(errno));
}

static void message_send(struct connection *c)
{
        if (sent == warm + messages)
                return;
        sent++;
        c->missing = answer_bytes;
        check(send(c->fd, message, message_bytes, MSG_NOSIGNAL) == (ssize_t) message_bytes ? 0 : -1,
              "send");
}

static void connect_one(struct connection *c, uint16_t port)
{
        struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port) };
        struct epoll_event event = { .events = EPOLLIN, .data.ptr = c };
        int one = 1;

        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        check(c->fd, "socket");
        check(connect(c->fd, (struct sockaddr *) &at, sizeof(at)), "connect");
        check(setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)), "TCP_NODELAY");
        check(epoll_ctl(set, EPOLL_CTL_ADD, c->fd, &event), "epoll_ctl");
}

/* Whether an answer is whole: all of its Content-Length is there, or the last chunk. */
static int answer_is_whole(const char *data, size_t bytes)
{
        static const char last[] = "\r\n0\r\n\r\n";
        const char *end = memmem(data, bytes, "\r\n\r\n", 4);
        const char *field = memmem(data, bytes, "Content-Length: ", 16);

        if (!end)
                return 0;
        if (field && field < end)
                return bytes == (size_t) (end + 4 - data) + strtoul(field + 16, NULL, 10);
        if (!memmem(data, (size_t) (end - data), "chunked", 7))
                bench_die("answer", "neither Content-Length nor chunks");
        return bytes >= sizeof(last) - 1 &&
               memcmp(data + bytes - (sizeof(last) - 1), last, sizeof(last) - 1) == 0;
}

static void answer_check_status(const char *data, int64_t bytes)
{
        if (bytes < 12 || memcmp(data, "HTTP/1.1 200", 12) != 0)
                bench_die("answer", "its status is not 200");
}

/* Build the request, and learn from a first answer how long all of them are. */
static void http_prepare(struct connection *c, const char *path, const char *port)
{
        static char data[ANSWER_MAX];
        int n = snprintf(message, sizeof(message), "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\n",
                         path, port);

        if (n >= MESSAGE)
                bench_die(path, "too long");
        is_http = 1;
        message_bytes = (size_t) n;
        check(send(c->fd, message, message_bytes, MSG_NOSIGNAL), "send");
        answer_bytes = 0;
        do {
                ssize_t got =
                        recv(c->fd, data + answer_bytes, (size_t) (ANSWER_MAX - answer_bytes), 0);

                if (got <= 0)
                        bench_die("recv", "no whole answer");
                answer_bytes += (int) got;
        } while (!answer_is_whole(data, (size_t) answer_bytes));
        answer_check_status(data, answer_bytes);
        answer_last = data[answer_bytes - 1];
}

static void bytes_returned(struct connection *c)
{
        char buf[ANSWER_MAX];
        ssize_t n = recv(c->fd, buf, sizeof(buf), 0);

        if (n <= 0 || n > c->missing)
                bench_die("recv", "the server does not answer as at first");
        if (is_http && c->missing == answer_bytes)
                answer_check_status(buf, n);
        c->missing -= (int) n;
        if (c->missing > 0)
                return;
        if (buf[n - 1] != answer_last)
                bench_die("recv", "an answer ends otherwise than the first");
        returned++;
        if (returned == warm) {
                span.wall_ns = bench_wall_ns();
                span.cpu_ns = bench_clock_ns(server_clock);
        }
        message_send(c);
}

int main(int argc, char **argv)
{
        struct epoll_event events[EVENTS];
        long n;
        int err;

        if (argc < 5 || argc > 6)
                bench_die("usage", "server_load PORT PID CONNECTIONS MESSAGES [PATH]");
        err = clock_getcpuclockid((pid_t) bench_count(argv[2], INT32_MAX), &server_clock);
        if (err != 0)
                bench_die("clock_getcpuclockid", strerror(err));
        n = bench_count(argv[3], CONNECTIONS_MAX);
        messages = bench_count(argv[4], 2000000000);
        warm = messages / 10 > n ? messages / 10 : n;
        set = epoll_create1(EPOLL_CLOEXEC);
        check(set, "epoll_create1");
        for (long i = 0; i < n; i++)
                connect_one(&connections[i], (uint16_t) bench_count(argv[1], UINT16_MAX));
        if (argc == 6)
                http_prepare(&connections[0], argv[5], argv[1]);
        for (long i = 0; i < n; i++)
                message_send(&connections[i]);
        while (returned < warm + messages) {
                int ready = epoll_wait(set, events, EVENTS, -1);

                for (int i = 0; i < ready; i++)
                        bytes_returned(events[i].data.ptr);
        }
        span.wall_ns = bench_wall_ns() - span.wall_ns;
        span.cpu_ns = bench_clock_ns(server_clock) - span.cpu_ns;
        printf("{\"ops\": %ld, \"all\": %ld, \"server_cpu_ns\": %lld, \"wall_ns\": %lld}\n",
               messages, returned + is_http, (long long) span.cpu_ns, (long long) span.wall_ns);
        return 0;
}
