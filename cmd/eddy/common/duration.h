/*
 * common/duration.h - durations such as 250ms, 2.5s, 1m.
 */
#ifndef ED_CMD_COMMON_DURATION_H
#define ED_CMD_COMMON_DURATION_H

#include <stddef.h>
#include <stdint.h>

#include "eddy/def.h"

/* A year, so that sums of several durations and a clock do not overflow. */
#define ED_DURATION_MAX_NS ((int64_t) 365 * 86400 * 1000000000)

enum { ED_DURATION_TEXT_BYTES = 24 };

/*
 * Parse a number, with optional decimals, and a unit: us, ms, s, m or h.
 *
 * Errors: -EINVAL, and '*ret_why' is a short explanation
 */
EDDY_MUST_USE int ed_duration_parse(const char *text, int64_t *ret_ns, const char **ret_why);

/*
 * Parse a plain number of seconds, with optional decimals ("1", "0.25"), up to 'end' (NULL: to the
 * NUL).
 *
 * Errors: -EINVAL  not a number, or above the maximum
 */
EDDY_MUST_USE int ed_duration_parse_seconds(const char *text, const char *end, int64_t *ret_ns);

/* Print at most three digits or two units: "250ms", "1.1s", "6m51s", "2h05m". */
void ed_duration_print(int64_t duration_ns, char text[ED_DURATION_TEXT_BYTES]);

#endif
