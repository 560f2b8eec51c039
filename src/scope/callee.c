/*
 * scope/callee.c - calls a function of the program with its variables, and reports a failure.
 */
#include "scope/callee.h"

#include "scope/report.h"

void ed_callee_call(struct ed_loop *loop, struct ed_callee callee, struct ed_vars *vars)
{
        struct ed_vars *before = ed_vars_enter(vars);
        int err = callee.fn(callee.arg);

        ed_assert(ed_loop_current == loop,
                  "a child of fork() returned from a callback of its parent: end it with _exit()");
        if (err < 0)
                ed_report_callback(loop, err, callee.fn, callee.text);
        ed_vars_leave(before);
        ed_vars_drop(vars);
}
