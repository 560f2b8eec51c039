/*
 * io_test.c - see io_test.h.
 */
#include "io_test.h"

#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "starve.h"

static struct io_tables own;
static int (*real_poll)(struct ed_sys *sys, int64_t timeout_ns, struct ed_event *events, int max);
static int64_t clock_ns;

struct main_call {
        eddy_task_fn *fn;
};

static int main_task(void *arg)
{
        int err = ((struct main_call *) arg)->fn(NULL);

        CHECK_EQ(ed_loop_current->waits, 0);
        CHECK_EQ(ed_loop_current->timers.count, ed_loop_current->quiet_timers);
        return err;
}

int io_open_fds(void)
{
        DIR *dir = opendir("/proc/self/fd");
        int n = 0;

        CHECK(dir);
        while (readdir(dir))
                n++;
        closedir(dir);
        return n;
}

bool io_has_ipv6(void)
{
        struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_addr = in6addr_loopback };
        int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
        bool has = fd >= 0 && bind(fd, (struct sockaddr *) &address, sizeof(address)) == 0;

        if (fd >= 0)
                close(fd);
        return has;
}

void io_run(eddy_task_fn *fn)
{
        struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_SIGNALS | EDDY_RUN_NO_WATCHDOG };
        struct main_call call = { fn };
        const struct timespec pause = { .tv_nsec = 5000000 };
        int fds = io_open_fds(), result = eddy_run(main_task, &call, &opts);

        CHECK_STR(result ? eddy_error_name(result) : "0", "0");
        /* A call that was left to its thread may end after the run. */
        for (int i = 0; i < 2000 && io_open_fds() > fds; i++)
                clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
        CHECK_EQ(io_open_fds(), fds);
}

static eddy_task_fn *waiting_fn;

static int run_and_wait(void *arg)
{
        int err = waiting_fn(arg);

        for (int i = 0; ed_loop_current->waits > 0 && i < 6000; i++)
                CHECK_EQ(eddy_sleep(EDDY_MS(5)), 0);
        return err;
}

void io_run_and_wait(eddy_task_fn *fn)
{
        waiting_fn = fn;
        io_run(run_and_wait);
}

struct io_tables *io_tables(void)
{
        struct ed_sys *sys = ed_loop_current->sys;

        if (sys->poll != &own.poll) {
                own = (struct io_tables){ .poll = *sys->poll,
                                          .socket = *sys->socket,
                                          .datagram = *sys->datagram,
                                          .file = *sys->file,
                                          .worker = *sys->worker };
                sys->poll = &own.poll;
                sys->socket = &own.socket;
                sys->datagram = &own.datagram;
                sys->file = &own.file;
                sys->worker = &own.worker;
                if (sys->zygote) {
                        own.zygote = *sys->zygote;
                        sys->zygote = &own.zygote;
                }
        }
        return &own;
}

/* -- a clock that this process cannot be late for ---------------------------- */

static int64_t clock_now(struct ed_sys *sys)
{
        (void) sys;
        return clock_ns;
}

/* Waits as long as it is to, and only then has that time passed. */
static int clock_poll(struct ed_sys *sys, int64_t timeout_ns, struct ed_event *events, int max)
{
        int64_t begun_ns = ed_sys_now();
        int n = real_poll(sys, timeout_ns, events, max);

        if (n == 0 && timeout_ns > 0 && ed_sys_now() - begun_ns >= timeout_ns)
                clock_ns += timeout_ns;
        return n;
}

void io_clock_advance(int64_t ns)
{
        struct ed_sys_poll *poll = &io_tables()->poll;

        if (poll->now != clock_now) {
                real_poll = poll->poll;
                clock_ns = eddy_now();
                poll->now = clock_now;
                poll->poll = clock_poll;
                ed_loop_current->sys->clock_runs = false;
        }
        clock_ns += ns;
}

void io_pair_open(struct io_pair *pair)
{
        eddy_listener *listener;

        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", eddy_listener_port(listener), NULL, &pair->a), 0);
        CHECK_EQ(eddy_listener_accept(listener, &pair->b), 0);
        eddy_listener_close(listener);
}

void io_pair_close(struct io_pair *pair)
{
        eddy_stream_close(pair->a);
        eddy_stream_close(pair->b);
}

void io_read_all(eddy_stream *stream, void *buf, size_t bytes)
{
        char *at = buf;

        while (bytes > 0) {
                int64_t n = eddy_stream_read(stream, at, bytes);

                CHECK(n > 0);
                at += n;
                bytes -= (size_t) n;
        }
}

void io_settle(void)
{
        for (int i = 0; i < 5; i++)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
}

/* -- allocations that fail -------------------------------------------------- */

void io_fail_allocations(int n)
{
        allocations_left = n;
        eddy_alloc_set(n < 0 ? NULL : starve, NULL);
}
