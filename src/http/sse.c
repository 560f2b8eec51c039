/*
 * http/sse.c - server-sent events: a response is read after the other, and each continues the last.
 *
 * The state of a stream is its response: with one, bytes are read from it into the parser; without
 * one, another connection is made at 'due_ns'.
 */
#include "eddy/http_sse.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/http_text.h"
#include "eddy/time.h"
#include "http/client.h"
#include "http/fault.h"
#include "http/request_fault.h"
#include "http/status_fault.h"
#include "scope/misuse.h"
#include "scope/suspend.h"
#include "wire/media_type.h"
#include "wire/sse.h"

enum {
        EVENT_DEFAULT_BYTES = 1 << 20,
        RECONNECTS_DEFAULT = 10,
        BUFFER_BYTES = 8 << 10,
        HEADERS_OWN = 3,
        ID_SENT_BYTES_MAX = 4096, /* a longer id is not sent */
};

#define RETRY_DEFAULT_NS EDDY_SEC(3)
#define RETRY_MAX_NS     EDDY_MIN(60) /* of those that a server gives */

struct eddy_http_sse {
        eddy_http_client *client;
        struct eddy_http_request request; /* with the headers below */
        eddy_http_response *response;     /* NULL: between two connections */
        struct ed_sse parser;
        struct eddy_retry_policy policy; /* of connections that fail in a row */
        struct eddy_retry retry;
        struct eddy_retry_cause cause; /* why another connection is necessary */
        int64_t retry_ns;              /* unless the server gives a time */
        int64_t due_ns;                /* time of the next connection; 0: not decided yet */
        uint64_t connections;
        bool reconnects, is_busy, is_over;
        int err;        /* of all further calls */
        size_t at, end; /* the bytes in 'buf' that were not read yet */
        char buf[BUFFER_BYTES];
        size_t headers_count; /* without Last-Event-ID, which may be one more */
        struct eddy_http_header headers[];
};

/* ---- a connection ---------------------------------------------------------- */

/* Set the headers: without an id that a header cannot have. */
static void set_id(eddy_http_sse *sse)
{
        const char *id = ed_sse_last_id(&sse->parser);
        size_t bytes = strlen(id);

        sse->request.headers_count = sse->headers_count;
        if (bytes == 0 || bytes > ID_SENT_BYTES_MAX || !eddy_http_is_value(id, bytes))
                return;
        sse->headers[sse->request.headers_count++] =
                (struct eddy_http_header){ "Last-Event-ID", id };
}

/* Judge a response. Errors: EDDY_E_HTTP_STATUS, EDDY_E_HTTP_CONTENT_TYPE, -ECANCELED */
static int judge(eddy_http_sse *sse, eddy_http_response *response)
{
        int status = eddy_http_response_status(response);
        const char *type;

        if (status == 204) {
                sse->is_over = true;
                return 0;
        }
        if (status != 200) {
                sse->cause.status = status;
                eddy_http_response_retry_hint(response, &sse->cause.hint);
                return ed_http_status_fault(response, sse->request.ret_fault);
        }
        type = eddy_http_response_header(response, "Content-Type");
        if (ed_media_type_is(type, "text/event-stream"))
                return 0;
        ed_http_fault_note(sse->request.ret_fault,
                           "the response has %s%.100s; text/event-stream is expected",
                           type ? "the Content-Type " : "no Content-Type", type ? type : "");
        return EDDY_E_HTTP_CONTENT_TYPE;
}

/* Send the request. After an error, 'cause' has the reason. */
static int connect(eddy_http_sse *sse)
{
        eddy_http_response *response;
        int err;

        set_id(sse);
        sse->cause = (struct eddy_retry_cause){ .repeatable = true };
        err = eddy_http_client_send(sse->client, &sse->request, &response);
        if (err == 0) {
                err = judge(sse, response);
                if (err < 0 || sse->is_over)
                        eddy_http_response_close(response);
        }
        if (err < 0) {
                sse->cause.error = sse->cause.status ? 0 : err;
                return err;
        }
        if (sse->is_over)
                return 0;
        ed_sse_restart(&sse->parser);
        eddy_retry_begin(&sse->retry, &sse->policy);
        sse->response = response;
        sse->at = sse->end = 0;
        sse->due_ns = 0;
        sse->connections++;
        return 0;
}

/* The wait that the server has asked for, without the random part. */
static int64_t retry_ns(const eddy_http_sse *sse)
{
        int64_t ms = sse->parser.retry_ms;

        if (ms < 0)
                return sse->retry_ns;
        return ms < RETRY_MAX_NS / EDDY_MS(1) ? EDDY_MS(ms) : RETRY_MAX_NS;
}

/* Decide when to connect again. Errors: 'last', the reason for which no more are made */
static int plan(eddy_http_sse *sse, int last)
{
        int64_t random_ns;
        int err = eddy_retry_next(&sse->retry, &sse->cause, &random_ns);

        /* The wait is not shortened: the deadline ends it. */
        if (err == EDDY_E_RETRY_DEADLINE)
                random_ns = sse->policy.cap_ns;
        else if (err < 0)
                return last;
        sse->due_ns = eddy_now() + retry_ns(sse) + random_ns;
        return 0;
}

/* Connect at 'due_ns'. Returns 0 also if another wait follows. */
static int reconnect(eddy_http_sse *sse)
{
        int64_t wait_ns = sse->due_ns - eddy_now();
        int err = wait_ns > 0 ? eddy_sleep(wait_ns) : 0;

        if (err == 0)
                err = connect(sse);
        return err < 0 && err != -ECANCELED ? plan(sse, err) : err;
}

/* A stream has ended, or an error of it; 0: whole. Returns 0 also if another one follows. */
static int stream_end(eddy_http_sse *sse, int err)
{
        if (err < 0)
                ed_http_body_fault(sse->response, err, sse->request.ret_fault);
        eddy_http_response_close(sse->response);
        sse->response = NULL;
        if (!sse->reconnects) {
                sse->is_over = err == 0;
                return err;
        }
        if (err == 0)
                err = EDDY_E_HTTP_CLOSED;
        sse->cause = (struct eddy_retry_cause){ .error = err, .repeatable = true };
        return plan(sse, err);
}

/* ---- events ---------------------------------------------------------------- */

/* Returns 1 if the bytes in the buffer complete an event, else 0. */
static int event_find(eddy_http_sse *sse)
{
        bool is_event;
        int64_t n = ed_sse_read(&sse->parser, sse->buf + sse->at, sse->end - sse->at, &is_event);

        if (n == EDDY_E_HTTP_TOO_LARGE)
                ed_http_fault_note(sse->request.ret_fault,
                                   "an event is larger than %zu bytes (event_bytes_max)",
                                   sse->parser.bytes_max);
        if (n < 0)
                return (int) n;
        sse->at += (size_t) n;
        return is_event;
}

/* A step towards the next event. Returns 1 if there is one. */
static int step(eddy_http_sse *sse)
{
        int64_t n;
        int err;

        if (!sse->response)
                return reconnect(sse);
        err = event_find(sse);
        if (err != 0)
                return err;
        n = eddy_http_response_read(sse->response, sse->buf, sizeof(sse->buf));
        if (n == -ECANCELED)
                return -ECANCELED;
        if (n <= 0)
                return stream_end(sse, (int) n);
        sse->at = 0;
        sse->end = (size_t) n;
        return 0;
}

static int next(eddy_http_sse *sse)
{
        int err = 0;

        while (err == 0 && !sse->is_over)
                err = step(sse);
        if (err < 0 && err != -ECANCELED) {
                eddy_http_response_close(sse->response);
                sse->response = NULL;
                sse->err = err;
        }
        return err;
}

int eddy_http_sse_next(eddy_http_sse *sse, struct eddy_http_sse_event *ret_event)
{
        struct ed_sse_event event;
        struct ed_task *task;
        int err;

        if (!sse || !ret_event)
                return -EINVAL;
        err = ed_suspend_enter(&task);
        if (err == 0)
                err = ed_member_check(&sse->client->pool.member);
        if (err < 0)
                return err;
        if (sse->is_busy)
                return -EBUSY;
        if (sse->err < 0)
                return sse->err;
        sse->is_busy = true;
        err = next(sse);
        sse->is_busy = false;
        if (err <= 0)
                return err;
        ed_suspend_passed(task);
        ed_sse_event(&sse->parser, &event);
        *ret_event = (struct eddy_http_sse_event){ .type = event.type,
                                                   .data = event.data,
                                                   .data_bytes = event.data_bytes,
                                                   .id = event.id };
        return 1;
}

/* ---- the whole ------------------------------------------------------------- */

static bool has_header(const struct eddy_http_request *request, const char *name)
{
        for (size_t i = 0; i < request->headers_count; i++)
                if (request->headers[i].name && strcasecmp(request->headers[i].name, name) == 0)
                        return true;
        return false;
}

/* The caller's headers, but for an id, which is set for each connection; and ours. */
static void set_headers(eddy_http_sse *sse, const struct eddy_http_request *request)
{
        size_t n = 0;

        for (size_t i = 0; i < request->headers_count; i++)
                sse->headers[n++] = request->headers[i];
        if (!has_header(request, "Accept"))
                sse->headers[n++] = (struct eddy_http_header){ "Accept", "text/event-stream" };
        if (!has_header(request, "Cache-Control"))
                sse->headers[n++] = (struct eddy_http_header){ "Cache-Control", "no-store" };
        sse->headers_count = n;
        sse->request = *request;
        sse->request.headers = sse->headers;
        sse->request.flags |= EDDY_HTTP_ANY_STATUS | EDDY_HTTP_NO_RETRY; /* of its own */
        if (sse->request.body_bytes_max == 0)
                sse->request.body_bytes_max = UINT64_MAX;
}

static void sse_free(eddy_http_sse *sse)
{
        ed_sse_fini(&sse->parser);
        ed_http_client_unref(sse->client);
        ed_free(sse);
}

static void set_options(eddy_http_sse *sse, const struct eddy_http_sse_opts *opts)
{
        uint32_t reconnects_max = opts->reconnects_max ? opts->reconnects_max : RECONNECTS_DEFAULT;

        sse->retry_ns = opts->retry_ns ? opts->retry_ns : RETRY_DEFAULT_NS;
        sse->policy = (struct eddy_retry_policy){
                .attempts = reconnects_max < UINT32_MAX ? reconnects_max + 1 : UINT32_MAX,
                .base_ns = EDDY_SEC(1),
                .cap_ns = EDDY_MIN(1),
        };
        sse->reconnects = !(opts->flags & EDDY_HTTP_SSE_ONCE) &&
                          eddy_http_request_is_idempotent(&sse->request);
        ed_sse_init(&sse->parser,
                    opts->event_bytes_max ? opts->event_bytes_max : EVENT_DEFAULT_BYTES);
}

/* Returns why an option is refused, or NULL. */
static const char *bad_option(const struct eddy_http_sse_opts *opts)
{
        const char *id = opts->last_event_id;

        if (opts->event_bytes_max > EDDY_HTTP_SSE_EVENT_BYTES_MAX)
                return "event_bytes_max: it is above the maximum";
        if (opts->retry_ns < 0)
                return "retry_ns: it is negative";
        if (opts->flags & ~(unsigned) EDDY_HTTP_SSE_ONCE)
                return "flags: a flag is unknown";
        if (id && (strlen(id) > ID_SENT_BYTES_MAX || !eddy_http_is_value(id, strlen(id))))
                return "last_event_id: a header cannot have this value";
        return NULL;
}

int eddy_http_sse_open(eddy_http_client *client, const struct eddy_http_request *request,
                       const struct eddy_http_sse_opts *opts, eddy_http_sse **ret_sse)
{
        static const struct eddy_http_sse_opts defaults;
        eddy_http_sse *sse;
        const char *bad;
        int err = 0;

        if (!client || !request || !ret_sse)
                return -EINVAL;
        opts = opts ? opts : &defaults;
        if (request->ret_fault)
                ed_http_fault_clear(request->ret_fault);
        bad = bad_option(opts);
        if (bad) {
                ed_http_fault_note(request->ret_fault, "%s", bad);
                return -EINVAL;
        }
        err = ed_http_request_check_headers(request);
        if (err < 0)
                return err;
        sse = ed_alloc_zero(sizeof(*sse) +
                            (request->headers_count + HEADERS_OWN) * sizeof(sse->headers[0]));
        if (!sse)
                return -ENOMEM;
        sse->client = client;
        client->refs++;
        set_headers(sse, request);
        set_options(sse, opts);
        if (opts->last_event_id)
                err = ed_sse_set_last_id(&sse->parser, opts->last_event_id);
        if (err == 0)
                err = connect(sse);
        if (err < 0) {
                sse_free(sse);
                return err;
        }
        *ret_sse = sse;
        return 0;
}

void eddy_http_sse_info(const eddy_http_sse *sse, struct eddy_http_sse_info *ret_info)
{
        if (!ret_info)
                return;
        *ret_info = (struct eddy_http_sse_info){ .last_event_id = "" };
        if (!sse)
                return;
        ret_info->response = sse->response;
        ret_info->last_event_id = ed_sse_last_id(&sse->parser);
        ret_info->retry_ns = retry_ns(sse);
        ret_info->connections = sse->connections;
}

void eddy_http_sse_close(eddy_http_sse *sse)
{
        if (!sse || !ed_misuse_may_close(&sse->client->pool.member, "a stream of events"))
                return;
        eddy_http_response_close(sse->response);
        sse_free(sse);
}
