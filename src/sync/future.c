/*
 * sync/future.c - results that are set once; their waiters and callbacks.
 *
 * A callback is in its future's list from the time it is added until it runs or is removed.  After
 * the future is done, the callback is also queued in the loop.
 */
#include "sync/future.h"

#include <errno.h>

#include "scope/callee.h"
#include "scope/misuse.h"
#include "scope/report.h"
#include "scope/run_list.h"
#include "scope/run_state.h"
#include "scope/waiters.h"

struct callback {
        struct ed_list link;
        struct ed_call call;
        eddy_future *future;  /* NULL: not in use */
        struct ed_loop *loop; /* valid only while its run exists */
        uintptr_t run_number;
        struct ed_vars *vars; /* the caller's, when it was added */
        struct ed_callee callee;
};

_Static_assert(sizeof(struct callback) <= sizeof(eddy_future_callback),
               "an eddy_future_callback is too small");
_Static_assert(sizeof(struct ed_list) == sizeof(((eddy_future *) 0)->callbacks),
               "the list of callbacks has no room");

/* --- callbacks --- */

/* Returns the list of callbacks, initialised at first use, so that a zeroed future is ready. */
static struct ed_list *callbacks_of(eddy_future *future)
{
        struct ed_list *callbacks = (struct ed_list *) future->callbacks;

        if (!callbacks->next)
                ed_list_init(callbacks);
        return callbacks;
}

static bool has_callbacks(const eddy_future *future)
{
        const struct ed_list *callbacks = (const struct ed_list *) future->callbacks;

        return callbacks->next && !ed_list_is_empty(callbacks);
}

/* Gives the callback's memory back to the caller. */
static void let_go(struct callback *callback)
{
        ed_list_remove(&callback->link);
        callback->future = NULL;
}

static void run_callback(struct ed_call *call)
{
        struct callback *callback = ed_container_of(call, struct callback, call);

        let_go(callback);
        ed_callee_call(callback->loop, callback->callee, callback->vars);
}

static void remove_callback(struct callback *callback)
{
        /* A queued callback has a loop: a loop that ends removes its calls. */
        if (callback->call.queued)
                ed_call_cancel(callback->loop, &callback->call);
        ed_vars_drop(callback->vars);
        let_go(callback);
}

/* Returns true if the callback belongs to the loop of this thread. */
static bool is_of_current_loop(const struct callback *callback)
{
        return ed_loop_current && ed_run_of(ed_loop_current)->number == callback->run_number;
}

/* Returns true if the callbacks, of which there are some, belong to another loop: all to one. */
static bool has_foreign_callbacks(eddy_future *future)
{
        const struct callback *first;
        enum ed_run_place place;

        first = ed_container_of(callbacks_of(future)->next, struct callback, link);
        if (is_of_current_loop(first))
                return false;
        place = ed_runs_place(first->run_number);
        return place == ED_RUN_ELSEWHERE || (place == ED_RUN_HERE && ed_loop_current);
}

/*
 * Returns true if waiters or callbacks belong to another loop; in debug mode, if the future does.
 */
static bool is_foreign(eddy_future *future)
{
        return ed_waiters_check_loop(&future->loop_number) < 0 ||
               ed_waiters_are_foreign_here(future->waiters) ||
               (has_callbacks(future) && has_foreign_callbacks(future));
}

int eddy_future_add_callback_named(eddy_future *future, eddy_future_callback *memory,
                                   eddy_task_fn *fn, void *arg, const char *text)
{
        struct callback *callback = (struct callback *) memory;
        struct ed_loop *loop = ed_loop_current;

        if (!loop)
                return EDDY_E_RUN_NOT_RUNNING;
        if (callback->future)
                return -EBUSY;
        if (is_foreign(future))
                return EDDY_E_RUN_OTHER_LOOP;
        *callback = (struct callback){ .future = future,
                                       .loop = loop,
                                       .run_number = ed_run_of(loop)->number,
                                       .vars = ed_vars_take(),
                                       .callee = { fn, arg, text } };
        ed_call_init(&callback->call, run_callback);
        ed_list_push_back(callbacks_of(future), &callback->link);
        if (future->flags & ED_FUTURE_DONE)
                ed_call_queue(loop, &callback->call, false);
        return 0;
}

#undef eddy_future_add_callback
int eddy_future_add_callback(eddy_future *future, eddy_future_callback *memory, eddy_task_fn *fn,
                             void *arg)
{
        return eddy_future_add_callback_named(future, memory, fn, arg, NULL);
}

int eddy_future_remove_callback(eddy_future *future, eddy_task_fn *fn, void *arg)
{
        int removed = 0;

        if (is_foreign(future))
                return EDDY_E_RUN_OTHER_LOOP;
        ed_list_each_safe (link, callbacks_of(future)) {
                struct callback *callback = ed_container_of(link, struct callback, link);

                if (callback->callee.fn == fn && callback->callee.arg == arg) {
                        remove_callback(callback);
                        removed++;
                }
        }
        return removed;
}

/* The future is done: queues the callback, or removes it if its run has ended. */
static void callback_due(struct callback *callback)
{
        if (is_of_current_loop(callback) || ed_runs_place(callback->run_number) != ED_RUN_GONE)
                ed_call_queue(callback->loop, &callback->call, false);
        else
                remove_callback(callback);
}

/* --- the result --- */

static void finish(eddy_future *future, int result, void *value, uint32_t flags)
{
        struct ed_waiter *waiter;

        future->result = result;
        future->value = value;
        future->flags |= ED_FUTURE_DONE | flags;
        while ((waiter = ed_waiters_next(future->waiters))) {
                if (waiter->item)
                        *(int *) waiter->item = result;
                future->flags |= ED_FUTURE_SEEN;
                ed_waiters_serve(waiter, 0);
        }
        if (!has_callbacks(future))
                return;
        ed_list_each_safe (link, callbacks_of(future))
                callback_due(ed_container_of(link, struct callback, link));
}

int eddy_future_set(eddy_future *future, int result, void *value)
{
        if (future->flags & ED_FUTURE_DONE)
                return -EALREADY;
        if (ed_unlikely(is_foreign(future)))
                return EDDY_E_RUN_OTHER_LOOP;
        finish(future, result, value, 0);
        return 0;
}

int eddy_future_cancel(eddy_future *future)
{
        if (ed_unlikely(is_foreign(future)))
                return EDDY_E_RUN_OTHER_LOOP;
        future->flags |= ED_FUTURE_SEEN;
        if (future->flags & ED_FUTURE_DONE)
                return 0;
        finish(future, -ECANCELED, NULL, ED_FUTURE_CANCELLED);
        return 1;
}

int eddy_future_wait(eddy_future *future, int *ret_result)
{
        struct ed_waiter waiter;
        struct ed_task *task;
        int err;

        err = ed_waiters_enter(&future->loop_number, &task);
        if (err < 0)
                return err;
        if (!(future->flags & ED_FUTURE_DONE)) {
                if (ed_unlikely(is_foreign(future)))
                        return EDDY_E_RUN_OTHER_LOOP;
                ed_waiter_init(&waiter, task, ret_result);
                ed_waiters_push(future->waiters, &waiter);
                return ed_suspend_park(task, "a future", ed_waiters_abort, &waiter);
        }
        future->flags |= ED_FUTURE_SEEN;
        if (ret_result)
                *ret_result = future->result;
        ed_suspend_passed(task);
        return 0;
}

int eddy_future_is_done(const eddy_future *future)
{
        return (future->flags & ED_FUTURE_DONE) != 0;
}

int eddy_future_is_cancelled(const eddy_future *future)
{
        return (future->flags & ED_FUTURE_CANCELLED) != 0;
}

int eddy_future_result(eddy_future *future, int *ret_result)
{
        if (!(future->flags & ED_FUTURE_DONE))
                return EDDY_E_FUTURE_NOT_DONE;
        future->flags |= ED_FUTURE_SEEN;
        *ret_result = future->result;
        return 0;
}

void *eddy_future_value(const eddy_future *future)
{
        return future->value;
}

void eddy_future_fini(eddy_future *future)
{
        int result = future ? future->result : 0;
        bool unseen = result < 0 && result != -ECANCELED && !(future->flags & ED_FUTURE_SEEN);

        if (!future)
                return;
        ed_misuse_check_line(future->waiters, "eddy_future_fini");
        ed_list_each_safe (link, callbacks_of(future))
                remove_callback(ed_container_of(link, struct callback, link));
        *future = (eddy_future){ 0 };
        if (unseen && ed_loop_current)
                ed_report_task(ed_loop_current, EDDY_REPORT_UNHANDLED, result, ed_task_running(),
                               "a future failed and its result was never read");
}
