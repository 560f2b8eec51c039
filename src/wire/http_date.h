/*
 * wire/http_date.h - dates in HTTP (RFC 9110, 5.6.7) and Retry-After.
 *
 * Pure functions on seconds since 1970, UTC, years 1601 to 9999.  No clock and
 * no time zone are read: the caller says what time it is.
 */
#ifndef ED_WIRE_HTTP_DATE_H
#define ED_WIRE_HTTP_DATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/def.h"

enum { ED_HTTP_DATE_BYTES = 29 };

/*
 * Read a date in any of the three forms: "Sun, 06 Nov 1994 08:49:37 GMT",
 * "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994".  A year of two
 * digits is the one that is at most 50 years after 'now_s' (the present).  The
 * day of the week must be one but need not fit; a leap second (60) is read as 59.
 *
 * Errors: -EINVAL
 */
ED_SHARED EDDY_MUST_USE int ed_http_date_parse(const char *text, size_t bytes, int64_t now_s,
                                               int64_t *ret_seconds);

/*
 * Write the first form, with a NUL behind.
 *
 * Errors: -ERANGE  not in the years 1601 to 9999
 */
ED_SHARED EDDY_MUST_USE int ed_http_date_format(int64_t seconds, char out[ED_HTTP_DATE_BYTES + 1]);

/*
 * Read Retry-After: seconds ("120", and "1.5" because servers send it) or a
 * date.  Gives how long to wait from 'now_s', 0 for a date that has passed,
 * at most INT64_MAX nanoseconds.
 *
 * Errors: -EINVAL  neither; signs, exponents, "inf" and the like included
 */
ED_SHARED EDDY_MUST_USE int ed_http_retry_after_parse(const char *text, size_t bytes, int64_t now_s,
                                                      int64_t *ret_delay_ns);

#endif
