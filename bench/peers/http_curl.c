/*
 * http_curl.c - libcurl's fastest face: multi_socket on our own epoll.
 *
 *     http_curl URL REQUESTS CONNECTIONS [FILE]
 *
 * As its documentation advises for many transfers: curl_multi_socket_action()
 * with an event loop instead of curl_multi_perform(), easy handles reused (so
 * options are set once and buffers stay), connections kept in the multi
 * handle's cache, which holds them all.  A descriptor that stays in the set
 * is modified, not removed and added.  With FILE a line for each response is
 * appended to it, one write for a turn of the loop.
 */
#include <curl/curl.h>
#include <errno.h>
#include <sys/epoll.h>

#include "../bench.h"
#include "../lines.h"

enum { EVENTS_MAX = 64, CONNECTIONS_MAX = 4096 };

/* The request that a handle has under way. */
struct transfer {
        long bytes;
        long index;
};

struct bench {
        CURLM *multi;
        int epoll;
        int running;
        int64_t timer_ns; /* when libcurl wants to be called, or -1 */
        long count;
        long sent;
        long body_bytes; /* of every body, learned from the first */
        struct bench_http_result result;
};

static struct bench_lines lines;

static size_t body_take(char *data, size_t size, size_t n, void *arg)
{
        struct transfer *transfer = arg;

        transfer->bytes += (long) (size * n);
        return size * n;
}

static int socket_watch(CURL *easy, curl_socket_t fd, int what, void *arg, void *known)
{
        struct bench *bench = arg;
        struct epoll_event event = { .data.fd = fd };

        (void) easy;
        if (what == CURL_POLL_REMOVE) {
                epoll_ctl(bench->epoll, EPOLL_CTL_DEL, fd, NULL);
                return 0;
        }
        if (what & CURL_POLL_IN)
                event.events |= EPOLLIN;
        if (what & CURL_POLL_OUT)
                event.events |= EPOLLOUT;
        if (epoll_ctl(bench->epoll, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event) < 0)
                bench_die("epoll_ctl", strerror(errno));
        if (!known)
                curl_multi_assign(bench->multi, fd, bench);
        return 0;
}

static int timer_set(CURLM *multi, long timeout_ms, void *arg)
{
        struct bench *bench = arg;

        (void) multi;
        bench->timer_ns = timeout_ms < 0 ? -1 : bench_wall_ns() + (int64_t) timeout_ms * 1000000;
        return 0;
}

/* The timeout for epoll_wait(): milliseconds until the timer, rounded up. */
static int timer_wait_ms(const struct bench *bench)
{
        int64_t left;

        if (bench->timer_ns < 0)
                return -1;
        left = bench->timer_ns - bench_wall_ns();
        return left <= 0 ? 0 : (int) ((left + 999999) / 1000000);
}

static void transfers_finish(struct bench *bench)
{
        CURLMsg *message;
        int left;

        while ((message = curl_multi_info_read(bench->multi, &left))) {
                CURL *easy = message->easy_handle;
                CURLcode code = message->data.result;
                long status = 0, connects = 0;
                curl_off_t elapsed_us = 0;
                struct transfer *transfer;

                if (message->msg != CURLMSG_DONE)
                        continue;
                curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
                curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &connects);
                curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **) &transfer);
                if (bench->result.ok == 0)
                        bench->body_bytes = transfer->bytes;
                bench->result.requests++;
                bench->result.connections += connects;
                if (code == CURLE_OK && status == 200 && transfer->bytes == bench->body_bytes)
                        bench->result.ok++;
                if (lines.fd >= 0) {
                        curl_easy_getinfo(easy, CURLINFO_TOTAL_TIME_T, &elapsed_us);
                        bench_line_add(&lines, transfer->index, transfer->bytes,
                                       (int64_t) elapsed_us * 1000);
                }
                transfer->bytes = 0;
                curl_multi_remove_handle(bench->multi, easy);
                if (bench->sent < bench->count) {
                        transfer->index = bench->sent++;
                        curl_multi_add_handle(bench->multi, easy);
                }
        }
        bench_lines_write(&lines);
}

static CURL *easy_new(const char *url, struct transfer *transfer)
{
        CURL *easy = curl_easy_init();

        if (!easy)
                bench_die("curl_easy_init", "failed");
        curl_easy_setopt(easy, CURLOPT_URL, url);
        curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long) CURL_HTTP_VERSION_1_1);
        curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
        curl_easy_setopt(easy, CURLOPT_CAINFO, getenv("SSL_CERT_FILE"));
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body_take);
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
        curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
        return easy;
}

static void loop_run(struct bench *bench)
{
        struct epoll_event events[EVENTS_MAX];

        while (bench->result.requests < bench->count) {
                int n = epoll_wait(bench->epoll, events, EVENTS_MAX, timer_wait_ms(bench));

                for (int i = 0; i < n; i++) {
                        int what = 0;

                        if (events[i].events & (EPOLLIN | EPOLLHUP))
                                what |= CURL_CSELECT_IN;
                        if (events[i].events & EPOLLOUT)
                                what |= CURL_CSELECT_OUT;
                        if (events[i].events & EPOLLERR)
                                what |= CURL_CSELECT_ERR;
                        curl_multi_socket_action(bench->multi, events[i].data.fd, what,
                                                 &bench->running);
                }
                if (bench->timer_ns >= 0 && bench_wall_ns() >= bench->timer_ns) {
                        bench->timer_ns = -1;
                        curl_multi_socket_action(bench->multi, CURL_SOCKET_TIMEOUT, 0,
                                                 &bench->running);
                }
                transfers_finish(bench);
        }
}

int main(int argc, char **argv)
{
        static struct transfer transfers[CONNECTIONS_MAX];
        struct bench bench = { .timer_ns = -1,
                               .result = { .rss_early_kib = -1, .rss_end_kib = -1 } };
        char name[64];
        long width;

        if (argc != 4 && argc != 5)
                bench_die("usage", "http_curl URL REQUESTS CONNECTIONS [FILE]");
        bench.count = bench_count(argv[2], 1000000000);
        width = bench_count(argv[3], CONNECTIONS_MAX);
        width = width < bench.count ? width : bench.count;
        curl_global_init(CURL_GLOBAL_DEFAULT);
        snprintf(name, sizeof(name), "libcurl %s", curl_version_info(CURLVERSION_NOW)->version);
        bench.result.client = name;

        bench_lines_open(&lines, argv[4], argv[1]);
        bench_span_begin(&bench.result.span);
        bench.epoll = epoll_create1(EPOLL_CLOEXEC);
        bench.multi = curl_multi_init();
        if (bench.epoll < 0 || !bench.multi)
                bench_die("set-up", "failed");
        curl_multi_setopt(bench.multi, CURLMOPT_SOCKETFUNCTION, socket_watch);
        curl_multi_setopt(bench.multi, CURLMOPT_SOCKETDATA, &bench);
        curl_multi_setopt(bench.multi, CURLMOPT_TIMERFUNCTION, timer_set);
        curl_multi_setopt(bench.multi, CURLMOPT_TIMERDATA, &bench);
        curl_multi_setopt(bench.multi, CURLMOPT_MAXCONNECTS, width);
        for (; bench.sent < width; bench.sent++) {
                transfers[bench.sent].index = bench.sent;
                curl_multi_add_handle(bench.multi, easy_new(argv[1], &transfers[bench.sent]));
        }
        loop_run(&bench);
        bench_lines_close(&lines);
        bench_span_end(&bench.result.span);
        bench_http_print(&bench.result);
        return 0;
}
