/*
 * fault.h - calls of the system that fail on request.
 *
 * Counts what each place of sites.h does, in memory that a process shares with
 * its children, and makes the one fail that was asked for.
 */
#ifndef ED_TEST_FAULT_H
#define ED_TEST_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

enum { FAULT_PLACES_MAX = 4, FAULT_STANDING_MAX = 4 };

/* A row of SITES. */
struct fault_site {
        const char *function, *call;
        int count; /* of places with this call in the function */
};

extern const struct fault_site fault_sites[];
extern const size_t fault_sites_count;

/* The errors of a call, ended by 0. */
const int *fault_errors(const char *call);

/* The index of a site. */
size_t fault_site_find(const char *function, const char *call);

/* Forget all counts and what is to fail. */
void fault_reset(void);
/* From now on each call at a site fails. */
void fault_persistent(const char *function, const char *call, int error);
/* The nth call at a place from now on fails. */
void fault_at(size_t site, int place, unsigned nth, int error);
/* Whether that has happened. */
bool fault_happened(void);
/* How often the place was come to; 0: never. */
unsigned fault_hits(size_t site, int place);

/* --- what faulty.h calls --- */

/* Whether this call is to fail; errno is set then. */
bool fault_here(const char *function, const char *call, int line);
int fault_clock_gettime(clockid_t id, struct timespec *ret);
int fault_accept4(const char *function, int line, int fd, struct sockaddr *address,
                  socklen_t *bytes, int flags);
int fault_connect(const char *function, int line, int fd, const struct sockaddr *address,
                  socklen_t bytes);
int fault_open(const char *function, int line, const char *path, int flags, ...);
int fault_epoll_ctl(const char *function, int line, int epoll_fd, int op, int fd,
                    struct epoll_event *event);
int fault_epoll_pwait2(const char *function, int line, int epoll_fd, struct epoll_event *events,
                       int max, const struct timespec *timeout, const sigset_t *mask);
ssize_t fault_recv(const char *function, int line, int fd, void *buf, size_t bytes, int flags);
ssize_t fault_send(const char *function, int line, int fd, const void *data, size_t bytes,
                   int flags);
int fault_recvmmsg(const char *function, int line, int fd, struct mmsghdr *messages, unsigned n,
                   int flags, struct timespec *timeout);
ssize_t fault_recvmsg(const char *function, int line, int fd, struct msghdr *msg, int flags);
int fault_sendmmsg(const char *function, int line, int fd, struct mmsghdr *messages, unsigned n,
                   int flags);
ssize_t fault_sendfile(const char *function, int line, int fd, int file, off_t *offset,
                       size_t bytes);
ssize_t fault_sendmsg(const char *function, int line, int fd, const struct msghdr *msg, int flags);

#endif
