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

#include "sys/poll/sleeper.h"
#include "test.h"

static int signals; /* that are to come */

/* By the kernel's own call: what is known of kill() has its handlers run at once. */
static void interrupt_self(void)
{
        if (signals == 0)
                return;
        signals--;
        CHECK_EQ(syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGINT), 0);
}

int __real_epoll_pwait2(int fd, struct epoll_event *events, int max, const struct timespec *timeout,
                        const sigset_t *mask);
int __wrap_epoll_pwait2(int fd, struct epoll_event *events, int max, const struct timespec *timeout,
                        const sigset_t *mask);

int __wrap_epoll_pwait2(int fd, struct epoll_event *events, int max, const struct timespec *timeout,
                        const sigset_t *mask)
{
        interrupt_self();
        return __real_epoll_pwait2(fd, events, max, timeout, mask);
}

void __real_ed_sleeper_sleep(struct ed_sleeper *sleeper, int64_t timeout_ns);
void __wrap_ed_sleeper_sleep(struct ed_sleeper *sleeper, int64_t timeout_ns);

void __wrap_ed_sleeper_sleep(struct ed_sleeper *sleeper, int64_t timeout_ns)
{
        interrupt_self();
        __real_ed_sleeper_sleep(sleeper, timeout_ns);
}

static int waits_for_a_signal(void *arg)
{
        (void) arg;
        signals = 1;
        return eddy_sleep(EDDY_SEC(1000));
}

static int is_not_called(void *arg)
{
        CHECK(!arg);
        return 0;
}

static int waits_beside_a_descriptor(void *arg)
{
        eddy_handle handle = { 0 };
        int ends[2], err;

        CHECK_EQ(pipe(ends), 0);
        CHECK_EQ(eddy_loop_watch(NULL, &handle, ends[0], EDDY_LOOP_READ, is_not_called, ends), 0);
        err = waits_for_a_signal(arg);
        CHECK_EQ(eddy_handle_cancel(&handle), 1);
        CHECK_EQ(close(ends[0]) | close(ends[1]), 0);
        return err;
}

/* Else the case runs into its time limit. */
static void check_wait(eddy_task_fn *fn)
{
        struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_WATCHDOG };

        CHECK_EQ(eddy_run(fn, NULL, &opts), -ECANCELED);
        CHECK_EQ(eddy_run_signal(), SIGINT);
        CHECK_EQ(signals, 0);
}

TEST(a_signal_just_before_a_sleep_ends_it)
{
        check_wait(waits_for_a_signal);
}

TEST(a_signal_just_before_a_wait_for_descriptors_ends_it)
{
        check_wait(waits_beside_a_descriptor);
}
