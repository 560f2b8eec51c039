/*
 * loop/inbox.h - calls that other threads request on a loop's thread.
 *
 * A post is a request for one call; its memory is its owner's.  The first post into an empty inbox
 * wakes the loop.  Later posts cost no system call until the loop has read the inbox.
 *
 * The inbox outlives its loop as long as references exist, so that a thread can find out that the
 * loop is closed.
 */
#ifndef ED_LOOP_INBOX_H
#define ED_LOOP_INBOX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/def.h"
#include "base/list.h"
#include "loop/loop.h"
#include "sys/thread/thread.h"

/* Zero before its first use, except 'fn'.  Once it runs it may be posted again, also by itself. */
struct ed_post {
        struct ed_list link;
        bool posted; /* protected by the inbox's lock: in the queue */
        /*
         * Called once for each post, on the loop's thread, outside of tasks.  If 'closed', the loop
         * ends and nothing else of it may be used.  The inbox does not touch the post's memory
         * after the call has begun.
         */
        void (*fn)(struct ed_post *post, bool closed);
};

struct ed_inbox {
        _Atomic uint32_t refs;
        _Atomic bool pending;          /* 'line' is not empty; changed under the lock */
        struct ed_mutex lock;          /* protects everything below */
        struct ed_cond ran;            /* signalled when 'running' or the last waker ends */
        struct ed_list line;           /* posts since the loop last read the inbox */
        struct ed_list batch;          /* posts of this turn that have not run yet */
        const struct ed_post *running; /* only for comparison; may point to freed memory */
        uint64_t runs;                 /* number of posts begun */
        uint32_t cancellers;           /* threads that wait for 'running' */
        uint32_t wakers;               /* threads that are waking the table */
        struct ed_sys *sys;            /* NULL: closed */
        struct ed_thread_id thread;    /* the loop's thread */
};

/*
 * Returns the inbox of a loop, made at first use, or NULL if memory runs out.  Only on the loop's
 * thread.  Borrowed: use ed_inbox_ref() to keep it.
 */
ED_SHARED struct ed_inbox *ed_loop_inbox(struct ed_loop *loop);

/* Any thread. */
ED_SHARED struct ed_inbox *ed_inbox_ref(struct ed_inbox *inbox);
ED_SHARED void ed_inbox_unref(struct ed_inbox *inbox);

/*
 * Requests that a post runs on the loop's thread.  Any thread.  Errors:
 * EDDY_E_LOOP_CLOSED
 * -EBUSY  it is already in the queue
 */
ED_SHARED int ed_inbox_post(struct ed_inbox *inbox, struct ed_post *post);

/*
 * Makes sure that a post does not run any more.  Returns 1 if it was in the queue and will not run,
 * 0 if it has run or was never posted.  If it is running, other threads than the loop's wait here
 * until it has returned.  Any thread.
 */
ED_SHARED int ed_inbox_cancel(struct ed_inbox *inbox, struct ed_post *post);

/* Returns true if the calling thread is the loop's. */
static inline bool ed_inbox_is_mine(const struct ed_inbox *inbox)
{
        return ed_thread_is_self(inbox->thread);
}

/* Returns true if ed_inbox_run() has work. */
static inline bool ed_inbox_is_pending(const struct ed_inbox *inbox)
{
        return atomic_load_explicit(&inbox->pending, memory_order_acquire);
}

/*
 * Runs the posts that are in the queue at the start, in order.  The loop's thread, outside of
 * tasks.
 */
void ed_inbox_run(struct ed_inbox *inbox);

/*
 * Closes the inbox: refuses further posts, runs those in the queue as closed, and drops the loop's
 * reference.  The loop's thread, outside of tasks.
 */
void ed_inbox_close(struct ed_inbox *inbox);

#endif
