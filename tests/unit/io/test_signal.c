/*
 * test_signal.c - signals that tasks wait for.
 */
#include <eddy/eddy.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "test.h"

static const struct eddy_run_opts quiet = { .flags = EDDY_RUN_NO_WATCHDOG };

#define RUN_TEST(claim)                                                                            \
        static void body_##claim(void);                                                            \
        static int main_##claim(void *arg)                                                         \
        {                                                                                          \
                (void) arg;                                                                        \
                body_##claim();                                                                    \
                return 0;                                                                          \
        }                                                                                          \
        TEST(claim)                                                                                \
        {                                                                                          \
                CHECK_EQ(eddy_run(main_##claim, NULL, &quiet), 0);                                 \
        }                                                                                          \
        static void body_##claim(void)

static eddy_signal *open_two(int a, int b)
{
        int signos[] = { a, b };
        eddy_signal *signal;

        CHECK_EQ(eddy_signal_open(signos, b ? 2 : 1, &signal), 0);
        return signal;
}

static void (*handling(int signo))(int)
{
        struct sigaction now;

        CHECK_EQ(sigaction(signo, NULL, &now), 0);
        return now.sa_handler;
}

/* --- receiving --- */

struct waiter {
        eddy_signal *signal;
        int result;
};

static int waits(void *arg)
{
        struct waiter *waiter = arg;

        waiter->result = eddy_signal_wait(waiter->signal);
        return 0;
}

/* A112: a signal wakes the task that waits for it, in the loop and not in the handler. */
RUN_TEST(a_signal_wakes_its_waiters)
{
        struct waiter waiter = { .signal = open_two(SIGUSR1, SIGUSR2) };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, waits, &waiter), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(raise(SIGUSR2), 0);
        CHECK_EQ(waiter.result, 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(waiter.result, SIGUSR2);
        eddy_signal_close(waiter.signal);
}

static int wait_for_signal(void *arg)
{
        return eddy_signal_wait(arg);
}

/* A114: what came before it was waited for is given then; the same one twice is given once. */
RUN_TEST(signals_that_came_before_are_given_once)
{
        eddy_signal *signal = open_two(SIGUSR1, SIGUSR2);

        CHECK_EQ(raise(SIGUSR2) | raise(SIGUSR1) | raise(SIGUSR2), 0);
        CHECK_EQ(eddy_signal_wait(signal), SIGUSR1);
        CHECK_EQ(raise(SIGUSR1), 0);
        CHECK_EQ(eddy_signal_wait(signal), SIGUSR2); /* one that comes often starves no other */
        CHECK_EQ(eddy_signal_wait(signal), SIGUSR1);
        CHECK_EQ(eddy_call_timeout(wait_for_signal, signal, EDDY_US(50)), -ETIMEDOUT);
        CHECK_EQ(raise(SIGUSR1), 0);
        CHECK_EQ(eddy_signal_wait(signal), SIGUSR1);
        eddy_signal_close(signal);
}

/* A114: all that opened a signal are notified. */
RUN_TEST(all_that_opened_it_are_notified)
{
        eddy_signal *a = open_two(SIGUSR1, 0), *b = open_two(SIGUSR1, SIGUSR2);

        CHECK_EQ(raise(SIGUSR1), 0);
        CHECK_EQ(eddy_signal_wait(a), SIGUSR1);
        CHECK_EQ(eddy_signal_wait(b), SIGUSR1);
        eddy_signal_close(a);
        CHECK_EQ(raise(SIGUSR1), 0);
        CHECK_EQ(eddy_signal_wait(b), SIGUSR1);
        eddy_signal_close(b);
}

RUN_TEST(one_task_waits_at_a_time)
{
        struct waiter waiter = { .signal = open_two(SIGUSR1, 0) };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, waits, &waiter), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(eddy_signal_wait(waiter.signal), -EBUSY);
        eddy_signal_close(waiter.signal);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(waiter.result, -ECANCELED);
}

/* A cancelled wait takes no signal away. */
RUN_TEST(a_cancelled_wait_loses_no_signal)
{
        struct waiter waiter = { .signal = open_two(SIGUSR1, 0) };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, waits, &waiter), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_scope_cancel(&scope);
        CHECK_EQ(raise(SIGUSR1), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(waiter.result, -ECANCELED);
        CHECK_EQ(eddy_signal_wait(waiter.signal), SIGUSR1);
        eddy_signal_close(waiter.signal);
}

/* --- one of several things --- */

struct selecting {
        struct eddy_choice choices[2];
        int index;
};

static int selects(void *arg)
{
        struct selecting *s = arg;

        s->index = eddy_select(s->choices, 2);
        return 0;
}

static void start_select(eddy_scope *scope, struct selecting *s, eddy_signal *signal,
                         eddy_event *event)
{
        s->choices[0] = eddy_choice_event(event);
        s->choices[1] = eddy_choice_signal(signal);
        s->index = -1;
        eddy_scope_begin(scope, NULL);
        CHECK_EQ(eddy_scope_start(scope, selects, s), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(s->index, -1);
}

RUN_TEST(a_select_takes_a_signal_that_came_before)
{
        eddy_signal *signal = open_two(SIGUSR1, SIGUSR2);
        struct eddy_choice choices[] = { eddy_choice_never(), eddy_choice_signal(signal) };

        CHECK_EQ(eddy_try_select(choices, 2), -EAGAIN);
        CHECK_EQ(raise(SIGUSR2), 0);
        CHECK_EQ(eddy_select(choices, 2), 1);
        CHECK_EQ(choices[1].result, SIGUSR2);
        CHECK_EQ(eddy_try_select(choices, 2), -EAGAIN);
        eddy_signal_close(signal);
}

RUN_TEST(a_signal_ends_a_select_that_waits_for_it)
{
        eddy_signal *signal = open_two(SIGUSR1, SIGUSR2);
        eddy_event event = { 0 };
        struct selecting s;
        eddy_scope scope;

        start_select(&scope, &s, signal, &event);
        CHECK_EQ(eddy_signal_wait(signal), -EBUSY);
        CHECK_EQ(raise(SIGUSR1), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(s.index, 1);
        CHECK_EQ(s.choices[1].result, SIGUSR1);
        CHECK(!event.waiters[0]);
        eddy_signal_close(signal);
}

/* The signal is there for the next wait. */
RUN_TEST(a_select_that_did_another_choice_takes_no_signal)
{
        eddy_signal *signal = open_two(SIGUSR1, 0);
        eddy_event event = { 0 };
        struct selecting s;
        eddy_scope scope;

        start_select(&scope, &s, signal, &event);
        CHECK_EQ(eddy_event_set(&event), 0);
        CHECK_EQ(raise(SIGUSR1), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(s.index, 0);
        CHECK_EQ(eddy_signal_wait(signal), SIGUSR1);
        eddy_signal_close(signal);
}

RUN_TEST(a_cancelled_select_takes_no_signal)
{
        eddy_signal *signal = open_two(SIGUSR1, 0);
        eddy_event event = { 0 };
        struct selecting s;
        eddy_scope scope;

        start_select(&scope, &s, signal, &event);
        eddy_scope_cancel(&scope);
        CHECK_EQ(raise(SIGUSR1), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(s.index, -ECANCELED);
        CHECK_EQ(eddy_signal_wait(signal), SIGUSR1);
        eddy_signal_close(signal);
}

RUN_TEST(closing_a_signal_ends_a_select_that_waits_for_it)
{
        eddy_signal *signal = open_two(SIGUSR1, 0);
        eddy_event event = { 0 };
        struct selecting s;
        eddy_scope scope;

        start_select(&scope, &s, signal, &event);
        eddy_signal_close(signal);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(s.index, 1);
        CHECK_EQ(s.choices[1].result, -ECANCELED);
        CHECK(!event.waiters[0]);
}

static void *puts_in_channel(void *arg)
{
        int item = 5;

        CHECK_EQ(eddy_channel_try_put(arg, &item), 0);
        return NULL;
}

/* Another thread has served the select, whose loop has not looked yet: the signal stays. */
RUN_TEST(a_signal_passes_over_a_select_that_was_served)
{
        eddy_signal *signal = open_two(SIGUSR1, 0);
        struct selecting s = { .index = -1 };
        eddy_channel *channel;
        eddy_scope scope;
        pthread_t putter;
        int item = -1;

        CHECK_EQ(eddy_channel_new(sizeof(int), 1, &channel), 0);
        s.choices[0] = eddy_choice_signal(signal);
        s.choices[1] = eddy_choice_channel_get(channel, &item);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, selects, &s), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(pthread_create(&putter, NULL, puts_in_channel, channel), 0);
        CHECK_EQ(pthread_join(putter, NULL), 0);
        CHECK_EQ(raise(SIGUSR1), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(s.index, 1);
        CHECK_EQ(item, 5);
        CHECK_EQ(eddy_signal_wait(signal), SIGUSR1);
        eddy_signal_close(signal);
        eddy_channel_release(channel);
}

/* --- what can be opened --- */

/* A112: a number that is not a signal, and one that cannot be caught, are distinguished. */
RUN_TEST(a_signal_that_cannot_be_received_is_refused)
{
        static const int uncatchable[] = { SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE, SIGILL };
        int none[] = { SIGUSR1, 0 }, negative = -1, large = 65;
        eddy_signal *signal;

        for (size_t i = 0; i < sizeof(uncatchable) / sizeof(*uncatchable); i++)
                CHECK_EQ(eddy_signal_open(&uncatchable[i], 1, &signal), EDDY_E_SIGNAL_UNCATCHABLE);
        CHECK_EQ(eddy_signal_open(none, 2, &signal), -EINVAL);
        CHECK_EQ(eddy_signal_open(&negative, 1, &signal), -EINVAL);
        CHECK_EQ(eddy_signal_open(&large, 1, &signal), -EINVAL);
        CHECK_EQ(eddy_signal_open(none, 0, &signal), -EINVAL);
        CHECK(handling(SIGUSR1) == SIG_DFL);
}

RUN_TEST(as_many_as_said_can_be_open)
{
        static const int usr1 = SIGUSR1;
        eddy_signal *signals[EDDY_SIGNALS_MAX], *one_more;

        for (int i = 0; i < EDDY_SIGNALS_MAX; i++)
                CHECK_EQ(eddy_signal_open(&usr1, 1, &signals[i]), 0);
        CHECK_EQ(eddy_signal_open(&usr1, 1, &one_more), -ENOSPC);
        CHECK_EQ(raise(SIGUSR1), 0);
        for (int i = 0; i < EDDY_SIGNALS_MAX; i++) {
                CHECK_EQ(eddy_signal_wait(signals[i]), SIGUSR1);
                eddy_signal_close(signals[i]);
        }
        CHECK(handling(SIGUSR1) == SIG_DFL);
}

static void ignore_report(const struct eddy_report *report, void *arg)
{
        (void) report;
        (void) arg;
}

TEST(debug_mode_takes_none_of_them)
{
        struct eddy_run_opts debug = { .flags = EDDY_RUN_NO_WATCHDOG | EDDY_RUN_DEBUG,
                                       .report = ignore_report };

        CHECK_EQ(eddy_run(main_as_many_as_said_can_be_open, NULL, &debug), 0);
}

TEST(outside_of_a_run_no_signal_can_be_opened)
{
        static const int usr1 = SIGUSR1;
        eddy_signal *signal;

        CHECK_EQ(eddy_signal_open(&usr1, 1, &signal), EDDY_E_RUN_NOT_RUNNING);
        eddy_signal_close(NULL);
}

/* --- what was before comes back --- */

static void handler(int signo)
{
        (void) signo;
}

/* A113, A110: the former handling comes back when the last of them closes. */
RUN_TEST(the_former_handling_comes_back)
{
        eddy_signal *a, *b;

        CHECK(signal(SIGUSR1, handler) != SIG_ERR);
        CHECK(signal(SIGUSR2, SIG_IGN) != SIG_ERR);
        a = open_two(SIGUSR1, SIGUSR2);
        b = open_two(SIGUSR1, 0);
        eddy_signal_close(a);
        CHECK(handling(SIGUSR2) == SIG_IGN);
        CHECK(handling(SIGUSR1) != handler);
        eddy_signal_close(b);
        CHECK(handling(SIGUSR1) == handler);
}

static int leaves_open(void *arg)
{
        *(eddy_signal **) arg = open_two(SIGUSR1, SIGTERM);
        return 0;
}

/* A113: the end of the run closes what is open; closing it then does no harm. */
TEST(the_end_of_the_run_closes_signals)
{
        eddy_signal *signal = NULL;

        CHECK_EQ(eddy_run(leaves_open, &signal, &quiet), 0);
        CHECK(handling(SIGUSR1) == SIG_DFL);
        CHECK(handling(SIGTERM) == SIG_DFL);
        eddy_signal_close(signal);
}

/* --- beside the signals that stop a run --- */

static int takes_sigint(void *arg)
{
        eddy_signal *signal = open_two(SIGINT, 0);

        (void) arg;
        CHECK_EQ(raise(SIGINT), 0);
        CHECK_EQ(eddy_signal_wait(signal), SIGINT);
        CHECK_EQ(raise(SIGINT), 0);
        CHECK_EQ(eddy_signal_wait(signal), SIGINT);
        CHECK_EQ(eddy_run_signal(), 0);
        eddy_signal_close(signal);
        CHECK_EQ(raise(SIGINT), 0);
        CHECK_EQ(eddy_sleep(EDDY_SEC(1000)), -ECANCELED);
        CHECK_EQ(eddy_run_signal(), SIGINT);
        return 3;
}

/* A107: SIGINT that was opened does not cancel the main task; closed again, it does. */
TEST(an_opened_interrupt_does_not_cancel_the_main_task)
{
        CHECK_EQ(eddy_run(takes_sigint, NULL, NULL), 3);
        CHECK(handling(SIGINT) == SIG_DFL);
}

/* --- two loops --- */

static pthread_barrier_t both_open;

static int receives_once(void *arg)
{
        eddy_signal *signal = open_two(SIGUSR1, 0);

        (void) arg;
        pthread_barrier_wait(&both_open);
        CHECK_EQ(eddy_signal_wait(signal), SIGUSR1);
        eddy_signal_close(signal);
        return 0;
}

static void *thread_receives(void *arg)
{
        CHECK_EQ(eddy_run(receives_once, arg, &quiet), 0);
        return NULL;
}

/* Loops of two threads are both notified; the signal may come to any thread. */
TEST(loops_of_two_threads_are_reported)
{
        pthread_t threads[2];

        CHECK_EQ(pthread_barrier_init(&both_open, NULL, 3), 0);
        for (int i = 0; i < 2; i++)
                CHECK_EQ(pthread_create(&threads[i], NULL, thread_receives, NULL), 0);
        pthread_barrier_wait(&both_open);
        CHECK_EQ(kill(getpid(), SIGUSR1), 0);
        for (int i = 0; i < 2; i++)
                CHECK_EQ(pthread_join(threads[i], NULL), 0);
        CHECK(handling(SIGUSR1) == SIG_DFL);
}
