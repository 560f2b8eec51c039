/*
 * eddy/rfc3339.h - times as text: "2026-11-23T04:05:06.789Z" (RFC 3339, a profile of
 * ISO 8601).
 *
 * Times are nanoseconds since 1970-01-01 00:00:00 UTC, as eddy_time_of_day() returns
 * them.  An int64_t can hold times from 1677-09-21 to 2262-04-11.  These functions read
 * no clock, no time zone and no locale.
 *
 *     char text[EDDY_RFC3339_TEXT_BYTES];
 *
 *     eddy_rfc3339_format(eddy_time_of_day(), 3, text);
 */
#ifndef EDDY_RFC3339_H
#define EDDY_RFC3339_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

/* The size of the longest text that eddy_rfc3339_format() writes, with its NUL. */
enum { EDDY_RFC3339_TEXT_BYTES = 31 };

/*
 * Read a time of 'bytes' bytes, by the grammar of RFC 3339, 5.6, and in no other
 * form: "t" and "z" may be lower case, a fraction has one or more digits, and an offset
 * from -23:59 to +23:59 may be in place of "Z".  Digits after the ninth of a fraction are
 * dropped.  "-00:00", a time whose local offset is unknown, is UTC (RFC 3339, 4.3).
 *
 * A leap second (60) is accepted at the end of a month in UTC (RFC 3339, 5.7).  The
 * clocks of computers have no such second; the result is the last nanosecond of the
 * second before it, so that times keep their order.  On failure '*ret_time_ns' is
 * unchanged.
 *
 * Suspends: no.
 * Threads:  any.
 * Errors: -EINVAL  another form, or a date or time that does not exist
 *         -ERANGE  a time that an int64_t cannot hold, such as one of year 0000 or 9999
 */
EDDY_API EDDY_MUST_USE int eddy_rfc3339_parse(const char *text, size_t bytes, int64_t *ret_time_ns);

/*
 * Write a time in UTC, with a "Z" and a NUL after it.  'digits' is the number of digits of
 * the fraction, 0 to 9 (a larger number counts as 9).  Further digits are cut off, not
 * rounded, so that the text is never later than the time.  Returns the length of the text,
 * without the NUL.  Cannot fail.
 *
 * Suspends: no.
 * Threads:  any.
 */
EDDY_API size_t eddy_rfc3339_format(int64_t time_ns, unsigned digits,
                                    char out[EDDY_RFC3339_TEXT_BYTES]);

EDDY_END_DECLS

#endif
