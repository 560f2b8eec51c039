/*
 * batch/run/job_verdict.c - see job_verdict.h.
 */
#include "batch/run/job_verdict.h"

#include <errno.h>
#include <string.h>

#include "batch/answer/usage.h"
#include "batch/run/job_counts.h"
#include "batch/run/job_endpoint.h"
#include "batch/run/job_rows.h"
#include "batch/run/job_trial.h"
#include "batch/run/key_use.h"
#include "common/outcome.h"
#include "eddy/error.h"

/* A status after which a request is repeated. */
enum { STATUS_AGAIN = 500 };

/* Returns true if the refusal is about the request: then it counts as an attempt. */
static bool is_refused_alone(struct ed_batch_job *job)
{
        return ed_endpoint_refuses_one(&job->unit->run->endpoints, job->attempt.endpoint,
                                       job->request->url, &job->own_refusal);
}

/* Returns true if there was no connection to the server. */
static bool is_unreached(const struct ed_attempt *attempt)
{
        const char *code = ed_outcome_of(attempt->error)->code;

        return attempt->endpoint && attempt->error < 0 &&
               (strcmp(code, "connect_error") == 0 || strcmp(code, "dns_error") == 0 ||
                strcmp(code, "tls_error") == 0);
}

/* Returns a cause for another attempt, after the wait that the server asks for. */
static struct eddy_retry_cause cause_again(const struct ed_attempt *attempt)
{
        struct eddy_retry_cause cause = { .status = STATUS_AGAIN,
                                          .repeatable = true,
                                          .hint = attempt->hint };

        cause.hint.should = 1;
        return cause;
}

/*
 * Returns true if the answer is about the quota of a key. A host of absolute URLs to which no key was
 * sent may want money for a single page.
 */
static bool is_about_quota(const struct ed_attempt *attempt)
{
        return !ed_attempt_is_ok(attempt) && attempt->refusal.meaning == ED_MEANS_USED_UP &&
               (attempt->endpoint->is_main || ed_attempt_has_credentials(attempt));
}

/*
 * Returns true if a failure is final: all attempts were made, or another one cannot help. Others
 * depend on the API key, an option, this machine, the network, or the time. 'next' is the reason why
 * no attempt follows.
 */
static bool failure_is_final(const struct ed_batch_job *job, int err, int next)
{
        const struct ed_attempt *attempt = &job->attempt;

        return job->attempts > 0 && err != -ENOMEM && err != ED_E_FILE && !is_unreached(attempt) &&
               !ed_answer_status_is_redirect(attempt->status) && attempt->status != 401 &&
               attempt->status != 402 && attempt->status != 407 &&
               (next == EDDY_E_RETRY_FINAL || next == EDDY_E_RETRY_ATTEMPTS);
}

/* The answer is a success: it is one for each row, too. */
static enum ed_verdict rows_judge(struct ed_batch_job *job)
{
        struct ed_endpoint *endpoint = job->attempt.endpoint;

        ed_job_rows_split(job);
        if (job->attempt.judged < 0) {
                endpoint->ok--;
                endpoint->failed++;
        }
        return ED_VERDICT_DONE;
}

/* Returns true for an answer that --ok or --schema does not accept. */
static bool is_unaccepted(const struct ed_attempt *attempt)
{
        return attempt->error == 0 &&
               (attempt->judged == ED_E_ANSWER_NOT_OK || attempt->judged == ED_E_ANSWER_NOT_SCHEMA);
}

/*
 * The attempt was no success: decide if another one follows, unless the run ends because its first
 * requests all failed in the same way.
 */
static enum ed_verdict failure_judge(struct ed_batch_job *job, int err,
                                     const struct eddy_retry_cause *cause, int64_t *ret_wait_ns)
{
        const struct ed_batch_run *run = job->unit->run;
        int next;

        if (is_unaccepted(&job->attempt)) {
                ed_job_count_unaccepted(job);
                if (run->stats.stop == ED_STOP_ALIKE)
                        return ED_VERDICT_DONE;
        }
        next = eddy_retry_next(&job->retry, cause, ret_wait_ns);
        if (next < 0) {
                job->is_final = failure_is_final(job, err, next);
                return ED_VERDICT_DONE;
        }
        if (ed_job_endpoint_is_used_up(job))
                return ed_job_endpoint_used_up(job);
        job->base.cause = job->attempt.judged < 0  ? job->attempt.judged
                          : job->attempt.error < 0 ? job->attempt.error
                                                   : job->attempt.status;
        if (job->attempt.is_again) /* --retry-if: the answer takes its time */
                return ED_VERDICT_RETRY;
        ed_job_rows_pass(job);
        ed_job_check_alike(job);
        return run->stats.stop == ED_STOP_ALIKE ? ED_VERDICT_DONE : ED_VERDICT_RETRY;
}

/* Decide what follows the attempt, and store the wait before another one. */
static enum ed_verdict judge(struct ed_batch_job *job, int err, int64_t *ret_wait_ns)
{
        struct ed_batch_run *run = job->unit->run;
        struct ed_attempt *attempt = &job->attempt;
        int status = ed_attempt_status(attempt);
        struct eddy_retry_cause cause = { .error = status > 0 ? 0 : err,
                                          .status = status,
                                          .repeatable = true,
                                          .hint = attempt->hint };
        bool is_own = attempt->refusal.meaning == ED_MEANS_WAIT && attempt->hint.should >= 0 &&
                      !ed_attempt_is_ok(attempt); /* a refusal of this request only */
        int64_t lost_ns;

        if (job->base.refused) {
                job->is_final = true;
                return ED_VERDICT_DONE;
        }
        if (err == -ECANCELED)
                return ED_VERDICT_ABANDONED;
        if (err == ED_E_SPENT) {
                run->unpaid++;
                return ED_VERDICT_ABANDONED;
        }
        if (is_about_quota(attempt))
                return ed_job_endpoint_quota(job);
        if (attempt->status > 0)
                ed_endpoint_reached(attempt->endpoint);
        else if (is_unreached(attempt) && ed_endpoint_lost(&run->endpoints, attempt->endpoint,
                                                           ed_random_next(&run->random), &lost_ns))
                return ed_job_endpoint_lost(job, err, lost_ns);
        switch (ed_key_use_judge(attempt, &job->trials)) {
        case ED_API_KEY_ANSWER:
                break;
        case ED_API_KEY_REPEAT:
        case ED_API_KEY_STALE:
                return ED_VERDICT_REFUSED;
        case ED_API_KEY_USELESS:
                return ed_job_endpoint_key_useless(job);
        }
        if (!ed_attempt_is_ok(attempt) && attempt->hint.should >= 0 &&
            attempt->refusal.meaning == ED_MEANS_PAUSE) {
                run->stats.refused++;
                is_own = !ed_job_endpoint_is_used_up(job) && is_refused_alone(job);
                if (!is_own)
                        return ed_job_endpoint_refused(job, ret_wait_ns);
        }
        if (ed_job_trial_has_failed(job))
                return ed_job_endpoint_wrong(job);
        job->attempts += attempt->start_ns > 0;
        if (attempt->endpoint && err == 0 && !is_own)
                ed_endpoint_answered(&run->endpoints, attempt->endpoint, job->request->url,
                                     attempt->start_ns);
        if (attempt->is_again || is_own || ed_job_trial_is_doubtful(job))
                cause = cause_again(attempt);
        else if (ed_attempt_is_ok(attempt))
                return rows_judge(job);
        else if (ed_job_rows_divide(job))
                return ED_VERDICT_REFUSED;
        return failure_judge(job, err, &cause, ret_wait_ns);
}

/* Count the tokens of an answer that is not a success and is repeated: they are paid for too. */
static void repeated_count(struct ed_batch_job *job)
{
        const struct ed_attempt *attempt = &job->attempt;
        struct ed_usage usage;

        if (attempt->error < 0 || !attempt->is_compact)
                return;
        if (ed_usage_read(attempt->body, attempt->body_bytes, &usage) == 0)
                ed_job_count_usage(job, &usage);
        ed_job_check_limits(job);
}

enum ed_verdict ed_job_judge(struct ed_batch_job *job, int err, int64_t *ret_wait_ns)
{
        const struct ed_batch_run *run = job->unit->run;
        enum ed_verdict verdict = judge(job, err, ret_wait_ns);

        if (job->attempt.start_ns > 0 && run->attempted)
                run->attempted(run->attempted_arg, &job->attempt, job->attempts);
        if (verdict == ED_VERDICT_RETRY)
                repeated_count(job);
        if (verdict != ED_VERDICT_DONE)
                ed_attempt_fini(&job->attempt);
        return verdict;
}
