/*
 * sys/last_words.c - handlers for signals that end a process, if the program has none.
 */
#include "sys/last_words.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COPY_MS_MAX = 5000 };

/* The first is that of abort(). */
static const int ends[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM, SIGTERM, SIGINT };

static struct {
        ed_last_words_fn *fn;  /* NULL: not set */
        ed_last_words_fn *due; /* NULL: already called, or not set */
        bool is_ours[ed_array_count(ends)];
} words;

/* Defined if the program is linked with a sanitizer. */
__attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)(void));

static void say(void)
{
        ed_last_words_fn *fn = words.due;

        words.due = NULL;
        if (fn)
                fn();
}

/* The default handling is restored, so raising the signal again ends the process. */
static void on_end(int signo)
{
        say();
        (void) raise(signo);
}

/* For the first 'count' of the signals. */
static void set(ed_last_words_fn *fn, size_t count)
{
        struct sigaction action = { .sa_handler = on_end,
                                    .sa_flags = (int) SA_RESETHAND | SA_NODEFER | SA_ONSTACK };
        struct sigaction former;

        words.fn = words.due = fn;
        for (size_t i = 0; i < count; i++) {
                if (sigaction(ends[i], &action, &former) < 0)
                        continue;
                words.is_ours[i] = !(former.sa_flags & SA_SIGINFO) && former.sa_handler == SIG_DFL;
                if (!words.is_ours[i])
                        (void) sigaction(ends[i], &former, NULL);
        }
        if (__sanitizer_set_death_callback)
                __sanitizer_set_death_callback(say);
}

void ed_sys_last_words_set(ed_last_words_fn *fn)
{
        set(fn, ed_array_count(ends));
}

void ed_sys_last_words_of_abort(ed_last_words_fn *fn)
{
        if (!words.fn)
                set(fn, 1);
}

void ed_sys_last_words_unset(ed_last_words_fn *fn)
{
        struct sigaction none = { .sa_handler = SIG_DFL }, now;

        if (words.fn != fn)
                return;
        words.fn = words.due = NULL;
        for (size_t i = 0; i < ed_array_count(ends); i++) {
                if (!words.is_ours[i] || sigaction(ends[i], &none, &now) < 0)
                        continue;
                /* The program has replaced our handler meanwhile; restore its handler. */
                if (now.sa_flags & SA_SIGINFO || now.sa_handler != on_end)
                        (void) sigaction(ends[i], &now, NULL);
        }
}

void ed_sys_in_copy(ed_last_words_fn *fn)
{
        static const struct timespec moment = { .tv_nsec = 1000000 };
        pid_t copy = _Fork(); /* without the handlers and locks of fork() */

        if (copy == 0) {
                fn();
                _exit(0);
        }
        for (int ms = 0; copy > 0 && ms < COPY_MS_MAX; ms++) {
                if (waitpid(copy, NULL, WNOHANG) != 0)
                        return;
                (void) nanosleep(&moment, NULL);
        }
        if (copy > 0) {
                (void) kill(copy, SIGKILL);
                (void) waitpid(copy, NULL, 0);
        }
}

int ed_sys_fds(int *fds, int max)
{
        DIR *folder = opendir("/proc/self/fd");
        struct dirent *entry;
        int n = 0;

        if (!folder)
                return -ENOSYS;
        while ((entry = readdir(folder))) {
                int fd = (int) strtol(entry->d_name, NULL, 10);

                if (entry->d_name[0] == '.' || fd == dirfd(folder))
                        continue;
                if (n < max)
                        fds[n] = fd;
                n++;
        }
        (void) closedir(folder);
        return n;
}

void ed_sys_fd_name(int fd, char *buf, size_t bytes)
{
        char path[64];
        ssize_t n;

        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        n = readlink(path, buf, bytes - 1);
        buf[n > 0 ? n : 0] = '\0';
}
