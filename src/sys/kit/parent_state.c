/*
 * sys/kit/parent_state.c - the state that copies would change for each other: offsets of open
 * files, and signals of the process that waits for them.
 */
#include "sys/kit/parent_state.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/fault/last_words.h"

enum { FILES_MAX = 1024 };

/* --- offsets, which the copies share with the process --- */

static struct {
        int fds[FILES_MAX];
        off_t at[FILES_MAX];
        int count;
} files;

/* Copies do not write to the standard streams of the process, but others may. */
static bool is_file_of_program(int fd)
{
        struct stat file = { 0 }, stream = { 0 };

        if (fstat(fd, &file) < 0 || !S_ISREG(file.st_mode))
                return false;
        for (int i = STDOUT_FILENO; i <= STDERR_FILENO; i++)
                if (fstat(i, &stream) == 0 && stream.st_dev == file.st_dev &&
                    stream.st_ino == file.st_ino)
                        return false;
        return true;
}

void ed_sys_offsets_note(void)
{
        static int fds[FILES_MAX];
        int n = ed_sys_fds(fds, FILES_MAX);

        files.count = 0;
        for (int i = 0; i < n && i < FILES_MAX; i++) {
                off_t at = is_file_of_program(fds[i]) ? lseek(fds[i], 0, SEEK_CUR) : -1;

                if (at < 0)
                        continue;
                files.fds[files.count] = fds[i];
                files.at[files.count++] = at;
        }
}

void ed_sys_offsets_restore(void)
{
        for (int i = 0; i < files.count; i++)
                (void) lseek(files.fds[i], files.at[i], SEEK_SET);
}

/* --- signals --- */

/* The first ones end the process after its copy; the others stop both. */
static const int taken[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGCHLD };
enum { ENDS = 4, ALL = ed_array_count(taken) };

static struct {
        struct sigaction actions[ALL];
        sigset_t mask;
} before;

static volatile sig_atomic_t asked_to_end;

static void on_end(int signo)
{
        asked_to_end = signo;
}

bool ed_sys_is_asked_to_end(void)
{
        return asked_to_end;
}

/* A second signal ends the process. SIGCHLD must not be ignored, or copies have no status. */
void ed_sys_signals_take(void)
{
        struct sigaction end = { .sa_handler = on_end, .sa_flags = (int) SA_RESETHAND };
        struct sigaction none = { .sa_handler = SIG_DFL };
        sigset_t others;

        (void) sigfillset(&others);
        for (size_t i = 0; i < ALL; i++) {
                const struct sigaction *action = &before.actions[i];

                (void) sigdelset(&others, taken[i]);
                (void) sigaction(taken[i], NULL, &before.actions[i]);
                if (taken[i] == SIGCHLD || action->sa_flags & SA_SIGINFO ||
                    action->sa_handler != SIG_IGN)
                        (void) sigaction(taken[i], i < ENDS ? &end : &none, NULL);
        }
        /* Timers and other children of the program must not interrupt the wait. */
        (void) pthread_sigmask(SIG_SETMASK, &others, &before.mask);
}

void ed_sys_signals_return(void)
{
        for (size_t i = 0; i < ALL; i++)
                (void) sigaction(taken[i], &before.actions[i], NULL);
        (void) pthread_sigmask(SIG_SETMASK, &before.mask, NULL);
}
