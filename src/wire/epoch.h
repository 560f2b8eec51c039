/*
 * wire/epoch.h - reads a number that may be a time of day instead of a delay.
 *
 * Some servers send the seconds or the milliseconds since 1970 in Retry-After and in the headers of
 * limits.  A delay of 10^9 seconds would be 31 years, and 10^11 seconds since 1970 are in the year
 * 5138.
 */
#ifndef ED_WIRE_EPOCH_H
#define ED_WIRE_EPOCH_H

#include <stdbool.h>
#include <stdint.h>

#define ED_EPOCH_MIN_S  INT64_C(1000000000)
#define ED_EPOCH_MIN_MS INT64_C(100000000000)

/* Returns the delay from now until a time by the clock of 'now_s'. */
static inline int64_t ed_epoch_from_now(int64_t at_ns, int64_t now_s)
{
        int64_t now_ns;

        if (at_ns == INT64_MAX)
                return INT64_MAX;
        if (__builtin_mul_overflow(now_s, INT64_C(1000000000), &now_ns))
                return 0;
        return at_ns > now_ns ? at_ns - now_ns : 0;
}

/*
 * Returns the delay that a number states.  'number' is its whole part, and 'ns' the number as seconds,
 * in nanoseconds; both are at most INT64_MAX.
 */
static inline int64_t ed_epoch_delay(int64_t number, int64_t ns, int64_t now_s)
{
        if (number <= ED_EPOCH_MIN_S)
                return ns;
        if (number > ED_EPOCH_MIN_MS)
                ns = number < INT64_MAX / 1000000 ? number * 1000000 : INT64_MAX;
        return ed_epoch_from_now(ns, now_s);
}

#endif
