/*
 * embed/callback.c - callbacks of the loop: soon, later, from another thread, and when a descriptor
 * is ready.
 */
#include <errno.h>
#include <stddef.h>

#include "scope/callee.h"
#include "scope/face.h"
#include "sys/process/fork.h"

enum handle_kind {
        HANDLE_NONE, /* not scheduled: has run, was cancelled, or is new */
        HANDLE_SOON,
        HANDLE_TIMED,
        HANDLE_POSTED,
        HANDLE_WATCH,
};

struct handle {
        _Atomic uint32_t kind; /* enum handle_kind */
        unsigned wanted;       /* EDDY_LOOP_*, for a watch */
        struct ed_callee callee;
        struct ed_run *run;
        struct ed_vars *vars; /* the scheduler's variables, while scheduled */
        struct ed_list link;  /* in the run's list, unless posted */
        eddy_loop *loop; /* the loop of the last post, which the canceller must keep; else NULL */
        struct ed_call call;
        union {
                struct ed_timer timer;
                struct ed_post post;
                struct {
                        struct ed_target target;
                        int fd;
                        bool *gone; /* set if the watch ends in its own callback */
                } watch;
        };
};

_Static_assert(sizeof(struct handle) <= sizeof(eddy_handle), "an eddy_handle is too small");

static struct handle *handle_of(eddy_handle *handle)
{
        return (struct handle *) handle;
}

static bool is_scheduled(const struct handle *handle)
{
        return atomic_load_explicit(&handle->kind, memory_order_acquire) != HANDLE_NONE;
}

static void set_kind(struct handle *handle, enum handle_kind kind)
{
        atomic_store_explicit(&handle->kind, kind, memory_order_release);
}

static void drop_all(struct ed_run *run);

static void scheduled(struct handle *handle, enum handle_kind kind)
{
        handle->run->drop_handles = drop_all;
        ed_list_push_back(&handle->run->handles, &handle->link);
        set_kind(handle, kind);
}

static void not_scheduled(struct handle *handle)
{
        ed_list_remove(&handle->link);
        set_kind(handle, HANDLE_NONE);
}

/* --- soon, later, at --- */

/* The handle is the caller's again before its callback runs. */
static void on_call(struct ed_call *call)
{
        struct handle *handle = ed_container_of(call, struct handle, call);

        not_scheduled(handle);
        ed_callee_call(&handle->run->loop, handle->callee, handle->vars);
}

static void on_time(struct ed_timer *timer)
{
        struct handle *handle = ed_container_of(timer, struct handle, timer);

        ed_call_queue(&handle->run->loop, &handle->call, true);
}

static int take(eddy_loop *loop, struct handle *handle, struct ed_callee callee)
{
        struct ed_run *run;
        int err;

        if (!handle)
                return -EINVAL;
        if (is_scheduled(handle))
                return -EBUSY;
        if (loop) {
                err = ed_face_run(loop, &run);
                if (err < 0)
                        return err;
        } else if (ed_loop_current) {
                run = ed_run_of(ed_loop_current);
        } else {
                return EDDY_E_RUN_NOT_RUNNING;
        }
        handle->callee = callee;
        handle->run = run;
        handle->vars = ed_vars_take();
        handle->loop = NULL;
        return 0;
}

int eddy_loop_call_soon_named(eddy_loop *loop, eddy_handle *public_handle, eddy_task_fn *fn,
                              void *arg, const char *text)
{
        struct handle *handle = handle_of(public_handle);
        int err = take(loop, handle, (struct ed_callee){ fn, arg, text });

        if (err < 0)
                return err;
        ed_call_init(&handle->call, on_call);
        /* A callback scheduled between two runs is called in the first turn of the next run. */
        ed_call_queue(&handle->run->loop, &handle->call, ed_loop_current != &handle->run->loop);
        scheduled(handle, HANDLE_SOON);
        return 0;
}

int eddy_loop_call_at_named(eddy_loop *loop, eddy_handle *public_handle, int64_t when_ns,
                            eddy_task_fn *fn, void *arg, const char *text)
{
        struct handle *handle = handle_of(public_handle);
        int err = take(loop, handle, (struct ed_callee){ fn, arg, text });

        if (err < 0)
                return err;
        ed_call_init(&handle->call, on_call);
        ed_timer_init(&handle->timer, on_time);
        ed_timer_arm(&handle->run->loop.timers, &handle->timer, when_ns);
        scheduled(handle, HANDLE_TIMED);
        ed_loop_rouse(&handle->run->loop);
        return 0;
}

int eddy_loop_call_later_named(eddy_loop *loop, eddy_handle *handle, int64_t delay_ns,
                               eddy_task_fn *fn, void *arg, const char *text)
{
        int64_t now_ns = eddy_now();

        return eddy_loop_call_at_named(
                loop, handle, delay_ns < 0 ? now_ns + delay_ns : ed_time_after(now_ns, delay_ns),
                fn, arg, text);
}

#undef eddy_loop_call_soon
int eddy_loop_call_soon(eddy_loop *loop, eddy_handle *handle, eddy_task_fn *fn, void *arg)
{
        return eddy_loop_call_soon_named(loop, handle, fn, arg, NULL);
}

#undef eddy_loop_call_at
int eddy_loop_call_at(eddy_loop *loop, eddy_handle *handle, int64_t when_ns, eddy_task_fn *fn,
                      void *arg)
{
        return eddy_loop_call_at_named(loop, handle, when_ns, fn, arg, NULL);
}

#undef eddy_loop_call_later
int eddy_loop_call_later(eddy_loop *loop, eddy_handle *handle, int64_t delay_ns, eddy_task_fn *fn,
                         void *arg)
{
        return eddy_loop_call_later_named(loop, handle, delay_ns, fn, arg, NULL);
}

/* --- from any thread --- */

static void on_post(struct ed_post *post, bool closed)
{
        struct handle *handle = ed_container_of(post, struct handle, post);
        struct ed_vars *vars = handle->vars;
        struct ed_callee callee = handle->callee;

        /* Another thread may reuse the handle as soon as the handle is not scheduled. */
        set_kind(handle, HANDLE_NONE);
        if (closed)
                ed_vars_drop(vars);
        else
                ed_callee_call(ed_loop_current, callee, vars);
}

int eddy_loop_call_threadsafe_named(eddy_loop *loop, eddy_handle *public_handle, eddy_task_fn *fn,
                                    void *arg, const char *text)
{
        struct handle *handle = handle_of(public_handle);
        int err;

        if (!handle)
                return -EINVAL;
        if (is_scheduled(handle))
                return -EBUSY;
        err = ed_face_find(&loop);
        if (err < 0)
                return err;
        handle->callee = (struct ed_callee){ fn, arg, text };
        handle->vars = ed_vars_take();
        handle->loop = loop;
        handle->post = (struct ed_post){ .fn = on_post };
        set_kind(handle, HANDLE_POSTED);
        err = ed_inbox_post(loop->inbox, &handle->post);
        if (err < 0) {
                set_kind(handle, HANDLE_NONE);
                ed_vars_drop(handle->vars);
        }
        return err;
}

#undef eddy_loop_call_threadsafe
int eddy_loop_call_threadsafe(eddy_loop *loop, eddy_handle *handle, eddy_task_fn *fn, void *arg)
{
        return eddy_loop_call_threadsafe_named(loop, handle, fn, arg, NULL);
}

static int post_cancel(struct handle *handle)
{
        int cancelled = 0;

        /* In a child of fork(), the inbox may be locked by a thread that does not exist there. */
        if (ed_sys_forked_since(handle->loop->forks))
                set_kind(handle, HANDLE_NONE);
        else
                cancelled = ed_inbox_cancel(handle->loop->inbox, &handle->post);
        if (cancelled) {
                set_kind(handle, HANDLE_NONE);
                ed_vars_drop(handle->vars);
        }
        return cancelled;
}

/* --- descriptors --- */

/* Returns true if the descriptor is ready now. */
static bool watch_is_ready(const struct handle *handle)
{
        struct ed_sys *sys = handle->run->loop.sys;

        return (handle->wanted & EDDY_LOOP_READ && sys->poll->is_readable(sys, handle->watch.fd)) ||
               (handle->wanted & EDDY_LOOP_WRITE && sys->poll->is_writable(sys, handle->watch.fd));
}

/* The table reports only changes, so call again in each turn while the descriptor is ready. */
static void on_watch_call(struct ed_call *call)
{
        struct handle *handle = ed_container_of(call, struct handle, call);
        bool gone = false;

        if (!watch_is_ready(handle))
                return;
        handle->watch.gone = &gone;
        if (handle->vars)
                ed_vars_keep(handle->vars);
        ed_callee_call(&handle->run->loop, handle->callee, handle->vars);
        if (gone)
                return;
        handle->watch.gone = NULL;
        if (watch_is_ready(handle))
                ed_call_queue(&handle->run->loop, &handle->call, false);
}

static void on_watch_events(struct ed_target *target, unsigned events)
{
        struct handle *handle = ed_container_of(target, struct handle, watch.target);

        (void) events;
        if (!handle->call.queued)
                ed_call_queue(&handle->run->loop, &handle->call, true);
}

int eddy_loop_watch_named(eddy_loop *loop, eddy_handle *public_handle, int fd, unsigned events,
                          eddy_task_fn *fn, void *arg, const char *text)
{
        struct handle *handle = handle_of(public_handle);
        struct ed_sys *sys;
        int err;

        if (!events || events & ~(unsigned) (EDDY_LOOP_READ | EDDY_LOOP_WRITE))
                return -EINVAL;
        err = take(loop, handle, (struct ed_callee){ fn, arg, text });
        if (err < 0)
                return err;
        ed_call_init(&handle->call, on_watch_call);
        handle->wanted = events;
        handle->watch.target.on_events = on_watch_events;
        handle->watch.fd = fd;
        handle->watch.gone = NULL;
        sys = handle->run->loop.sys;
        err = sys->poll->watch(sys, fd, &handle->watch.target);
        if (err < 0) {
                ed_vars_drop(handle->vars);
                return err;
        }
        handle->run->loop.waits++;
        scheduled(handle, HANDLE_WATCH);
        return 0;
}

#undef eddy_loop_watch
int eddy_loop_watch(eddy_loop *loop, eddy_handle *handle, int fd, unsigned events, eddy_task_fn *fn,
                    void *arg)
{
        return eddy_loop_watch_named(loop, handle, fd, events, fn, arg, NULL);
}

static void watch_end(struct handle *handle)
{
        struct ed_loop *loop = &handle->run->loop;

        loop->sys->poll->unwatch(loop->sys, handle->watch.fd);
        ed_loop_forget(loop, &handle->watch.target);
        loop->waits--;
        if (handle->watch.gone)
                *handle->watch.gone = true;
}

/* --- all kinds of handles --- */

/* On the thread of its loop. */
static void drop(struct handle *handle)
{
        uint32_t kind = atomic_load_explicit(&handle->kind, memory_order_relaxed);

        if (kind == HANDLE_TIMED)
                ed_timer_cancel(&handle->run->loop.timers, &handle->timer);
        else if (kind == HANDLE_WATCH)
                watch_end(handle);
        ed_call_cancel(&handle->run->loop, &handle->call);
        not_scheduled(handle);
        ed_vars_drop(handle->vars);
}

static void drop_all(struct ed_run *run)
{
        while (!ed_list_is_empty(&run->handles))
                drop(ed_container_of(run->handles.next, struct handle, link));
}

int eddy_handle_cancel(eddy_handle *public_handle)
{
        struct handle *handle = handle_of(public_handle);
        bool may_run;

        if (!handle)
                return 0;
        may_run = is_scheduled(handle); /* first: the other members are then visible here */
        if (handle->loop)
                return post_cancel(handle);
        if (!may_run)
                return 0;
        if (!ed_thread_is_self(handle->run->loop.thread))
                return EDDY_E_RUN_OTHER_LOOP;
        drop(handle);
        return 1;
}

int eddy_handle_is_scheduled(const eddy_handle *handle)
{
        return handle && is_scheduled(handle_of((eddy_handle *) handle));
}

int64_t eddy_handle_when(const eddy_handle *public_handle)
{
        const struct handle *handle = handle_of((eddy_handle *) public_handle);

        return handle && atomic_load_explicit(&handle->kind, memory_order_acquire) == HANDLE_TIMED
                       ? handle->timer.deadline_ns
                       : 0;
}
