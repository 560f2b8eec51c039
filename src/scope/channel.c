/*
 * scope/channel.c - a ring of items under a lock, with tasks of any loop in
 * line on both sides.
 *
 * As in a queue, getters wait only while the ring is empty and putters only
 * while it is full: an item is copied into the hands of who waits longest,
 * under the lock, and its task is woken after that.
 */
#include "eddy/channel.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "scope/debug.h"
#include "scope/far_waiter.h"
#include "sys/process.h"

struct eddy_channel {
        _Atomic uint32_t refs;
        unsigned forks; /* ed_sys_forks() where it was made */
        uint32_t item_bytes;
        uint32_t items_max;
        struct ed_mutex lock; /* guards all below, and 'items' */
        uint32_t head, count;
        bool shut;
        struct ed_debug_far debug; /* debug mode's own */
        void *getters[2], *putters[2];
        unsigned char items[];
};

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
        atomic_fetch_add_explicit(&channel->refs, 1, memory_order_relaxed);
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
 * Whether it came here by fork(): it may be locked by a thread that is not
 * here, and who is in line is not.
 */
static bool is_forked(const eddy_channel *channel)
{
        return ed_sys_forked_since(channel->forks);
}

/* Append, if that can be done at once; '*ret_woken' is to be woken.  Locked. */
static int put_now(eddy_channel *channel, const void *item, struct ed_far_waiter **ret_woken)
{
        struct ed_far_waiter *getter;

        if (channel->shut)
                return -EPIPE;
        getter = ed_far_waiter_take(channel->getters, 0);
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

/* Take the first item, if there is one; '*ret_woken' is to be woken.  Locked. */
static int get_now(eddy_channel *channel, void *ret_item, struct ed_far_waiter **ret_woken)
{
        struct ed_far_waiter *putter;

        if (channel->count == 0)
                return channel->shut ? -EPIPE : -EAGAIN;
        memcpy(ret_item, slot(channel, 0), channel->item_bytes);
        channel->head = channel->head + 1 == channel->items_max ? 0 : channel->head + 1;
        channel->count--;
        putter = ed_far_waiter_take(channel->putters, 0);
        if (putter) {
                memcpy(slot(channel, channel->count), putter->waiter.item, channel->item_bytes);
                channel->count++;
                *ret_woken = putter;
        }
        return 0;
}

/*
 * Stand in line; locked before, and not after.  Apart, so that who need not
 * wait has no waiter to make.
 */
static __attribute__((noinline)) int wait_in_line(eddy_channel *channel, struct ed_task *task,
                                                  void *line[2], void *item, const char *waits_for)
{
        struct ed_far_waiter waiter;
        int err = ed_far_waiter_init(&waiter, task, &channel->lock, item);

        if (err == 0)
                ed_far_waiter_push(line, &waiter);
        ed_mutex_unlock(&channel->lock);
        return err < 0 ? err : ed_far_waiter_park(&waiter, waits_for);
}

int eddy_channel_put(eddy_channel *channel, const void *item)
{
        struct ed_far_waiter *woken = NULL;
        struct ed_task *task;
        int err;

        err = ed_suspend_enter(&task);
        if (err < 0)
                return err;
        if (is_forked(channel))
                return EDDY_E_LOOP_FORKED;
        ed_mutex_lock(&channel->lock);
        err = put_now(channel, item, &woken);
        if (err == -EAGAIN)
                return wait_in_line(channel, task, channel->putters, (void *) item,
                                    "room in a channel");
        ed_mutex_unlock(&channel->lock);
        ed_far_waiter_wake(woken);
        ed_suspend_passed(task);
        return err;
}

int eddy_channel_get(eddy_channel *channel, void *ret_item)
{
        struct ed_far_waiter *woken = NULL;
        struct ed_task *task;
        int err;

        err = ed_suspend_enter(&task);
        if (err < 0)
                return err;
        if (is_forked(channel))
                return EDDY_E_LOOP_FORKED;
        ed_mutex_lock(&channel->lock);
        err = get_now(channel, ret_item, &woken);
        if (err == -EAGAIN)
                return wait_in_line(channel, task, channel->getters, ret_item,
                                    "an item in a channel");
        ed_mutex_unlock(&channel->lock);
        ed_far_waiter_wake(woken);
        ed_suspend_passed(task);
        return err;
}

int eddy_channel_try_put(eddy_channel *channel, const void *item)
{
        struct ed_far_waiter *woken = NULL;
        int err;

        if (is_forked(channel))
                return EDDY_E_LOOP_FORKED;
        ed_mutex_lock(&channel->lock);
        err = put_now(channel, item, &woken);
        ed_mutex_unlock(&channel->lock);
        ed_far_waiter_wake(woken);
        return err;
}

int eddy_channel_try_get(eddy_channel *channel, void *ret_item)
{
        struct ed_far_waiter *woken = NULL;
        int err;

        if (is_forked(channel))
                return EDDY_E_LOOP_FORKED;
        ed_mutex_lock(&channel->lock);
        err = get_now(channel, ret_item, &woken);
        ed_mutex_unlock(&channel->lock);
        ed_far_waiter_wake(woken);
        return err;
}

void eddy_channel_shutdown(eddy_channel *channel)
{
        struct ed_far_waiter *waiter;

        if (is_forked(channel))
                return;
        /* One at a time: nobody gets in line any more. */
        do {
                ed_mutex_lock(&channel->lock);
                channel->shut = true;
                waiter = ed_far_waiter_take(channel->getters, -EPIPE);
                if (!waiter)
                        waiter = ed_far_waiter_take(channel->putters, -EPIPE);
                ed_mutex_unlock(&channel->lock);
                ed_far_waiter_wake(waiter);
        } while (waiter);
}

uint32_t eddy_channel_count(eddy_channel *channel)
{
        uint32_t count;

        if (is_forked(channel))
                return 0;
        ed_mutex_lock(&channel->lock);
        count = channel->count;
        ed_mutex_unlock(&channel->lock);
        return count;
}
