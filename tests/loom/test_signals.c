/*
 * test_signals.c - sys/poll/signals.c in every order: signals that come on other
 * threads while slots are opened, asked and closed.  A handler on the loop's
 * own thread, which runs to its end there, is one of these orders: it takes no
 * lock and waits for nobody.
 */
#include "sys/poll/signals.h"

#include <signal.h>

#include "loom.h"

static struct loom_table table;
static struct ed_target target;
static unsigned seen;

static void begin(void)
{
        struct ed_event none[4];

        loom_signals_reset();
        loom_table_init(&table);
        seen = 0;
        /* The count goes on from run to run. */
        DFS_CHECK_EQ(ed_signals_collect(&table.sys, &seen, none, 4), 0);
}

static void send(void *arg)
{
        const int *signos = arg;

        for (int i = 0; i < 2 && signos[i]; i++)
                loom_raise(signos[i]);
}

/* As the table's poll: signals that have come are reported at once; else it waits for a wake. */
static int poll_once(void)
{
        struct ed_event events[4];

        if (!ed_signals_have_come(seen))
                loom_table_wait(&table);
        table.woken = false;
        return ed_signals_collect(&table.sys, &seen, events, 4);
}

static const int both_users[] = { SIGUSR1, SIGUSR2 }, user_1_twice[] = { SIGUSR1, SIGUSR1 },
                 user_1[] = { SIGUSR1, 0 }, hangup[] = { SIGHUP, 0 };

LOOM_TEST(signals, each_signal_is_reported_and_not_slept_over)
{
        uint64_t all = ed_signal_bit(SIGUSR1) | ed_signal_bit(SIGUSR2) | ed_signal_bit(SIGHUP);
        uint64_t taken = 0;
        int slot;

        begin();
        slot = ed_signals_open(&table.sys, all, &target);
        DFS_CHECK(slot >= 0);
        (void) dfs_thread(send, (void *) both_users);
        (void) dfs_thread(send, (void *) hangup);
        while (taken != all)
                if (poll_once() > 0)
                        taken |= ed_signals_take(slot);
        ed_signals_close(slot);
        table.gone = true;
        DFS_CHECK_EQ(loom_deaths, 0);
}

/* Those that come while nobody has it open, or when it is closed, meet the default. */
LOOM_TEST(signals, a_closed_slot_leaves_its_loop_alone)
{
        uint64_t wanted = ed_signal_bit(SIGUSR1);
        int slot, sender, taken = 0;

        begin();
        sender = dfs_thread(send, (void *) user_1_twice);
        slot = ed_signals_open(&table.sys, wanted, &target);
        DFS_CHECK(slot >= 0);
        if (dfs_choose(2))
                taken = ed_signals_take(slot) == wanted;
        ed_signals_close(slot);
        table.gone = true;
        dfs_join(sender);
        DFS_CHECK(loom_deaths + taken <= 2);
        DFS_CHECK_EQ(ed_signals_open(&table.sys, wanted, &target), slot);
        DFS_CHECK_EQ(ed_signals_take(slot), 0);
        ed_signals_close(slot);
        loom_raise(SIGUSR1);
        DFS_CHECK(loom_deaths >= 1);
}

/* Two loops, of which one goes: the other one misses nothing. */
LOOM_TEST(signals, a_signal_for_two_reaches_the_one_that_stays)
{
        uint64_t wanted = ed_signal_bit(SIGUSR1);
        static struct loom_table other;
        int stays, goes;

        begin();
        loom_table_init(&other);
        goes = ed_signals_open(&other.sys, wanted, &target);
        stays = ed_signals_open(&table.sys, wanted, &target);
        (void) dfs_thread(send, (void *) user_1);
        ed_signals_close(goes);
        other.gone = true;
        while (poll_once() == 0)
                continue;
        DFS_CHECK_EQ(ed_signals_take(stays), wanted);
        ed_signals_close(stays);
        table.gone = true;
        DFS_CHECK_EQ(loom_deaths, 0);
}

static const int interrupt_twice[] = { SIGINT, SIGINT }, terminate[] = { SIGTERM, 0 };

LOOM_TEST(signals, the_first_of_three_stops_the_loop_and_the_others_end_the_process)
{
        int senders[2];

        begin();
        DFS_CHECK(ed_sys_stop_install(&table.sys));
        senders[0] = dfs_thread(send, (void *) interrupt_twice);
        senders[1] = dfs_thread(send, (void *) terminate);
        loom_table_wait(&table);
        DFS_CHECK(ed_sys_stop_signal() == SIGINT || ed_sys_stop_signal() == SIGTERM);
        dfs_join(senders[0]);
        dfs_join(senders[1]);
        ed_sys_stop_remove(&table.sys);
        table.gone = true;
        DFS_CHECK_EQ(loom_deaths, 2);
}

LOOM_TEST(signals, a_loop_that_is_left_is_not_stopped)
{
        int sender;

        begin();
        DFS_CHECK(ed_sys_stop_install(&table.sys));
        sender = dfs_thread(send, (void *) interrupt_twice);
        ed_sys_stop_remove(&table.sys);
        table.gone = true;
        dfs_join(sender);
        DFS_CHECK_EQ(loom_deaths + (ed_sys_stop_signal() != 0), 2);
}

/* Two loops with the same stop: the signal reaches the loop that joins late, or it is not lost. */
LOOM_TEST(signals, a_signal_stops_a_loop_that_joins_meanwhile)
{
        static struct loom_table other;
        int sender;

        begin();
        loom_table_init(&other);
        DFS_CHECK(ed_sys_stop_install(&table.sys));
        sender = dfs_thread(send, (void *) terminate);
        DFS_CHECK(ed_sys_stop_share(&other.sys));
        ed_sys_stop_remove(&table.sys);
        table.gone = true;
        loom_table_wait(&other);
        DFS_CHECK_EQ(ed_sys_stop_signal(), SIGTERM);
        dfs_join(sender);
        ed_sys_stop_remove(&other.sys);
        other.gone = true;
        DFS_CHECK_EQ(loom_deaths, 0);
}
