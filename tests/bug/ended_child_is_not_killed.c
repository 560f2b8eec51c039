/*
 * If a start fails after the child was made, and the child has already ended in a program that
 * ignores SIGCHLD, no process is killed. One was: that which had got the child's number.
 */
#include <eddy/eddy.h>
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "test.h"

int __real_kill(pid_t pid, int signo);
int __wrap_kill(pid_t pid, int signo);
int __wrap_pidfd_open(pid_t pid, unsigned flags);

static int starts, kills;

int __wrap_kill(pid_t pid, int signo)
{
        kills++;
        return __real_kill(pid, signo);
}

/* The child has ended, and there is no descriptor left. */
int __wrap_pidfd_open(pid_t pid, unsigned flags)
{
        siginfo_t info;

        (void) flags;
        starts++;
        while (waitid(P_PID, (id_t) pid, &info, WEXITED | WNOWAIT) == 0 || errno == EINTR)
                continue;
        errno = EMFILE;
        return -1;
}

static int start(void *arg)
{
        static const char *const arguments[] = { "true", NULL };
        struct eddy_process_opts opts = { .arguments = arguments };
        eddy_process *process;

        (void) arg;
        return eddy_process_start(&opts, &process);
}

TEST(an_ended_child_is_not_killed_if_its_start_fails)
{
        int err;

        CHECK(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
        err = eddy_run(start, NULL, NULL);
        if (starts == 0)
                test_skip("the C library has no pidfd_open()");
        CHECK_EQ(err, -EMFILE);
        CHECK_EQ(kills, 0);
}
