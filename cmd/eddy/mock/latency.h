/*
 * mock/latency.h - waits that resemble a real server's.
 */
#ifndef ED_CMD_MOCK_LATENCY_H
#define ED_CMD_MOCK_LATENCY_H

#include <stdint.h>

#include "common/random.h"
#include "eddy/def.h"

#define ED_LATENCY_MAX_NS ((int64_t) 3600 * 1000000000)

enum ed_latency_kind {
        ED_LATENCY_CONSTANT,    /* always 'ns' */
        ED_LATENCY_LOGNORMAL,   /* median 'ns', and 'shape' is the logarithm's deviation */
        ED_LATENCY_UNIFORM,     /* from 'ns' to 'max_ns' */
        ED_LATENCY_EXPONENTIAL, /* mean 'ns' */
        ED_LATENCY_PARETO,      /* at least 'ns'; the tail falls with the power 'shape' */
};

/* A distribution. All zero: no wait. */
struct ed_latency {
        enum ed_latency_kind kind;
        int64_t ns;
        int64_t max_ns;
        double shape;
};

/*
 * Parse 200ms, lognormal:200ms:0.5, uniform:10ms:50ms, exp:100ms or pareto:50ms:1.5.
 *
 * Errors: -EINVAL, and '*ret_why' is a short explanation
 */
EDDY_MUST_USE int ed_latency_parse(const char *text, struct ed_latency *ret_latency,
                                   const char **ret_why);

/*
 * Returns the log-normal distribution with this median and 99th percentile. If 'p99_ns' is 0 or not
 * above the median, the wait is always the median.
 */
struct ed_latency ed_latency_of_p99(int64_t median_ns, int64_t p99_ns);

/* Returns a random wait, at most ED_LATENCY_MAX_NS. */
int64_t ed_latency_draw(const struct ed_latency *latency, struct ed_random *random);

#endif
