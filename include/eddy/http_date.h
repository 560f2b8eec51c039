/*
 * eddy/http_date.h - dates in HTTP (RFC 9110, 5.6.7), and Retry-After (RFC 9110,
 * 10.2.3).
 *
 * Times are seconds since 1970-01-01 00:00:00 UTC, as time() returns them, in the
 * years 1601 to 9999.  These functions read no clock, no time zone and no locale:
 * the caller passes the present time.
 *
 * Suspends: no.
 * Threads:  any.
 */
#ifndef EDDY_HTTP_DATE_H
#define EDDY_HTTP_DATE_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

/* The length of a formatted date, without a NUL. */
enum { EDDY_HTTP_DATE_BYTES = 29 };

/*
 * Read a date of 'bytes' bytes in one of the three forms of RFC 9110, 5.6.7:
 * "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT" and
 * "Sun Nov  6 08:49:37 1994".  A year of two digits is at most 50 years after
 * 'now_s', the present time.  The name of the day need not fit the date.  A leap
 * second (60) is read as 59.  On failure '*ret_seconds' is unchanged.
 *
 * Suspends: no.
 * Errors: -EINVAL  not one of the three forms, or a date that does not exist
 */
EDDY_API EDDY_MUST_USE int eddy_http_date_parse(const char *text, size_t bytes, int64_t now_s,
                                                int64_t *ret_seconds);

/*
 * Write a date in the first form, with a NUL after it.  On failure 'out' is
 * unchanged.
 *
 * Suspends: no.
 * Errors: -ERANGE  not in the years 1601 to 9999
 */
EDDY_API EDDY_MUST_USE int eddy_http_date_format(int64_t seconds,
                                                 char out[EDDY_HTTP_DATE_BYTES + 1]);

/*
 * Read the value of Retry-After, 'bytes' bytes long: seconds ("120", and "1.5"
 * because servers send it) or a date.  Servers also send a time of day as a number: above
 * 10^9 these are seconds since 1970, above 10^11 milliseconds.  '*ret_delay_ns' is the time to wait, in
 * nanoseconds: 0 for a date that has passed, at most INT64_MAX.  A date counts from
 * 'now_s'.  Pass the time of the response's Date header to be independent of the
 * server's clock.  On failure '*ret_delay_ns' is unchanged.
 *
 * Suspends: no.
 * Errors: -EINVAL  neither a number nor a date; a sign, an exponent and "inf" are
 *                  not part of a number
 */
EDDY_API EDDY_MUST_USE int eddy_http_retry_after_parse(const char *text, size_t bytes,
                                                       int64_t now_s, int64_t *ret_delay_ns);

EDDY_END_DECLS

#endif
