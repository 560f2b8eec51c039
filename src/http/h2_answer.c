/*
 * http/h2_answer.c - answering a request of HTTP/2: whole, or in pieces.
 *
 * The stream keeps what is written until the connection's writing task takes it, which runs when the
 * handler waits or ends.
 */
#include <errno.h>
#include <string.h>

#include "eddy/error.h"
#include "eddy/http_text.h"
#include "eddy/stream_ops.h"
#include "http/answer_head.h"
#include "http/h2_exchange.h"
#include "http/http1_trailers.h"
#include "scope/suspend.h"

/* ---- added headers and trailers -------------------------------------------------------- */

bool ed_h2_added_next(const eddy_http_exchange *base, size_t *at,
                      struct eddy_http_header *ret_header)
{
        return ed_http_added_next(&ed_h2_exchange_of(base)->added, at, ret_header);
}

int ed_h2_add_header(eddy_http_exchange *base, const char *name, const char *value)
{
        struct ed_h2_exchange *exchange = ed_h2_exchange_of(base);

        if (exchange->answer != ED_HTTP_UNANSWERED)
                return EDDY_E_HTTP_STATE;
        return ed_http_added_append(&exchange->added, name, value, exchange->refused);
}

int ed_h2_add_trailer(eddy_http_exchange *base, const char *name, const char *value)
{
        struct ed_h2_exchange *exchange = ed_h2_exchange_of(base);
        int err;

        if (exchange->answer != ED_HTTP_ANSWERING)
                return EDDY_E_HTTP_STATE;
        if (!ed_http_trailer_is_allowed(name, value))
                return EDDY_E_HTTP_INVALID_ANSWER;
        if (exchange->head_only || exchange->status == 205)
                return 0; /* a response without a body has no trailers */
        if (exchange->left >= 0)
                return EDDY_E_HTTP_STATE;
        if (ed_h2_is_of_connection(name, strlen(name)))
                return 0;
        err = ed_h2_head_add(&exchange->trailers, name, strlen(name), value, strlen(value));
        return err == -EMSGSIZE ? EDDY_E_HTTP_TOO_LARGE : err;
}

/* ---- the head ---------------------------------------------------------------------------- */

static inline bool put_field(void *fields, const char *name, size_t name_bytes, const char *value,
                             size_t value_bytes)
{
        if (!eddy_http_is_token(name, name_bytes) || !eddy_http_is_value(value, value_bytes))
                return false;
        ed_h2_fields_add(fields, name, name_bytes, value, value_bytes, 0);
        return true;
}

/* Make the list of fields. */
static int fill_head(struct ed_h2_exchange *exchange, int status,
                     const struct eddy_http_header *headers, size_t n, int64_t body_bytes,
                     char number[24])
{
        struct ed_h2_fields fields;
        struct ed_http_answer_head head = { .added = &exchange->added,
                                            .headers = headers,
                                            .headers_count = n,
                                            .is_own = exchange->is_own };
        int err;

        ed_h2_fields_begin(&fields, exchange->stream.h2);
        for (int i = 22, rest = status; i >= 20; i--, rest /= 10)
                number[i] = (char) ('0' + rest % 10);
        ed_h2_fields_put(&fields, ":status", 7, number + 20, 3);
        err = ed_http_answer_head_write(&head, put_field, &fields, exchange->refused);
        if (err < 0)
                return err;
        if (!head.has_date)
                ed_h2_fields_put(&fields, "date", 4, exchange->date, strlen(exchange->date));
        if (body_bytes >= 0 && !ed_http_status_has_no_body(status)) {
                char *at = number + 20;
                uint64_t rest = (uint64_t) body_bytes;

                do
                        *--at = (char) ('0' + rest % 10);
                while ((rest /= 10) > 0);
                ed_h2_fields_put(&fields, "content-length", 14, at, (size_t) (number + 20 - at));
        }
        return ed_h2_fields_end(&fields);
}

/* Begin an answer: queue its head, and decide how the body will end. */
static int begin_answer(struct ed_h2_exchange *exchange, int status,
                        const struct eddy_http_header *headers, size_t n, int64_t body_bytes)
{
        bool no_body = ed_http_status_has_no_body(status);
        char number[24];
        int err;

        if (exchange->answer != ED_HTTP_UNANSWERED)
                return EDDY_E_HTTP_STATE;
        err = ed_http_check_status(status, body_bytes, exchange->refused);
        if (err < 0)
                return err;
        if (exchange->stream.is_reset || !exchange->stream.h2)
                return exchange->stream.error < 0 ? exchange->stream.error : -ECONNRESET;
        if (status == 205)
                body_bytes = 0;
        err = fill_head(exchange, status, headers, n, body_bytes, number);
        if (err < 0)
                return err;
        exchange->head_only = exchange->is_head || no_body;
        /* Bytes of a whole body are kept before this call, and follow. */
        err = ed_h2_stream_respond(&exchange->stream, !exchange->head_only && body_bytes != 0);
        if (err < 0)
                return err;
        exchange->status = (int16_t) status;
        exchange->left = no_body ? 0 : body_bytes;
        exchange->answer = ED_HTTP_ANSWERING;
        return 0;
}

int ed_h2_early_hints(eddy_http_exchange *base, const struct eddy_http_header *headers,
                      size_t headers_count)
{
        struct ed_h2_exchange *exchange = ed_h2_exchange_of(base);
        struct ed_h2_fields fields;
        struct ed_task *task;
        int err = ed_suspend_enter(&task);

        if (err < 0)
                return err;
        if (exchange->answer != ED_HTTP_UNANSWERED)
                return EDDY_E_HTTP_STATE;
        err = ed_http_check_hints(headers, headers_count, exchange->refused);
        if (err < 0 || headers_count == 0)
                return err;
        if (exchange->stream.is_reset || !exchange->stream.h2)
                return -ECONNRESET;
        ed_h2_fields_begin(&fields, exchange->stream.h2);
        ed_h2_fields_add(&fields, ":status", 7, "103", 3, 0);
        for (size_t i = 0; i < headers_count; i++)
                ed_h2_fields_add(&fields, headers[i].name, strlen(headers[i].name),
                                 headers[i].value, strlen(headers[i].value), 0);
        err = ed_h2_fields_end(&fields);
        if (err == 0)
                err = ed_h2_stream_interim(&exchange->stream);
        if (err == 0)
                ed_suspend_passed(task);
        return err;
}

/* ---- the body ------------------------------------------------------------------------------ */

/* After an error it is unknown how much was sent: the stream is reset when the handler returns. */
static int sent(struct ed_h2_exchange *exchange, int err)
{
        if (err == EDDY_E_NET_TIMED_OUT) {
                ed_h2_count(&exchange->connection->stats->slow);
                ed_h2_stream_reset(&exchange->stream, NGHTTP2_CANCEL, err);
        }
        return err;
}

static int send_body(struct ed_h2_exchange *exchange, const void *data, size_t bytes)
{
        struct eddy_slice slice = { data, bytes };

        return sent(exchange,
                    ed_http_pace_writev(&exchange->download, &exchange->stream.stream, &slice, 1));
}

int64_t ed_h2_reserve(eddy_http_exchange *base, size_t bytes)
{
        struct ed_h2_exchange *exchange = ed_h2_exchange_of(base);
        struct ed_h2_stream *stream = &exchange->stream;
        size_t n;
        int err = 0;

        while (err == 0) {
                if (stream->is_reset || !stream->h2)
                        return stream->error < 0 ? stream->error : -ECONNRESET;
                n = ed_h2_stream_reserve(stream, bytes);
                if (n > 0)
                        return (int64_t) n;
                err = sent(exchange, ed_http_pace_wait(&exchange->download, &stream->stream));
        }
        return err;
}

static void end_message(struct ed_h2_exchange *exchange)
{
        ed_h2_stream_end(&exchange->stream,
                         exchange->trailers.kept > 0 ? &exchange->trailers : NULL);
        exchange->answer = ED_HTTP_ANSWERED;
}

int ed_h2_respond(eddy_http_exchange *base, int status, const struct eddy_http_header *headers,
                  size_t headers_count, const void *body, size_t body_bytes)
{
        struct ed_h2_exchange *exchange = ed_h2_exchange_of(base);
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
        if (exchange->head_only || body_bytes == 0)
                ed_suspend_passed(task);
        else
                err = send_body(exchange, body, body_bytes);
        if (err == 0)
                end_message(exchange);
        return err;
}

int ed_h2_begin(eddy_http_exchange *base, int status, const struct eddy_http_header *headers,
                size_t headers_count, int64_t body_bytes)
{
        struct ed_h2_exchange *exchange = ed_h2_exchange_of(base);
        struct ed_task *task;
        int err = ed_suspend_enter(&task);

        if (err >= 0)
                err = begin_answer(exchange, status, headers, headers_count,
                                   body_bytes < 0 ? -1 : body_bytes);
        if (err == 0)
                ed_suspend_passed(task);
        return err;
}

/* Begin a call that continues a response. */
static int answering_begin(const struct ed_h2_exchange *exchange, struct ed_task **ret_task)
{
        int err = ed_suspend_enter(ret_task);

        if (err < 0)
                return err;
        return exchange->answer == ED_HTTP_ANSWERING ? 0 : EDDY_E_HTTP_STATE;
}

int ed_h2_write(eddy_http_exchange *base, const void *data, size_t bytes)
{
        struct ed_h2_exchange *exchange = ed_h2_exchange_of(base);
        struct ed_task *task;
        int err = answering_begin(exchange, &task);

        if (err < 0)
                return err;
        if (!data && bytes > 0)
                return -EINVAL;
        if (exchange->left >= 0) {
                if (bytes > (uint64_t) exchange->left)
                        return EDDY_E_HTTP_STATE;
                exchange->left -= (int64_t) bytes;
        }
        if (bytes > 0 && !exchange->head_only)
                return send_body(exchange, data, bytes);
        ed_suspend_passed(task);
        return 0;
}

int ed_h2_end_answer(eddy_http_exchange *base)
{
        struct ed_h2_exchange *exchange = ed_h2_exchange_of(base);
        struct ed_task *task;
        int err = answering_begin(exchange, &task);

        if (err < 0)
                return err;
        if (exchange->left > 0 && !exchange->head_only)
                return EDDY_E_HTTP_STATE; /* the stream is reset when the handler returns */
        if (exchange->stream.is_reset)
                return exchange->stream.error;
        end_message(exchange);
        ed_suspend_passed(task);
        return 0;
}

/* The writing task sends what is kept in any case. */
int ed_h2_flush(eddy_http_exchange *base)
{
        struct ed_h2_exchange *exchange = ed_h2_exchange_of(base);
        struct ed_task *task;
        int err = answering_begin(exchange, &task);

        if (err < 0)
                return err;
        if (exchange->stream.is_reset)
                return exchange->stream.error;
        ed_suspend_give_way(task);
        return 0;
}

/* ---- beside the handler ---------------------------------------------------------------------- */

bool ed_h2_keep(eddy_http_exchange *base, const char *piece, size_t bytes)
{
        struct ed_h2_exchange *exchange = ed_h2_exchange_of(base);
        struct eddy_slice slice = { piece, bytes };

        if (exchange->answer != ED_HTTP_ANSWERING || exchange->stream.is_reset ||
            exchange->left >= 0 || exchange->head_only)
                return false;
        /* A part of a piece would spoil the bytes that follow. */
        if (ed_buf_bytes(&exchange->stream.out) == 0 &&
            exchange->connection->h2.kept + bytes <= ED_H2_KEPT_ALL_BYTES_MAX)
                (void) !eddy_stream_try_writev(&exchange->stream.stream, &slice, 1);
        return true;
}

/* HTTP/2 has no Upgrade (RFC 9113, 8.6). */
int ed_h2_upgrade(eddy_http_exchange *base, const struct eddy_http_header *headers,
                  size_t headers_count, eddy_stream **ret_stream, const void **ret_early,
                  size_t *ret_early_bytes)
{
        struct ed_task *task;
        int err = ed_suspend_enter(&task);

        (void) base, (void) headers, (void) headers_count;
        (void) ret_stream, (void) ret_early, (void) ret_early_bytes;
        return err < 0 ? err : EDDY_E_HTTP_STATE;
}
