/*
 * kill_at.c - loaded into a program by LD_PRELOAD: kills it at the Nth call that changes a file, or
 * fails that call.
 *
 * KILL_AT=N counts the calls of write(), pwritev(), ftruncate(), rename(), renameat2(), unlink(),
 * unlinkat(), linkat(), fsync() and fdatasync() on regular files from 1. KILL_HOW says when: "before"
 * the call, "after" it, or "torn": a write writes half of its bytes first. KILL_SIGNAL=N sends that
 * signal after the call instead, and KILL_ERRNO=N fails the call with that error; KILL_FOREVER=1 all
 * later ones too.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static _Atomic long calls;

/* Returns true if this is the call to be killed at. */
static int is_chosen(void)
{
        const char *at = getenv("KILL_AT");

        return at && ++calls == strtol(at, NULL, 10);
}

static int number_of(const char *name)
{
        const char *value = getenv(name);

        return value ? (int) strtol(value, NULL, 10) : 0;
}

/* Returns true if the call is to fail. */
static int fails(int chosen)
{
        static _Atomic int begun;

        begun |= chosen;
        if (!number_of("KILL_ERRNO") || !(chosen || (begun && number_of("KILL_FOREVER"))))
                return 0;
        errno = number_of("KILL_ERRNO");
        return 1;
}

static int is_how(const char *how)
{
        const char *value = getenv("KILL_HOW");

        return value && strcmp(value, how) == 0;
}

static void end(void)
{
        int signo = number_of("KILL_SIGNAL");

        if (signo) {
                kill(getpid(), signo);
                return;
        }
        kill(getpid(), SIGKILL);
        for (;;)
                pause();
}

static int is_file(int fd)
{
        struct stat st;

        return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

ssize_t write(int fd, const void *data, size_t bytes)
{
        static ssize_t (*next)(int, const void *, size_t);
        int chosen;
        ssize_t n;

        if (!next)
                next = dlsym(RTLD_NEXT, "write");
        chosen = is_file(fd) && is_chosen();
        if (is_file(fd) && fails(chosen))
                return -1;
        if (chosen && is_how("before"))
                end();
        n = next(fd, data, chosen && is_how("torn") ? bytes / 2 : bytes);
        if (chosen)
                end();
        return n;
}

/* Of the pieces, only the first is written, and if the write is torn half of that. */
ssize_t pwritev(int fd, const struct iovec *pieces, int count, off_t offset)
{
        static ssize_t (*next)(int, const struct iovec *, int, off_t);
        struct iovec first = pieces[0];
        int chosen;
        ssize_t n;

        if (!next)
                next = dlsym(RTLD_NEXT, "pwritev");
        chosen = is_file(fd) && is_chosen();
        if (is_file(fd) && fails(chosen))
                return -1;
        if (chosen && is_how("before"))
                end();
        if (chosen && is_how("torn"))
                first.iov_len /= 2;
        n = chosen ? next(fd, &first, 1, offset) : next(fd, pieces, count, offset);
        if (chosen)
                end();
        return n;
}

/* The other calls either happen or not. */
#define CALL(name, types, args)                                                                    \
        int name types                                                                             \
        {                                                                                          \
                static int(*next) types;                                                           \
                int chosen = is_chosen(), n;                                                       \
                                                                                                   \
                if (!next)                                                                         \
                        next = dlsym(RTLD_NEXT, #name);                                            \
                if (fails(chosen))                                                                 \
                        return -1;                                                                 \
                if (chosen && !is_how("after"))                                                    \
                        end();                                                                     \
                n = next args;                                                                     \
                if (chosen)                                                                        \
                        end();                                                                     \
                return n;                                                                          \
        }

CALL(ftruncate, (int fd, off_t bytes), (fd, bytes))
CALL(rename, (const char *from, const char *to), (from, to))
CALL(renameat2, (int from_fd, const char *from, int to_fd, const char *to, unsigned flags),
     (from_fd, from, to_fd, to, flags))
CALL(unlink, (const char *path), (path))
CALL(unlinkat, (int fd, const char *path, int flags), (fd, path, flags))
CALL(linkat, (int from_fd, const char *from, int to_fd, const char *to, int flags),
     (from_fd, from, to_fd, to, flags))
CALL(fsync, (int fd), (fd))
CALL(fdatasync, (int fd), (fd))
