/*
 * http/http1_server.c - a handler's calls by HTTP/1: reading a request's head and body.
 */
#include "http/http1_server.h"

#include <errno.h>
#include <string.h>

#include "eddy/error.h"
#include "eddy/stream_ops.h"
#include "http/added.h"
#include "http/http1_answer.h"
#include "http/http1_gone.h"
#include "http/http1_hints.h"
#include "http/http1_info.h"
#include "http/http1_out.h"
#include "http/http1_trailers.h"
#include "http/problem.h"
#include "scope/suspend.h"

static struct ed_http1_exchange *http1_of(const eddy_http_exchange *exchange)
{
        return ed_http1_exchange_of(exchange);
}

/* ---- the request ----------------------------------------------------------- */

static const char *slice_text(const struct ed_http1_exchange *exchange, struct ed_http1_slice slice)
{
        return ed_http_message_text(&exchange->message) + slice.at;
}

/* Returns the start of a target's path, which follows the authority in an absolute target. */
static const char *path_of(const struct ed_http1_exchange *exchange, const char *target)
{
        if (exchange->message.head.target_form != ED_HTTP1_ABSOLUTE)
                return target;
        target = strstr(target, "://") + 3;
        return target + strcspn(target, "/?");
}

/* Append text and a NUL to the exchange's copies. */
static int copy_add(struct ed_http1_exchange *exchange, const char *text, size_t bytes)
{
        int err = ed_buf_append(&exchange->copies, text, bytes);

        return err < 0 ? err : ed_buf_append(&exchange->copies, "", 1);
}

/* Copy path and host: the target has no room for their NULs. */
static int take_target(struct ed_http1_exchange *exchange)
{
        const struct ed_http1_head *head = &exchange->message.head;
        const char *path = path_of(exchange, slice_text(exchange, head->target));
        const char *query = strchr(path, '?');
        size_t bytes = query ? (size_t) (query - path) : strlen(path);
        int err;

        exchange->query = query ? query + 1 : "";
        ed_buf_consume(&exchange->copies, ed_buf_bytes(&exchange->copies));
        err = bytes > 0 ? copy_add(exchange, path, bytes) : copy_add(exchange, "/", 1);
        if (err < 0)
                return err;
        if (head->target_form != ED_HTTP1_ABSOLUTE) {
                exchange->host = head->host.bytes > 0 ? slice_text(exchange, head->host) : "";
                return 0;
        }
        bytes = ed_buf_bytes(&exchange->copies);
        err = copy_add(exchange, slice_text(exchange, head->host), head->host.bytes);
        exchange->host = ed_buf_data(&exchange->copies) + bytes;
        return err;
}

int ed_http_exchange_begin_request(struct ed_http1_exchange *exchange)
{
        const struct ed_http1_head *head = &exchange->message.head;
        int err;

        exchange->answer = ED_HTTP_UNANSWERED;
        exchange->status = 0;
        exchange->trailers_added = 0;
        exchange->taken_before = exchange->stream->taken;
        exchange->head_only = ed_http1_answers_to(slice_text(exchange, head->method),
                                                  head->method.bytes) == ED_HTTP1_TO_HEAD;
        exchange->chunked = false;
        exchange->continued = !head->expect_continue;
        exchange->aborted = false;
        exchange->refused[0] = '\0';
        exchange->failed = 0;
        ed_http1_out_reset(exchange);
        ed_http_pace_reset(&exchange->upload);
        if (!head->keep_alive)
                exchange->closing = true;
        /* The head may move here, so no earlier pointer into it exists. */
        err = ed_http_message_begin_body(&exchange->message);
        if (err < 0)
                return err;
        ed_http_message_terminate(&exchange->message);
        return take_target(exchange);
}

static const char *http1_method(const eddy_http_exchange *base)
{
        const struct ed_http1_exchange *exchange = http1_of(base);

        return slice_text(exchange, exchange->message.head.method);
}

static const char *http1_target(const eddy_http_exchange *base)
{
        const struct ed_http1_exchange *exchange = http1_of(base);

        return slice_text(exchange, exchange->message.head.target);
}

static const char *http1_path(const eddy_http_exchange *base)
{
        const struct ed_http1_exchange *exchange = http1_of(base);

        return ed_buf_data(&exchange->copies); /* the path is the first copy */
}

static const char *http1_query(const eddy_http_exchange *base)
{
        const struct ed_http1_exchange *exchange = http1_of(base);

        return exchange->query;
}

static const char *http1_host(const eddy_http_exchange *base)
{
        const struct ed_http1_exchange *exchange = http1_of(base);

        return exchange->host;
}

static const char *http1_header(const eddy_http_exchange *base, const char *name)
{
        return ed_http_message_header(&http1_of(base)->message, name);
}

static int http1_header_at(const eddy_http_exchange *base, size_t i,
                           struct eddy_http_header *ret_header)
{
        return ed_http_message_header_at(&http1_of(base)->message, i, ret_header);
}

/* The client may be waiting for this response before it sends its body (RFC 9110, 10.1.1). */
static int send_continue(struct ed_http1_exchange *exchange)
{
        static const struct eddy_slice interim = { "HTTP/1.1 100 Continue\r\n\r\n", 25 };

        if (exchange->continued || exchange->answer != ED_HTTP_UNANSWERED)
                return 0;
        exchange->continued = true;
        return ed_http1_out_send(exchange, &interim, 1);
}

/*
 * Handle the result of a read. After a failed read the next request cannot be found, so the
 * connection ends. After a cancel reading can continue.
 */
static int64_t read_ended(struct ed_http1_exchange *exchange, struct ed_task *task, int64_t n)
{
        if (n < 0) {
                exchange->closing = true;
                if (n != -ECANCELED)
                        exchange->failed = (int) n;
                return n;
        }
        if (exchange->cancels_at_end)
                ed_http1_gone_body_read(exchange);
        ed_suspend_passed(task);
        return n;
}

static int64_t http1_read(eddy_http_exchange *base, void *buf, size_t bytes)
{
        struct ed_http1_exchange *exchange = http1_of(base);
        struct ed_task *task;
        int64_t n;
        int err = ed_http_exchange_read_begin(exchange->failed, bytes, &task);

        if (err < 0)
                return err;
        n = send_continue(exchange);
        if (n == 0)
                n = ed_http_message_read(&exchange->message, buf, bytes);
        return read_ended(exchange, task, n);
}

static int http1_body(eddy_http_exchange *base, const void **ret_data, size_t *ret_bytes)
{
        struct ed_http1_exchange *exchange = http1_of(base);
        struct ed_task *task;
        int err = ed_http_exchange_read_begin(exchange->failed, 1, &task);

        if (err < 0)
                return err;
        err = send_continue(exchange);
        if (err == 0)
                err = ed_http_message_gather(&exchange->message);
        err = (int) read_ended(exchange, task, err);
        if (err < 0)
                return err;
        *ret_data = exchange->message.whole;
        *ret_bytes = exchange->message.whole_bytes;
        return 0;
}

static int64_t http1_body_bytes(const eddy_http_exchange *base)
{
        const struct ed_http1_head *head = &http1_of(base)->message.head;

        if (head->framing == ED_HTTP1_BY_LENGTH)
                return (int64_t) head->content_length;
        return head->framing == ED_HTTP1_NO_BODY ? 0 : -1;
}

static int http1_limit_body(eddy_http_exchange *base, uint64_t bytes_max)
{
        struct ed_http_message *message = &http1_of(base)->message;
        struct ed_http1_body *body = &message->body;

        if (message->head.framing == ED_HTTP1_BY_LENGTH && message->head.content_length > bytes_max)
                return EDDY_E_HTTP_TOO_LARGE;
        if (bytes_max < body->max)
                body->max = bytes_max > body->bytes ? bytes_max : body->bytes;
        return 0;
}

static int http1_add_header(eddy_http_exchange *base, const char *name, const char *value)
{
        struct ed_http1_exchange *exchange = http1_of(base);

        if (exchange->answer != ED_HTTP_UNANSWERED)
                return EDDY_E_HTTP_STATE;
        return ed_http_added_append(&exchange->added, name, value, exchange->refused);
}

static bool http1_added_next(const eddy_http_exchange *base, size_t *at,
                             struct eddy_http_header *ret_header)
{
        return ed_http_added_next(&http1_of(base)->added, at, ret_header);
}

static void http1_abort(eddy_http_exchange *base)
{
        struct ed_http1_exchange *exchange = http1_of(base);

        exchange->aborted = true;
}

void ed_http1_request_failure(const struct ed_http1_exchange *exchange,
                              struct ed_http_failure *ret_failure)
{
        enum ed_http1_fault fault = exchange->message.body.fault;

        *ret_failure = (struct ed_http_failure){ .error = exchange->failed };
        if (exchange->failed == EDDY_E_HTTP_TOO_LARGE ||
            exchange->failed == EDDY_E_HTTP_INVALID_REQUEST) {
                ret_failure->status = ed_http1_fault_status(fault);
                ret_failure->detail = ed_http1_fault_text(fault);
        } else if (exchange->failed == EDDY_E_HTTP_TRUNCATED) {
                ret_failure->status = 400;
                ret_failure->detail = "the body was cut short";
        } else if (exchange->failed == EDDY_E_NET_TIMED_OUT) {
                ret_failure->status = 408;
                ret_failure->detail = "the body came too slowly";
        }
}

void ed_http1_answer_missing(struct ed_http1_exchange *exchange, int result)
{
        struct ed_http_failure failure;

        ed_http1_request_failure(exchange, &failure);
        exchange->is_own = true;
        if (failure.status)
                ed_http_exchange_refuse(exchange, failure.status, failure.detail);
        else if (result < 0 || exchange->refused[0])
                ed_http_exchange_refuse(exchange, 500, "the server failed");
        else if (exchange->failed == 0)
                exchange->failed = ed_http_problem_respond(&exchange->base, 404, NULL);
}

static int http1_refuse(eddy_http_exchange *base, const char *reason)
{
        return ed_http_refuse(http1_of(base)->refused, "%s", reason);
}

static void http1_failure(const eddy_http_exchange *base, int result,
                          struct ed_http_failure *ret_failure)
{
        const struct ed_http1_exchange *exchange = http1_of(base);

        *ret_failure = (struct ed_http_failure){ .error = 0 };
        if (exchange->answer != ED_HTTP_UNANSWERED || exchange->aborted)
                return;
        if (exchange->failed < 0)
                ed_http1_request_failure(exchange, ret_failure);
        else if (result < 0)
                ret_failure->error = result;
        else if (exchange->refused[0])
                ret_failure->error = EDDY_E_HTTP_INVALID_ANSWER;
        else
                ret_failure->status = 404;
}

static void http1_take_over(eddy_http_exchange *base, int result,
                            struct ed_http_failure *ret_failure)
{
        struct ed_http1_exchange *exchange = http1_of(base);

        http1_failure(base, result, ret_failure);
        if (exchange->answer == ED_HTTP_UNANSWERED && !exchange->aborted)
                exchange->is_own = true;
}

static void http1_answer_missing(eddy_http_exchange *base, int result)
{
        struct ed_http1_exchange *exchange = http1_of(base);

        if (exchange->answer == ED_HTTP_UNANSWERED && !exchange->aborted)
                ed_http1_answer_missing(exchange, result);
}

const struct ed_http_exchange_ops ed_http1_exchange_ops = {
        .method = http1_method,
        .target = http1_target,
        .path = http1_path,
        .query = http1_query,
        .host = http1_host,
        .header = http1_header,
        .header_at = http1_header_at,
        .trailer_at = ed_http1_trailer_at,
        .read = http1_read,
        .body = http1_body,
        .limit_body = http1_limit_body,
        .body_bytes = http1_body_bytes,
        .add_header = http1_add_header,
        .added_next = http1_added_next,
        .add_trailer = ed_http1_add_trailer,
        .early_hints = ed_http1_early_hints,
        .respond = ed_http1_answer_respond,
        .begin = ed_http1_answer_begin,
        .write = ed_http1_answer_write,
        .send_file = ed_http1_answer_send_file,
        .end = ed_http1_answer_end,
        .flush = ed_http1_answer_flush,
        .keep = ed_http1_answer_keep,
        .upgrade = ed_http1_answer_upgrade,
        .abort = http1_abort,
        .info = ed_http1_info,
        .refuse = http1_refuse,
        .failure = http1_failure,
        .take_over = http1_take_over,
        .answer_missing = http1_answer_missing,
};
