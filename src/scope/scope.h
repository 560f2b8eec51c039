/*
 * scope/scope.h - what lies in an eddy_scope, and how tasks begin and end.
 */
#ifndef ED_SCOPE_SCOPE_H
#define ED_SCOPE_SCOPE_H

#include "scope/task.h"

struct ed_scope {
        struct ed_node node;
        struct ed_timer timer; /* the deadline */
        int64_t deadline_ns;   /* 0: none */
        uint32_t live;         /* tasks that have not ended */
        uint32_t generating;   /* of them: those of generators */
        uint32_t tasks_max;
        uint32_t flags;     /* EDDY_SCOPE_*, ED_SCOPE_* */
        int error;          /* the first failure */
        bool expired;       /* the deadline has passed */
        bool expired_first; /* before any failure */
        struct eddy_scope_errors *errors;
        const char *place;         /* where it began; NULL: not known */
        const char *outer_place;   /* what its task had before, until the end */
        struct ed_list generators; /* that have not ended; 'next' NULL: there was none yet */
};

enum {
        ED_SCOPE_ENDING = 1 << 16,     /* the owner waits in end */
        ED_SCOPE_BACKGROUND = 1 << 17, /* failures go to the report */
        ED_SCOPE_RESULTS = 1 << 18,    /* its owner has the results of all */
};

_Static_assert(sizeof(struct ed_scope) + 8 * sizeof(uintptr_t) <= sizeof(eddy_scope),
               "an eddy_scope has no room left in reserve");

static inline struct ed_scope *ed_scope_of(eddy_scope *scope)
{
        return (struct ed_scope *) scope;
}

/* The deadline of a scope has come. */
void ed_scope_on_deadline(struct ed_timer *timer);

/* Whether it is open or has ended: the begin leaves that function in no other memory. */
static inline bool ed_scope_was_begun(const struct ed_scope *scope)
{
        return scope->timer.fn == ed_scope_on_deadline;
}

/* Of a scope's node. */
static inline struct ed_scope *ed_scope_of_node(struct ed_node *node)
{
        return ed_container_of(node, struct ed_scope, node);
}

/*
 * Make a task of 'scope' that calls fn(arg), and queue it; with 'copy_bytes'
 * above 0, fn gets a copy of that much at 'arg'.  The caller counts the task in
 * scope->live, and sets its self.text.  NULL: no stack.
 */
struct ed_task *ed_task_new(struct ed_loop *loop, struct ed_scope *scope, unsigned stack_class,
                            eddy_task_fn *fn, const void *arg, size_t copy_bytes);

/*
 * A face that outlives its task: made first, since that can fail, then given
 * to the task.  'place' is for debug mode.  NULL: no memory.
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

/* Handles that were given back, kept for the next tasks of their run. */
enum { ED_FACES_MAX = 64 };

struct ed_faces {
        struct eddy_task *first;
        uint32_t count;
};

/* Free them all. */
void ed_faces_fini(struct ed_faces *faces);

/*
 * eddy_scope_start() for a call of the program's that was made from 'place', and
 * gives the task: the caller may name it by another function.
 */
int ed_scope_start(eddy_scope *scope, eddy_task_fn *fn, void *arg, const char *text,
                   const void *place, struct ed_task **ret_task);

/*
 * Start a task for a caller that handles a failure to start itself: the scope
 * stays as it is.  'copy_bytes' as for ed_task_new().
 *
 * Errors: -ECANCELED  the scope is cancelled; counts as delivered inside
 *         -EAGAIN     tasks_max tasks are running
 *         -ENOMEM
 */
ED_SHARED EDDY_MUST_USE int ed_scope_try_start(struct ed_scope *scope, eddy_task_fn *fn,
                                               const void *arg, size_t copy_bytes, const char *text,
                                               const void *place, struct ed_task **ret_task);

/* A failure of a task, or of starting one. */
void ed_scope_failed(struct ed_scope *scope, int error, struct ed_task *task);

/* A task has ended and is out of the tree; true: the owner waits for that, and is to be woken. */
static inline bool ed_scope_task_ended(struct ed_scope *scope)
{
        if (--scope->live != scope->generating || !(scope->flags & ED_SCOPE_ENDING))
                return false;
        /* Once: until the owner runs, another task may start and end one more. */
        scope->flags &= ~(uint32_t) ED_SCOPE_ENDING;
        return true;
}

/* Tell all generators of a scope to end, if they have not been told. */
void ed_scope_close_generators(struct ed_scope *scope);

/* Waits of eddy_scope_start_ready(); lies on the starter's stack. */
struct ed_ready_wait {
        struct ed_task *starter;
        struct ed_task *task;
};

/* Tell the starter that waits, if one does. */
void ed_ready_wait_end(struct ed_task *task, int result);

#endif
