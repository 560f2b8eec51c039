/*
 * eddy/retry.h - another attempt after a failure that may be temporary.
 *
 *     static const struct eddy_retry_policy policy = { .attempts = 5 };
 *
 *     err = eddy_retry_call(&policy, load_page, &page);
 *
 * Waits between attempts are random ("full jitter"): from 0 up to a bound that
 * doubles with each failure.  A server's Retry-After can make them longer.  A wait that
 * would reach the deadline of an enclosing scope is not begun: the failure is returned
 * at once.
 *
 * An HTTP response of any status is a success of the client, so eddy_retry_call() does not
 * see a 503.  For HTTP, and for control over each attempt:
 *
 *     struct eddy_retry retry;
 *
 *     eddy_retry_begin(&retry, &policy);
 *     for (;;) {
 *             struct eddy_retry_cause cause = { .repeatable = true };
 *
 *             cause.error = attempt(&cause);      stores status and hint in 'cause'
 *             if (cause.error == 0 && cause.status < 400)
 *                     return 0;
 *             ... release what the attempt holds ...
 *             err = eddy_retry_wait(&retry, &cause);
 *             if (err < 0)
 *                     return err == -ECANCELED || cause.error == 0 ? err : cause.error;
 *     }
 */
#ifndef EDDY_RETRY_H
#define EDDY_RETRY_H

#include <stdbool.h>

#include "eddy/def.h"
#include "eddy/task.h"

EDDY_BEGIN_DECLS

/*
 * A budget limits the retries of all work that shares it, so that a service that
 * fails gets little more load than usual.  It allows 'per_second' retries a second, and
 * 'percent' retries for each 100 pieces of work that begin.  It keeps at most the unused
 * retries of ten seconds.  Private, but ready to use when zero: 10 a second and 20 percent.
 *
 * Threads: any; loops may share it.
 */
typedef struct eddy_retry_budget {
        uint32_t per_second;
        uint32_t percent;
        int64_t full_ns;
        uintptr_t reserved[2];
} eddy_retry_budget;

/* eddy_retry_budget budget = EDDY_RETRY_BUDGET(10, 20); an argument of 0 is its default. */
#define EDDY_RETRY_BUDGET(per_second, percent)                                                     \
        {                                                                                          \
                (per_second), (percent), 0,                                                        \
                {                                                                                  \
                        0                                                                          \
                }                                                                                  \
        }

/* All zero is the default. */
struct eddy_retry_policy {
        uint32_t attempts EDDY_UNSET; /* with the first one; 0: 3 */
        /* bound of the first wait; 0: half a second; below 0: no wait */
        int64_t base_ns EDDY_UNSET;
        int64_t cap_ns EDDY_UNSET; /* highest bound; 0: a minute, or 'base_ns' if that is longer */
        int64_t wait_max_ns EDDY_UNSET; /* longest wait that a server may ask for; 0: two minutes */
        eddy_retry_budget *budget EDDY_UNSET; /* borrowed; NULL: none */

        /* Returns whether eddy_retry_call() repeats its function after this error; NULL:
         * eddy_retry_error_is_passing(). */
        bool (*is_passing)(int error, void *arg) EDDY_UNSET;

        /* Called before each wait of eddy_retry_call(); NULL: not. */
        void (*before_wait)(int error, uint32_t attempts, int64_t wait_ns, void *arg) EDDY_UNSET;
        void *arg EDDY_UNSET;             /* of these two functions */
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Call fn(arg) until it returns 0 or more, or an error that is not temporary, or the
 * policy allows no further attempt.  Returns the last result of fn.  A cancel ends a wait
 * at once.
 *
 * Suspends: yes.
 * Errors: those of fn; -ECANCELED
 * Owns: borrows 'policy' for the call.  NULL: the defaults.
 */
EDDY_API int eddy_retry_call(const struct eddy_retry_policy *policy, eddy_task_fn *fn, void *arg);

/* The attempts of one piece of work.  Private: set by eddy_retry_begin(). */
struct eddy_retry {
        const struct eddy_retry_policy *policy;
        uint32_t attempts; /* made so far */
        uintptr_t reserved[4];
};

/*
 * Begin a piece of work: its first attempt follows.
 *
 * Suspends: no.
 * Owns: borrows 'policy' until the last call with 'retry'.  NULL: the defaults.
 */
EDDY_API void eddy_retry_begin(struct eddy_retry *retry, const struct eddy_retry_policy *policy);

/* A server's advice about a retry.  All zero: none. */
struct eddy_retry_hint {
        bool has_wait;
        int64_t wait_ns; /* from now */
        int should;      /* above 0: the server asks for a retry; below 0: against it */
};

/* Why an attempt failed. */
struct eddy_retry_cause {
        int error EDDY_UNSET;  /* below 0; or 0: a response arrived */
        int status EDDY_UNSET; /* of an HTTP response; 0: none */
        /* Doing the work twice does no harm: the method is idempotent, nothing was sent, the request
         * has an idempotency key, or the caller accepts a repetition. */
        bool repeatable EDDY_UNSET;
        struct eddy_retry_hint hint EDDY_UNSET;
        uintptr_t reserved[2] EDDY_UNSET; /* zero */
};

/*
 * Decide whether another attempt is made, and store the wait before it: the longer of
 * the random wait and the server's.  Counts the attempt, and takes it from the budget.
 *
 * Suspends: no.
 * Errors: EDDY_E_RETRY_FINAL     the cause is not temporary, or a repetition may do harm
 *         EDDY_E_RETRY_ATTEMPTS  all attempts were made
 *         EDDY_E_RETRY_WAIT      the server asks for a longer wait than 'wait_max_ns'
 *         EDDY_E_RETRY_DEADLINE  an enclosing scope's deadline comes before the wait's end
 *         EDDY_E_RETRY_BUDGET    the budget is used up
 *         EDDY_E_RUN_NOT_RUNNING
 */
EDDY_API EDDY_MUST_USE int eddy_retry_next(struct eddy_retry *retry,
                                           const struct eddy_retry_cause *cause,
                                           int64_t *ret_wait_ns);

/*
 * Call eddy_retry_next(), and then wait.  Before this call, release what the failed
 * attempt holds, such as a response.  Returns 0 if another attempt follows.
 *
 * Suspends: yes.
 * Errors: those of eddy_retry_next(); -ECANCELED
 */
EDDY_API EDDY_MUST_USE int eddy_retry_wait(struct eddy_retry *retry,
                                           const struct eddy_retry_cause *cause);

/*
 * Returns whether another attempt may get another status: after 408, 425, 429, and 500 to
 * 599 except 501 and 505.  409 is final: the caller must resolve the conflict.
 * After 408, 425, 429 and 503 the server has not done the work, so eddy_retry_next()
 * repeats all requests; after the others only repeatable ones.
 *
 * Suspends: no.  Threads: any.
 */
EDDY_API bool eddy_retry_status_is_passing(int status);

/*
 * Returns true if an error may be temporary.  Examples of final errors: -ECANCELED,
 * -ENOMEM, -EINVAL, -ENOSPC, -EACCES, refused certificates, invalid requests and
 * responses, and names that do not exist.  -ENOENT may be temporary: a server makes the
 * path of its Unix socket when it starts.  All errors of pools and of the libraries for
 * databases are final, EDDY_E_PG_RETRY and EDDY_E_PG_CONNECT included: set 'is_passing'
 * of the policy to repeat these.
 *
 * Suspends: no.  Threads: any.
 */
EDDY_API bool eddy_retry_error_is_passing(int error);

/* Values of headers of a response; NULL: the response has no such header. */
struct eddy_retry_headers {
        const char *retry_after; /* Retry-After: seconds ("2", "1.5"), or a date, also as the
                                    seconds or milliseconds since 1970 */
        const char *
                retry_after_ms; /* retry-after-ms: milliseconds ("1500", "0.5"); takes precedence */
        const char *should_retry; /* x-should-retry: "true" or "false" */
        const char *date;         /* Date: a date in Retry-After counts from here */
};

/*
 * Read what a server says about a retry.  'now_s' is the time of day in seconds since 1970, from which
 * a date counts if the response has no valid Date.  Values that do not follow their
 * format are ignored.
 *
 * Suspends: no.  Threads: any.
 */
EDDY_API void eddy_retry_hint_read(const struct eddy_retry_headers *headers, int64_t now_s,
                                   struct eddy_retry_hint *ret_hint);

EDDY_END_DECLS

#endif
