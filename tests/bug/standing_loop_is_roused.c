/*
 * The descriptor of a loop that stands still can be read as soon as a step
 * has something to do, whoever brought that about: the program between two
 * steps, or another loop of the same thread.  Only calls asked for outside of
 * any loop were seen in it.
 */
#include <eddy/eddy.h>
#include <errno.h>
#include <poll.h>

#include "test.h"

enum { PATIENCE_MS = 20000 };

static const struct eddy_run_opts quiet = { .flags = EDDY_RUN_NO_WATCHDOG };

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

static int can_be_read(eddy_loop *loop, int patience_ms)
{
        struct pollfd pfd = { .fd = eddy_loop_fd(loop), .events = POLLIN };

        return poll(&pfd, 1, patience_ms);
}

/* The descriptor is asked for once, since that makes it readable. */
static void step_until_quiet(eddy_loop *loop, int fd)
{
        struct pollfd pfd = { .fd = fd, .events = POLLIN };

        do
                CHECK(eddy_loop_step(loop) >= 0);
        while (poll(&pfd, 1, 0) == 1);
}

/* Step each time the descriptor asks for it, until '*done'. */
static void step_until(eddy_loop *loop, int fd, const int *done)
{
        struct pollfd pfd = { .fd = fd, .events = POLLIN };

        while (!*done) {
                CHECK_EQ(poll(&pfd, 1, PATIENCE_MS), 1);
                CHECK(eddy_loop_step(loop) >= 0);
        }
}

struct waiting {
        eddy_event event;
        eddy_scope *scope;
        eddy_task *task;
        int done;
};

static int waits(void *arg)
{
        struct waiting *waiting = arg;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        waiting->scope = &scope;
        waiting->task = eddy_task_current();
        CHECK(eddy_event_wait(&waiting->event) <= 0);
        waiting->done = 1;
        return eddy_scope_end(&scope) == -EPROTO;
}

static int starts_waiting(void *arg)
{
        return eddy_background(waits, arg);
}

static int begin(eddy_loop *loop, struct waiting *waiting)
{
        int fd;

        CHECK_EQ(eddy_loop_run(loop, starts_waiting, waiting), 0);
        CHECK_EQ(can_be_read(loop, 0), 1);
        fd = eddy_loop_fd(loop);
        step_until_quiet(loop, fd);
        CHECK_EQ(waiting->done, 0);
        return fd;
}

TEST(an_event_set_between_two_steps_is_seen)
{
        struct waiting waiting = { .done = 0 };
        eddy_loop *loop = new_loop();
        int fd = begin(loop, &waiting);

        CHECK_EQ(eddy_event_set(&waiting.event), 0);
        step_until(loop, fd, &waiting.done);
        end_loop(loop);
}

TEST(a_cancel_between_two_steps_is_seen)
{
        struct waiting waiting = { .done = 0 };
        eddy_loop *loop = new_loop();
        int fd = begin(loop, &waiting);

        eddy_task_cancel(waiting.task);
        step_until(loop, fd, &waiting.done);
        end_loop(loop);
}

TEST(a_deadline_set_between_two_steps_is_seen)
{
        struct waiting waiting = { .done = 0 };
        eddy_loop *loop = new_loop();
        int fd = begin(loop, &waiting);

        CHECK_EQ(eddy_scope_set_deadline(waiting.scope, eddy_now() + EDDY_US(100)), 0);
        step_until(loop, fd, &waiting.done);
        end_loop(loop);
}

static int sleeps_in_background(void *arg)
{
        CHECK_EQ(eddy_sleep(EDDY_MS(2)), 0);
        *(int *) arg = 1;
        return 0;
}

static int starts_sleep(void *arg)
{
        CHECK_EQ(eddy_background(sleeps_in_background, arg), 0);
        return eddy_sleep(EDDY_US(10));
}

TEST(the_rest_of_a_run_is_seen_by_the_next_step)
{
        eddy_loop *loop = new_loop();
        int fd = eddy_loop_fd(loop), done = 0;

        step_until_quiet(loop, fd);
        CHECK_EQ(eddy_loop_run(loop, starts_sleep, &done), 0);
        step_until(loop, fd, &done);
        end_loop(loop);
}

static int count_up(void *arg)
{
        ++*(int *) arg;
        return 0;
}

struct neighbours {
        eddy_loop *other;
        eddy_handle handles[2];
        int calls[2];
};

static int calls_neighbour(void *arg)
{
        struct neighbours *both = arg;

        CHECK_EQ(eddy_loop_call_soon(both->other, &both->handles[0], count_up, &both->calls[0]), 0);
        return eddy_loop_call_later(both->other, &both->handles[1], EDDY_US(10), count_up,
                                    &both->calls[1]);
}

TEST(a_call_from_another_loop_of_the_thread_is_seen)
{
        struct neighbours both = { .other = new_loop() };
        eddy_loop *loop = new_loop();
        int fd = eddy_loop_fd(both.other);

        step_until_quiet(both.other, fd);
        CHECK_EQ(eddy_loop_run(loop, calls_neighbour, &both), 0);
        step_until(both.other, fd, &both.calls[0]);
        step_until(both.other, fd, &both.calls[1]);
        end_loop(loop);
        end_loop(both.other);
}
