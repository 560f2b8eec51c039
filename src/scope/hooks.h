/*
 * scope/hooks.h - the calls by which the core notifies the diagnostics of a run of events in its
 * scopes and tasks.
 *
 * The core calls a hook only if a flag is set, which the headings below name.  It tests this flag
 * together with others, so a run without diagnostics pays nothing.  The core does not know the
 * diagnostics; scope/diagnostics.c has the hooks.
 */
#ifndef ED_SCOPE_HOOKS_H
#define ED_SCOPE_HOOKS_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/def.h"
#include "eddy/lock.h"
#include "eddy/task.h"

struct ed_debug;
struct ed_node;
struct ed_run;
struct ed_scope;
struct ed_task;

struct ed_hooks {
        /* --- with 'notes' of the loop --- */

        /* A new task was started at 'place' (NULL: not by the program). */
        void (*task_made)(struct ed_task *task, const void *place);
        void (*task_parks)(struct ed_task *task, const char *waits_for);

        /* --- with 'trace' of the loop --- */

        /* All tasks wait, and nothing can wake them. */
        void (*run_deadlocked)(struct ed_run *run);

        /* --- with ED_NODE_NOTED --- */

        /* A cancel has marked a node. */
        void (*node_marked)(struct ed_node *node);
        /* The deadline of a scope has passed; its cancel follows. */
        void (*scope_expires)(struct ed_scope *scope);

        /* --- with ED_NODE_TRACED --- */

        void (*scope_begins)(struct ed_scope *scope);
        void (*scope_ends)(struct ed_scope *scope, int result);
        void (*task_ends)(struct ed_task *task, int result);
        /* A cancel of this node begins; node_marked() follows for the nodes that it marks. */
        void (*node_cancelled)(struct ed_node *node);

        /* --- with ED_NODE_DEBUG, or 'debug' of the loop --- */

        /* A task has failed; its scope records the failure next. */
        void (*task_failed)(struct ed_scope *scope, int error, struct ed_task *task);
        /* A handle was allocated for a task that is started at 'place'. */
        void (*handle_made)(struct eddy_task *face, const void *place);
        /* 'task' holds a lock, which it requested at 'place' (NULL: unknown). */
        void (*lock_held)(eddy_lock *lock, struct ed_task *task, const void *place);
        /* 'task' is about to wait for a lock. */
        void (*lock_awaited)(const eddy_lock *lock, const struct ed_task *task);
        /* A task goes on without releasing locks.  'after': "ended", or another event. */
        void (*locks_left)(struct ed_task *task, const char *after);

        /* --- with ED_LOCK_DEBUG --- */

        void (*lock_released)(const eddy_lock *lock);

        /* --- with ed_debug_first --- */

        void (*handle_freed)(const struct eddy_task *face);
};

/* NULL until the process makes its first run. */
extern const struct ed_hooks *_Atomic ed_hooks_of_process;

static inline const struct ed_hooks *ed_hooks(void)
{
        return atomic_load_explicit(&ed_hooks_of_process, memory_order_relaxed);
}

/* This thread's loops in debug mode, including those that are between two runs. */
extern ED_SHARED __thread struct ed_debug *ed_debug_first
        __attribute__((tls_model("initial-exec")));

#endif
