/*
 * scope/vars.h - the values that tasks have of variables.
 *
 * A set of values is shared, by counted references, by all who inherited it,
 * and copied by the first of them that changes it.  Counts are atomic, since
 * a job on another thread keeps the set of the task that asked for it.  Who
 * has no values has no set: starting a task costs it one test.
 */
#ifndef ED_SCOPE_VARS_H
#define ED_SCOPE_VARS_H

#include "scope/task.h"

struct ed_vars;

/* Of what runs on this thread outside of tasks: a job, a callback of the loop.  Or NULL. */
extern __thread struct ed_vars *ed_vars_current __attribute__((tls_model("initial-exec")));

/* One more holder.  Threads: of one who holds it. */
void ed_vars_keep(struct ed_vars *vars);

/* A holder gives it back.  NULL is fine.  Threads: any. */
void ed_vars_drop(struct ed_vars *vars);

/*
 * What runs here has these values, kept for the caller, who gives them back
 * with ed_vars_drop(); NULL: none.
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

/* The same where it is known which loop runs here, or none. */
static inline struct ed_vars *ed_vars_take_on(const struct ed_loop *loop)
{
        struct ed_fiber *fiber = loop->current;

        return ed_vars_take_from(fiber ? ed_container_of(fiber, struct ed_task, fiber) : NULL);
}

/*
 * Around a call outside of tasks that is to see 'vars', which may be NULL and
 * is borrowed: enter returns what leave is given back.
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
