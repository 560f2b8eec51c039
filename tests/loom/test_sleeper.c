/*
 * test_sleeper.c - sys/poll/sleeper.c in every order: no wake is slept over, in the
 * futex, in the poller, from one to the other, and by somebody else who waits.
 */
#include "sys/poll/sleeper.h"

#include "loom.h"
#include "sys/eventfd.h"

enum { WAKERS = 2 };

static struct ed_sleeper sleeper;
static _Atomic int brought;

static void begin(void)
{
        loom_event_written = false;
        brought = 0;
        DFS_CHECK_EQ(ed_sleeper_init(&sleeper), 0);
}

static void bring(void *arg)
{
        (void) arg;
        atomic_fetch_add(&brought, 1);
        ed_sleeper_wake(&sleeper);
}

static void sleep_once(bool in_poller, int64_t timeout_ns)
{
        if (!ed_sleeper_begin(&sleeper, in_poller ? ED_SLEEP_POLLER : ED_SLEEP_FUTEX))
                loom_event_written = false; /* a poll that does not wait takes it too */
        else if (in_poller)
                loom_event_wait();
        else
                ed_sleeper_sleep(&sleeper, timeout_ns);
        ed_sleeper_end(&sleeper);
}

LOOM_TEST(sleeper, whoever_sleeps_in_the_one_or_the_other_hears_of_each_wake)
{
        int wakers[WAKERS];
        bool in_poller;

        begin();
        in_poller = dfs_choose(2);
        for (int i = 0; i < WAKERS; i++)
                wakers[i] = dfs_thread(bring, NULL);
        while (atomic_load(&brought) < WAKERS)
                sleep_once(in_poller, -1);
        for (int i = 0; i < WAKERS; i++)
                dfs_join(wakers[i]);
}

/* A descriptor is watched from the second sleep on. */
LOOM_TEST(sleeper, a_wake_is_heard_of_on_the_way_from_the_futex_to_the_poller)
{
        int wakers[WAKERS];

        begin();
        for (int i = 0; i < WAKERS; i++)
                wakers[i] = dfs_thread(bring, NULL);
        for (int sleeps = 0; atomic_load(&brought) < WAKERS; sleeps++)
                sleep_once(sleeps > 0, -1);
        for (int i = 0; i < WAKERS; i++)
                dfs_join(wakers[i]);
}

/* A wake that comes as the time is over is not lost, and ends one sleep at most. */
LOOM_TEST(sleeper, a_sleep_with_an_end_and_a_wake_meet)
{
        int waker;

        begin();
        waker = dfs_thread(bring, NULL);
        sleep_once(false, 1);
        while (atomic_load(&brought) < 1)
                sleep_once(false, -1);
        dfs_join(waker);
        ed_sleeper_end(&sleeper);
        DFS_CHECK(ed_sleeper_begin(&sleeper, ED_SLEEP_FUTEX));
        ed_sleeper_end(&sleeper);
}

/* The loop of another program waits for the descriptor, and then has this one poll. */
LOOM_TEST(sleeper, whoever_waits_for_the_descriptor_hears_of_each_wake)
{
        int wakers[WAKERS];

        begin();
        for (int i = 0; i < WAKERS; i++)
                wakers[i] = dfs_thread(bring, NULL);
        ed_sleeper_share(&sleeper);
        do {
                loom_event_wait();
                ed_sleeper_end(&sleeper);
        } while (atomic_load(&brought) < WAKERS);
        for (int i = 0; i < WAKERS; i++)
                dfs_join(wakers[i]);
}
