/*
 * fetch/retry.c - see retry.h. The attempts are in job.c.
 */
#include "fetch/retry.h"

void ed_retry_policy_init(struct eddy_retry_policy *policy, const struct ed_fetch_opts *opts)
{
        *policy = (struct eddy_retry_policy){
                .attempts = opts->attempts,
                .base_ns = opts->backoff_ns ? opts->backoff_ns : -1,
                .wait_max_ns = ED_RETRY_AFTER_MAX_NS,
        };
}

void ed_retry_cause_of(const struct ed_retry *retry, struct eddy_retry_cause *ret_cause)
{
        *ret_cause = (struct eddy_retry_cause){
                .error = retry->error,
                .status = retry->status,
                .repeatable = retry->error == 0 || retry->idempotent || !retry->sent,
                .hint = retry->hint,
        };
}
