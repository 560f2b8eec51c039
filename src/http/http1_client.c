/*
 * http/http1_client.c - a client's exchange by HTTP/1: sends the request on the response's
 * connection, and reads the response.
 *
 * The connection is given back as soon as the exchange is provably over: the request is sent, the
 * response is read to its end, no bytes follow it, both sides keep the connection open, and no call
 * in between failed or was cancelled.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/time.h"
#include "http/client.h"
#include "http/early_stream.h"
#include "http/time_limit.h"
#include "scope/suspend.h"

/*
 * A body up to this size is written together with the head: both fit the kernel's buffer, so the
 * write does not wait for the peer.
 */
enum { SEND_AT_ONCE_BYTES = 16 << 10 };

enum { AWAITS_MAX = 4 }; /* a read with a buffer then waits on */

enum { SEND_BODY = 1 }; /* a result: an answer has not come yet, the body is due */

/* A connection is not used in the last second before the server closes it. */
#define KEEP_ALIVE_MARGIN_NS EDDY_SEC(1)

static struct ed_http1_response *http1_of(const eddy_http_response *response)
{
        return response->part;
}

/* RFC 9110, 15.2: a client takes any number of interim responses; their bytes are limited. */
static int check_interim(struct ed_http1_head *head, size_t bytes)
{
        /* The request offered no other protocol, or the answer names none. */
        if (head->status == 101) {
                head->fault = ED_HTTP1_FAULT_UPGRADE;
                return EDDY_E_HTTP_INVALID_RESPONSE;
        }
        if (bytes > ED_HTTP1_INTERIM_BYTES_MAX) {
                head->fault = ED_HTTP1_FAULT_INTERIM_TOO_LARGE;
                return EDDY_E_HTTP_TOO_LARGE;
        }
        return 0;
}

/* Returns true if the server has accepted another protocol, which the request offered. */
static bool is_upgraded(const struct ed_http1_response *response)
{
        const struct ed_http1_head *head = &response->message.head;

        return head->status == 101 && head->upgrade && response->base->fields.upgrading;
}

/*
 * Wait for the first bytes. On a new connection TLS wakes the task also for the rest of the handshake,
 * such as session tickets.
 */
static int await_bytes(struct ed_http1_response *response)
{
        const eddy_http_response *base = response->base;
        int err = 0;

        for (int i = 0; i < AWAITS_MAX; i++) {
                err = ed_http_message_await(&response->message);
                if (err < 0 || !base->fields.url.is_https || base->conn->reused ||
                    eddy_stream_is_readable(base->conn->stream) != 0)
                        break;
        }
        return err;
}

/*
 * Wait for a response before it takes a buffer. A response that is read at once then gives the next
 * one its buffer, which is still in the processor's cache.
 */
static int await_response(struct ed_http1_response *response)
{
        eddy_http_client *client = response->base->client;
        int err = await_bytes(response);
        struct ed_list *link;

        if (err < 0)
                return err;
        link = ed_list_pop_front(&client->http1_buffers);
        if (link) {
                client->http1_buffers_count--;
                ed_http_message_give_buffer(&response->message, (char *) link);
        }
        return 0;
}

/* Read more of a head. Returns the bytes read, or an error. */
static int64_t read_more(struct ed_http1_response *response)
{
        int err = response->message.in ? 0 : await_response(response);
        int64_t n = err < 0 ? err : ed_http_message_fill(&response->message);

        return n == 0 ? EDDY_E_HTTP_CLOSED : n;
}

/* Read the head of a response. With 'for_continue', returns SEND_BODY after "100 Continue". */
static int read_head(struct ed_http1_response *response, bool for_continue)
{
        eddy_http_response *base = response->base;
        struct ed_http_message *message = &response->message;
        bool is_continue;
        int64_t n;
        int err;

        for (;;) {
                err = ed_http_message_parse(message);
                if (err < 0)
                        return err;
                if (err == 0) {
                        n = read_more(response);
                        if (n < 0)
                                return (int) n;
                        base->received_ns = eddy_now();
                        if (base->timings.first_byte_ns < 0)
                                base->timings.first_byte_ns = base->received_ns - base->ready_ns;
                        continue;
                }
                if (message->head.status >= 200 || is_upgraded(response))
                        return ed_http_message_begin_body(message);
                response->interim_bytes += message->head_bytes;
                err = check_interim(&message->head, response->interim_bytes);
                if (err < 0)
                        return err;
                is_continue = message->head.status == 100;
                ed_http_message_skip(message);
                ed_http1_response_init(&message->head, response->fields, &base->client->limits,
                                       (enum ed_http1_answers) message->head.answers);
                if (for_continue && is_continue)
                        return SEND_BODY;
        }
}

static struct eddy_slice head_of(const struct ed_http1_response *response)
{
        return (struct eddy_slice){ ed_buf_data(&response->out), ed_buf_bytes(&response->out) };
}

static struct eddy_slice body_of(const struct eddy_http_request *request)
{
        return (struct eddy_slice){ request->body, request->body_bytes };
}

static int write_all(struct ed_http1_response *response, struct eddy_slice head,
                     struct eddy_slice body)
{
        struct eddy_slice slices[2] = { head, body };
        eddy_stream *stream = response->base->conn->stream;
        int err;

        if (!stream)
                return EDDY_E_HTTP_CLIENT_CLOSED;
        err = eddy_stream_writev(stream, slices, body.bytes > 0 ? 2 : 1);
        if (err < 0 && !response->base->conn->stream)
                err = EDDY_E_HTTP_CLIENT_CLOSED;
        response->upload.cut = err < 0;
        response->tainted |= err < 0;
        return err;
}

/* Exchange a request that fits in one write; the head is empty if it was sent. */
static int exchange_small(struct ed_http1_response *response, struct eddy_slice head,
                          struct eddy_slice body)
{
        int err, sent;

        sent = write_all(response, head, body);
        if (sent < 0 && !ed_http_may_have_answered(sent))
                return sent;
        err = read_head(response, false);
        /* The write error is more specific than the end of the stream that follows it. */
        if (err == EDDY_E_HTTP_CLOSED && sent < 0)
                return sent;
        return err;
}

/* Returns true if the status means that the rest of the request is unwanted (RFC 9112, 9.3). */
static bool refuses(const struct ed_http1_response *response)
{
        return response->message.head.status >= 400;
}

/*
 * Exchange a request with a large body, or one from a source. A separate task writes the request, so that this call sees
 * an early response. The call returns with the response's head. A response that refuses the request
 * stops the writing; otherwise the rest is sent while the response is read. The head is empty if it
 * was sent; 'answered': the response's head was read.
 */
static int exchange_large(struct ed_http1_response *response, struct eddy_slice head,
                          const struct eddy_http_request *request, bool answered)
{
        struct ed_http_upload *upload = &response->upload;
        eddy_stream **stream = &response->base->conn->stream;
        int err = 0;

        if (request->body_source)
                err = ed_http_upload_init_from(upload, stream, head, request->body_source);
        else
                ed_http_upload_init(upload, stream, head, body_of(request));
        if (err >= 0)
                err = ed_http_upload_start(upload);
        if (err < 0)
                return err;
        if (!answered)
                err = read_head(response, false);
        return ed_http_upload_answered(upload, err, refuses(response),
                                       ed_http_message_is_whole(&response->message));
}

static int64_t await_continue(void *arg)
{
        return read_head(arg, true);
}

/*
 * Send the head, and wait for "100 Continue" or an answer. Returns SEND_BODY, also after the time
 * has passed; or 0 with an answer.
 */
static int send_head(struct ed_http1_response *response, int64_t expect_ns)
{
        struct ed_http_message *message = &response->message;
        int64_t read_timeout_ns = message->read_timeout_ns;
        int err, sent;

        sent = write_all(response, head_of(response), (struct eddy_slice){ NULL, 0 });
        response->upload.cut = true; /* until the body is sent */
        if (sent < 0 && !ed_http_may_have_answered(sent))
                return sent;
        message->read_timeout_ns = 0; /* the wait ends by itself */
        err = (int) ed_http_call_until(await_continue, response,
                                       ed_time_after(eddy_now(), expect_ns), SEND_BODY);
        message->read_timeout_ns = read_timeout_ns;
        return sent < 0 && (err == EDDY_E_HTTP_CLOSED || err == SEND_BODY) ? sent : err;
}

/* Exchange a request whose body is sent after "100 Continue" (RFC 9110, 10.1.1). */
static int exchange_expecting(struct ed_http1_response *response,
                              const struct eddy_http_request *request)
{
        const struct eddy_slice sent = { NULL, 0 };
        int err = send_head(response, response->base->fields.expect_ns);

        if (err < 0 || (err == 0 && refuses(response)))
                return err;
        if (err == 0 || request->body_bytes > SEND_AT_ONCE_BYTES || request->body_source)
                return exchange_large(response, sent, request, err == 0);
        return exchange_small(response, sent, body_of(request));
}

static int http1_exchange(eddy_http_response *base, const struct eddy_http_request *request)
{
        struct ed_http1_response *response = http1_of(base);
        const struct ed_http_request_fields *fields = &base->fields;
        int err;

        err = ed_http1_request_write(fields, &response->out);
        if (err < 0)
                return err;
        ed_http1_response_init(&response->message.head, response->fields, &base->client->limits,
                               ed_http1_answers_to(fields->method, fields->method_bytes));
        response->message.stream = &base->conn->stream;
        response->message.body.fault = ED_HTTP1_FAULT_NONE;
        if (fields->expect_ns > 0)
                err = exchange_expecting(response, request);
        else if (request->body_bytes <= SEND_AT_ONCE_BYTES && !request->body_source)
                err = exchange_small(response, head_of(response), body_of(request));
        else
                err = exchange_large(response, head_of(response), request, false);
        response->tainted |= err < 0;
        return err;
}

static bool http1_took_source(const eddy_http_response *base)
{
        return http1_of(base)->upload.source_was_read;
}

static bool http1_sent_request(const eddy_http_response *base)
{
        const struct ed_http_upload *upload = &http1_of(base)->upload;

        return !upload->cut && !ed_http_upload_is_pending(upload);
}

static bool http1_was_answered(const eddy_http_response *base)
{
        return http1_of(base)->message.received > 0;
}

/* ---- the slot -------------------------------------------------------------- */

/*
 * Note how long the server keeps the connection, as it says. Returns false if the next request would
 * be too late. A request that the server receives while it closes the connection is lost.
 */
static bool note_keep_alive(const struct ed_http1_head *head, struct ed_http_conn *conn)
{
        int64_t idle_ns = EDDY_SEC((int64_t) head->keep_alive_s) - KEEP_ALIVE_MARGIN_NS;

        if (head->keep_alive_s == UINT32_MAX)
                return true;
        conn->idle_max_ns = conn->pool->idle_timeout_ns;
        if (idle_ns < conn->idle_max_ns)
                conn->idle_max_ns = idle_ns;
        return idle_ns > 0;
}

static void http1_settle(eddy_http_response *base)
{
        struct ed_http1_response *response = http1_of(base);
        struct ed_http_message *message = &response->message;
        struct ed_http_conn *conn = base->conn;
        bool reusable;

        if (!conn || !ed_http_message_is_whole(message) || message->head.status == 101 ||
            ed_http_upload_is_pending(&response->upload))
                return;
        /* The pool checks for bytes that arrived after the last read before the next request. */
        reusable = message->head.keep_alive && !base->fields.closing && !response->tainted &&
                   !response->upload.cut && conn->stream && !ed_http_message_has_more(message) &&
                   note_keep_alive(&message->head, conn);
        response->base->conn = NULL;
        message->stream = NULL;
        ed_http_pool_release(conn, reusable);
}

/* Give the slot back in any case: reusable if the response is complete. */
static void abandon(struct ed_http1_response *response)
{
        struct ed_http_message *message = &response->message;

        if (!response->base->conn)
                return;
        /* The buffer may hold all remaining chunks, unread. */
        if (!response->tainted && message->head_bytes > 0 && !message->outside &&
            ed_http_message_discard_buffered(message) >= 0)
                http1_settle(response->base);
        if (response->base->conn)
                ed_http_pool_release(response->base->conn, false);
        response->base->conn = NULL;
}

/* The slot ends with the stream: the connection leaves the pool. */
static int http1_take_stream(eddy_http_response *base, eddy_stream **ret_stream)
{
        struct ed_http1_response *response = http1_of(base);
        struct ed_http_conn *conn = base->conn;
        const void *early;
        size_t early_bytes;
        int err;

        if (!conn || !conn->stream)
                return EDDY_E_HTTP_CLIENT_CLOSED;
        ed_http_message_take_rest(&response->message, &early, &early_bytes);
        err = ed_http_early_stream(conn->stream, early, early_bytes, ret_stream);
        if (err < 0)
                return err;
        conn->stream = NULL;
        response->message.stream = NULL;
        base->conn = NULL;
        ed_http_pool_release(conn, false);
        return 0;
}

/* ---- the head -------------------------------------------------------------- */

static int http1_status(const eddy_http_response *base)
{
        return http1_of(base)->message.head.status;
}

static const char *http1_fault_text(const eddy_http_response *base)
{
        const struct ed_http_message *message = &http1_of(base)->message;
        enum ed_http1_fault fault = message->head.fault;

        if (fault == ED_HTTP1_FAULT_NONE)
                fault = message->body.fault;
        return fault != ED_HTTP1_FAULT_NONE ? ed_http1_fault_text(fault) : "";
}

static bool http1_ends_by_close(const eddy_http_response *base)
{
        return http1_of(base)->message.head.framing == ED_HTTP1_BY_CLOSE;
}

static int http1_version(const eddy_http_response *base)
{
        return 10 + http1_of(base)->message.head.minor;
}

static int http1_trailer_at(const eddy_http_response *base, size_t i,
                            struct eddy_http_header *ret_trailer)
{
        return ed_http_message_trailer_at(&http1_of(base)->message, i, ret_trailer);
}

/* The first access to names and values adds their NULs; the message's meaning does not change. */
static const char *http1_header(const eddy_http_response *base, const char *name)
{
        return ed_http_message_header(&http1_of(base)->message, name);
}

static int http1_header_at(const eddy_http_response *base, size_t i,
                           struct eddy_http_header *ret_header)
{
        return ed_http_message_header_at(&http1_of(base)->message, i, ret_header);
}

/* ---- the body -------------------------------------------------------------- */

static void http1_fail(eddy_http_response *base, int err)
{
        struct ed_http1_response *response = http1_of(base);

        response->err = err;
        response->message.stream = NULL;
        ed_http_upload_drop(&response->upload);
        if (base->conn)
                ed_http_pool_release(base->conn, false);
        base->conn = NULL;
}

/* Begin a call that reads the body. The rest of the request is sent meanwhile. */
static int reading_begin(struct ed_http1_response *response, struct ed_task **ret_task)
{
        int err = ed_suspend_enter(ret_task);

        /* The upload failed while the last call had a result. The server may wait for the rest. */
        if (err >= 0 && response->err == 0 && response->upload.error < 0)
                http1_fail(response->base, response->upload.error);
        if (err >= 0)
                err = response->err;
        return err < 0 ? err : ed_http_upload_start(&response->upload);
}

/*
 * End a call that reads the body, as ed_http_upload_read(). After a cancel reading can continue, but
 * the connection is not used again.
 */
static int64_t reading_end(struct ed_http1_response *response, struct ed_task *task, int64_t n,
                           bool ended)
{
        n = ed_http_upload_read(&response->upload, n, ended);
        if (n < 0) {
                response->tainted = true;
                if (n != -ECANCELED && n != EDDY_E_HTTP_STATE)
                        http1_fail(response->base, (int) n);
                return n;
        }
        if (response->message.body.done)
                http1_settle(response->base);
        ed_suspend_passed(task);
        return n;
}

static int64_t http1_read(eddy_http_response *base, void *buf, size_t bytes)
{
        struct ed_http1_response *response = http1_of(base);
        struct ed_task *task;
        int64_t n;
        int err;

        err = reading_begin(response, &task);
        if (err < 0)
                return err;
        if (bytes == 0) {
                ed_http_upload_pause(&response->upload);
                return -EINVAL;
        }
        n = ed_http_message_read(&response->message, buf, bytes);
        return reading_end(response, task, n, n == 0);
}

static int http1_body(eddy_http_response *base, const void **ret_data, size_t *ret_bytes)
{
        struct ed_http1_response *response = http1_of(base);
        struct ed_task *task;
        int err;

        err = reading_begin(response, &task);
        if (err < 0)
                return err;
        err = ed_http_message_gather(&response->message);
        err = (int) reading_end(response, task, err, err == 0);
        if (err < 0)
                return err;
        *ret_data = response->message.whole;
        *ret_bytes = response->message.whole_bytes;
        return 0;
}

static int http1_discard(eddy_http_response *base)
{
        struct ed_http1_response *response = http1_of(base);
        struct ed_task *task;
        int err;

        err = reading_begin(response, &task);
        if (err < 0)
                return err;
        if (!response->message.gathered)
                err = ed_http_message_discard(&response->message, UINT64_MAX);
        return (int) reading_end(response, task, err, err == 0);
}

/* ---- making and freeing ---------------------------------------------------- */

static void part_destroy(struct ed_http1_response *response)
{
        ed_http_message_fini(&response->message);
        ed_buf_fini(&response->out);
        ed_buf_fini(&response->trailers);
        ed_free(response);
}

void ed_http1_responses_drop(eddy_http_client *client)
{
        struct ed_list *link;

        while ((link = ed_list_pop_front(&client->http1_spares)))
                part_destroy(ed_container_of(link, struct ed_http1_response, link));
        while ((link = ed_list_pop_front(&client->http1_buffers)))
                ed_free(link);
        client->http1_spares_count = 0;
        client->http1_buffers_count = 0;
}

/* Keep the buffer for the next response of the client. */
static void give_buffer(eddy_http_client *client, struct ed_http_message *message)
{
        struct ed_list *link = (struct ed_list *) (void *) ed_http_message_take_buffer(message);

        if (!link)
                return;
        if (client->http1_buffers_count >= ED_HTTP_SPARES_MAX) {
                ed_free(link);
                return;
        }
        ed_list_push_front(&client->http1_buffers, link);
        client->http1_buffers_count++;
}

static void http1_detach(eddy_http_response *base)
{
        struct ed_http1_response *response = http1_of(base);
        eddy_http_client *client = base->client;

        abandon(response);
        ed_http_upload_drop(&response->upload);
        base->part = NULL;
        if (client->pool.closed || client->http1_spares_count >= ED_HTTP_SPARES_MAX) {
                part_destroy(response);
                return;
        }
        ed_http_message_reset(&response->message);
        give_buffer(client, &response->message);
        if (response->out.room > ED_HTTP_REQUEST_HEAD_KEPT)
                ed_buf_fini(&response->out);
        else
                ed_buf_consume(&response->out, ed_buf_bytes(&response->out));
        ed_buf_fini(&response->trailers);
        ed_list_push_front(&client->http1_spares, &response->link);
        client->http1_spares_count++;
}

static int part_new(eddy_http_client *client, struct ed_http1_response **ret_response)
{
        struct ed_list *link = ed_list_pop_front(&client->http1_spares);
        struct ed_http1_response *response;

        if (link) {
                client->http1_spares_count--;
                *ret_response = ed_container_of(link, struct ed_http1_response, link);
                return 0;
        }
        response = ed_alloc(sizeof(*response) +
                            client->limits.fields_max * sizeof(response->fields[0]));
        if (!response)
                return -ENOMEM;
        ed_list_init(&response->link);
        ed_buf_init(&response->out, ED_HTTP_REQUEST_HEAD_MAX);
        ed_buf_init(&response->trailers, 2 * ED_HTTP1_TRAILERS_BYTES_MAX);
        response->upload = (struct ed_http_upload){ .stream = NULL };
        ed_http_message_init(&response->message, response->fields, &client->limits,
                             ED_HTTP_BUFFER_BYTES, client->body_bytes_max);
        response->message.closed_error = EDDY_E_HTTP_CLIENT_CLOSED;
        response->message.sent_ns = &response->upload.sent_ns;
        response->message.trailers = &response->trailers;
        *ret_response = response;
        return 0;
}

static int http1_attach(eddy_http_response *base)
{
        struct ed_http1_response *response;
        int err = part_new(base->client, &response);

        if (err < 0)
                return err;
        response->base = base;
        response->message.body_max = base->body_bytes_max;
        response->message.read_timeout_ns = base->read_timeout_ns;
        response->upload.source_was_read = false;
        response->interim_bytes = 0;
        response->upload.cut = false; /* reset the state of the previous exchange */
        response->upload.error = 0;
        response->tainted = false;
        response->err = 0;
        base->part = response;
        return 0;
}

static const struct ed_http_response_ops http1_ops = {
        .attach = http1_attach,
        .detach = http1_detach,
        .exchange = http1_exchange,
        .was_answered = http1_was_answered,
        .took_source = http1_took_source,
        .sent_request = http1_sent_request,
        .settle = http1_settle,
        .fail = http1_fail,
        .fault_text = http1_fault_text,
        .ends_by_close = http1_ends_by_close,
        .status = http1_status,
        .version = http1_version,
        .trailer_at = http1_trailer_at,
        .header = http1_header,
        .header_at = http1_header_at,
        .read = http1_read,
        .body = http1_body,
        .discard = http1_discard,
        .take_stream = http1_take_stream,
};

const struct ed_http_protocol ed_http1_protocol = {
        .name = "http/1.1",
        .slots = 1,
        .response = &http1_ops,
        .conn = &ed_http1_conn_ops,
};
