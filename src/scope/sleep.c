/*
 * scope/sleep.c - the clock and sleeping.
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

static bool sleeper_abort(void *arg)
{
        struct sleeper *sleeper = arg;

        ed_timer_cancel(&sleeper->task->loop->timers, &sleeper->timer);
        return true;
}

/* Not inlined, so that a task that only yields needs no stack space for a timer. */
static __attribute__((noinline)) int sleep_parked(struct ed_task *task, int64_t duration_ns)
{
        struct sleeper sleeper = { .task = task };

        ed_timer_init(&sleeper.timer, sleeper_wake);
        ed_timer_arm(&task->loop->timers, &sleeper.timer,
                     ed_time_after(ed_loop_now(task->loop), duration_ns));
        return ed_suspend_park(task, "time to pass", sleeper_abort, &sleeper);
}

int eddy_sleep(int64_t duration_ns)
{
        struct ed_task *task;
        int err;

        err = ed_suspend_enter(&task);
        if (err < 0)
                return err;
        if (duration_ns > 0)
                return sleep_parked(task, duration_ns);
        ed_fiber_yield(task->loop);
        return 0;
}
