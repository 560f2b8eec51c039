/*
 * loop/clock.h - the time for deadlines, without asking the clock each time.
 *
 * Where the processor's counter runs evenly with the clock, the time is what
 * the clock said a few microseconds ago and what the counter has counted since.
 * How much a tick is, is measured, and made more by an eighth: the time comes
 * out late rather than early, but never by more than ED_CLOCK_FRESH_NS.
 */
#ifndef ED_LOOP_CLOCK_H
#define ED_LOOP_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/def.h"
#include "co/ticks.h"
#include "sys/sys.h"

/* What the clock said is good for so long. */
#define ED_CLOCK_FRESH_NS ((int64_t) 16000)

/* A length of time is this many bits of a nanosecond finer. */
enum { ED_CLOCK_BITS = 20 };

struct ed_clock {
        uint64_t ticks;       /* a little before the clock was read last */
        int64_t now_ns;       /* what it said */
        uint64_t fresh_ticks; /* for so many that is good; 0: it is to be read each time */
        uint64_t tick_length; /* in 2^-ED_CLOCK_BITS ns, and never too short */
        uint64_t measured;    /* of the last measurement, without the eighth; 0: it failed */
        bool goes_by_ticks;   /* the table's clock is made of the counter */
        uint64_t begin_ticks; /* where a tick is measured from: a little after */
        int64_t begin_ns;     /* the clock said this */
};

void ed_clock_init(struct ed_clock *clock, struct ed_sys *sys);

/* Read the clock, and measure a tick now and then. */
int64_t ed_clock_read(struct ed_clock *clock, struct ed_sys *sys);

/*
 * The counter stands at 'ticks', and what the clock said is good.  A tick that
 * has begun counts, and so does the nanosecond that had begun at the reading.
 */
static inline int64_t ed_clock_at(const struct ed_clock *clock, uint64_t ticks)
{
        return clock->now_ns + 1 +
               (int64_t) ((ticks - clock->ticks + 1) * clock->tick_length >> ED_CLOCK_BITS);
}

/* A time that is not before now, and at most ED_CLOCK_FRESH_NS after it. */
static inline int64_t ed_clock_not_before(struct ed_clock *clock, struct ed_sys *sys)
{
        if (ed_likely(clock->fresh_ticks)) {
                uint64_t ticks = ed_ticks();

                if (ed_likely(ticks - clock->ticks < clock->fresh_ticks))
                        return ed_clock_at(clock, ticks);
        }
        return ed_clock_read(clock, sys);
}

#endif
