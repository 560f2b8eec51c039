/*
 * fault.c - see fault.h.
 */
#include "fault.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "sites.h"
#include "test.h"

enum { FDS_MAX = 256, NS_PER_S = 1000000000, LEAP_AFTER_NS = 2000000 };

#define SITE(function, call, count) { #function, #call, count },
const struct fault_site fault_sites[] = { SITES(SITE) };
const size_t fault_sites_count = sizeof(fault_sites) / sizeof(fault_sites[0]);

enum { SITE_COUNT = sizeof(fault_sites) / sizeof(fault_sites[0]) };

/* Shared with children: a parent sees what they did. */
struct shared {
        struct {
                _Atomic int line; /* 0: not seen yet */
                _Atomic unsigned hits;
        } places[SITE_COUNT][FAULT_PLACES_MAX];
        struct {
                size_t site;
                int error; /* 0: none */
        } standing[FAULT_STANDING_MAX];
        size_t site;
        int place;
        unsigned nth;
        int error; /* 0: none */
        _Atomic bool happened;
};

static struct shared *shared;

/* Watched descriptors, to be reported again; and how far the clock is ahead. */
static struct {
        int epoll_fd;
        struct epoll_event event;
} watched[FDS_MAX];
static _Atomic int64_t ahead_ns;
static _Atomic bool leaps;

__attribute__((constructor)) static void share(void)
{
        shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                      0);
        if (shared == MAP_FAILED)
                abort();
}

const int *fault_errors(const char *call)
{
#define ERRORS_OF(name, ...) { #name, { __VA_ARGS__, 0 } },
        static const struct {
                const char *call;
                int errors[16];
        } table[] = { ERRORS(ERRORS_OF) };

        for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
                if (strcmp(table[i].call, call) == 0)
                        return table[i].errors;
        test_fail(__FILE__, __LINE__, "%s() has no line in ERRORS", call);
}

size_t fault_site_find(const char *function, const char *call)
{
        size_t i;

        for (i = 0; i < SITE_COUNT; i++)
                if (strcmp(fault_sites[i].function, function) == 0 &&
                    strcmp(fault_sites[i].call, call) == 0)
                        break;
        return i;
}

void fault_reset(void)
{
        memset(shared->standing, 0, sizeof(shared->standing));
        shared->error = 0;
        shared->happened = false;
        for (size_t i = 0; i < SITE_COUNT; i++)
                for (int place = 0; place < FAULT_PLACES_MAX; place++)
                        shared->places[i][place].hits = 0;
}

void fault_persistent(const char *function, const char *call, int error)
{
        size_t i = 0;

        while (shared->standing[i].error)
                CHECK(++i < FAULT_STANDING_MAX);
        shared->standing[i].site = fault_site_find(function, call);
        shared->standing[i].error = error;
        CHECK(shared->standing[i].site < SITE_COUNT);
}

void fault_at(size_t site, int place, unsigned nth, int error)
{
        shared->site = site;
        shared->place = place;
        shared->nth = nth;
        shared->error = error;
}

bool fault_happened(void)
{
        return shared->happened;
}

unsigned fault_hits(size_t site, int place)
{
        return shared->places[site][place].hits;
}

/* Any thread, signal handlers too.  Places of a site are distinguished by their lines. */
static int place_of(size_t site, int line)
{
        for (int place = 0; place < FAULT_PLACES_MAX; place++) {
                int free = 0;

                if (atomic_compare_exchange_strong(&shared->places[site][place].line, &free,
                                                   line) ||
                    free == line)
                        return place;
        }
        return -1;
}

bool fault_here(const char *function, const char *call, int line)
{
        size_t site = fault_site_find(function, call);
        int place = site < SITE_COUNT ? place_of(site, line) : -1, error = 0;
        unsigned nth;

        if (place < 0)
                return false;
        nth = ++shared->places[site][place].hits;
        for (size_t i = 0; i < FAULT_STANDING_MAX; i++)
                if (shared->standing[i].error && shared->standing[i].site == site)
                        error = shared->standing[i].error;
        if (shared->error && shared->site == site && shared->place == place && shared->nth == nth) {
                error = shared->error;
                shared->happened = true;
        }
        if (error)
                errno = error;
        return error != 0;
}

/* --- calls with something of their own --- */

int fault_clock_gettime(clockid_t id, struct timespec *ret)
{
        int64_t ns;

        if (clock_gettime(id, ret) < 0)
                return -1;
        if (id == CLOCK_MONOTONIC) {
                ns = ret->tv_nsec + ahead_ns;
                ret->tv_sec += ns / NS_PER_S;
                ret->tv_nsec = ns % NS_PER_S;
        }
        return 0;
}

/* A system without /sys or /proc has empty files there, so that they are read. */
int fault_open(const char *function, int line, const char *path, int flags, ...)
{
        unsigned mode = 0;
        va_list args;
        int fd;

        if (fault_here(function, "open", line))
                return -1;
        va_start(args, flags);
        if (flags & O_CREAT)
                mode = va_arg(args, unsigned);
        va_end(args);
        fd = open(path, flags, mode);
        return fd < 0 && errno == ENOENT ? open("/dev/null", flags) : fd;
}

int fault_epoll_ctl(const char *function, int line, int epoll_fd, int op, int fd,
                    struct epoll_event *event)
{
        if (fault_here(function, "epoll_ctl", line))
                return -1;
        if (op == EPOLL_CTL_ADD && fd < FDS_MAX) {
                watched[fd].epoll_fd = epoll_fd;
                watched[fd].event = *event;
        }
        return epoll_ctl(epoll_fd, op, fd, event);
}

static bool is_end(int error)
{
        return error == EPIPE || error == ECONNRESET || error == ETIMEDOUT || error == EHOSTUNREACH;
}

/*
 * Whether a transfer is to fail.  The kernel says EAGAIN only when it is going
 * to report a change: the descriptor's present state is reported once more.
 * What says that the connection has ended finds it so on the other side too.
 */
static bool fault_transfer(const char *function, const char *call, int line, int fd)
{
        int error;

        if (!fault_here(function, call, line))
                return false;
        error = errno;
        if (error == EAGAIN && fd < FDS_MAX && watched[fd].epoll_fd)
                (void) epoll_ctl(watched[fd].epoll_fd, EPOLL_CTL_MOD, fd, &watched[fd].event);
        if (is_end(error))
                (void) shutdown(fd, SHUT_RDWR);
        errno = error;
        return true;
}

/* Want of room is asked about again a second later: it passes at once. */
int fault_accept4(const char *function, int line, int fd, struct sockaddr *address,
                  socklen_t *bytes, int flags)
{
        if (!fault_transfer(function, "accept4", line, fd))
                return accept4(fd, address, bytes, flags);
        leaps = true;
        return -1;
}

/* Interrupted, a connection is made all the same. */
int fault_connect(const char *function, int line, int fd, const struct sockaddr *address,
                  socklen_t bytes)
{
        if (!fault_here(function, "connect", line))
                return connect(fd, address, bytes);
        if (errno == EINTR)
                (void) connect(fd, address, bytes), errno = EINTR;
        return -1;
}

int fault_epoll_pwait2(const char *function, int line, int epoll_fd, struct epoll_event *events,
                       int max, const struct timespec *timeout, const sigset_t *mask)
{
        struct timespec little = { .tv_nsec = LEAP_AFTER_NS };
        int64_t ns = (int64_t) timeout->tv_sec * NS_PER_S + timeout->tv_nsec;
        int n;

        if (fault_here(function, "epoll_pwait2", line))
                return -1;
        if (!leaps || ns <= LEAP_AFTER_NS)
                return epoll_pwait2(epoll_fd, events, max, timeout, mask);
        n = epoll_pwait2(epoll_fd, events, max, &little, mask);
        if (n == 0)
                ahead_ns += ns - LEAP_AFTER_NS;
        return n;
}

ssize_t fault_recv(const char *function, int line, int fd, void *buf, size_t bytes, int flags)
{
        return fault_transfer(function, "recv", line, fd) ? -1 : recv(fd, buf, bytes, flags);
}

ssize_t fault_send(const char *function, int line, int fd, const void *data, size_t bytes,
                   int flags)
{
        return fault_transfer(function, "send", line, fd) ? -1 : send(fd, data, bytes, flags);
}

ssize_t fault_sendfile(const char *function, int line, int fd, int file, off_t *offset,
                       size_t bytes)
{
        if (fault_transfer(function, "sendfile", line, fd))
                return -1;
        return sendfile(fd, file, offset, bytes);
}

ssize_t fault_sendmsg(const char *function, int line, int fd, const struct msghdr *msg, int flags)
{
        return fault_transfer(function, "sendmsg", line, fd) ? -1 : sendmsg(fd, msg, flags);
}

int fault_recvmmsg(const char *function, int line, int fd, struct mmsghdr *messages, unsigned n,
                   int flags, struct timespec *timeout)
{
        if (fault_transfer(function, "recvmmsg", line, fd))
                return -1;
        return recvmmsg(fd, messages, n, flags, timeout);
}

ssize_t fault_recvmsg(const char *function, int line, int fd, struct msghdr *msg, int flags)
{
        return fault_transfer(function, "recvmsg", line, fd) ? -1 : recvmsg(fd, msg, flags);
}

int fault_sendmmsg(const char *function, int line, int fd, struct mmsghdr *messages, unsigned n,
                   int flags)
{
        return fault_transfer(function, "sendmmsg", line, fd) ? -1
                                                              : sendmmsg(fd, messages, n, flags);
}
