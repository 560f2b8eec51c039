/*
 * mock/latency.h - waits that resemble a real server's.
 */
#ifndef ED_CMD_MOCK_LATENCY_H
#define ED_CMD_MOCK_LATENCY_H

#include <stdint.h>

#include "common/random.h"

#define ED_LATENCY_MAX_NS ((int64_t) 3600 * 1000000000)

/*
 * Returns a random wait from a log-normal distribution with the given median and 99th percentile;
 * if 'p99_ns' is 0 or equal to the median, always the median. At most ED_LATENCY_MAX_NS.
 */
int64_t ed_latency_draw(int64_t median_ns, int64_t p99_ns, struct ed_random *random);

#endif
