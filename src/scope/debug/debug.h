/*
 * scope/debug/debug.h - debug mode: the data that it records during a run, and its reports.
 *
 * Callers check first that the run is in debug mode, either on a cold path or with a flag of the
 * task's nodes that is tested together with other flags.  Without debug mode this costs nothing.
 */
#ifndef ED_SCOPE_DEBUG_DEBUG_H
#define ED_SCOPE_DEBUG_DEBUG_H

#include "base/text.h"
#include "eddy/lock.h"
#include "scope/debug/marks.h"
#include "scope/hooks.h"
#include "scope/report.h"
#include "scope/run_state.h"
#include "scope/scope.h"

/* Kinds of objects that the program owns and frees. */
enum ed_debug_kind {
        ED_DEBUG_HANDLE,
        ED_DEBUG_STREAM,
        ED_DEBUG_LISTENER,
        ED_DEBUG_RESPONSE,
        ED_DEBUG_CLIENT,
        ED_DEBUG_POOL,
        ED_DEBUG_SIGNAL,
        ED_DEBUG_FILE,
        ED_DEBUG_FOLDER,
        ED_DEBUG_UDP,
        ED_DEBUG_NOTIFY,
        ED_DEBUG_PROCESS,
        ED_DEBUG_PROCESS_POOL,
        ED_DEBUG_ITEMS,
        ED_DEBUG_KINDS,
};

/* Kinds of findings that are reported at once. */
enum ed_debug_found {
        ED_DEBUG_UNSEEN, /* failures whose result was not read */
        ED_DEBUG_LOCKS,
        ED_DEBUG_WAITS,
        ED_DEBUG_CANCELS,
        ED_DEBUG_FOUND,
};

/* At most this number of findings of each kind is reported; the others are counted. */
enum { ED_DEBUG_REPORTS_MAX = 20 };

/* A task that the end of the run cancelled. */
struct ed_debug_left {
        char name[ED_TASK_CALLED_BYTES];
        const void *place;
};

struct ed_debug {
        struct ed_run *run;
        struct ed_debug *next; /* the next one of this thread */
        struct ed_timer timer; /* scope/debug/late.c */
        bool is_asked;         /* ed_debug_late_ask() replaces the timer */
        int64_t asked_ns;      /* when a look is due; INT64_MAX: never */
        struct ed_marks owned;
        uint64_t counts[ED_DEBUG_KINDS]; /* marks of each kind in 'owned' */
        struct ed_marks locks;           /* held locks; 'task' is NULL if the holder has ended */
        uint64_t found[ED_DEBUG_FOUND];  /* number of findings of each kind */
        struct ed_debug_left left[ED_DEBUG_REPORTS_MAX];
        uint64_t left_count;
        struct ed_list fars; /* objects that other threads may hold */
        /*
         * The report in the making.  The longest lists ED_DEBUG_REPORTS_MAX objects of each kind that
         * are left.
         */
        char text[52 * 1024];
};

/* Begins debug mode.  Errors: -ENOMEM */
int ed_debug_begin(struct ed_run *run);

/* Ends debug mode without a report; does nothing if debug mode has not begun. */
void ed_debug_drop(struct ed_run *run);

/* Removes the run from this thread's list; the memory remains allocated. */
void ed_debug_forsake(const struct ed_run *run);

/* Marks the new supervisor, so that all nodes of the run inherit debug mode. */
void ed_debug_supervise(struct ed_run *run);

/* After the last task: reports what is left and how late the loop was, then ends debug mode. */
void ed_debug_end(struct ed_run *run);

/* --- tasks --- */

/* Records a new task, started at 'place' (NULL: not by the program). */
void ed_debug_task_made(struct ed_task *task, const void *place);

/* Records a task's failure, before 'scope' does. */
void ed_debug_task_failed(struct ed_scope *scope, int error, struct ed_task *task);

/* Records the tasks in 'top', which the end of the run is about to cancel. */
void ed_debug_tasks_left(struct ed_run *run, struct ed_node *top);

/* Reports a failure whose result can no longer be read. */
void ed_debug_unseen(struct ed_run *run, int error, const char *task, const void *place);

/* scope/debug/finding.c: counts a finding.  Returns false after ED_DEBUG_REPORTS_MAX reports of this kind. */
bool ed_debug_may_report(struct ed_debug *debug, enum ed_debug_found what);

/* Adds "and N more" if 'count' is above ED_DEBUG_REPORTS_MAX. */
void ed_debug_more_add(uint64_t count, const char *what, struct ed_text *text);

/* Adds ", which failed: ..." for a handle that is left. */
void ed_debug_failure_add(int error, struct ed_text *text);

/* --- locks, scope/debug/lock.c --- */

/* Records that 'task' holds a lock, which it requested at 'place' (NULL: unknown). */
void ed_debug_lock_held(eddy_lock *lock, struct ed_task *task, const void *place);

/* Records that a lock is free. */
void ed_debug_lock_released(const eddy_lock *lock);

/* Reports a cycle if 'task', which is about to wait for 'lock', would wait for itself. */
void ed_debug_lock_wait(const eddy_lock *lock, const struct ed_task *task);

/* Reports the locks that a task still holds.  'after': "ended", or another event before the report. */
void ed_debug_locks_left(struct ed_task *task, const char *after);

/* --- tasks that are late, scope/debug/late.c --- */

void ed_debug_late_init(struct ed_debug *debug);
void ed_debug_late_fini(struct ed_debug *debug);

/*
 * Makes the caller responsible for looking for late tasks: from now on each call looks, instead of
 * the timer.  The test kit calls this after each poll: a timer would add polls, and a run's numbers
 * would differ from those without debug mode.
 */
ED_SHARED void ed_debug_late_ask(struct ed_debug *debug);

/* Records that a node was marked by a cancel. */
void ed_debug_cancelled(struct ed_node *node);

/* Records when a task parks, and if it waits for the network. */
void ed_debug_parks(struct ed_task *task);

/* Records that a task is about to wait for the network. */
ED_SHARED __attribute__((cold)) void ed_debug_net_wait(struct ed_task *task);

static inline void ed_debug_net(struct ed_task *task)
{
        if (ed_unlikely(task->loop->debug))
                ed_debug_net_wait(task);
}

/* --- owned objects --- */

/* A handle is about to be freed: reports its task's failure if the result was not read. */
void ed_debug_handle_freed(const struct eddy_task *face);

ED_SHARED __attribute__((cold)) void ed_debug_note(struct ed_loop *loop, const void *thing,
                                                   int kind, const void *place);
ED_SHARED __attribute__((cold)) void ed_debug_forget(const void *thing);

/* Records the new object 'thing'.  Use only in a function that the program calls. */
#define ed_debug_made(thing, kind)                                                                 \
        do {                                                                                       \
                if (ed_unlikely(ed_loop_current && ed_loop_current->debug))                        \
                        ed_debug_note(ed_loop_current, thing, kind, __builtin_return_address(0));  \
        } while (0)

/* Removes the record of a freed object.  The object's loop may be between two runs. */
static inline void ed_debug_gone(const void *thing)
{
        if (ed_unlikely(ed_debug_first != NULL))
                ed_debug_forget(thing);
}

/* --- objects that other threads may hold, scope/debug/far.c --- */

/* Embedded in such an object; all zero: not recorded. */
struct ed_debug_far {
        struct ed_list link; /* in its run's list, until the run ends */
        const void *place;   /* NULL: not recorded */
        eddy_task_fn *fn;    /* of a task on another loop; NULL: a channel */
        const char *text;    /* its text in the program's call, or NULL; set before */
        /* Returns the failure of a task that was not read, or 0; set before.  NULL: a channel. */
        int (*lost)(struct ed_debug_far *far);
        const struct ed_debug *debug; /* the run's debug data; NULL: the run has ended */
        unsigned forks;               /* ed_sys_forks() when it was recorded */
};

void ed_debug_fars_init(struct ed_debug *debug);

/* Drops all records without a report. */
void ed_debug_fars_fini(struct ed_debug *debug);

/* Resets the lock in a child of fork(). */
void ed_debug_fars_forked(void);

/* Adds a line for each object that is left: handles of tasks, or channels. */
void ed_debug_fars_add(struct ed_debug *debug, bool tasks, struct ed_text *text);

__attribute__((cold)) void ed_debug_far_note(struct ed_loop *loop, struct ed_debug_far *far,
                                             eddy_task_fn *fn, const void *place);
__attribute__((cold)) void ed_debug_far_forget(struct ed_debug_far *far, int lost);

/* Like ed_debug_made().  Call it before other threads can reach the object. */
#define ed_debug_far_made(far, fn)                                                                 \
        do {                                                                                       \
                if (ed_unlikely(ed_loop_current && ed_loop_current->debug))                        \
                        ed_debug_far_note(ed_loop_current, far, fn, __builtin_return_address(0));  \
        } while (0)

/*
 * Removes the record of a freed object.  'lost' is the failure of a task that was not read, or 0;
 * it is reported only on the thread of the run that recorded the object.  Threads: any.
 */
static inline void ed_debug_far_gone(struct ed_debug_far *far, int lost)
{
        if (ed_unlikely(far->place != NULL))
                ed_debug_far_forget(far, lost);
}

#endif
