/*
 * A signal whose handler begins when nobody receives it any more, since it was
 * on its way on another thread, goes to the handler that came back.  It was
 * taken for an interrupt of the run, or ended the process.
 */
#include <eddy/eddy.h>
#include <signal.h>

#include "test.h"

static volatile sig_atomic_t own_calls;

static void own_handler(int signo)
{
        (void) signo;
        own_calls++;
}

static int signal_after_close(void *arg)
{
        const int signo = SIGUSR1;
        struct sigaction ours;
        eddy_signal *open;

        (void) arg;
        CHECK_EQ(eddy_signal_open(&signo, 1, &open), 0);
        CHECK_EQ(sigaction(signo, NULL, &ours), 0);
        eddy_signal_close(open);
        ours.sa_handler(signo);
        return eddy_sleep(0);
}

static void check_late_signal(unsigned flags)
{
        struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_WATCHDOG | flags };
        struct sigaction now;

        (void) signal(SIGUSR1, own_handler);
        own_calls = 0;
        CHECK_EQ(eddy_run(signal_after_close, NULL, &opts), 0);
        CHECK_EQ(own_calls, 1);
        CHECK_EQ(sigaction(SIGUSR1, NULL, &now), 0);
        CHECK(now.sa_handler == own_handler);
        (void) signal(SIGUSR1, SIG_DFL);
}

TEST(a_late_signal_is_not_the_runs)
{
        check_late_signal(0);
}

TEST(a_late_signal_does_not_end_the_process)
{
        check_late_signal(EDDY_RUN_NO_SIGNALS);
}
