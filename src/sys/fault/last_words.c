/*
 * sys/fault/last_words.c - handlers for signals that end a process, if the program has none.
 */
#include "sys/fault/last_words.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The first is that of abort(). */
static const int ends[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM, SIGTERM, SIGINT };

static struct {
        ed_last_words_fn *fns[ED_LAST_WORDS]; /* NULL: not set */
        bool are_said;
        bool is_ours[ed_array_count(ends)];
} words;

/* Defined if the program is linked with a sanitizer. */
__attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)(void));

static void say(void)
{
        ed_last_words_fn *fn = words.fns[ED_LAST_WORDS_KIT];

        if (!fn)
                fn = words.fns[ED_LAST_WORDS_TRACE];
        if (!fn || words.are_said)
                return;
        words.are_said = true;
        fn();
}

/* A handler of the program may call this one, so the default handling is restored here. */
static void on_end(int signo)
{
        say();
        (void) signal(signo, SIG_DFL);
        (void) raise(signo);
}

static void handler_set(size_t i)
{
        struct sigaction action = { .sa_handler = on_end,
                                    .sa_flags = (int) SA_RESETHAND | SA_NODEFER | SA_ONSTACK };
        struct sigaction former;

        if (words.is_ours[i] || sigaction(ends[i], &action, &former) < 0)
                return;
        words.is_ours[i] = !(former.sa_flags & SA_SIGINFO) &&
                           (former.sa_handler == SIG_DFL || former.sa_handler == on_end);
        if (!words.is_ours[i])
                (void) sigaction(ends[i], &former, NULL);
}

static void handler_unset(size_t i)
{
        struct sigaction none = { .sa_handler = SIG_DFL }, now;

        if (!words.is_ours[i] || sigaction(ends[i], &none, &now) < 0)
                return;
        words.is_ours[i] = false;
        /* The program has replaced our handler meanwhile; restore its handler. */
        if (now.sa_flags & SA_SIGINFO || now.sa_handler != on_end)
                (void) sigaction(ends[i], &now, NULL);
}

void ed_sys_last_words_set(enum ed_last_words of, ed_last_words_fn *fn)
{
        size_t wanted;

        words.fns[of] = fn;
        words.are_said = false;
        wanted = words.fns[ED_LAST_WORDS_KIT]     ? ed_array_count(ends)
                 : words.fns[ED_LAST_WORDS_TRACE] ? 1
                                                  : 0;
        for (size_t i = 0; i < wanted; i++)
                handler_set(i);
        for (size_t i = wanted; i < ed_array_count(ends); i++)
                handler_unset(i);
        if (__sanitizer_set_death_callback)
                __sanitizer_set_death_callback(wanted > 0 ? say : NULL);
}

void ed_sys_in_copy(ed_last_words_fn *fn, int limit_ms)
{
        static const struct timespec moment = { .tv_nsec = 1000000 };
        pid_t copy = _Fork(); /* without the handlers and locks of fork() */

        if (copy == 0) {
                fn();
                _exit(0);
        }
        for (int ms = 0; copy > 0 && ms < limit_ms; ms++) {
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
