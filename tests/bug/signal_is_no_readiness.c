/*
 * A signal in the middle of asking whether a descriptor is ready does not pass
 * for an answer.  It did: where the descriptor blocks, the read that followed
 * kept the loop, and the Ctrl-C that had come could not end the run.
 */
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "sys/sys.h"
#include "test.h"

static volatile sig_atomic_t alarms;

static void on_alarm(int signo)
{
        (void) signo;
        alarms++;
}

TEST(a_signal_while_asking_makes_nothing_ready)
{
        struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
        struct itimerval often = { { .tv_usec = 20 }, { .tv_usec = 20 } }, never = { { 0 } };
        struct ed_sys *sys;
        int pipes[2];

        CHECK_EQ(ed_sys_epoll_new(&sys), 0);
        CHECK_EQ(pipe(pipes), 0);
        CHECK_EQ(sigaction(SIGALRM, &action, NULL), 0);
        CHECK_EQ(setitimer(ITIMER_REAL, &often, NULL), 0);
        for (int asked = 0; asked < 300000; asked++)
                CHECK(!sys->ops->is_readable(sys, pipes[0]));
        CHECK_EQ(setitimer(ITIMER_REAL, &never, NULL), 0);
        CHECK(alarms > 0);
        close(pipes[0]);
        close(pipes[1]);
        sys->ops->free(sys);
}
