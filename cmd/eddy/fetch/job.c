/*
 * fetch/job.c - the steps of a URL of `eddy fetch` (engine/engine.h): its attempts, the waits
 * between them, and its line.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/excerpt.h"
#include "common/location.h"
#include "common/outcome.h"
#include "common/url_fault.h"
#include "eddy/alloc.h"
#include "eddy/error.h"
#include "eddy/run.h"
#include "eddy/time.h"
#include "fetch/body_file.h"
#include "fetch/retry.h"
#include "fetch/run.h"
#include "fetch/urls.h"

enum {
        MESSAGE_BYTES = sizeof(struct eddy_http_fault) + 128,
};

/* An attempt and its result. */
struct attempt {
        struct ed_fetch_run *run;
        eddy_scope scope;
        eddy_http_response *response;
        const void *body; /* with --body; valid as long as the response */
        uint64_t bytes;
        bool is_saved;    /* its body goes to the job's file */
        int64_t start_ns; /* 0: no connection was begun or reused yet */
        int64_t elapsed_ns;
        int status; /* 0: none */
        int error;
        bool sent;   /* part of the request may have been sent */
        char *fault; /* a sentence about the error, beside its code; NULL: none */
};

/* The job of a URL. */
struct ed_fetch_job {
        struct ed_engine_job base;
        struct ed_fetch_run *run;
        struct eddy_retry retry;
        struct attempt attempt;   /* the last one */
        struct ed_body_file file; /* with --save */
        uint64_t index;
        bool is_kept; /* its body has a file */
        unsigned attempts;
        size_t bytes;
        char url[]; /* ends in a NUL, and may contain one if the line does */
};

static struct ed_fetch_job *job_of(struct ed_engine_job *base)
{
        return (struct ed_fetch_job *) base; /* its first member */
}

enum ed_stop ed_fetch_stop(const struct ed_fetch_run *run)
{
        if (run->output.err == -EPIPE)
                return ED_STOP_CLOSED;
        if (run->output.err < 0 || run->output.cut || run->save.err < 0)
                return ED_STOP_OUTPUT;
        if (ed_fetch_signal(run) != 0)
                return ED_STOP_SIGNAL;
        if (eddy_scope_expired(run->whole))
                return ED_STOP_DEADLINE;
        return ED_STOP_INTERNAL;
}

/* Start --timeout here, because until now the attempt waited for a connection slot. */
static void attempt_started(const struct eddy_http_attempt *sent, void *arg)
{
        struct attempt *attempt = arg;

        (void) sent;
        if (attempt->start_ns != 0)
                return; /* an earlier request asked for a range */
        attempt->start_ns = eddy_now();
        eddy_scope_set_deadline(&attempt->scope, attempt->start_ns + attempt->run->opts.timeout.ns);
}

static void attempt_sends(const struct eddy_http_attempt *sent, void *arg)
{
        struct attempt *attempt = arg;

        (void) sent;
        attempt->sent = true;
}

/* Read the body in pieces to 'buf', and write the pieces to a file or discard them. */
static int body_take(struct ed_fetch_job *job, char *buf)
{
        struct attempt *attempt = &job->attempt;
        int64_t n;
        int err = 0;

        while (err == 0) {
                n = eddy_http_response_read(attempt->response, buf, ED_FETCH_READ_BYTES);
                if (n <= 0)
                        return (int) n;
                attempt->bytes += (uint64_t) n;
                if (attempt->is_saved)
                        err = ed_body_file_write(&job->file, buf, (size_t) n);
        }
        return err;
}

static int body_receive(struct ed_fetch_job *job)
{
        struct attempt *attempt = &job->attempt;
        char *buf;
        int err;

        /* Jobs that discard their bodies share a buffer, because no job reads its bytes. */
        if (!attempt->is_saved)
                return body_take(job, job->run->discarded);
        buf = eddy_malloc(ED_FETCH_READ_BYTES);
        if (!buf)
                return -ENOMEM;
        err = body_take(job, buf);
        eddy_free(buf);
        if (err == 0)
                err = ed_body_file_end(&job->file);
        if (err == 0)
                attempt->bytes = job->file.bytes; /* also those of earlier attempts */
        return err;
}

/* Send the request, with the headers of a request for the rest of the body if a part of it is there. */
static int request_send(struct ed_fetch_job *job, struct eddy_http_fault *fault)
{
        struct attempt *attempt = &job->attempt;
        struct ed_fetch_run *run = job->run;
        struct ed_body_file_request rest;
        struct eddy_http_hooks hooks = { .on_start = attempt_started,
                                         .on_send = attempt_sends,
                                         .arg = attempt };
        int err = ed_body_file_request(&job->file, &run->opts.headers, &rest);

        if (err < 0)
                return err;
        err = eddy_http_client_send(run->client,
                                    &(struct eddy_http_request){
                                            .method = run->opts.method,
                                            .url = job->url,
                                            .headers = rest.headers,
                                            .headers_count = rest.count,
                                            .body = run->opts.data,
                                            .body_bytes = run->opts.data_bytes,
                                            .hooks = &hooks,
                                            .ret_fault = fault,
                                    },
                                    &attempt->response);
        eddy_free(rest.own);
        return err;
}

/* Send the request, and receive the response. Returns EAGAIN if the whole body must be asked for. */
static int exchange_once(struct ed_fetch_job *job, struct eddy_http_fault *fault)
{
        struct attempt *attempt = &job->attempt;
        int err = request_send(job, fault);

        if (err < 0)
                return err;
        attempt->bytes = 0;
        attempt->status = eddy_http_response_status(attempt->response);
        /* Bodies of failures do not become files, so they take no name. */
        attempt->is_saved = job->run->opts.save && attempt->status < ED_STATS_OK_END;
        if (job->run->opts.save)
                err = ed_body_file_begin(&job->file, attempt->response, attempt->status);
        if (err == EDDY_E_HTTP_INVALID_RESPONSE)
                snprintf(fault->text, sizeof(fault->text),
                         "%s: the status 206, although no range was asked for",
                         ed_outcome_message(err));
        return err ? err : body_receive(job);
}

static int attempt_exchange(struct ed_fetch_job *job, struct eddy_http_fault *fault)
{
        struct attempt *attempt = &job->attempt;
        struct ed_fetch_run *run = job->run;
        size_t bytes;
        int err;

        if (!run->opts.body) {
                while ((err = exchange_once(job, fault)) == EAGAIN) {
                        eddy_http_response_close(attempt->response);
                        attempt->response = NULL;
                }
                /* A failure to write to the folder stops the run. */
                if (run->save.err < 0)
                        eddy_scope_cancel(run->work);
                return run->save.err < 0 ? -ECANCELED : err;
        }
        err = request_send(job, fault);
        if (err < 0)
                return err;
        attempt->status = eddy_http_response_status(attempt->response);
        err = eddy_http_response_body(attempt->response, &attempt->body, &bytes);
        if (err == 0)
                attempt->bytes = bytes;
        return err;
}

/* The scope is left out: it is large, and set when it begins. */
static void attempt_init(struct ed_fetch_job *job)
{
        struct attempt *attempt = &job->attempt;

        attempt->run = job->run;
        attempt->response = NULL;
        attempt->body = NULL;
        attempt->is_saved = false;
        attempt->bytes = 0;
        attempt->start_ns = attempt->elapsed_ns = 0;
        attempt->status = attempt->error = 0;
        attempt->sent = false;
        attempt->fault = NULL;
}

/* Make one attempt within --timeout. */
static int job_attempt(struct ed_engine_job *base)
{
        struct ed_fetch_job *job = job_of(base);
        struct attempt *attempt = &job->attempt;
        struct eddy_http_fault fault;
        int err, end;

        attempt_init(job);
        fault.text[0] = '\0';
        eddy_scope_begin(&attempt->scope, NULL);
        err = attempt_exchange(job, &fault);
        ed_outcome_fault(attempt->response, err, &fault);
        end = eddy_scope_end(&attempt->scope);
        if (attempt->start_ns != 0)
                attempt->elapsed_ns = eddy_now() - attempt->start_ns;
        if (err == -ECANCELED && end == -ETIMEDOUT)
                err = -ETIMEDOUT;
        if (err < 0 && *fault.text)
                attempt->fault = ed_text_copy(fault.text);
        job->attempts += attempt->start_ns != 0;
        return err;
}

static void attempt_release(struct attempt *attempt)
{
        eddy_http_response_close(attempt->response);
        attempt->response = NULL;
        eddy_free(attempt->fault);
        attempt->fault = NULL;
}

/* Returns the wait before the next attempt, or ED_RETRY_*. */
static int64_t attempt_wait(struct ed_fetch_run *run, const struct attempt *attempt,
                            struct eddy_retry *retry)
{
        struct ed_retry result = { .error = attempt->error,
                                   .status = attempt->status,
                                   .sent = attempt->sent,
                                   .idempotent = run->idempotent };
        struct eddy_retry_cause cause;
        int64_t wait_ns;
        int err;

        if (attempt->response)
                eddy_http_response_retry_hint(attempt->response, &result.hint);
        ed_retry_cause_of(&result, &cause);
        err = eddy_retry_next(retry, &cause, &wait_ns);
        if (err == EDDY_E_RETRY_WAIT || err == EDDY_E_RETRY_DEADLINE)
                return ED_RETRY_TOO_LONG;
        return err < 0 ? ED_RETRY_LAST : wait_ns;
}

/*
 * Returns a sentence in 'text' about a time limit that has passed, with its option and value, or
 * NULL for other errors.
 */
static const char *limit_message(const struct ed_fetch_opts *opts, int error,
                                 char text[MESSAGE_BYTES])
{
        switch (error) {
        case -ETIMEDOUT:
                snprintf(text, MESSAGE_BYTES, "no complete response within --timeout %s",
                         opts->timeout.text);
                return text;
        case EDDY_E_HTTP_TIMEOUT_CONNECT:
                snprintf(text, MESSAGE_BYTES, "no connection within --connect-timeout %s",
                         opts->connect_timeout.text);
                return text;
        case EDDY_E_HTTP_TIMEOUT_READ:
                snprintf(text, MESSAGE_BYTES, "no byte sent or received for --read-timeout %s",
                         opts->read_timeout.text);
                return text;
        case ED_E_DEADLINE:
                snprintf(text, MESSAGE_BYTES,
                         "--deadline %s passed before the response was complete",
                         opts->deadline.text);
                return text;
        default:
                return NULL;
        }
}

/* Returns true for errors about a certificate, whose own texts are more exact than OpenSSL's. */
static bool is_about_certificate(int error)
{
        return eddy_error_facility(error) == EDDY_E_TLS && error != EDDY_E_TLS_PROTOCOL &&
               error != EDDY_E_TLS_ALERT && error != EDDY_E_TLS_BAD_CERTIFICATE &&
               error != EDDY_E_TLS_BAD_FILE;
}

/* Returns a sentence about a fault in a URL, whose password is hidden already, or NULL. */
static const char *url_message(const struct ed_fetch_job *job, char text[MESSAGE_BYTES])
{
        const char *fault = ed_url_fault(job->url, job->bytes, text);

        if (!fault && memmem(job->url, job->bytes, "***@", 4))
                return "the URL is not valid: percent-encode / (%2F), ? (%3F), # (%23) and the "
                       "like "
                       "in its user name and password";
        return fault;
}

/*
 * Returns a sentence about an error, with details that only this attempt has, or NULL. The sentence
 * is constant, in 'attempt', or in 'text'.
 */
static const char *detail_message(const struct ed_fetch_opts *opts, const struct attempt *attempt,
                                  const struct ed_fetch_job *job, char text[MESSAGE_BYTES])
{
        const char *fault = attempt->fault ? attempt->fault : "";
        int error = attempt->error;

        if (error == EDDY_E_URL_INVALID)
                return url_message(job, text);
        if (error == EDDY_E_HTTP_PROXY_AUTH && *fault) {
                snprintf(text, MESSAGE_BYTES, "%s: write it as http://USER:PASSWORD@HOST:PORT",
                         fault);
                return text;
        }
        if (error == -ELOOP && *fault) {
                snprintf(text, MESSAGE_BYTES, "%s (--max-redirs)", fault);
                return text;
        }
        if (*fault && !is_about_certificate(error))
                return fault;
        if (strcmp(ed_outcome_of(error)->code, "connect_error") == 0 && opts->connect.unix_path) {
                snprintf(text, MESSAGE_BYTES, "--unix-socket %s: %s", opts->connect.unix_path,
                         ed_outcome_message(error));
                return text;
        }
        return NULL;
}

/* Append the error of a line. The password in the URL is already hidden. */
static void error_add(struct ed_draft *line, const struct ed_fetch_run *run,
                      const struct ed_fetch_job *job, const struct attempt *attempt)
{
        int error = attempt->error;
        char text[MESSAGE_BYTES];
        const char *message = limit_message(&run->opts, error, text);
        size_t bytes = message ? strlen(text) : 0;

        if (message && attempt->fault) /* what the attempt was doing then */
                snprintf(text + bytes, sizeof(text) - bytes, ": %s", attempt->fault);
        if (!message)
                message = detail_message(&run->opts, attempt, job, text);
        ed_draft_add_str(line, "{\"code\":");
        ed_draft_add_json_str(line, ed_outcome_of(error)->code);
        ed_draft_add_str(line, ",\"message\":");
        ed_draft_add_json_str(line, message ? message : ed_outcome_message(error));
        ed_draft_add_str(line, "}");
}

/* Hide the password in the URL, which may not be valid. */
static void job_hide(struct ed_fetch_job *job, int error)
{
        char text[ED_URL_FAULT_BYTES];
        /* If a response arrived, the URL is valid. */
        bool refused = error < 0 &&
                       (ed_outcome_is_line(error) || ed_url_fault(job->url, job->bytes, text));

        job->bytes = ed_urls_hide_password(job->url, job->bytes, refused);
}

/*
 * Append the URL to which redirects led or, if they were not followed, lead, without user name and
 * query.
 */
static void redirect_add(struct ed_draft *line, const struct attempt *attempt)
{
        struct eddy_http_response_info info;
        struct ed_draft url = { 0 }, bare = { 0 };
        const char *location = NULL;

        if (attempt->error < 0)
                return;
        eddy_http_response_info(attempt->response, &info);
        if (attempt->status >= 300 && attempt->status <= 399)
                location = eddy_http_response_header(attempt->response, "Location");
        if (!location && info.redirects == 0)
                return;
        if (location)
                ed_location_add(&url, info.url, location);
        else
                ed_draft_add_str(&url, info.url);
        ed_draft_add(&url, "", 1);
        if (ed_draft_is_whole(&url))
                ed_location_add_bare(&bare, url.data);
        if (ed_draft_is_whole(&bare) && bare.bytes > 0) {
                ed_draft_add_str(line, ",\"redirect\":");
                ed_draft_add_json(line, bare.data, bare.bytes);
        }
        ed_draft_fini(&bare);
        ed_draft_fini(&url);
}

/* Build the line. This also hides the password in the URL, which is not used after this. */
static void line_build(struct ed_draft *line, struct ed_fetch_job *job)
{
        const struct attempt *attempt = &job->attempt;
        const struct ed_fetch_run *run = job->run;

        ed_draft_add_str(line, "{\"index\":");
        ed_draft_add_u64(line, job->index);
        ed_draft_add_str(line, ",\"url\":");
        job_hide(job, attempt->error);
        ed_draft_add_json(line, job->url, job->bytes);
        ed_draft_add_str(line, ",\"status\":");
        if (attempt->status)
                ed_draft_add_u64(line, (uint64_t) attempt->status);
        else
                ed_draft_add_str(line, "null");
        ed_draft_add_str(line, ",\"bytes\":");
        ed_draft_add_u64(line, attempt->bytes);
        ed_draft_add_str(line, ",\"ms\":");
        ed_draft_add_ms(line, attempt->elapsed_ns);
        ed_draft_add_str(line, ",\"attempts\":");
        ed_draft_add_u64(line, job->attempts);
        ed_draft_add_str(line, ",\"error\":");
        if (attempt->error < 0)
                error_add(line, run, job, attempt);
        else
                ed_draft_add_str(line, "null");
        redirect_add(line, attempt);
        if (run->opts.save) {
                ed_draft_add_str(line, ",\"file\":");
                if (job->is_kept)
                        ed_draft_add_json_str(line, job->file.file.name);
                else
                        ed_draft_add_str(line, "null");
        }
        if (run->opts.body) {
                ed_draft_add_str(line, ",\"body\":");
                if (attempt->error == 0 && attempt->body)
                        ed_draft_add_json_body(line, attempt->body, (size_t) attempt->bytes);
                else
                        ed_draft_add_str(line, "null");
        }
        ed_draft_add_str(line, "}\n");
}

/* Build the job's line, release the attempt, and write the line. */
static void job_finish(struct ed_engine_job *base, int error)
{
        struct ed_fetch_job *job = job_of(base);
        struct attempt *attempt = &job->attempt;
        struct ed_fetch_run *run = job->run;
        int64_t latency_ns = attempt->sent ? attempt->elapsed_ns : -1;
        struct ed_draft line = { 0 };
        int err = 0;

        attempt->error = error;
        job->is_kept = error == 0 && attempt->is_saved;
        if (job->is_kept)
                err = ed_save_file_keep(&run->save, &job->file.file);
        if (err == 0)
                line_build(&line, job);
        if (err == 0 && !ed_draft_is_whole(&line)) {
                attempt->error = -ENOMEM;
                ed_draft_reset(&line, 0);
                line_build(&line, job);
        }
        attempt_release(attempt);
        if (!job->is_kept)
                ed_save_dir_leave(&job->file.file);
        ed_engine_job_give_slot(base); /* the next request need not wait for this line */
        if (err == 0 && job->is_kept && ed_draft_is_whole(&line))
                err = ed_save_record(&run->save, line.data, line.bytes);
        if (err == 0)
                err = ed_draft_is_whole(&line) ? ed_output_line(&run->output, line.data, line.bytes)
                                               : -ENOMEM;
        ed_draft_fini(&line);
        if (run->output.cut)
                eddy_scope_cancel(run->work);
        if (err == 0) {
                if (job->is_kept)
                        ed_save_dir_recorded(&job->file.file);
                ed_stats_add(&run->stats, attempt->status, attempt->error, attempt->bytes,
                             latency_ns);
                return;
        }
        run->stats.lost++;
        eddy_scope_cancel(run->work);
}

/*
 * Finish a job whose work was cancelled. With --deadline, the job gets a line, so that every URL
 * that was read has a line; otherwise the job is only counted.
 */
static void job_abandon(struct ed_engine_job *base)
{
        struct ed_fetch_job *job = job_of(base);

        if (ed_fetch_stop(job->run) == ED_STOP_DEADLINE)
                job_finish(base, ED_E_DEADLINE);
        else if (job->attempts > 0)
                job->run->stats.cancelled++;
        else
                job->run->stats.not_started++;
}

static enum ed_verdict job_judge(struct ed_engine_job *base, int err, int64_t *ret_wait_ns)
{
        struct ed_fetch_job *job = job_of(base);
        int64_t wait_ns;

        if (base->refused)
                return ED_VERDICT_DONE;
        if (err == -ECANCELED)
                return ED_VERDICT_ABANDONED;
        job->attempt.error = err;
        wait_ns = attempt_wait(job->run, &job->attempt, &job->retry);
        if (wait_ns < 0) {
                job->run->stats.not_retried += wait_ns == ED_RETRY_TOO_LONG;
                return ED_VERDICT_DONE;
        }
        base->cause = err < 0 ? err : job->attempt.status;
        attempt_release(&job->attempt);
        ed_body_file_pause(&job->file);
        *ret_wait_ns = wait_ns;
        return ED_VERDICT_RETRY;
}

static void job_free(struct ed_engine_job *base)
{
        struct ed_fetch_job *job = job_of(base);

        attempt_release(&job->attempt);
        if (!job->is_kept)
                ed_save_dir_leave(&job->file.file);
        eddy_free(job);
}

const struct ed_engine_job_ops ed_fetch_job_ops = {
        .attempt = job_attempt,
        .judge = job_judge,
        .finish = job_finish,
        .abandon = job_abandon,
        .free = job_free,
};

/* Returns 1 if a result of an earlier run has the URL, in which the password is hidden. Errors: -ENOMEM */
static int is_saved(struct ed_fetch_run *run, const char *url, size_t bytes)
{
        char *shown;
        bool is_there;

        if (run->resume.count == 0 || !memchr(url, '@', bytes))
                return ed_resume_take(&run->resume, url, bytes);
        shown = eddy_malloc(bytes + ED_URLS_STARS_BYTES);
        if (!shown)
                return -ENOMEM;
        memcpy(shown, url, bytes);
        is_there = ed_resume_take(&run->resume, shown, ed_urls_hide_password(shown, bytes, false));
        eddy_free(shown);
        return is_there;
}

int ed_fetch_add(struct ed_fetch_run *run, const char *url, size_t bytes, int refused)
{
        uint64_t index = run->index++;
        struct ed_fetch_job *job;
        int err = refused == 0 ? is_saved(run, url, bytes) : 0;

        if (err != 0)
                return err < 0 ? err : 0;
        job = eddy_malloc(sizeof(*job) + bytes + ED_URLS_STARS_BYTES + 1);
        if (!job)
                return -ENOMEM;
        job->base = (struct ed_engine_job){ .engine = &run->engine,
                                            .work = run->work,
                                            .bytes = sizeof(*job) + bytes,
                                            .refused = refused };
        job->run = run;
        job->index = index;
        job->is_kept = false;
        run->stats.read++;
        job->attempts = 0;
        job->bytes = bytes;
        memcpy(job->url, url, bytes);
        job->url[bytes] = '\0';
        ed_body_file_init(&job->file, &run->save, job->url, index, run->is_continued);
        attempt_init(job);
        eddy_retry_begin(&job->retry, &run->retry_policy);
        err = ed_engine_job_start(&job->base);
        if (err < 0) {
                job_abandon(&job->base);
                job_free(&job->base);
        }
        return err;
}
