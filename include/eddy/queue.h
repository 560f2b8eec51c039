/*
 * eddy/queue.h - a bounded queue between tasks of one loop.
 *
 * Items are copied in and out.  Both sides are served first come, first served:
 * an item goes to the longest waiter, and a try_ call cannot take it first.
 */
#ifndef EDDY_QUEUE_H
#define EDDY_QUEUE_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

enum { EDDY_QUEUE_ITEM_BYTES_MAX = 1024, EDDY_QUEUE_ITEMS_MAX = 1 << 24 };

/*
 * Private, but ready to use when zero, as a queue of at most EDDY_QUEUE_ITEMS_MAX
 * pointers.  Never move a used queue.
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
 * of 'item_bytes' bytes each (0: the size of a pointer).  Allocates nothing.
 *
 * Suspends: no.
 * Errors: -EINVAL  a number is above its maximum
 */
EDDY_API EDDY_MUST_USE int eddy_queue_init(eddy_queue *queue, uint32_t item_bytes,
                                           uint32_t items_max);

/*
 * Like eddy_queue_init(), but gets take the newest item first.
 */
EDDY_API EDDY_MUST_USE int eddy_queue_init_lifo(eddy_queue *queue, uint32_t item_bytes,
                                                uint32_t items_max);

/*
 * Like eddy_queue_init(), but gets take the smallest item first, and equal items in
 * the order they were put.  compare(a, b) returns a value below 0 if a goes before
 * b; it must not suspend or use the queue.
 *
 * Errors: -EINVAL  as above; 'compare' is NULL
 */
EDDY_API EDDY_MUST_USE int eddy_queue_init_priority(eddy_queue *queue, uint32_t item_bytes,
                                                    uint32_t items_max,
                                                    int (*compare)(const void *a, const void *b));

/*
 * Free the queue's memory and drop the items in it.  If a task waits in the
 * queue, that is reported (EDDY_REPORT_MISUSE) and the process aborted.  Does
 * nothing to a zero queue or one that was ended before.  NULL is ignored.
 *
 * Suspends: no.
 */
EDDY_API void eddy_queue_fini(eddy_queue *queue);

/*
 * Append the item at 'item', waiting for room if necessary.
 *
 * Suspends: yes.
 * Errors: -ECANCELED, -ENOMEM  nothing was appended
 *         -EPIPE               the queue is shut down
 *         EDDY_E_RUN_OTHER_LOOP  tasks of another loop wait in line
 */
EDDY_API EDDY_MUST_USE int eddy_queue_put(eddy_queue *queue, const void *item);

/*
 * Take the first item into 'ret_item', waiting for one if necessary.
 *
 * Suspends: yes.
 * Errors: -ECANCELED  nothing was taken
 *         -EPIPE      the queue is shut down and empty
 *         EDDY_E_RUN_OTHER_LOOP  tasks of another loop wait in line
 */
EDDY_API EDDY_MUST_USE int eddy_queue_get(eddy_queue *queue, void *ret_item);

/*
 * Like eddy_queue_put() and eddy_queue_get(), but without waiting.
 *
 * Suspends: no.
 * Errors: -EAGAIN  the queue is full or empty; and as above
 */
EDDY_API EDDY_MUST_USE int eddy_queue_try_put(eddy_queue *queue, const void *item);
EDDY_API EDDY_MUST_USE int eddy_queue_try_get(eddy_queue *queue, void *ret_item);

/*
 * Append the item at 'item'.  In a full queue it replaces the item that was put
 * first, which is copied to 'ret_dropped' (NULL: discarded; may be the same
 * memory as 'item').  Returns 1 if an item was dropped, else 0.  A dropped item
 * counts as processed.  Puts that wait for room continue to wait.
 *
 * Suspends: no.
 * Errors: -ENOMEM  nothing was appended
 *         -EPIPE   the queue is shut down
 *         -EINVAL  a priority queue, which does not record which item is the oldest
 *         EDDY_E_RUN_OTHER_LOOP  tasks of another loop wait in line
 * Owns: the caller owns a dropped item.
 */
EDDY_API EDDY_MUST_USE int eddy_queue_put_dropping(eddy_queue *queue, const void *item,
                                                   void *ret_dropped);

enum { EDDY_QUEUE_NOW = 1 << 0 }; /* drop the items in the queue */

/*
 * Accept no more items and wake all waiters: puts fail with -EPIPE, gets fail
 * once the queue is empty.  EDDY_QUEUE_NOW also drops the items in the queue,
 * which then count as processed.  A second shutdown has no effect except that it
 * may add EDDY_QUEUE_NOW.
 *
 * Suspends: no.
 * Errors: EDDY_E_RUN_OTHER_LOOP  tasks of another loop wait; nothing is done
 */
EDDY_API int eddy_queue_shutdown(eddy_queue *queue, unsigned flags);

/*
 * Mark one taken item as processed.  eddy_queue_join() waits until all items
 * that were put are processed or dropped.
 *
 * Suspends: no.
 * Errors: -EINVAL  all items that were put are processed already
 *         EDDY_E_RUN_OTHER_LOOP  tasks of another loop wait; nothing is done
 */
EDDY_API int eddy_queue_task_done(eddy_queue *queue);

/*
 * Wait until all items that were put are processed or dropped.
 *
 * Suspends: yes, unless that is the case already.
 * Errors: -ECANCELED
 *         EDDY_E_RUN_OTHER_LOOP  tasks of another loop wait already
 */
EDDY_API EDDY_MUST_USE int eddy_queue_join(eddy_queue *queue);

/* The number of items in the queue.  Suspends: no. */
EDDY_API uint32_t eddy_queue_count(const eddy_queue *queue);

/* EDDY_AUTO(eddy_queue) eddy_queue jobs = { 0 };  the variable is the queue itself */
static inline void eddy_queue_auto_release(eddy_queue *queue)
{
        eddy_queue_fini(queue);
}

EDDY_END_DECLS

#endif
