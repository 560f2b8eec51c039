/*
 * sys/poll/sleeper.c - how a loop's thread sleeps, and how other threads wake it.
 */
#include "sys/poll/sleeper.h"

#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sys/above_stdio.h"

enum { NS_PER_S = 1000000000 };

int ed_sleeper_init(struct ed_sleeper *sleeper)
{
        *sleeper = (struct ed_sleeper){ .between = ED_SLEEP_NONE };
        sleeper->wake_fd = ed_fd_above_stdio(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        return sleeper->wake_fd < 0 ? sleeper->wake_fd : 0;
}

void ed_sleeper_fini(struct ed_sleeper *sleeper)
{
        close(sleeper->wake_fd);
}

bool ed_sleeper_begin(struct ed_sleeper *sleeper, enum ed_sleep how)
{
        uint32_t state = sleeper->between;

        return atomic_compare_exchange_strong(&sleeper->state, &state, (uint32_t) how);
}

void ed_sleeper_sleep(struct ed_sleeper *sleeper, int64_t timeout_ns)
{
        struct timespec ts = { timeout_ns / NS_PER_S, timeout_ns % NS_PER_S };

        /*
         * Returns at once if the sleeper was woken since begin. A signal handler that wakes the
         * sleeper ends the sleep; any other signal may end it too.
         */
        (void) syscall(SYS_futex, &sleeper->state, FUTEX_WAIT_PRIVATE, ED_SLEEP_FUTEX,
                       timeout_ns < 0 ? NULL : &ts);
}

void ed_sleeper_end(struct ed_sleeper *sleeper)
{
        if (atomic_load_explicit(&sleeper->state, memory_order_relaxed) != sleeper->between)
                (void) atomic_exchange(&sleeper->state, sleeper->between);
}

static void write_wake(struct ed_sleeper *sleeper)
{
        uint64_t one = 1;

        /*
         * Fails only if the counter overflows, after 2^64 wakes. Does not use write(2), which is a
         * cancellation point: if the thread ended there, later wakes would be skipped because the
         * state is already ED_SLEEP_WOKEN.
         */
        (void) syscall(SYS_write, sleeper->wake_fd, &one, sizeof(one));
}

void ed_sleeper_share(struct ed_sleeper *sleeper)
{
        sleeper->between = ED_SLEEP_POLLER;
        /* Report an earlier wake on 'wake_fd', because no other waiter has seen it. */
        if (atomic_exchange(&sleeper->state, sleeper->between) == ED_SLEEP_WOKEN)
                write_wake(sleeper);
}

void ed_sleeper_wake(struct ed_sleeper *sleeper)
{
        uint32_t state = atomic_exchange(&sleeper->state, ED_SLEEP_WOKEN);

        if (state == ED_SLEEP_FUTEX)
                (void) syscall(SYS_futex, &sleeper->state, FUTEX_WAKE_PRIVATE, 1);
        else if (state == ED_SLEEP_POLLER)
                write_wake(sleeper);
}
