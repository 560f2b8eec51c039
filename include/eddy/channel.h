/*
 * eddy/channel.h - a bounded queue between loops, and between threads.
 *
 * As eddy_queue, but for any thread: a task that waits suspends on its own
 * loop, and is woken there; a thread without a loop that waits is blocked.
 * Items are copied in and out; first come, first served on both sides, tasks
 * and threads in one line.  A channel of the parent is not for a child of
 * fork(): there its calls fail with EDDY_E_LOOP_FORKED.
 */
#ifndef EDDY_CHANNEL_H
#define EDDY_CHANNEL_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

typedef struct eddy_channel eddy_channel;

enum { EDDY_CHANNEL_ITEM_BYTES_MAX = 1024, EDDY_CHANNEL_ITEMS_MAX = 1 << 20 };

/*
 * Make an empty channel of at most 'items_max' items of 'item_bytes' bytes
 * each (0: a pointer); room for them is made at once.
 *
 * Suspends: no.  Threads: any.
 * Errors: -EINVAL  a number is above its maximum, or items_max is 0
 *         -ENOMEM
 * Owns: returns (owned) '*ret_channel', to be given back by eddy_channel_release().
 */
EDDY_API EDDY_MUST_USE int eddy_channel_new(uint32_t item_bytes, uint32_t items_max,
                                            eddy_channel **ret_channel);

/* Keep it for another thread, and give it back; the last one frees it.  Threads: any. */
EDDY_API eddy_channel *eddy_channel_ref(eddy_channel *channel);
EDDY_API void eddy_channel_release(eddy_channel *channel);

/*
 * Append an item, take the first one, waiting if need be.  In a task the wait
 * suspends; on a thread without a loop it blocks that thread, until the channel
 * serves it or is shut down: pthread_cancel() does not end it.
 *
 * Suspends: yes.  Threads: any.
 * Errors: -ECANCELED  nothing was appended or taken
 *         -EPIPE      it is shut down; for a get: and empty
 *         -ENOMEM     only the first time on a loop
 *         -EDEADLK    it would have to wait on the thread of a loop outside of
 *                     its tasks, or in a job of a run of the test kit, which is
 *                     called on such a thread
 *         EDDY_E_LOOP_FORKED
 * Owns: while a task or a thread waits, its caller holds a reference.
 */
EDDY_API EDDY_MUST_USE int eddy_channel_put(eddy_channel *channel, const void *item);
EDDY_API EDDY_MUST_USE int eddy_channel_get(eddy_channel *channel, void *ret_item);

/*
 * The same without waiting.
 *
 * Suspends: no.  Threads: any.
 * Errors: -EAGAIN  no room, no item; and as above
 */
EDDY_API EDDY_MUST_USE int eddy_channel_try_put(eddy_channel *channel, const void *item);
EDDY_API EDDY_MUST_USE int eddy_channel_try_get(eddy_channel *channel, void *ret_item);

/*
 * Append an item; in a full channel it takes the place of the oldest one, which
 * is copied to 'ret_dropped' (NULL: forgotten; it may be the memory of 'item').
 * Returns 1 if an item was dropped, else 0.  Puts that wait for room wait on.
 *
 * Suspends: no.  Threads: any.
 * Errors: -EPIPE  it is shut down; nothing was appended
 *         EDDY_E_LOOP_FORKED
 * Owns: an item that was dropped is the caller's.
 */
EDDY_API EDDY_MUST_USE int eddy_channel_put_dropping(eddy_channel *channel, const void *item,
                                                     void *ret_dropped);

/*
 * No more items: puts fail, gets drain what is there and fail then.  Tasks and
 * threads that wait are woken.
 *
 * Suspends: no.  Threads: any.
 */
EDDY_API void eddy_channel_shutdown(eddy_channel *channel);

/* Items in it now.  Suspends: no.  Threads: any. */
EDDY_API uint32_t eddy_channel_count(eddy_channel *channel);

static inline void eddy_channel_auto_release(eddy_channel **channel)
{
        eddy_channel_release(*channel);
}

EDDY_END_DECLS

#endif
