/*
 * sys/poll/epoll.c - the table of the kernel, with epoll.
 *
 * Descriptors are registered once, edge-triggered, for both directions, those of other code for the
 * directions that are waited for. Closing a descriptor removes it from the set.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#ifdef ED_MSAN
#include <sanitizer/msan_interface.h>
#endif

#include "base/alloc.h"
#include "base/list.h"
#include "sys/above_stdio.h"
#include "sys/file/files.h"
#include "sys/file/notify.h"
#include "sys/libc.h"
#include "sys/poll/clock.h"
#include "sys/poll/signals.h"
#include "sys/poll/sleeper.h"
#include "sys/process/fork.h"
#include "sys/process/process.h"
#include "sys/process/zygote.h"
#include "sys/random_bytes.h"
#include "sys/socket/datagram.h"
#include "sys/socket/socket_file.h"
#include "sys/socket/sockets.h"
#include "sys/socket/unix_fds.h"
#include "sys/sys.h"
#include "sys/thread/worker_thread.h"

enum { NS_PER_MS = 1000000, NS_PER_S = 1000000000 };

struct epoll_sys {
        struct ed_sys sys;
        int epoll_fd;
        struct ed_sleeper sleeper;
        bool watches; /* has or had descriptors in the set, so the loop sleeps there */
        struct ed_workers workers;
        unsigned signals_seen;
        int timer_fd;   /* of pollable(); -1: not requested yet */
        unsigned forks; /* ed_sys_forks() when the table was made */
        bool coarse;    /* epoll_pwait2(2) is missing or forbidden: milliseconds only */
};

static struct epoll_sys *self(struct ed_sys *sys)
{
        return ed_container_of(sys, struct epoll_sys, sys);
}

static void epoll_free(struct ed_sys *sys)
{
        struct epoll_sys *s = self(sys);

        ed_workers_fini(&s->workers);
        if (s->timer_fd >= 0)
                close(s->timer_fd);
        ed_sleeper_fini(&s->sleeper);
        close(s->epoll_fd);
        ed_free(s);
}

static void epoll_wake(struct ed_sys *sys)
{
        if (!ed_sys_forked_since(self(sys)->forks))
                ed_sleeper_wake(&self(sys)->sleeper);
}

/*
 * ThreadSanitizer does not intercept epoll_pwait2(2): the handler of a signal that arrives just
 * before the call would be delayed until the call returns. The call itself therefore unblocks the
 * signals.
 */
#ifdef ED_TSAN
static const sigset_t *signals_hold(sigset_t *ret_former)
{
        sigset_t all;

        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, ret_former);
        return ret_former;
}

static void signals_let_in(const sigset_t *former)
{
        int saved = errno;

        pthread_sigmask(SIG_SETMASK, former, NULL);
        errno = saved;
}
#else
static inline const sigset_t *signals_hold(sigset_t *ret_former)
{
        (void) ret_former;
        return NULL;
}

static inline void signals_let_in(const sigset_t *former)
{
        (void) former;
}
#endif

static int epoll_wait_ns(struct epoll_sys *s, struct epoll_event *events, int max,
                         int64_t timeout_ns)
{
        struct timespec ts;
        sigset_t former;
        int n;

        if (timeout_ns <= 0)
                return epoll_wait(s->epoll_fd, events, max, timeout_ns == 0 ? 0 : -1);
        if (!s->coarse) {
                ts.tv_sec = timeout_ns / NS_PER_S;
                ts.tv_nsec = timeout_ns % NS_PER_S;
                n = epoll_pwait2(s->epoll_fd, events, max, &ts, signals_hold(&former));
                signals_let_in(&former);
#ifdef ED_MSAN
                /* MemorySanitizer does not intercept epoll_pwait2(2). */
                __msan_unpoison(events, n > 0 ? (size_t) n * sizeof(*events) : 0);
#endif
                if (n >= 0 || (errno != ENOSYS && errno != EPERM))
                        return n;
                s->coarse = true;
        }
        if (timeout_ns > (int64_t) INT32_MAX * NS_PER_MS)
                timeout_ns = (int64_t) INT32_MAX * NS_PER_MS;
        return epoll_wait(s->epoll_fd, events, max,
                          (int) ((timeout_ns + NS_PER_MS - 1) / NS_PER_MS));
}

static unsigned events_of(uint32_t bits)
{
        unsigned events = 0;

        if (bits & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
                events |= ED_EVENT_READ;
        if (bits & (EPOLLOUT | EPOLLHUP | EPOLLERR))
                events |= ED_EVENT_WRITE;
        if (bits & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
                events |= ED_EVENT_END;
        if (bits & EPOLLPRI)
                events |= ED_EVENT_URGENT;
        if (bits & (EPOLLHUP | EPOLLERR))
                events |= ED_EVENT_HANGUP;
        return events;
}

/* Sleep in epoll if the set may have descriptors, else in the futex. */
static int sleep_ns(struct epoll_sys *s, struct epoll_event *events, int max, int64_t timeout_ns)
{
        int n = 0;

        if (timeout_ns != 0 &&
            !ed_sleeper_begin(&s->sleeper, s->watches ? ED_SLEEP_POLLER : ED_SLEEP_FUTEX))
                timeout_ns = 0;
        if (s->watches)
                n = epoll_wait_ns(s, events, max, timeout_ns);
        else if (timeout_ns != 0)
                ed_sleeper_sleep(&s->sleeper, timeout_ns);
        ed_sleeper_end(&s->sleeper);
        return n;
}

static int epoll_poll(struct ed_sys *sys, int64_t timeout_ns, struct ed_event *events, int max)
{
        struct epoll_event raw[ED_EVENTS_MAX];
        struct epoll_sys *s = self(sys);
        int limit = max < ED_EVENTS_MAX ? max : ED_EVENTS_MAX, n, count = 0;

        /* Leave room for finished jobs, however many descriptors are ready. */
        if (ed_workers_have_done(&s->workers) || ed_signals_have_come(s->signals_seen)) {
                timeout_ns = 0;
                limit = (limit + 1) / 2;
        }
        n = sleep_ns(s, raw, limit, timeout_ns);
        for (int i = 0; i < n; i++) {
                if (!raw[i].data.ptr || raw[i].data.ptr == &s->timer_fd)
                        continue;
                events[count].target = raw[i].data.ptr;
                events[count].events = events_of(raw[i].events);
                count++;
        }
        count += ed_workers_collect(&s->workers, events + count, max - count);
        return count + ed_signals_collect(sys, &s->signals_seen, events + count, max - count);
}

static void epoll_alarm(struct ed_sys *sys, int64_t at_ns)
{
        struct itimerspec at = { .it_value = { .tv_sec = 0 } };
        struct epoll_sys *s = self(sys);

        if (s->timer_fd < 0)
                return;
        /* All zero would disarm the timer. */
        if (at_ns >= 0) {
                at.it_value.tv_sec = at_ns / NS_PER_S;
                at.it_value.tv_nsec = at_ns > 0 ? at_ns % NS_PER_S : 1;
        }
        (void) timerfd_settime(s->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

static int epoll_pollable(struct ed_sys *sys)
{
        /* The event has no target; it only makes the epoll descriptor readable. Edge-triggered. */
        struct epoll_event event = { .events = EPOLLIN | EPOLLET };
        struct epoll_sys *s = self(sys);
        int err;

        if (s->timer_fd >= 0)
                return s->epoll_fd;
        err = ed_fd_above_stdio(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
        if (err < 0)
                return err;
        s->timer_fd = err;
        event.data.ptr = &s->timer_fd;
        if (epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->timer_fd, &event) < 0) {
                err = -errno;
                close(s->timer_fd);
                s->timer_fd = -1;
                return err;
        }
        s->watches = true;
        ed_sleeper_share(&s->sleeper);
        /* Work may have been started before. */
        epoll_alarm(sys, 0);
        return s->epoll_fd;
}

/* 'operation': EPOLL_CTL_ADD or EPOLL_CTL_MOD. */
static int epoll_set(struct ed_sys *sys, int operation, int fd, uint32_t bits,
                     struct ed_target *target)
{
        struct epoll_event event = { .events = bits | EPOLLET };

        event.data.ptr = target;
        self(sys)->watches = true;
        return epoll_ctl(self(sys)->epoll_fd, operation, fd, &event) < 0 ? -errno : 0;
}

static int epoll_watch(struct ed_sys *sys, int fd, struct ed_target *target)
{
        return epoll_set(sys, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLRDHUP,
                         target);
}

static void epoll_unwatch(struct ed_sys *sys, int fd)
{
        /* After fork() the child shares the parent's epoll set, so leave the set unchanged. */
        if (ed_sys_forked_since(self(sys)->forks))
                return;
        (void) epoll_ctl(self(sys)->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

static uint32_t bits_of(unsigned events)
{
        return (events & ED_EVENT_READ ? EPOLLIN | EPOLLRDHUP : 0) |
               (events & ED_EVENT_WRITE ? EPOLLOUT : 0);
}

/*
 * The number of a descriptor that other code owns may be closed and used again while the set still
 * has the file; then EPOLL_CTL_DEL by number does not remove the file. A duplicate has a number that
 * no other code closes.
 */
static int epoll_watch_foreign(struct ed_sys *sys, int fd, unsigned events,
                               struct ed_target *target)
{
        int own = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), err;

        if (own < 0)
                return -errno;
        err = epoll_set(sys, EPOLL_CTL_ADD, own, bits_of(events), target);
        if (err < 0)
                close(own);
        return err < 0 ? err : own;
}

static int epoll_rewatch_foreign(struct ed_sys *sys, int watched, unsigned events,
                                 struct ed_target *target)
{
        return epoll_set(sys, EPOLL_CTL_MOD, watched, bits_of(events), target);
}

static void epoll_unwatch_foreign(struct ed_sys *sys, int watched, struct ed_target *target)
{
        (void) target;
        epoll_unwatch(sys, watched);
        close(watched);
}

/* Returns the events of poll(2), without a wait, or -errno. */
static int poll_now(int fd, short events)
{
        struct pollfd pfd = { .fd = fd, .events = events };
        int n;

        /* Repeat on EINTR: a signal interrupts even a poll(2) that does not wait. */
        do
                n = poll(&pfd, 1, 0);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return -errno;
        return n > 0 ? pfd.revents : 0;
}

static bool epoll_is_readable(struct ed_sys *sys, int fd)
{
        (void) sys;
        return poll_now(fd, POLLIN) != 0;
}

static bool epoll_is_writable(struct ed_sys *sys, int fd)
{
        (void) sys;
        return poll_now(fd, POLLOUT) != 0;
}

static int epoll_ready(struct ed_sys *sys, int fd, unsigned events)
{
        short wanted = (short) ((events & ED_EVENT_READ ? POLLIN : 0) |
                                (events & ED_EVENT_WRITE ? POLLOUT : 0));
        int found = fd < 0 ? POLLNVAL : poll_now(fd, wanted);

        (void) sys;
        if (found < 0)
                return found;
        if (found & POLLNVAL)
                return -EBADF;
        if (found & (POLLERR | POLLHUP))
                return (int) events;
        return (found & POLLIN ? ED_EVENT_READ : 0) | (found & POLLOUT ? ED_EVENT_WRITE : 0);
}

static void epoll_socket_file_remove(struct ed_sys *sys, const struct eddy_endpoint *at,
                                     const struct ed_socket_file *file)
{
        /* After fork() the file is the parent's. */
        if (file->inode && !ed_sys_forked_since(self(sys)->forks))
                ed_socket_file_remove(at, file);
}

static uint32_t epoll_cpu_count(struct ed_sys *sys)
{
        (void) sys;
        return ed_sys_cpu_count();
}

static int epoll_worker_new(struct ed_sys *sys, const char *name, struct ed_worker **ret_worker)
{
        return ed_worker_new(&self(sys)->workers, name, ret_worker);
}

static const struct ed_sys_poll poll_table = {
        .now = ed_clock_now,
        .time_of_day = ed_clock_time_of_day,
        .random = ed_random_bytes,
        .poll = epoll_poll,
        .wake = epoll_wake,
        .watch = epoll_watch,
        .unwatch = epoll_unwatch,
        .is_readable = epoll_is_readable,
        .is_writable = epoll_is_writable,
        .ready = epoll_ready,
        .watch_foreign = epoll_watch_foreign,
        .rewatch_foreign = epoll_rewatch_foreign,
        .unwatch_foreign = epoll_unwatch_foreign,
};

static const struct ed_sys_embed embed_table = {
        .pollable = epoll_pollable,
        .alarm = epoll_alarm,
};

static const struct ed_sys_socket socket_table = {
        .open = ed_sockets_open,
        .keepalive = ed_sockets_keepalive,
        .bind = ed_sockets_bind,
        .connect = ed_sockets_connect,
        .connect_result = ed_sockets_connect_result,
        .listen = ed_sockets_listen,
        .file_remove = epoll_socket_file_remove,
        .endpoint = ed_sockets_endpoint,
        .accept = ed_sockets_accept,
        .recv = ed_sockets_recv,
        .send = ed_sockets_send,
        .send_file = ed_sockets_send_file,
        .limit_unsent = ed_sockets_limit_unsent,
        .unsent = ed_sockets_unsent,
        .read = ed_sockets_read,
        .write = ed_sockets_write,
        .shutdown = ed_sockets_shutdown,
        .close = ed_sockets_close,
        .abort = ed_sockets_abort,
};

static const struct ed_sys_datagram datagram_table = {
        .bind_port = ed_datagram_bind,
        .option = ed_datagram_option,
        .option_value = ed_datagram_option_value,
        .group = ed_datagram_group,
        .send = ed_datagram_send,
        .recv = ed_datagram_recv,
        .error = ed_datagram_error,
};

static const struct ed_sys_unix_fds unix_fds_table = {
        .send = ed_unix_fds_send,
        .recv = ed_unix_fds_recv,
        .credentials = ed_unix_fds_credentials,
};

static const struct ed_sys_notify notify_table = {
        .open = ed_notify_open,
        .add = ed_notify_add,
        .remove = ed_notify_remove,
        .read = ed_notify_read,
};

static const struct ed_sys_file file_table = {
        .try_run = ed_file_try,
        .run = ed_file_run,
};

static const struct ed_sys_process process_table = {
        .start = ed_process_start,
        .end = ed_process_end,
        .signal = ed_process_signal,
};

static const struct ed_sys_zygote zygote_table = {
        .start = ed_zygote_start,
        .send = ed_worker_packet_send,
        .recv = ed_worker_packet_recv,
};

static const struct ed_sys_worker worker_table = {
        .cpu_count = epoll_cpu_count,
        .start = epoll_worker_new,
        .run = ed_worker_run,
        .end = ed_worker_free,
        .abandon = ed_worker_abandon,
};

static const struct ed_sys epoll_table = {
        .name = "epoll",
        .free = epoll_free,
        .poll = &poll_table,
        .embed = &embed_table,
        .socket = &socket_table,
        .datagram = &datagram_table,
        .unix_fds = &unix_fds_table,
        .notify = &notify_table,
        .file = &file_table,
        .process = &process_table,
        .zygote = &zygote_table,
        .worker = &worker_table,
        .clock_runs = true,
};

int ed_sys_epoll_new(struct ed_sys **ret_sys)
{
        struct epoll_event event = { .events = EPOLLIN | EPOLLET };
        struct epoll_sys *s;
        int err;

        s = ed_alloc_zero(sizeof(*s));
        if (!s)
                return -ENOMEM;
        s->sys = epoll_table;
#ifdef ED_TSAN
        s->watches = true; /* under TSan the futex would delay signal handlers */
#endif
        s->forks = ed_sys_forks();
        s->timer_fd = -1;
        s->epoll_fd = err = ed_fd_above_stdio(epoll_create1(EPOLL_CLOEXEC));
        if (err < 0)
                goto fail_free;
        err = ed_sleeper_init(&s->sleeper);
        if (err < 0)
                goto fail_close_epoll;
        /*
         * NULL is the target of the sleeper's descriptor. Edge-triggered, so that it need not be
         * read.
         */
        if (epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->sleeper.wake_fd, &event) < 0) {
                err = -errno;
                goto fail_fini_sleeper;
        }
        ed_workers_init(&s->workers, &s->sys);
        *ret_sys = &s->sys;
        return 0;

fail_fini_sleeper:
        ed_sleeper_fini(&s->sleeper);
fail_close_epoll:
        close(s->epoll_fd);
fail_free:
        ed_free(s);
        return err;
}
