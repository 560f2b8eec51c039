/*
 * sys/output.c - writing without SIGPIPE, and to standard error.
 */
#include "sys/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "sys/above_stdio.h"

int64_t ed_sys_write_quietly(int fd, const void *data, size_t bytes)
{
        static const struct timespec at_once;
        sigset_t pipe_only, former, pending;
        bool was_pending;
        int64_t n;

        sigemptyset(&pipe_only);
        sigaddset(&pipe_only, SIGPIPE);
        sigpending(&pending);
        was_pending = sigismember(&pending, SIGPIPE);
        pthread_sigmask(SIG_BLOCK, &pipe_only, &former);
        n = write(fd, data, bytes);
        if (n < 0) {
                n = -errno;
                if (n == -EPIPE && !was_pending)
                        while (sigtimedwait(&pipe_only, NULL, &at_once) < 0 && errno == EINTR)
                                continue;
        }
        pthread_sigmask(SIG_SETMASK, &former, NULL);
        return n;
}

/* Maximum wait for room in standard error. */
enum { ERROR_WAIT_MS = 200 };

static bool error_has_room(void)
{
        struct pollfd room = { .fd = STDERR_FILENO, .events = POLLOUT };
        int n = poll(&room, 1, ERROR_WAIT_MS);

        return n > 0 || (n < 0 && errno == EINTR);
}

void ed_sys_write_error(const char *text, size_t bytes)
{
        int saved = errno;
        int64_t n;

        while (bytes > 0) {
                n = ed_sys_write_quietly(STDERR_FILENO, text, bytes);
                if (n >= 0) {
                        text += n;
                        bytes -= (size_t) n;
                } else if (n != -EINTR && !(n == -EAGAIN && error_has_room())) {
                        break;
                }
        }
        errno = saved;
}

int ed_sys_output_open(const char *path)
{
        int fd;

        do
                fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
        while (fd < 0 && errno == EINTR);
        return ed_fd_above_stdio(fd);
}

int ed_sys_output_close(int fd)
{
        return close(fd) < 0 && errno != EINTR ? -errno : 0;
}
