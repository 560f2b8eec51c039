/*
 * batch/run/job_rows.c - see job_rows.h.
 */
#include "batch/run/job_rows.h"

#include <errno.h>
#include <stdio.h>

#include "eddy/error.h"

void ed_job_rows_split(struct ed_batch_job *job)
{
        struct ed_attempt *attempt = &job->attempt;
        int err;

        if (ed_job_rows_count(job) < 2)
                return;
        ed_split_end(&job->split);
        err = ed_split_begin(&job->split, attempt->body, attempt->body_bytes,
                             ed_job_rows_count(job), attempt->fault.text);
        if (err == -ENOMEM)
                snprintf(attempt->fault.text, sizeof(attempt->fault.text), "out of memory");
        if (err < 0)
                attempt->judged = ED_E_ANSWER_NOT_ROWS;
}

/* Begin with a part of the bundle. Errors: -ENOMEM */
static int part_begin(struct ed_batch_job *job, size_t at, size_t part)
{
        int err = ed_bundle_take(job->bundle, at, part);

        if (err < 0)
                return err;
        job->attempts = 0;
        job->alike = 0;
        job->is_final = false;
        job->trials = (struct ed_key_trials){ .was_unauthorized = job->trials.was_unauthorized };
        eddy_retry_begin(&job->retry, &job->unit->run->retry_policy);
        return 0;
}

/* Returns true if fewer rows may succeed: the request is wrong, or something is too large. */
static bool is_divisible(const struct ed_batch_job *job)
{
        const struct ed_attempt *attempt = &job->attempt;

        if (ed_job_rows_count(job) < 2)
                return false;
        if (attempt->error < 0)
                return attempt->error == EDDY_E_LIMITER_AMOUNT ||
                       attempt->error == EDDY_E_HTTP_TOO_LARGE;
        return attempt->status == 400 || attempt->status == 413 || attempt->status == 422;
}

/*
 * Returns the rows of the next attempt: half of them. If the first requests of the run were all
 * refused alike, all rows may have the same mistake, and one row shows that.
 */
static size_t part_less(const struct ed_batch_job *job)
{
        bool is_alike = job->attempt.status > 0 && !job->unit->run->alike.has_ended;

        return is_alike ? 1 : (job->bundle->part + 1) / 2;
}

bool ed_job_rows_divide(struct ed_batch_job *job)
{
        return is_divisible(job) && part_begin(job, job->bundle->at, part_less(job)) == 0;
}

bool ed_job_rows_more(struct ed_batch_job *job)
{
        const struct ed_bundle *bundle = job->bundle;
        size_t part, at;

        if (!bundle || bundle->at + bundle->part == bundle->count)
                return false;
        job->unit->run->tried -= job->was_sent ? bundle->part : 0;
        at = bundle->at + bundle->part;
        part = ed_attempt_is_ok(&job->attempt) ? 2 * bundle->part : bundle->part;
        if (part > bundle->count - at)
                part = bundle->count - at;
        /* A single row needs no memory. */
        if (part_begin(job, at, part) < 0 && part_begin(job, at, 1) < 0)
                return false;
        return true;
}

void ed_job_rows_pass(struct ed_batch_job *job)
{
        for (size_t i = 0; i < ed_job_rows_left(job) && !job->error; i++)
                ed_alike_pass(&job->unit->run->alike, job->place + ed_job_rows_at(job) + i);
}
