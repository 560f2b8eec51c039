/*
 * cancel_at.c - see cancel_at.h.
 */
#include "cancel_at.h"

#include "loop/loop.h"
#include "scope/task.h"

static struct {
        int left;
        eddy_scope *scope;
        struct ed_task *task;
        struct ed_timer timer;
} plan;

static void cancel_now(struct ed_timer *timer)
{
        (void) timer;
        eddy_scope_cancel(plan.scope);
}

static void at_suspend(struct ed_task *task)
{
        if (task == plan.task && --plan.left == 0)
                ed_timer_arm(&ed_loop_current->timers, &plan.timer, 0);
}

int cancel_at(int n, eddy_task_fn *fn, void *arg, bool *ret_reached)
{
        eddy_scope scope;
        int result;

        plan.left = n;
        plan.scope = &scope;
        plan.task = ed_task_running();
        ed_timer_init(&plan.timer, cancel_now);
        eddy_scope_begin(&scope, NULL);
        if (n == 0)
                eddy_scope_cancel(&scope);
        ed_test_at_suspend = at_suspend;
        result = fn(arg);
        ed_test_at_suspend = NULL;
        ed_timer_cancel(&ed_loop_current->timers, &plan.timer);
        (void) eddy_scope_end(&scope);
        *ret_reached = plan.left <= 0;
        return result;
}

void cancel_soon(eddy_scope *scope)
{
        plan.scope = scope;
        ed_timer_init(&plan.timer, cancel_now);
        ed_timer_arm(&ed_loop_current->timers, &plan.timer, 0);
}
