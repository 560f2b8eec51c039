/*
 * eddy/channel.h - a bounded queue between loops, and between threads.
 *
 * As eddy_queue, but for any thread: a task that waits suspends on its own
 * loop, and is woken there.  Items are copied in and out; first come, first
 * served on both sides.  A channel of the parent is not for a child of fork():
 * there its calls fail with EDDY_E_LOOP_FORKED.
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
 * Append an item, take the first one, waiting if need be.
 *
 * Suspends: yes.  Threads: any loop's.
 * Errors: -ECANCELED  nothing was appended or taken
 *         -EPIPE      it is shut down; for a get: and empty
 *         -ENOMEM     only the first time on a loop
 *         EDDY_E_RUN_NOT_RUNNING
 * Owns: while a task waits, its caller holds a reference.
 */
EDDY_API EDDY_MUST_USE int eddy_channel_put(eddy_channel *channel, const void *item);
EDDY_API EDDY_MUST_USE int eddy_channel_get(eddy_channel *channel, void *ret_item);

/*
 * The same without waiting.
 *
 * Suspends: no.  Threads: any, also without a loop.
 * Errors: -EAGAIN  no room, no item; and as above
 */
EDDY_API EDDY_MUST_USE int eddy_channel_try_put(eddy_channel *channel, const void *item);
EDDY_API EDDY_MUST_USE int eddy_channel_try_get(eddy_channel *channel, void *ret_item);

/*
 * No more items: puts fail, gets drain what is there and fail then.
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
