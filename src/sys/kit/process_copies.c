/*
 * sys/kit/process_copies.c - fork() with files in memory as the standard streams of the child.
 */
#include "sys/kit/process_copies.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "sys/above_stdio.h"
#include "sys/kit/parent_state.h"
#include "sys/libc.h"

enum { STDOUT_KEPT_MIN = 100, SLICE_MS = 100, CHUNK_BYTES = 65536 };

/* --- the process --- */

int ed_sys_copies_open(struct ed_sys_copies *copies, size_t shared_bytes)
{
        copies->output = copies->error = -1;
        copies->shared =
                mmap(NULL, shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (copies->shared == MAP_FAILED)
                return -errno;
        (void) fflush(NULL);
        ed_sys_offsets_note();
        ed_sys_signals_take();
        return 0;
}

bool ed_sys_copies_can_run(void)
{
        return gettid() == getpid();
}

unsigned ed_sys_copies_threads(void)
{
        struct stat tasks = { 0 };

        /* A folder for each thread. */
        return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink > 2
                       ? (unsigned) tasks.st_nlink - 2
                       : 1;
}

size_t ed_sys_command_line(char *buf, size_t bytes)
{
        int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
        ssize_t n = fd >= 0 ? read(fd, buf, bytes) : 0;

        if (fd >= 0)
                (void) close(fd);
        return n > 0 && (size_t) n < bytes && buf[n - 1] == '\0' ? (size_t) n : 0;
}

int ed_sys_stdout_keep(void)
{
        int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDOUT_KEPT_MIN);

        return fd >= 0 ? fd : STDOUT_FILENO;
}

int ed_sys_stdout_kept(int fd)
{
        return fcntl(fd, F_GETFD) >= 0 ? fd : STDOUT_FILENO;
}

/* --- a copy --- */

/* A failure leaves the process's own stream. */
static void copy_begin(const struct ed_sys_copies *copies, pid_t parent)
{
        int none = open("/dev/null", O_RDONLY | O_CLOEXEC);

        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
                _exit(EXIT_FAILURE);
        if (none > STDIN_FILENO) {
                (void) dup2(none, STDIN_FILENO);
                (void) close(none);
        }
        (void) dup2(copies->output, STDOUT_FILENO);
        (void) dup2(copies->error, STDERR_FILENO);
        /* A copy that is killed would lose its buffer. */
        (void) setvbuf(stdout, NULL, _IONBF, 0);
        (void) setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
        ed_sys_signals_return();
}

/* New ones for each copy, because its own children may still write. */
static int streams_make(struct ed_sys_copies *copies)
{
        if (copies->output >= 0)
                (void) close(copies->output);
        if (copies->error >= 0)
                (void) close(copies->error);
        copies->output = ed_fd_above_stdio(memfd_create("output", MFD_CLOEXEC));
        copies->error = ed_fd_above_stdio(memfd_create("error", MFD_CLOEXEC));
        return copies->output < 0 ? copies->output : copies->error < 0 ? copies->error : 0;
}

static int64_t bytes_of(int fd)
{
        struct stat file = { 0 };

        return fstat(fd, &file) == 0 ? (int64_t) file.st_size : 0;
}

/* Wait for the end of the copy for a moment. Returns true if it has ended. */
static bool wait_slice(pid_t copy, struct pollfd *ended, int slice_ms)
{
        siginfo_t info = { 0 };

        (void) poll(ended, 1, slice_ms);
        if (waitid(P_PID, (id_t) copy, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
                return errno != EINTR;
        return info.si_pid == copy;
}

/* Wait for the end of the copy. Returns false if it must be killed. */
static bool wait_end(const struct ed_sys_copies *copies, pid_t copy, unsigned limit_s,
                     struct ed_sys_copy_end *end)
{
        struct pollfd ended = { .fd = pidfd_open(copy, 0), .events = POLLIN };
        int slice_ms = ended.fd >= 0 ? SLICE_MS : 1; /* without a pidfd nothing ends the slice */
        uint64_t slices = (uint64_t) limit_s * 1000 / (unsigned) slice_ms;
        bool is_running = true;

        while (is_running && !end->is_late && !end->is_large && !ed_sys_is_asked_to_end()) {
                is_running = !wait_slice(copy, &ended, slice_ms);
                end->is_late = is_running && slices-- == 0;
                end->is_large = is_running && (bytes_of(copies->output) > ED_SYS_COPY_BYTES_MAX ||
                                               bytes_of(copies->error) > ED_SYS_COPY_BYTES_MAX);
        }
        if (ended.fd >= 0)
                (void) close(ended.fd);
        return !is_running;
}

static int collect(pid_t copy, struct ed_sys_copy_end *end)
{
        int status;

        while (waitpid(copy, &status, 0) < 0)
                if (errno != EINTR)
                        return -errno;
        end->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        end->signo = WIFEXITED(status) ? 0 : WTERMSIG(status);
        return ed_sys_is_asked_to_end() ? -EINTR : 0;
}

int ed_sys_copies_run(struct ed_sys_copies *copies, unsigned limit_s,
                      struct ed_sys_copy_end *ret_end)
{
        int err = streams_make(copies);
        pid_t parent = getpid(), copy;

        *ret_end = (struct ed_sys_copy_end){ 0 };
        if (err < 0)
                return err;
        (void) fflush(NULL);
        ed_sys_offsets_restore();
        copy = fork();
        if (copy < 0)
                return -errno;
        if (copy == 0) {
                copy_begin(copies, parent);
                return 1;
        }
        if (!wait_end(copies, copy, limit_s, ret_end))
                (void) kill(copy, SIGKILL);
        return collect(copy, ret_end);
}

/* --- its output --- */

static size_t read_at(int fd, char *buf, size_t bytes, off_t at)
{
        size_t done = 0;
        ssize_t n;

        while (done < bytes && (n = pread(fd, buf + done, bytes - done, at + (off_t) done)) > 0)
                done += (size_t) n;
        return done;
}

size_t ed_sys_copies_output(const struct ed_sys_copies *copies, char *buf, size_t bytes)
{
        size_t n = read_at(copies->output, buf, bytes, 0);

        return n < bytes ? n : (size_t) bytes_of(copies->output);
}

uint64_t ed_sys_copies_checksum(const struct ed_sys_copies *copies)
{
        static char chunk[CHUNK_BYTES];
        uint64_t sum = ED_HASH_EMPTY;
        off_t at = 0;
        size_t n;

        while ((n = read_at(copies->output, chunk, sizeof(chunk), at)) > 0) {
                at += (off_t) n;
                sum = ed_hash(sum, chunk, n);
        }
        return sum;
}

void ed_sys_copies_error(const struct ed_sys_copies *copies, char *buf, size_t bytes)
{
        off_t end = (off_t) bytes_of(copies->error);
        off_t begin = end > (off_t) bytes - 1 ? end - ((off_t) bytes - 1) : 0;

        buf[read_at(copies->error, buf, bytes - 1, begin)] = '\0';
}
