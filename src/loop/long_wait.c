/*
 * loop/long_wait.c - the timer that finds long waits.
 */
#include "loop/long_wait.h"

/* Waits that are handled before fibers run again: releasing a stack takes a few microseconds. */
enum { WAITS_AT_ONCE = 64 };

static const int64_t long_wait_ns = 1000000000;

/* The oldest wait is the first one. */
static int64_t due_ns(const struct ed_loop *loop)
{
        const struct ed_list *first = loop->long_waits.next;

        return ed_time_after(ed_container_of(first, struct ed_long_wait, link)->since_ns,
                             long_wait_ns);
}

static void on_timer(struct ed_timer *timer)
{
        struct ed_loop *loop = ed_container_of(timer, struct ed_loop, long_timer);

        ed_quiet_timer_fired(loop);
        for (int i = 0; i < WAITS_AT_ONCE && !ed_list_is_empty(&loop->long_waits) &&
                        due_ns(loop) <= loop->now_ns;
             i++) {
                struct ed_list *link = ed_list_pop_front(&loop->long_waits);
                struct ed_long_wait *wait = ed_container_of(link, struct ed_long_wait, link);

                wait->fn(wait);
        }
        if (!ed_list_is_empty(&loop->long_waits))
                ed_long_waits_watch(loop);
}

void ed_long_waits_watch(struct ed_loop *loop)
{
        ed_timer_init(&loop->long_timer, on_timer);
        ed_quiet_timer_arm(loop, &loop->long_timer, due_ns(loop));
}
