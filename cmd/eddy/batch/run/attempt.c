/*
 * batch/run/attempt.c - sends a request and receives its answer.
 */
#include "batch/run/attempt.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "batch/answer/answer_line.h"
#include "batch/answer/rule.h"
#include "batch/request/api_path.h"
#include "batch/request/sent.h"
#include "batch/run/receive.h"
#include "batch/run/run.h"
#include "common/outcome.h"
#include "common/url_parts.h"
#include "eddy/alloc.h"
#include "eddy/error.h"
#include "eddy/http_multipart.h"
#include "eddy/http_text.h"
#include "eddy/time.h"

#define BEARER "Bearer "

enum {
        URL_BYTES_MAX = 64 << 10,
        HEADERS_OWN = ED_SENT_OWN + 2, /* and the API key, the idempotency key */
};

void ed_attempt_init(struct ed_attempt *attempt, struct ed_batch_run *run, struct ed_attempts *all,
                     const struct ed_request *request)
{
        memset(attempt, 0, offsetof(struct ed_attempt, fault));
        attempt->fault.text[0] = '\0';
        attempt->run = run;
        attempt->all = all;
        attempt->request = request;
        attempt->first_ns = -1;
}

void ed_attempt_fini(struct ed_attempt *attempt)
{
        eddy_http_response_close(attempt->response);
        attempt->response = NULL;
        eddy_http_multipart_close(attempt->form);
        attempt->form = NULL;
        ed_draft_fini(&attempt->assembled);
        attempt->body = NULL;
        attempt->body_bytes = 0;
}

/* The time until now was a wait for a connection, which is not part of the attempt. */
static void attempt_started(const struct eddy_http_attempt *sent, void *arg)
{
        struct ed_attempt *attempt = arg;
        const struct ed_request *request = attempt->request;
        struct ed_batch_run *run = attempt->run;
        int64_t end_ns;

        (void) sent;
        attempt->start_ns = eddy_now();
        end_ns = attempt->start_ns +
                 (request->timeout_ns ? request->timeout_ns : run->settings->timeout_ns);
        if (end_ns > attempt->all->end_ns)
                end_ns = attempt->all->end_ns;
        eddy_scope_set_deadline(&attempt->scope, end_ns);
}

/* ---- those in flight ----------------------------------------------------------------------- */

static void attempt_add(struct ed_attempts *attempts, struct ed_attempt *attempt)
{
        attempt->next = attempts->first;
        attempt->at = &attempts->first;
        if (attempt->next)
                attempt->next->at = &attempt->next;
        attempts->first = attempt;
}

static void attempt_remove(struct ed_attempt *attempt)
{
        *attempt->at = attempt->next;
        if (attempt->next)
                attempt->next->at = attempt->at;
}

void ed_attempts_end(struct ed_attempts *attempts, int64_t end_ns)
{
        attempts->end_ns = end_ns;
        for (struct ed_attempt *attempt = attempts->first; attempt; attempt = attempt->next)
                if (eddy_scope_deadline(&attempt->scope) > end_ns)
                        eddy_scope_set_deadline(&attempt->scope, end_ns);
}

/* ---- the request --------------------------------------------------------------------------- */

/* A request as the client takes it, in one allocation. */
struct sent {
        struct ed_sent all;
        char *url;
        char *key; /* the API key, as it is sent, because the run may replace it meanwhile */
        size_t key_bytes;
        char repeat[17]; /* the idempotency key */
        struct eddy_http_header headers[];
};

/* Add the API key, unless the line or the command line has set its header. */
static void key_add(struct ed_attempt *attempt, const char *value, uint32_t generation,
                    struct sent *sent)
{
        const char *header = attempt->run->settings->api_key_header;

        if (!value || ed_sent_has(&sent->all, header ? header : "Authorization"))
                return;
        snprintf(sent->key, sent->key_bytes, "%s%s", header ? "" : BEARER, value);
        ed_sent_default(&sent->all, header ? header : "Authorization", sent->key);
        attempt->key_generation = generation;
}

/* A header of the line replaces that of the command line. */
static void headers_make(struct ed_attempt *attempt, const char *key, uint32_t generation,
                         struct sent *sent)
{
        const struct ed_request *request = attempt->request;
        const struct ed_batch_settings *settings = attempt->run->settings;

        ed_sent_fill(&sent->all, request, &settings->headers,
                     eddy_http_multipart_type(attempt->form));
        key_add(attempt, key, generation, sent);
        if (settings->idempotency_header) {
                snprintf(sent->repeat, sizeof(sent->repeat), "%016llx",
                         (unsigned long long) ed_request_key(request));
                ed_sent_default(&sent->all, settings->idempotency_header, sent->repeat);
        }
}

/* Returns the API key of a request and its generation, or NULL. */
static const char *key_find(const struct ed_attempt *attempt, uint32_t *ret_generation)
{
        /* The client sends the user name of a URL. */
        if (attempt->endpoint->key == 0 || ed_url_parts(attempt->request->url).has_userinfo)
                return NULL;
        return ed_api_key_value(attempt->run->keys, attempt->endpoint->key, ret_generation);
}

static int sent_new(struct ed_attempt *attempt, struct sent **ret_sent)
{
        uint32_t generation = 0;
        const char *key = key_find(attempt, &generation);
        size_t key_bytes = key ? strlen(BEARER) + strlen(key) + 1 : 0;
        const char *base = attempt->endpoint->base, *path = attempt->request->url;
        size_t base_bytes = *path == '/' ? ed_sent_base_bytes(base, path) : 0,
               path_bytes = strlen(path);
        size_t headers = attempt->request->headers_count + attempt->run->settings->headers.count +
                         HEADERS_OWN;
        struct sent *sent;

        if (base_bytes + path_bytes > URL_BYTES_MAX)
                return EDDY_E_URL_INVALID;
        sent = eddy_malloc(sizeof(*sent) + headers * sizeof(sent->headers[0]) + base_bytes +
                           path_bytes + 1 + key_bytes);
        if (!sent)
                return -ENOMEM;
        sent->all = (struct ed_sent){ .headers = sent->headers };
        sent->url = (char *) &sent->headers[headers];
        if (base_bytes > 0)
                memcpy(sent->url, base, base_bytes);
        memcpy(sent->url + base_bytes, path, path_bytes + 1);
        sent->key = sent->url + base_bytes + path_bytes + 1;
        sent->key_bytes = key_bytes;
        headers_make(attempt, key, generation, sent);
        *ret_sent = sent;
        return 0;
}

static void sent_free(struct sent *sent)
{
        explicit_bzero(sent->key, sent->key_bytes);
        eddy_free(sent);
}

/* Returns the error of a form that could not be sent: that of a file, unless this machine is the cause. */
static int form_error(int err)
{
        return err == -ENOMEM || err == -ECANCELED || err == -EMFILE || err == -ENFILE ? err
                                                                                       : ED_E_FILE;
}

/* Look up the files of the form, whose contents are read while they are sent. */
static int form_open(struct ed_attempt *attempt)
{
        const struct ed_request *request = attempt->request;

        if (request->parts_count == 0)
                return 0;
        attempt->multipart = (struct eddy_http_multipart){ .parts = request->parts,
                                                           .parts_count = request->parts_count };
        return eddy_http_multipart_open(&attempt->multipart, &attempt->fault, &attempt->form);
}

/* Returns the error of an exchange; if the form's file was its cause, also stores that reason. */
static int form_judge(struct ed_attempt *attempt, int err)
{
        const char *fault = eddy_http_multipart_fault(attempt->form);

        if (err >= 0 || !*fault)
                return err;
        snprintf(attempt->fault.text, sizeof(attempt->fault.text), "%s", fault);
        return form_error(err);
}

/* ---- the exchange --------------------------------------------------------------------------- */

static int attempt_exchange(struct ed_attempt *attempt)
{
        const struct ed_request *request = attempt->request;
        struct eddy_http_hooks hooks = { .on_start = attempt_started, .arg = attempt };
        struct sent *sent;
        int err = form_open(attempt);

        if (err < 0)
                return form_error(err);
        err = sent_new(attempt, &sent);
        if (err < 0)
                return err;
        err = eddy_http_client_send(
                attempt->run->client,
                &(struct eddy_http_request){
                        .method = request->method,
                        .url = sent->url,
                        .headers = sent->headers,
                        .headers_count = sent->all.count,
                        .body = request->body,
                        .body_bytes = request->body_bytes,
                        .body_source = eddy_http_multipart_source(attempt->form),
                        .hooks = &hooks,
                        .ret_fault = &attempt->fault,
                },
                &attempt->response);
        sent_free(sent);
        if (err < 0)
                return form_judge(attempt, err);
        err = ed_attempt_receive(attempt);
        ed_outcome_fault(attempt->response, err, &attempt->fault);
        return form_judge(attempt, err); /* the rest may be sent while the answer arrives */
}

/* Each redirect that was followed is a request too, of the limits of the endpoint to which the first went. */
static void redirects_count(struct ed_attempt *attempt)
{
        struct eddy_http_response_info info;

        if (attempt->error == -ELOOP)
                attempt->redirects = attempt->run->settings->redirects_max;
        if (attempt->response) {
                eddy_http_response_info(attempt->response, &info);
                attempt->redirects = info.redirects;
        }
        if (attempt->redirects > 0)
                ed_attempt_reconcile(attempt, attempt->reservation.tokens);
}

/* ---- judging --------------------------------------------------------------------------------- */

static const char *header_of(void *arg, const char *name)
{
        return eddy_http_response_header(arg, name);
}

/*
 * Compact the body of an API's answer: that shows if it is JSON, and its line needs it so. A body that
 * is not JSON, or for which memory is short, stays as it is.
 */
static void body_compact(struct ed_attempt *attempt)
{
        struct ed_draft compact = { 0 };
        char *room = ed_draft_room(&compact, attempt->body_bytes);
        int64_t bytes =
                room ? ed_answer_body_compact(attempt->body, attempt->body_bytes, room) : -ENOMEM;

        if (bytes < 0) {
                ed_draft_fini(&compact);
                return;
        }
        compact.bytes = (size_t) bytes;
        ed_draft_fini(&attempt->assembled);
        attempt->assembled = compact;
        attempt->body = compact.data;
        attempt->body_bytes = compact.bytes;
        attempt->is_compact = true;
}

/* Decide if the answer is a success, and if --retry-if holds. */
static int attempt_judge(struct ed_attempt *attempt)
{
        const struct ed_rule *rule = &attempt->run->settings->rule;
        const struct ed_request *request = attempt->request;
        bool is_api = request->body && ed_api_path_is(request->url);
        struct ed_condition_answer answer = { 0 };
        int again;

        attempt->received_bytes = attempt->body_bytes;
        if (attempt->error == 0 && is_api && ed_answer_status_is_ok(attempt->status) &&
            attempt->body_bytes > 0)
                body_compact(attempt);
        if (attempt->error == 0)
                answer = (struct ed_condition_answer){ .status = attempt->status,
                                                       .body = attempt->body,
                                                       .body_bytes = attempt->body_bytes,
                                                       .is_json = attempt->is_compact,
                                                       .header = header_of,
                                                       .header_arg = attempt->response };
        again = rule->retry_if ? ed_condition_holds(rule->retry_if, &answer) : 0;
        attempt->is_again = again == 1;
        if (attempt->is_again && attempt->error == 0)
                eddy_http_response_retry_hint(attempt->response, &attempt->hint);
        if (attempt->error < 0 || again < 0)
                return again < 0 ? again : 0;
        attempt->judged = ed_rule_judge(rule, is_api, &answer);
        if (attempt->judged == ED_E_ANSWER_HAS_ERROR || attempt->judged == ED_E_ANSWER_NOT_OK)
                ed_attempt_report(attempt, attempt->body, attempt->body_bytes, false);
        return attempt->judged == -ENOMEM ? -ENOMEM : 0;
}

bool ed_attempt_is_ok(const struct ed_attempt *attempt)
{
        return attempt->error == 0 && attempt->judged == 0;
}

static bool are_secret(const struct eddy_http_header *headers, size_t count)
{
        for (size_t i = 0; i < count; i++)
                if (eddy_http_header_is_secret(headers[i].name))
                        return true;
        return false;
}

bool ed_attempt_line_has_headers(const struct ed_attempt *attempt)
{
        const struct ed_request *request = attempt->request;

        return request->headers_count > attempt->run->templates.headers_count ||
               are_secret(request->headers, request->headers_count);
}

bool ed_attempt_has_credentials(const struct ed_attempt *attempt)
{
        const struct ed_request *request = attempt->request;
        const struct ed_headers *headers = &attempt->run->settings->headers;

        return attempt->key_generation > 0 || ed_url_parts(request->url).has_userinfo ||
               are_secret(request->headers, request->headers_count) ||
               are_secret(headers->items, headers->count);
}

int ed_attempt_status(const struct ed_attempt *attempt)
{
        enum { STATUS_SERVER = 500, STATUS_GATEWAY = 502 };

        if (attempt->reported > 0)
                return attempt->reported;
        if (attempt->error < 0)
                return 0;
        if (attempt->judged == ED_E_ANSWER_NOT_JSON)
                return STATUS_GATEWAY;
        return attempt->judged < 0 ? STATUS_SERVER : attempt->status;
}

void ed_attempt_make(struct ed_attempt *attempt)
{
        int err, end;

        eddy_scope_begin(&attempt->scope,
                         &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD,
                                                    .deadline_ns = attempt->all->end_ns });
        attempt_add(attempt->all, attempt);
        err = attempt_exchange(attempt);
        attempt_remove(attempt);
        end = eddy_scope_end(&attempt->scope);
        if (attempt->start_ns != 0)
                attempt->total_ns = eddy_now() - attempt->start_ns;
        /* The end of the run is not a limit of the request. */
        attempt->error = err == -ECANCELED && end == -ETIMEDOUT && eddy_now() < attempt->all->end_ns
                                 ? -ETIMEDOUT
                                 : err;
        redirects_count(attempt);
        err = attempt_judge(attempt);
        if (err < 0)
                attempt->error = err;
        attempt->endpoint->sent++;
        if (ed_attempt_is_ok(attempt))
                attempt->endpoint->ok++;
        else
                attempt->endpoint->failed++;
}

void ed_attempt_reconcile(struct ed_attempt *attempt, uint64_t tokens)
{
        eddy_limiter_reconcile(attempt->endpoint->limiter, &attempt->reservation,
                               1 + attempt->redirects, tokens);
}

enum eddy_concurrency_result ed_attempt_load(const struct ed_attempt *attempt)
{
        int status = ed_attempt_status(attempt);

        if (attempt->error == -ETIMEDOUT)
                return EDDY_CONCURRENCY_OVERLOAD;
        if (!ed_attempt_is_ok(attempt) &&
            (attempt->refusal.meaning == ED_MEANS_PAUSE || status == 503))
                return ed_endpoints_adapt(&attempt->run->endpoints) ? EDDY_CONCURRENCY_OVERLOAD
                                                                    : EDDY_CONCURRENCY_UNKNOWN;
        return attempt->error == 0 ? EDDY_CONCURRENCY_OK : EDDY_CONCURRENCY_UNKNOWN;
}
