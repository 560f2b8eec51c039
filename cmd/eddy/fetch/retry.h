/*
 * fetch/retry.h - the program's rules for retries, in the library's terms (eddy/retry.h).
 */
#ifndef ED_CMD_FETCH_RETRY_H
#define ED_CMD_FETCH_RETRY_H

#include <stdbool.h>

#include "eddy/retry.h"
#include "fetch/opts.h"

/* A longer Retry-After ends the attempts. */
#define ED_RETRY_AFTER_MAX_NS ((int64_t) 3600 * 1000000000)

/* Set the policy that --attempts and --backoff describe. */
void ed_retry_policy_init(struct eddy_retry_policy *policy, const struct ed_fetch_opts *opts);

/* The result of an attempt. */
struct ed_retry {
        int error;       /* negative, or 0: a response arrived */
        int status;      /* of the response */
        bool sent;       /* part of the request may have been sent */
        bool idempotent; /* the request */
        struct eddy_retry_hint hint;
};

/* The reason why no attempt follows, in place of a wait. */
enum {
        ED_RETRY_LAST = -1,     /* a success, a permanent failure, or the last of --attempts */
        ED_RETRY_TOO_LONG = -2, /* the wait would be too long, or end after the deadline */
};

/*
 * Translate a result. A request that was answered is repeatable with any method: the user of the
 * program accepts that a server may carry out the request twice.
 */
void ed_retry_cause_of(const struct ed_retry *retry, struct eddy_retry_cause *ret_cause);

#endif
