/*
 * poller_load.c - the client of the echo servers that `bench/run poller` measures.
 *
 *     poller_load PORT PID CONNECTIONS MESSAGES
 *
 * Sends 512 bytes on each connection, and again whenever they have returned, until MESSAGES have
 * returned after a tenth as many that do not count.  Prints the time between, and the CPU time of
 * the server PID, all threads, by the kernel's count.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "bench.h"

enum { CONNECTIONS_MAX = 10000, MESSAGE = 512, EVENTS = 64 };

static struct connection {
        int fd;
        int missing; /* bytes that have not returned */
} connections[CONNECTIONS_MAX];

static clockid_t server_clock;
static struct bench_span span;
static long messages, sent, returned, warm;
static int set;

static void check(long result, const char *what)
{
        if (result < 0)
                bench_die(what, strerror(errno));
}

static void message_send(struct connection *c)
{
        static const char message[MESSAGE];

        if (sent == warm + messages)
                return;
        sent++;
        c->missing = MESSAGE;
        check(send(c->fd, message, MESSAGE, MSG_NOSIGNAL) == MESSAGE ? 0 : -1, "send");
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

static void bytes_returned(struct connection *c)
{
        char buf[MESSAGE];
        ssize_t n = recv(c->fd, buf, sizeof(buf), 0);

        if (n <= 0 || n > c->missing)
                bench_die("recv", "the server does not echo");
        c->missing -= (int) n;
        if (c->missing > 0)
                return;
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

        if (argc != 5)
                bench_die("usage", "poller_load PORT PID CONNECTIONS MESSAGES");
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
               messages, returned, (long long) span.cpu_ns, (long long) span.wall_ns);
        return 0;
}
