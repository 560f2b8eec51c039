/*
 * eddy/channel.h - a bounded queue between loops, and between threads.
 *
 * A channel is an eddy_queue that any thread may use.  A waiting task suspends
 * on its own loop and is woken there; a waiting thread without a loop blocks.
 * Items are copied in and out.  Both sides are served first come, first served;
 * tasks and threads wait in the same line.  In a child of fork(), calls on a
 * channel of the parent fail with EDDY_E_LOOP_FORKED.  Calls on a NULL channel
 * return -EINVAL, but those that return a count or nothing return 0 or do nothing.
 */
#ifndef EDDY_CHANNEL_H
#define EDDY_CHANNEL_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

typedef struct eddy_channel eddy_channel;

enum { EDDY_CHANNEL_ITEM_BYTES_MAX = 1024, EDDY_CHANNEL_ITEMS_MAX = 1 << 20 };

/*
 * Make an empty channel of at most 'items_max' items of 'item_bytes' bytes
 * each (0: the size of a pointer).  Memory for all items is allocated at once.
 *
 * Suspends: no.  Threads: any.
 * Errors: -EINVAL  a number is above its maximum, or items_max is 0
 *         -ENOMEM
 * Owns: returns (owned) '*ret_channel', to be released by eddy_channel_release().
 */
EDDY_API EDDY_MUST_USE int eddy_channel_new(uint32_t item_bytes, uint32_t items_max,
                                            eddy_channel **ret_channel);

/* Add a reference, and release one; the last release frees the channel.  Threads: any. */
EDDY_API eddy_channel *eddy_channel_ref(eddy_channel *channel);
EDDY_API void eddy_channel_release(eddy_channel *channel);

/*
 * Append an item, or take the first item, waiting if necessary.  A task
 * suspends while it waits.  A thread without a loop blocks until the channel
 * serves it or is shut down; pthread_cancel() does not end the wait.  In a job of
 * a thread pool (eddy/thread.h) a request to stop ends the wait, and later calls
 * do not wait.
 *
 * Suspends: yes.  Threads: any.
 * Errors: -ECANCELED  the task was cancelled, or the job was asked to stop, before
 *                     the channel served the call; nothing was appended or taken
 *         -EPIPE      the channel is shut down; for a get: and empty
 *         -ENOMEM     only in the first call on a loop
 *         -EDEADLK    the call would have to wait on the thread of a loop outside
 *                     its tasks, or in a thread's job under the test kit, which
 *                     runs such jobs on the thread of the loop
 *         EDDY_E_LOOP_FORKED
 * Owns: the caller holds a reference while it waits.
 */
EDDY_API EDDY_MUST_USE int eddy_channel_put(eddy_channel *channel, const void *item);
EDDY_API EDDY_MUST_USE int eddy_channel_get(eddy_channel *channel, void *ret_item);

/*
 * Like eddy_channel_put() and eddy_channel_get(), but without waiting.
 *
 * Suspends: no.  Threads: any.
 * Errors: -EAGAIN  the channel is full or empty; and as above
 */
EDDY_API EDDY_MUST_USE int eddy_channel_try_put(eddy_channel *channel, const void *item);
EDDY_API EDDY_MUST_USE int eddy_channel_try_get(eddy_channel *channel, void *ret_item);

/*
 * Append an item.  In a full channel the item replaces the oldest one, which is
 * copied to 'ret_dropped' (NULL: discarded; may be the same memory as 'item').
 * Returns 1 if an item was dropped, else 0.  Puts that wait for room continue to
 * wait.
 *
 * Suspends: no.  Threads: any.
 * Errors: -EPIPE  the channel is shut down; nothing was appended
 *         EDDY_E_LOOP_FORKED
 * Owns: the caller owns a dropped item.
 */
EDDY_API EDDY_MUST_USE int eddy_channel_put_dropping(eddy_channel *channel, const void *item,
                                                     void *ret_dropped);

/*
 * Accept no more items: puts fail at once, gets fail once the channel is empty.
 * Wakes waiting tasks and threads.
 *
 * Suspends: no.  Threads: any.
 */
EDDY_API void eddy_channel_shutdown(eddy_channel *channel);

/* The number of items in the channel now.  Suspends: no.  Threads: any. */
EDDY_API uint32_t eddy_channel_count(eddy_channel *channel);

static inline void eddy_channel_auto_release(eddy_channel **channel)
{
        eddy_channel_release(*channel);
}

EDDY_END_DECLS

#endif
