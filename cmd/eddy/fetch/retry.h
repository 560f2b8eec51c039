/*
 * fetch/retry.h - how long to wait before the next attempt.
 */
#ifndef ED_CMD_FETCH_RETRY_H
#define ED_CMD_FETCH_RETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/random.h"
#include "eddy/def.h"

#define ED_RETRY_BACKOFF_MAX_NS ((int64_t) 60 * 1000000000)

/* A server that asks for more than this does not want to be asked again. */
#define ED_RETRY_AFTER_MAX_NS ((int64_t) 3600 * 1000000000)

/*
 * Full jitter: anything from 0 up to 'backoff_ns' doubled with each attempt
 * that failed ('failures', from 1), but at most a minute (or 'backoff_ns', if
 * that is more).
 */
int64_t ed_retry_backoff(int64_t backoff_ns, unsigned failures, struct ed_random *random);

/*
 * eddy_http_retry_after_parse(), with a date counted from the response's own 'date'
 * header, so that clocks need not agree.  Without that header (NULL), or if it is
 * not a date, from 'now_s', seconds since 1970.  At most ED_DURATION_MAX_NS.
 *
 * Errors: -EINVAL  neither a number nor a date; ignore the header
 */
EDDY_MUST_USE int ed_retry_after_parse(const char *value, const char *date, int64_t now_s,
                                       int64_t *ret_ns);

/*
 * Whether waiting 'wait_ns' from 'now_ns' leaves anything of a deadline (0:
 * there is none).
 */
bool ed_retry_fits(int64_t now_ns, int64_t wait_ns, int64_t deadline_ns);

#endif
