/*
 * fetch/retry.c - whether an attempt is repeated, and after which wait: full-jitter back-off or the
 * server's Retry-After. outcome.c lists which errors and statuses are retried.
 */
#include "fetch/retry.h"

#include <string.h>
#include <time.h>

#include "common/duration.h"
#include "eddy/http_date.h"
#include "eddy/time.h"
#include "fetch/outcome.h"
#include "fetch/run.h"

int64_t ed_retry_backoff(int64_t backoff_ns, unsigned failures, struct ed_random *random)
{
        int64_t limit_ns = backoff_ns;
        int64_t max_ns =
                backoff_ns > ED_RETRY_BACKOFF_MAX_NS ? backoff_ns : ED_RETRY_BACKOFF_MAX_NS;

        for (unsigned i = 1; i < failures && limit_ns < max_ns; i++)
                limit_ns *= 2;
        if (limit_ns > max_ns)
                limit_ns = max_ns;
        return (int64_t) ((double) limit_ns * ed_random_fraction(random));
}

int ed_retry_after_parse(const char *value, const char *date, int64_t now_s, int64_t *ret_ns)
{
        int64_t from_s;
        int err;

        if (!date || eddy_http_date_parse(date, strlen(date), now_s, &from_s) < 0)
                from_s = now_s;
        err = eddy_http_retry_after_parse(value, strlen(value), from_s, ret_ns);
        if (err >= 0 && *ret_ns > ED_DURATION_MAX_NS)
                *ret_ns = ED_DURATION_MAX_NS;
        return err;
}

bool ed_retry_fits(int64_t now_ns, int64_t wait_ns, int64_t deadline_ns)
{
        return deadline_ns == 0 || wait_ns < deadline_ns - now_ns;
}

int64_t ed_retry_wait(struct ed_fetch_run *run, const struct ed_retry *retry)
{
        int64_t wait_ns, after_ns;

        if (retry->attempts >= run->opts.attempts)
                return ED_RETRY_LAST;
        if (retry->error < 0 ? !ed_outcome_is_retried(retry->error, run->idempotent || !retry->sent)
                             : !ed_outcome_status_is_retried(retry->status))
                return ED_RETRY_LAST;
        wait_ns = ed_retry_backoff(run->opts.backoff_ns, retry->attempts, &run->random);
        if (retry->after &&
            ed_retry_after_parse(retry->after, retry->date, time(NULL), &after_ns) == 0) {
                if (after_ns > ED_RETRY_AFTER_MAX_NS)
                        return ED_RETRY_TOO_LONG;
                if (after_ns > wait_ns)
                        wait_ns = after_ns;
        }
        if (!ed_retry_fits(eddy_now(), wait_ns, eddy_scope_deadline(run->whole)))
                return ED_RETRY_TOO_LONG;
        return wait_ns;
}
