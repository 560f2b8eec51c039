/*
 * loop/timer.h - timers: armed often, cancelled nearly as often, fired seldom.
 *
 * A hierarchical wheel takes what is far away: arming and cancelling are a
 * few instructions and touch nothing else.  What is due within the present
 * tick waits in a heap that knows nanoseconds, so timers fire in the order of
 * their deadlines, and equal ones in the order armed.  No memory is allocated.
 */
#ifndef ED_LOOP_TIMER_H
#define ED_LOOP_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/def.h"
#include "base/list.h"

enum { ED_TIMER_LEVELS = 8, ED_TIMER_FRESH = ED_TIMER_LEVELS, ED_TIMER_SLOTS = 64 };

struct ed_timer {
        struct ed_list link;     /* in a slot of the wheel, or fresh */
        struct ed_timer *child;  /* in the heap */
        struct ed_timer *next;   /* sibling */
        struct ed_timer **prevp; /* what points here; NULL: not in the heap; unless fresh */
        int64_t deadline_ns;
        uint64_t seq;
        void (*fn)(struct ed_timer *timer); /* may arm and cancel any timer */
        uint8_t level; /* ED_TIMER_FRESH: armed since the last look, and in no place yet */
        uint8_t slot;
        bool armed;
};

struct ed_timers {
        struct ed_timer *heap;
        int64_t horizon; /* ticks below it are in the heap */
        uint64_t seq;
        uint64_t count;
        uint64_t occupied[ED_TIMER_LEVELS]; /* a bit per slot that is not empty */
        struct ed_list fresh;               /* armed since the last look, in that order */
        struct ed_list slots[ED_TIMER_LEVELS][ED_TIMER_SLOTS];
};

/* 'duration_ns' (0 or more) after 'now_ns', or the end of time. */
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

/* Take one out that is armed, and not fresh. */
ED_SHARED void ed_timer_take_out(struct ed_timers *timers, struct ed_timer *timer);

/* Harmless when it is not armed. */
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

/* Fire at 'deadline_ns'; an armed timer is moved. */
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
 * When to call ed_timers_fire() next, or -1 when no timer is armed: the
 * earliest deadline if it is near, else a time before it.
 */
int64_t ed_timers_next(struct ed_timers *timers);

/* Fire what is due at 'now_ns', and nothing that firing arms for later. */
void ed_timers_fire(struct ed_timers *timers, int64_t now_ns);

#endif
