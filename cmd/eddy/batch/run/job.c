/*
 * batch/run/job.c - what `eddy batch` does in each step of a request (engine/engine.h): it waits
 * for the turn of its endpoints and for their limits, judges the attempt, and writes the line.
 *
 * A refusal (such as 429, or 503 with Retry-After; vendor/table.h) pauses the endpoint and uses no
 * attempt.
 */
#include "batch/run/job.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "batch/answer/split.h"
#include "batch/request/bundle.h"
#include "batch/run/attempt.h"
#include "batch/run/key_use.h"
#include "batch/run/reader.h"
#include "batch/run/save.h"
#include "batch/run/stop.h"
#include "common/duration.h"
#include "common/excerpt.h"
#include "common/outcome.h"
#include "common/wall.h"
#include "eddy/alloc.h"
#include "eddy/error.h"
#include "eddy/event.h"
#include "eddy/time.h"

/* 401 answers after which an API key is taken as wrong. */
enum { KEY_REFUSALS_MAX = 5 };

/* A status after which a request is repeated. */
enum { STATUS_AGAIN = 500 };

/* How long a server that has never answered is waited for. */
#define NEVER_REACHED_NS EDDY_SEC(10)

/* The longest wait of a refused request whose endpoint has no pause. */
#define REFUSED_WAIT_NS ((uint64_t) 200000000)

struct ed_batch_job {
        struct ed_engine_job base;
        struct ed_batch_unit *unit;
        struct ed_request *request; /* owned, or that of the bundle */
        struct ed_bundle *bundle;   /* NULL: the job is one row */
        struct ed_split split;      /* of the answer to several rows */
        char *error;                /* of the line; NULL: none */
        uint64_t number;            /* in the order of the input */
        int64_t read_ns;
        struct eddy_retry retry;
        unsigned attempts;
        struct ed_key_trials trials;
        struct ed_own_refusal own_refusal;
        bool was_sent;
        bool is_final;             /* sending it again would not help, if its answer is a failure */
        unsigned place;            /* of its first row in the run (alike.h) */
        int alike;                 /* the cause with which it was counted there; 0: not counted */
        eddy_event turn;           /* of --ordered */
        struct ed_attempt attempt; /* last, as it is large */
};

static struct ed_batch_job *job_of(struct ed_engine_job *base)
{
        return (struct ed_batch_job *) base; /* its first member */
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* Returns the number of rows in the job's request. */
static size_t rows_of(const struct ed_batch_job *job)
{
        return job->bundle ? job->bundle->part : 1;
}

/* Returns the number of the first row of the job's request. */
static size_t row_at(const struct ed_batch_job *job)
{
        return job->bundle ? job->bundle->at : 0;
}

/* Returns the number of rows that have no line yet. */
static size_t rows_left(const struct ed_batch_job *job)
{
        return job->bundle ? job->bundle->count - job->bundle->at : 1;
}

/* Split the answer to several rows. If that is impossible, it is not a success. */
static void rows_split(struct ed_batch_job *job)
{
        struct ed_attempt *attempt = &job->attempt;
        int err;

        if (rows_of(job) < 2)
                return;
        ed_split_end(&job->split);
        err = ed_split_begin(&job->split, attempt->body, attempt->body_bytes, rows_of(job),
                             attempt->fault.text);
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

        if (rows_of(job) < 2)
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

/* After the lines of a part: the next one is as large, and twice as large after a success. */
static bool job_more(struct ed_engine_job *base)
{
        struct ed_batch_job *job = job_of(base);
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

/* ---- --ordered ----------------------------------------------------------------------------- */

/* Wait until all requests before this one have a line, or were abandoned. */
static void order_wait(struct ed_batch_job *job)
{
        struct ed_batch_run *run = job->unit->run;
        eddy_scope shield;

        if (!job->unit->order.turns || eddy_event_is_set(&job->turn))
                return;
        /* When the run ends, lines do not wait: an answer is worth more than the order, and the
         * next run fills the gaps. */
        eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD,
                                                             .deadline_ns = INT64_MAX });
        if (run->stats.stop == ED_STOP_NONE && eddy_event_wait(&job->turn) < 0)
                ed_batch_stop(run, ED_STOP_INTERNAL, 0, NULL);
        eddy_scope_end(&shield);
}

/* ---- lines --------------------------------------------------------------------------------- */

/* Returns the sentence of the option whose limit of time has passed, or NULL. */
static const char *limit_message(const struct ed_batch_run *run, const struct ed_request *request,
                                 int error, char *text, size_t room)
{
        const struct ed_batch_settings *settings = run->settings;

        if (error == -ETIMEDOUT && request->timeout_ns)
                snprintf(text, room, "no complete response within the line's \"timeout\"");
        else if (error == -ETIMEDOUT)
                snprintf(text, room, "no complete response within --timeout %s",
                         settings->timeout_text);
        else if (error == EDDY_E_HTTP_TIMEOUT_CONNECT)
                snprintf(text, room, "no connection within --connect-timeout %s",
                         settings->connect_timeout_text);
        else if (error == EDDY_E_HTTP_TIMEOUT_READ)
                snprintf(text, room, "no byte sent or received for --idle-timeout %s",
                         settings->idle_timeout_text);
        else
                return NULL;
        return text;
}

/* Returns the sentence, with what the attempt was doing when the time passed. */
static const char *limit_detail(const struct ed_attempt *attempt, const char *message, char *text,
                                size_t room)
{
        size_t bytes = strlen(message);

        if (!*attempt->fault.text || bytes >= room)
                return message;
        snprintf(text + bytes, room - bytes, ": %s", attempt->fault.text);
        return text;
}

/* Fill in the code and the message of a request without an answer. */
static void error_describe(const struct ed_batch_job *job, struct ed_answer *answer, char *text,
                           size_t room)
{
        const struct ed_attempt *attempt = &job->attempt;
        int error = attempt->error;

        if (job->error) {
                answer->code = "invalid_request_line";
                answer->message = job->error;
                return;
        }
        answer->code = ed_outcome_of(error)->code;
        answer->message = limit_message(job->unit->run, job->request, error, text, room);
        if (answer->message)
                answer->message = limit_detail(attempt, answer->message, text, room);
        if (!answer->message && *attempt->fault.text)
                answer->message = attempt->fault.text;
        if (!answer->message)
                answer->message = ed_outcome_message(error);
}

/* Fill in the answer, and the reason if it is not a success. Returns its error; 0: none. */
static int answer_describe(const struct ed_batch_job *job, struct ed_answer *answer, char *text,
                           size_t room)
{
        const struct ed_attempt *attempt = &job->attempt;

        answer->status = attempt->status;
        answer->request_id = attempt->request_id;
        answer->body = attempt->body;
        answer->body_bytes = attempt->body_bytes;
        answer->is_compact = attempt->is_compact;
        if (attempt->judged >= 0)
                return 0;
        answer->code = ed_outcome_of(attempt->judged)->code;
        answer->message = text;
        if (attempt->judged == ED_E_ANSWER_NOT_ROWS) {
                answer->status = 0; /* a row's line has no answer of other rows */
                snprintf(text, room, "%s: give --rows-per-request 1", attempt->fault.text);
                return attempt->judged;
        }
        ed_rule_describe(&job->unit->run->settings->rule, attempt->judged, attempt->body,
                         attempt->body_bytes, text, room);
        return attempt->judged;
}

/* Write the remedy of a 401: the first one that applies. */
static const char *key_remedy(const struct ed_batch_job *job, char *text, size_t room)
{
        const struct ed_batch_run *run = job->unit->run;
        const char *header = ed_key_use_header(run, job->request);

        if (header)
                snprintf(text, room,
                         "%s takes the key in another header: give %s--api-key-header %s",
                         job->request->vendor->vendor,
                         run->keys->kind != ED_API_KEY_NONE
                                 ? ""
                                 : "--api-key-env or --api-key-file, and ",
                         header);
        else
                snprintf(text, room, "%s",
                         run->keys->kind != ED_API_KEY_NONE
                                 ? "check --api-key-env or --api-key-file"
                                 : "give the API key by --api-key-env or --api-key-file, or "
                                   "another header by -H");
        return text;
}

/* End the run if the endpoint of all requests has answered nothing but 401. */
static void key_check(struct ed_batch_job *job)
{
        const struct ed_attempt *attempt = &job->attempt;
        struct ed_batch_run *run = job->unit->run;
        char remedy[160];

        if (attempt->status != 401 || ed_attempt_is_ok(attempt) || job->trials.was_unauthorized ||
            ed_attempt_line_has_headers(attempt) || !attempt->endpoint->is_main ||
            attempt->endpoint->ok > 0 || ++attempt->endpoint->key_refusals < KEY_REFUSALS_MAX)
                return;
        ed_batch_stop(
                run, ED_STOP_KEY, ED_BATCH_DRAIN_NS, "%s %s (401): %s", attempt->endpoint->name,
                run->keys->kind != ED_API_KEY_NONE ? "refuses the API key" : "wants credentials",
                key_remedy(job, remedy, sizeof(remedy)));
}

/* Returns true if the whole input is read, and no other request is left. */
static bool is_last(const struct ed_batch_job *job)
{
        return job->unit->input.whole && job->base.engine->room.inside <= 1;
}

/* The rows that have no line yet have no result for now. */
static void rows_pass(struct ed_batch_job *job)
{
        for (size_t i = 0; i < rows_left(job) && !job->error; i++)
                ed_alike_pass(&job->unit->run->alike, job->place + row_at(job) + i);
}

/* End the run if its first requests all failed in the same way. */
static void alike_check(const struct ed_batch_job *job)
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

/* Returns true for an answer that --ok or --schema does not accept. */
static bool is_unaccepted(const struct ed_attempt *attempt)
{
        return attempt->error == 0 &&
               (attempt->judged == ED_E_ANSWER_NOT_OK || attempt->judged == ED_E_ANSWER_NOT_SCHEMA);
}

/*
 * Count an answer that is not accepted at the first attempt: its result would come only after all
 * attempts. If --retry-if holds, the request asks again on purpose.
 */
static void unaccepted_count(struct ed_batch_job *job)
{
        const struct ed_attempt *attempt = &job->attempt;
        struct ed_batch_run *run = job->unit->run;
        char text[ED_REASON_TEXT_BYTES] = "";

        if (attempt->is_again || job->alike != 0)
                return;
        if (!ed_reasons_hide(&run->reasons, attempt->body, attempt->body_bytes))
                ed_rule_describe(&run->settings->rule, attempt->judged, attempt->body,
                                 attempt->body_bytes, text, sizeof(text));
        job->alike = attempt->judged;
        for (size_t i = 0; i < rows_of(job); i++)
                ed_alike_add(&run->alike, job->place + row_at(job) + i, job->alike, text);
        alike_check(job);
}

/* Count the result of a request. */
static void result_count(struct ed_batch_job *job, size_t index, bool is_ok, int error, int status)
{
        struct ed_batch_run *run = job->unit->run;
        int cause = is_ok ? 0 : error == 0 ? status : error;

        if (!job->error && (cause == 0 || cause != job->alike))
                ed_alike_add(&run->alike, job->place + index, cause,
                             ed_reasons_text(&run->reasons, status));
}

/* End the run if its results say so. */
static void limits_check(const struct ed_batch_job *job)
{
        struct ed_batch_run *run = job->unit->run;

        alike_check(job);
        if (run->stats.failed > run->settings->max_errors)
                ed_batch_stop(run, ED_STOP_ERRORS, ED_BATCH_DRAIN_NS,
                              "more than %u request%s failed (--max-errors)",
                              run->settings->max_errors, run->settings->max_errors == 1 ? "" : "s");
        if (run->settings->max_cost > 0 && run->spent.cost >= run->settings->max_cost)
                ed_batch_stop(run, ED_STOP_COST, ED_BATCH_DRAIN_NS,
                              "the answers cost %.6g, which reaches --max-cost",
                              (double) run->spent.cost / 1e6);
}

/* Count the tokens of an answer, and correct what was reserved for it. */
static void usage_count(struct ed_batch_job *job, const struct ed_usage *usage)
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

/* Note that an id has a line now. A failure does not take the place of an answer to a former request. */
static int answer_note(struct ed_batch_sink *sink, const struct ed_answer *answer, bool is_ok)
{
        bool same;
        int err = ed_ids_add(sink->ids, answer->id, answer->id_bytes,
                             ed_answer_mark(answer->id, answer->id_bytes, answer->hash),
                             is_ok ? ED_IDS_ANSWERED : ED_IDS_FAILED, &same);

        if (err < 0)
                return err;
        if (!same && is_ok) {
                sink->renewed++;
                ed_ids_set_hash(sink->ids, answer->id, answer->id_bytes,
                                ed_answer_mark(answer->id, answer->id_bytes, answer->hash));
        }
        return 0;
}

/* Write the line of a row, to the output or to the errors. */
static int line_write(struct ed_batch_job *job, struct ed_answer *answer)
{
        struct ed_batch_unit *unit = job->unit;
        struct ed_batch_run *run = unit->run;
        bool is_ok = ed_attempt_is_ok(&job->attempt) && !job->error;
        struct ed_output *output =
                is_ok || !unit->paths->errors ? &unit->sink.output : &unit->sink.errors;
        struct ed_save_dir_file *file;
        struct ed_draft line = { 0 };
        int err = ed_batch_save(unit, &job->attempt, answer, &file);

        if (err < 0) {
                run->stats.lost++;
                return err;
        }
        ed_answer_write(answer, run->settings->meta ? ED_ANSWER_META : 0, &line);
        if (!ed_draft_is_whole(&line)) {
                ed_draft_reset(&line, 0);
                answer->status = 0;
                answer->code = "response_too_large";
                answer->message = "the answer makes a line that is too long, or memory is short";
                answer->has_failed = true;
                is_ok = false;
                output = unit->paths->errors ? &unit->sink.errors : &unit->sink.output;
                ed_answer_write(answer, run->settings->meta ? ED_ANSWER_META : 0, &line);
        }
        if (rows_of(job) == 1) {
                usage_count(job, &answer->usage);
                ed_attempt_fini(&job->attempt);
        }
        if (unit->order.turns)
                ed_engine_job_give_slot(&job->base);
        order_wait(job);
        err = ed_draft_is_whole(&line) ? ed_output_line(output, line.data, line.bytes) : -ENOMEM;
        ed_draft_fini(&line);
        ed_batch_saved(file, err == 0);
        if (err < 0) {
                run->stats.lost++;
                if (output->err == -EPIPE)
                        ed_batch_stop(run, ED_STOP_CLOSED, 0, NULL);
                else
                        ed_batch_stop(run, ED_STOP_OUTPUT, 0, NULL);
                return err;
        }
        if (output->cut)
                ed_batch_stop(run, ED_STOP_OUTPUT, ED_BATCH_DRAIN_NS,
                              "%s was cut by another program", output->name);
        return answer_note(&unit->sink, answer, is_ok);
}

/*
 * The endpoint accepts nothing for too long; 'what' is the reason. Send its requests elsewhere, or
 * end the run if no other server is left for them.
 */
static enum ed_verdict endpoint_shut(struct ed_batch_job *job, enum ed_stop stop, const char *what)
{
        struct ed_endpoint *endpoint = job->attempt.endpoint;
        struct ed_batch_run *run = job->unit->run;
        bool is_first = !endpoint->is_shut, has_other;

        endpoint->shut_generation = job->attempt.key_generation;
        if (!ed_endpoint_shut(&run->endpoints, endpoint)) {
                ed_batch_stop(run, stop, ED_BATCH_DRAIN_NS, "%s %s", endpoint->shown, what);
                return ED_VERDICT_ABANDONED;
        }
        has_other = ed_endpoint_has_other(&run->endpoints, endpoint, job->request->url);
        if (is_first)
                ed_say(&run->say, "%s %s; %s", endpoint->shown, what,
                       !has_other ? "its requests get an error, the others are sent"
                       : endpoint->leader->span > 1 ? "requests go to the other keys"
                                                    : "requests go to the other base URLs");
        return has_other ? ED_VERDICT_REFUSED : ED_VERDICT_DONE;
}

/* Returns true if the headers of the answer report that a limit is used up for too long. */
static bool is_used_up(const struct ed_batch_job *job)
{
        return job->attempt.learned_wait_ns > job->unit->run->settings->throttle_wait_max_ns;
}

static enum ed_verdict used_up_shut(struct ed_batch_job *job)
{
        char wait[ED_DURATION_TEXT_BYTES], most[ED_DURATION_TEXT_BYTES], what[160];

        ed_duration_print(job->attempt.learned_wait_ns, wait);
        ed_duration_print(job->unit->run->settings->throttle_wait_max_ns, most);
        snprintf(what, sizeof(what),
                 "reports that its limit is used up for %s, longer than --max-throttle-wait %s",
                 wait, most);
        return endpoint_shut(job, ED_STOP_THROTTLED, what);
}

/* Count a failure, which may be accepted. */
static void failure_count(const struct ed_batch_job *job, const struct ed_answer *answer)
{
        struct ed_batch_sink *sink = &job->unit->sink;
        const struct ed_accept *accept = job->unit->run->accept;

        sink->failed++;
        if (ed_accept_takes(accept, answer->id, answer->id_bytes, false))
                sink->accepted++;
        else if (ed_accept_takes(accept, answer->id, answer->id_bytes, answer->is_final))
                sink->accepted_final++;
}

/* The parts of a result that all rows of a request share. */
struct result {
        int status, error;
        bool is_ok;
        uint64_t body_bytes;
        int64_t latency_ns; /* -1: nothing was sent */
};

/* Write the line of a row from the job's 'index'th, and count it. */
static void row_finish(struct ed_batch_job *job, const struct ed_request *request, size_t index,
                       struct ed_answer *answer, const struct result *result)
{
        struct ed_batch_run *run = job->unit->run;
        bool is_ok = result->is_ok, is_first = index == row_at(job);
        int err;

        answer->id = request->id;
        answer->id_bytes = request->id_bytes;
        answer->number = request->number;
        answer->hash = request->hash;
        answer->metadata = request->metadata;
        answer->metadata_bytes = request->metadata_bytes;
        if (!is_ok)
                ed_reasons_add(&run->reasons, answer);
        answer->has_failed = !is_ok;
        err = line_write(job, answer);
        if (!job->bundle || index + 1 == job->bundle->count)
                ed_order_pass(&job->unit->order, job->number);
        if (err < 0)
                return;
        if (is_ok && answer->status == 0) { /* its line would have been too long */
                is_ok = false;
                ed_reasons_add(&run->reasons, answer);
        }
        /* The bytes and the time of a request count once. */
        ed_stats_add_judged(&run->stats, is_ok, result->status, result->error,
                            is_first ? result->body_bytes : 0, is_first ? result->latency_ns : -1);
        if (is_ok)
                job->unit->sink.ok++;
        else
                failure_count(job, answer);
        result_count(job, index, is_ok, result->error, result->status);
}

/* Write the lines of several rows. */
static void rows_finish(struct ed_batch_job *job, struct ed_answer *shared,
                        const struct result *result)
{
        const struct ed_bundle *bundle = job->bundle;
        const struct ed_attempt *attempt = &job->attempt;
        char fault[ED_SPLIT_FAULT_BYTES];
        struct ed_usage usage;

        /* A failure with a status of success is split too: a row's line has no other row's answer. */
        if (ed_answer_status_is_ok(shared->status) && !job->split.items &&
            ed_split_begin(&job->split, attempt->body, attempt->body_bytes, bundle->part, fault) <
                    0)
                shared->status = 0;
        if (job->split.items && ed_usage_read(attempt->body, attempt->body_bytes, &usage) == 0)
                usage_count(job, &usage);
        shared->rows = bundle->part;
        for (size_t i = 0; i < bundle->part; i++) {
                struct ed_answer answer = *shared;
                struct ed_draft body = { 0 };

                if (job->split.items) {
                        ed_split_write(&job->split, i, &body);
                        answer.body = body.data;
                        answer.body_bytes = body.bytes;
                }
                if (!ed_draft_is_whole(&body)) {
                        answer.status = 0;
                        answer.code = "response_too_large";
                        answer.message = "out of memory";
                }
                row_finish(job, bundle->rows[bundle->at + i].request, bundle->at + i, &answer,
                           result);
                ed_draft_fini(&body);
        }
        ed_split_end(&job->split);
        ed_attempt_fini(&job->attempt);
}

static void job_finish(struct ed_engine_job *base, int error)
{
        struct ed_batch_job *job = job_of(base);
        struct ed_attempt *attempt = &job->attempt;
        struct ed_batch_run *run = job->unit->run;
        struct ed_answer answer = {
                .id = job->request->id,
                .id_bytes = job->request->id_bytes,
                .attempts = job->attempts,
                .at_ms = ed_wall_ns() / 1000000,
                .queue_ns = attempt->start_ns ? attempt->start_ns - job->read_ns : 0,
                .first_ns = attempt->first_ns,
                .total_ns = attempt->total_ns,
                .is_final = job->is_final,
                .endpoint = attempt->endpoint ? attempt->endpoint->name : NULL,
        };
        struct result result = {
                .status = attempt->status,
                .body_bytes = attempt->received_bytes,
                .latency_ns = attempt->start_ns ? attempt->total_ns : -1,
                .is_ok = error == 0 && ed_attempt_is_ok(attempt),
        };
        char text[sizeof(attempt->fault.text) + 128];

        if (error == 0)
                error = answer_describe(job, &answer, text, sizeof(text));
        else
                error_describe(job, &answer, text, sizeof(text));
        result.error = error;
        run->lacks_base |= error == ED_E_NO_BASE;
        if (rows_of(job) > 1)
                rows_finish(job, &answer, &result);
        else
                row_finish(job, job->request, row_at(job), &answer, &result);
        if (result.status == 404 && !*job->unit->input.missing)
                ed_reader_path(job->request->url, job->unit->input.missing);
        key_check(job);
        limits_check(job);
        if (is_used_up(job))
                used_up_shut(job);
}

/* The run ends before the request has a line. */
static void job_abandon(struct ed_engine_job *base)
{
        struct ed_batch_job *job = job_of(base);
        struct ed_batch_run *run = job->unit->run;

        if (job->was_sent)
                run->stats.cancelled += rows_left(job);
        else
                run->stats.not_started += rows_left(job);
        rows_pass(job);
        ed_order_pass(&job->unit->order, job->number);
}

/* ---- steps --------------------------------------------------------------------------------- */

static void job_unreserve(struct ed_batch_job *job)
{
        eddy_limiter_release(job->attempt.endpoint->limiter, &job->attempt.reservation);
        ed_endpoint_give(job->attempt.endpoint);
}

/* Wait for the turn of the endpoint, its limits and its API key. */
static int job_reserve(struct ed_engine_job *base)
{
        struct ed_batch_job *job = job_of(base);
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
        struct ed_batch_job *job = job_of(base);
        struct ed_attempt *attempt = &job->attempt;

        ed_endpoint_pass(&job->unit->run->endpoints, attempt->endpoint, job->request->url);
        if (err == 0 && ed_endpoint_is_paused(attempt->endpoint))
                err = -EAGAIN; /* refused a request while this one waited for its slot */
        if (err == 0)
                return 0;
        job_unreserve(job);
        attempt->error = err;
        return err;
}

static int job_attempt(struct ed_engine_job *base)
{
        struct ed_batch_job *job = job_of(base);

        /* The wait for the slot may have been longer than the key lives. */
        job->attempt.error = ed_key_use_wait(job->unit->run, job->attempt.endpoint);
        if (job->attempt.error < 0) {
                eddy_limiter_release(job->attempt.endpoint->limiter, &job->attempt.reservation);
                return job->attempt.error;
        }
        ed_attempt_make(&job->attempt);
        if (job->attempt.start_ns > 0 && !job->was_sent) {
                job->was_sent = true;
                job->unit->run->tried += rows_left(job);
        }
        return job->attempt.error;
}

static enum eddy_concurrency_result job_release(struct ed_engine_job *base)
{
        struct ed_batch_job *job = job_of(base);

        ed_endpoint_give(job->attempt.endpoint);
        return ed_attempt_load(&job->attempt);
}

static void job_free(struct ed_engine_job *base)
{
        struct ed_batch_job *job = job_of(base);

        job->unit->run->tried -= job->was_sent ? rows_left(job) : 0;
        ed_attempt_fini(&job->attempt);
        ed_split_end(&job->split);
        if (job->bundle)
                ed_bundle_free(job->bundle);
        else
                ed_request_free(job->request);
        eddy_free(job->error);
        eddy_free(job);
}

/* ---- judging ------------------------------------------------------------------------------- */

/* Returns how often a wait is doubled, if an endpoint answers nothing else. */
static unsigned refusals_of(const struct ed_endpoint *endpoint)
{
        return endpoint->throttles < 64 ? endpoint->throttles / 8 : 8;
}

/* Returns the wait that a refusal gives, by itself, by a limit or by its rule; -1: none. */
static int64_t wait_of(const struct ed_attempt *attempt)
{
        const struct ed_vendor_rule *rule = attempt->refusal.rule;

        if (attempt->hint.has_wait)
                return attempt->hint.wait_ns;
        if (attempt->learned_wait_ns > 0)
                return attempt->learned_wait_ns;
        return rule->wait_s > 0 ? EDDY_SEC(rule->wait_s) : -1;
}

/* Returns true if the refusal is about the request: then it counts as an attempt. */
static bool is_refused_alone(struct ed_batch_job *job)
{
        return ed_endpoint_refuses_one(&job->unit->run->endpoints, job->attempt.endpoint,
                                       job->request->url, &job->own_refusal);
}

/* The endpoint refused the request for now: pause it, or shut it. Stores a wait of the request. */
static enum ed_verdict refusal_judge(struct ed_batch_job *job, int64_t *ret_wait_ns)
{
        struct ed_batch_run *run = job->unit->run;
        struct ed_attempt *attempt = &job->attempt;
        int64_t wait_ns = wait_of(attempt), refused_ns;
        char wait[ED_DURATION_TEXT_BYTES], most[ED_DURATION_TEXT_BYTES], what[160];

        if (is_used_up(job))
                return used_up_shut(job);
        ed_duration_print(run->settings->throttle_wait_max_ns, most);
        if (wait_ns > run->settings->throttle_wait_max_ns) {
                ed_duration_print(wait_ns, wait);
                snprintf(what, sizeof(what),
                         "asks for a pause of %s, longer than --max-throttle-wait %s", wait, most);
                return endpoint_shut(job, ED_STOP_THROTTLED, what);
        }
        refused_ns = ed_endpoint_throttle(&run->endpoints, attempt->endpoint, wait_ns,
                                          ed_random_next(&run->random));
        if (wait_ns < 0 && ed_endpoints_adapt(&run->endpoints)) /* the endpoint has no pause */
                *ret_wait_ns = (int64_t) (ed_random_next(&run->random) %
                                          (REFUSED_WAIT_NS << refusals_of(attempt->endpoint)));
        if (refused_ns <= run->settings->throttle_wait_max_ns)
                return ED_VERDICT_REFUSED;
        if (job->own_refusal.bits > 0) { /* others were answered between its refusals */
                ed_endpoint_resume(attempt->endpoint);
                job->attempts++;
                return ED_VERDICT_DONE;
        }
        ed_duration_print(refused_ns, wait);
        snprintf(what, sizeof(what),
                 "has refused all requests since its last answer, with the next pause for %s, "
                 "longer than "
                 "--max-throttle-wait %s",
                 wait, most);
        return endpoint_shut(job, ED_STOP_THROTTLED, what);
}

/* Returns true if there was no connection to the server. */
static bool is_unreached(const struct ed_attempt *attempt)
{
        const char *code = ed_outcome_of(attempt->error)->code;

        return attempt->endpoint && attempt->error < 0 &&
               (strcmp(code, "connect_error") == 0 || strcmp(code, "dns_error") == 0 ||
                strcmp(code, "tls_error") == 0);
}

/* The endpoint has been out of reach for a while: wait for it, or shut it. */
static enum ed_verdict lost_judge(struct ed_batch_job *job, int err, int64_t lost_ns)
{
        struct ed_endpoint *endpoint = job->attempt.endpoint;
        struct ed_batch_run *run = job->unit->run;
        char what[256];

        snprintf(what, sizeof(what), "cannot be reached: %.150s", ed_outcome_message(err));
        if (endpoint->was_reached ? lost_ns <= run->settings->throttle_wait_max_ns
                                  : lost_ns <= NEVER_REACHED_NS) {
                if (!endpoint->lost_was_said)
                        ed_say(&run->say, "%s %s; it is tried again after growing pauses",
                               endpoint->name, what);
                endpoint->lost_was_said = true;
                return ED_VERDICT_REFUSED;
        }
        return endpoint_shut(job, ED_STOP_UNREACHED, what);
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

/* The server refuses every value of the key. */
static enum ed_verdict key_useless(struct ed_batch_job *job)
{
        struct ed_batch_run *run = job->unit->run;
        bool is_misplaced = ed_key_use_header(run, job->request);
        char remedy[160];

        if (run->keys->count > 1)
                return endpoint_shut(job, ED_STOP_KEY, "refuses this API key (401)");
        ed_batch_stop(run, ED_STOP_KEY, ED_BATCH_DRAIN_NS,
                      "%s refuses the API key (401), and three new ones from %s did not help%s%s",
                      job->attempt.endpoint->name,
                      run->keys->kind == ED_API_KEY_COMMAND ? "--api-key-command"
                                                            : "--api-key-file",
                      is_misplaced ? ": " : "",
                      is_misplaced ? key_remedy(job, remedy, sizeof(remedy)) : "");
        return ED_VERDICT_ABANDONED;
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
 * The quota of the key is used up: send nothing more to this server with this key. The requests of a
 * host of absolute URLs get no line, so the next run sends them.
 */
static enum ed_verdict quota_judge(struct ed_batch_job *job)
{
        struct ed_endpoint *endpoint = job->attempt.endpoint;
        struct ed_batch_unit *unit = job->unit;
        char what[160];

        snprintf(what, sizeof(what), "answers that the quota of this API key is used up (%.90s)",
                 ed_refusal_reason(&job->attempt.refusal));
        if (endpoint->is_main)
                return endpoint_shut(job, ED_STOP_QUOTA, what);
        if (!unit->input.is_file && ed_endpoint_is_last(&unit->run->endpoints, endpoint))
                ed_batch_stop(unit->run, ED_STOP_QUOTA, ED_BATCH_DRAIN_NS, "%s %s", endpoint->shown,
                              what);
        else if (!endpoint->is_shut)
                ed_say(&unit->run->say, "%s %s; its requests are left for the next run",
                       endpoint->shown, what);
        endpoint->is_spent = true;
        (void) ed_endpoint_shut(&unit->run->endpoints, endpoint);
        unit->run->unpaid++;
        return ED_VERDICT_ABANDONED;
}

/*
 * Returns true if a failure is final: all attempts were made, or another one cannot help. Others
 * depend on the API key, an option, this machine, the network, or the time. 'next' is the reason why
 * no attempt follows.
 */
static bool failure_is_final(const struct ed_batch_job *job, int err, int next)
{
        const struct ed_attempt *attempt = &job->attempt;

        return job->attempts > 0 && err != -ENOMEM && !is_unreached(attempt) &&
               attempt->status != 401 && attempt->status != 402 && attempt->status != 407 &&
               (next == EDDY_E_RETRY_FINAL || next == EDDY_E_RETRY_ATTEMPTS);
}

/* The answer is a success: it is one for each row, too. */
static enum ed_verdict rows_judge(struct ed_batch_job *job)
{
        struct ed_endpoint *endpoint = job->attempt.endpoint;

        rows_split(job);
        if (job->attempt.judged < 0) {
                endpoint->ok--;
                endpoint->failed++;
        }
        return ED_VERDICT_DONE;
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
                unaccepted_count(job);
                if (run->stats.stop == ED_STOP_ALIKE)
                        return ED_VERDICT_DONE;
        }
        next = eddy_retry_next(&job->retry, cause, ret_wait_ns);
        if (next < 0) {
                job->is_final = failure_is_final(job, err, next);
                return ED_VERDICT_DONE;
        }
        if (is_used_up(job))
                return used_up_shut(job);
        job->base.cause = job->attempt.judged < 0  ? job->attempt.judged
                          : job->attempt.error < 0 ? job->attempt.error
                                                   : job->attempt.status;
        if (job->attempt.is_again) /* --retry-if: the answer takes its time */
                return ED_VERDICT_RETRY;
        rows_pass(job);
        alike_check(job);
        return run->stats.stop == ED_STOP_ALIKE ? ED_VERDICT_DONE : ED_VERDICT_RETRY;
}

/* Decide what follows the attempt, and store the wait before another one. */
static enum ed_verdict job_judge(struct ed_engine_job *base, int err, int64_t *ret_wait_ns)
{
        struct ed_batch_job *job = job_of(base);
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

        if (base->refused) {
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
                return quota_judge(job);
        if (attempt->status > 0)
                ed_endpoint_reached(attempt->endpoint);
        else if (is_unreached(attempt) && ed_endpoint_lost(&run->endpoints, attempt->endpoint,
                                                           ed_random_next(&run->random), &lost_ns))
                return lost_judge(job, err, lost_ns);
        switch (ed_key_use_judge(attempt, &job->trials)) {
        case ED_API_KEY_ANSWER:
                break;
        case ED_API_KEY_REPEAT:
        case ED_API_KEY_STALE:
                return ED_VERDICT_REFUSED;
        case ED_API_KEY_USELESS:
                return key_useless(job);
        }
        if (!ed_attempt_is_ok(attempt) && attempt->hint.should >= 0 &&
            attempt->refusal.meaning == ED_MEANS_PAUSE) {
                run->stats.refused++;
                is_own = !is_used_up(job) && is_refused_alone(job);
                if (!is_own)
                        return refusal_judge(job, ret_wait_ns);
        }
        job->attempts += attempt->start_ns > 0;
        if (attempt->endpoint && err == 0 && !is_own)
                ed_endpoint_answered(&run->endpoints, attempt->endpoint, job->request->url,
                                     attempt->start_ns);
        if (attempt->is_again || is_own)
                cause = cause_again(attempt);
        else if (ed_attempt_is_ok(attempt))
                return rows_judge(job);
        else if (is_divisible(job) && part_begin(job, job->bundle->at, part_less(job)) == 0)
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
                usage_count(job, &usage);
        limits_check(job);
}

static enum ed_verdict job_judge_and_note(struct ed_engine_job *base, int err, int64_t *ret_wait_ns)
{
        struct ed_batch_job *job = job_of(base);
        const struct ed_batch_run *run = job->unit->run;
        enum ed_verdict verdict = job_judge(base, err, ret_wait_ns);

        if (job->attempt.start_ns > 0 && run->attempted)
                run->attempted(run->attempted_arg, &job->attempt, job->attempts);
        if (verdict == ED_VERDICT_RETRY)
                repeated_count(job);
        if (verdict != ED_VERDICT_DONE)
                ed_attempt_fini(&job->attempt);
        return verdict;
}

const struct ed_engine_job_ops ed_batch_job_ops = {
        .reserve = job_reserve,
        .slotted = job_slotted,
        .attempt = job_attempt,
        .judge = job_judge_and_note,
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
