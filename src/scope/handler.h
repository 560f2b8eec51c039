/*
 * scope/handler.h - calls of a function of the program, one for each piece of work, in a task that
 * serves many pieces of work: an HTTP server's handler, in the task of a connection.
 *
 * Values of variables that the function sets, bound log values among them, end with the call.  A
 * scope that the function leaves open ends the process, and debug mode reports a lock that the
 * function leaves locked: both would change the next call.
 */
#ifndef ED_SCOPE_HANDLER_H
#define ED_SCOPE_HANDLER_H

#include "scope/task.h"

/* The task before the call. */
struct ed_handler_call {
        struct ed_task *task;
        struct ed_vars *vars;
        const struct ed_node *inner;
};

/* These two enclose a call, in the running task. */
ED_SHARED void ed_handler_begin(struct ed_handler_call *call);
ED_SHARED void ed_handler_end(const struct ed_handler_call *call);

#endif
