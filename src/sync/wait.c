/*
 * sync/wait.c - waiting for several tasks, until enough of them have finished.
 *
 * Each unfinished task has a waiter in its line of joiners.  Each result is checked while its task
 * ends, and only the last one needed wakes the caller.
 */
#include "eddy/wait.h"

#include <errno.h>

#include "base/alloc.h"
#include "scope/waiters.h"

enum { WAITERS_ON_STACK = 8 };

struct wait {
        struct ed_task *task;
        struct ed_waiter *waiters; /* one per task; unused for finished tasks */
        size_t n;
        size_t left; /* tasks that have not finished */
        int until;
        int result; /* of the task that is ending */
};

static bool is_failure(int result)
{
        return result < 0 && result != -ECANCELED;
}

/* Returns true if the wait is over, with 'left' unfinished tasks and one that returned 'result'. */
static bool is_enough(int until, size_t left, int result)
{
        if (until == EDDY_WAIT_FIRST_COMPLETED || left == 0)
                return true;
        return until == EDDY_WAIT_FIRST_FAILED && is_failure(result);
}

static size_t count_done(eddy_task *const *tasks, size_t n)
{
        size_t done = 0;

        for (size_t i = 0; i < n; i++)
                done += !tasks[i]->task;
        return done;
}

static bool is_over(eddy_task *const *tasks, size_t n, int until)
{
        size_t left = n - count_done(tasks, n);

        for (size_t i = 0; i < n; i++)
                if (!tasks[i]->task && is_enough(until, left, tasks[i]->result))
                        return true;
        return false;
}

static bool leave_all(void *arg)
{
        struct wait *wait = arg;

        for (size_t i = 0; i < wait->n; i++)
                if (wait->waiters[i].link.next)
                        ed_waiters_remove(&wait->waiters[i]);
        return true;
}

/* A task has finished and stored its result in wait->result. */
static void on_finished(struct ed_waiter *waiter, int result)
{
        struct wait *wait = ed_container_of(waiter->item, struct wait, result);

        (void) result;
        waiter->link.next = NULL;
        wait->left--;
        if (!is_enough(wait->until, wait->left, wait->result))
                return;
        (void) leave_all(wait);
        ed_suspend_wake(wait->task, 0);
}

static const struct ed_waiter_ops wait_ops = { .granted = on_finished };

static void enter_lines(struct wait *wait, eddy_task *const *tasks)
{
        wait->left = 0;
        for (size_t i = 0; i < wait->n; i++) {
                struct ed_waiter *waiter = &wait->waiters[i];

                waiter->link.next = NULL;
                if (!tasks[i]->task)
                        continue;
                ed_waiter_init(waiter, wait->task, &wait->result);
                waiter->ops = &wait_ops;
                ed_waiters_push(tasks[i]->joiners, waiter);
                wait->left++;
        }
}

static int check(const struct ed_task *self, eddy_task *const *tasks, size_t n, int until)
{
        int err = 0;

        if (!tasks || n == 0 || n > EDDY_WAIT_TASKS_MAX)
                return -EINVAL;
        if (until < EDDY_WAIT_ALL || until > EDDY_WAIT_FIRST_FAILED)
                return -EINVAL;
        for (size_t i = 0; i < n && err == 0; i++)
                err = ed_waiters_check_join(self, tasks[i]);
        return err;
}

static int wait_parked(struct ed_task *task, eddy_task *const *tasks, size_t n, int until)
{
        struct ed_waiter on_stack[WAITERS_ON_STACK];
        struct wait wait = { .task = task, .waiters = on_stack, .n = n, .until = until };
        int err;

        if (n > WAITERS_ON_STACK) {
                wait.waiters = ed_alloc(n * sizeof(*wait.waiters));
                if (!wait.waiters)
                        return -ENOMEM;
        }
        enter_lines(&wait, tasks);
        err = ed_suspend_park(task, "several tasks to end", leave_all, &wait);
        if (wait.waiters != on_stack)
                ed_free(wait.waiters);
        return err;
}

int eddy_wait(eddy_task *const *tasks, size_t n, int until)
{
        struct ed_task *task;
        int err;

        err = ed_suspend_enter(&task);
        if (err < 0)
                return err;
        err = check(task, tasks, n, until);
        if (err < 0 || is_over(tasks, n, until))
                ed_suspend_passed(task);
        else
                err = wait_parked(task, tasks, n, until);
        return err < 0 ? err : (int) count_done(tasks, n);
}
