/*
 * sys/process/process.c - starting a child process by posix_spawn(3), and its pidfd.
 *
 * All descriptors of this process are closed on exec. Those for the child are first copied to
 * numbers above its standard streams, so that no copy overwrites another's source.
 */
#include "sys/process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eddy/error.h"
#include "sys/libc.h"

enum { ROWS = 24, COLUMNS = 80, TERMINAL_NAME_ROOM = 64, KILL_WAIT_MS = 1000 };

/* A start in progress; -1: no descriptor. */
struct spawn {
        struct ed_process_start *start;
        int folder;
        int given[ED_PROCESS_STREAMS]; /* the child's standard streams */
        char terminal[TERMINAL_NAME_ROOM];
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
};

static void close_all(int *fds)
{
        for (int i = 0; i < ED_PROCESS_STREAMS; i++) {
                if (fds[i] >= 0)
                        (void) close(fds[i]);
                fds[i] = -1;
        }
}

char *const *ed_process_environment(void)
{
        return environ;
}

/* --- descriptors above the standard streams --- */

/* Returns a copy above the standard streams, or -errno. */
static int copy_above(int fd)
{
        int copy = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

        return copy < 0 ? -errno : copy;
}

/* Move a new descriptor above the standard streams. Returns the descriptor, or -errno. */
static int move_above(int fd)
{
        int copy;

        if (fd > STDERR_FILENO)
                return fd;
        copy = copy_above(fd);
        (void) close(fd);
        return copy;
}

/* --- the program --- */

/*
 * The child replaces its standard streams before it enters the folder, whose descriptor may have
 * got the number of a stream that is closed here. Errors: EDDY_E_PROCESS_FOLDER, -EMFILE, -ENFILE,
 * -ENOMEM.
 */
static int folder_open(struct spawn *spawn)
{
        spawn->folder = AT_FDCWD;
        if (!spawn->start->folder)
                return 0;
        do
                spawn->folder = open(spawn->start->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
        while (spawn->folder < 0 && errno == EINTR);
        if (spawn->folder >= 0) {
                spawn->folder = move_above(spawn->folder);
                return spawn->folder < 0 ? spawn->folder : 0;
        }
        return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno
                                                                     : EDDY_E_PROCESS_FOLDER;
}

/* Errors: -ENOENT, -EACCES and others of execve(2). */
static int check_program(const struct spawn *spawn, const char *path)
{
        struct stat found = { 0 };

        if (fstatat(spawn->folder, path, &found, 0) < 0)
                return -errno;
        if (!S_ISREG(found.st_mode))
                return -EACCES;
        return faccessat(spawn->folder, path, X_OK, AT_EACCESS) < 0 ? -errno : 0;
}

/* Find the program as execvp(3) does, but in the folders of the child's PATH. */
static int program_find(struct spawn *spawn)
{
        struct ed_process_start *start = spawn->start;
        const char *at = start->search, *end;
        int err, result = -ENOENT;

        if (strchr(start->program, '/')) {
                (void) snprintf(start->path, start->path_room, "%s", start->program);
                return check_program(spawn, start->path);
        }
        if (!start->program[0])
                return -ENOENT;
        for (;; at = end + 1) {
                end = strchr(at, ':');
                if (!end)
                        end = at + strlen(at);
                /* An empty entry is the working folder. */
                (void) snprintf(start->path, start->path_room, "%.*s%s%s", (int) (end - at), at,
                                end == at ? "./" : "/", start->program);
                err = check_program(spawn, start->path);
                if (err == 0)
                        return 0;
                if (err == -EACCES)
                        result = err;
                if (!*end)
                        return result;
        }
}

/* --- streams --- */

static int set_nonblocking(int fd)
{
        int flags = fcntl(fd, F_GETFL);

        return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ? -errno : 0;
}

/* A pipe whose own end does not block; the two ends have flags of their own. */
static int pipe_open(struct spawn *spawn, int i)
{
        bool is_input = i == STDIN_FILENO;
        int fds[2], *own = &spawn->start->ends[i], *given = &spawn->given[i];

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        *own = move_above(fds[is_input]);
        *given = move_above(fds[!is_input]);
        if (*own < 0 || *given < 0)
                return *own < 0 ? *own : *given;
        return set_nonblocking(*own);
}

static int stream_open(struct spawn *spawn, int i)
{
        const struct eddy_process_io *io = &spawn->start->io[i];

        if (io->kind == EDDY_PROCESS_PIPE)
                return pipe_open(spawn, i);
        if (io->kind != EDDY_PROCESS_FD)
                return 0;
        spawn->given[i] = copy_above(io->fd);
        return spawn->given[i] < 0 ? spawn->given[i] : 0;
}

/* The terminal's other end is opened by the child, by its name. */
static int terminal_open(struct spawn *spawn)
{
        const struct ed_process_start *start = spawn->start;
        struct winsize size = { .ws_row = start->rows ? start->rows : ROWS,
                                .ws_col = start->columns ? start->columns : COLUMNS };
        int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

        if (fd < 0)
                return -errno;
        fd = move_above(fd);
        if (fd < 0)
                return fd;
        spawn->start->ends[STDIN_FILENO] = fd;
        if (grantpt(fd) < 0 || unlockpt(fd) < 0)
                return -errno;
        if (ptsname_r(fd, spawn->terminal, sizeof(spawn->terminal)) != 0)
                return -errno;
        (void) ioctl(fd, TIOCSWINSZ, &size);
        return set_nonblocking(fd);
}

static int streams_open(struct spawn *spawn)
{
        int err = 0;

        if (spawn->start->flags & EDDY_PROCESS_TERMINAL)
                return terminal_open(spawn);
        for (int i = 0; i < ED_PROCESS_STREAMS && err == 0; i++)
                err = stream_open(spawn, i);
        return err;
}

/* --- the child --- */

/* Add the action of the child for a standard stream. Returns an error number, as posix_spawn(3). */
static int stream_action(struct spawn *spawn, int i)
{
        posix_spawn_file_actions_t *actions = &spawn->actions;

        if (spawn->terminal[0])
                return i == STDIN_FILENO
                               ? posix_spawn_file_actions_addopen(actions, i, spawn->terminal,
                                                                  O_RDWR, 0)
                               : posix_spawn_file_actions_adddup2(actions, STDIN_FILENO, i);
        switch (spawn->start->io[i].kind) {
        case EDDY_PROCESS_NULL:
                return posix_spawn_file_actions_addopen(actions, i, "/dev/null",
                                                        i == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0);
        case EDDY_PROCESS_PIPE:
        case EDDY_PROCESS_FD:
                return posix_spawn_file_actions_adddup2(actions, spawn->given[i], i);
        case EDDY_PROCESS_STDOUT:
                return posix_spawn_file_actions_adddup2(actions, STDOUT_FILENO, i);
        default:
                return 0;
        }
}

static int file_actions(struct spawn *spawn)
{
        int err = 0;

        for (int i = 0; i < ED_PROCESS_STREAMS && err == 0; i++)
                err = stream_action(spawn, i);
        if (err == 0 && spawn->folder >= 0)
                err = posix_spawn_file_actions_addfchdir_np(&spawn->actions, spawn->folder);
        if (err == 0)
                err = posix_spawn_file_actions_addclosefrom_np(&spawn->actions, STDERR_FILENO + 1);
        return err;
}

static void set_attributes(struct spawn *spawn)
{
        short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
        unsigned wanted = spawn->start->flags;
        sigset_t none, all;

        sigemptyset(&none);
        sigfillset(&all);
        (void) posix_spawnattr_setsigmask(&spawn->attributes, &none);
        (void) posix_spawnattr_setsigdefault(&spawn->attributes, &all);
        /* The leader of a new session is also the leader of a new group. */
        if (wanted & (EDDY_PROCESS_SESSION | EDDY_PROCESS_TERMINAL))
                flags |= POSIX_SPAWN_SETSID;
        else if (wanted & EDDY_PROCESS_GROUP)
                flags |= POSIX_SPAWN_SETPGROUP; /* 0, the child's own number, is the default */
        (void) posix_spawnattr_setflags(&spawn->attributes, flags);
}

static int spawn_program(struct spawn *spawn)
{
        struct ed_process_start *start = spawn->start;
        pid_t pid;
        int err = posix_spawn_file_actions_init(&spawn->actions);

        if (err != 0)
                return -err;
        err = posix_spawnattr_init(&spawn->attributes);
        if (err == 0) {
                set_attributes(spawn);
                err = file_actions(spawn);
                if (err == 0)
                        err = posix_spawn(&pid, start->path, &spawn->actions, &spawn->attributes,
                                          start->arguments, start->environment);
                (void) posix_spawnattr_destroy(&spawn->attributes);
        }
        (void) posix_spawn_file_actions_destroy(&spawn->actions);
        if (err == 0)
                start->id.pid = (int) pid;
        return -err;
}

/* --- its pidfd --- */

int ed_process_end(struct ed_sys *sys, const struct ed_process_id *id, bool keep,
                   struct eddy_process_exit *ret_exit)
{
        bool has_pidfd = id->pidfd >= 0;
        siginfo_t info = { .si_pid = 0 };
        int result;

        (void) sys;
        do
                result = waitid(has_pidfd ? ED_P_PIDFD : P_PID,
                                (id_t) (has_pidfd ? id->pidfd : id->pid), &info,
                                WEXITED | WNOHANG | (keep ? WNOWAIT : 0));
        while (result < 0 && errno == EINTR);
        if (result < 0)
                return -errno;
        if (info.si_pid == 0)
                return -EAGAIN;
        *ret_exit = (struct eddy_process_exit){ .code = -1 };
        if (info.si_code == CLD_EXITED)
                ret_exit->code = info.si_status & 0xff;
        else
                ret_exit->signo = info.si_status;
        ret_exit->core_dumped = info.si_code == CLD_DUMPED;
        return 0;
}

int ed_process_signal(struct ed_sys *sys, const struct ed_process_id *id, bool to_group, int signo)
{
        int result;

        (void) sys;
        if (to_group || id->pidfd < 0)
                result = kill(to_group ? -id->pid : id->pid, signo);
        else
                result = pidfd_send_signal(id->pidfd, signo, NULL, 0);
        return result < 0 ? -errno : 0;
}

/* The process was killed: wait for a second at most. */
static void await_end(const struct ed_process_id *id)
{
        struct pollfd pfd = { .fd = id->pidfd, .events = POLLIN };
        struct eddy_process_exit unused;

        /* poll(2) ignores a descriptor of -1. */
        for (int ms = 0; ms < KILL_WAIT_MS && ed_process_end(NULL, id, true, &unused) == -EAGAIN;
             ms++)
                (void) poll(&pfd, 1, 1);
}

void ed_process_fd_close(const struct ed_process_id *id)
{
        if (id->pidfd >= 0)
                (void) close(id->pidfd);
}

void ed_process_finish(const struct ed_process_id *id, bool has_group, bool kill)
{
        struct eddy_process_exit unused;

        /* Numbers are only those of the child and its group while the child was not collected. */
        if (kill && ed_process_end(NULL, id, true, &unused) != -ECHILD) {
                if (has_group)
                        (void) ed_process_signal(NULL, id, true, SIGKILL);
                (void) ed_process_signal(NULL, id, false, SIGKILL);
                await_end(id);
        }
        (void) ed_process_end(NULL, id, false, &unused);
        ed_process_fd_close(id);
}

/*
 * End a child that no other code knows yet. If the program ignores SIGCHLD, the child may have
 * ended: then its number may be another process's.
 */
static void undo(const struct ed_process_id *id)
{
        struct eddy_process_exit unused;

        if (ed_process_end(NULL, id, true, &unused) == -ECHILD)
                return;
        (void) kill(id->pid, SIGKILL);
        while (waitpid(id->pid, NULL, 0) < 0 && errno == EINTR)
                continue;
}

/*
 * If the program ignores SIGCHLD, the child may have ended, and another process may have its
 * number: waitid(2) accepts only own children. Valgrind 3.19 and some sandboxes have no pidfds.
 */
static int pidfd_find(struct ed_process_start *start)
{
        struct eddy_process_exit unused;
        int fd = pidfd_open(start->id.pid, 0);

        if (fd >= 0)
                fd = move_above(fd);
        else
                fd = -errno;
        if (fd < 0 && fd != -ESRCH && fd != -ENOSYS && fd != -EPERM) {
                undo(&start->id);
                return fd;
        }
        start->id.pidfd = fd < 0 ? -1 : fd;
        start->is_collected = ed_process_end(NULL, &start->id, true, &unused) == -ECHILD;
        if (start->is_collected)
                ed_process_fd_close(&start->id);
        return 0;
}

void ed_process_start(struct ed_sys *sys, struct ed_process_start *start)
{
        struct spawn spawn = { .start = start, .given = { -1, -1, -1 } };
        int err;

        (void) sys;
        start->id.pidfd = -1;
        for (int i = 0; i < ED_PROCESS_STREAMS; i++)
                start->ends[i] = -1;
        err = folder_open(&spawn);
        if (err == 0)
                err = program_find(&spawn);
        if (err == 0)
                err = streams_open(&spawn);
        if (err == 0)
                err = spawn_program(&spawn);
        if (err == 0)
                err = pidfd_find(start);
        close_all(spawn.given);
        if (spawn.folder >= 0)
                (void) close(spawn.folder);
        if (err < 0)
                close_all(start->ends);
        start->result = err;
}
