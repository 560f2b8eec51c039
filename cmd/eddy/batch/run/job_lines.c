/*
 * batch/run/job_lines.c - see job_lines.h.
 */
#include "batch/run/job_lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "batch/answer/answer_line.h"
#include "batch/answer/split.h"
#include "batch/run/job_counts.h"
#include "batch/run/job_endpoint.h"
#include "batch/run/job_rows.h"
#include "batch/run/reader.h"
#include "batch/run/save.h"
#include "batch/run/stop.h"
#include "common/location.h"
#include "common/outcome.h"
#include "eddy/error.h"
#include "eddy/event.h"
#include "eddy/time.h"

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
        if (!answer->message && error == -ELOOP && *attempt->fault.text) {
                snprintf(text, room,
                         "%s (-L follows at most %" PRIu32
                         "): send the request to the URL to which "
                         "they lead, or run without -L to see the first redirect",
                         attempt->fault.text, job->unit->run->settings->redirects_max);
                answer->message = text;
        }
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
        if (ed_job_rows_count(job) == 1) {
                ed_job_count_usage(job, &answer->usage);
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
        bool is_ok = result->is_ok, is_first = index == ed_job_rows_at(job);
        int err;

        answer->request = request;
        answer->id = request->id;
        answer->id_bytes = request->id_bytes;
        answer->number = request->number;
        answer->shard = job->unit->input.shard;
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
                ed_job_count_failure(job, answer);
        ed_job_count_result(job, index, is_ok, result->error, result->status);
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
                ed_job_count_usage(job, &usage);
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

/* Note the URL of a redirect for the summary, which shows no secret. */
static void redirect_note(struct ed_batch_job *job, const char *to)
{
        struct eddy_http_response_info info;

        if (ed_reasons_hide(&job->unit->run->reasons, job->request, to, strlen(to)))
                return;
        eddy_http_response_info(job->attempt.response, &info);
        ed_redirect_note(&job->unit->input.redirect, job->attempt.status, job->request->method,
                         info.url, to);
}

/* Returns the URL of a redirect as the line has it, in 'room', or NULL for other answers. */
static const char *redirect_find(struct ed_batch_job *job, struct ed_draft *room)
{
        struct ed_draft url = { 0 };

        ed_redirect_find(&job->attempt, &url);
        if (url.bytes > 0 && ed_draft_is_whole(&url)) {
                redirect_note(job, url.data);
                ed_location_add_bare(room, url.data);
                ed_draft_add(room, "", 1);
        }
        ed_draft_fini(&url);
        return room->bytes > 0 && ed_draft_is_whole(room) ? room->data : NULL;
}

void ed_job_lines_write(struct ed_batch_job *job, int error)
{
        struct ed_attempt *attempt = &job->attempt;
        struct ed_batch_run *run = job->unit->run;
        struct ed_answer answer = {
                .id = job->request->id,
                .id_bytes = job->request->id_bytes,
                .attempts = job->attempts,
                .at_ms = eddy_time_of_day() / 1000000,
                .queue_ns = attempt->start_ns ? attempt->start_ns - job->read_ns : 0,
                .first_ns = attempt->first_ns,
                .total_ns = attempt->total_ns,
                .is_final = job->is_final,
                /* A file of this machine is not about the server. */
                .endpoint =
                        attempt->endpoint && error != ED_E_FILE ? attempt->endpoint->name : NULL,
        };
        struct result result = {
                .status = attempt->status,
                .body_bytes = attempt->received_bytes,
                .latency_ns = attempt->start_ns ? attempt->total_ns : -1,
                .is_ok = error == 0 && ed_attempt_is_ok(attempt),
        };
        char text[sizeof(attempt->fault.text) + 128];
        struct ed_draft redirect = { 0 };

        if (!result.is_ok)
                answer.redirect = redirect_find(job, &redirect);
        if (error == 0)
                error = answer_describe(job, &answer, text, sizeof(text));
        else
                error_describe(job, &answer, text, sizeof(text));
        result.error = error;
        run->lacks_base |= error == ED_E_NO_BASE;
        if (ed_job_rows_count(job) > 1)
                rows_finish(job, &answer, &result);
        else
                row_finish(job, job->request, ed_job_rows_at(job), &answer, &result);
        ed_draft_fini(&redirect);
        if (result.status == 404 && !*job->unit->input.missing)
                ed_reader_path(job->request->url, job->unit->input.missing);
        ed_job_check_key(job);
        ed_job_check_limits(job);
        if (ed_job_endpoint_is_used_up(job))
                ed_job_endpoint_used_up(job);
}
