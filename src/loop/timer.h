/*
 * loop/timer.h - timers: armed often, cancelled nearly as often, fired rarely.
 *
 * A hierarchical wheel holds far deadlines: arming and cancelling take a few instructions and touch
 * nothing else.  Timers due within the current tick wait in a heap with nanosecond order, so timers
 * fire in the order of their deadlines, and equal deadlines in the order armed.  No memory is
 * allocated.
 */
#ifndef ED_LOOP_TIMER_H
#define ED_LOOP_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/def.h"
#include "base/list.h"

enum { ED_TIMER_LEVELS = 8, ED_TIMER_FRESH = ED_TIMER_LEVELS, ED_TIMER_SLOTS = 64 };

struct ed_timer {
        struct ed_list link;     /* in a slot of the wheel, or in 'fresh' */
        struct ed_timer *child;  /* in the heap */
        struct ed_timer *next;   /* in the heap: the next sibling */
        struct ed_timer **prevp; /* in the heap: the pointer to this, else NULL; unset in 'fresh' */
        int64_t deadline_ns;
        uint64_t seq;
        void (*fn)(struct ed_timer *timer); /* may arm and cancel any timer */
        uint8_t level;                      /* ED_TIMER_FRESH: in 'fresh' */
        uint8_t slot;
        bool armed;
};

struct ed_timers {
        struct ed_timer *heap;
        int64_t horizon; /* timers of earlier ticks are in the heap */
        uint64_t seq;
        uint64_t count;
        uint64_t occupied[ED_TIMER_LEVELS]; /* one bit per non-empty slot */
        struct ed_list fresh;               /* newly armed timers, in that order */
        struct ed_list slots[ED_TIMER_LEVELS][ED_TIMER_SLOTS];
};

/* Returns 'now_ns' plus 'duration_ns' (0 or more), or INT64_MAX. */
static inline int64_t ed_time_after(int64_t now_ns, int64_t duration_ns)
{
        int64_t at_ns;

        return __builtin_add_overflow(now_ns, duration_ns, &at_ns) ? INT64_MAX : at_ns;
}

void ed_timers_init(struct ed_timers *timers, int64_t now_ns);

static inline void ed_timer_init(struct ed_timer *timer, void (*fn)(struct ed_timer *timer))
{
        timer->fn = fn;
        timer->armed = false;
}

/* Removes an armed timer that is not in 'fresh'. */
ED_SHARED void ed_timer_take_out(struct ed_timers *timers, struct ed_timer *timer);

/* Cancels a timer; harmless if it is not armed. */
static inline void ed_timer_cancel(struct ed_timers *timers, struct ed_timer *timer)
{
        if (!timer->armed)
                return;
        if (ed_likely(timer->level == ED_TIMER_FRESH))
                ed_list_unlink(&timer->link);
        else
                ed_timer_take_out(timers, timer);
        timer->armed = false;
        timers->count--;
}

/* Arms a timer for 'deadline_ns'; moves it if it was armed. */
static inline void ed_timer_arm(struct ed_timers *timers, struct ed_timer *timer,
                                int64_t deadline_ns)
{
        if (ed_unlikely(timer->armed))
                ed_timer_cancel(timers, timer);
        timers->count++;
        timer->armed = true;
        timer->level = ED_TIMER_FRESH;
        timer->deadline_ns = deadline_ns;
        timer->seq = timers->seq++;
        ed_list_push_back(&timers->fresh, &timer->link);
}

/*
 * Returns when to call ed_timers_fire() next, or -1 if no timer is armed: the earliest deadline if
 * it is near, else an earlier time.
 */
int64_t ed_timers_next(struct ed_timers *timers);

/* Fires all timers due at 'now_ns', except those armed meanwhile. */
void ed_timers_fire(struct ed_timers *timers, int64_t now_ns);

#endif
