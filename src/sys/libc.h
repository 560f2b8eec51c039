/*
 * sys/libc.h - replacements for glibc functions that other C libraries, such as musl, lack.
 */
#ifndef ED_SYS_LIBC_H
#define ED_SYS_LIBC_H

#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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

/* P_PIDFD, which musl lacks. */
#define ED_P_PIDFD ((idtype_t) 3)

#if __has_include(<sys/pidfd.h>)
#ifndef PIDFD_NONBLOCK /* the header of glibc 2.36 has no guard */
#include <sys/pidfd.h>
#endif
#else
static inline int ed_pidfd_open(int pid, unsigned flags)
{
        return (int) syscall(SYS_pidfd_open, pid, flags);
}
#define pidfd_open        ed_pidfd_open

static inline int ed_pidfd_send_signal(int pidfd, int signo, siginfo_t *info, unsigned flags)
{
        return (int) syscall(SYS_pidfd_send_signal, pidfd, signo, info, flags);
}
#define pidfd_send_signal ed_pidfd_send_signal
#endif

#ifndef __GLIBC__
#include <dirent.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/uio.h>

static inline int ed_epoll_pwait2(int epoll_fd, struct epoll_event *events, int max,
                                  const struct timespec *timeout, const sigset_t *signals)
{
        return (int) syscall(SYS_epoll_pwait2, epoll_fd, events, max, timeout, signals, _NSIG / 8);
}
#define epoll_pwait2 ed_epoll_pwait2

#ifndef RWF_NOWAIT
#define RWF_NOWAIT 0x00000008
#endif
#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE (1 << 0)
#endif

static inline ssize_t ed_preadv2(int fd, const struct iovec *pieces, int n, int64_t offset,
                                 int flags)
{
        return syscall(SYS_preadv2, fd, pieces, n, (long) offset, (long) (offset >> 32), flags);
}
#define preadv2 ed_preadv2

static inline int ed_renameat2(int from_folder, const char *from, int to_folder, const char *to,
                               unsigned flags)
{
        return (int) syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}
#define renameat2 ed_renameat2

static inline ssize_t ed_getdents64(int fd, void *buf, size_t bytes)
{
        return syscall(SYS_getdents64, fd, buf, bytes);
}
#undef getdents64
#define getdents64 ed_getdents64

/* Without it the child inherits those descriptors of the program that are not close-on-exec. */
static inline int ed_addclosefrom(posix_spawn_file_actions_t *actions, int from)
{
        (void) actions;
        (void) from;
        return 0;
}
#define posix_spawn_file_actions_addclosefrom_np ed_addclosefrom
#endif

#endif
