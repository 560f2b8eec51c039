/*
 * batch/run/job.c - what `eddy batch` does in each step of a request (engine/engine.h): it waits
 * for the turn of its endpoints and for their limits, judges the attempt (job_verdict.c), and writes
 * the lines (job_lines.c).
 */
#include "batch/run/job.h"

#include <errno.h>
#include <string.h>

#include "batch/run/job_lines.h"
#include "batch/run/job_rows.h"
#include "batch/run/job_verdict.h"
#include "batch/run/key_use.h"
#include "common/excerpt.h"
#include "eddy/alloc.h"
#include "eddy/error.h"
#include "eddy/time.h"

/* ---- steps --------------------------------------------------------------------------------- */

static void job_unreserve(struct ed_batch_job *job)
{
        eddy_limiter_release(job->attempt.endpoint->limiter, &job->attempt.reservation);
        ed_endpoint_give(job->attempt.endpoint);
}

/* Wait for the turn of the endpoint, its limits and its API key. */
static int job_reserve(struct ed_engine_job *base)
{
        struct ed_batch_job *job = ed_batch_job_of(base);
        struct ed_batch_run *run = job->unit->run;
        struct ed_attempt *attempt = &job->attempt;
        uint64_t tokens = ed_tokens_estimate(job->request);

        if (job->read_ns == 0)
                job->read_ns = eddy_now();
        ed_attempt_init(attempt, run, &job->unit->attempts, job->request);
        /* Servers report limits of tokens too, so they count without --tpm. */
        if (job->request->output_tokens_max == 0)
                tokens += ed_tokens_mean(&run->spent.mean);
        attempt->error = ed_endpoint_take(&run->endpoints, job->request->url, tokens, base->bytes,
                                          &attempt->endpoint, &attempt->reservation);
        if (attempt->error < 0)
                return attempt->error;
        /* The requests after it in the line wait too. */
        attempt->error = ed_key_use_wait(run, attempt->endpoint);
        if (attempt->error < 0) {
                ed_endpoint_pass(&run->endpoints, attempt->endpoint, job->request->url);
                job_unreserve(job);
        }
        return attempt->error;
}

static int job_slotted(struct ed_engine_job *base, int err)
{
        struct ed_batch_job *job = ed_batch_job_of(base);
        struct ed_attempt *attempt = &job->attempt;

        ed_endpoint_pass(&job->unit->run->endpoints, attempt->endpoint, job->request->url);
        if (err == 0 && (ed_endpoint_is_paused(attempt->endpoint) ||
                         ed_endpoint_is_left(attempt->endpoint, job->request->url)))
                err = -EAGAIN; /* refused a request while this one waited for its slot */
        if (err == 0)
                return 0;
        job_unreserve(job);
        attempt->error = err;
        return err;
}

static int job_attempt(struct ed_engine_job *base)
{
        struct ed_batch_job *job = ed_batch_job_of(base);

        /* The wait for the slot may have been longer than the key lives. */
        job->attempt.error = ed_key_use_wait(job->unit->run, job->attempt.endpoint);
        if (job->attempt.error < 0) {
                eddy_limiter_release(job->attempt.endpoint->limiter, &job->attempt.reservation);
                return job->attempt.error;
        }
        ed_attempt_make(&job->attempt);
        if (job->attempt.start_ns > 0 && !job->was_sent) {
                job->was_sent = true;
                job->unit->run->tried += ed_job_rows_left(job);
        }
        return job->attempt.error;
}

static enum ed_verdict job_judge(struct ed_engine_job *base, int err, int64_t *ret_wait_ns)
{
        return ed_job_judge(ed_batch_job_of(base), err, ret_wait_ns);
}

static void job_finish(struct ed_engine_job *base, int err)
{
        ed_job_lines_write(ed_batch_job_of(base), err);
}

static bool job_more(struct ed_engine_job *base)
{
        return ed_job_rows_more(ed_batch_job_of(base));
}

/* The run ends before the request has a line. */
static void job_abandon(struct ed_engine_job *base)
{
        struct ed_batch_job *job = ed_batch_job_of(base);
        struct ed_batch_run *run = job->unit->run;

        if (job->was_sent)
                run->stats.cancelled += ed_job_rows_left(job);
        else
                run->stats.not_started += ed_job_rows_left(job);
        ed_job_rows_pass(job);
        ed_order_pass(&job->unit->order, job->number);
}

static enum eddy_concurrency_result job_release(struct ed_engine_job *base)
{
        struct ed_batch_job *job = ed_batch_job_of(base);

        ed_endpoint_give(job->attempt.endpoint);
        return ed_attempt_load(&job->attempt);
}

static void job_free(struct ed_engine_job *base)
{
        struct ed_batch_job *job = ed_batch_job_of(base);

        job->unit->run->tried -= job->was_sent ? ed_job_rows_left(job) : 0;
        ed_attempt_fini(&job->attempt);
        ed_split_end(&job->split);
        if (job->bundle)
                ed_bundle_free(job->bundle);
        else
                ed_request_free(job->request);
        eddy_free(job->error);
        eddy_free(job);
}

const struct ed_engine_job_ops ed_batch_job_ops = {
        .reserve = job_reserve,
        .slotted = job_slotted,
        .attempt = job_attempt,
        .judge = job_judge,
        .finish = job_finish,
        .more = job_more,
        .abandon = job_abandon,
        .release = job_release,
        .free = job_free,
};

/* ---- starting ------------------------------------------------------------------------------ */

static struct ed_batch_job *job_new(struct ed_batch_unit *unit, const char *error)
{
        struct ed_batch_job *job = eddy_malloc(sizeof(*job));

        if (!job)
                return NULL;
        memset(job, 0, offsetof(struct ed_batch_job, attempt));
        job->base.engine = &unit->run->engine;
        job->base.work = unit->work;
        job->unit = unit;
        ed_attempt_init(&job->attempt, unit->run, &unit->attempts, NULL);
        if (error) {
                job->base.refused = EDDY_E_URL_INVALID;
                job->error = ed_text_copy(error);
        }
        if (error && !job->error) {
                eddy_free(job);
                return NULL;
        }
        return job;
}

/*
 * Returns true if the request was refused in an earlier run. If others were answered, that was not
 * about the key or the pace.
 */
static bool was_refused(const struct ed_batch_sink *sink, const struct ed_request *request)
{
        return sink->held.answered > 0 && sink->refused &&
               ed_ids_flags(sink->refused, request->id, request->id_bytes) != 0;
}

static void earlier_note(struct ed_batch_job *job, const struct ed_request *request)
{
        if (!was_refused(&job->unit->sink, request))
                return;
        job->trials.was_unauthorized = true;
        job->own_refusal.bits = ED_OWN_REFUSAL_BITS;
}

/* Start a job (owned) of 'rows' rows. */
static int job_start(struct ed_batch_job *job, size_t rows, uint64_t bytes)
{
        struct ed_batch_run *run = job->unit->run;
        int err;

        job->base.bytes = sizeof(*job) + bytes;
        job->place = ed_alike_begin(&run->alike, job->error ? 0 : rows);
        eddy_retry_begin(&job->retry, &run->retry_policy);
        err = ed_engine_job_start(&job->base);
        if (err < 0) {
                job_free(&job->base);
                return err;
        }
        job->number = ed_order_add(&job->unit->order, &job->turn);
        return 0;
}

int ed_jobs_add(struct ed_batch_unit *unit, struct ed_request *request, const char *error)
{
        struct ed_batch_job *job = job_new(unit, error);

        if (!job) {
                ed_request_free(request);
                return -ENOMEM;
        }
        job->request = request;
        earlier_note(job, request);
        return job_start(job, 1, request->memory);
}

int ed_jobs_add_bundle(struct ed_batch_unit *unit, struct ed_bundle *bundle)
{
        int err = ed_bundle_take(bundle, 0, bundle->count);
        struct ed_batch_job *job = err == 0 ? job_new(unit, NULL) : NULL;

        if (!job) {
                ed_bundle_free(bundle);
                return -ENOMEM;
        }
        job->bundle = bundle;
        job->request = &bundle->request;
        for (size_t i = 0; i < bundle->count; i++)
                earlier_note(job, bundle->rows[i].request);
        return job_start(job, bundle->count, bundle->bytes + bundle->request.body_bytes);
}
