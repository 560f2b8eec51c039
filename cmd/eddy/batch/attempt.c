/*
 * batch/attempt.c - sends a request and receives its answer.
 */
#include "batch/attempt.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "batch/answer.h"
#include "batch/run.h"
#include "batch/stream.h"
#include "common/outcome.h"
#include "eddy/alloc.h"
#include "eddy/error.h"
#include "eddy/time.h"

enum {
        READ_BYTES = 16 << 10,
        URL_BYTES_MAX = 64 << 10,
        STATUS_NO_CONTENT = 204,
        HEADERS_OWN = 3, /* Content-Type, the API key, the idempotency key */
};

/* For details after the finish_reason of all choices, and for the end of a body. */
#define FINISHED_WAIT_NS EDDY_SEC(10)
#define DRAIN_WAIT_NS    EDDY_MS(100)

_Static_assert((int) ED_STREAM_FAULT_BYTES <= (int) sizeof(((struct eddy_tls_fault *) 0)->text),
               "there is room for the sentence about a stream");

void ed_attempt_init(struct ed_attempt *attempt, struct ed_batch_run *run,
                     const struct ed_request *request)
{
        memset(attempt, 0, offsetof(struct ed_attempt, fault));
        attempt->fault.text[0] = '\0';
        attempt->run = run;
        attempt->request = request;
        attempt->first_ns = -1;
}

void ed_attempt_fini(struct ed_attempt *attempt)
{
        eddy_http_response_close(attempt->response);
        attempt->response = NULL;
        ed_draft_fini(&attempt->assembled);
        attempt->body = NULL;
        attempt->body_bytes = 0;
}

/* The time before was a wait for a connection, which is not part of the attempt. */
static void attempt_started(void *arg)
{
        struct ed_attempt *attempt = arg;
        const struct ed_request *request = attempt->request;
        struct ed_batch_run *run = attempt->run;
        int64_t end_ns;

        if (attempt->start_ns != 0)
                return; /* the library repeats a request on a stale connection */
        attempt->start_ns = eddy_now();
        end_ns = attempt->start_ns +
                 (request->timeout_ns ? request->timeout_ns : run->opts.timeout_ns);
        if (end_ns > run->drain_end_ns)
                end_ns = run->drain_end_ns;
        eddy_scope_set_deadline(&attempt->scope, end_ns);
}

void ed_attempt_limit(struct ed_attempt *attempt, int64_t end_ns)
{
        if (attempt->begun && eddy_scope_deadline(&attempt->scope) > end_ns)
                eddy_scope_set_deadline(&attempt->scope, end_ns);
}

/* ---- the request --------------------------------------------------------------------------- */

/* A request as the client takes it, in one allocation. */
struct sent {
        size_t count;
        char *url;
        char repeat[17]; /* the idempotency key */
        struct eddy_http_header headers[];
};

static bool has_header(const struct sent *sent, const char *name)
{
        for (size_t i = 0; i < sent->count; i++)
                if (strcasecmp(sent->headers[i].name, name) == 0)
                        return true;
        return false;
}

/* Add a header unless the line or the command line has set it. */
static void header_default(struct sent *sent, const char *name, const char *value)
{
        if (!has_header(sent, name))
                sent->headers[sent->count++] = (struct eddy_http_header){ name, value };
}

/* Returns the bytes of a base URL that come before a path. */
static size_t base_bytes_of(const char *base, const char *path)
{
        size_t bytes = strlen(base);

        while (bytes > 0 && base[bytes - 1] == '/')
                bytes--;
        /* "http://host/v1" and "/v1/models": bases often have the /v1 that the lines have too. */
        if (bytes > 3 && memcmp(base + bytes - 3, "/v1", 3) == 0 && strncmp(path, "/v1/", 4) == 0)
                bytes -= 3;
        return bytes;
}

/* Returns true if a URL has a user name, which the client sends. */
static bool has_credentials(const char *url)
{
        const char *host = strstr(url, "://");

        return *url != '/' && host && memchr(host + 3, '@', strcspn(host + 3, "/?#"));
}

/* A header of the line replaces that of the command line. */
static void headers_make(const struct ed_attempt *attempt, struct sent *sent)
{
        const struct ed_request *request = attempt->request;
        const struct ed_batch_opts *opts = &attempt->run->opts;

        for (size_t i = 0; i < request->headers_count; i++)
                sent->headers[sent->count++] = request->headers[i];
        for (size_t i = 0; i < opts->headers.count; i++)
                header_default(sent, opts->headers.items[i].name, opts->headers.items[i].value);
        if (request->body)
                header_default(sent, "Content-Type", "application/json");
        if (opts->api_key && attempt->endpoint->is_main && !has_credentials(request->url))
                header_default(sent, opts->api_key_header ? opts->api_key_header : "Authorization",
                               opts->api_key);
        if (opts->idempotency_header) {
                snprintf(sent->repeat, sizeof(sent->repeat), "%016llx",
                         (unsigned long long) ed_request_key(request));
                header_default(sent, opts->idempotency_header, sent->repeat);
        }
}

static int sent_new(const struct ed_attempt *attempt, struct sent **ret_sent)
{
        const char *base = attempt->endpoint->base, *path = attempt->request->url;
        size_t base_bytes = *path == '/' ? base_bytes_of(base, path) : 0, path_bytes = strlen(path);
        size_t headers =
                attempt->request->headers_count + attempt->run->opts.headers.count + HEADERS_OWN;
        struct sent *sent;

        if (base_bytes + path_bytes > URL_BYTES_MAX)
                return EDDY_E_URL_INVALID;
        sent = eddy_malloc(sizeof(*sent) + headers * sizeof(sent->headers[0]) + base_bytes +
                           path_bytes + 1);
        if (!sent)
                return -ENOMEM;
        sent->count = 0;
        sent->url = (char *) &sent->headers[headers];
        if (base_bytes > 0)
                memcpy(sent->url, base, base_bytes);
        memcpy(sent->url + base_bytes, path, path_bytes + 1);
        headers_make(attempt, sent);
        *ret_sent = sent;
        return 0;
}

/* ---- the answer ---------------------------------------------------------------------------- */

/* Read a part of a stream until a time; 0: no limit. */
static int64_t stream_read(struct ed_attempt *attempt, char *buf, int64_t until_ns)
{
        eddy_scope wait;
        int64_t n;

        eddy_scope_begin(&wait, &(struct eddy_scope_opts){ .deadline_ns = until_ns });
        n = eddy_http_response_read(attempt->response, buf, READ_BYTES);
        eddy_scope_end(&wait);
        return n;
}

/*
 * Read a stream to the end of its answer. The end of the body is not waited for: some servers keep
 * the connection open, and some lose it. After the finish_reason, details and [DONE] may follow.
 */
static int stream_read_all(struct ed_attempt *attempt, struct ed_stream *stream, char *buf)
{
        const struct ed_assembly *assembly = stream->assembly;
        int64_t n, finished_ns = 0;
        int err = 0;

        while (err == 0 && !ed_assembly_is_ended(assembly)) {
                if (finished_ns == 0 &&
                    ed_assembly_is_finished(assembly, attempt->request->choices))
                        finished_ns = eddy_now();
                n = stream_read(attempt, buf, finished_ns ? finished_ns + FINISHED_WAIT_NS : 0);
                if (n <= 0)
                        return finished_ns ? 0 : (int) n;
                err = ed_stream_take(stream, buf, (size_t) n);
                if (attempt->first_ns < 0 && ed_assembly_has_token(assembly))
                        attempt->first_ns = eddy_now() - attempt->start_ns;
        }
        return 0;
}

/* Receive the end of the body if it has come, or comes in a moment, so that the connection is kept. */
static void stream_drain(struct ed_attempt *attempt, char *buf)
{
        int64_t until_ns = eddy_now() + DRAIN_WAIT_NS;

        while (stream_read(attempt, buf, until_ns) > 0)
                ;
}

/* Receive a stream, and assemble the answer. */
static int stream_receive(struct ed_attempt *attempt)
{
        char *buf = eddy_malloc(READ_BYTES);
        struct eddy_http_response_info info;
        struct ed_stream stream;
        int err;

        if (!buf)
                return -ENOMEM;
        err = ed_stream_init(&stream);
        if (err < 0)
                goto out_buf;
        err = stream_read_all(attempt, &stream, buf);
        if (err == 0) {
                err = ed_stream_end(&stream, &attempt->assembled, attempt->fault.text);
                if (ed_assembly_is_ended(stream.assembly))
                        stream_drain(attempt, buf);
        }
        if (stream.form == ED_STREAM_BODY) {
                eddy_http_response_info(attempt->response, &info);
                attempt->first_ns = info.timings.first_byte_ns;
        }
        attempt->body = attempt->assembled.data;
        attempt->body_bytes = attempt->assembled.bytes;
        ed_stream_fini(&stream);
out_buf:
        eddy_free(buf);
        return err;
}

/* Keep the code of an error such as {"error":{"code":"insufficient_quota"}}. */
static void code_read(struct ed_attempt *attempt)
{
        static const char *const paths[] = { "error.code", "error.type", "code" };
        struct eddy_json_value whole, value;

        if (eddy_json_parse(attempt->body, attempt->body_bytes, NULL, &whole, NULL) < 0)
                return;
        for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
                if (eddy_json_get(&whole, paths[i], &value) == 0 &&
                    eddy_json_string(&value, attempt->code, sizeof(attempt->code)) > 0)
                        return;
}

static int answer_receive(struct ed_attempt *attempt)
{
        struct eddy_http_response_info info;
        int err;

        attempt->status = eddy_http_response_status(attempt->response);
        attempt->request_id = eddy_http_response_header(attempt->response, "x-request-id");
        eddy_http_response_info(attempt->response, &info);
        if (attempt->status >= 400)
                eddy_http_response_retry_hint(attempt->response, &attempt->hint);
        attempt->learned_wait_ns =
                ed_endpoint_learn(attempt->endpoint, attempt->response,
                                  attempt->hint.has_wait ? attempt->hint.wait_ns : INT64_MAX);
        if (attempt->request->streams && ed_answer_status_is_ok(attempt->status) &&
            attempt->status != STATUS_NO_CONTENT)
                return stream_receive(attempt);
        attempt->first_ns = info.timings.first_byte_ns;
        err = eddy_http_response_body(attempt->response, &attempt->body, &attempt->body_bytes);
        if (err == 0 && attempt->status >= 400)
                code_read(attempt);
        return err;
}

static int attempt_exchange(struct ed_attempt *attempt)
{
        const struct ed_request *request = attempt->request;
        struct sent *sent;
        int err = sent_new(attempt, &sent);

        if (err < 0)
                return err;
        err = eddy_http_client_send(attempt->run->client,
                                    &(struct eddy_http_request){
                                            .method = request->method,
                                            .url = sent->url,
                                            .headers = sent->headers,
                                            .headers_count = sent->count,
                                            .body = request->body,
                                            .body_bytes = request->body_bytes,
                                            .on_start = attempt_started,
                                            .on_start_arg = attempt,
                                            .ret_tls_fault = &attempt->fault,
                                    },
                                    &attempt->response);
        eddy_free(sent);
        if (err < 0)
                return err;
        err = answer_receive(attempt);
        ed_outcome_fault(attempt->response, err, &attempt->fault);
        return err;
}

void ed_attempt_make(struct ed_attempt *attempt)
{
        int err, end;

        eddy_scope_begin(&attempt->scope,
                         &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD,
                                                    .deadline_ns = attempt->run->drain_end_ns });
        attempt->begun = true;
        err = attempt_exchange(attempt);
        attempt->begun = false;
        end = eddy_scope_end(&attempt->scope);
        if (attempt->start_ns != 0)
                attempt->total_ns = eddy_now() - attempt->start_ns;
        attempt->error = err == -ECANCELED && end == -ETIMEDOUT ? -ETIMEDOUT : err;
        attempt->endpoint->sent++;
        if (attempt->error == 0 && ed_answer_status_is_ok(attempt->status))
                attempt->endpoint->ok++;
        else
                attempt->endpoint->failed++;
}

void ed_attempt_reconcile(struct ed_attempt *attempt, uint64_t tokens)
{
        eddy_limiter_reconcile(attempt->endpoint->limiter, &attempt->reservation, 1, tokens);
}

enum eddy_concurrency_result ed_attempt_load(const struct ed_attempt *attempt)
{
        if (attempt->error == -ETIMEDOUT && attempt->run->drain_end_ns == INT64_MAX)
                return EDDY_CONCURRENCY_OVERLOAD;
        if (attempt->error == 0 && (attempt->status == 429 || attempt->status == 503))
                return ed_endpoints_adapt(&attempt->run->endpoints) ? EDDY_CONCURRENCY_OVERLOAD
                                                                    : EDDY_CONCURRENCY_UNKNOWN;
        return attempt->error == 0 ? EDDY_CONCURRENCY_OK : EDDY_CONCURRENCY_UNKNOWN;
}

bool ed_attempt_is_out_of_quota(const struct ed_attempt *attempt)
{
        static const char *const codes[] = { "insufficient_quota", "credit_balance_exhausted",
                                             "billing_hard_limit_reached" };

        if (attempt->error < 0 || (attempt->status != 429 && attempt->status != 402))
                return false;
        for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
                if (strcmp(attempt->code, codes[i]) == 0)
                        return true;
        return false;
}
