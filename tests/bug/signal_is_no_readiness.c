/*
 * A signal in the middle of asking whether a descriptor is ready does not pass
 * for an answer.  It did: where the descriptor blocks, the read that followed
 * kept the loop, and the Ctrl-C that had come could not end the run.
 */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "sys/sys.h"
#include "test.h"

/* The linker has the library ask here; so many times a signal comes first. */
int __real_poll(struct pollfd *fds, nfds_t n, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout_ms);

static int signals, asked;

int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
        asked++;
        if (signals > 0) {
                signals--;
                errno = EINTR;
                return -1;
        }
        return __real_poll(fds, n, timeout_ms);
}

TEST(a_signal_while_asking_makes_nothing_ready)
{
        struct ed_sys *sys;
        int pipes[2];

        CHECK_EQ(ed_sys_epoll_new(&sys), 0);
        CHECK_EQ(pipe(pipes), 0);
        signals = 2;
        CHECK(!sys->poll->is_readable(sys, pipes[0]));
        CHECK_EQ(asked, 3);
        signals = 1;
        CHECK(sys->poll->is_writable(sys, pipes[1]));
        CHECK_EQ(asked, 5);
        close(pipes[0]);
        close(pipes[1]);
        sys->free(sys);
}
