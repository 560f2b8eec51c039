/*
 * scope/start.c - starting tasks in a scope.
 */
#include <errno.h>

#include "scope/misuse.h"
#include "scope/scope.h"
#include "scope/suspend.h"

static __attribute__((cold)) int start_failed(struct ed_scope *scope, int error)
{
        ed_scope_failed(scope, error, NULL);
        ed_node_cancel(&scope->node);
        return error;
}

/*
 * The start is not a failure, but it counts as a delivered cancel, so the scope's end reports it.
 */
static __attribute__((cold)) int start_refused(struct ed_scope *scope)
{
        if (!(scope->node.flags & ED_NODE_ENDED))
                ed_node_attribute(&scope->node);
        return -ECANCELED;
}

/* Returned in registers: the caller often has no memory for the task's address. */
struct started {
        struct ed_task *task; /* NULL: 'err' has the reason */
        int err;
};

static inline __attribute__((always_inline)) struct started start_in(
        struct ed_scope *scope, unsigned stack_class, eddy_task_fn *fn, const void *arg,
        size_t copy_bytes, const char *text)
{
        struct ed_task *task;

        if (ed_unlikely(scope->live >= scope->tasks_max))
                return (struct started){ NULL, start_failed(scope, -EAGAIN) };
        task = ed_task_new(scope->node.owner->loop, scope, stack_class, fn, arg, copy_bytes);
        if (ed_unlikely(!task))
                return (struct started){ NULL, start_failed(scope, -ENOMEM) };
        task->self.text = text;
        scope->live++;
        return (struct started){ task, 0 };
}

/* The task was not started: 'error' becomes a failure of the scope, unless the scope is closed. */
static __attribute__((cold)) int not_started(eddy_scope *public_scope, int error)
{
        struct ed_scope *scope = ed_scope_of(public_scope);

        if (!ed_scope_was_begun(scope))
                return ed_misuse_unbegun("eddy_scope_start");
        return ed_scope_takes_no_more(scope) ? start_refused(scope) : start_failed(scope, error);
}

/* Starts a task in a cancelled or ended scope (which fails), in debug mode or in a traced run. */
static __attribute__((cold, noinline)) struct started start_slowly(
        struct ed_scope *scope, unsigned stack_class, eddy_task_fn *fn, const void *arg,
        size_t copy_bytes, const char *text, const void *place)
{
        struct started started;

        if (!ed_scope_was_begun(scope))
                return (struct started){ NULL, ed_misuse_unbegun("eddy_scope_start") };
        if (ed_scope_takes_no_more(scope))
                return (struct started){ NULL, start_refused(scope) };
        started = start_in(scope, stack_class, fn, arg, copy_bytes, text);
        if (started.task)
                ed_task_made(started.task, place);
        return started;
}

static inline __attribute__((always_inline)) struct started start_from(
        struct ed_scope *scope, unsigned stack_class, eddy_task_fn *fn, const void *arg,
        size_t copy_bytes, const char *text, const void *place)
{
        if (ed_unlikely(scope->node.flags & (ED_NODE_CANCELLED | ED_NODE_ENDED | ED_NODE_NOTED) ||
                        !ed_scope_was_begun(scope)))
                return start_slowly(scope, stack_class, fn, arg, copy_bytes, text, place);
        return start_in(scope, stack_class, fn, arg, copy_bytes, text);
}

/* Inlined into each public function, so that the return address is the program's call. */
static inline __attribute__((always_inline)) struct started start(eddy_scope *scope,
                                                                  unsigned stack_class,
                                                                  eddy_task_fn *fn, const void *arg,
                                                                  size_t copy_bytes,
                                                                  const char *text)
{
        return start_from(ed_scope_of(scope), stack_class, fn, arg, copy_bytes, text,
                          __builtin_return_address(0));
}

int ed_scope_start(eddy_scope *scope, eddy_task_fn *fn, void *arg, const char *text,
                   const void *place, struct ed_task **ret_task)
{
        struct started started =
                start_from(ed_scope_of(scope), ED_STACK_DEFAULT, fn, arg, 0, text, place);

        if (started.task)
                *ret_task = started.task;
        return started.err;
}

int ed_scope_try_start(struct ed_scope *scope, eddy_task_fn *fn, const void *arg, size_t copy_bytes,
                       const char *text, const void *place, struct ed_task **ret_task)
{
        struct ed_task *task;

        if (ed_scope_takes_no_more(scope))
                return start_refused(scope);
        if (scope->live >= scope->tasks_max)
                return -EAGAIN;
        task = ed_task_new(scope->node.owner->loop, scope, ED_STACK_DEFAULT, fn, arg, copy_bytes);
        if (!task)
                return -ENOMEM;
        task->self.text = text;
        if (task->loop->notes)
                ed_task_made(task, place);
        scope->live++;
        *ret_task = task;
        return 0;
}

int eddy_scope_start_named(eddy_scope *scope, eddy_task_fn *fn, void *arg, const char *text)
{
        return start(scope, ED_STACK_DEFAULT, fn, arg, 0, text).err;
}

#undef eddy_scope_start
int eddy_scope_start(eddy_scope *scope, eddy_task_fn *fn, void *arg)
{
        return start(scope, ED_STACK_DEFAULT, fn, arg, 0, NULL).err;
}

int eddy_scope_start_copy_named(eddy_scope *scope, eddy_task_fn *fn, const void *arg, size_t bytes,
                                const char *text)
{
        if (bytes > EDDY_TASK_COPY_MAX)
                return not_started(scope, -EINVAL);
        return start(scope, ED_STACK_DEFAULT, fn, arg, bytes, text).err;
}

#undef eddy_scope_start_copy
int eddy_scope_start_copy(eddy_scope *scope, eddy_task_fn *fn, const void *arg, size_t bytes)
{
        if (bytes > EDDY_TASK_COPY_MAX)
                return not_started(scope, -EINVAL);
        return start(scope, ED_STACK_DEFAULT, fn, arg, bytes, NULL).err;
}

static inline __attribute__((always_inline)) int start_task(eddy_scope *scope, eddy_task_fn *fn,
                                                            void *arg,
                                                            const struct eddy_task_opts *opts,
                                                            eddy_task **ret_task, const char *text,
                                                            const void *place)
{
        unsigned class =
                opts && opts->flags & EDDY_TASK_STACK_64K ? ED_STACK_SMALL : ED_STACK_DEFAULT;
        eddy_task *face = NULL;
        struct started started;

        if (ret_task) {
                face = ed_task_face_new(fn, text, place);
                if (!face)
                        return not_started(scope, -ENOMEM);
        }
        started = start_from(ed_scope_of(scope), class, fn, arg, 0, text, place);
        if (started.err < 0) {
                ed_task_face_free(face);
                return started.err;
        }
        if (face) {
                ed_task_face_give(started.task, face);
                *ret_task = face;
        }
        if (opts && opts->name)
                ed_task_face_set_name(started.task->face, opts->name);
        return 0;
}

int eddy_scope_start_task_named(eddy_scope *scope, eddy_task_fn *fn, void *arg,
                                const struct eddy_task_opts *opts, eddy_task **ret_task,
                                const char *text)
{
        return start_task(scope, fn, arg, opts, ret_task, text, __builtin_return_address(0));
}

#undef eddy_scope_start_task
int eddy_scope_start_task(eddy_scope *scope, eddy_task_fn *fn, void *arg,
                          const struct eddy_task_opts *opts, eddy_task **ret_task)
{
        return start_task(scope, fn, arg, opts, ret_task, NULL, __builtin_return_address(0));
}

static bool ready_wait_abort(void *arg)
{
        struct ed_ready_wait *wait = arg;

        wait->task->ready_wait = NULL;
        return true;
}

static int start_ready(eddy_scope *scope, eddy_task_fn *fn, void *arg, const char *text,
                       const void *place)
{
        struct ed_ready_wait wait = { 0 };
        int err;

        err = ed_suspend_enter(&wait.starter);
        if (err < 0)
                return err;
        err = ed_scope_start(scope, fn, arg, text, place, &wait.task);
        if (err < 0) {
                ed_suspend_passed(wait.starter);
                return err;
        }
        wait.task->ready_wait = &wait;
        return ed_suspend_park(wait.starter, "a task to say that it is ready", ready_wait_abort,
                               &wait);
}

int eddy_scope_start_ready_named(eddy_scope *scope, eddy_task_fn *fn, void *arg, const char *text)
{
        return start_ready(scope, fn, arg, text, __builtin_return_address(0));
}

#undef eddy_scope_start_ready
int eddy_scope_start_ready(eddy_scope *scope, eddy_task_fn *fn, void *arg)
{
        return start_ready(scope, fn, arg, NULL, __builtin_return_address(0));
}
