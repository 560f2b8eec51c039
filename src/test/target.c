/*
 * test/target.c - cancelling one task of a run, and counting the points of tasks.
 *
 * A task has a point before it begins, one after it has begun to wait, and one after it was woken
 * but has not run yet; only there can a cancel have different effects. The library reports the
 * start of each wait; the next point of the run detects that the task was woken.
 */
#include <string.h>

#include "scope/run_state.h"
#include "scope/scope.h"
#include "test/run.h"

/* Returns a task's number, counted from main. The supervisor precedes main. */
static uint64_t number_of(const struct ed_task *task)
{
        return task->number - 1;
}

static uint64_t tasks_begun(const struct ed_test_run *run)
{
        return run->run && run->run->loop.fibers > 0 ? run->run->loop.fibers - 1 : 0;
}

/*
 * Returns the first task with a number above 'number', or NULL. Main is below the supervisor, like
 * all others.
 */
static struct ed_task *task_after(const struct ed_test_run *run, uint64_t number)
{
        struct ed_node *top = &run->run->supervisor->node, *node = top;
        struct ed_task *first = NULL;

        while ((node = ed_node_next(top, node, false))) {
                struct ed_task *task = node->owner;

                if (node == &task->node && number_of(task) > number &&
                    (!first || task->number < first->number))
                        first = task;
        }
        return first;
}

/* --- counting --- */

static bool is_named(const struct ed_test_run *run, const struct ed_task *task)
{
        char name[ED_TASK_CALLED_BYTES];

        return !run->opts.cancel_named ||
               strcmp(ed_task_name(task, name, sizeof(name)), run->opts.cancel_named) == 0;
}

/* Give each task started since the last point its first point. */
static void count_begun(struct ed_test_run *run)
{
        uint64_t begun = tasks_begun(run);

        while (run->tasks_seen < begun) {
                struct ed_task *task = task_after(run, run->tasks_seen);

                /* NULL: the other tasks have ended already. */
                run->tasks_seen = task ? number_of(task) : begun;
                if (task && run->tasks_seen <= run->more.task_points_max && is_named(run, task))
                        run->more.task_points[run->tasks_seen - 1] = 1;
        }
}

static void count_wait(struct ed_test_run *run, const struct ed_task *task)
{
        uint64_t number = number_of(task);

        /* Tasks that are not counted have no first point. */
        if (number > 0 && number <= run->more.task_points_max &&
            run->more.task_points[number - 1] > 0)
                run->more.task_points[number - 1] += 2;
}

/* --- the target --- */

static bool reach(struct ed_test_run *run, struct ed_task *task, const void *from)
{
        if (++run->figures.task_points != run->opts.cancel_at)
                return false;
        run->result.was_cancelled = 1;
        eddy_task_cancel(task->face);
        ed_test_strike_cancel(task, run->opts.cancel_task, run->target_woken, from);
        return true;
}

static bool target_point(struct ed_test_run *run, const void *from)
{
        struct ed_task *task = run->target;

        if (run->figures.task_points == 0 && tasks_begun(run) >= run->opts.cancel_task) {
                task = task_after(run, run->opts.cancel_task - 1);
                return task && number_of(task) == run->opts.cancel_task && reach(run, task, from);
        }
        if (!task)
                return false;
        if (!run->target_waits) {
                run->target_waits = true;
                return reach(run, task, from);
        }
        if (task->fiber.ready.state == ED_FIBER_PARKED)
                return false;
        run->target = NULL;
        run->target_woken = true;
        return reach(run, task, from);
}

/* Called when a task on any thread is about to wait. */
static void at_suspend(struct ed_task *task)
{
        struct ed_test_run *run = ed_test_now;

        if (!ed_test_is_mine())
                return;
        if (run->at_suspend)
                run->at_suspend(task);
        if (!run->run || task->loop != &run->run->loop)
                return;
        if (run->more.task_points)
                count_wait(run, task);
        if (run->opts.cancel_task > 0 && number_of(task) == run->opts.cancel_task) {
                run->target = task;
                run->target_waits = run->target_woken = false;
        }
}

/* --- for runs --- */

bool ed_test_target_point(struct ed_test_run *run, const void *from)
{
        if (!run->run || run->run->ended)
                return false;
        if (run->more.task_points)
                count_begun(run);
        run->figures.tasks = tasks_begun(run);
        return run->opts.cancel_task > 0 && run->opts.cancel_at > 0 && target_point(run, from);
}

void ed_test_target_begin(struct ed_test_run *run)
{
        if (run->opts.cancel_task > 0 || run->more.task_points)
                run->at_suspend = ed_test_at_suspend_set(at_suspend);
}

void ed_test_target_end(struct ed_test_run *run)
{
        if (run->opts.cancel_task > 0 || run->more.task_points)
                (void) ed_test_at_suspend_set(run->at_suspend);
}
