/*
 * scope/queue.c - a ring of items with tasks in line on both sides.
 *
 * While getters wait the ring is empty, and while putters wait it is full: an
 * item that is put goes into the first getter's hands, and an item that is
 * taken makes room for the first putter's.
 */
#include "eddy/queue.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "scope/waiters.h"

enum { QUEUE_SHUT = 1 << 0, ROOM_MIN = 8 };

static uint32_t item_bytes(const eddy_queue *queue)
{
        return queue->item_bytes ? queue->item_bytes : (uint32_t) sizeof(void *);
}

static uint32_t items_max(const eddy_queue *queue)
{
        return queue->items_max ? queue->items_max : EDDY_QUEUE_ITEMS_MAX;
}

static unsigned char *slot(const eddy_queue *queue, uint32_t i)
{
        uint32_t at = queue->head + i;

        if (at >= queue->room)
                at -= queue->room;
        return queue->items + (size_t) at * item_bytes(queue);
}

int eddy_queue_init(eddy_queue *queue, uint32_t bytes, uint32_t max)
{
        if (bytes > EDDY_QUEUE_ITEM_BYTES_MAX || max > EDDY_QUEUE_ITEMS_MAX)
                return -EINVAL;
        *queue = (eddy_queue){ .item_bytes = bytes, .items_max = max };
        return 0;
}

void eddy_queue_fini(eddy_queue *queue)
{
        ed_free(queue->items);
        *queue = (eddy_queue){ .item_bytes = queue->item_bytes, .items_max = queue->items_max };
}

/* Room for one more item in the ring. */
static int grow(eddy_queue *queue)
{
        uint32_t room = queue->room < ROOM_MIN ? ROOM_MIN : queue->room * 2;
        size_t bytes = item_bytes(queue), first;
        unsigned char *items;

        if (room > items_max(queue))
                room = items_max(queue);
        items = ed_alloc(room * bytes);
        if (!items)
                return -ENOMEM;
        first = queue->room - queue->head;
        if (first > queue->count)
                first = queue->count;
        if (queue->count > 0) {
                memcpy(items, slot(queue, 0), first * bytes);
                memcpy(items + first * bytes, queue->items, (queue->count - first) * bytes);
        }
        ed_free(queue->items);
        queue->items = items;
        queue->room = room;
        queue->head = 0;
        return 0;
}

/* Append, if that can be done at once. */
static int put_now(eddy_queue *queue, const void *item)
{
        struct ed_waiter *getter = ed_waiters_first(queue->getters);
        int err;

        if (queue->flags & QUEUE_SHUT)
                return -EPIPE;
        if (getter) {
                memcpy(getter->item, item, item_bytes(queue));
                (void) ed_waiters_wake(queue->getters, 0);
                return 0;
        }
        if (queue->count == items_max(queue))
                return -EAGAIN;
        if (queue->count == queue->room) {
                err = grow(queue);
                if (err < 0)
                        return err;
        }
        memcpy(slot(queue, queue->count), item, item_bytes(queue));
        queue->count++;
        return 0;
}

/* Take the first item, if there is one. */
static int get_now(eddy_queue *queue, void *ret_item)
{
        struct ed_waiter *putter;

        if (queue->count == 0)
                return queue->flags & QUEUE_SHUT ? -EPIPE : -EAGAIN;
        memcpy(ret_item, slot(queue, 0), item_bytes(queue));
        queue->head = queue->head + 1 == queue->room ? 0 : queue->head + 1;
        queue->count--;
        putter = ed_waiters_first(queue->putters);
        if (putter) {
                memcpy(slot(queue, queue->count), putter->item, item_bytes(queue));
                queue->count++;
                (void) ed_waiters_wake(queue->putters, 0);
        }
        return 0;
}

int eddy_queue_put(eddy_queue *queue, const void *item)
{
        struct ed_waiter waiter;
        struct ed_task *task;
        int err;

        err = ed_suspend_enter(&task);
        if (err < 0)
                return err;
        err = put_now(queue, item);
        if (err != -EAGAIN) {
                ed_suspend_passed(task);
                return err;
        }
        ed_waiter_init(&waiter, task, (void *) item);
        ed_waiters_push(queue->putters, &waiter);
        return ed_suspend_park(task, "room in a queue", ed_waiters_abort, &waiter);
}

int eddy_queue_get(eddy_queue *queue, void *ret_item)
{
        struct ed_waiter waiter;
        struct ed_task *task;
        int err;

        err = ed_suspend_enter(&task);
        if (err < 0)
                return err;
        err = get_now(queue, ret_item);
        if (err != -EAGAIN) {
                ed_suspend_passed(task);
                return err;
        }
        ed_waiter_init(&waiter, task, ret_item);
        ed_waiters_push(queue->getters, &waiter);
        return ed_suspend_park(task, "an item in a queue", ed_waiters_abort, &waiter);
}

int eddy_queue_try_put(eddy_queue *queue, const void *item)
{
        return put_now(queue, item);
}

int eddy_queue_try_get(eddy_queue *queue, void *ret_item)
{
        return get_now(queue, ret_item);
}

void eddy_queue_shutdown(eddy_queue *queue, unsigned flags)
{
        (void) flags;
        queue->flags |= QUEUE_SHUT;
        while (ed_waiters_wake(queue->getters, -EPIPE))
                continue;
        while (ed_waiters_wake(queue->putters, -EPIPE))
                continue;
}

uint32_t eddy_queue_count(const eddy_queue *queue)
{
        return queue->count;
}
