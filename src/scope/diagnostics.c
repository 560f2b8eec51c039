/*
 * scope/diagnostics.c - begins and ends debug mode and timelines, and has the hooks by which the
 * core calls them.  No other file of the core knows them.
 */
#include "scope/diagnostics.h"

#include <stdlib.h>
#include <string.h>

#include "scope/debug/debug.h"
#include "scope/debug/stack_record.h"
#include "scope/hooks.h"
#include "scope/trace/trace.h"
#include "scope/waiters.h"

/* --- hooks --- */

static void on_task_made(struct ed_task *task, const void *place)
{
        if (task->loop->trace)
                ed_trace_start(task, place);
        if (task->loop->debug)
                ed_debug_task_made(task, place);
}

static void on_task_parks(struct ed_task *task, const char *waits_for)
{
        if (task->loop->trace)
                ed_trace_park(task, waits_for);
        if (task->loop->debug)
                ed_debug_parks(task);
}

static void on_node_marked(struct ed_node *node)
{
        if (node->flags & ED_NODE_DEBUG)
                ed_debug_cancelled(node);
        if (node->flags & ED_NODE_TRACED)
                ed_trace_stop(node);
}

static void on_scope_expires(struct ed_scope *scope)
{
        if (scope->node.flags & ED_NODE_TRACED)
                ed_trace_deadline(scope);
        if (scope->flags & ED_SCOPE_BACKGROUND && scope->node.flags & ED_NODE_DEBUG)
                ed_debug_tasks_left(ed_run_of(scope->node.owner->loop), &scope->node);
}

static void on_handle_made(struct eddy_task *face, const void *place)
{
        ed_debug_note(ed_loop_current, face, ED_DEBUG_HANDLE, place);
}

static const struct ed_hooks hooks = {
        .task_made = on_task_made,
        .task_parks = on_task_parks,
        .run_deadlocked = ed_trace_deadlock,
        .node_marked = on_node_marked,
        .scope_expires = on_scope_expires,
        .scope_begins = ed_trace_scope_begin,
        .scope_ends = ed_trace_scope_end,
        .task_ends = ed_trace_task_end,
        .node_cancelled = ed_trace_cancel,
        .task_failed = ed_debug_task_failed,
        .handle_made = on_handle_made,
        .lock_held = ed_debug_lock_held,
        .lock_awaited = ed_debug_lock_wait,
        .locks_left = ed_debug_locks_left,
        .lock_released = ed_debug_lock_released,
        .handle_freed = ed_debug_handle_freed,
};

/* --- begin --- */

/* The options take precedence over the environment. */
static bool is_debug(const struct eddy_run_opts *opts)
{
        const char *debug = getenv("EDDY_DEBUG");

        if (opts->flags & (EDDY_RUN_DEBUG | EDDY_RUN_NO_DEBUG))
                return opts->flags & EDDY_RUN_DEBUG;
        return debug && strcmp(debug, "1") == 0;
}

int ed_diagnostics_begin(struct ed_run *run)
{
        int err = 0;

        atomic_store_explicit(&ed_hooks_of_process, &hooks, memory_order_relaxed);
        if (is_debug(&run->opts)) {
                err = ed_debug_begin(run);
                if (err == 0)
                        err = ed_stack_records_open(run);
        }
        if (err == 0)
                err = ed_trace_begin(run);
        run->loop.notes = run->debug || run->loop.trace;
        return err;
}

void ed_diagnostics_supervise(struct ed_run *run)
{
        if (run->debug)
                ed_debug_supervise(run);
        ed_trace_supervise(run);
}

/* --- end --- */

void ed_diagnostics_supervised(struct ed_run *run)
{
        if (run->loop.trace)
                ed_trace_task_end(run->supervisor, 0);
}

void ed_diagnostics_tasks_left(struct ed_run *run, struct ed_node *top)
{
        if (run->debug)
                ed_debug_tasks_left(run, top);
}

void ed_diagnostics_stacks(struct ed_run *run)
{
        ed_stack_records_report(run);
}

void ed_diagnostics_end(struct ed_run *run)
{
        ed_stack_records_report(run);
        ed_debug_end(run);
}

void ed_diagnostics_write(struct ed_run *run)
{
        ed_trace_end(run);
}

void ed_diagnostics_fini(struct ed_run *run)
{
        ed_stack_records_close(run);
}

void ed_diagnostics_drop(struct ed_run *run)
{
        ed_stack_records_close(run);
        ed_trace_drop(run);
        ed_debug_drop(run);
}

void ed_diagnostics_forsake(struct ed_run *run)
{
        ed_debug_forsake(run);
        ed_trace_leave(run);
}

void ed_diagnostics_forget(void)
{
        ed_debug_first = NULL;
        atomic_store_explicit(&ed_debug_runs, 0, memory_order_relaxed);
        ed_debug_fars_forked();
        ed_trace_forget();
}
