/*
 * fetch/retry.h - the program's rules of another attempt, in the library's terms (eddy/retry.h).
 */
#ifndef ED_CMD_FETCH_RETRY_H
#define ED_CMD_FETCH_RETRY_H

#include <stdbool.h>

#include "eddy/retry.h"
#include "fetch/opts.h"

/* A longer Retry-After ends the attempts. */
#define ED_RETRY_AFTER_MAX_NS ((int64_t) 3600 * 1000000000)

/* The policy that --attempts and --backoff mean. */
void ed_retry_policy_init(struct eddy_retry_policy *policy, const struct ed_fetch_opts *opts);

/* The result of an attempt. */
struct ed_retry {
        int error;       /* negative, or 0: a response arrived */
        int status;      /* of the response */
        bool sent;       /* part of the request may have been sent */
        bool idempotent; /* the method */
        struct eddy_retry_hint hint;
};

/* Why no attempt follows, in place of a wait. */
enum {
        ED_RETRY_LAST = -1,     /* a success, a failure that stays, or the last of --attempts */
        ED_RETRY_TOO_LONG = -2, /* the wait would be too long, or reach over the deadline */
};

/*
 * Translate a result. A response is repeatable whatever the method is: the caller of the program
 * accepts that a server may do the work twice.
 */
void ed_retry_cause_of(const struct ed_retry *retry, struct eddy_retry_cause *ret_cause);

#endif
