/*
 * batch/run/job_trial.c - see job_trial.h.
 */
#include "batch/run/job_trial.h"

enum {
        REJECTED_MAX = 20,    /* answers that are not accepted, until the trial has failed */
        UNAUTHORIZED_MAX = 5, /* the same, if the last one is a 401 */
};

/* Returns true for an answer that a wrong server gives. A busy one, or one that begins, has others. */
static bool is_rejection(const struct ed_attempt *attempt)
{
        return attempt->error == 0 && !attempt->is_again && !ed_attempt_is_ok(attempt) &&
               attempt->status < 500 && attempt->status != 408 && attempt->status != 425 &&
               attempt->status != 429;
}

bool ed_job_trial_is_doubtful(const struct ed_batch_job *job)
{
        const struct ed_endpoint *endpoint = job->attempt.endpoint;
        const char *url = job->request->url;

        return endpoint && *url == '/' && endpoint->leader->is_listed && endpoint->ok == 0 &&
               is_rejection(&job->attempt) && endpoint->all->accepted > 0 &&
               ed_endpoint_has_other(endpoint->all, endpoint, url);
}

bool ed_job_trial_has_failed(struct ed_batch_job *job)
{
        struct ed_endpoint *endpoint = job->attempt.endpoint;
        uint32_t most = job->attempt.status == 401 ? UNAUTHORIZED_MAX : REJECTED_MAX;

        if (endpoint && endpoint->base && ed_attempt_is_ok(&job->attempt))
                endpoint->all->accepted++;
        if (!ed_job_trial_is_doubtful(job))
                return false;
        if (endpoint->rejected++ == 0)
                endpoint->accepted_before = endpoint->all->accepted;
        return endpoint->rejected >= most && endpoint->all->accepted > endpoint->accepted_before;
}
