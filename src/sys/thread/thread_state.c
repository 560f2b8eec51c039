/*
 * sys/thread/thread_state.c - reading /proc/self/task.
 */
#include "sys/thread/thread_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/def.h"

static const struct {
        long call;
        const char *name;
} calls[] = {
#define CALL(name)                                                                                 \
        {                                                                                          \
                SYS_##name, #name                                                                  \
        }
        CALL(accept),          CALL(accept4),    CALL(clock_nanosleep),
        CALL(close),           CALL(connect),    CALL(copy_file_range),
        CALL(epoll_pwait),     CALL(fallocate),  CALL(fcntl),
        CALL(fdatasync),       CALL(flock),      CALL(fsync),
        CALL(ftruncate),       CALL(futex),      CALL(getdents64),
        CALL(getrandom),       CALL(ioctl),      CALL(io_getevents),
        CALL(madvise),         CALL(mmap),       CALL(mq_timedreceive),
        CALL(mq_timedsend),    CALL(msgrcv),     CALL(msgsnd),
        CALL(msync),           CALL(munmap),     CALL(nanosleep),
        CALL(newfstatat),      CALL(openat),     CALL(ppoll),
        CALL(pread64),         CALL(preadv),     CALL(pselect6),
        CALL(pwrite64),        CALL(pwritev),    CALL(read),
        CALL(readv),           CALL(recvfrom),   CALL(recvmmsg),
        CALL(recvmsg),         CALL(renameat2),  CALL(rt_sigsuspend),
        CALL(rt_sigtimedwait), CALL(semtimedop), CALL(sendfile),
        CALL(sendmmsg),        CALL(sendmsg),    CALL(sendto),
        CALL(splice),          CALL(statx),      CALL(sync),
        CALL(unlinkat),        CALL(wait4),      CALL(waitid),
        CALL(write),           CALL(writev),
#ifdef SYS_open
        CALL(epoll_wait),      CALL(fork),       CALL(open),
        CALL(pause),           CALL(poll),       CALL(rename),
        CALL(select),          CALL(stat),       CALL(unlink),
        CALL(vfork),
#endif
#undef CALL
};

const char *ed_system_call_name(long call)
{
        for (size_t i = 0; i < ed_array_count(calls); i++)
                if (calls[i].call == call)
                        return calls[i].name;
        return NULL;
}

/* Open one of the thread's files. Errors: -errno. */
static int file_open(pid_t thread, const char *name)
{
        char path[64];
        int fd;

        snprintf(path, sizeof(path), "/proc/self/task/%d/%s", (int) thread, name);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

/*
 * Returns the thread's system call, or -1. The file contains "230 0x0 ... 0x7ffc 0x7fab", "-1 ..."
 * outside a call, or "running".
 */
static long call_of(pid_t thread)
{
        int fd = file_open(thread, "syscall");
        char text[256];
        ssize_t n;

        if (fd < 0)
                return -1;
        n = read(fd, text, sizeof(text) - 1);
        (void) close(fd);
        text[n > 0 ? n : 0] = '\0';
        return text[0] >= '0' && text[0] <= '9' ? strtol(text, NULL, 10) : -1;
}

/* Returns the value after the word and blanks, or NULL if the line does not begin with the word. */
static const char *value_of(const char *line, const char *word)
{
        size_t bytes = strlen(word);

        if (strncmp(line, word, bytes) != 0)
                return NULL;
        return line + bytes + strspn(line + bytes, "\t ");
}

/* Returns true if the line had one of the three values. */
static int line_take(const char *line, struct ed_thread_state *state)
{
        const char *value;

        if ((value = value_of(line, "State:")))
                state->is_blocked = *value != 'R';
        else if ((value = value_of(line, "SigBlk:")))
                state->masked = strtoull(value, NULL, 16);
        else if ((value = value_of(line, "voluntary_ctxt_switches:")))
                state->blocks = strtoull(value, NULL, 10);
        return value != NULL;
}

/*
 * Read line by line: a process in many groups has a long line. Returns the number of values found.
 */
static int status_take(int fd, struct ed_thread_state *state)
{
        char text[512], line[64];
        size_t length = 0;
        int taken = 0;
        ssize_t n;

        while ((n = read(fd, text, sizeof(text))) > 0)
                for (ssize_t i = 0; i < n; i++) {
                        if (text[i] != '\n') {
                                line[length] = text[i];
                                length += length < sizeof(line) - 1;
                                continue;
                        }
                        line[length] = '\0';
                        length = 0;
                        taken += line_take(line, state);
                }
        return taken;
}

int ed_thread_state(pid_t thread, struct ed_thread_state *ret_state)
{
        struct ed_thread_state state = { .call = -1 };
        int fd = file_open(thread, "status"), taken;

        if (fd < 0)
                return fd;
        taken = status_take(fd, &state);
        (void) close(fd);
        if (taken < 3)
                return -ENOENT;
        if (state.is_blocked)
                state.call = call_of(thread);
        *ret_state = state;
        return 0;
}
