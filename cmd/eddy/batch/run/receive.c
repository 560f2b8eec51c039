/*
 * batch/run/receive.c - receives the answer of an attempt.
 */
#include "batch/run/receive.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "batch/answer/answer_line.h"
#include "batch/answer/body_error.h"
#include "batch/run/content.h"
#include "batch/stream/stream.h"
#include "eddy/alloc.h"
#include "eddy/error.h"
#include "eddy/time.h"

enum { READ_BYTES = 16 << 10, STATUS_NO_CONTENT = 204 };

/* For details after the finish_reason of all choices, and for the end of a body. */
#define FINISHED_WAIT_NS EDDY_SEC(10)
#define DRAIN_WAIT_NS    EDDY_MS(100)

_Static_assert((int) ED_STREAM_FAULT_BYTES <= (int) sizeof(((struct eddy_http_fault *) 0)->text),
               "there is room for the sentence about a stream");

/* The state of a stream or a coded body while it is received. */
struct receiving {
        struct ed_content content;
        struct ed_stream stream;
        char buf[READ_BYTES];
};

/* ---- streams -------------------------------------------------------------------------------- */

/* Read a part of a stream until a time; 0: no limit. */
static int64_t stream_read(struct receiving *receiving, int64_t until_ns)
{
        eddy_scope wait;
        int64_t n;

        eddy_scope_begin(&wait, &(struct eddy_scope_opts){ .deadline_ns = until_ns });
        n = ed_content_read(&receiving->content, receiving->buf, READ_BYTES);
        eddy_scope_end(&wait);
        return n;
}

/*
 * Read a stream to the end of its answer. The end of the body is not waited for: some servers keep
 * the connection open, and some lose it. After the finish_reason, details and [DONE] may follow.
 */
static int stream_read_all(struct ed_attempt *attempt, struct receiving *receiving)
{
        const struct ed_assembly *assembly = receiving->stream.assembly;
        int64_t n, finished_ns = 0;
        int err = 0;

        while (err == 0 && !ed_assembly_is_ended(assembly)) {
                if (finished_ns == 0 &&
                    ed_assembly_is_finished(assembly, attempt->request->choices))
                        finished_ns = eddy_now();
                n = stream_read(receiving, finished_ns ? finished_ns + FINISHED_WAIT_NS : 0);
                if (n <= 0)
                        return finished_ns ? 0 : (int) n;
                err = ed_stream_take(&receiving->stream, receiving->buf, (size_t) n);
                if (attempt->first_ns < 0 && ed_assembly_has_token(assembly))
                        attempt->first_ns = eddy_now() - attempt->start_ns;
        }
        return 0;
}

/* Receive the end of the body if it has come, or comes in a moment, so that the connection is kept. */
static void stream_drain(struct receiving *receiving)
{
        int64_t until_ns = eddy_now() + DRAIN_WAIT_NS;

        while (stream_read(receiving, until_ns) > 0)
                ;
}

void ed_attempt_report(struct ed_attempt *attempt, const char *text, size_t bytes, bool is_event)
{
        struct eddy_json_value whole, error = { .text = NULL };
        bool is_json = eddy_json_parse(text, bytes, NULL, &whole, NULL) == 0;
        bool has_error = is_json && ed_body_error_find(&whole, &error);

        /* Members such as "code" of a body without an error are the user's data. */
        if (!has_error && !is_event)
                return;
        if (is_json)
                attempt->reported = ed_body_error_status(has_error ? &error : &whole);
        ed_refusal_read(&attempt->refusal, attempt->status, false, text, bytes, &attempt->hint);
        if (attempt->refusal.meaning == ED_MEANS_OTHER && attempt->reported > 0)
                ed_refusal_read(&attempt->refusal, attempt->reported, false, text, bytes,
                                &attempt->hint);
}

static int stream_end(struct ed_attempt *attempt, struct receiving *receiving)
{
        const struct ed_assembly *assembly = receiving->stream.assembly;
        size_t bytes;
        int err = ed_stream_end(&receiving->stream, &attempt->assembled, attempt->fault.text);
        const char *report = ed_assembly_error(assembly, &bytes);

        if (report)
                ed_attempt_report(attempt, report, bytes, true);
        if (ed_assembly_is_ended(assembly))
                stream_drain(receiving);
        return err;
}

/* Receive a stream, and assemble the answer. */
static int stream_receive(struct ed_attempt *attempt, struct receiving *receiving)
{
        struct eddy_http_response_info info;
        int err = ed_stream_init(&receiving->stream);

        if (err < 0)
                return err;
        err = stream_read_all(attempt, receiving);
        if (err == 0)
                err = stream_end(attempt, receiving);
        if (receiving->stream.form == ED_STREAM_BODY) {
                eddy_http_response_info(attempt->response, &info);
                attempt->first_ns = info.timings.first_byte_ns;
        }
        ed_stream_fini(&receiving->stream);
        return err;
}

/* ---- all answers ---------------------------------------------------------------------------- */

/* Receive a stream, or a body that is coded. */
static int parts_receive(struct ed_attempt *attempt, bool is_stream)
{
        struct receiving *receiving = eddy_malloc(sizeof(*receiving));
        int err;

        if (!receiving)
                return -ENOMEM;
        ed_content_init(&receiving->content, attempt->response);
        err = is_stream ? stream_receive(attempt, receiving)
                        : ed_content_read_all(&receiving->content, &attempt->assembled);
        if (err == EDDY_E_HTTP_CODING_INVALID ||
            (err < 0 && receiving->content.at_end && !attempt->fault.text[0]))
                snprintf(attempt->fault.text, sizeof(attempt->fault.text),
                         "the compressed answer is damaged, or ends early");
        attempt->body = attempt->assembled.data;
        attempt->body_bytes = attempt->assembled.bytes;
        ed_content_fini(&receiving->content);
        eddy_free(receiving);
        return err;
}

/* Leave out a byte order mark, which is not part of a JSON text (RFC 8259, 8.1). */
static void mark_skip(struct ed_attempt *attempt)
{
        const char *text = attempt->body;
        size_t bytes = attempt->body_bytes;

        if (bytes < 3 || memcmp(text, "\xef\xbb\xbf", 3) != 0 ||
            eddy_json_check(text + 3, bytes - 3, NULL, NULL) < 0)
                return;
        attempt->body = text + 3;
        attempt->body_bytes = bytes - 3;
}

static void head_read(struct ed_attempt *attempt)
{
        attempt->status = eddy_http_response_status(attempt->response);
        attempt->request_id = eddy_http_response_header(attempt->response, "x-request-id");
        if (attempt->status >= 400)
                eddy_http_response_retry_hint(attempt->response, &attempt->hint);
        attempt->learned_wait_ns =
                ed_endpoint_learn(attempt->endpoint, attempt->response,
                                  attempt->hint.has_wait ? attempt->hint.wait_ns : INT64_MAX);
}

int ed_attempt_receive(struct ed_attempt *attempt)
{
        struct eddy_http_response_info info;
        bool is_stream;
        int err;

        head_read(attempt);
        is_stream = attempt->request->streams && ed_answer_status_is_ok(attempt->status) &&
                    attempt->status != STATUS_NO_CONTENT;
        if (!is_stream) {
                eddy_http_response_info(attempt->response, &info);
                attempt->first_ns = info.timings.first_byte_ns;
        }
        if (is_stream || eddy_http_response_header(attempt->response, "Content-Encoding"))
                err = parts_receive(attempt, is_stream);
        else
                err = eddy_http_response_body(attempt->response, &attempt->body,
                                              &attempt->body_bytes);
        if (err < 0)
                return err;
        mark_skip(attempt);
        if (attempt->status >= 400)
                ed_refusal_read(&attempt->refusal, attempt->status, attempt->learned_wait_ns > 0,
                                attempt->body, attempt->body_bytes, &attempt->hint);
        return 0;
}
