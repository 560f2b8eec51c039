/*
 * eddy/time.h - durations, the loop's clock, the time of day, sleeping.
 *
 * Times are int64_t nanoseconds, with names that end in _ns.  A deadline is a
 * time of eddy_now()'s clock, which is monotonic and not related to the time of
 * day.  Times of day as text are in eddy/rfc3339.h.
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
 * Returns the time of day: nanoseconds since 1970-01-01 00:00:00 UTC, without leap
 * seconds.  The clock of the machine can be set, so two calls may return times in the
 * wrong order; measure durations with eddy_now().  In a test of eddy/test.h both clocks
 * are virtual.
 *
 * Suspends: no.  Threads: any.
 */
EDDY_API int64_t eddy_time_of_day(void);

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
