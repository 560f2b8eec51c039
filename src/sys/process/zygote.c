/*
 * sys/process/zygote.c - the process that starts the workers of process pools, and orders to it.
 *
 * The zygote ends with its parent: it watches the parent's pidfd, because children of the program
 * may hold copies of the socket. Workers are killed by the zygote when the parent has shut down or
 * closed its end of their socket, and by the kernel when the zygote ends.
 */
#include "sys/process/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eddy/error.h"
#include "sys/libc.h"

#if __has_include(<sys/single_threaded.h>) && !defined(__SANITIZE_THREAD__)
#include <sys/single_threaded.h>
/* ThreadSanitizer has a thread of its own. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define __libc_single_threaded true
#endif
#endif
#else
#define __libc_single_threaded true
#endif

/* --- in the zygote --- */

/* A worker. */
struct entry {
        pid_t pid;
        int fd;
        bool is_killed;
};

enum { ORDER_WAIT_MS = 1000, END_WAIT_MS = 200 };

/* In the list of descriptors that are watched. */
enum { CONTROL, PARENT, WORKERS };

struct zygote {
        sigset_t signals;         /* the mask of main, for workers */
        sigset_t waiting;         /* the mask of the zygote while it waits */
        struct rlimit open_files; /* the limit of main, for workers */
        int spare;                /* its number is for the descriptor of the next order */
        int workers_count;
        struct entry workers[ED_ZYGOTE_WORKERS_MAX];
        struct pollfd fds[WORKERS + ED_ZYGOTE_WORKERS_MAX]; /* workers as above; -1: not watched */
};

static const struct ed_worker_packet_part no_part = { .data = NULL };
static struct ed_sys without_waits;

static void on_child(int signo)
{
        (void) signo; /* it only ends the wait */
}

/*
 * Ctrl-C and requests to end reach the whole group; the parent decides what they mean, and workers
 * ignore them. The zygote receives no signal but SIGCHLD, and that only while it waits.
 */
static void set_signals(struct zygote *zygote)
{
        static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
        struct sigaction ignore = { .sa_handler = SIG_IGN }, child = { .sa_handler = on_child };
        for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
                (void) sigaction(ignored[i], &ignore, NULL);
        (void) sigaction(SIGCHLD, &child, NULL);
        sigfillset(&zygote->waiting);
        (void) sigprocmask(SIG_SETMASK, &zygote->waiting, &zygote->signals);
        sigdelset(&zygote->waiting, SIGCHLD);
        sigdelset(&zygote->signals, SIGCHLD);
}

static struct entry *find(struct zygote *zygote, pid_t pid)
{
        for (int i = 0; i < zygote->workers_count; i++)
                if (zygote->workers[i].pid == pid)
                        return &zygote->workers[i];
        return NULL;
}

/*
 * The parent may have left packets unread, so never wait for room: the end of the stream suffices.
 * The shutdown ends it although a child of the worker may have a copy of the socket.
 */
static void report(int fd, enum ed_worker_packet_kind kind, int result, uint32_t flags)
{
        struct ed_worker_packet packet = { .kind = kind, .result = result, .flags = flags };

        (void) ed_worker_packet_send(&without_waits, fd, &packet, &no_part);
        (void) shutdown(fd, SHUT_RDWR);
        (void) close(fd);
}

static void collect(struct zygote *zygote)
{
        int status, pid;

        while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
                struct entry *entry = find(zygote, pid);
                int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
                uint32_t flags = WIFSIGNALED(status) ? (uint32_t) WTERMSIG(status) : 0;

                if (WIFSIGNALED(status) && WCOREDUMP(status))
                        flags |= ED_WORKER_PACKET_CORE;
                if (!entry)
                        continue;
                report(entry->fd, ED_WORKER_PACKET_ENDED, code, flags);
                *entry = zygote->workers[--zygote->workers_count];
        }
}

/* In the new process. */
static void become_worker(struct zygote *zygote, pid_t parent, int fd, uint64_t memory_bytes_max)
{
        struct sigaction child = { .sa_handler = SIG_DFL };

        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
                _exit(0);
        (void) close(zygote->fds[CONTROL].fd);
        (void) close(zygote->fds[PARENT].fd);
        (void) close(zygote->spare);
        for (int i = 0; i < zygote->workers_count; i++)
                (void) close(zygote->workers[i].fd);
        (void) sigaction(SIGCHLD, &child, NULL);
        (void) sigprocmask(SIG_SETMASK, &zygote->signals, NULL);
        (void) setrlimit(RLIMIT_NOFILE, &zygote->open_files);
        ed_worker_process_run(fd, memory_bytes_max);
}

static void start(struct zygote *zygote, const struct ed_worker_packet *order, int fd)
{
        pid_t parent = getpid(), pid;

        if (zygote->workers_count == ED_ZYGOTE_WORKERS_MAX) {
                report(fd, ED_WORKER_PACKET_FAILED, -EAGAIN, 0);
                return;
        }
        pid = fork();
        if (pid == 0)
                become_worker(zygote, parent, fd, order->room);
        if (pid < 0)
                report(fd, ED_WORKER_PACKET_FAILED, -errno, 0);
        else
                zygote->workers[zygote->workers_count++] = (struct entry){ pid, fd, false };
}

/* Kill those whose socket was shut down. A worker that was not collected has its number. */
static void kill_workers(struct zygote *zygote)
{
        for (int i = 0; i < zygote->workers_count; i++) {
                struct entry *entry = &zygote->workers[i];

                if (!zygote->fds[WORKERS + i].revents)
                        continue;
                (void) kill(entry->pid, SIGKILL);
                entry->is_killed = true;
        }
}

/* Errors: -EMFILE, -ENFILE. */
static int spare_take(struct zygote *zygote)
{
        zygote->spare = fcntl(zygote->fds[CONTROL].fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        return zygote->spare < 0 ? -errno : 0;
}

/* Returns false if the parent has closed its end. */
static bool obey(struct zygote *zygote)
{
        struct ed_worker_packet order;
        struct ed_worker_packet_fds fds;
        int64_t n;
        int err;

        /* An order whose descriptor is lost cannot be answered: so keep a number for it. */
        (void) close(zygote->spare);
        n = ed_worker_packet_recv(NULL, zygote->fds[CONTROL].fd, &order, NULL, 0, &fds);
        err = spare_take(zygote);
        if (n < 0)
                return true;
        if (order.kind == ED_WORKER_PACKET_START && fds.count == 1 && err == 0) {
                start(zygote, &order, fds.fds[0]);
        } else if (fds.count == 1) {
                report(fds.fds[0], ED_WORKER_PACKET_FAILED, err, 0);
                (void) spare_take(zygote);
        }
        return order.kind != ED_WORKER_PACKET_ENDED;
}

/* The program may raise its limit later, and then have more workers than the present one allows. */
static void raise_limit(struct zygote *zygote)
{
        struct rlimit most;

        (void) getrlimit(RLIMIT_NOFILE, &zygote->open_files);
        most = zygote->open_files;
        most.rlim_cur = most.rlim_max;
        (void) setrlimit(RLIMIT_NOFILE, &most);
}

/*
 * Returns false after a signal. The list has no more entries than there are open files: the kernel
 * refuses a longer one than their limit.
 */
static bool await_events(struct zygote *zygote)
{
        int n = WORKERS + zygote->workers_count;

        for (int i = 0; i < zygote->workers_count; i++) {
                const struct entry *entry = &zygote->workers[i];

                zygote->fds[WORKERS + i] = (struct pollfd){ .fd = entry->is_killed ? -1 : entry->fd,
                                                            .events = POLLRDHUP };
        }
        n = ppoll(zygote->fds, (nfds_t) n, NULL, &zygote->waiting);
        if (n < 0 && errno == EINVAL)
                _exit(EXIT_FAILURE); /* the limit was lowered from outside */
        return n > 0;
}

/*
 * A descriptor that arrives later must not get the number of a standard stream that the program
 * has closed: functions of workers would print into the socket to the parent.
 */
static void fill_streams(void)
{
        int fd;

        do
                fd = open("/dev/null", O_RDWR);
        while (fd >= 0 && fd <= STDERR_FILENO);
        if (fd >= 0)
                (void) close(fd);
}

static void zygote_run(int control, pid_t parent)
{
        static struct zygote zygote;
        bool goes_on = getppid() == parent;

        fill_streams();
        zygote.fds[CONTROL] = (struct pollfd){ .fd = control, .events = POLLIN };
        zygote.fds[PARENT] = (struct pollfd){ .fd = pidfd_open(parent, 0), .events = POLLIN };
        set_signals(&zygote);
        raise_limit(&zygote);
        (void) spare_take(&zygote);
        while (goes_on) {
                collect(&zygote);
                if (!await_events(&zygote))
                        continue;
                kill_workers(&zygote);
                goes_on = !zygote.fds[PARENT].revents &&
                          (!zygote.fds[CONTROL].revents || obey(&zygote));
        }
        _exit(0);
}

/* --- in the parent --- */

static struct {
        int control;
        pid_t pid; /* of the process that prepared; 0: none */
        _Atomic pid_t zygote;
} prepared;

bool ed_zygote_is_prepared(void)
{
        return prepared.pid == getpid();
}

/*
 * If the program has closed its standard descriptors, an end could become one of them; so move it
 * above them if another number is free.
 */
static int pair_open(int *fds)
{
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
                return -errno;
        for (int i = 0; i < 2; i++) {
                int moved = fds[i] <= STDERR_FILENO
                                    ? fcntl(fds[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                                    : -1;

                if (moved < 0)
                        continue;
                (void) close(fds[i]);
                fds[i] = moved;
        }
        return 0;
}

int ed_zygote_prepare(void)
{
        int fds[2], err;
        pid_t pid, parent = getpid();

        if (prepared.pid == parent)
                return 0;
        if (!__libc_single_threaded)
                return EDDY_E_PROCESS_POOL_LATE;
        err = pair_open(fds);
        if (err < 0)
                return err;
        (void) fflush(NULL);
        if (prepared.pid)
                (void) close(prepared.control); /* this is a fork of a process that prepared */
        prepared.pid = 0;
        pid = fork();
        if (pid == 0) {
                (void) close(fds[0]);
                zygote_run(fds[1], parent);
        }
        err = pid < 0 ? -errno : 0;
        (void) close(fds[1]);
        if (err < 0) {
                (void) close(fds[0]);
                return err;
        }
        prepared.control = fds[0];
        prepared.zygote = pid;
        prepared.pid = parent;
        return 0;
}

void ed_zygote_end(void)
{
        if (!ed_zygote_is_prepared())
                return;
        (void) close(prepared.control);
        (void) waitpid(prepared.zygote, NULL, 0);
        prepared.pid = 0;
}

/*
 * Its socket is closed, so it is ending: this takes less than a millisecond, unless the machine is
 * very busy. Leave no zombie.
 */
static int lost(void)
{
        pid_t pid = atomic_load(&prepared.zygote), ended = 0;

        for (int i = 0; pid && ended == 0 && i < END_WAIT_MS; i++) {
                if (i > 0)
                        (void) poll(NULL, 0, 1);
                ended = waitpid(pid, NULL, WNOHANG);
        }
        if (pid && ended != 0)
                (void) atomic_compare_exchange_strong(&prepared.zygote, &pid, 0);
        return EDDY_E_PROCESS_POOL_LOST;
}

/*
 * The zygote reads its orders at once, and waits for nothing else, so that a wait for room is
 * short, unless the zygote was stopped.
 */
static int order_send(const struct ed_worker_packet *order,
                      const struct ed_worker_packet_part *part)
{
        struct pollfd room = { .fd = prepared.control, .events = POLLOUT };
        int err = ed_worker_packet_send(&without_waits, prepared.control, order, part);

        if (err == -EAGAIN && poll(&room, 1, ORDER_WAIT_MS) > 0)
                err = ed_worker_packet_send(&without_waits, prepared.control, order, part);
        return err == -EPIPE || err == -ECONNRESET ? lost() : err;
}

int ed_zygote_start(struct ed_sys *sys, uint64_t memory_bytes_max, int *ret_fd)
{
        struct ed_worker_packet order = { .kind = ED_WORKER_PACKET_START,
                                          .room = memory_bytes_max };
        int fds[2], err;
        struct ed_worker_packet_part part = { .fds = &fds[1], .fds_count = 1 };

        (void) sys;
        err = pair_open(fds);
        if (err < 0)
                return err;
        err = order_send(&order, &part);
        (void) close(fds[1]);
        if (err < 0)
                ed_worker_packet_close(fds[0]);
        else
                *ret_fd = fds[0];
        return err;
}
