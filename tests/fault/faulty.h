/*
 * faulty.h - put before the sources of src/sys by the compiler, so that each
 * call of the system in them may be made to fail; see sites.h, fault.h.
 */
#ifndef ED_TEST_FAULTY_H
#define ED_TEST_FAULTY_H

/* All that those sources include: declared before the names below stand for something else. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fault.h"

/* The call, unless it is to fail here: then errno is set, and the value is 'failed'. */
#define FAULTY(call, failed, ...)                                                                  \
        (fault_here(__func__, #call, __LINE__) ? failed : call(__VA_ARGS__))
/* Those that return the error. */
#define FAULTY_CODE(call, ...) (fault_here(__func__, #call, __LINE__) ? errno : call(__VA_ARGS__))
/* Those whose effect is there although they failed. */
#define FAULTY_DONE(call, ...)                                                                     \
        (call(__VA_ARGS__) | (fault_here(__func__, #call, __LINE__) ? -1 : 0))
/* Those with something of their own to it, in fault.c. */
#define FAULTY_OWN(call, ...) fault_##call(__func__, __LINE__, __VA_ARGS__)

#define accept4(fd, ...)       FAULTY_OWN(accept4, fd, __VA_ARGS__)
#define backtrace(...)         FAULTY(backtrace, 0, __VA_ARGS__)
#define bind(...)              FAULTY(bind, -1, __VA_ARGS__)
#define chmod(...)             FAULTY(chmod, -1, __VA_ARGS__)
#define clock_gettime(id, ts)  fault_clock_gettime(id, ts)
#define close(fd)              FAULTY_DONE(close, fd)
#define connect(...)           FAULTY_OWN(connect, __VA_ARGS__)
#define dladdr(...)            FAULTY(dladdr, 0, __VA_ARGS__)
#define dup2(...)              FAULTY(dup2, -1, __VA_ARGS__)
#define epoll_create1(...)     FAULTY(epoll_create1, -1, __VA_ARGS__)
#define epoll_ctl(...)         FAULTY_OWN(epoll_ctl, __VA_ARGS__)
#define epoll_pwait2(...)      FAULTY_OWN(epoll_pwait2, __VA_ARGS__)
#define epoll_wait(...)        FAULTY(epoll_wait, -1, __VA_ARGS__)
#define eventfd(...)           FAULTY(eventfd, -1, __VA_ARGS__)
#define faccessat(...)         FAULTY(faccessat, -1, __VA_ARGS__)
#define fchmod(...)            FAULTY(fchmod, -1, __VA_ARGS__)
#define fcntl(...)             FAULTY(fcntl, -1, __VA_ARGS__)
#define fdatasync(...)         FAULTY(fdatasync, -1, __VA_ARGS__)
#define flock(...)             FAULTY(flock, -1, __VA_ARGS__)
#define fork(...)              FAULTY(fork, -1, __VA_ARGS__)
#define fstat(...)             FAULTY(fstat, -1, __VA_ARGS__)
#define fstatat(...)           FAULTY(fstatat, -1, __VA_ARGS__)
#define fsync(...)             FAULTY(fsync, -1, __VA_ARGS__)
#define ftruncate(...)         FAULTY(ftruncate, -1, __VA_ARGS__)
#define getdents64(...)        FAULTY(getdents64, -1, __VA_ARGS__)
#define getpeername(...)       FAULTY(getpeername, -1, __VA_ARGS__)
#define getrandom(...)         FAULTY(getrandom, -1, __VA_ARGS__)
#define getrlimit(...)         FAULTY(getrlimit, -1, __VA_ARGS__)
#define getrusage(...)         FAULTY(getrusage, -1, __VA_ARGS__)
#define getsockname(...)       FAULTY(getsockname, -1, __VA_ARGS__)
#define getsockopt(...)        FAULTY(getsockopt, -1, __VA_ARGS__)
#define grantpt(...)           FAULTY(grantpt, -1, __VA_ARGS__)
#define inotify_add_watch(...) FAULTY(inotify_add_watch, -1, __VA_ARGS__)
#define inotify_init1(...)     FAULTY(inotify_init1, -1, __VA_ARGS__)
#define inotify_rm_watch(...)  FAULTY(inotify_rm_watch, -1, __VA_ARGS__)
#define isatty(...)            FAULTY(isatty, 0, __VA_ARGS__)
#define kill(...)              FAULTY(kill, -1, __VA_ARGS__)
#define listen(...)            FAULTY(listen, -1, __VA_ARGS__)
#define lseek(...)             FAULTY(lseek, -1, __VA_ARGS__)
#define lstat(...)             FAULTY(lstat, -1, __VA_ARGS__)
#define madvise(...)           FAULTY(madvise, -1, __VA_ARGS__)
#define memfd_create(...)      FAULTY(memfd_create, -1, __VA_ARGS__)
#define mkdir(...)             FAULTY(mkdir, -1, __VA_ARGS__)
#define mmap(...)              FAULTY(mmap, MAP_FAILED, __VA_ARGS__)
#define mprotect(...)          FAULTY(mprotect, -1, __VA_ARGS__)
#define munmap(...)            FAULTY_DONE(munmap, __VA_ARGS__)
#define nanosleep(...)         FAULTY(nanosleep, -1, __VA_ARGS__)
#define open(...)              FAULTY_OWN(open, __VA_ARGS__)
#define openat(...)            FAULTY(openat, -1, __VA_ARGS__)
#define opendir(...)           FAULTY(opendir, NULL, __VA_ARGS__)
#define pidfd_open(...)        FAULTY(pidfd_open, -1, __VA_ARGS__)
#define pidfd_send_signal(...) FAULTY(pidfd_send_signal, -1, __VA_ARGS__)
#define pipe2(...)             FAULTY(pipe2, -1, __VA_ARGS__)
#define poll(...)              FAULTY(poll, -1, __VA_ARGS__)
#define posix_openpt(...)      FAULTY(posix_openpt, -1, __VA_ARGS__)
#define posix_spawn(...)       FAULTY_CODE(posix_spawn, __VA_ARGS__)
#define posix_spawn_file_actions_addclosefrom_np(...)                                              \
        FAULTY_CODE(posix_spawn_file_actions_addclosefrom_np, __VA_ARGS__)
#define posix_spawn_file_actions_adddup2(...)                                                      \
        FAULTY_CODE(posix_spawn_file_actions_adddup2, __VA_ARGS__)
#define posix_spawn_file_actions_addfchdir_np(...)                                                 \
        FAULTY_CODE(posix_spawn_file_actions_addfchdir_np, __VA_ARGS__)
#define posix_spawn_file_actions_addopen(...)                                                      \
        FAULTY_CODE(posix_spawn_file_actions_addopen, __VA_ARGS__)
#define posix_spawn_file_actions_init(...) FAULTY_CODE(posix_spawn_file_actions_init, __VA_ARGS__)
#define posix_spawnattr_init(...)          FAULTY_CODE(posix_spawnattr_init, __VA_ARGS__)
#define ppoll(...)                         FAULTY(ppoll, -1, __VA_ARGS__)
#define pread(...)                         FAULTY(pread, -1, __VA_ARGS__)
#define preadv(...)                        FAULTY(preadv, -1, __VA_ARGS__)
#define preadv2(...)                       FAULTY(preadv2, -1, __VA_ARGS__)
#define process_vm_readv(...)              FAULTY(process_vm_readv, -1, __VA_ARGS__)
#define pthread_atfork(...)                FAULTY_CODE(pthread_atfork, __VA_ARGS__)
#define pthread_create(...)                FAULTY_CODE(pthread_create, __VA_ARGS__)
#define pthread_getattr_np(...)            FAULTY_CODE(pthread_getattr_np, __VA_ARGS__)
#define pthread_key_create(...)            FAULTY_CODE(pthread_key_create, __VA_ARGS__)
#define pthread_setname_np(...)            FAULTY_CODE(pthread_setname_np, __VA_ARGS__)
#define pthread_setspecific(...)           FAULTY_CODE(pthread_setspecific, __VA_ARGS__)
#define ptsname_r(...)                     FAULTY_CODE(ptsname_r, __VA_ARGS__)
#define pwritev(...)                       FAULTY(pwritev, -1, __VA_ARGS__)
#define read(...)                          FAULTY(read, -1, __VA_ARGS__)
#define readdir(...)                       FAULTY(readdir, NULL, __VA_ARGS__)
#define readlink(...)                      FAULTY(readlink, -1, __VA_ARGS__)
#define readv(...)                         FAULTY(readv, -1, __VA_ARGS__)
#define recv(fd, ...)                      FAULTY_OWN(recv, fd, __VA_ARGS__)
#define recvmmsg(fd, ...)                  FAULTY_OWN(recvmmsg, fd, __VA_ARGS__)
#define recvmsg(fd, ...)                   FAULTY_OWN(recvmsg, fd, __VA_ARGS__)
#define rename(...)                        FAULTY(rename, -1, __VA_ARGS__)
#define renameat2(...)                     FAULTY(renameat2, -1, __VA_ARGS__)
#define rmdir(...)                         FAULTY(rmdir, -1, __VA_ARGS__)
#define sched_getaffinity(...)             FAULTY(sched_getaffinity, -1, __VA_ARGS__)
#define send(fd, ...)                      FAULTY_OWN(send, fd, __VA_ARGS__)
#define sendfile(fd, ...)                  FAULTY_OWN(sendfile, fd, __VA_ARGS__)
#define sendmmsg(fd, ...)                  FAULTY_OWN(sendmmsg, fd, __VA_ARGS__)
#define sendmsg(fd, ...)                   FAULTY_OWN(sendmsg, fd, __VA_ARGS__)
#define setsockopt(...)                    FAULTY(setsockopt, -1, __VA_ARGS__)
#define shutdown(...)                      FAULTY(shutdown, -1, __VA_ARGS__)
#define sigaction(...)                     FAULTY(sigaction, -1, __VA_ARGS__)
#define sigaltstack(...)                   FAULTY(sigaltstack, -1, __VA_ARGS__)
#define sigtimedwait(...)                  FAULTY(sigtimedwait, -1, __VA_ARGS__)
#define socket(...)                        FAULTY(socket, -1, __VA_ARGS__)
#define socketpair(...)                    FAULTY(socketpair, -1, __VA_ARGS__)
#define stat(...)                          FAULTY(stat, -1, __VA_ARGS__)
#define syscall(...)                       FAULTY(syscall, -1, __VA_ARGS__)
#define sysconf(...)                       FAULTY(sysconf, -1, __VA_ARGS__)
#define timerfd_create(...)                FAULTY(timerfd_create, -1, __VA_ARGS__)
#define unlink(...)                        FAULTY(unlink, -1, __VA_ARGS__)
#define unlockpt(...)                      FAULTY(unlockpt, -1, __VA_ARGS__)
#define waitid(...)                        FAULTY(waitid, -1, __VA_ARGS__)
#define waitpid(...)                       FAULTY(waitpid, -1, __VA_ARGS__)
#define write(...)                         FAULTY(write, -1, __VA_ARGS__)
#define writev(...)                        FAULTY(writev, -1, __VA_ARGS__)

#endif
