/*
 * A signal that comes when the loop is about to wait ends the wait.  Under
 * ThreadSanitizer, which keeps a signal from its handler between the calls that
 * it knows, it was handled when the wait was over.
 */
#include <eddy/eddy.h>
#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test.h"

int __real_epoll_pwait2(int fd, struct epoll_event *events, int max, const struct timespec *timeout,
                        const sigset_t *mask);
int __wrap_epoll_pwait2(int fd, struct epoll_event *events, int max, const struct timespec *timeout,
                        const sigset_t *mask);

static int signals; /* that are to come */

/* By the kernel's own call: what is known of kill() has its handlers run at once. */
int __wrap_epoll_pwait2(int fd, struct epoll_event *events, int max, const struct timespec *timeout,
                        const sigset_t *mask)
{
        if (signals > 0) {
                signals--;
                CHECK_EQ(syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGINT), 0);
        }
        return __real_epoll_pwait2(fd, events, max, timeout, mask);
}

static int waits_for_a_signal(void *arg)
{
        (void) arg;
        signals = 1;
        return eddy_sleep(EDDY_SEC(1000));
}

/* Else the case runs into its time limit. */
TEST(a_signal_just_before_a_wait_ends_it)
{
        struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_WATCHDOG };

        CHECK_EQ(eddy_run(waits_for_a_signal, NULL, &opts), -ECANCELED);
        CHECK_EQ(eddy_run_signal(), SIGINT);
        CHECK_EQ(signals, 0);
}
