/*
 * http/http1_answer.c - answering a request of HTTP/1: whole, in pieces, or by an upgrade.
 */
#include "http/http1_answer.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "eddy/error.h"
#include "eddy/serve.h"
#include "eddy/stream_ops.h"
#include "http/answer_head.h"
#include "http/http1_gone.h"
#include "http/http1_out.h"
#include "http/http1_trailers.h"
#include "http/problem.h"
#include "scope/suspend.h"

/* Unread request bodies up to this size are read and dropped, to keep the connection. */
enum { UNREAD_BYTES_MAX = 256 << 10 };

/*
 * Returns true if the unread rest of the request's body is small enough to be read and dropped.
 * Otherwise the connection cannot be kept.
 */
static bool rest_is_small(const struct ed_http1_exchange *exchange)
{
        const struct ed_http_message *message = &exchange->message;

        if (message->body.done)
                return true;
        if (message->head.framing == ED_HTTP1_CHUNKED)
                return ed_http_message_chunks_are_whole(message);
        if (!exchange->continued || message->head.framing != ED_HTTP1_BY_LENGTH)
                return false;
        return message->head.content_length - message->body.bytes <= UNREAD_BYTES_MAX;
}

/* Returns false for a malformed field; other errors are found at the end of the head. */
static inline bool write_field(void *arg, const char *name, size_t name_bytes, const char *value,
                               size_t value_bytes)
{
        struct ed_http1_writer *writer = arg;

        ed_http1_write_field(writer, name, name_bytes, value, value_bytes);
        return writer->err != EDDY_E_HTTP_INVALID_REQUEST;
}

/* Write the headers that were added, then those of the answer. */
static int write_fields(struct ed_http1_exchange *exchange, struct ed_http1_writer *writer,
                        const struct eddy_http_header *headers, size_t n, bool *ret_date)
{
        struct ed_http_answer_head head = { .added = &exchange->added,
                                            .headers = headers,
                                            .headers_count = n,
                                            .is_own = exchange->is_own };
        int err = ed_http_answer_head_write(&head, write_field, writer, exchange->refused);

        exchange->closing |= head.closes;
        *ret_date = head.has_date;
        return err;
}

/* End the head. */
static int write_head_end(struct ed_http1_exchange *exchange, struct ed_http1_writer *writer)
{
        int err = ed_http1_write_end(writer);

        if (err == -EMSGSIZE)
                return ed_http_refuse(exchange->refused, "its head is larger than %zu bytes",
                                      exchange->out.max);
        return err;
}

/* Write a head to 'out', for a body of 'body_bytes'. */
static int fill_head(struct ed_http1_exchange *exchange, int status,
                     const struct eddy_http_header *headers, size_t n, int64_t body_bytes)
{
        const struct ed_http1_head *head = &exchange->message.head;
        struct ed_http1_writer writer;
        bool has_date;
        int err;

        ed_http1_write_response(&writer, &exchange->out, status, NULL, 0);
        err = write_fields(exchange, &writer, headers, n, &has_date);
        if (err < 0)
                return err;
        if (!has_date)
                ed_http1_put_field(&writer, "Date", 4, exchange->date, strlen(exchange->date));
        if (exchange->chunked)
                ed_http1_write_field(&writer, "Transfer-Encoding", 17, "chunked", 7);
        else if (body_bytes >= 0 && !ed_http_status_has_no_body(status))
                ed_http1_write_number(&writer, "Content-Length", 14, (uint64_t) body_bytes);
        if (status == 426) /* with the header Upgrade (RFC 9110, 7.8) */
                ed_http1_write_field(&writer, "Connection", 10, "Upgrade", 7);
        if (exchange->closing)
                ed_http1_write_field(&writer, "Connection", 10, "close", 5);
        else if (head->minor == 0)
                ed_http1_write_field(&writer, "Connection", 10, "keep-alive", 10);
        return write_head_end(exchange, &writer);
}

/* Begin an answer: put a head into 'out', and decide how the body will end. */
static int begin_answer(struct ed_http1_exchange *exchange, int status,
                        const struct eddy_http_header *headers, size_t n, int64_t body_bytes)
{
        const struct ed_http1_head *head = &exchange->message.head;
        bool no_body = ed_http_status_has_no_body(status);
        int err;

        if (exchange->answer != ED_HTTP_UNANSWERED)
                return EDDY_E_HTTP_STATE;
        err = ed_http_check_status(status, body_bytes, exchange->refused);
        if (err < 0)
                return err;
        if (status == 205)
                body_bytes = 0;
        if (!rest_is_small(exchange) || eddy_serve_is_stopping())
                exchange->closing = true;
        exchange->chunked = body_bytes < 0 && !no_body && head->minor > 0;
        if (body_bytes < 0 && !no_body && !exchange->chunked)
                exchange->closing = true; /* HTTP/1.0: the body ends with the connection */
        err = fill_head(exchange, status, headers, n, body_bytes);
        if (err < 0) {
                ed_http1_out_reset(exchange);
                return err;
        }
        exchange->status = (int16_t) status;
        exchange->head_only |= no_body;
        exchange->left = no_body ? 0 : body_bytes;
        exchange->answer = ED_HTTP_ANSWERING;
        return 0;
}

/* After an error it is unknown how much was sent, so close the connection. */
static int sent(struct ed_http1_exchange *exchange, int err)
{
        if (err < 0)
                exchange->closing = true;
        return err;
}

/* Keep a part of an answer that is not the last part, or send it. */
static int keep_or_send(struct ed_http1_exchange *exchange, struct ed_task *task,
                        const struct eddy_slice *slices, size_t n)
{
        if (!ed_http1_out_keep(exchange, slices, n))
                return sent(exchange, ed_http1_out_send(exchange, slices, n));
        ed_suspend_passed(task);
        return 0;
}

/* Send what is kept and the slices, which complete the answer. */
static int send_whole(struct ed_http1_exchange *exchange, const struct eddy_slice *slice, size_t n)
{
        int err = ed_http1_out_send(exchange, slice, n);

        if (err >= 0)
                exchange->answer = ED_HTTP_ANSWERED;
        return sent(exchange, err);
}

int ed_http1_answer_respond(eddy_http_exchange *base, int status,
                            const struct eddy_http_header *headers, size_t headers_count,
                            const void *body, size_t body_bytes)
{
        struct ed_http1_exchange *exchange = ed_http1_exchange_of(base);
        struct eddy_slice slice = { body, body_bytes };
        struct ed_task *task;
        int err = ed_suspend_enter(&task);

        if (err < 0)
                return err;
        if (body_bytes > INT64_MAX || (!body && body_bytes > 0))
                return ed_http_refuse(exchange->refused,
                                      "its body is NULL, or larger than 2^63 - 1 bytes");
        err = begin_answer(exchange, status, headers, headers_count, (int64_t) body_bytes);
        if (err < 0)
                return err;
        err = send_whole(exchange, &slice, exchange->head_only ? 0 : 1);
        if (err == -ECANCELED)
                ed_http1_out_reset(exchange); /* the head does not leave without the body */
        return err;
}

int ed_http1_answer_begin(eddy_http_exchange *base, int status,
                          const struct eddy_http_header *headers, size_t headers_count,
                          int64_t body_bytes)
{
        struct ed_http1_exchange *exchange = ed_http1_exchange_of(base);
        struct ed_task *task;
        int err = ed_suspend_enter(&task);

        if (err >= 0)
                err = begin_answer(exchange, status, headers, headers_count,
                                   body_bytes < 0 ? -1 : body_bytes);
        return err < 0 ? err : keep_or_send(exchange, task, NULL, 0);
}

/* Begin a call that continues a response. */
static int answering_begin(const struct ed_http1_exchange *exchange, struct ed_task **ret_task)
{
        int err = ed_suspend_enter(ret_task);

        if (err < 0)
                return err;
        return exchange->answer == ED_HTTP_ANSWERING ? 0 : EDDY_E_HTTP_STATE;
}

int ed_http1_answer_write(eddy_http_exchange *base, const void *data, size_t bytes)
{
        struct ed_http1_exchange *exchange = ed_http1_exchange_of(base);
        char size[ED_HTTP1_CHUNK_HEAD_MAX];
        struct eddy_slice slices[3] = { { size, 0 }, { data, bytes }, { "\r\n", 2 } };
        struct ed_task *task;
        int err = answering_begin(exchange, &task);

        if (err < 0)
                return err;
        if (!data && bytes > 0)
                return -EINVAL;
        if (exchange->left >= 0) {
                if (bytes > (uint64_t) exchange->left) {
                        exchange->closing = true;
                        return EDDY_E_HTTP_STATE;
                }
                exchange->left -= (int64_t) bytes;
        }
        if (bytes == 0 || exchange->head_only) {
                ed_suspend_passed(task);
                return 0;
        }
        if (!exchange->chunked)
                return keep_or_send(exchange, task, &slices[1], 1);
        slices[0].bytes = ed_http1_chunk_head(size, bytes);
        return keep_or_send(exchange, task, slices, 3);
}

int64_t ed_http1_answer_send_file(eddy_http_exchange *base, const eddy_file *file, int64_t offset,
                                  size_t bytes)
{
        struct ed_http1_exchange *exchange = ed_http1_exchange_of(base);
        struct ed_task *task;
        int64_t n;
        int err = answering_begin(exchange, &task);

        if (err < 0)
                return err;
        if (exchange->head_only || exchange->left < 0 || bytes > (uint64_t) exchange->left)
                return -ENOTSUP; /* eddy_http_exchange_write() knows what to do */
        n = ed_http1_out_send_file(exchange, file, offset, bytes);
        if (n > 0)
                exchange->left -= n;
        if (n == -EAGAIN || n == -ENOTSUP)
                return n;
        return n < 0 ? sent(exchange, (int) n) : n;
}

bool ed_http1_answer_keep(eddy_http_exchange *base, const char *piece, size_t bytes)
{
        struct ed_http1_exchange *exchange = ed_http1_exchange_of(base);
        char size[ED_HTTP1_CHUNK_HEAD_MAX];
        const struct eddy_slice slices[3] = { { size, ed_http1_chunk_head(size, bytes) },
                                              { piece, bytes },
                                              { "\r\n", 2 } };

        if (exchange->answer != ED_HTTP_ANSWERING || exchange->out_error < 0 ||
            exchange->left >= 0 || exchange->head_only)
                return false;
        if (exchange->chunked)
                (void) !ed_http1_out_keep(exchange, slices, 3);
        else
                (void) !ed_http1_out_keep(exchange, &slices[1], 1);
        return true;
}

static int end_with_trailers(struct ed_http1_exchange *exchange)
{
        const struct eddy_slice slices[2] = { ed_http1_trailers_slice(exchange), { "\r\n", 2 } };

        return send_whole(exchange, slices, 2);
}

int ed_http1_answer_end(eddy_http_exchange *base)
{
        static const struct eddy_slice last = { ED_HTTP1_LAST_CHUNK,
                                                sizeof(ED_HTTP1_LAST_CHUNK) - 1 };
        struct ed_http1_exchange *exchange = ed_http1_exchange_of(base);
        struct ed_task *task;
        int err = answering_begin(exchange, &task);

        if (err < 0)
                return err;
        if (exchange->left > 0 && !exchange->head_only) {
                exchange->closing = true;
                return EDDY_E_HTTP_STATE;
        }
        if (exchange->trailers_added > 0)
                return end_with_trailers(exchange);
        return send_whole(exchange, &last, exchange->chunked && !exchange->head_only ? 1 : 0);
}

int ed_http1_answer_flush(eddy_http_exchange *base)
{
        struct ed_http1_exchange *exchange = ed_http1_exchange_of(base);
        struct ed_task *task;
        int err = answering_begin(exchange, &task);

        if (err < 0)
                return err;
        err = ed_http1_out_send(exchange, NULL, 0);
        if (err == 0)
                ed_suspend_passed(task);
        return sent(exchange, err);
}

/* Write the head of a 101 to 'out'. */
static int write_upgrade(struct ed_http1_exchange *exchange, const struct eddy_http_header *headers,
                         size_t n)
{
        bool has_upgrade = false, has_date;
        struct ed_http1_writer writer;
        int err;

        for (size_t i = 0; i < n; i++)
                has_upgrade |= headers[i].name && strcasecmp(headers[i].name, "upgrade") == 0;
        if (!has_upgrade)
                return ed_http_refuse(exchange->refused, "a 101 needs the header \"Upgrade\"");
        ed_http1_write_response(&writer, &exchange->out, 101, NULL, 0);
        err = write_fields(exchange, &writer, headers, n, &has_date);
        if (err < 0)
                return err;
        ed_http1_write_field(&writer, "Connection", 10, "Upgrade", 7);
        return write_head_end(exchange, &writer);
}

int ed_http1_answer_upgrade(eddy_http_exchange *base, const struct eddy_http_header *headers,
                            size_t headers_count, eddy_stream **ret_stream, const void **ret_early,
                            size_t *ret_early_bytes)
{
        struct ed_http1_exchange *exchange = ed_http1_exchange_of(base);
        struct ed_http_message *message = &exchange->message;
        struct ed_task *task;
        int err = ed_suspend_enter(&task);

        /* The last request, also if the upgrade fails: bytes of another protocol may follow. */
        exchange->closing = true;
        if (err < 0)
                return err;
        if (exchange->answer != ED_HTTP_UNANSWERED || !message->body.done ||
            !message->head.upgrade || message->head.minor == 0)
                return EDDY_E_HTTP_STATE;
        err = write_upgrade(exchange, headers, headers_count);
        if (err >= 0) {
                exchange->answer = ED_HTTP_ANSWERING;
                exchange->left = 0;
                err = ed_http1_out_send(exchange, NULL, 0);
        }
        if (err < 0) {
                ed_http1_out_reset(exchange);
                return err;
        }
        exchange->answer = ED_HTTP_ANSWERED;
        exchange->status = 101;
        exchange->sent_bytes = exchange->stream->taken - exchange->taken_before;
        ed_http1_gone_unwatch(exchange);
        *ret_stream = exchange->stream;
        ed_http_message_take_rest(message, ret_early, ret_early_bytes);
        *message->stream = exchange->stream = NULL;
        return 0;
}

void ed_http_exchange_refuse(struct ed_http1_exchange *exchange, int status, const char *detail)
{
        exchange->closing = true;
        exchange->failed = ed_http_problem_respond(&exchange->base, status, detail);
}
