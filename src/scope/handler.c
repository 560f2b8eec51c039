/*
 * scope/handler.c - see handler.h.
 */
#include "scope/handler.h"

#include "scope/hooks.h"
#include "scope/misuse.h"
#include "scope/vars.h"

void ed_handler_begin(struct ed_handler_call *call)
{
        struct ed_task *task = ed_task_running();

        call->task = task;
        call->vars = ed_vars_begin(task);
        call->inner = task->inner;
}

void ed_handler_end(const struct ed_handler_call *call)
{
        struct ed_task *task = call->task;

        if (ed_unlikely(task->inner != call->inner))
                ed_misuse_left(task, task->scope_place);
        if (ed_unlikely(task->loop->debug) && task->debug.locks > 0)
                ed_hooks()->locks_left(task, "returned from a handler");
        ed_vars_end(task, call->vars);
}
