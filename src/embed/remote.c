/*
 * embed/remote.c - tasks started on the loop of another thread.
 *
 * Start and cancel are two posts to that loop, which handles them in order: a task that is
 * cancelled before its start is started, and is cancelled then.
 */
#include "eddy/remote.h"

#include <errno.h>

#include "base/alloc.h"
#include "scope/debug/debug.h"
#include "scope/face.h"
#include "scope/report.h"
#include "scope/run.h"
#include "scope/vars.h"
#include "sync/far_waiter.h"
#include "sys/process/fork.h"

struct eddy_remote {
        _Atomic uint32_t refs;  /* the holder's, the task's, and one while 'cancel' is posted */
        unsigned forks;         /* ed_sys_forks() when it was made */
        struct ed_inbox *inbox; /* the task's loop's; a reference */
        struct ed_post start;
        struct ed_post cancel;
        eddy_task_fn *fn;
        void *arg;
        struct ed_vars *vars; /* the starter's, until the task starts */
        struct ed_task *task; /* while it runs; only for its loop's thread */
        _Atomic bool done;    /* set under the lock */
        struct ed_mutex lock; /* protects everything below */
        void *waiters[2];     /* item: where the result goes */
        bool held;            /* the holder may still read the result */
        bool seen;            /* the result was read */
        int result;
        struct ed_debug_far debug; /* debug mode's record; only with a holder */
};

static void remote_unref(eddy_remote *remote)
{
        if (atomic_fetch_sub_explicit(&remote->refs, 1, memory_order_acq_rel) > 1)
                return;
        ed_mutex_fini(&remote->lock);
        ed_inbox_unref(remote->inbox);
        ed_free(remote);
}

static bool is_done(const eddy_remote *remote)
{
        return atomic_load_explicit(&remote->done, memory_order_acquire);
}

/* Returns the result and marks it as read; locked. */
static int result_of(eddy_remote *remote)
{
        remote->seen = true;
        return remote->result;
}

/* Returns the failure of an ended task if it was not read, or 0; locked. */
static int lost_of(const eddy_remote *remote)
{
        bool is_lost = is_done(remote) && remote->result != -ECANCELED && !remote->seen;

        return is_lost && remote->result < 0 ? remote->result : 0;
}

/* For debug mode: lost_of(), not locked. */
static int debug_lost(struct ed_debug_far *far)
{
        eddy_remote *remote = ed_container_of(far, struct eddy_remote, debug);
        int lost;

        ed_mutex_lock(&remote->lock);
        lost = lost_of(remote);
        ed_mutex_unlock(&remote->lock);
        return lost;
}

/* --- on the task's loop --- */

/* Takes the first waiter out of the line and stores its result.  Returns NULL if no task waits. */
static struct ed_far_waiter *take_next(eddy_remote *remote)
{
        struct ed_far_waiter *waiter;

        ed_mutex_lock(&remote->lock);
        waiter = ed_far_waiter_take(remote->waiters, 0);
        if (waiter && waiter->waiter.item)
                *(int *) waiter->waiter.item = result_of(remote);
        ed_mutex_unlock(&remote->lock);
        return waiter;
}

/*
 * Wakes all waiters and drops the task's reference.  Returns false if no holder will read the
 * result.
 */
static bool end(eddy_remote *remote, int result)
{
        struct ed_far_waiter *waiter;
        bool held;

        ed_mutex_lock(&remote->lock);
        remote->result = result;
        atomic_store_explicit(&remote->done, true, memory_order_release);
        held = remote->held;
        ed_mutex_unlock(&remote->lock);
        while ((waiter = take_next(remote)))
                ed_far_waiter_wake(waiter);
        remote_unref(remote);
        return held;
}

static int remote_main(void *arg)
{
        eddy_remote *remote = arg;
        int result = remote->fn(remote->arg);

        remote->task = NULL;
        /* Without a holder, the root scope reports a failure as a background failure. */
        return end(remote, result) ? 0 : result;
}

static void on_start(struct ed_post *post, bool closed)
{
        eddy_remote *remote = ed_container_of(post, struct eddy_remote, start);
        struct ed_loop *loop = ed_loop_current;
        struct ed_vars *vars = remote->vars, *before = ed_vars_enter(vars);
        int err = -ECANCELED;

        if (!closed)
                err = ed_background_start(loop, remote_main, remote, remote->debug.text, NULL,
                                          &remote->task);
        ed_vars_leave(before);
        ed_vars_drop(vars);
        if (err == 0)
                remote->task->self.fn = remote->fn; /* names the task */
        else if (!end(remote, err) && err != -ECANCELED)
                ed_report_task(loop, EDDY_REPORT_BACKGROUND, err, NULL,
                               "eddy_loop_start_threadsafe() could not start a task");
}

static void on_cancel(struct ed_post *post, bool closed)
{
        eddy_remote *remote = ed_container_of(post, struct eddy_remote, cancel);

        (void) closed;
        if (remote->task)
                ed_node_cancel(&remote->task->node);
        remote_unref(remote);
}

/* --- on any thread --- */

int eddy_loop_start_threadsafe_named(eddy_loop *loop, eddy_task_fn *fn, void *arg,
                                     eddy_remote **ret_remote, const char *text)
{
        eddy_remote *remote;
        int err;

        err = ed_face_find(&loop);
        if (err < 0)
                return err;
        remote = ed_alloc_zero(sizeof(*remote));
        if (!remote)
                return -ENOMEM;
        atomic_init(&remote->refs, ret_remote ? 2 : 1);
        remote->forks = loop->forks;
        remote->inbox = ed_inbox_ref(loop->inbox);
        remote->start.fn = on_start;
        remote->cancel.fn = on_cancel;
        remote->fn = fn;
        remote->debug.text = text;
        remote->debug.lost = debug_lost;
        remote->arg = arg;
        remote->vars = ed_vars_take();
        remote->held = ret_remote != NULL;
        ed_mutex_init(&remote->lock);
        err = ed_inbox_post(remote->inbox, &remote->start);
        if (err < 0) {
                ed_vars_drop(remote->vars);
                atomic_store_explicit(&remote->refs, 1, memory_order_relaxed);
                remote_unref(remote);
                return err;
        }
        if (ret_remote) {
                ed_debug_far_made(&remote->debug, fn);
                *ret_remote = remote;
        }
        return 0;
}

#undef eddy_loop_start_threadsafe
int eddy_loop_start_threadsafe(eddy_loop *loop, eddy_task_fn *fn, void *arg,
                               eddy_remote **ret_remote)
{
        return eddy_loop_start_threadsafe_named(loop, fn, arg, ret_remote, NULL);
}

/* Blocks this thread, which must not have a loop. */
static int wait_on_thread(eddy_remote *remote, int *ret_result)
{
        if (!is_done(remote) && (ed_loop_current || ed_inbox_is_mine(remote->inbox)))
                return -EDEADLK;
        ed_mutex_lock(&remote->lock);
        if (!is_done(remote))
                return ed_far_waiter_block(remote->waiters, &remote->lock, ret_result);
        if (ret_result)
                *ret_result = result_of(remote);
        ed_mutex_unlock(&remote->lock);
        return 0;
}

static int wait_in_task(eddy_remote *remote, int *ret_result)
{
        struct ed_far_waiter waiter;
        struct ed_task *task;
        bool done;
        int err;

        err = ed_suspend_enter(&task);
        if (err < 0)
                return err;
        if (ed_inbox_is_mine(remote->inbox) && remote->task == task)
                return -EDEADLK;
        err = ed_far_waiter_init(&waiter, task, &remote->lock, ret_result);
        if (err < 0)
                return err;
        ed_mutex_lock(&remote->lock);
        done = is_done(remote);
        if (!done)
                ed_far_waiter_push(remote->waiters, &waiter);
        else if (ret_result)
                *ret_result = result_of(remote);
        ed_mutex_unlock(&remote->lock);
        if (!done)
                return ed_far_waiter_park(&waiter, "a task on another loop to end");
        ed_suspend_passed(task);
        return 0;
}

int eddy_remote_wait(eddy_remote *remote, int *ret_result)
{
        if (!remote)
                return -EINVAL;
        if (ed_sys_forked_since(remote->forks))
                return EDDY_E_LOOP_FORKED;
        return ed_task_running() ? wait_in_task(remote, ret_result)
                                 : wait_on_thread(remote, ret_result);
}

void eddy_remote_cancel(eddy_remote *remote)
{
        if (!remote || ed_sys_forked_since(remote->forks) || is_done(remote))
                return;
        atomic_fetch_add_explicit(&remote->refs, 1, memory_order_relaxed);
        /* Refused: a cancel is already posted, or the loop is closed and the task has ended. */
        if (ed_inbox_post(remote->inbox, &remote->cancel) < 0)
                remote_unref(remote);
}

int eddy_remote_is_done(const eddy_remote *remote)
{
        return remote ? is_done(remote) : -EINVAL;
}

void eddy_remote_release(eddy_remote *remote)
{
        int lost;

        /* In a child of fork(), the lock may be held by a thread that does not exist there. */
        if (!remote || ed_sys_forked_since(remote->forks))
                return;
        ed_mutex_lock(&remote->lock);
        remote->held = false;
        lost = lost_of(remote);
        ed_mutex_unlock(&remote->lock);
        ed_debug_far_gone(&remote->debug, lost);
        remote_unref(remote);
}
