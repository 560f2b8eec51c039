/*
 * fetch/retry.h - whether an attempt is repeated, and the wait before the next one.
 */
#ifndef ED_CMD_FETCH_RETRY_H
#define ED_CMD_FETCH_RETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/random.h"
#include "eddy/def.h"

#define ED_RETRY_BACKOFF_MAX_NS ((int64_t) 60 * 1000000000)

struct ed_fetch_run;

/* A longer Retry-After ends the attempts. */
#define ED_RETRY_AFTER_MAX_NS ((int64_t) 3600 * 1000000000)

/*
 * Full jitter: a random wait from 0 up to 'backoff_ns', doubled for each failed attempt
 * ('failures', from 1), but at most a minute (or 'backoff_ns', if longer).
 */
int64_t ed_retry_backoff(int64_t backoff_ns, unsigned failures, struct ed_random *random);

/*
 * As eddy_http_retry_after_parse(), but a date counts from the response's own 'date' header, so
 * that clocks need not agree. Without a valid date header (NULL), counts from 'now_s', seconds
 * since 1970. At most ED_DURATION_MAX_NS.
 *
 * Errors: -EINVAL  neither a number nor a date; ignore the header
 */
EDDY_MUST_USE int ed_retry_after_parse(const char *value, const char *date, int64_t now_s,
                                       int64_t *ret_ns);

/* Returns true if a wait of 'wait_ns' from 'now_ns' ends before a deadline (0: none). */
bool ed_retry_fits(int64_t now_ns, int64_t wait_ns, int64_t deadline_ns);

/* The result of an attempt. */
struct ed_retry {
        unsigned attempts; /* made, with this one */
        int error;         /* negative, or 0: a response arrived */
        int status;        /* of the response */
        bool sent;         /* part of the request may have been sent */
        const char *after; /* the response's Retry-After, or NULL */
        const char *date;  /* the response's Date, or NULL */
};

/* Results of ed_retry_wait() without a wait. */
enum {
        ED_RETRY_LAST = -1,     /* a success, a failure that stays, or the last of --attempts */
        ED_RETRY_TOO_LONG = -2, /* the wait would be too long, or reach over the deadline */
};

/* Returns the wait before the next attempt, or why this one is the last. */
int64_t ed_retry_wait(struct ed_fetch_run *run, const struct ed_retry *retry);

#endif
