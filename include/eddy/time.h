/*
 * eddy/time.h - durations, the loop's clock, sleeping.
 *
 * Times are int64_t nanoseconds, named with the suffix _ns.  A deadline is a
 * point on eddy_now()'s clock, which never goes back and has nothing to do
 * with the time of day.
 */
#ifndef EDDY_TIME_H
#define EDDY_TIME_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

/* Of whole numbers, constant where 'n' is; and of fractions: EDDY_SEC(0.5). */
#define EDDY_US(n)  ((int64_t) (INT64_C(1000) * (n)))
#define EDDY_MS(n)  ((int64_t) (INT64_C(1000000) * (n)))
#define EDDY_SEC(n) ((int64_t) (INT64_C(1000000000) * (n)))
#define EDDY_MIN(n) ((int64_t) (INT64_C(60000000000) * (n)))

/*
 * Now, on the loop's monotonic clock.  Outside eddy_run(): the system's.
 *
 * Suspends: no.  Threads: any.
 */
EDDY_API int64_t eddy_now(void);

/*
 * Let at least 'duration_ns' pass.  0 or less lets every task that is ready
 * run once, and returns.
 *
 * Suspends: yes.
 * Errors: -ECANCELED
 */
EDDY_API int eddy_sleep(int64_t duration_ns);

EDDY_END_DECLS

#endif
