/*
 * loop/lag.h - how long turns of a loop took, in bounded memory.
 */
#ifndef ED_LOOP_LAG_H
#define ED_LOOP_LAG_H

#include <stdint.h>

#include "eddy/run.h"

/* Count a turn that took 'turn_ns'.  A histogram of zeros is an empty one. */
void ed_lag_add(struct eddy_lag *lag, int64_t turn_ns);

#endif
