/*
 * batch/run/job_counts.c - see job_counts.h.
 */
#include "batch/run/job_counts.h"

#include <stdio.h>

#include "batch/run/job_rows.h"
#include "batch/run/job_trial.h"
#include "batch/run/key_use.h"
#include "batch/run/stop.h"

/* 401 answers after which an API key is taken as wrong. */
enum { KEY_REFUSALS_MAX = 5 };

/* Returns true if the whole input is read, and no other request is left. */
static bool is_last(const struct ed_batch_job *job)
{
        return job->unit->input.whole && job->base.engine->room.inside <= 1;
}

void ed_job_check_alike(const struct ed_batch_job *job)
{
        struct ed_batch_run *run = job->unit->run;
        const struct ed_alike *alike = &run->alike;
        char with[] = "got an answer that is not accepted";

        if (run->settings->max_errors != UINT32_MAX || !ed_alike_is_full(alike, run->slots_most) ||
            is_last(job))
                return;
        if (alike->cause > 0)
                snprintf(with, sizeof(with), "failed with %d", alike->cause);
        ed_batch_stop(run, ED_STOP_ALIKE, ED_BATCH_DRAIN_NS,
                      "%d requests %s, and none succeeded%s%s (--max-errors N continues)",
                      alike->count, with, *alike->text ? ": " : "", alike->text);
}

void ed_job_count_unaccepted(struct ed_batch_job *job)
{
        const struct ed_attempt *attempt = &job->attempt;
        struct ed_batch_run *run = job->unit->run;
        char text[ED_REASON_TEXT_BYTES] = "";

        if (attempt->is_again || job->alike != 0)
                return;
        if (!ed_reasons_hide(&run->reasons, job->request, attempt->body, attempt->body_bytes))
                ed_rule_describe(&run->settings->rule, attempt->judged, attempt->body,
                                 attempt->body_bytes, text, sizeof(text));
        job->alike = attempt->judged;
        for (size_t i = 0; i < ed_job_rows_count(job); i++)
                ed_alike_add(&run->alike, job->place + ed_job_rows_at(job) + i, job->alike, text);
        ed_job_check_alike(job);
}

void ed_job_count_result(struct ed_batch_job *job, size_t index, bool is_ok, int error, int status)
{
        struct ed_batch_run *run = job->unit->run;
        int cause = is_ok ? 0 : error == 0 ? status : error;

        if (!job->error && (cause == 0 || cause != job->alike))
                ed_alike_add(&run->alike, job->place + index, cause,
                             ed_reasons_text(&run->reasons, status));
}

void ed_job_check_limits(const struct ed_batch_job *job)
{
        struct ed_batch_run *run = job->unit->run;

        ed_job_check_alike(job);
        if (run->stats.failed > run->settings->max_errors)
                ed_batch_stop(run, ED_STOP_ERRORS, ED_BATCH_DRAIN_NS,
                              "more than %u request%s failed (--max-errors)",
                              run->settings->max_errors, run->settings->max_errors == 1 ? "" : "s");
        ed_batch_check_cost(run);
}

void ed_job_count_usage(struct ed_batch_job *job, const struct ed_usage *usage)
{
        struct ed_batch_run *run = job->unit->run;

        if (usage->input == 0 && usage->output == 0)
                return;
        run->spent.usage.input += usage->input;
        run->spent.usage.output += usage->output;
        run->spent.usage.cached += usage->cached;
        run->spent.usage.reasoning += usage->reasoning;
        run->spent.cost = ed_tokens_cost(&run->settings->price, run->spent.usage.input,
                                         run->spent.usage.output);
        ed_tokens_mean_add(&run->spent.mean, usage->output);
        ed_attempt_reconcile(&job->attempt, usage->input + usage->output);
}

void ed_job_count_failure(const struct ed_batch_job *job, const struct ed_answer *answer)
{
        struct ed_batch_sink *sink = &job->unit->sink;
        const struct ed_accept *accept = job->unit->run->accept;

        sink->failed++;
        if (ed_accept_takes(accept, answer->id, answer->id_bytes, false))
                sink->accepted++;
        else if (ed_accept_takes(accept, answer->id, answer->id_bytes, answer->is_final))
                sink->accepted_final++;
}

void ed_job_check_key(struct ed_batch_job *job)
{
        const struct ed_attempt *attempt = &job->attempt;
        struct ed_batch_run *run = job->unit->run;
        char remedy[160];

        if (attempt->status != 401 || ed_attempt_is_ok(attempt) || job->trials.was_unauthorized ||
            ed_attempt_line_has_headers(attempt) || !attempt->endpoint->is_main ||
            attempt->endpoint->ok > 0 || ed_job_trial_is_doubtful(job) ||
            ++attempt->endpoint->key_refusals < KEY_REFUSALS_MAX)
                return;
        ed_batch_stop(
                run, ED_STOP_KEY, ED_BATCH_DRAIN_NS, "%s %s (401): %s", attempt->endpoint->name,
                run->keys->kind != ED_API_KEY_NONE ? "refuses the API key" : "wants credentials",
                ed_key_use_remedy(run, job->request, remedy, sizeof(remedy)));
}
