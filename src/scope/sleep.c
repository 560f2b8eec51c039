/*
 * scope/sleep.c - the clock, and letting time pass.
 */
#include <errno.h>

#include "eddy/time.h"
#include "scope/suspend.h"

int64_t eddy_now(void)
{
        struct ed_loop *loop = ed_loop_current;

        return loop ? ed_loop_now(loop) : ed_sys_now();
}

struct sleeper {
        struct ed_timer timer;
        struct ed_task *task;
};

static void sleeper_wake(struct ed_timer *timer)
{
        ed_suspend_wake(ed_container_of(timer, struct sleeper, timer)->task, 0);
}

static void sleeper_abort(void *arg)
{
        struct sleeper *sleeper = arg;

        ed_timer_cancel(&sleeper->task->loop->timers, &sleeper->timer);
}

int eddy_sleep(int64_t duration_ns)
{
        struct sleeper sleeper;
        int64_t until;
        int err;

        err = ed_suspend_enter(&sleeper.task);
        if (err < 0)
                return err;
        if (duration_ns <= 0) {
                ed_fiber_yield(sleeper.task->loop);
                return 0;
        }
        until = ed_time_after(ed_loop_now(sleeper.task->loop), duration_ns);
        ed_timer_init(&sleeper.timer, sleeper_wake);
        ed_timer_arm(&sleeper.task->loop->timers, &sleeper.timer, until);
        return ed_suspend_park(sleeper.task, "time to pass", sleeper_abort, &sleeper);
}
