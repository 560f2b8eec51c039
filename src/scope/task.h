/*
 * scope/task.h - tasks, as the upper floors see them.
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
#include "scope/cancel.h"

enum {
        ED_TASK_NAME_BYTES = 32,
        ED_TASK_CALLED_BYTES = 64, /* bytes for an unnamed task's text: its function's place */
        ED_TASK_BUDGET = 128,
};

/*
 * The public face (handle).  A task with a handle has an allocated face that outlives the task;
 * other tasks contain their face.
 */
struct eddy_task {
        struct ed_task *task; /* NULL: it has finished */
        int result;
        uint8_t refs; /* the handle's holder and the task; 0: inside the task */
        bool is_named;
        uint8_t looks;    /* ED_FACE_*; only for an allocated face */
        eddy_task_fn *fn; /* names the task if no name was given, ... */
        const char *text; /* ... as written in the program's call; or NULL */
        const struct ed_loop *loop;
        void *joiners[2];              /* a queue of waiters; item: where the result goes */
        char name[ED_TASK_NAME_BYTES]; /* valid if is_named */
};

/* Flags about the result of a failed task. */
enum {
        ED_FACE_LOST = 1 << 0, /* its scope will not report it; debug mode only */
        ED_FACE_SEEN = 1 << 1, /* the result was read */
};

/* Debug mode: what a task waits for. */
enum {
        ED_WAIT_OTHER,
        ED_WAIT_NET_NEXT, /* not parked yet; the next wait is for the network */
        ED_WAIT_NET,      /* parked; waits for the network */
        ED_WAIT_REPORTED, /* ... and this long wait was reported */
};

/* Debug mode's data about a task. */
struct ed_debug_task {
        const void *place;    /* where it was started; NULL: not by the program */
        eddy_task_fn *fn;     /* its function */
        uint32_t locks;       /* number of locks held */
        uint8_t wait;         /* while parked: ED_WAIT_* */
        bool cancel_reported; /* that it continues after its cancel was reported */
        int64_t cancelled_ns; /* when it was cancelled; valid while cancelled */
};

struct ed_ready_wait;
struct ed_scope;
struct ed_vars;

/*
 * A task is at the top of its own stack.  A task that yields or waits touches two cache lines of
 * this struct, the first and the third; a task that starts and ends touches two more.  The second
 * line holds data of debug mode and keeps these two apart.  Tops of neighbouring stacks are one
 * line apart in their pages, so a neighbour that has just parked wrote its fiber at the page offset
 * of this task's second line, and a load must wait for a recent store to the same offset of another
 * page (docs/design/stacks.md).
 */
struct ed_task {
        struct ed_fiber fiber;
        int64_t parked_ns; /* debug mode: when it parked; valid while parked */
        struct ed_debug_task debug;
        _Alignas(64) struct ed_node *inner; /* innermost node: a scope's, or the task's own */
        struct ed_loop *loop;
        /*
         * A suspending call checks that the stack pointer is not below this address: the lowest
         * byte of the stack; in debug mode the lowest stack pointer of its calls up to now.
         */
        const char *stack_low;
        const char *scope_place; /* where the innermost open scope began, if known */
        struct ed_node node;
        struct ed_scope *scope; /* the scope it was started in */
        eddy_task_fn *fn;
        void *arg;
        struct ed_stack *stack;
        struct ed_ready_wait *ready_wait; /* the starter's wait in eddy_scope_start_ready() */
        struct ed_vars *vars;             /* values of variables; NULL: none */
        struct eddy_task *face;
        uint64_t number; /* serial number in the loop; the address is reused */
        struct eddy_task self;
};

_Static_assert(sizeof(struct ed_fiber) != 64 ||
                       offsetof(struct ed_task, inner) == ED_LOOP_TASK_LINE,
               "the loop must prefetch the fields that every call reads");

/* Returns the task at the top of a stack, just below 'stack'. */
static inline struct ed_task *ed_task_of_stack(const struct ed_stack *stack)
{
        uintptr_t below = (uintptr_t) stack - sizeof(struct ed_task);

        return (struct ed_task *) (below & ~(uintptr_t) 63);
}

/* Returns the task that runs on this thread, or NULL. */
static inline struct ed_task *ed_task_running(void)
{
        struct ed_loop *loop = ed_loop_current;

        if (ed_unlikely(!loop || !loop->current))
                return NULL;
        return ed_container_of(loop->current, struct ed_task, fiber);
}

/*
 * The stack pointer of a suspending call is below 'stack_low': in debug mode notes the new depth;
 * aborts if the frame is in another stack.  Uses little stack until it knows.
 */
ED_SHARED __attribute__((cold, noinline)) void ed_task_stack_low(struct ed_task *task,
                                                                 const char *at);

static inline __attribute__((always_inline)) bool ed_task_is_stack_low(const struct ed_task *task)
{
        return ed_co_stack_pointer() < task->stack_low;
}

/*
 * Checks in a suspending call that the frames of the running task are within its stack.  The
 * library's own frames are: the compiler checks them (-fstack-clash-protection).  A program that is
 * compiled without that option can have a frame that jumps over the guard.
 */
static inline __attribute__((always_inline)) void ed_task_check_stack(struct ed_task *task)
{
        if (ed_unlikely(ed_task_is_stack_low(task)))
                ed_task_stack_low(task, ed_co_stack_pointer());
}

/* The same, in a call that may return before ed_suspend_enter(). */
static inline void ed_task_check_stack_here(void)
{
        struct ed_task *task = ed_task_running();

        if (task)
                ed_task_check_stack(task);
}

/*
 * Returns the unused pages of a parked task's stack to the kernel.  Not in debug mode, which reads
 * there how deep the stack was used.
 */
ED_SHARED void ed_task_release_stack(const struct ed_task *task);

/* Returns the name of a task or handle; writes to 'buf' if no name was given. */
ED_SHARED const char *ed_task_name(const struct ed_task *task, char *buf, size_t bytes);
const char *ed_task_face_name(const struct eddy_task *face, char *buf, size_t bytes);

/* Attributes a cancel to the scope or task that caused it, lets others run, returns -ECANCELED. */
ED_SHARED __attribute__((cold)) int ed_cancel_deliver(struct ed_task *task);

/* Yields and resets the count of calls. */
ED_SHARED __attribute__((cold)) void ed_suspend_give_way(struct ed_task *task);

/*
 * Waits until ed_suspend_wake() and returns its result, or -ECANCELED after 'abort(arg)' has undone
 * the wait.  If 'abort' is NULL, the wait cannot be cancelled.  'waits_for' appears in reports, for
 * example "a unit of a semaphore".
 */
ED_SHARED int ed_suspend_park(struct ed_task *task, const char *waits_for, ed_abort_fn *abort,
                              void *arg);

/* ed_suspend_note() in debug mode or in a traced run. */
void ed_suspend_note_wait(struct ed_task *task, const char *waits_for);

/* Notes that a task is about to park.  Reads the clock only in debug mode and in a traced run. */
static inline void ed_suspend_note(struct ed_task *task, const char *waits_for)
{
        if (ed_unlikely(task->loop->notes))
                ed_suspend_note_wait(task, waits_for);
}

/* Debug mode and traces: records a new task. */
void ed_task_made(struct ed_task *task, const void *place);

/* Ends the wait of a parked task. */
static inline void ed_suspend_wake(struct ed_task *task, int result)
{
        ed_fiber_wake(task->loop, &task->fiber, result);
}

/* Called at each park.  Tests set it to cancel at the Nth park; otherwise NULL. */
typedef void ed_at_suspend_fn(struct ed_task *task);
extern ed_at_suspend_fn *ed_test_at_suspend;

/* Sets the function and returns the previous one. */
ED_SHARED ed_at_suspend_fn *ed_test_at_suspend_set(ed_at_suspend_fn *fn);

/* Returns true if a node belongs to a task, false if it belongs to a scope. */
static inline bool ed_node_is_task(const struct ed_node *node)
{
        return node == &node->owner->node;
}

#endif
