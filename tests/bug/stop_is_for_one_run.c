/*
 * eddy_loop_stop() ends one run, and whatever it left goes on in the next: a
 * main task that ends later ended a run for ever, a stop that came in the last
 * turn ended the next run, and a main task that was stopped before its start
 * was never begun.
 */
#include <eddy/eddy.h>
#include <errno.h>
#include <signal.h>

#include "test.h"

/* The background is not waited for. */
static const struct eddy_run_opts quiet = { .flags = EDDY_RUN_NO_WATCHDOG, .drain_ns = -1 };

static eddy_loop *new_loop(void)
{
        eddy_loop *loop;

        CHECK_EQ(eddy_loop_new(&quiet, &loop), 0);
        return loop;
}

static void end_loop(eddy_loop *loop)
{
        CHECK_EQ(eddy_loop_close(loop), 0);
}

struct stopped {
        eddy_loop *loop;
        eddy_event event;
        int result;
};

static int stops_and_waits(void *arg)
{
        struct stopped *stopped = arg;

        eddy_loop_stop(stopped->loop);
        stopped->result = eddy_event_wait(&stopped->event);
        return 0;
}

static int sets_event(void *arg)
{
        struct stopped *stopped = arg;

        return eddy_event_set(&stopped->event);
}

static int stops(void *arg)
{
        struct stopped *stopped = arg;

        CHECK_EQ(stopped->result, 0);
        eddy_loop_stop(stopped->loop);
        stopped->result = 1;
        return 0;
}

TEST(a_main_task_that_was_left_ends_no_other_run)
{
        struct stopped stopped = { .loop = new_loop(), .result = -EAGAIN };
        eddy_handle sets = { 0 }, last = { 0 };

        CHECK_EQ(eddy_loop_run(stopped.loop, stops_and_waits, &stopped), EDDY_E_LOOP_STOPPED);
        CHECK_EQ(eddy_loop_call_soon(stopped.loop, &sets, sets_event, &stopped), 0);
        CHECK_EQ(eddy_loop_call_later(stopped.loop, &last, EDDY_MS(2), stops, &stopped), 0);
        CHECK_EQ(eddy_loop_run_forever(stopped.loop), 0);
        CHECK_EQ(stopped.result, 1);
        end_loop(stopped.loop);
}

static int stops_at_its_end(void *arg)
{
        eddy_loop_stop(arg);
        return 7;
}

static int sleeps(void *arg)
{
        (void) arg;
        return eddy_sleep(EDDY_US(10));
}

TEST(a_stop_in_the_last_turn_is_not_for_the_next_run)
{
        eddy_loop *loop = new_loop();

        CHECK_EQ(eddy_loop_run(loop, stops_at_its_end, loop), 7);
        CHECK_EQ(eddy_loop_run(loop, sleeps, NULL), 0);
        end_loop(loop);
}

/* --- a main task whose turn has not come --- */

enum { MANY = 4000 }; /* more than run before the loop polls again */

static int runs_on(void *arg)
{
        (void) arg;
        while (eddy_sleep(0) == 0)
                continue;
        return 0;
}

static int starts_many(void *arg)
{
        for (int i = 0; i < MANY; i++)
                CHECK_EQ(eddy_background(runs_on, arg), 0);
        return 0;
}

static int finds_itself_cancelled(void *arg)
{
        ++*(int *) arg;
        return eddy_sleep(0);
}

TEST(a_main_task_stopped_before_its_start_is_begun_and_cancelled)
{
        eddy_loop *loop = new_loop();
        int begun = 0;

        CHECK_EQ(eddy_loop_run(loop, starts_many, NULL), 0);
        eddy_loop_stop(loop);
        CHECK_EQ(eddy_loop_run(loop, finds_itself_cancelled, &begun), EDDY_E_LOOP_STOPPED);
        CHECK_EQ(eddy_loop_run(loop, finds_itself_cancelled, &begun), -EBUSY);
        CHECK_EQ(begun, 0);
        end_loop(loop);
        CHECK_EQ(begun, 1);
}

static int interrupts(void *arg)
{
        (void) arg;
        return raise(SIGINT);
}

TEST(a_signal_before_its_start_cancels_the_main_task)
{
        eddy_loop *loop = new_loop();
        eddy_handle handle = { 0 };
        int begun = 0;

        CHECK_EQ(eddy_loop_run(loop, starts_many, NULL), 0);
        CHECK_EQ(eddy_loop_call_at(loop, &handle, 0, interrupts, NULL), 0);
        CHECK_EQ(eddy_loop_run(loop, finds_itself_cancelled, &begun), -ECANCELED);
        CHECK_EQ(eddy_run_signal(), SIGINT);
        CHECK_EQ(begun, 1);
        end_loop(loop);
}
