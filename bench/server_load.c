/*
 * server_load.c - the client of the servers that `bench/run` measures: poller, server and sizing.
 *
 *     server_load [OPTIONS] PORT PID CONNECTIONS MESSAGES [PATH]
 *
 * Sends 512 bytes on each connection, and again whenever they have returned, until MESSAGES have
 * returned after a tenth as many that do not count.  With PATH each message is a GET request, and
 * an answer is complete when it is as long as the first, whose end its Content-Length or its last
 * chunk shows; it must have status 200 and the same last byte.  Prints the time between, and the
 * CPU time of the server PID, all threads, by the kernel's count.
 *
 *     --routes N   "%03d" in PATH is 0 to N - 1, in turn
 *     --tls CERT   TLS 1.3, AES-256-GCM and X25519; the server's certificate is CERT
 *     --rate R     a request is due R times a second, whether the earlier ones have returned or
 *                  not, on the connection that has waited longest.  It waits if there is none
 *     --latency    also prints latencies: from when a request was due (--rate) or sent
 *     --seconds S  sends for at most S seconds, also if fewer than MESSAGES have returned then
 *     --idle S     also prints the server's memory S seconds after the last answer
 *     --volume     MESSAGES are MiB of answers, and a tenth as many do not count.  The last answers are
 *                  not read to their ends
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <sys/epoll.h>

#include "floor_tls.h"
#include "load_answer.h"
#include "load_latency.h"

enum { CONNECTIONS_MAX = 20000, ROUTES_MAX = 1000, MESSAGE = 512, EVENTS = 64 };

struct connection {
        int fd;
        int missing; /* bytes of the answer that have not come */
        SSL *ssl;    /* NULL: plain */
        int64_t due_ns;
        struct connection *next; /* that waits for a request to be due */
};

static struct {
        long count, routes, idle_s, seconds;
        double rate; /* 0: as fast as answers come */
        int wants_latency, is_volume;
        const char *cert, *path;
        pid_t pid;
} options;

static struct connection connections[CONNECTIONS_MAX];
static struct connection *waiting_first, **waiting_last = &waiting_first;
static struct {
        char bytes[MESSAGE];
        size_t count;
} requests[ROUTES_MAX];

static clockid_t server_clock;
static struct bench_span span;
static struct load_latencies latencies;
static struct load_answer answer = { .bytes = MESSAGE };
static long messages, sent, returned, warm, asked;
static int64_t volume;   /* bytes of answers */
static int64_t begin_ns; /* when the first request is due, with a rate */
static int set;

static void check(long result, const char *what)
{
        if (result < 0)
                bench_die(what, strerror(errno));
}

static void bytes_send(struct connection *c, const void *data, size_t bytes)
{
        size_t n = 0;

        if (c->ssl && SSL_write_ex(c->ssl, data, bytes, &n) != 1)
                floor_ssl_die("SSL_write");
        if (!c->ssl)
                check(send(c->fd, data, bytes, MSG_NOSIGNAL) == (ssize_t) bytes ? 0 : -1, "send");
}

static void message_send(struct connection *c, int64_t due_ns)
{
        long route = sent++ % options.routes;

        c->missing = answer.bytes;
        c->due_ns = due_ns;
        bytes_send(c, requests[route].bytes, requests[route].count);
}

/* The connection has nothing to do: it sends at once, or waits until a request is due. */
static void connection_free(struct connection *c)
{
        if (options.rate > 0) {
                c->next = NULL;
                *waiting_last = c;
                waiting_last = &c->next;
        } else if (options.is_volume || sent < warm + messages) {
                message_send(c, options.wants_latency ? bench_wall_ns() : 0);
        }
}

/* Send the requests that are due, as far as there are connections for them. */
static void due_send(void)
{
        int64_t now_ns = bench_wall_ns();

        while (waiting_first && sent < warm + messages) {
                int64_t due_ns = begin_ns + (int64_t) ((double) sent * 1e9 / options.rate);
                struct connection *c = waiting_first;

                if (due_ns > now_ns)
                        return;
                waiting_first = c->next;
                if (!waiting_first)
                        waiting_last = &waiting_first;
                message_send(c, due_ns);
        }
}

static SSL_CTX *tls_context_new(const char *cert)
{
        SSL_CTX *context;

        setenv("SSL_CERT_FILE", cert, 1);
        context = floor_client_context_new();
        if (SSL_CTX_set_ciphersuites(context, "TLS_AES_256_GCM_SHA384") != 1 ||
            SSL_CTX_set1_groups_list(context, "X25519") != 1)
                floor_ssl_die("the cipher");
        return context;
}

static void connect_one(struct connection *c, uint16_t port, SSL_CTX *tls)
{
        struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port) };
        struct epoll_event event = { .events = EPOLLIN, .data.ptr = c };

        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        c->fd = floor_tcp_connect(&at);
        check(epoll_ctl(set, EPOLL_CTL_ADD, c->fd, &event), "epoll_ctl");
        if (!tls)
                return;
        c->ssl = floor_client_new(tls, c->fd);
        if (SSL_do_handshake(c->ssl) != 1)
                floor_ssl_die("handshake");
        check(fcntl(c->fd, F_SETFL, O_NONBLOCK), "O_NONBLOCK");
}

/* Read once.  Returns 0 if there is nothing yet. */
static int bytes_read(struct connection *c, char *buf, size_t bytes)
{
        int64_t n = c->ssl ? floor_ssl_read(c->ssl, buf, bytes) : recv(c->fd, buf, bytes, 0);

        if (n == -EAGAIN && c->ssl)
                return 0;
        if (n <= 0)
                bench_die("recv", "the server does not answer as at first");
        return (int) n;
}

/* Learn from a first answer how long every answer is. */
static void first_answer_read(void)
{
        static char data[LOAD_READ_BYTES + 1];
        size_t bytes = 0, all = 0;

        bytes_send(&connections[0], requests[0].bytes, requests[0].count);
        while (all == 0 || bytes < all) {
                size_t at = all > 0 ? 0 : bytes; /* only the end of a long answer is kept */
                int n = bytes_read(&connections[0], data + at, LOAD_READ_BYTES - at);

                bytes += (size_t) n;
                data[at + (size_t) n] = '\0';
                if (n > 0)
                        answer.last = data[at + (size_t) n - 1];
                if (all > 0)
                        continue;
                all = load_answer_bytes(data, bytes);
                if (all > 0)
                        load_answer_check_status(data, (int64_t) bytes);
        }
        if (bytes > all || all > INT32_MAX)
                bench_die("answer", "longer than its Content-Length, or than 2 GiB");
        answer.bytes = (int) all;
}

/* Build the requests. */
static void http_prepare(const char *port)
{
        const char *number = strstr(options.path, "%03d");
        int before = (int) (number ? number - options.path : (long) strlen(options.path));

        for (long i = 0; i < options.routes; i++) {
                char text[8] = "";
                int n;

                if (number)
                        snprintf(text, sizeof(text), "%03ld", i);
                n = snprintf(requests[i].bytes, MESSAGE,
                             "GET %.*s%s%s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\n", before,
                             options.path, text, number ? number + 4 : "", port);
                if (n >= MESSAGE)
                        bench_die(options.path, "too long");
                requests[i].count = (size_t) n;
        }
        first_answer_read();
        answer.is_http = 1;
        asked = 1;
}

static void progress(long now)
{
        if (returned < warm && now >= warm) {
                span.wall_ns = bench_wall_ns();
                span.cpu_ns = bench_clock_ns(server_clock);
        }
        returned = now;
}

static void answer_returned(struct connection *c)
{
        if (!options.is_volume)
                progress(returned + 1);
        if (options.wants_latency && returned > warm)
                load_latency_add(&latencies, bench_wall_ns() - c->due_ns);
        connection_free(c);
}

static void connection_ready(struct connection *c)
{
        static char buf[LOAD_READ_BYTES];

        do {
                int n = bytes_read(c, buf, sizeof(buf));

                if (n == 0)
                        return;
                if (n > c->missing)
                        bench_die("recv", "an answer is longer than the first");
                if (answer.is_http && c->missing == answer.bytes)
                        load_answer_check_status(buf, n);
                c->missing -= n;
                volume += n;
                if (options.is_volume)
                        progress((long) (volume >> 20));
                if (c->missing == 0 && buf[n - 1] != answer.last)
                        bench_die("recv", "an answer ends otherwise than the first");
        } while (c->missing > 0 && c->ssl && SSL_has_pending(c->ssl));
        if (c->missing == 0)
                answer_returned(c);
}

/* Send no more after the time for it: the messages that were sent are all. */
static void end_in_time(void)
{
        if (options.seconds == 0 || bench_wall_ns() < begin_ns + options.seconds * 1000000000)
                return;
        if (sent <= warm)
                bench_die("server", "too slow for any result in the time");
        options.seconds = 0;
        messages = sent - warm;
}

/* With a rate the loop does not sleep: a sleep would be longer than the time to the next request. */
static void run(void)
{
        struct epoll_event events[EVENTS];
        int timeout = options.rate > 0 ? 0 : -1;

        begin_ns = bench_wall_ns();
        for (long i = 0; i < options.count; i++)
                connection_free(&connections[i]);
        while (returned < warm + messages) {
                int ready;

                end_in_time();
                if (options.rate > 0)
                        due_send();
                ready = epoll_wait(set, events, EVENTS, timeout);
                for (int i = 0; i < ready; i++)
                        connection_ready(events[i].data.ptr);
        }
        span.wall_ns = bench_wall_ns() - span.wall_ns;
        span.cpu_ns = bench_clock_ns(server_clock) - span.cpu_ns;
}

static int options_read(int argc, char **argv)
{
        static const struct option names[] = {
                { "routes", required_argument, NULL, 'r' },
                { "tls", required_argument, NULL, 't' },
                { "rate", required_argument, NULL, 'R' },
                { "latency", no_argument, NULL, 'l' },
                { "idle", required_argument, NULL, 'i' },
                { "volume", no_argument, NULL, 'v' },
                { "seconds", required_argument, NULL, 's' },
                { NULL, 0, NULL, 0 },
        };
        int c;

        options.routes = 1;
        while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
                if (c == 'r')
                        options.routes = bench_count(optarg, ROUTES_MAX);
                else if (c == 't')
                        options.cert = optarg;
                else if (c == 'R')
                        options.rate = (double) bench_count(optarg, 1000000);
                else if (c == 'l')
                        options.wants_latency = 1;
                else if (c == 'v')
                        options.is_volume = 1;
                else if (c == 's')
                        options.seconds = bench_count(optarg, 3600);
                else if (c == 'i')
                        options.idle_s = bench_count(optarg, 60);
                else
                        exit(2);
        }
        return optind;
}

static void print(long kib_before)
{
        long kib = load_memory_kib(options.pid, "VmRSS:"), idle_kib = -1;

        if (options.idle_s > 0) {
                sleep((unsigned) options.idle_s);
                idle_kib = load_memory_kib(options.pid, "VmRSS:");
        }
        printf("{\"ops\": %ld, \"all\": %ld, \"server_cpu_ns\": %lld, \"wall_ns\": %lld, "
               "\"kib_before\": %ld, \"kib\": %ld, \"kib_peak\": %ld, \"kib_idle\": %ld",
               messages, returned + asked, (long long) span.cpu_ns, (long long) span.wall_ns,
               kib_before, kib, load_memory_kib(options.pid, "VmHWM:"), idle_kib);
        if (options.wants_latency)
                printf(", \"p50_ns\": %lld, \"p99_ns\": %lld, \"max_ns\": %lld",
                       (long long) load_latency_below(&latencies, 0.5),
                       (long long) load_latency_below(&latencies, 0.99),
                       (long long) latencies.max_ns);
        printf("}\n");
}

int main(int argc, char **argv)
{
        int first = options_read(argc, argv), err;
        SSL_CTX *tls = options.cert ? tls_context_new(options.cert) : NULL;
        uint16_t port;
        long kib;

        if (argc - first < 4 || argc - first > 5)
                bench_die("usage", "server_load [OPTIONS] PORT PID CONNECTIONS MESSAGES [PATH]");
        port = (uint16_t) bench_count(argv[first], UINT16_MAX);
        options.pid = (pid_t) bench_count(argv[first + 1], INT32_MAX);
        options.count = bench_count(argv[first + 2], CONNECTIONS_MAX);
        messages = bench_count(argv[first + 3], 2000000000);
        options.path = argv[first + 4];
        err = clock_getcpuclockid(options.pid, &server_clock);
        if (err != 0)
                bench_die("clock_getcpuclockid", strerror(err));
        warm = messages / 10 > options.count ? messages / 10 : options.count;
        requests[0].count = MESSAGE;
        set = epoll_create1(EPOLL_CLOEXEC);
        check(set, "epoll_create1");
        connect_one(&connections[0], port, tls);
        if (options.path)
                http_prepare(argv[first]);
        kib = load_memory_kib(options.pid, "VmRSS:");
        for (long i = 1; i < options.count; i++)
                connect_one(&connections[i], port, tls);
        run();
        print(kib);
        return 0;
}
