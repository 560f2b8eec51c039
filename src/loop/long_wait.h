/*
 * loop/long_wait.h - waits that have lasted a second: what a waiting task does not need meanwhile
 * is released.
 *
 * A wait costs a place in a list.  Only the loop's timer, which fires at most once a second, looks
 * at the list, and it looks at each wait only once.
 */
#ifndef ED_LOOP_LONG_WAIT_H
#define ED_LOOP_LONG_WAIT_H

#include "loop/loop.h"

/* On the stack of the waiting task. */
struct ed_long_wait {
        struct ed_list link; /* in the loop's list until the end, or the call of 'fn' */
        int64_t since_ns;
        void (*fn)(struct ed_long_wait *wait);
};

/* Starts the loop's timer. */
ED_SHARED __attribute__((cold)) void ed_long_waits_watch(struct ed_loop *loop);

/*
 * Calls 'fn' once, from the loop, if ed_long_wait_end() does not come within a second.  'fn' may
 * neither begin nor end waits.
 */
static inline void ed_long_wait_begin(struct ed_loop *loop, struct ed_long_wait *wait,
                                      void (*fn)(struct ed_long_wait *wait))
{
        wait->since_ns = loop->now_ns;
        wait->fn = fn;
        ed_list_push_back(&loop->long_waits, &wait->link);
        if (ed_unlikely(!loop->long_timer.armed))
                ed_long_waits_watch(loop);
}

static inline void ed_long_wait_end(struct ed_long_wait *wait)
{
        ed_list_remove(&wait->link);
}

#endif
