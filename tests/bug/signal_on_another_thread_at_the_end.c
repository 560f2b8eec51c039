/*
 * A loop does not go away while another thread's signal handler wakes it.
 * The handler wrote to its descriptor, which may have become somebody else's.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "sys/poll/signals.h"
#include "test.h"

static atomic_bool waking, woken;

static void wake_slowly(struct ed_sys *sys)
{
        struct timespec a_while = { .tv_nsec = 50000000 };

        (void) sys;
        atomic_store(&waking, true);
        nanosleep(&a_while, NULL);
        atomic_store(&woken, true);
}

static void *interrupt_self(void *arg)
{
        pthread_kill(pthread_self(), SIGINT);
        return arg;
}

TEST(loop_outlives_a_handler_that_wakes_it)
{
        static const struct ed_sys_poll poll = { .wake = wake_slowly };
        struct timespec moment = { .tv_nsec = 100000 };
        struct ed_sys sys = { .poll = &poll };
        pthread_t other;

        CHECK(ed_sys_stop_install(&sys));
        CHECK_EQ(pthread_create(&other, NULL, interrupt_self, NULL), 0);
        while (!atomic_load(&waking))
                nanosleep(&moment, NULL);
        ed_sys_stop_remove(&sys);
        CHECK(atomic_load(&woken));
        CHECK_EQ(ed_sys_stop_signal(), SIGINT);
        pthread_join(other, NULL);
}
