/*
 * sync/channel.c - a ring of items under a lock.  Tasks of any loop and threads without a loop wait
 * in line on both sides.
 *
 * As in a queue, getters wait only while the ring is empty and putters only while it is full: an
 * item is copied to the longest waiter under the lock, and the waiter is woken after that.
 *
 * Put and get have the same structure: do_now() does, under the lock, everything that is possible
 * at once, and the served waiter is woken after unlocking.  They differ only if they must wait: a
 * task parks, a thread blocks, a select gets in line, a try_ call returns -EAGAIN.
 */
#include "sync/channel.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/swap.h"
#include "scope/debug/debug.h"
#include "scope/run.h"
#include "scope/threads/thread.h"
#include "sys/process/fork.h"

static unsigned char *slot(eddy_channel *channel, uint32_t i)
{
        uint32_t at = channel->head + i;

        if (at >= channel->items_max)
                at -= channel->items_max;
        return channel->items + (size_t) at * channel->item_bytes;
}

int eddy_channel_new(uint32_t item_bytes, uint32_t items_max, eddy_channel **ret_channel)
{
        eddy_channel *channel;

        if (item_bytes > EDDY_CHANNEL_ITEM_BYTES_MAX || items_max > EDDY_CHANNEL_ITEMS_MAX ||
            items_max == 0)
                return -EINVAL;
        if (item_bytes == 0)
                item_bytes = sizeof(void *);
        channel = ed_alloc(sizeof(*channel) + (size_t) items_max * item_bytes);
        if (!channel)
                return -ENOMEM;
        /* Threads may use a channel without any run. */
        ed_run_watch_forks();
        *channel = (eddy_channel){ .forks = ed_sys_forks(),
                                   .item_bytes = item_bytes,
                                   .items_max = items_max };
        atomic_init(&channel->refs, 1);
        ed_mutex_init(&channel->lock);
        ed_debug_far_made(&channel->debug, NULL);
        *ret_channel = channel;
        return 0;
}

eddy_channel *eddy_channel_ref(eddy_channel *channel)
{
        if (channel)
                (void) atomic_fetch_add_explicit(&channel->refs, 1, memory_order_relaxed);
        return channel;
}

void eddy_channel_release(eddy_channel *channel)
{
        if (!channel || atomic_fetch_sub_explicit(&channel->refs, 1, memory_order_acq_rel) > 1)
                return;
        ed_debug_far_gone(&channel->debug, 0);
        ed_mutex_fini(&channel->lock);
        ed_free(channel);
}

/*
 * Checks that a channel may be used.  In a child of fork(), the lock may be held by a thread that
 * does not exist there, and the tasks in line do not exist either.
 *
 * Errors: -EINVAL, EDDY_E_LOOP_FORKED
 */
static int check(const eddy_channel *channel)
{
        if (!channel)
                return -EINVAL;
        return ed_sys_forked_since(channel->forks) ? EDDY_E_LOOP_FORKED : 0;
}

/* --- at once --- */

/* Appends an item if possible at once.  The caller must wake '*ret_woken'.  Locked. */
static int put_now(eddy_channel *channel, const void *item, struct ed_far_waiter **ret_woken)
{
        struct ed_far_waiter *getter;

        if (channel->shut)
                return -EPIPE;
        getter = ed_far_waiter_take(channel->lines[ED_CHANNEL_GET], 0);
        if (getter) {
                memcpy(getter->waiter.item, item, channel->item_bytes);
                *ret_woken = getter;
                return 0;
        }
        if (channel->count == channel->items_max)
                return -EAGAIN;
        memcpy(slot(channel, channel->count), item, channel->item_bytes);
        channel->count++;
        return 0;
}

static void head_advance(eddy_channel *channel)
{
        channel->head = channel->head + 1 == channel->items_max ? 0 : channel->head + 1;
}

/* Takes the first item, if any.  The caller must wake '*ret_woken'.  Locked. */
static int get_now(eddy_channel *channel, void *ret_item, struct ed_far_waiter **ret_woken)
{
        struct ed_far_waiter *putter;

        if (channel->count == 0)
                return channel->shut ? -EPIPE : -EAGAIN;
        memcpy(ret_item, slot(channel, 0), channel->item_bytes);
        head_advance(channel);
        channel->count--;
        putter = ed_far_waiter_take(channel->lines[ED_CHANNEL_PUT], 0);
        if (putter) {
                memcpy(slot(channel, channel->count), putter->waiter.item, channel->item_bytes);
                channel->count++;
                *ret_woken = putter;
        }
        return 0;
}

static inline int do_now(eddy_channel *channel, enum ed_channel_side side, void *item,
                         struct ed_far_waiter **ret_woken)
{
        return side == ED_CHANNEL_PUT ? put_now(channel, item, ret_woken)
                                      : get_now(channel, item, ret_woken);
}

/* Returns true if do_now() will not return -EAGAIN.  There is room while getters wait.  Locked. */
static bool is_ready(const eddy_channel *channel, enum ed_channel_side side)
{
        return channel->shut ||
               (side == ED_CHANNEL_PUT ? channel->count < channel->items_max : channel->count > 0);
}

/* --- waiting --- */

static const char *words_of(enum ed_channel_side side)
{
        return side == ED_CHANNEL_PUT ? "room in a channel" : "an item in a channel";
}

/*
 * Gets in line.  Locked before the call, and unlocked after it.  Not inlined, so that a call that
 * does not wait needs no waiter.
 */
static __attribute__((noinline)) int wait_in_line(eddy_channel *channel, enum ed_channel_side side,
                                                  struct ed_task *task, void *item)
{
        struct ed_far_waiter waiter;
        int err = ed_far_waiter_init(&waiter, task, &channel->lock, item);

        if (err == 0)
                ed_far_waiter_push(channel->lines[side], &waiter);
        ed_mutex_unlock(&channel->lock);
        return err < 0 ? err : ed_far_waiter_park(&waiter, words_of(side));
}

static int call_in_task(eddy_channel *channel, enum ed_channel_side side, void *item)
{
        struct ed_far_waiter *woken = NULL;
        struct ed_task *task;
        int err;

        err = ed_suspend_enter(&task);
        if (err == 0)
                err = check(channel);
        if (err < 0)
                return err;
        ed_mutex_lock(&channel->lock);
        err = do_now(channel, side, item, &woken);
        if (err == -EAGAIN)
                return wait_in_line(channel, side, task, item);
        ed_mutex_unlock(&channel->lock);
        ed_far_waiter_wake(woken);
        ed_suspend_passed(task);
        return err;
}

/* If 'waits', blocks as long as needed if this thread may block. */
static int call_on_thread(eddy_channel *channel, enum ed_channel_side side, void *item, bool waits)
{
        struct ed_far_waiter *woken = NULL;
        int err = check(channel);

        if (err < 0)
                return err;
        ed_mutex_lock(&channel->lock);
        err = do_now(channel, side, item, &woken);
        if (err == -EAGAIN && waits) {
                if (ed_thread_may_block())
                        return ed_far_waiter_block(channel->lines[side], &channel->lock, item);
                err = -EDEADLK;
        }
        ed_mutex_unlock(&channel->lock);
        ed_far_waiter_wake(woken);
        return err;
}

int eddy_channel_put(eddy_channel *channel, const void *item)
{
        if (ed_task_running())
                return call_in_task(channel, ED_CHANNEL_PUT, (void *) item);
        return call_on_thread(channel, ED_CHANNEL_PUT, (void *) item, true);
}

int eddy_channel_get(eddy_channel *channel, void *ret_item)
{
        if (ed_task_running())
                return call_in_task(channel, ED_CHANNEL_GET, ret_item);
        return call_on_thread(channel, ED_CHANNEL_GET, ret_item, true);
}

int eddy_channel_try_put(eddy_channel *channel, const void *item)
{
        return call_on_thread(channel, ED_CHANNEL_PUT, (void *) item, false);
}

int eddy_channel_try_get(eddy_channel *channel, void *ret_item)
{
        return call_on_thread(channel, ED_CHANNEL_GET, ret_item, false);
}

/* --- interface for select --- */

void ed_channel_waiter_init(eddy_channel *channel, struct ed_far_waiter *waiter,
                            struct ed_task *task, void *item, const struct ed_waiter_ops *ops)
{
        (void) ed_far_waiter_init(waiter, task, &channel->lock, item);
        waiter->waiter.ops = ops;
}

int ed_channel_begin(eddy_channel *channel, enum ed_channel_side side, struct ed_far_waiter *waiter)
{
        struct ed_far_waiter *woken = NULL;
        int err = -EAGAIN;

        ed_mutex_lock(&channel->lock);
        if (!is_ready(channel, side))
                ed_far_waiter_push(channel->lines[side], waiter);
        else if (waiter->waiter.ops->claim(&waiter->waiter))
                err = do_now(channel, side, waiter->waiter.item, &woken);
        else
                err = -EALREADY;
        ed_mutex_unlock(&channel->lock);
        ed_far_waiter_wake(woken);
        return err;
}

/* --- dropping --- */

int eddy_channel_put_dropping(eddy_channel *channel, const void *item, void *ret_dropped)
{
        struct ed_far_waiter *woken = NULL;
        int err = check(channel);

        if (err < 0)
                return err;
        ed_mutex_lock(&channel->lock);
        err = put_now(channel, item, &woken);
        if (err == -EAGAIN) {
                /* The oldest item's slot becomes the newest's. */
                ed_swap(slot(channel, 0), item, ret_dropped, channel->item_bytes);
                head_advance(channel);
                err = 1;
        }
        ed_mutex_unlock(&channel->lock);
        ed_far_waiter_wake(woken);
        return err;
}

/* --- shutting down --- */

void eddy_channel_shutdown(eddy_channel *channel)
{
        struct ed_far_waiter *waiter;

        if (check(channel) < 0)
                return;
        /* Wake waiters one at a time.  No more waiters get in line. */
        do {
                ed_mutex_lock(&channel->lock);
                channel->shut = true;
                waiter = ed_far_waiter_take(channel->lines[ED_CHANNEL_GET], -EPIPE);
                if (!waiter)
                        waiter = ed_far_waiter_take(channel->lines[ED_CHANNEL_PUT], -EPIPE);
                ed_mutex_unlock(&channel->lock);
                ed_far_waiter_wake(waiter);
        } while (waiter);
}

uint32_t eddy_channel_count(eddy_channel *channel)
{
        uint32_t count;

        if (check(channel) < 0)
                return 0;
        ed_mutex_lock(&channel->lock);
        count = channel->count;
        ed_mutex_unlock(&channel->lock);
        return count;
}
