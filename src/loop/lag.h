/*
 * loop/lag.h - a histogram of the durations of a loop's turns, in bounded memory.
 */
#ifndef ED_LOOP_LAG_H
#define ED_LOOP_LAG_H

#include <stdint.h>

#include "eddy/run.h"

/* Counts a turn that took 'turn_ns'.  A zeroed histogram is empty. */
void ed_lag_add(struct eddy_lag *lag, int64_t turn_ns);

#endif
