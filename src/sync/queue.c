/*
 * sync/queue.c - items in a ring or a heap, with tasks in line on both sides.
 *
 * While getters wait, the queue is empty; while putters wait, it is full.  An item that is put goes
 * directly to the first getter, and an item that is taken makes room for the first putter's item.
 * The order of waiters therefore never depends on the order of items, and serving a putter that
 * waits never needs memory.
 *
 * The plain queue is a ring, taken from its head.  The last-in, first-out queue is the same ring,
 * taken from its end; its head moves only when an item is dropped.  The priority queue is a binary
 * heap.  Each slot holds an item followed by its sequence number, so that equal items keep their
 * order.
 */
#include "eddy/queue.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/swap.h"
#include "scope/misuse.h"
#include "scope/waiters.h"
#include "sync/units.h"

/* An open plain queue has no flags, so one test identifies it. */
enum { QUEUE_SHUT = 1 << 0, QUEUE_LIFO = 1 << 1, QUEUE_HEAP = 1 << 2 };

enum { ROOM_MIN = 8, HEAP_ALIGN = 16 };

static uint32_t item_bytes(const eddy_queue *queue)
{
        return queue->item_bytes ? queue->item_bytes : (uint32_t) sizeof(void *);
}

static uint32_t items_max(const eddy_queue *queue)
{
        return queue->items_max ? queue->items_max : EDDY_QUEUE_ITEMS_MAX;
}

static int init(eddy_queue *queue, uint32_t bytes, uint32_t max, uint32_t flags)
{
        if (bytes > EDDY_QUEUE_ITEM_BYTES_MAX || max > EDDY_QUEUE_ITEMS_MAX)
                return -EINVAL;
        *queue = (eddy_queue){ .item_bytes = bytes, .items_max = max, .flags = flags };
        return 0;
}

int eddy_queue_init(eddy_queue *queue, uint32_t bytes, uint32_t max)
{
        return init(queue, bytes, max, 0);
}

int eddy_queue_init_lifo(eddy_queue *queue, uint32_t bytes, uint32_t max)
{
        return init(queue, bytes, max, QUEUE_LIFO);
}

int eddy_queue_init_priority(eddy_queue *queue, uint32_t bytes, uint32_t max,
                             int (*compare)(const void *a, const void *b))
{
        int err;

        if (!compare)
                return -EINVAL;
        err = init(queue, bytes, max, QUEUE_HEAP);
        if (err == 0)
                queue->compare = compare;
        return err;
}

/* Notifies the test kit. */
static void note_end(eddy_queue *queue)
{
        const struct ed_units_watch *watch = ed_units_watched();

        if (watch)
                watch->queue_ends(queue);
}

void eddy_queue_fini(eddy_queue *queue)
{
        int (*compare)(const void *a, const void *b);

        if (!queue)
                return;
        if (queue->flags & ED_QUEUE_WATCHED)
                note_end(queue);
        ed_misuse_check_line(queue->getters, "eddy_queue_fini");
        ed_misuse_check_line(queue->putters, "eddy_queue_fini");
        ed_misuse_check_line(queue->joiners, "eddy_queue_fini");
        compare = queue->compare;
        ed_free(queue->items);
        (void) init(queue, queue->item_bytes, queue->items_max,
                    queue->flags & (QUEUE_LIFO | QUEUE_HEAP));
        queue->compare = compare;
}

/* --- the ring --- */

static unsigned char *slot(const eddy_queue *queue, uint32_t i)
{
        uint32_t at = queue->head + i;

        if (at >= queue->room)
                at -= queue->room;
        return queue->items + (size_t) at * item_bytes(queue);
}

/* Bytes per slot.  Heap slots add a sequence number and padding. */
static size_t slot_bytes(const eddy_queue *queue)
{
        size_t bytes = item_bytes(queue);

        if (!(queue->flags & QUEUE_HEAP))
                return bytes;
        return (bytes + sizeof(queue->seq) + HEAP_ALIGN - 1) & ~(size_t) (HEAP_ALIGN - 1);
}

/* Makes room for one more item in a full queue.  Errors: -ENOMEM; -EAGAIN: items_max is reached. */
static int grow(eddy_queue *queue)
{
        uint32_t room = queue->room < ROOM_MIN ? ROOM_MIN : queue->room * 2;
        size_t bytes = slot_bytes(queue), first;
        unsigned char *items;

        if (queue->room == items_max(queue))
                return -EAGAIN;
        if (room > items_max(queue))
                room = items_max(queue);
        items = ed_alloc(room * bytes);
        if (!items)
                return -ENOMEM;
        first = queue->room - queue->head;
        if (queue->count > 0) {
                memcpy(items, queue->items + queue->head * bytes, first * bytes);
                memcpy(items + first * bytes, queue->items, (queue->count - first) * bytes);
        }
        ed_free(queue->items);
        queue->items = items;
        queue->room = room;
        queue->head = 0;
        return 0;
}

/* --- the heap --- */

static unsigned char *heap_slot(const eddy_queue *queue, uint32_t i)
{
        return queue->items + i * slot_bytes(queue);
}

static uint64_t heap_seq(const eddy_queue *queue, const unsigned char *in_slot)
{
        uint64_t seq;

        memcpy(&seq, in_slot + slot_bytes(queue) - sizeof(seq), sizeof(seq));
        return seq;
}

/* Moves the item up from the end while the item above is after it.  Equal items stay above. */
static void heap_push(eddy_queue *queue, const void *item)
{
        size_t bytes = slot_bytes(queue);
        uint32_t at = queue->count++;
        unsigned char *hole;

        while (at > 0) {
                unsigned char *above = heap_slot(queue, (at - 1) / 2);

                if (queue->compare(item, above) >= 0)
                        break;
                memcpy(heap_slot(queue, at), above, bytes);
                at = (at - 1) / 2;
        }
        hole = heap_slot(queue, at);
        memcpy(hole, item, item_bytes(queue));
        memcpy(hole + bytes - sizeof(queue->seq), &queue->seq, sizeof(queue->seq));
        queue->seq++;
}

static bool heap_is_before(const eddy_queue *queue, const unsigned char *a, const unsigned char *b)
{
        int order = queue->compare(a, b);

        return order < 0 || (order == 0 && heap_seq(queue, a) < heap_seq(queue, b));
}

/* Moves the last item down from the hole at the top while an item below is before it. */
static void heap_pop(eddy_queue *queue, void *ret_item)
{
        const unsigned char *last = heap_slot(queue, --queue->count);
        size_t bytes = slot_bytes(queue);
        uint32_t at = 0, below;

        memcpy(ret_item, queue->items, item_bytes(queue));
        while ((below = 2 * at + 1) < queue->count) {
                if (below + 1 < queue->count &&
                    heap_is_before(queue, heap_slot(queue, below + 1), heap_slot(queue, below)))
                        below++;
                if (heap_is_before(queue, last, heap_slot(queue, below)))
                        break;
                memcpy(heap_slot(queue, at), heap_slot(queue, below), bytes);
                at = below;
        }
        if (at != queue->count)
                memcpy(heap_slot(queue, at), last, bytes);
}

/*
 * --- putting and getting ---
 *
 * Each function is written once for all flags and compiled twice: without flags for the open plain
 * queue, and for all other queues.
 */

/* Stores an item in a free slot. */
static inline __attribute__((always_inline)) void store(eddy_queue *queue, const void *item,
                                                        uint32_t flags)
{
        if (flags & QUEUE_HEAP) {
                heap_push(queue, item);
                return;
        }
        memcpy(slot(queue, queue->count), item, item_bytes(queue));
        queue->count++;
}

static inline void head_advance(eddy_queue *queue)
{
        queue->head = queue->head + 1 == queue->room ? 0 : queue->head + 1;
}

/* Takes the next item.  There must be one. */
static inline __attribute__((always_inline)) void take(eddy_queue *queue, void *ret_item,
                                                       uint32_t flags)
{
        if (flags & QUEUE_HEAP) {
                heap_pop(queue, ret_item);
                return;
        }
        queue->count--;
        if (flags & QUEUE_LIFO) {
                memcpy(ret_item, slot(queue, queue->count), item_bytes(queue));
                return;
        }
        memcpy(ret_item, slot(queue, 0), item_bytes(queue));
        head_advance(queue);
}

static inline __attribute__((always_inline)) int put_with(eddy_queue *queue, const void *item,
                                                          uint32_t flags)
{
        struct ed_waiter *getter = ed_waiters_first(queue->getters);
        int err;

        if (flags & QUEUE_SHUT)
                return -EPIPE;
        if (getter) {
                if (ed_unlikely(ed_waiters_are_foreign_here(queue->getters)))
                        return EDDY_E_RUN_OTHER_LOOP;
                getter = ed_waiters_next(queue->getters);
        }
        if (getter) {
                queue->unfinished++;
                memcpy(getter->item, item, item_bytes(queue));
                ed_waiters_serve(getter, 0);
                return 0;
        }
        if (queue->count == queue->room) {
                err = grow(queue);
                if (err < 0)
                        return err;
        }
        queue->unfinished++;
        store(queue, item, flags);
        return 0;
}

static inline __attribute__((always_inline)) int get_with(eddy_queue *queue, void *ret_item,
                                                          uint32_t flags)
{
        struct ed_waiter *putter;

        if (queue->count == 0)
                return flags & QUEUE_SHUT ? -EPIPE : -EAGAIN;
        if (ed_unlikely(ed_waiters_are_foreign_here(queue->putters)))
                return EDDY_E_RUN_OTHER_LOOP;
        take(queue, ret_item, flags);
        putter = ed_waiters_next(queue->putters);
        if (putter) {
                queue->unfinished++;
                store(queue, putter->item, flags);
                ed_waiters_serve(putter, 0);
        }
        return 0;
}

static __attribute__((noinline)) int put_special(eddy_queue *queue, const void *item)
{
        return put_with(queue, item, queue->flags);
}

static __attribute__((noinline)) int get_special(eddy_queue *queue, void *ret_item)
{
        return get_with(queue, ret_item, queue->flags);
}

/* Appends an item if possible at once. */
static inline int put_now(eddy_queue *queue, const void *item)
{
        int err = ed_waiters_check_loop(&queue->loop_number);

        if (ed_unlikely(err < 0))
                return err;
        return ed_likely(!queue->flags) ? put_with(queue, item, 0) : put_special(queue, item);
}

/* Takes an item, if any. */
static inline int get_now(eddy_queue *queue, void *ret_item)
{
        int err = ed_waiters_check_loop(&queue->loop_number);

        if (ed_unlikely(err < 0))
                return err;
        return ed_likely(!queue->flags) ? get_with(queue, ret_item, 0)
                                        : get_special(queue, ret_item);
}

/* Waits to be served.  Not inlined, so that a call that does not wait needs no waiter. */
static __attribute__((noinline)) int wait_in_line(struct ed_task *task, void *line[2], void *item,
                                                  const char *waits_for)
{
        struct ed_waiter waiter;

        if (ed_unlikely(ed_waiters_are_foreign(line, task->loop)))
                return EDDY_E_RUN_OTHER_LOOP;
        ed_waiter_init(&waiter, task, item);
        ed_waiters_push(line, &waiter);
        return ed_suspend_park_here(task, waits_for, ed_waiters_abort, &waiter);
}

int eddy_queue_put(eddy_queue *queue, const void *item)
{
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
        return wait_in_line(task, queue->putters, (void *) item, "room in a queue");
}

int eddy_queue_get(eddy_queue *queue, void *ret_item)
{
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
        return wait_in_line(task, queue->getters, ret_item, "an item in a queue");
}

int eddy_queue_try_put(eddy_queue *queue, const void *item)
{
        return put_now(queue, item);
}

int eddy_queue_put_dropping(eddy_queue *queue, const void *item, void *ret_dropped)
{
        int err;

        if (queue->flags & QUEUE_HEAP)
                return -EINVAL;
        err = eddy_queue_try_put(queue, item);
        if (err != -EAGAIN)
                return err;
        if (ed_unlikely(ed_waiters_are_foreign_here(queue->putters)))
                return EDDY_E_RUN_OTHER_LOOP;
        /* The oldest item's slot becomes the newest's. */
        ed_swap(slot(queue, 0), item, ret_dropped, item_bytes(queue));
        head_advance(queue);
        /*
         * An item was added and another was dropped, so the number is the same, unless task_done
         * has already counted the dropped item.
         */
        queue->unfinished += queue->unfinished == 0;
        return 1;
}

int eddy_queue_try_get(eddy_queue *queue, void *ret_item)
{
        return get_now(queue, ret_item);
}

/* --- shutting down --- */

/* Notes for the test kit that the program uses task_done or join. */
static void note_counted(eddy_queue *queue)
{
        if (ed_unlikely(queue->flags & ED_QUEUE_WATCHED))
                queue->flags |= ED_QUEUE_COUNTED;
}

/* Marks 'items' of the items as processed, and ends the joins if none is left. */
static void finish(eddy_queue *queue, uint64_t items)
{
        queue->unfinished -= items;
        if (queue->unfinished > 0)
                return;
        while (ed_waiters_wake(queue->joiners, 0))
                continue;
}

/* Returns true if a task of another loop waits; in debug mode, if the queue is another loop's. */
static bool is_foreign(eddy_queue *queue)
{
        return ed_waiters_check_loop(&queue->loop_number) < 0 ||
               ed_waiters_are_foreign_here(queue->getters) ||
               ed_waiters_are_foreign_here(queue->putters) ||
               ed_waiters_are_foreign_here(queue->joiners);
}

int eddy_queue_shutdown(eddy_queue *queue, unsigned flags)
{
        if (is_foreign(queue))
                return EDDY_E_RUN_OTHER_LOOP;
        queue->flags |= QUEUE_SHUT;
        while (ed_waiters_wake(queue->getters, -EPIPE))
                continue;
        while (ed_waiters_wake(queue->putters, -EPIPE))
                continue;
        if (flags & EDDY_QUEUE_NOW) {
                /* Fewer than 'count', if task_done was called before items were taken. */
                uint64_t dropped =
                        queue->count < queue->unfinished ? queue->count : queue->unfinished;

                queue->count = 0;
                finish(queue, dropped);
        }
        return 0;
}

int eddy_queue_task_done(eddy_queue *queue)
{
        note_counted(queue);
        if (queue->unfinished == 0)
                return -EINVAL;
        if (is_foreign(queue))
                return EDDY_E_RUN_OTHER_LOOP;
        finish(queue, 1);
        return 0;
}

int eddy_queue_join(eddy_queue *queue)
{
        struct ed_task *task;
        int err;

        err = ed_waiters_enter(&queue->loop_number, &task);
        if (err < 0)
                return err;
        note_counted(queue);
        if (queue->unfinished == 0) {
                ed_suspend_passed(task);
                return 0;
        }
        return wait_in_line(task, queue->joiners, NULL, "a queue's items to be done");
}

uint32_t eddy_queue_count(const eddy_queue *queue)
{
        return queue->count;
}
