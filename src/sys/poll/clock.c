/*
 * sys/poll/clock.c - see clock.h.
 */
#include "sys/poll/clock.h"

#include <time.h>

enum { NS_PER_S = 1000000000 };

static int64_t clock_ns(clockid_t id)
{
        struct timespec ts;

        (void) clock_gettime(id, &ts);
        return (int64_t) ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

int64_t ed_sys_now(void)
{
        return clock_ns(CLOCK_MONOTONIC);
}

int64_t ed_sys_time_of_day(void)
{
        return clock_ns(CLOCK_REALTIME);
}

int64_t ed_clock_now(struct ed_sys *sys)
{
        (void) sys;
        return clock_ns(CLOCK_MONOTONIC);
}

int64_t ed_clock_time_of_day(struct ed_sys *sys)
{
        (void) sys;
        return clock_ns(CLOCK_REALTIME);
}
