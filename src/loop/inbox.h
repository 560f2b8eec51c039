/*
 * loop/inbox.h - what other threads want called on a loop's thread.
 *
 * A post is a call to be made once; its memory is its owner's.  The first
 * post into an empty inbox wakes the loop, those after it cost no system call
 * until the loop has looked.
 *
 * The inbox outlives its loop for as long as somebody holds it, so that a
 * thread can find out that the loop is gone.
 */
#ifndef ED_LOOP_INBOX_H
#define ED_LOOP_INBOX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/def.h"
#include "base/list.h"
#include "loop/loop.h"
#include "sys/thread.h"

/* Zero before its first use, but for 'fn'; may be posted again once it runs, also by itself. */
struct ed_post {
        struct ed_list link;
        bool posted; /* guarded by the inbox: in line to be run */
        /*
         * Called once for each post, on the loop's thread, outside of tasks;
         * 'closed': the loop ends, nothing else of it may be used.  The post's
         * memory is not touched after the call has begun.
         */
        void (*fn)(struct ed_post *post, bool closed);
};

struct ed_inbox {
        _Atomic uint32_t refs;
        _Atomic bool pending;          /* 'line' is not empty; changed under the lock */
        struct ed_mutex lock;          /* guards all below */
        struct ed_cond ran;            /* 'running' or the last waker is over, and waited for */
        struct ed_list line;           /* posts that came since the loop looked last */
        struct ed_list batch;          /* posts of the present turn, not run yet */
        const struct ed_post *running; /* an address to compare with, never to follow */
        uint64_t runs;                 /* begun so far */
        uint32_t cancellers;           /* threads that wait for 'running' */
        uint32_t wakers;               /* threads that are waking the table */
        struct ed_sys *sys;            /* NULL: closed */
        struct ed_thread_id thread;    /* the loop's */
};

/*
 * The inbox of a loop, made when first asked for; NULL: no memory.  The loop's
 * thread.  Borrowed: ed_inbox_ref() keeps it.
 */
ED_SHARED struct ed_inbox *ed_loop_inbox(struct ed_loop *loop);

/* Any thread. */
ED_SHARED struct ed_inbox *ed_inbox_ref(struct ed_inbox *inbox);
ED_SHARED void ed_inbox_unref(struct ed_inbox *inbox);

/*
 * Have a post run on the loop's thread.  Any thread.  Errors:
 * EDDY_E_LOOP_CLOSED
 * -EBUSY  it is in line already
 */
ED_SHARED int ed_inbox_post(struct ed_inbox *inbox, struct ed_post *post);

/*
 * See to it that a post does not run any more.  Returns 1: it was in line and
 * never runs; 0: it has run, or was never posted.  While it runs, another
 * thread than the loop's waits here until it has returned.  Any thread.
 */
ED_SHARED int ed_inbox_cancel(struct ed_inbox *inbox, struct ed_post *post);

/* Whether a post is in line to be run.  Any thread. */
ED_SHARED bool ed_inbox_has(struct ed_inbox *inbox, const struct ed_post *post);

/* Whether the calling thread is the loop's. */
static inline bool ed_inbox_is_mine(const struct ed_inbox *inbox)
{
        return ed_thread_is_self(inbox->thread);
}

/* Whether there is something for ed_inbox_run(). */
static inline bool ed_inbox_is_pending(const struct ed_inbox *inbox)
{
        return atomic_load_explicit(&inbox->pending, memory_order_acquire);
}

/* Run what was in line when this began, in order.  The loop's thread, outside of tasks. */
void ed_inbox_run(struct ed_inbox *inbox);

/*
 * Take no more posts, run those in line as closed, and give the loop's
 * reference back.  The loop's thread, outside of tasks.
 */
void ed_inbox_close(struct ed_inbox *inbox);

#endif
