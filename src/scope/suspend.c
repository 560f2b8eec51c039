/*
 * scope/suspend.c - suspending calls: parking, yielding, delivering a cancel.
 */
#include "scope/suspend.h"

#include "scope/hooks.h"
#include "scope/misuse.h"
#include "scope/report.h"
#include "scope/scope.h"

enum { IGNORED_MAX = 1000 };

#define IGNORED_PAUSE_NS EDDY_MS(1)
#define PAUSE            "a millisecond, for ignoring cancels"

static void on_alarm(struct ed_timer *timer)
{
        ed_suspend_wake(ed_container_of(timer, struct ed_alarm, timer)->task, 0);
}

void ed_alarm_set(struct ed_alarm *alarm, struct ed_task *task, int64_t duration_ns)
{
        alarm->task = task;
        ed_timer_init(&alarm->timer, on_alarm);
        ed_timer_arm(&task->loop->timers, &alarm->timer,
                     ed_time_after(ed_loop_now(task->loop), duration_ns));
}

void ed_alarm_ring(struct ed_alarm *alarm)
{
        if (!alarm->timer.armed)
                return;
        ed_alarm_cancel(alarm);
        ed_suspend_wake(alarm->task, 0);
}

/* Slows down a task that has ignored IGNORED_MAX cancels, so that other tasks can run. */
static void pause_careless(struct ed_task *task)
{
        struct ed_alarm alarm;

        if (task->inner->ignored == IGNORED_MAX + 1)
                ed_report_task(task->loop, EDDY_REPORT_IGNORED, -ECANCELED, task,
                               "ignored 1,000 cancels in a row: let its loop end on -ECANCELED; "
                               "each further call waits a millisecond");
        ed_alarm_set(&alarm, task, IGNORED_PAUSE_NS);
        ed_suspend_note(task, PAUSE);
        ed_fiber_park(task->loop, PAUSE, NULL, NULL);
}

int ed_cancel_deliver(struct ed_task *task)
{
        /*
         * The mark may be false: another function may have overwritten the memory of the innermost
         * scope.
         */
        if (task->inner != &task->node && !ed_scope_was_begun(ed_scope_of_node(task->inner)))
                ed_misuse_left(task, task->scope_place);
        ed_node_attribute(task->inner);
        if (task->inner->ignored < UINT16_MAX)
                task->inner->ignored++;
        if (task->inner->ignored > IGNORED_MAX)
                pause_careless(task);
        else
                ed_fiber_yield(task->loop);
        return -ECANCELED;
}

void ed_task_stack_low(struct ed_task *task, const char *at)
{
        const struct ed_stack *stack = task->stack;

        if (at >= stack->bottom && at < stack->top)
                task->stack_low = at;
        else if (ed_stacks_contain(&task->loop->stacks, at))
                ed_misuse_beyond(task, (size_t) (stack->top - at));
        /* Else the program runs the task's code on memory of its own. */
}

void ed_task_release_stack(const struct ed_task *task)
{
        if (task->fiber.ready.state == ED_FIBER_PARKED && !task->loop->debug)
                ed_stack_release(task->stack, task->fiber.co.sp);
}

int ed_suspend_enter_rarely(struct ed_task *task)
{
        ed_task_check_stack(task);
        return task->inner->flags & ED_NODE_CANCELLED ? ed_cancel_deliver(task) : 0;
}

void ed_suspend_give_way(struct ed_task *task)
{
        task->fiber.ready.budget = ED_TASK_BUDGET;
        ed_fiber_yield(task->loop);
}

void ed_suspend_note_wait(struct ed_task *task, const char *waits_for)
{
        ed_hooks()->task_parks(task, waits_for);
}

ed_at_suspend_fn *ed_test_at_suspend;

ed_at_suspend_fn *ed_test_at_suspend_set(ed_at_suspend_fn *fn)
{
        ed_at_suspend_fn *before = ed_test_at_suspend;

        ed_test_at_suspend = fn;
        return before;
}

int ed_suspend_park(struct ed_task *task, const char *waits_for, ed_abort_fn *abort, void *arg)
{
        /* A close may wait without ed_suspend_enter(). */
        ed_task_check_stack(task);
        return ed_suspend_park_here(task, waits_for, abort, arg);
}
