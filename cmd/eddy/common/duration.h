/*
 * common/duration.h - durations as people write them: 250ms, 2.5s, 1m.
 */
#ifndef ED_CMD_COMMON_DURATION_H
#define ED_CMD_COMMON_DURATION_H

#include <stddef.h>
#include <stdint.h>

#include "eddy/def.h"

/* A year, so that sums of a few of them and a clock fit. */
#define ED_DURATION_MAX_NS ((int64_t) 365 * 86400 * 1000000000)

enum { ED_DURATION_TEXT_BYTES = 24 };

/*
 * One number, decimals allowed, and one unit: us, ms, s, m or h.
 *
 * Errors: -EINVAL, and '*ret_why' says in a few words what is wrong
 */
EDDY_MUST_USE int ed_duration_parse(const char *text, int64_t *ret_ns, const char **ret_why);

/*
 * A plain number of seconds, decimals allowed ("1", "0.25"), up to 'end'
 * (NULL: to the NUL).
 *
 * Errors: -EINVAL  no such number, or above the maximum
 */
EDDY_MUST_USE int ed_duration_parse_seconds(const char *text, const char *end, int64_t *ret_ns);

/* For people, in at most three digits or two units: "250ms", "1.1s", "6m51s", "2h05m". */
void ed_duration_print(int64_t duration_ns, char text[ED_DURATION_TEXT_BYTES]);

#endif
