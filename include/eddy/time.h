/*
 * eddy/time.h - durations, the loop's clock, sleeping.
 *
 * Times are int64_t nanoseconds, with names that end in _ns.  A deadline is a
 * time of eddy_now()'s clock, which is monotonic and not related to the time of
 * day.
 */
#ifndef EDDY_TIME_H
#define EDDY_TIME_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

/* From whole numbers (constant if 'n' is) and from fractions: EDDY_SEC(0.5). */
#define EDDY_US(n)  ((int64_t) (INT64_C(1000) * (n)))
#define EDDY_MS(n)  ((int64_t) (INT64_C(1000000) * (n)))
#define EDDY_SEC(n) ((int64_t) (INT64_C(1000000000) * (n)))
#define EDDY_MIN(n) ((int64_t) (INT64_C(60000000000) * (n)))

/*
 * Returns the time of the loop's monotonic clock; outside eddy_run(), of the
 * system's.
 *
 * Suspends: no.  Threads: any.
 */
EDDY_API int64_t eddy_now(void);

/*
 * Sleep for at least 'duration_ns'.  0 or less lets every ready task run once,
 * and then returns.
 *
 * Suspends: yes.
 * Errors: -ECANCELED
 */
EDDY_API int eddy_sleep(int64_t duration_ns);

EDDY_END_DECLS

#endif
