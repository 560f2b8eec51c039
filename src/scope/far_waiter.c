/*
 * scope/far_waiter.c - waking a task from another thread.
 */
#include "scope/far_waiter.h"

#include <errno.h>

static void on_post(struct ed_post *post, bool closed)
{
        struct ed_far_waiter *waiter = ed_container_of(post, struct ed_far_waiter, post);

        ed_assert(!closed, "a loop was closed while a task of it waits");
        ed_suspend_wake(waiter->waiter.task, waiter->result);
}

int ed_far_waiter_init(struct ed_far_waiter *waiter, struct ed_task *task, struct ed_mutex *lock,
                       void *item)
{
        waiter->inbox = ed_loop_inbox(task->loop);
        if (!waiter->inbox)
                return -ENOMEM;
        waiter->post = (struct ed_post){ .fn = on_post };
        waiter->lock = lock;
        waiter->in_line = false;
        ed_waiter_init(&waiter->waiter, task, item);
        return 0;
}

void ed_far_waiter_push(void *line[2], struct ed_far_waiter *waiter)
{
        /* Who wakes it may still be in the inbox when this loop has ended. */
        (void) ed_inbox_ref(waiter->inbox);
        waiter->in_line = true;
        ed_waiters_push(line, &waiter->waiter);
}

static bool abort_wait(void *arg)
{
        struct ed_far_waiter *waiter = arg;
        bool in_line;

        ed_mutex_lock(waiter->lock);
        in_line = waiter->in_line;
        if (in_line)
                ed_waiters_remove(&waiter->waiter);
        ed_mutex_unlock(waiter->lock);
        if (in_line)
                ed_inbox_unref(waiter->inbox);
        return in_line;
}

int ed_far_waiter_park(struct ed_far_waiter *waiter, const char *waits_for)
{
        struct ed_task *task = waiter->waiter.task;
        int result;

        task->loop->waits++;
        result = ed_suspend_park(task, waits_for, abort_wait, waiter);
        task->loop->waits--;
        return result;
}

struct ed_far_waiter *ed_far_waiter_take(void *line[2], int result)
{
        struct ed_far_waiter *waiter = ed_far_waiter_first(line);

        if (!waiter)
                return NULL;
        ed_waiters_remove(&waiter->waiter);
        waiter->in_line = false;
        waiter->result = result;
        return waiter;
}

void ed_far_waiter_wake(struct ed_far_waiter *waiter)
{
        struct ed_inbox *inbox;

        if (!waiter)
                return;
        inbox = waiter->inbox;
        if (ed_loop_current == waiter->waiter.task->loop) {
                ed_suspend_wake(waiter->waiter.task, waiter->result);
        } else {
                int err = ed_inbox_post(inbox, &waiter->post);

                ed_assert(err == 0, "a loop was closed while a task of it waits");
        }
        ed_inbox_unref(inbox);
}
