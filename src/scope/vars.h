/*
 * scope/vars.h - tasks' values of variables.
 *
 * All tasks that inherit a set of values share the set by counted references; the first task that
 * changes a value copies the set.  The counts are atomic, since a job on another thread keeps the
 * set of the task that submitted it.  A task without values has no set, so starting one costs one
 * test.
 */
#ifndef ED_SCOPE_VARS_H
#define ED_SCOPE_VARS_H

#include "scope/task.h"

struct ed_vars;

/*
 * The values for code that runs on this thread outside of tasks (a job or a callback of the loop),
 * or NULL.
 */
extern __thread struct ed_vars *ed_vars_current __attribute__((tls_model("initial-exec")));

/* Adds a reference.  Threads: any that holds one. */
ED_SHARED void ed_vars_keep(struct ed_vars *vars);

/* Drops a reference.  NULL is fine.  Threads: any. */
ED_SHARED void ed_vars_drop(struct ed_vars *vars);

/*
 * Returns the values of the running task or callback with a new reference, which the caller drops
 * with ed_vars_drop(); NULL if it has no values.
 */
static inline struct ed_vars *ed_vars_take_from(const struct ed_task *task)
{
        struct ed_vars *vars = task ? task->vars : ed_vars_current;

        if (ed_unlikely(vars != NULL))
                ed_vars_keep(vars);
        return vars;
}

static inline struct ed_vars *ed_vars_take(void)
{
        return ed_vars_take_from(ed_task_running());
}

/* ed_vars_take(), for a caller that knows this thread's loop. */
static inline struct ed_vars *ed_vars_take_on(const struct ed_loop *loop)
{
        struct ed_fiber *fiber = loop->current;

        return ed_vars_take_from(fiber ? ed_container_of(fiber, struct ed_task, fiber) : NULL);
}

/*
 * These two enclose a call of the program's function in a task that outlives what the function
 * works for: the values that the function sets end with the call.  Pass the result of begin to end.
 */
static inline struct ed_vars *ed_vars_begin(const struct ed_task *task)
{
        if (ed_unlikely(task->vars != NULL))
                ed_vars_keep(task->vars);
        return task->vars;
}

static inline void ed_vars_end(struct ed_task *task, struct ed_vars *before)
{
        struct ed_vars *vars = task->vars;

        task->vars = before;
        if (ed_unlikely(vars != NULL))
                ed_vars_drop(vars);
}

/*
 * These two enclose a call outside of tasks that uses 'vars', which may be NULL and is borrowed.
 * Pass the result of enter to leave.
 */
static inline struct ed_vars *ed_vars_enter(struct ed_vars *vars)
{
        struct ed_vars *before = ed_vars_current;

        ed_vars_current = vars;
        return before;
}

static inline void ed_vars_leave(struct ed_vars *before)
{
        ed_vars_current = before;
}

#endif
