/*
 * scope/debug/debug.h - debug mode: what it notes down while a run goes on, and what
 * it tells of.
 *
 * Whoever calls these has seen that the run is in debug mode, in a place that
 * is cold, or by a flag of the task's nodes that is tested together with
 * others: without debug mode it costs nothing.
 */
#ifndef ED_SCOPE_DEBUG_DEBUG_H
#define ED_SCOPE_DEBUG_DEBUG_H

#include "base/text.h"
#include "eddy/lock.h"
#include "scope/debug/marks.h"
#include "scope/run.h"

/* Things that the program owns and gives back. */
enum ed_debug_kind {
        ED_DEBUG_HANDLE,
        ED_DEBUG_STREAM,
        ED_DEBUG_LISTENER,
        ED_DEBUG_RESPONSE,
        ED_DEBUG_CLIENT,
        ED_DEBUG_POOL,
        ED_DEBUG_SIGNAL,
        ED_DEBUG_KINDS,
};

/* What is told when it is found. */
enum ed_debug_found {
        ED_DEBUG_UNSEEN, /* failures that nobody looked at */
        ED_DEBUG_LOCKS,
        ED_DEBUG_WAITS,
        ED_DEBUG_CANCELS,
        ED_DEBUG_FOUND,
};

/* Of each kind of finding at most so many are told; the others are counted. */
enum { ED_DEBUG_TOLD_MAX = 20 };

/* A task that the end of the run cancels. */
struct ed_debug_left {
        char name[ED_TASK_CALLED_BYTES];
        const void *place;
};

struct ed_debug {
        struct ed_run *run;
        struct ed_debug *next; /* of this thread's */
        struct ed_timer timer; /* scope/debug/late.c */
        bool is_asked;         /* instead of its timer: by ed_debug_late_ask() */
        int64_t asked_ns;      /* from when on it has an answer; INT64_MAX: never */
        struct ed_marks owned;
        uint64_t counts[ED_DEBUG_KINDS]; /* of those in 'owned' */
        struct ed_marks locks;           /* that are held; 'task' NULL: by one that has ended */
        uint64_t found[ED_DEBUG_FOUND];  /* how many of each */
        struct ed_debug_left left[ED_DEBUG_TOLD_MAX];
        uint64_t left_count;
        struct ed_list fars; /* what other threads may hold */
        /* Of the report that is being made: what is left, twenty of each kind, is the longest. */
        char text[40 * 1024];
};

/* Those of this thread: of a run that goes on, and of loops that stand still. */
extern ED_SHARED __thread struct ed_debug *ed_debug_first
        __attribute__((tls_model("initial-exec")));

/* Errors: -ENOMEM */
int ed_debug_begin(struct ed_run *run);

/* What it has noted goes, untold; does nothing when it has not begun. */
void ed_debug_drop(struct ed_run *run);

/* So does its memory, without being asked for. */
void ed_debug_forsake(const struct ed_run *run);

/* The supervisor is made: all that it starts is of debug mode. */
void ed_debug_supervise(struct ed_run *run);

/* All tasks have ended: tell what is left, and how late the loop was; and be in debug mode no more. */
void ed_debug_end(struct ed_run *run);

/* --- tasks --- */

/* A task was made, by a call from 'place' (NULL: not by the program). */
void ed_debug_task_made(struct ed_task *task, const void *place);

/* Its failure, of which 'scope' is about to be told. */
void ed_debug_task_failed(struct ed_scope *scope, int error, struct ed_task *task);

/* The tasks of 'top' are about to be cancelled, since the run ends. */
void ed_debug_tasks_left(struct ed_run *run, struct ed_node *top);

/* A failure that nobody will look at any more. */
void ed_debug_unseen(struct ed_run *run, int error, const char *task, const void *place);

/* One more is found; false: so many were told of already that it is only counted. */
bool ed_debug_is_told(struct ed_debug *debug, enum ed_debug_found what);

/* The words, and what stands at 'place'; nothing if that is NULL. */
void ed_debug_symbol_add(const char *words, const void *place, struct ed_text *text);

/* "and N more", of so many in all of which no more than the first are told. */
void ed_debug_more_add(uint64_t count, const char *what, struct ed_text *text);

/* ", which failed: ...", of a handle that is left. */
void ed_debug_failure_add(int error, struct ed_text *text);

/* ", started at PLACE", if that is known. */
void ed_debug_place_add(const struct ed_task *task, struct ed_text *text);

/* --- locks, scope/debug/lock.c --- */

/* A lock has gone to 'task', which asked for it at 'place' (NULL: it does not run yet). */
void ed_debug_lock_held(eddy_lock *lock, struct ed_task *task, const void *place);

/* It is free. */
void ed_debug_lock_released(const eddy_lock *lock);

/* A task is about to wait for it. */
void ed_debug_lock_wait(const eddy_lock *lock, const struct ed_task *task);

/* A task ends that holds some. */
void ed_debug_locks_left(struct ed_task *task);

/* --- tasks that are late, scope/debug/late.c --- */

void ed_debug_late_init(struct ed_debug *debug);
void ed_debug_late_fini(struct ed_debug *debug);

/*
 * From now on late tasks are reported when this is called, and by no timer.  The
 * test kit calls it after each poll: a timer would add polls, and its numbers
 * would not be those of the same run without debug mode.
 */
ED_SHARED void ed_debug_late_ask(struct ed_debug *debug);

/* A task is about to wait for something of the network. */
ED_SHARED __attribute__((cold)) void ed_debug_net_wait(struct ed_task *task);

static inline void ed_debug_net(struct ed_task *task)
{
        if (ed_unlikely(task->loop->debug))
                ed_debug_net_wait(task);
}

/* --- what is owned --- */

/* A handle is freed: whether its task failed, and nobody asked. */
void ed_debug_handle_freed(const struct eddy_task *face);

ED_SHARED __attribute__((cold)) void ed_debug_note(struct ed_loop *loop, const void *thing,
                                                   int kind, const void *place);
ED_SHARED __attribute__((cold)) void ed_debug_forget(const void *thing);

/* In a function of the program's: 'thing' is made. */
#define ed_debug_made(thing, kind)                                                                 \
        do {                                                                                       \
                if (ed_unlikely(ed_loop_current && ed_loop_current->debug))                        \
                        ed_debug_note(ed_loop_current, thing, kind, __builtin_return_address(0));  \
        } while (0)

/* ... and given back, perhaps while its loop stands still. */
static inline void ed_debug_gone(const void *thing)
{
        if (ed_unlikely(ed_debug_first != NULL))
                ed_debug_forget(thing);
}

/* --- what other threads may hold, scope/debug/far.c --- */

/* Lies in such a thing; zero: it is not noted. */
struct ed_debug_far {
        struct ed_list link;          /* in its run's list, until that ends */
        const void *place;            /* NULL: not noted */
        eddy_task_fn *fn;             /* of a task on another loop; NULL: a channel */
        const char *text;             /* that the program wrote for it, or NULL; set before */
        const struct ed_debug *debug; /* that tells of it; NULL: its run has ended */
        unsigned forks;               /* ed_sys_forks() where it was noted */
};

void ed_debug_fars_init(struct ed_debug *debug);

/* Of those that it has noted nothing will be told any more. */
void ed_debug_fars_fini(struct ed_debug *debug);

/* This is a child of fork(). */
void ed_debug_fars_forked(void);

/* Of a handle that is noted: the failure of its task that nobody has asked for, or 0. */
int ed_remote_lost(struct ed_debug_far *far);

/* Lines of those that are left: handles of tasks, or channels. */
void ed_debug_fars_add(struct ed_debug *debug, bool tasks, struct ed_text *text);

__attribute__((cold)) void ed_debug_far_note(struct ed_loop *loop, struct ed_debug_far *far,
                                             eddy_task_fn *fn, const void *place);
__attribute__((cold)) void ed_debug_far_forget(struct ed_debug_far *far, int lost);

/* As ed_debug_made(); before another thread knows of it. */
#define ed_debug_far_made(far, fn)                                                                 \
        do {                                                                                       \
                if (ed_unlikely(ed_loop_current && ed_loop_current->debug))                        \
                        ed_debug_far_note(ed_loop_current, far, fn, __builtin_return_address(0));  \
        } while (0)

/*
 * Given back, by any thread; 'lost': the failure of a task that nobody asked
 * for, or 0.  That is told only on the thread of the run that noted it.
 */
static inline void ed_debug_far_gone(struct ed_debug_far *far, int lost)
{
        if (ed_unlikely(far->place != NULL))
                ed_debug_far_forget(far, lost);
}

#endif
