/*
 * scope/sleep.c - the clocks and sleeping.
 */
#include <errno.h>

#include "eddy/time.h"
#include "scope/suspend.h"

int64_t eddy_now(void)
{
        struct ed_loop *loop = ed_loop_current;

        return loop ? ed_loop_now(loop) : ed_sys_now();
}

int64_t eddy_time_of_day(void)
{
        struct ed_loop *loop = ed_loop_current;

        return loop ? loop->sys->poll->time_of_day(loop->sys) : ed_sys_time_of_day();
}

static bool sleep_abort(void *arg)
{
        ed_alarm_cancel(arg);
        return true;
}

/* Not inlined, so that a task that only yields needs no stack space for a timer. */
static __attribute__((noinline)) int sleep_parked(struct ed_task *task, int64_t duration_ns)
{
        struct ed_alarm alarm;

        ed_alarm_set(&alarm, task, duration_ns);
        return ed_suspend_park(task, "time to pass", sleep_abort, &alarm);
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
