/*
 * mock/latency.h - waits that look like those of a real server.
 */
#ifndef ED_CMD_MOCK_LATENCY_H
#define ED_CMD_MOCK_LATENCY_H

#include <stdint.h>

#include "common/random.h"

#define ED_LATENCY_MAX_NS ((int64_t) 3600 * 1000000000)

/*
 * One wait of a log-normal distribution with the given median and 99th
 * percentile; with 'p99_ns' 0 or equal to the median, always the median.  At
 * most ED_LATENCY_MAX_NS.
 */
int64_t ed_latency_draw(int64_t median_ns, int64_t p99_ns, struct ed_random *random);

#endif
