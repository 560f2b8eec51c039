/*
 * test_fork.c - a child of fork() has none of its parent's loops, and cannot
 * touch them.
 */
#include <eddy/eddy.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

static const struct eddy_run_opts quiet = { .flags = EDDY_RUN_NO_WATCHDOG };

/* Wait for a child that checks by itself: 0 is what it is to end with. */
static int child_result(pid_t child)
{
        int status;

        CHECK_EQ(waitpid(child, &status, 0), child);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

#define CHILD_CHECK(cond)                                                                          \
        do {                                                                                       \
                if (!(cond))                                                                       \
                        _exit(__LINE__ % 255 + 1);                                                 \
        } while (0)

static int count_up(void *arg)
{
        ++*(int *) arg;
        return 0;
}

static int small_main(void *arg)
{
        (void) arg;
        return eddy_sleep(1) == 0 ? 5 : -1;
}

/* --- what a child sees --- */

struct family {
        eddy_loop *loop;
        eddy_handle handle;
        eddy_event event;
        int calls;
};

static void live_as_child(struct family *family)
{
        eddy_handle handle = { 0 };

        CHILD_CHECK(eddy_task_current() == NULL);
        CHILD_CHECK(eddy_loop_current() == NULL);
        CHILD_CHECK(eddy_sleep(1) == EDDY_E_RUN_NOT_RUNNING);
        CHILD_CHECK(eddy_event_wait(&family->event) == EDDY_E_RUN_NOT_RUNNING);
        CHILD_CHECK(eddy_background(count_up, &family->calls) == EDDY_E_RUN_NOT_RUNNING);
        CHILD_CHECK(eddy_loop_call_soon(family->loop, &handle, count_up, NULL) ==
                    EDDY_E_LOOP_FORKED);
        CHILD_CHECK(eddy_loop_call_threadsafe(family->loop, &handle, count_up, NULL) ==
                    EDDY_E_LOOP_FORKED);
        CHILD_CHECK(eddy_loop_step(family->loop) == EDDY_E_LOOP_FORKED);
        CHILD_CHECK(eddy_loop_run(family->loop, small_main, NULL) == EDDY_E_LOOP_FORKED);
        CHILD_CHECK(eddy_loop_close(family->loop) == EDDY_E_LOOP_FORKED);
        CHILD_CHECK(eddy_handle_cancel(&family->handle) == 0);
        eddy_loop_stop(family->loop);
        /* A run of its own it can have. */
        CHILD_CHECK(eddy_run(small_main, NULL, &quiet) == 5);
        _exit(0);
}

static int forks(void *arg)
{
        struct family *family = arg;
        pid_t child;

        family->loop = eddy_loop_ref(eddy_loop_current());
        CHECK_EQ(eddy_loop_call_threadsafe(family->loop, &family->handle, count_up, &family->calls),
                 0);
        child = fork();
        CHECK(child >= 0);
        if (child == 0)
                live_as_child(family);
        CHECK_EQ(child_result(child), 0);
        CHECK_EQ(eddy_sleep(EDDY_US(10)), 0);
        CHECK_EQ(family->calls, 1);
        return 3;
}

/* A22: the child has neither a current task nor a loop; the parent's goes on undisturbed. */
TEST(a_child_has_no_loop_and_may_run_its_own)
{
        struct family family = { .calls = 0 };

        CHECK_EQ(eddy_run(forks, &family, &quiet), 3);
        eddy_loop_release(family.loop);
}

static int uses_parents_channel(void *arg)
{
        int item = 1;

        return eddy_channel_put(arg, &item) == EDDY_E_LOOP_FORKED &&
                               eddy_channel_get(arg, &item) == EDDY_E_LOOP_FORKED
                       ? 5
                       : -1;
}

/* What threads share is half of it in the other process: it would wait for ever. */
TEST(a_child_cannot_use_its_parents_channel)
{
        eddy_channel *channel;
        pid_t child;

        CHECK_EQ(eddy_channel_new(sizeof(int), 1, &channel), 0);
        CHECK_EQ(eddy_run(small_main, NULL, &quiet), 5);
        child = fork();
        CHECK(child >= 0);
        if (child == 0) {
                CHILD_CHECK(eddy_run(uses_parents_channel, channel, &quiet) == 5);
                _exit(0);
        }
        CHECK_EQ(child_result(child), 0);
        eddy_channel_release(channel);
}

/* Threads use a channel without any run, so a child finds out without one, too. */
TEST(a_child_cannot_use_a_channel_that_was_made_before_any_run)
{
        eddy_channel *channel;
        int item = 1;
        pid_t child;

        CHECK_EQ(eddy_channel_new(sizeof(int), 1, &channel), 0);
        child = fork();
        CHECK(child >= 0);
        if (child == 0) {
                CHILD_CHECK(eddy_channel_put(channel, &item) == EDDY_E_LOOP_FORKED);
                CHILD_CHECK(eddy_channel_get(channel, &item) == EDDY_E_LOOP_FORKED);
                CHILD_CHECK(eddy_channel_put_dropping(channel, &item, NULL) == EDDY_E_LOOP_FORKED);
                _exit(0);
        }
        CHECK_EQ(child_result(child), 0);
        CHECK_EQ(eddy_channel_put(channel, &item), 0);
        eddy_channel_release(channel);
}

/* A22: neither does a fork between two steps of a loop. */
TEST(a_child_cannot_step_its_parents_loop)
{
        eddy_loop *loop;
        pid_t child;

        CHECK_EQ(eddy_loop_new(&quiet, &loop), 0);
        CHECK_EQ(eddy_loop_run(loop, small_main, NULL), 5);
        child = fork();
        if (child == 0) {
                CHILD_CHECK(eddy_loop_step(loop) == EDDY_E_LOOP_FORKED);
                CHILD_CHECK(eddy_loop_fd(loop) == EDDY_E_LOOP_FORKED);
                CHILD_CHECK(eddy_run(small_main, NULL, &quiet) == 5);
                _exit(0);
        }
        CHECK_EQ(child_result(child), 0);
        CHECK_EQ(eddy_loop_run(loop, small_main, NULL), 5);
        CHECK_EQ(eddy_loop_close(loop), 0);
}

/* --- signals --- */

static int forks_and_signals(void *arg)
{
        pid_t child = fork();

        (void) arg;
        if (child == 0) {
                /* Not by the parent's handler: it would stop the parent's loop. */
                (void) raise(SIGTERM);
                _exit(1);
        }
        CHECK_EQ(child_result(child), 1000 + SIGTERM);
        CHECK_EQ(eddy_sleep(1), 0);
        CHECK_EQ(eddy_run_signal(), 0);
        return 4;
}

/* A22: a signal to the child is the child's alone. */
TEST(a_signal_to_the_child_does_not_stop_the_parent)
{
        CHECK_EQ(eddy_run(forks_and_signals, NULL, &quiet), 4);
}

/* --- returning --- */

static int forks_and_returns(void *arg)
{
        pid_t child = fork();

        (void) arg;
        if (child == 0)
                return 0;
        CHECK_EQ(child_result(child), 1000 + SIGABRT);
        return 6;
}

/* A22: a child that returns into its parent's loop is ended, with one sentence. */
TEST(a_child_that_returns_from_a_task_is_ended)
{
        CHECK_EQ(eddy_run(forks_and_returns, NULL, &quiet), 6);
}

static int forks_in_callback(void *arg)
{
        pid_t child = fork();

        if (child == 0)
                return 0;
        *(int *) arg = child_result(child);
        return 0;
}

static int forks_outside_of_tasks(void *arg)
{
        eddy_handle handle = { 0 };
        int seen[2] = { 0 };

        (void) arg;
        CHECK_EQ(eddy_loop_call_soon(NULL, &handle, forks_in_callback, &seen[0]), 0);
        CHECK_EQ(eddy_to_thread(forks_in_callback, &seen[1]), 0);
        CHECK_EQ(seen[0], 1000 + SIGABRT);
        CHECK_EQ(seen[1], 1000 + SIGABRT);
        return 0;
}

/* A22: so is one that returns from a callback, or from a job of a thread pool. */
TEST(a_child_that_returns_from_a_callback_or_a_job_is_ended)
{
        CHECK_EQ(eddy_run(forks_outside_of_tasks, NULL, &quiet), 0);
}

/* --- what a child gives back --- */

static int reads_a_byte(void *arg)
{
        int *pair = arg;
        char byte;

        CHECK_EQ(read(pair[0], &byte, 1), 1);
        pair[2]++;
        return 0;
}

static int opens_in_child(void *arg)
{
        const int signo = SIGUSR1;
        eddy_signal *signal;

        CHILD_CHECK(eddy_signal_open(&signo, 1, &signal) == 0);
        /* The parent's may lie where the child's own does. */
        eddy_signal_close(arg);
        CHILD_CHECK(raise(signo) == 0);
        CHILD_CHECK(eddy_signal_wait(signal) == signo);
        eddy_signal_close(signal);
        return 0;
}

static int child_gives_back(void *arg)
{
        const int signo = SIGUSR1;
        eddy_handle handle = { 0 };
        eddy_signal *signal;
        int pair[3] = { 0 };
        pid_t child;

        (void) arg;
        CHECK_EQ(pipe(pair), 0);
        CHECK_EQ(eddy_loop_watch(NULL, &handle, pair[0], EDDY_LOOP_READ, reads_a_byte, pair), 0);
        CHECK_EQ(eddy_signal_open(&signo, 1, &signal), 0);
        child = fork();
        if (child == 0) {
                CHILD_CHECK(eddy_handle_cancel(&handle) == 1);
                _exit(eddy_run(opens_in_child, signal, &quiet));
        }
        CHECK_EQ(child_result(child), 0);
        CHECK_EQ(write(pair[1], "x", 1), 1);
        for (int i = 0; i < 1000 && pair[2] == 0; i++)
                CHECK_EQ(eddy_sleep(EDDY_US(10)), 0);
        CHECK_EQ(pair[2], 1);
        CHECK_EQ(raise(signo), 0);
        CHECK_EQ(eddy_signal_wait(signal), signo);
        eddy_signal_close(signal);
        CHECK_EQ(eddy_handle_cancel(&handle), 1);
        close(pair[0]);
        close(pair[1]);
        return 0;
}

/* A22: a child that gives back what it has from its parent takes nothing from it. */
TEST(an_object_that_a_child_gives_back_stays_the_parents)
{
        CHECK_EQ(eddy_run(child_gives_back, NULL, &quiet), 0);
}

/* --- often --- */

enum { ROUNDS = 30 };

static int ticks(void *arg)
{
        int *left = arg;

        while (*left > 0)
                CHECK_EQ(eddy_sleep(EDDY_US(20)), 0);
        return 0;
}

static int forks_under_load(void *arg)
{
        eddy_scope scope;
        int left = ROUNDS;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 20; i++)
                CHECK_EQ(eddy_scope_start(&scope, ticks, &left), 0);
        for (; left > 0; left--) {
                pid_t child = fork();

                if (child == 0)
                        _exit(eddy_run(small_main, NULL, &quiet) == 5 ? 0 : 1);
                CHECK_EQ(eddy_sleep(EDDY_US(30)), 0);
                CHECK_EQ(child_result(child), 0);
        }
        return eddy_scope_end(&scope);
}

TEST(forks_under_load_leave_the_parents_tasks_alone)
{
        CHECK_EQ(eddy_run(forks_under_load, NULL, &quiet), 0);
}
