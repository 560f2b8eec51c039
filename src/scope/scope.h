/*
 * scope/scope.h - the contents of an eddy_scope; how tasks begin and end.
 */
#ifndef ED_SCOPE_SCOPE_H
#define ED_SCOPE_SCOPE_H

#include "scope/task.h"

struct ed_scope {
        struct ed_node node;
        struct ed_timer timer; /* the deadline */
        int64_t deadline_ns;   /* 0: none */
        uint32_t live;         /* tasks that have not ended */
        uint32_t generating;   /* how many of them belong to generators */
        uint32_t tasks_max;
        uint32_t flags;     /* EDDY_SCOPE_*, ED_SCOPE_* */
        int error;          /* the first failure */
        bool expired;       /* the deadline has passed */
        bool expired_first; /* ... before any failure */
        struct eddy_scope_errors *errors;
        const char *place;         /* where it began; NULL: unknown */
        const char *outer_place;   /* the task's previous scope_place, restored at the end */
        struct ed_list generators; /* not ended yet; 'next' is NULL until the first one */
};

/* The reason of a task's wait at the end of its scope. */
#define ED_WAITS_FOR_SCOPE "the tasks of a scope to end"

enum {
        ED_SCOPE_ENDING = 1 << 16,     /* the owner waits in end */
        ED_SCOPE_BACKGROUND = 1 << 17, /* failures go to the report */
        ED_SCOPE_RESULTS = 1 << 18,    /* its owner receives all results */
        ED_SCOPE_SERVING = 1 << 19,    /* the connections of eddy_serve() */
};

_Static_assert(sizeof(struct ed_scope) + 8 * sizeof(uintptr_t) <= sizeof(eddy_scope),
               "an eddy_scope has no room left in reserve");

static inline struct ed_scope *ed_scope_of(eddy_scope *scope)
{
        return (struct ed_scope *) scope;
}

/* The scope's deadline has passed.  Called by the timer. */
void ed_scope_on_deadline(struct ed_timer *timer);

/* Returns true if a scope is open or has ended.  Only begin writes this timer function. */
static inline bool ed_scope_was_begun(const struct ed_scope *scope)
{
        return scope->timer.fn == ed_scope_on_deadline;
}

/* Returns true if a scope starts no more tasks. */
static inline bool ed_scope_takes_no_more(const struct ed_scope *scope)
{
        return scope->node.flags & (ED_NODE_CANCELLED | ED_NODE_ENDED);
}

/* Returns the scope that has this node. */
static inline struct ed_scope *ed_scope_of_node(struct ed_node *node)
{
        return ed_container_of(node, struct ed_scope, node);
}

/*
 * Makes a task of 'scope' that calls fn(arg), and queues it.  If 'copy_bytes' is above 0, fn gets a
 * copy of the 'copy_bytes' bytes at 'arg'.  The caller counts the task in scope->live and sets its
 * self.text.  Returns NULL if no stack is available.
 */
struct ed_task *ed_task_new(struct ed_loop *loop, struct ed_scope *scope, unsigned stack_class,
                            eddy_task_fn *fn, const void *arg, size_t copy_bytes);

/*
 * A face (handle) that outlives its task.  It is made first, since that can fail, then given to the
 * task.  'place' is for debug mode.  Returns NULL if memory runs out.
 */
struct eddy_task *ed_task_face_new(eddy_task_fn *fn, const char *text, const void *place);
void ed_task_face_set_name(struct eddy_task *face, const char *name);
static inline void ed_task_face_give(struct ed_task *task, struct eddy_task *face)
{
        face->task = task;
        face->loop = task->loop;
        task->face = face;
}
void ed_task_face_free(struct eddy_task *face);

struct ed_faces;

/* Frees all handles that a run kept. */
void ed_faces_fini(struct ed_faces *faces);

/*
 * Does what eddy_scope_start() does for a call made at 'place' in the program, and returns the
 * task, so that the caller can name the task after another function.
 */
int ed_scope_start(eddy_scope *scope, eddy_task_fn *fn, void *arg, const char *text,
                   const void *place, struct ed_task **ret_task);

/*
 * Starts a task for a caller that handles a failed start itself: the scope does not record the
 * failure.  'copy_bytes' is as in ed_task_new().
 *
 * Errors: -ECANCELED  the scope is cancelled; counts as delivered inside
 *         -EAGAIN     tasks_max tasks are running
 *         -ENOMEM
 */
ED_SHARED EDDY_MUST_USE int ed_scope_try_start(struct ed_scope *scope, eddy_task_fn *fn,
                                               const void *arg, size_t copy_bytes, const char *text,
                                               const void *place, struct ed_task **ret_task);

/*
 * scope/failure.c: records a failure of a task, or a failed start if 'task' is NULL; _failed() also
 * reports what nothing else will.
 */
void ed_scope_fail(struct ed_scope *scope, int error, const struct ed_task *task);
void ed_scope_failed(struct ed_scope *scope, int error, struct ed_task *task);

/*
 * A task has ended and left the tree.  Returns true if the owner waits for that and must be woken.
 */
static inline bool ed_scope_task_ended(struct ed_scope *scope)
{
        if (--scope->live != scope->generating || !(scope->flags & ED_SCOPE_ENDING))
                return false;
        /* Wake once: until the owner runs, another task may start and end one more. */
        scope->flags &= ~(uint32_t) ED_SCOPE_ENDING;
        return true;
}

/* Asks all generators of a scope to end, unless they were asked before. */
void ed_scope_close_generators(struct ed_scope *scope);

/* A wait in eddy_scope_start_ready(), on the starter's stack. */
struct ed_ready_wait {
        struct ed_task *starter;
        struct ed_task *task;
};

/* Wakes the starter if it still waits. */
void ed_ready_wait_end(struct ed_task *task, int result);

#endif
