/*
 * fetch/date.h - the dates of HTTP (RFC 9110, 5.6.7).
 */
#ifndef ED_CMD_FETCH_DATE_H
#define ED_CMD_FETCH_DATE_H

#include <stdint.h>

#include "eddy/def.h"

/*
 * Seconds since 1970 of a date in one of the three forms that a recipient
 * has to accept.
 *
 * Errors: -EINVAL
 */
EDDY_MUST_USE int ed_date_parse(const char *text, int64_t *ret_seconds);

#endif
