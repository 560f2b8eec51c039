/*
 * eddy/queue.h - a bounded queue between tasks of one loop.
 *
 * Items are copied in and out.  First come, first served on both sides: an
 * item goes straight to the task that waits longest for one, and a call that
 * does not wait cannot take it from there.
 */
#ifndef EDDY_QUEUE_H
#define EDDY_QUEUE_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

enum { EDDY_QUEUE_ITEM_BYTES_MAX = 1024, EDDY_QUEUE_ITEMS_MAX = 1 << 24 };

/*
 * Private, but ready to use when zero: items are pointers then, and as many
 * as EDDY_QUEUE_ITEMS_MAX fit.  Never move a used one.
 */
typedef struct eddy_queue {
        uint32_t item_bytes;
        uint32_t items_max;
        uint32_t count;
        uint32_t room;
        uint32_t head;
        uint32_t flags;
        unsigned char *items;
        void *getters[2];
        void *putters[2];
        uint64_t unfinished;
        void *joiners[2];
        int (*compare)(const void *a, const void *b);
        uint64_t seq;
        uintptr_t loop_number;
        uintptr_t reserved[5];
} eddy_queue;

/*
 * Make an empty queue of at most 'items_max' items (0: EDDY_QUEUE_ITEMS_MAX)
 * of 'item_bytes' bytes each (0: a pointer).  Allocates nothing.
 *
 * Suspends: no.
 * Errors: -EINVAL  a number is above its maximum
 */
EDDY_API EDDY_MUST_USE int eddy_queue_init(eddy_queue *queue, uint32_t item_bytes,
                                           uint32_t items_max);

/*
 * The same; the item put last is taken first.
 */
EDDY_API EDDY_MUST_USE int eddy_queue_init_lifo(eddy_queue *queue, uint32_t item_bytes,
                                                uint32_t items_max);

/*
 * The same; the smallest item is taken first: compare(a, b) below 0 says that
 * a goes before b.  Equal ones are taken in the order they were put.  It must
 * not suspend, nor use the queue.
 *
 * Errors: -EINVAL  as above; 'compare' is NULL
 */
EDDY_API EDDY_MUST_USE int eddy_queue_init_priority(eddy_queue *queue, uint32_t item_bytes,
                                                    uint32_t items_max,
                                                    int (*compare)(const void *a, const void *b));

/*
 * Free what the queue holds; items left in it are dropped.  If a task waits in
 * it, that is reported (EDDY_REPORT_MISUSE) and the process aborted.  A zero
 * queue, one that was ended before and NULL are fine.
 *
 * Suspends: no.
 */
EDDY_API void eddy_queue_fini(eddy_queue *queue);

/*
 * Append the item at 'item', waiting for room if need be.
 *
 * Suspends: yes.
 * Errors: -ECANCELED, -ENOMEM  nothing was appended
 *         -EPIPE               the queue is shut down
 *         EDDY_E_RUN_OTHER_LOOP  tasks of another loop wait in line
 */
EDDY_API EDDY_MUST_USE int eddy_queue_put(eddy_queue *queue, const void *item);

/*
 * Take the first item into 'ret_item', waiting for one if need be.
 *
 * Suspends: yes.
 * Errors: -ECANCELED  nothing was taken
 *         -EPIPE      the queue is shut down and empty
 *         EDDY_E_RUN_OTHER_LOOP  tasks of another loop wait in line
 */
EDDY_API EDDY_MUST_USE int eddy_queue_get(eddy_queue *queue, void *ret_item);

/*
 * The same without waiting.
 *
 * Suspends: no.
 * Errors: -EAGAIN  no room, no item; and as above
 */
EDDY_API EDDY_MUST_USE int eddy_queue_try_put(eddy_queue *queue, const void *item);
EDDY_API EDDY_MUST_USE int eddy_queue_try_get(eddy_queue *queue, void *ret_item);

/*
 * Append the item at 'item'; in a full queue it takes the place of the oldest
 * item, the one that was put first, which is copied to 'ret_dropped' (NULL:
 * forgotten; it may be the memory of 'item').  Returns 1 if an item was
 * dropped, else 0.  A dropped item counts as done.  Puts that wait for room
 * wait on.
 *
 * Suspends: no.
 * Errors: -ENOMEM  nothing was appended
 *         -EPIPE   the queue is shut down
 *         -EINVAL  a queue of priorities: it does not know which item is the oldest
 *         EDDY_E_RUN_OTHER_LOOP  tasks of another loop wait in line
 * Owns: an item that was dropped is the caller's.
 */
EDDY_API EDDY_MUST_USE int eddy_queue_put_dropping(eddy_queue *queue, const void *item,
                                                   void *ret_dropped);

enum { EDDY_QUEUE_NOW = 1 << 0 }; /* drop the items that are in it */

/*
 * No more items: puts fail with -EPIPE, gets drain what is there and fail
 * then; with EDDY_QUEUE_NOW it is emptied, and what was dropped counts as
 * done.  Those who wait are woken.  Twice does nothing more, but the second
 * may add EDDY_QUEUE_NOW.
 *
 * Suspends: no.
 * Errors: EDDY_E_RUN_OTHER_LOOP  tasks of another loop wait; nothing is done
 */
EDDY_API int eddy_queue_shutdown(eddy_queue *queue, unsigned flags);

/*
 * An item that was taken has been dealt with.  Every item that was put counts
 * until then, those that were dropped excepted.
 *
 * Suspends: no.
 * Errors: -EINVAL  more are done than were put
 *         EDDY_E_RUN_OTHER_LOOP  tasks of another loop wait; nothing is done
 */
EDDY_API int eddy_queue_task_done(eddy_queue *queue);

/*
 * Wait until every item that was put has been taken and said to be done.
 *
 * Suspends: yes, unless that is so.
 * Errors: -ECANCELED
 *         EDDY_E_RUN_OTHER_LOOP  tasks of another loop wait already
 */
EDDY_API EDDY_MUST_USE int eddy_queue_join(eddy_queue *queue);

/* Items that are in the queue now.  Suspends: no. */
EDDY_API uint32_t eddy_queue_count(const eddy_queue *queue);

/* EDDY_AUTO(eddy_queue) eddy_queue jobs = { 0 };  the variable is the queue itself */
static inline void eddy_queue_auto_release(eddy_queue *queue)
{
        eddy_queue_fini(queue);
}

EDDY_END_DECLS

#endif
