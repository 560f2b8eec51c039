/*
 * sys/libc.h - replacements for glibc functions that other C libraries, such as musl, lack.
 */
#ifndef ED_SYS_LIBC_H
#define ED_SYS_LIBC_H

#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if __has_include(<execinfo.h>)
#include <execinfo.h>
enum { ED_HAS_BACKTRACE = 1 };
#else
enum { ED_HAS_BACKTRACE = 0 };

/* Returns no frames. */
static inline int ed_backtrace(void **ret_frames, int max)
{
        (void) ret_frames;
        (void) max;
        return 0;
}
#define backtrace ed_backtrace
#endif

#ifndef __GLIBC__
static inline int ed_epoll_pwait2(int epoll_fd, struct epoll_event *events, int max,
                                  const struct timespec *timeout, const sigset_t *signals)
{
        return (int) syscall(SYS_epoll_pwait2, epoll_fd, events, max, timeout, signals, _NSIG / 8);
}
#define epoll_pwait2 ed_epoll_pwait2
#endif

#endif
