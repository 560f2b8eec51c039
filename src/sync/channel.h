/*
 * sync/channel.h - a channel, and what a select wants of it.
 */
#ifndef ED_SYNC_CHANNEL_H
#define ED_SYNC_CHANNEL_H

#include "eddy/channel.h"
#include "scope/debug/debug.h"
#include "sync/far_waiter.h"

/* The two sides of a channel: each has a line of its own. */
enum ed_channel_side { ED_CHANNEL_PUT, ED_CHANNEL_GET, ED_CHANNEL_SIDES };

struct eddy_channel {
        _Atomic uint32_t refs;
        unsigned forks; /* ed_sys_forks() where it was made */
        uint32_t item_bytes;
        uint32_t items_max;
        struct ed_mutex lock; /* guards all below, and 'items' */
        uint32_t head, count;
        bool shut;
        struct ed_debug_far debug; /* debug mode's own */
        void *lines[ED_CHANNEL_SIDES][2];
        unsigned char items[];
};

/* A waiter with 'ops', to get in line, of a task whose loop has an inbox. */
void ed_channel_waiter_init(eddy_channel *channel, struct ed_far_waiter *waiter,
                            struct ed_task *task, void *item, const struct ed_waiter_ops *ops);

/*
 * Claim the waiter and put or get, if that can be done at once, else get in
 * line.  Returns 0 or -EPIPE, as eddy_channel_put() and _get(), if it was done;
 * -EAGAIN   it is in line
 * -EALREADY its task has been served in another line; nothing was done
 */
int ed_channel_begin(eddy_channel *channel, enum ed_channel_side side,
                     struct ed_far_waiter *waiter);

#endif
