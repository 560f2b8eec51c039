/*
 * sync/channel.h - a channel, and its interface for select.
 */
#ifndef ED_SYNC_CHANNEL_H
#define ED_SYNC_CHANNEL_H

#include "eddy/channel.h"
#include "scope/debug/debug.h"
#include "sync/far_waiter.h"

/* The two sides of a channel.  Each side has a line of waiters. */
enum ed_channel_side { ED_CHANNEL_PUT, ED_CHANNEL_GET, ED_CHANNEL_SIDES };

struct eddy_channel {
        _Atomic uint32_t refs;
        unsigned forks; /* ed_sys_forks() when it was made */
        uint32_t item_bytes;
        uint32_t items_max;
        struct ed_mutex lock; /* protects everything below, and 'items' */
        uint32_t head, count;
        bool shut;
        struct ed_debug_far debug; /* debug mode's record */
        void *lines[ED_CHANNEL_SIDES][2];
        unsigned char items[];
};

/*
 * Initialises a waiter with 'ops' for ed_channel_begin().  The loop of 'task' must have an inbox.
 */
void ed_channel_waiter_init(eddy_channel *channel, struct ed_far_waiter *waiter,
                            struct ed_task *task, void *item, const struct ed_waiter_ops *ops);

/*
 * Claims the waiter and puts or gets if that is possible at once, else adds the waiter to the
 * line.  Returns the result of the put or get, 0 or -EPIPE, or:
 * -EAGAIN   the waiter is in the line
 * -EALREADY the task was served in another line; nothing was done
 */
int ed_channel_begin(eddy_channel *channel, enum ed_channel_side side,
                     struct ed_far_waiter *waiter);

#endif
