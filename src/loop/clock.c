/*
 * loop/clock.c - how long a tick of the processor's counter is.
 *
 * Between a reading of the counter after a reading of the clock, and one
 * before a later reading of the clock, there are fewer ticks than between the
 * two readings of the clock: whatever comes in between, a tick is not taken
 * for shorter than it was on the whole.  The eighth is for a clock that is
 * being set right meanwhile, which makes it run slower or faster.
 */
#include "loop/clock.h"

#include <string.h>

/* Measured over at least this long, so that what a reading takes is no matter. */
static const int64_t measure_min_ns = 2000000;
/* So often: a guest may come to another processor. */
static const int64_t measure_every_ns = 100000000;

static void measure_begin(struct ed_clock *clock, int64_t now_ns)
{
        clock->begin_ticks = ed_ticks();
        clock->begin_ns = now_ns;
}

/*
 * 'ticks': a little before the clock said 'now_ns'.  Two measurements in a row
 * must agree: the counter of a machine that slept meanwhile may have gone on,
 * and the clock has not.
 */
static void measure(struct ed_clock *clock, uint64_t ticks, int64_t now_ns)
{
        uint64_t passed_ticks = ticks - clock->begin_ticks, length = 0, former = clock->measured;
        uint64_t passed_ns = (uint64_t) (now_ns - clock->begin_ns);

        /* Not if the counter went back, nor over hours in which nobody asked. */
        if (passed_ticks > 0 && passed_ticks <= INT64_MAX &&
            passed_ns <= UINT64_MAX >> (ED_CLOCK_BITS + 1))
                length = (passed_ns << ED_CLOCK_BITS) / passed_ticks;
        clock->measured = length;
        clock->fresh_ticks = 0;
        if (length > 0 && length <= former + former / 16 && length >= former - former / 16) {
                clock->tick_length = length + length / 8 + 1;
                clock->fresh_ticks =
                        ((uint64_t) (ED_CLOCK_FRESH_NS - 1) << ED_CLOCK_BITS) / clock->tick_length;
        }
        measure_begin(clock, now_ns);
}

void ed_clock_init(struct ed_clock *clock, struct ed_sys *sys)
{
        *clock = (struct ed_clock){ .now_ns = sys->ops->now(sys) };
        clock->goes_by_ticks = sys->clock_source && strcmp(sys->clock_source, ED_TICKS_SOURCE) == 0;
        if (clock->goes_by_ticks)
                measure_begin(clock, clock->now_ns);
}

int64_t ed_clock_read(struct ed_clock *clock, struct ed_sys *sys)
{
        int64_t passed_ns;
        uint64_t ticks;

        if (!clock->goes_by_ticks)
                return sys->ops->now(sys);
        ticks = ed_ticks();
        clock->now_ns = sys->ops->now(sys);
        clock->ticks = ticks;
        passed_ns = clock->now_ns - clock->begin_ns;
        if (passed_ns >= (clock->fresh_ticks ? measure_every_ns : measure_min_ns))
                measure(clock, ticks, clock->now_ns);
        return clock->now_ns;
}
