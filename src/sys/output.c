/*
 * sys/output.c - writing without SIGPIPE, and to standard error.
 */
#include "sys/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sys/above_stdio.h"

/* The signals of a thread during a call without SIGPIPE. */
struct quiet {
        sigset_t pipe_only, former;
        bool was_pending;
};

static void quiet_begin(struct quiet *quiet)
{
        sigset_t pending;

        sigemptyset(&quiet->pipe_only);
        sigaddset(&quiet->pipe_only, SIGPIPE);
        sigemptyset(&pending);
        pthread_sigmask(SIG_BLOCK, &quiet->pipe_only, &quiet->former);
        /* A signal that was not blocked was not pending. */
        if (sigismember(&quiet->former, SIGPIPE))
                sigpending(&pending);
        quiet->was_pending = sigismember(&pending, SIGPIPE);
}

/* Returns the result 'n' of the call, or -errno. */
static int64_t quiet_end(const struct quiet *quiet, int64_t n)
{
        static const struct timespec at_once;

        if (n < 0) {
                n = -errno;
                if (n == -EPIPE && !quiet->was_pending)
                        while (sigtimedwait(&quiet->pipe_only, NULL, &at_once) < 0 &&
                               errno == EINTR)
                                continue;
        }
        if (!sigismember(&quiet->former, SIGPIPE))
                pthread_sigmask(SIG_SETMASK, &quiet->former, NULL);
        return n;
}

int64_t ed_sys_write_quietly(int fd, const void *data, size_t bytes)
{
        struct quiet quiet;

        quiet_begin(&quiet);
        return quiet_end(&quiet, write(fd, data, bytes));
}

int64_t ed_sys_send_file_quietly(int fd, int file, int64_t offset, size_t bytes)
{
        struct quiet quiet;
        off_t at = offset;

        quiet_begin(&quiet);
        return quiet_end(&quiet, sendfile(fd, file, &at, bytes));
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

static int open_new(const char *path, int flags)
{
        int fd;

        do
                fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | flags, 0666);
        while (fd < 0 && errno == EINTR);
        return ed_fd_above_stdio(fd);
}

int ed_sys_output_open(struct ed_sys_output *output, const char *path)
{
        size_t bytes = strlen(path) + 32;
        struct stat found = { 0 };

        *output = (struct ed_sys_output){ .fd = -1, .path = path };
        if (lstat(path, &found) < 0 || S_ISREG(found.st_mode)) {
                output->temp = ed_alloc_debug(bytes);
                if (!output->temp)
                        return -ENOMEM;
                snprintf(output->temp, bytes, "%s.%ld.new", path, (long) getpid());
                output->fd = open_new(output->temp, O_EXCL);
                if (output->fd >= 0)
                        return 0;
                ed_free(output->temp);
                output->temp = NULL;
        }
        output->fd = open_new(path, O_TRUNC);
        return output->fd < 0 ? output->fd : 0;
}

int ed_sys_output_close(struct ed_sys_output *output, int err)
{
        if (close(output->fd) < 0 && errno != EINTR && err == 0)
                err = -errno;
        if (output->temp && err == 0 && rename(output->temp, output->path) < 0)
                err = -errno;
        if (output->temp && err < 0)
                (void) unlink(output->temp);
        ed_free(output->temp);
        return err;
}

char *ed_sys_output_path(const char *path)
{
        size_t bytes = strlen(path) + 1, folder = 0;
        char *whole = ed_alloc_debug(PATH_MAX + bytes);

        if (!whole)
                return NULL;
        if (path[0] != '/' && getcwd(whole, PATH_MAX)) {
                folder = strlen(whole);
                whole[folder++] = '/';
        }
        memcpy(whole + folder, path, bytes);
        return whole;
}

int ed_sys_process_number(void)
{
        return (int) getpid();
}
