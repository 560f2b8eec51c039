/*
 * scope/callee.h - a function of the program that the loop calls outside of tasks.
 */
#ifndef ED_SCOPE_CALLEE_H
#define ED_SCOPE_CALLEE_H

#include "scope/task.h"
#include "scope/vars.h"

struct ed_callee {
        eddy_task_fn *fn;
        void *arg;
        const char *text; /* text of fn in the program's call, or NULL */
};

/*
 * Calls the function with the variables 'vars', drops them, and reports a failure.  The memory that
 * held the callee may be reused during the call.
 */
void ed_callee_call(struct ed_loop *loop, struct ed_callee callee, struct ed_vars *vars);

#endif
