/*
 * loop/timer.c - finding and firing due timers: a hierarchical wheel for far deadlines, a pairing
 * heap for near ones.  Arming and cancelling: timer.h.
 *
 * Time is divided into ticks of 2^20 ns.  The horizon is a tick: timers due before it are in the
 * heap, ordered by nanoseconds.  A later timer is in a slot of the level at which its tick first
 * differs from the horizon's, with six bits per level.  Moving the horizon forward to the next
 * occupied slot empties that slot into lower levels, and the lowest level into the heap.  The
 * horizon may be ahead of the clock: the heap orders all timers before it.
 *
 * A newly armed timer stays in a list until the next look at the timers.  Removing it from there is
 * cheapest, and most deadlines belong to scopes that end before anything waits.
 */
#include "loop/timer.h"

#include <stddef.h>

#include "base/def.h"

enum { TICK_SHIFT = 20, LEVEL_BITS = 6 };

static int64_t tick_of(int64_t deadline_ns)
{
        return deadline_ns >> TICK_SHIFT;
}

static bool due_before(const struct ed_timer *a, const struct ed_timer *b)
{
        if (a->deadline_ns != b->deadline_ns)
                return a->deadline_ns < b->deadline_ns;
        return a->seq < b->seq;
}

/* Joins two non-empty heaps.  The caller sets the siblings of the result. */
static struct ed_timer *heap_meld(struct ed_timer *a, struct ed_timer *b)
{
        struct ed_timer *top = due_before(b, a) ? b : a;
        struct ed_timer *sub = top == a ? b : a;

        sub->next = top->child;
        if (sub->next)
                sub->next->prevp = &sub->next;
        sub->prevp = &top->child;
        top->child = sub;
        return top;
}

static void heap_set_top(struct ed_timers *timers, struct ed_timer *top)
{
        timers->heap = top;
        if (top) {
                top->next = NULL;
                top->prevp = &timers->heap;
        }
}

/* Joins a list of siblings into one heap: in pairs from the left, then the pairs from the right. */
static struct ed_timer *heap_merge_pairs(struct ed_timer *first)
{
        struct ed_timer *pairs = NULL, *top;

        while (first) {
                struct ed_timer *a = first, *b = a->next;

                first = b ? b->next : NULL;
                if (b)
                        a = heap_meld(a, b);
                a->next = pairs;
                pairs = a;
        }
        top = pairs;
        if (!top)
                return NULL;
        pairs = top->next;
        while (pairs) {
                struct ed_timer *next = pairs->next;

                top = heap_meld(top, pairs);
                pairs = next;
        }
        return top;
}

static void heap_insert(struct ed_timers *timers, struct ed_timer *timer)
{
        timer->child = NULL;
        timer->next = NULL;
        heap_set_top(timers, timers->heap ? heap_meld(timers->heap, timer) : timer);
}

static void heap_remove(struct ed_timers *timers, struct ed_timer *timer)
{
        struct ed_timer *rest = heap_merge_pairs(timer->child);

        if (timers->heap == timer) {
                heap_set_top(timers, rest);
        } else {
                *timer->prevp = timer->next;
                if (timer->next)
                        timer->next->prevp = timer->prevp;
                if (rest)
                        heap_set_top(timers, heap_meld(timers->heap, rest));
        }
        timer->prevp = NULL;
}

/* Puts a timer into the heap or the slot for its tick, relative to the horizon. */
static void timer_place(struct ed_timers *timers, struct ed_timer *timer)
{
        int64_t tick = tick_of(timer->deadline_ns);
        unsigned level, slot;

        if (tick < timers->horizon) {
                timer->level = 0;
                heap_insert(timers, timer);
                return;
        }
        /* "| 63" makes all ticks of level 0 look different in the last six bits. */
        level = (63 - (unsigned) __builtin_clzll((uint64_t) (tick ^ timers->horizon) | 63)) /
                LEVEL_BITS;
        slot = (unsigned) (tick >> (level * LEVEL_BITS)) % ED_TIMER_SLOTS;
        timer->prevp = NULL;
        timer->level = (uint8_t) level;
        timer->slot = (uint8_t) slot;
        ed_list_push_back(&timers->slots[level][slot], &timer->link);
        timers->occupied[level] |= 1ULL << slot;
}

/* Puts newly armed timers into their places. */
static void timers_settle(struct ed_timers *timers)
{
        struct ed_list *link;

        while ((link = ed_list_pop_front(&timers->fresh)))
                timer_place(timers, ed_container_of(link, struct ed_timer, link));
}

/* Puts the timers of a slot into their places again, relative to the current horizon. */
static void slot_empty(struct ed_timers *timers, unsigned level, unsigned i)
{
        struct ed_list *slot = &timers->slots[level][i];
        struct ed_list moved;

        if (ed_list_is_empty(slot))
                return;
        moved = *slot;
        moved.next->prev = &moved;
        moved.prev->next = &moved;
        ed_list_init(slot);
        timers->occupied[level] &= ~(1ULL << i);
        while (!ed_list_is_empty(&moved))
                timer_place(timers,
                            ed_container_of(ed_list_pop_front(&moved), struct ed_timer, link));
}

/*
 * Finds the first occupied slot in time and its first tick.  It is in the lowest level that has
 * one, since all slots of a level precede those of the next.
 */
static bool slot_next(const struct ed_timers *timers, unsigned *ret_level, unsigned *ret_slot,
                      int64_t *ret_start)
{
        for (unsigned level = 0; level < ED_TIMER_LEVELS; level++) {
                unsigned shift = level * LEVEL_BITS, slot;
                int64_t round;

                if (!timers->occupied[level])
                        continue;
                slot = (unsigned) __builtin_ctzll(timers->occupied[level]);
                round = timers->horizon >> (shift + LEVEL_BITS) << (shift + LEVEL_BITS);
                *ret_level = level;
                *ret_slot = slot;
                *ret_start = round + ((int64_t) slot << shift);
                return true;
        }
        return false;
}

/* Moves the horizon to 'tick'.  No occupied slot may be before it. */
static void horizon_move(struct ed_timers *timers, int64_t tick)
{
        timers->horizon = tick;
        /* Slots that now contain the horizon move to lower levels. */
        for (unsigned level = ED_TIMER_LEVELS - 1; level > 0; level--)
                slot_empty(timers, level,
                           (unsigned) (tick >> (level * LEVEL_BITS)) % ED_TIMER_SLOTS);
}

/* Moves the horizon past 'tick', and all timers up to 'tick' into the heap. */
static void horizon_pass(struct ed_timers *timers, int64_t tick)
{
        unsigned level, slot;
        int64_t start;

        while (slot_next(timers, &level, &slot, &start) && start <= tick) {
                if (level > 0) {
                        horizon_move(timers, start);
                        continue;
                }
                /* Pass the slot first, so that its timers go into the heap. */
                timers->horizon = start + 1;
                slot_empty(timers, 0, slot);
                horizon_move(timers, start + 1);
        }
        if (timers->horizon < tick)
                horizon_move(timers, tick);
}

void ed_timers_init(struct ed_timers *timers, int64_t now_ns)
{
        *timers = (struct ed_timers){ .horizon = tick_of(now_ns) };
        ed_list_init(&timers->fresh);
        for (unsigned level = 0; level < ED_TIMER_LEVELS; level++)
                for (unsigned slot = 0; slot < ED_TIMER_SLOTS; slot++)
                        ed_list_init(&timers->slots[level][slot]);
}

void ed_timer_take_out(struct ed_timers *timers, struct ed_timer *timer)
{
        struct ed_list *slot;

        if (timer->prevp) {
                heap_remove(timers, timer);
                return;
        }
        ed_list_remove(&timer->link);
        slot = &timers->slots[timer->level][timer->slot];
        if (ed_list_is_empty(slot))
                timers->occupied[timer->level] &= ~(1ULL << timer->slot);
}

int64_t ed_timers_next(struct ed_timers *timers)
{
        const struct ed_timer *first;
        unsigned level, slot;
        int64_t start;

        timers_settle(timers);
        first = timers->heap;
        if (first)
                return first->deadline_ns < 0 ? 0 : first->deadline_ns;
        if (!slot_next(timers, &level, &slot, &start))
                return -1;
        return start << TICK_SHIFT;
}

/*
 * Timers armed during the loop stay in the list: in the heap, an early one could run in this turn,
 * or keep the turn from ending.
 */
void ed_timers_fire(struct ed_timers *timers, int64_t now_ns)
{
        struct ed_timer *timer;

        timers_settle(timers);
        horizon_pass(timers, tick_of(now_ns));
        while ((timer = timers->heap) && timer->deadline_ns <= now_ns) {
                ed_timer_cancel(timers, timer);
                timer->fn(timer);
        }
}
