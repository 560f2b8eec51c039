/*
 * sync/far_waiter.c - waking a task, or a thread without a loop, from another thread.
 */
#include "sync/far_waiter.h"

#include <errno.h>

#include "scope/threads/thread.h"

/* A thread that waits; on its stack. */
struct blocked {
        struct ed_far_waiter far;
        struct ed_thread_wait wait;
        struct ed_cond wake;
        bool woken; /* protected by the lock; once set, this struct may go */
};

static struct ed_far_waiter *far_of(struct ed_waiter *waiter)
{
        return ed_container_of(waiter, struct ed_far_waiter, waiter);
}

/* Runs on the loop of the waiter's task. */
static void finish(struct ed_far_waiter *waiter)
{
        if (waiter->waiter.ops)
                waiter->waiter.ops->granted(&waiter->waiter, waiter->result);
        else
                ed_suspend_wake(waiter->waiter.task, waiter->result);
}

static void on_post(struct ed_post *post, bool closed)
{
        ed_assert(!closed, "a loop was closed while a task of it waits");
        finish(ed_container_of(post, struct ed_far_waiter, post));
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
        /* The waker may still use the inbox after this loop has ended. */
        if (waiter->inbox)
                (void) ed_inbox_ref(waiter->inbox);
        waiter->in_line = true;
        ed_waiters_push(line, &waiter->waiter);
}

bool ed_far_waiter_leave(struct ed_far_waiter *waiter)
{
        bool in_line;

        ed_mutex_lock(waiter->lock);
        in_line = waiter->in_line;
        if (in_line)
                ed_waiters_remove(&waiter->waiter);
        waiter->in_line = false;
        ed_mutex_unlock(waiter->lock);
        if (in_line && waiter->inbox)
                ed_inbox_unref(waiter->inbox);
        return in_line;
}

static bool abort_wait(void *arg)
{
        return ed_far_waiter_leave(arg);
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

/* Once the lock is free the thread may return, so use only the lock, which is the line's. */
static void wake_blocked(struct blocked *blocked)
{
        struct ed_mutex *lock = blocked->far.lock;

        ed_mutex_lock(lock);
        blocked->woken = true;
        ed_cond_signal(&blocked->wake);
        ed_mutex_unlock(lock);
}

/* The job of a blocked thread was asked to stop. */
static void stop_blocked(struct ed_thread_wait *wait)
{
        struct blocked *blocked = ed_container_of(wait, struct blocked, wait);

        if (!ed_far_waiter_leave(&blocked->far))
                return;
        blocked->far.result = -ECANCELED;
        wake_blocked(blocked);
}

int ed_far_waiter_block(void *line[2], struct ed_mutex *lock, void *item)
{
        struct blocked blocked = { .far.lock = lock, .wait.stop = stop_blocked };

        ed_waiter_init(&blocked.far.waiter, NULL, item);
        ed_cond_init(&blocked.wake);
        ed_far_waiter_push(line, &blocked.far);
        ed_mutex_unlock(lock);
        ed_thread_wait_begin(&blocked.wait);
        ed_mutex_lock(lock);
        while (!blocked.woken)
                ed_cond_wait(&blocked.wake, lock);
        ed_mutex_unlock(lock);
        ed_thread_wait_end();
        ed_cond_fini(&blocked.wake);
        return blocked.far.result;
}

/* Takes a waiter out of its line.  Returns false if the waiter can no longer be served. */
static bool take(struct ed_far_waiter *waiter)
{
        const struct ed_waiter_ops *ops = waiter->waiter.ops;

        ed_waiters_remove(&waiter->waiter);
        waiter->in_line = false;
        return !ops || ops->claim(&waiter->waiter);
}

struct ed_far_waiter *ed_far_waiter_take(void *line[2], int result)
{
        struct ed_waiter *first;

        while ((first = ed_waiters_first(line))) {
                struct ed_far_waiter *waiter = far_of(first);
                struct ed_inbox *inbox = waiter->inbox;

                if (take(waiter)) {
                        waiter->result = result;
                        return waiter;
                }
                ed_inbox_unref(inbox);
        }
        return NULL;
}

static void wake_task(struct ed_far_waiter *waiter)
{
        struct ed_inbox *inbox = waiter->inbox;

        if (ed_loop_current == waiter->waiter.task->loop) {
                finish(waiter);
        } else {
                int err = ed_inbox_post(inbox, &waiter->post);

                ed_assert(err == 0, "a loop was closed while a task of it waits");
        }
        ed_inbox_unref(inbox);
}

void ed_far_waiter_wake(struct ed_far_waiter *waiter)
{
        if (!waiter)
                return;
        if (waiter->waiter.task)
                wake_task(waiter);
        else
                wake_blocked(ed_container_of(waiter, struct blocked, far));
}
