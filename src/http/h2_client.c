/*
 * http/h2_client.c - a client's exchange by HTTP/2: a stream of the connection's session.
 *
 * The slot is given back as soon as the peer has ended its message and this side has ended its own,
 * even if the body was not read: it is the stream's, and not the connection's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/http_text.h"
#include "eddy/time.h"
#include "http/answer_head.h"
#include "http/h2_client.h"
#include "http/time_limit.h"
#include "scope/suspend.h"

enum {
        SEND_AT_ONCE_BYTES = 16 << 10,
        QUIET_BYTES_MAX = 16 << 10, /* a known rest of the body that is dropped without a reset */
        PIECE_BYTES = 16 << 10,
        WHOLE_BYTES_KEPT = 16 << 10,
        HEAD_BYTES_KEPT = 4 << 10,
        SEND_BODY = 1, /* a result: an answer has not come yet, the body is due */
};

static struct ed_h2_request *exchange_of(const eddy_http_response *base)
{
        return base->part;
}

static struct ed_h2_request *exchange_of_stream(struct ed_h2_stream *stream)
{
        return ed_container_of(stream, struct ed_h2_request, h2);
}

static bool is_open(const struct ed_h2_request *exchange)
{
        return exchange->session != NULL;
}

/* Returns true if both messages are complete. */
static bool is_complete(const struct ed_h2_request *exchange)
{
        const struct ed_h2_stream *stream = &exchange->h2;

        return stream->got_end && stream->is_ended && ed_buf_bytes(&stream->out) == 0;
}

/* Returns true if the peer has to learn that the exchange ends now. */
static bool is_running(const struct ed_h2_request *exchange)
{
        return exchange->h2.owners & ED_H2_PROTOCOL && !exchange->h2.is_reset &&
               !is_complete(exchange);
}

/* Reset the stream, which is running. */
static void cancel(struct ed_h2_request *exchange, int err)
{
        ed_h2_session_cancels(exchange->session);
        ed_h2_stream_reset(&exchange->h2, NGHTTP2_CANCEL, err);
}

/* ---- the operations of the session ------------------------------------------------ */

void ed_h2_request_part(struct ed_h2_stream *stream, enum ed_h2_part part)
{
        struct ed_h2_request *exchange = exchange_of_stream(stream);
        const char *status;

        if (part == ED_H2_INTERIM) {
                status = ed_h2_head_known(&stream->head, ED_H2_STATUS);
                exchange->was_continued |= status && strcmp(status, "100") == 0;
                exchange->interim_bytes += stream->head.bytes;
        }
        (void) eddy_event_set(&exchange->changed);
}

void ed_h2_request_closed(struct ed_h2_stream *stream)
{
        struct ed_h2_request *exchange = exchange_of_stream(stream);

        if (exchange->is_quiet)
                ed_h2_session_quiet(exchange->session, -1);
        (void) eddy_event_set(&exchange->changed);
}

void ed_h2_request_wake(struct ed_h2_stream *stream)
{
        (void) eddy_event_set(&exchange_of_stream(stream)->changed);
}

static void spare_free(struct ed_h2_request *exchange)
{
        ed_buf_fini(&exchange->whole);
        ed_buf_fini(&exchange->text);
        ed_free(exchange);
}

static void exchange_free(eddy_http_client *client, struct ed_h2_request *exchange)
{
        if (client->pool.closed || client->h2_spares_count >= ED_HTTP_SPARES_MAX) {
                spare_free(exchange);
                return;
        }
        ed_list_push_front(&client->h2_spares, &exchange->link);
        client->h2_spares_count++;
}

/* Make the buffer empty, and free its memory if that is large. */
static void empty(struct ed_buf *buf, size_t kept_max)
{
        if (buf->room > kept_max)
                ed_buf_fini(buf);
        else
                ed_buf_consume(buf, ed_buf_bytes(buf));
}

/* Give the memory of 'from', which is empty, to 'to', which has none. */
static void move_memory(struct ed_buf *to, struct ed_buf *from)
{
        to->memory = from->memory;
        to->room = from->room;
        ed_buf_init(from, from->max);
}

void ed_h2_request_free(struct ed_h2_stream *stream)
{
        struct ed_h2_request *exchange = exchange_of_stream(stream);
        struct ed_h2_session *session = exchange->session;

        empty(&stream->head.text, HEAD_BYTES_KEPT);
        move_memory(&exchange->text, &stream->head.text);
        ed_h2_stream_fini(stream);
        ed_h2_head_fini(&exchange->trailers);
        exchange->session = NULL;
        exchange_free(session->client, exchange);
        ed_h2_session_unref(session);
}

void ed_h2_requests_drop(eddy_http_client *client)
{
        struct ed_list *link;

        while ((link = ed_list_pop_front(&client->h2_spares))) {
                spare_free(ed_container_of(link, struct ed_h2_request, link));
        }
        client->h2_spares_count = 0;
}

/* ---- errors -------------------------------------------------------------------------- */

/* Note what the peer violates. Returns the error. */
static int violated(struct ed_h2_request *exchange, enum ed_http1_fault fault, int err)
{
        exchange->fault = ed_http1_fault_text(fault);
        return err;
}

/* Returns the words for the fault that has ended the connection. */
static const char *connection_fault(const struct ed_h2_session *session)
{
        uint32_t code = session->h2.fault;

        if (!session->has_settings &&
            (code == NGHTTP2_PROTOCOL_ERROR || code == NGHTTP2_FRAME_SIZE_ERROR))
                return "no valid SETTINGS came; the server may not speak HTTP/2";
        return nghttp2_http2_strerror(code);
}

/* The connection has ended. Returns the error of a request that was not sent. */
static int ended_with(struct ed_h2_request *exchange, const struct ed_h2_session *session)
{
        if (session->h2.fault == 0)
                return EDDY_E_HTTP_CLOSED;
        exchange->fault = connection_fault(session);
        return EDDY_E_HTTP_INVALID_RESPONSE;
}

/* The peer refuses the request, but would take it by HTTP/1 (RFC 9113, 7). */
static bool wants_http1(const struct ed_h2_stream *stream)
{
        return stream->reset_by_peer && stream->code == NGHTTP2_HTTP_1_1_REQUIRED;
}

/* Returns the error of a stream that was reset, by either side or with its connection. */
static int reset_error(struct ed_h2_request *exchange)
{
        const struct ed_h2_stream *stream = &exchange->h2;
        const struct ed_h2_session *session = exchange->session;

        if (stream->error == EDDY_E_HTTP_CLIENT_CLOSED)
                return stream->error;
        /* Nothing was sent, or the peer says that it has done nothing (RFC 9113, 8.7). */
        exchange->is_refused =
                !stream->has_head && (stream->sent == 0 || stream->code == NGHTTP2_REFUSED_STREAM ||
                                      wants_http1(stream));
        exchange->needs_http1 =
                exchange->is_refused && (session->needs_http1 || wants_http1(stream));
        if (stream->reset_by_peer)
                exchange->fault = ed_h2_reset_text(stream->code, true);
        if (exchange->is_refused &&
            (stream->code == NGHTTP2_REFUSED_STREAM || exchange->needs_http1))
                return EDDY_E_HTTP_CLOSED;
        /* Node refuses streams so if those that were reset keep its memory: as if the connection had ended. */
        if (stream->reset_by_peer && stream->code == NGHTTP2_ENHANCE_YOUR_CALM &&
            !stream->has_head) {
                if (session->conn)
                        ed_http_conn_drain(session->conn);
                exchange->is_unanswered = true;
                return EDDY_E_HTTP_CLOSED;
        }
        if (stream->error == EDDY_E_HTTP_CLOSED)
                return stream->has_head ? EDDY_E_HTTP_TRUNCATED : EDDY_E_HTTP_CLOSED;
        if (session->h2.fault != 0) {
                exchange->fault = connection_fault(session);
        } else if (stream->error == -ECONNRESET && !stream->reset_by_peer) {
                if (stream->code == NGHTTP2_PROTOCOL_ERROR) {
                        exchange->fault = nghttp2_http2_strerror(stream->code);
                        return EDDY_E_HTTP_INVALID_RESPONSE;
                }
                exchange->fault = ed_h2_reset_text(stream->code, false);
        }
        return stream->error;
}

/* ---- waiting for the head ------------------------------------------------------------ */

static int64_t wait_for_change(void *arg)
{
        struct ed_h2_request *exchange = arg;

        return eddy_event_wait(&exchange->changed);
}

/* Call 'fn' until it has a result, the time for one read has passed, and nothing was sent in it. */
static int64_t call_in_time(struct ed_h2_request *exchange, ed_http_part_fn *fn, void *arg,
                            int64_t read_timeout_ns)
{
        int64_t since_ns, n;

        if (read_timeout_ns == 0)
                return fn(arg);
        since_ns = eddy_now();
        for (;;) {
                n = ed_http_call_until(fn, arg, ed_time_after(since_ns, read_timeout_ns),
                                       EDDY_E_HTTP_TIMEOUT_READ);
                if (n != EDDY_E_HTTP_TIMEOUT_READ || exchange->upload.sent_ns <= since_ns)
                        return n;
                since_ns = exchange->upload.sent_ns;
        }
}

/* nghttp2 lets three digits pass. */
static int status_of(const char *text)
{
        return 100 * (text[0] - '0') + 10 * (text[1] - '0') + text[2] - '0';
}

/*
 * Returns true if the response has a body of Content-Length. For HEAD, 204 and 304 it has none, and its end
 * may come in a frame after the head.
 */
static bool has_body_of_length(const struct ed_h2_request *exchange)
{
        const struct ed_http_request_fields *fields = &exchange->base->fields;

        return !exchange->h2.got_end && !ed_http_status_has_no_body(exchange->status) &&
               (fields->method_bytes != 4 || memcmp(fields->method, "HEAD", 4) != 0);
}

/* Check a head that has come, and note its time. */
static int check_head(struct ed_h2_request *exchange)
{
        eddy_http_response *base = exchange->base;
        const struct ed_h2_head *head = &exchange->h2.head;
        const char *length = ed_h2_head_known(head, ED_H2_LENGTH);

        base->received_ns = eddy_now();
        if (base->timings.first_byte_ns < 0)
                base->timings.first_byte_ns = base->received_ns - base->ready_ns;
        if (head->is_too_large)
                return violated(exchange, ED_HTTP1_FAULT_HEAD_TOO_LARGE, EDDY_E_HTTP_TOO_LARGE);
        exchange->status = status_of(ed_h2_head_known(head, ED_H2_STATUS));
        if (exchange->status < 100) {
                exchange->fault = nghttp2_http2_strerror(NGHTTP2_PROTOCOL_ERROR);
                return EDDY_E_HTTP_INVALID_RESPONSE;
        }
        if (length && has_body_of_length(exchange) &&
            strtoull(length, NULL, 10) > base->body_bytes_max)
                return violated(exchange, ED_HTTP1_FAULT_BODY_TOO_LARGE, EDDY_E_HTTP_TOO_LARGE);
        return 0;
}

/* Wait for the head. With 'for_continue', returns SEND_BODY after "100 Continue". */
static int read_head(struct ed_h2_request *exchange, int64_t read_timeout_ns, bool for_continue)
{
        const struct ed_h2_stream *stream = &exchange->h2;
        int err;

        for (;;) {
                if (stream->has_head)
                        return check_head(exchange);
                if (stream->is_reset)
                        return reset_error(exchange);
                if (stream->got_end) { /* nghttp2 lets a body come without a head */
                        exchange->fault = nghttp2_http2_strerror(NGHTTP2_PROTOCOL_ERROR);
                        return EDDY_E_HTTP_INVALID_RESPONSE;
                }
                if (stream->head.is_too_large ||
                    exchange->interim_bytes > ED_HTTP1_INTERIM_BYTES_MAX)
                        return violated(exchange, ED_HTTP1_FAULT_INTERIM_TOO_LARGE,
                                        EDDY_E_HTTP_TOO_LARGE);
                if (for_continue && exchange->was_continued)
                        return SEND_BODY;
                eddy_event_clear(&exchange->changed);
                err = (int) call_in_time(exchange, wait_for_change, exchange, read_timeout_ns);
                if (err < 0)
                        return err;
        }
}

static int await_head(struct ed_h2_request *exchange)
{
        return read_head(exchange, exchange->base->read_timeout_ns, false);
}

static int64_t await_continue(void *arg)
{
        return read_head(arg, 0, true);
}

/* ---- the request ------------------------------------------------------------------------ */

/* The upload is in the stream: end the request with the source's trailers, which have their values now. */
static int end_request(struct ed_http_upload *upload)
{
        struct ed_h2_request *exchange = ed_container_of(upload, struct ed_h2_request, upload);
        const struct eddy_http_body_source *source = &upload->source;
        struct ed_h2_head *trailers = &exchange->trailers;
        int err = 0;

        for (size_t i = 0; upload->source_was_read && err == 0 && i < source->trailers_count; i++) {
                const struct eddy_http_header *trailer = &source->trailers[i];

                if (!trailer->value)
                        continue;
                if (!eddy_http_is_value(trailer->value, strlen(trailer->value)))
                        return EDDY_E_HTTP_INVALID_REQUEST;
                err = ed_h2_head_add(trailers, trailer->name, strlen(trailer->name), trailer->value,
                                     strlen(trailer->value));
        }
        if (err < 0)
                return err == -EMSGSIZE ? EDDY_E_HTTP_INVALID_REQUEST : err;
        ed_h2_stream_end(&exchange->h2, trailers->kept > 0 ? trailers : NULL);
        return 0;
}

/* Returns true if the status means that the rest of the request is unwanted. */
static bool refuses(const struct ed_h2_request *exchange)
{
        return exchange->status >= 400;
}

/*
 * Send a body by a separate task, so that this call sees an early response, as with HTTP/1. 'answered':
 * the response's head has come.
 */
static int send_large(struct ed_h2_request *exchange, const struct eddy_http_request *request,
                      size_t sent_bytes, bool answered)
{
        struct ed_http_upload *upload = &exchange->upload;
        const struct eddy_slice none = { NULL, 0 };
        int err = 0;

        if (request->body_source)
                err = ed_http_upload_init_from(upload, &exchange->body, none, request->body_source);
        else
                ed_http_upload_init(upload, &exchange->body, none,
                                    (struct eddy_slice){ (const char *) request->body + sent_bytes,
                                                         request->body_bytes - sent_bytes });
        if (err >= 0)
                err = ed_http_upload_start(upload);
        if (err < 0)
                return err;
        if (!answered)
                err = await_head(exchange);
        return ed_http_upload_answered(upload, err, refuses(exchange), exchange->h2.got_end);
}

/* Send the body, and wait for the head of the response. */
static int send_body(struct ed_h2_request *exchange, const struct eddy_http_request *request,
                     bool answered)
{
        struct eddy_slice body = { request->body, request->body_bytes };
        int64_t n = 0;

        if (!request->body_source && body.bytes <= SEND_AT_ONCE_BYTES) {
                n = eddy_stream_try_writev(exchange->body, &body, 1);
                if (n == (int64_t) body.bytes) {
                        ed_h2_stream_end(&exchange->h2, NULL);
                        return answered ? 0 : await_head(exchange);
                }
                if (n < 0 && n != -EAGAIN)
                        return exchange->h2.is_reset ? reset_error(exchange) : (int) n;
        }
        return send_large(exchange, request, n > 0 ? (size_t) n : 0, answered);
}

/* Wait for "100 Continue" or an answer. Returns SEND_BODY, also after the time has passed. */
static int expect(struct ed_h2_request *exchange, int64_t expect_ns)
{
        exchange->upload.cut = true; /* until the body is sent */
        return (int) ed_http_call_until(await_continue, exchange,
                                        ed_time_after(eddy_now(), expect_ns), SEND_BODY);
}

/* Returns an error if no stream can be opened; the request was not sent then. */
static int open_stream(struct ed_h2_request *exchange, bool has_body)
{
        struct ed_http_conn *conn = exchange->base->conn;
        struct ed_h2_session *session = conn->session;
        int err;

        if (!conn->stream)
                return EDDY_E_HTTP_CLIENT_CLOSED;
        if (!conn->protocol->conn->is_usable(conn)) {
                exchange->is_refused = true;
                exchange->needs_http1 = session->needs_http1;
                return ended_with(exchange, session);
        }
        ed_h2_stream_init(&exchange->h2, &session->h2, 0);
        ed_h2_head_init(&exchange->trailers, ED_HTTP1_TRAILERS_MAX, ED_HTTP1_TRAILERS_BYTES_MAX);
        move_memory(&exchange->h2.head.text, &exchange->text);
        move_memory(&exchange->h2.in, &exchange->whole);
        exchange->session = session;
        session->refs++;
        session->client->h2_streams++;
        ed_h2_stream_take(&exchange->h2);
        err = ed_h2_request_open(exchange, has_body);
        if (err != -EAGAIN)
                return err;
        ed_http_conn_drain(conn); /* it has no more ids */
        exchange->is_refused = true;
        return EDDY_E_HTTP_CLOSED;
}

static int h2_exchange(eddy_http_response *base, const struct eddy_http_request *request)
{
        const struct eddy_http_body_source *source = request->body_source;
        bool has_body = source ? source->bytes != 0 : request->body_bytes > 0;
        struct ed_h2_request *exchange = exchange_of(base);
        struct ed_task *task;
        int err = ed_suspend_enter(&task);

        if (err >= 0)
                err = open_stream(exchange, has_body);
        if (err < 0)
                return err;
        exchange->body = &exchange->h2.stream;
        if (!has_body)
                return await_head(exchange);
        if (base->fields.expect_ns > 0) {
                err = expect(exchange, base->fields.expect_ns);
                if (err < 0 || (err == 0 && refuses(exchange)))
                        return err;
                exchange->upload.cut = false;
                return send_body(exchange, request, err == 0);
        }
        return send_body(exchange, request, false);
}

static bool h2_took_source(const eddy_http_response *base)
{
        return exchange_of(base)->upload.source_was_read;
}

static bool h2_sent_request(const eddy_http_response *base)
{
        const struct ed_h2_request *exchange = exchange_of(base);

        return is_open(exchange) && exchange->h2.is_ended && !exchange->upload.cut &&
               ed_buf_bytes(&exchange->h2.out) == 0 &&
               !ed_http_upload_is_pending(&exchange->upload);
}

static bool h2_was_answered(const eddy_http_response *base)
{
        const struct ed_h2_request *exchange = exchange_of(base);

        return is_open(exchange) && exchange->h2.received > 0 && !exchange->is_refused &&
               !exchange->is_unanswered;
}

static bool h2_was_refused(const eddy_http_response *base)
{
        return exchange_of(base)->is_refused;
}

static bool h2_needs_http1(const eddy_http_response *base)
{
        return exchange_of(base)->needs_http1;
}

/* ---- the slot ---------------------------------------------------------------------------- */

static void give_slot_back(eddy_http_response *base)
{
        struct ed_http_conn *conn = base->conn;

        base->conn = NULL;
        if (conn)
                ed_http_pool_release(conn, true);
}

static void h2_settle(eddy_http_response *base)
{
        if (base->conn && is_complete(exchange_of(base)))
                give_slot_back(base);
}

/* Returns true if so little of the response is missing that a reset would cost more. */
static bool may_be_quiet(const struct ed_h2_request *exchange)
{
        const struct ed_h2_stream *stream = &exchange->h2;
        const char *length =
                stream->has_head ? ed_h2_head_known(&stream->head, ED_H2_LENGTH) : NULL;
        uint64_t bytes = length ? strtoull(length, NULL, 10) : UINT64_MAX;

        return length && stream->is_ended && bytes >= stream->data_in &&
               bytes - stream->data_in <= QUIET_BYTES_MAX &&
               ed_h2_session_may_be_quiet(exchange->session);
}

/* The response lets go of its stream, which may be freed. */
static void let_go(struct ed_h2_request *exchange)
{
        struct ed_h2_stream *stream = &exchange->h2;

        exchange->body = NULL;
        exchange->session->client->h2_streams--;
        if (is_running(exchange) && may_be_quiet(exchange)) {
                exchange->is_quiet = true;
                ed_h2_session_quiet(exchange->session, 1);
                ed_h2_stream_leave_quietly(stream);
                return;
        }
        if (is_running(exchange))
                cancel(exchange, -ECANCELED);
        ed_h2_stream_leave(stream, NGHTTP2_CANCEL);
}

static int h2_take_stream(eddy_http_response *base, eddy_stream **ret_stream)
{
        (void) base, (void) ret_stream;
        return EDDY_E_HTTP_CLIENT_CLOSED; /* nghttp2 refuses a 101 */
}

/* ---- the head ---------------------------------------------------------------------------- */

static int h2_status(const eddy_http_response *base)
{
        return exchange_of(base)->status;
}

static const char *h2_fault_text(const eddy_http_response *base)
{
        return exchange_of(base)->fault;
}

static bool h2_ends_by_close(const eddy_http_response *base)
{
        (void) base;
        return false;
}

static int h2_version(const eddy_http_response *base)
{
        (void) base;
        return 20;
}

static const char *h2_header(const eddy_http_response *base, const char *name)
{
        return ed_h2_head_field(&exchange_of(base)->h2.head, name);
}

static int h2_header_at(const eddy_http_response *base, size_t i,
                        struct eddy_http_header *ret_header)
{
        return ed_h2_head_at(&exchange_of(base)->h2.head, i, ret_header);
}

/* Those that RFC 9110, 6.5.1 forbids do not count. */
static int h2_trailer_at(const eddy_http_response *base, size_t i,
                         struct eddy_http_header *ret_trailer)
{
        const struct ed_h2_stream *stream = &exchange_of(base)->h2;
        struct eddy_http_header trailer;

        if (!stream->got_end)
                return -ENOENT;
        for (size_t at = 0; ed_h2_head_at(&stream->trailers, at, &trailer) == 0; at++) {
                if (ed_http1_trailer_is_forbidden(trailer.name, strlen(trailer.name)) || i-- > 0)
                        continue;
                *ret_trailer = trailer;
                return 0;
        }
        return -ENOENT;
}

/* ---- the body ---------------------------------------------------------------------------- */

static void h2_fail(eddy_http_response *base, int err)
{
        struct ed_h2_request *exchange = exchange_of(base);

        exchange->err = err;
        ed_http_upload_drop(&exchange->upload);
        exchange->body = NULL;
        if (is_open(exchange) && is_running(exchange))
                cancel(exchange, err);
        if (is_open(exchange))
                ed_h2_stream_drop_input(&exchange->h2);
        give_slot_back(base);
}

/* Begin a call that reads the body. The rest of the request is sent meanwhile. */
static int reading_begin(struct ed_h2_request *exchange, struct ed_task **ret_task)
{
        int err = ed_suspend_enter(ret_task);

        if (err >= 0 && exchange->err == 0 && exchange->upload.error < 0)
                h2_fail(exchange->base, exchange->upload.error);
        if (err >= 0)
                err = exchange->err;
        return err < 0 ? err : ed_http_upload_start(&exchange->upload);
}

/* The body was read. If the request was not sent as a whole, its rest is not wanted. */
static void body_ended(struct ed_h2_request *exchange)
{
        if (is_running(exchange))
                cancel(exchange, -ECANCELED);
        give_slot_back(exchange->base);
}

/* End a call that reads the body, as ed_http_upload_read(). */
static int64_t reading_end(struct ed_h2_request *exchange, struct ed_task *task, int64_t n,
                           bool ended)
{
        n = ed_http_upload_read(&exchange->upload, n, ended);
        if (n < 0) {
                if (n != -ECANCELED && n != EDDY_E_HTTP_STATE)
                        h2_fail(exchange->base, (int) n);
                return n;
        }
        if (ended)
                body_ended(exchange);
        else
                h2_settle(exchange->base);
        ed_suspend_passed(task);
        return n;
}

struct receiving {
        struct ed_h2_request *exchange;
        void *buf;
        size_t bytes;
};

static int64_t receive_some(void *arg)
{
        const struct receiving *receiving = arg;

        return eddy_stream_read(&receiving->exchange->h2.stream, receiving->buf, receiving->bytes);
}

/* Count bytes of the body. Returns their number, or an error. */
static int64_t count(struct ed_h2_request *exchange, int64_t n)
{
        exchange->body_bytes += (uint64_t) n;
        if (exchange->body_bytes > exchange->base->body_bytes_max)
                return violated(exchange, ED_HTTP1_FAULT_BODY_TOO_LARGE, EDDY_E_HTTP_TOO_LARGE);
        return n;
}

/* Read bytes of the stream; returns 0 at the end. */
static int64_t receive(struct ed_h2_request *exchange, void *buf, size_t bytes)
{
        struct receiving receiving = { exchange, buf, bytes };
        int64_t n =
                call_in_time(exchange, receive_some, &receiving, exchange->base->read_timeout_ns);

        if (n < 0 && n != -ECANCELED && exchange->h2.is_reset && n == exchange->h2.error)
                return reset_error(exchange);
        return n > 0 ? count(exchange, n) : n;
}

static int64_t h2_read(eddy_http_response *base, void *buf, size_t bytes)
{
        struct ed_h2_request *exchange = exchange_of(base);
        size_t kept = exchange->is_gathered ? 0 : ed_buf_bytes(&exchange->whole);
        struct ed_task *task;
        int64_t n;
        int err;

        err = reading_begin(exchange, &task);
        if (err < 0)
                return err;
        if (bytes == 0) {
                ed_http_upload_pause(&exchange->upload);
                return -EINVAL;
        }
        if (kept > 0) { /* of a gather that was cancelled */
                n = (int64_t) (kept < bytes ? kept : bytes);
                memcpy(buf, ed_buf_data(&exchange->whole), (size_t) n);
                ed_buf_consume(&exchange->whole, (size_t) n);
        } else {
                n = exchange->is_gathered ? 0 : receive(exchange, buf, bytes);
        }
        return reading_end(exchange, task, n, n == 0);
}

/* Read the rest of the body into 'whole', and append a NUL. After a cancel, later calls continue. */
static int gather(struct ed_h2_request *exchange)
{
        size_t want;
        char *room;
        int64_t n;
        int err;

        if (exchange->is_gathered)
                return 0;
        if (exchange->h2.got_end && ed_buf_bytes(&exchange->whole) == 0) {
                ed_h2_stream_take_input(&exchange->h2, &exchange->whole);
                err = (int) count(exchange, (int64_t) ed_buf_bytes(&exchange->whole));
                if (err < 0)
                        return err;
        }
        for (;;) {
                want = ed_buf_bytes(&exchange->h2.in);
                if (want == 0 && !exchange->h2.got_end)
                        want = PIECE_BYTES;
                err = ed_buf_reserve(&exchange->whole, want + 1, &room);
                if (err < 0)
                        return err;
                n = want > 0 ? receive(exchange, room, want) : 0;
                if (n < 0)
                        return (int) n;
                ed_buf_grow(&exchange->whole, (size_t) n);
                if (n > 0)
                        continue;
                *room = '\0';
                exchange->is_gathered = true;
                return 0;
        }
}

static int h2_body(eddy_http_response *base, const void **ret_data, size_t *ret_bytes)
{
        struct ed_h2_request *exchange = exchange_of(base);
        struct ed_task *task;
        int err;

        err = reading_begin(exchange, &task);
        if (err < 0)
                return err;
        err = gather(exchange);
        err = (int) reading_end(exchange, task, err, err == 0);
        if (err < 0)
                return err;
        *ret_data = ed_buf_data(&exchange->whole);
        *ret_bytes = ed_buf_bytes(&exchange->whole);
        return 0;
}

static int discard(struct ed_h2_request *exchange)
{
        char buf[1024];
        int64_t n = 1;

        if (exchange->is_gathered)
                return 0;
        ed_buf_consume(&exchange->whole, ed_buf_bytes(&exchange->whole));
        while (n > 0)
                n = receive(exchange, buf, sizeof(buf));
        return (int) n;
}

static int h2_discard(eddy_http_response *base)
{
        struct ed_h2_request *exchange = exchange_of(base);
        struct ed_task *task;
        int err;

        err = reading_begin(exchange, &task);
        if (err < 0)
                return err;
        err = discard(exchange);
        return (int) reading_end(exchange, task, err, err == 0);
}

/* ---- making and freeing ------------------------------------------------------------------ */

static void h2_detach(eddy_http_response *base)
{
        struct ed_h2_request *exchange = exchange_of(base);
        eddy_http_client *client = base->client;

        base->part = NULL;
        exchange->base = NULL;
        ed_http_upload_drop(&exchange->upload);
        empty(&exchange->whole, WHOLE_BYTES_KEPT);
        if (is_open(exchange))
                let_go(exchange);
        else
                exchange_free(client, exchange);
        give_slot_back(base);
}

static int h2_attach(eddy_http_response *base)
{
        eddy_http_client *client = base->client;
        struct ed_list *link = ed_list_pop_front(&client->h2_spares);
        struct ed_h2_request *exchange;
        struct ed_buf whole, text;

        if (link) {
                client->h2_spares_count--;
                exchange = ed_container_of(link, struct ed_h2_request, link);
                whole = exchange->whole;
                text = exchange->text;
        } else {
                exchange = ed_alloc(sizeof(*exchange));
                if (!exchange)
                        return -ENOMEM;
                ed_buf_init(&whole, SIZE_MAX);
                ed_buf_init(&text, 0);
        }
        *exchange =
                (struct ed_h2_request){ .base = base, .whole = whole, .text = text, .fault = "" };
        ed_list_init(&exchange->link);
        exchange->upload.ended = end_request;
        base->part = exchange;
        return 0;
}

const struct ed_http_response_ops ed_h2_response_ops = {
        .attach = h2_attach,
        .detach = h2_detach,
        .exchange = h2_exchange,
        .was_answered = h2_was_answered,
        .was_refused = h2_was_refused,
        .needs_http1 = h2_needs_http1,
        .took_source = h2_took_source,
        .sent_request = h2_sent_request,
        .settle = h2_settle,
        .fail = h2_fail,
        .fault_text = h2_fault_text,
        .ends_by_close = h2_ends_by_close,
        .status = h2_status,
        .version = h2_version,
        .trailer_at = h2_trailer_at,
        .header = h2_header,
        .header_at = h2_header_at,
        .read = h2_read,
        .body = h2_body,
        .discard = h2_discard,
        .take_stream = h2_take_stream,
};
