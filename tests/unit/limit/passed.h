/*
 * passed.h - the time since the begin of a simulated run, whose clock does not begin at 0.
 */
#ifndef PASSED_H
#define PASSED_H

#include "sim_run.h"

#define CLOCK_BEGINS_NS EDDY_SEC(1000)

static inline int64_t passed_ns(void)
{
        return eddy_now() - CLOCK_BEGINS_NS;
}

#endif
