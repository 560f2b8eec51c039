/*
 * 105-epoll-host - eddy inside a program that has an epoll loop: a request, while the program's own timer,
 * lines and signals continue.
 *
 * The program makes a loop of eddy's and adds its descriptor to its own epoll set.  When the
 * descriptor is readable, a step runs the tasks that are ready and returns.  All of this is on
 * one thread, so tasks and the program may use the same data without locks.
 *
 * A signal cancels the request.  When its task has ended, the loop is closed in steps too, so
 * the program never waits for eddy.
 *
 * Run: echo hello | 105-epoll-host $MOCK/delay/1
 * Time: wall 1 s
 * Output:
 *     line: hello
 *     status 200
 *     the timer went on: yes
 * Run: echo hello | 105-epoll-host http://127.0.0.1:1/ 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     ...
 *     105-epoll-host: http://127.0.0.1:1/: Connection refused
 *     ...
 * Run: timeout --foreground --preserve-status -s INT 1 105-epoll-host $MOCK/delay/9 2>&1
 * Exit: 130
 * Time: wall 1 s
 * Output:
 *     105-epoll-host: $MOCK/delay/9: stopped by Ctrl-C
 *     the timer went on: yes
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "eddy/eddy.h"

enum source { EDDY, TIMER, LINES, SIGNALS };

struct fetch {
        const char *url;
        int status;
        eddy_remote *task;
};

struct host {
        int epoll_fd, timer_fd, signal_fd;
        int ticks;
        int result; /* of the request */
        bool is_closed;
        eddy_loop *loop;
        struct fetch fetch;
};

/* --- a task of eddy's --- */

static int fetch_url(void *arg)
{
        struct eddy_http_client_opts opts = { .timeouts = { .total_ns = EDDY_SEC(20) } };
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct fetch *fetch = arg;
        struct eddy_http_request request = { .url = fetch->url };
        int err = eddy_http_client_new(&opts, &client);

        if (err == 0)
                err = eddy_http_client_send(client, &request, &response);
        if (err == 0)
                fetch->status = eddy_http_response_status(response);
        return err;
}

/* --- the program's loop --- */

static int watch(struct host *host, int fd, enum source source)
{
        struct epoll_event event = { .events = EPOLLIN, .data.u32 = source };

        return epoll_ctl(host->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static int on_timer(struct host *host)
{
        uint64_t times;

        if (read(host->timer_fd, &times, sizeof(times)) == sizeof(times))
                host->ticks += (int) times;
        return 0;
}

static int on_lines(struct host *host)
{
        char text[256];
        ssize_t n = read(STDIN_FILENO, text, sizeof(text));

        if (n > 0)
                printf("line: %.*s", (int) n, text);
        else
                epoll_ctl(host->epoll_fd, EPOLL_CTL_DEL, STDIN_FILENO, NULL);
        return 0;
}

static int on_signal(struct host *host)
{
        struct signalfd_siginfo info;

        if (read(host->signal_fd, &info, sizeof(info)) == sizeof(info))
                eddy_remote_cancel(host->fetch.task);
        return 0;
}

/* Runs the tasks that are ready.  After the last one, closes the loop. */
static int on_eddy(struct host *host)
{
        int err = eddy_loop_step(host->loop);

        if (err < 0 || !eddy_remote_is_done(host->fetch.task))
                return err;
        err = eddy_loop_try_close(host->loop);
        if (err == -EAGAIN)
                return 0;
        host->is_closed = true;
        return err < 0 ? err : eddy_remote_wait(host->fetch.task, &host->result);
}

static int serve(struct host *host)
{
        static int (*const handlers[])(struct host *) = {
                [EDDY] = on_eddy, [TIMER] = on_timer, [LINES] = on_lines, [SIGNALS] = on_signal
        };
        struct epoll_event events[8];
        int err = 0;

        while (err >= 0 && !host->is_closed) {
                int n = epoll_wait(host->epoll_fd, events, 8, -1);

                for (int i = 0; i < n && err >= 0; i++)
                        err = handlers[events[i].data.u32](host);
                if (n < 0 && errno != EINTR)
                        err = -errno;
        }
        return err;
}

static int host_open(struct host *host)
{
        struct itimerspec each_50_ms = { { 0, 50000000 }, { 0, 50000000 } };
        sigset_t stops;
        int err;

        sigemptyset(&stops);
        sigaddset(&stops, SIGINT);
        sigaddset(&stops, SIGTERM);
        sigprocmask(SIG_BLOCK, &stops, NULL);
        host->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        host->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
        host->signal_fd = signalfd(-1, &stops, SFD_CLOEXEC);
        if (timerfd_settime(host->timer_fd, 0, &each_50_ms, NULL) < 0)
                return -errno;
        err = watch(host, host->timer_fd, TIMER);
        if (err == 0)
                err = watch(host, host->signal_fd, SIGNALS);
        if (err == 0)
                err = watch(host, STDIN_FILENO, LINES);
        return err == -EPERM ? 0 : err; /* stdin is a file, which epoll does not watch */
}

/* Makes the loop, adds its descriptor to the program's own, and starts the request. */
static int eddy_begin(struct host *host)
{
        int err = eddy_loop_new(NULL, &host->loop), fd;

        if (err < 0)
                return err;
        fd = eddy_loop_fd(host->loop);
        err = fd < 0 ? fd : watch(host, fd, EDDY);
        if (err < 0)
                return err;
        return eddy_loop_start_threadsafe(host->loop, fetch_url, &host->fetch, &host->fetch.task);
}

static int report(const struct host *host, int err)
{
        if (err == 0)
                printf("status %d\n", host->fetch.status);
        else
                fprintf(stderr, "105-epoll-host: %s: %s\n", host->fetch.url,
                        err == -ECANCELED ? "stopped by Ctrl-C" : eddy_error_text(err));
        printf("the timer went on: %s\n", host->ticks > 0 ? "yes" : "no");
        return err == -ECANCELED ? 130 : err < 0;
}

int main(int argc, char **argv)
{
        struct host host = { .fetch.url = argc == 2 ? argv[1] : NULL };
        int err;

        if (!host.fetch.url) {
                fputs("usage: 105-epoll-host URL\n", stderr);
                return 1;
        }
        setlinebuf(stdout);
        err = host_open(&host);
        if (err == 0)
                err = eddy_begin(&host);
        if (err == 0)
                err = serve(&host);
        if (!host.is_closed)
                eddy_loop_close(host.loop); /* after a failure of the program's own */
        err = report(&host, err < 0 ? err : host.result);
        eddy_remote_release(host.fetch.task);
        close(host.signal_fd);
        close(host.timer_fd);
        close(host.epoll_fd);
        return err;
}
