/*
 * scope/task.h - tasks, as the floors above see them.
 */
#ifndef ED_SCOPE_TASK_H
#define ED_SCOPE_TASK_H

#include "base/list.h"
#include "eddy/error.h"
#include "eddy/run.h"
#include "eddy/scope.h"
#include "eddy/task.h"
#include "eddy/time.h"
#include "loop/loop.h"
#include "scope/node.h"

enum {
        ED_TASK_NAME_BYTES = 32,
        ED_TASK_CALLED_BYTES = 64, /* of what one without a name is called: its function's place */
        ED_TASK_BUDGET = 128,
};

/*
 * The public face.  That of a task with a handle is allocated and outlives
 * it; that of any other lies in the task.
 */
struct eddy_task {
        struct ed_task *task; /* NULL: it has finished */
        int result;
        uint8_t refs; /* the handle's holder and the task; 0: lies in the task */
        bool is_named;
        uint8_t looks;    /* ED_FACE_*; of one that is allocated */
        eddy_task_fn *fn; /* names it when it was given no name, ... */
        const char *text; /* ... as the program wrote it in the call that started it; or NULL */
        const struct ed_loop *loop;
        void *joiners[2];              /* a line of waiters; their items: where the result goes */
        char name[ED_TASK_NAME_BYTES]; /* once it is named */
};

/* Who looks at the result of a task that failed. */
enum {
        ED_FACE_LOST = 1 << 0, /* its scope will not tell of it; debug mode only */
        ED_FACE_SEEN = 1 << 1, /* somebody has asked for it */
};

/* What debug mode knows of the wait of a task. */
enum {
        ED_WAIT_OTHER,
        ED_WAIT_NET_NEXT, /* not parked yet; the next wait is for the network */
        ED_WAIT_NET,      /* for the network */
        ED_WAIT_TOLD,     /* ... and it was told that this lasts */
};

/* What debug mode keeps of a task; valid in debug mode only. */
struct ed_debug_task {
        const void *place;    /* that started it; NULL: not the program */
        eddy_task_fn *fn;     /* its function */
        uint32_t locks;       /* that it holds */
        uint8_t wait;         /* while parked: ED_WAIT_* */
        bool cancel_told;     /* that it goes on after its cancel */
        int64_t cancelled_ns; /* while cancelled: since when */
};

struct ed_ready_wait;
struct ed_scope;
struct ed_vars;

/*
 * Lies at the top of its own stack.  A task that gives way or waits touches two
 * cache lines of it, the first and the third; one that starts and ends two more.
 * What only debug mode uses keeps them apart: tops of neighbouring stacks lie a
 * line apart in their pages, so the second line here is where the neighbour, who
 * has just left, has its fiber; and a load from where another page was stored to
 * a moment ago waits for that store (docs/design/stacks.md).
 */
struct ed_task {
        struct ed_fiber fiber;
        int64_t parked_ns; /* while parked in debug mode: since when */
        struct ed_debug_task debug;
        _Alignas(64) struct ed_node *inner; /* the innermost: a scope's node, or its own */
        struct ed_loop *loop;
        const char *scope_place; /* where the innermost open scope began, if that is known */
        struct ed_node node;
        struct ed_scope *scope; /* that it was started in */
        eddy_task_fn *fn;
        void *arg;
        struct ed_stack *stack;
        struct ed_ready_wait *ready_wait; /* of eddy_scope_start_ready() */
        struct ed_vars *vars;             /* values of variables; NULL: none */
        struct eddy_task *face;
        uint64_t number; /* of those that its loop has started: its address is used again */
        struct eddy_task self;
};

_Static_assert(sizeof(struct ed_fiber) != 64 ||
                       offsetof(struct ed_task, inner) == ED_LOOP_TASK_LINE,
               "what every call looks at is not what the loop fetches");

/* The task on a stack lies at its top, which is where 'stack' lies. */
static inline struct ed_task *ed_task_of_stack(const struct ed_stack *stack)
{
        uintptr_t below = (uintptr_t) stack - sizeof(struct ed_task);

        return (struct ed_task *) (below & ~(uintptr_t) 63);
}

/* The task that runs on this thread, or NULL. */
static inline struct ed_task *ed_task_running(void)
{
        struct ed_loop *loop = ed_loop_current;

        if (ed_unlikely(!loop || !loop->current))
                return NULL;
        return ed_container_of(loop->current, struct ed_task, fiber);
}

/* The name of a task, or of that of a handle; 'buf' is used when it has none of its own. */
ED_SHARED const char *ed_task_name(const struct ed_task *task, char *buf, size_t bytes);
const char *ed_task_face_name(const struct eddy_task *face, char *buf, size_t bytes);

/* Attribute a cancel to who caused it, let others run, and return -ECANCELED. */
ED_SHARED __attribute__((cold)) int ed_cancel_deliver(struct ed_task *task);

/* Yield, and start counting anew. */
ED_SHARED __attribute__((cold)) void ed_suspend_give_way(struct ed_task *task);

/*
 * Wait until ed_suspend_wake(); returns its result, or -ECANCELED after
 * 'abort(arg)' has taken the wait back.  With 'abort' NULL the wait cannot be
 * cancelled.
 * 'waits_for' is said in reports: "a unit of a semaphore".
 */
ED_SHARED int ed_suspend_park(struct ed_task *task, const char *waits_for, ed_abort_fn *abort,
                              void *arg);

/* ed_suspend_note() in debug mode. */
void ed_suspend_note_wait(struct ed_task *task);

/* Just before a task parks.  Only debug mode reads the clock for it. */
static inline void ed_suspend_note(struct ed_task *task)
{
        if (ed_unlikely(task->loop->debug))
                ed_suspend_note_wait(task);
}

/* End the wait of a parked task. */
static inline void ed_suspend_wake(struct ed_task *task, int result)
{
        ed_fiber_wake(task->loop, &task->fiber, result);
}

/* Called at each park, by tests that cancel at the Nth one; NULL. */
typedef void ed_at_suspend_fn(struct ed_task *task);
extern ed_at_suspend_fn *ed_test_at_suspend;

/* Set it, and return the one before. */
ED_SHARED ed_at_suspend_fn *ed_test_at_suspend_set(ed_at_suspend_fn *fn);

/* A report about a task, to eddy_run_opts.report. */
ED_SHARED void ed_report_task(struct ed_loop *loop, int kind, int error, const struct ed_task *task,
                              const char *text);

/* A callback of the loop failed: EDDY_REPORT_CALLBACK, with its function's name. */
void ed_report_callback(struct ed_loop *loop, int error, eddy_task_fn *fn, const char *text);

/* Whether a node is a task's; else it is a scope's. */
static inline bool ed_node_is_task(const struct ed_node *node)
{
        return node == &node->owner->node;
}

#endif
