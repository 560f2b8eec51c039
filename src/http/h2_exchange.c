/*
 * http/h2_exchange.c - a handler's calls by HTTP/2: a request's head and body.
 */
#include "http/h2_exchange.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "http/added.h"
#include "http/http1_info.h"
#include "http/http1_trailers.h"
#include "http/problem.h"
#include "scope/suspend.h"
#include "wire/http1.h"
#include "wire/http1_parts.h"

enum {
        VERSION = 20,
        RATE_DEFAULT = 240,
        GATHER_LEAST = 256,
        SPARES_MAX = 512,
        SPARE_BUF_BYTES = 1 << 10,
        TRAILERS_BYTES_MAX =
                ED_HTTP1_TRAILERS_BYTES_MAX + ED_HTTP1_TRAILERS_MAX * ED_H2_FIELD_BYTES,
};

static struct ed_h2_exchange *h2_of(const eddy_http_exchange *exchange)
{
        return ed_h2_exchange_of(exchange);
}

/* ---- its life ---------------------------------------------------------------------- */

static uint32_t rate_of(int32_t rate)
{
        if (rate == 0)
                return RATE_DEFAULT;
        return rate < 0 ? 0 : (uint32_t) rate;
}

/*
 * Make an exchange with the buffers of one that has ended, if the server has kept one: the requests of
 * a busy server allocate little.
 */
static struct ed_h2_exchange *take_spare(struct ed_http_server *server)
{
        struct ed_h2_exchange *exchange = server->spares;

        if (!exchange)
                return ed_alloc_zero(sizeof(*exchange));
        server->spares = exchange->next_spare;
        server->spares_count--;
        return exchange;
}

/* Let a new buffer have the memory of an old one. */
static void reuse(struct ed_buf *buf, const struct ed_buf *old)
{
        size_t max = buf->max;

        *buf = *old;
        buf->max = max;
}

struct ed_h2_exchange *ed_h2_exchange_new(struct ed_h2_connection *connection, int32_t id)
{
        const struct eddy_http_server_opts *opts = &connection->server->opts;
        struct ed_h2_exchange *exchange = take_spare(connection->server);
        struct ed_buf text, copies, out;

        if (!exchange)
                return NULL;
        text = exchange->stream.head.text;
        copies = exchange->copies;
        out = exchange->stream.out;
        memset(exchange, 0, sizeof(*exchange));
        exchange->base.ops = &ed_h2_exchange_ops;
        exchange->connection = connection;
        exchange->started_ns = connection->h2.active_ns;
        exchange->body_max = opts->body_bytes_max;
        exchange->body_length = -1;
        exchange->method = exchange->target = exchange->path = "";
        exchange->query = exchange->host = "";
        ed_h2_stream_init(&exchange->stream, &connection->h2, id);
        reuse(&exchange->stream.head.text, &text);
        reuse(&exchange->stream.out, &out);
        ed_http_pace_init(&exchange->upload, rate_of(opts->upload_rate_min), opts->rate_over_ns);
        ed_http_pace_init(&exchange->download, rate_of(opts->download_rate_min),
                          opts->rate_over_ns);
        ed_buf_init(&exchange->copies, (size_t) opts->head_bytes_max + 4);
        reuse(&exchange->copies, &copies);
        ed_buf_init(&exchange->added, ED_HTTP_ADDED_BYTES_MAX);
        ed_h2_head_init(&exchange->stream.trailers, ED_HTTP1_TRAILERS_MAX, TRAILERS_BYTES_MAX);
        ed_h2_head_init(&exchange->trailers, ED_HTTP1_TRAILERS_MAX, TRAILERS_BYTES_MAX);
        return exchange;
}

/* Empty a buffer for another use; a large one is freed. */
static void recycle(struct ed_buf *buf)
{
        if (buf->room > SPARE_BUF_BYTES)
                ed_buf_fini(buf);
        else
                ed_buf_consume(buf, ed_buf_bytes(buf));
}

/* Keep an exchange for another request, unless there are enough. Returns false if it must be freed. */
static bool keep_spare(struct ed_http_server *server, struct ed_h2_exchange *exchange)
{
        if (server->spares_count >= SPARES_MAX)
                return false;
        ed_buf_fini(&exchange->stream.in);
        ed_buf_fini(&exchange->stream.head.cookie);
        ed_h2_head_fini(&exchange->stream.trailers);
        recycle(&exchange->stream.head.text);
        recycle(&exchange->copies);
        recycle(&exchange->stream.out);
        exchange->next_spare = server->spares;
        server->spares = exchange;
        server->spares_count++;
        return true;
}

/* Free an exchange, which may be a spare. */
static void exchange_free(struct ed_h2_exchange *exchange)
{
        ed_h2_stream_fini(&exchange->stream);
        ed_buf_fini(&exchange->copies);
        ed_free(exchange);
}

void ed_h2_exchange_free(struct ed_h2_exchange *exchange)
{
        struct ed_http_server *server = exchange->connection->server;

        exchange->connection->heads -= exchange->head_room;
        ed_buf_fini(&exchange->added);
        ed_buf_fini(&exchange->whole);
        ed_h2_head_fini(&exchange->trailers);
        if (!keep_spare(server, exchange))
                exchange_free(exchange);
}

void ed_h2_exchanges_free(struct ed_http_server *server)
{
        while (server->spares) {
                struct ed_h2_exchange *exchange = server->spares;

                server->spares = exchange->next_spare;
                exchange_free(exchange);
        }
        server->spares_count = 0;
        ed_h2_memory_fini(&server->memory);
}

/* ---- the head ------------------------------------------------------------------------ */

/* Host and ":authority" must agree, and one of both exists (RFC 9113, 8.3.1). */
static int take_host(struct ed_h2_exchange *exchange)
{
        struct ed_h2_head *head = &exchange->stream.head;
        const char *authority = ed_h2_head_known(head, ED_H2_AUTHORITY);
        const char *host = ed_h2_head_known(head, ED_H2_HOST);

        if (authority && host && strcasecmp(authority, host) != 0)
                return EDDY_E_HTTP_INVALID_REQUEST;
        if ((authority && strchr(authority, '@')) || (host && strchr(host, '@')))
                return EDDY_E_HTTP_INVALID_REQUEST;
        return authority && !host ? ed_h2_head_put_host(head) : 0;
}

/*
 * Returns true if the target is in a form that HTTP/2 has, and Host in one that HTTP/1 has. nghttp2 looks at
 * paths of the schemes http and https only.
 */
static bool is_plain(const struct ed_h2_exchange *exchange, const char *path)
{
        bool is_asterisk = path && strcmp(path, "*") == 0;

        if (path && path[0] != '/' && !(is_asterisk && strcmp(exchange->method, "OPTIONS") == 0))
                return false;
        return ed_http1_is_host(exchange->host, strlen(exchange->host));
}

/* Set what points into the head, which does not move any more. */
static int take_target(struct ed_h2_exchange *exchange)
{
        const struct ed_h2_head *head = &exchange->stream.head;
        const char *path = ed_h2_head_known(head, ED_H2_PATH), *query;
        const char *host = ed_h2_head_known(head, ED_H2_HOST);
        size_t bytes;
        int err;

        exchange->method = ed_h2_head_known(head, ED_H2_METHOD);
        exchange->host = host ? host : "";
        exchange->target = path ? path : exchange->host;
        if (!ed_http1_is_target(exchange->method, strlen(exchange->method), exchange->target,
                                strlen(exchange->target)))
                return EDDY_E_HTTP_INVALID_REQUEST;
        if (!is_plain(exchange, path))
                return EDDY_E_HTTP_INVALID_REQUEST;
        query = strchr(exchange->target, '?');
        exchange->query = query ? query + 1 : "";
        bytes = query ? (size_t) (query - exchange->target) : strlen(exchange->target);
        err = ed_buf_append(&exchange->copies, exchange->target, bytes);
        if (err == 0)
                err = ed_buf_append(&exchange->copies, "", 1);
        exchange->path = ed_buf_data(&exchange->copies);
        return err;
}

static void refuse(struct ed_h2_exchange *exchange, int status, const char *text)
{
        exchange->refusal = status;
        exchange->refusal_text = text;
}

/* Look at the fields that the protocol uses. nghttp2 has checked the number. */
static void take_fields(struct ed_h2_exchange *exchange)
{
        const struct ed_h2_head *head = &exchange->stream.head;
        const char *length = ed_h2_head_known(head, ED_H2_LENGTH);
        const char *expect = ed_h2_head_known(head, ED_H2_EXPECT);

        exchange->is_head = strcmp(exchange->method, "HEAD") == 0;
        exchange->continued = !expect || exchange->stream.got_end;
        if (length)
                exchange->body_length = strtoll(length, NULL, 10);
        if (exchange->body_length >= 0 && (uint64_t) exchange->body_length > exchange->body_max)
                refuse(exchange, 413, "the body is too large");
        if (expect && strcasecmp(expect, "100-continue") != 0)
                refuse(exchange, 417, "Expect is other than 100-continue");
}

int ed_h2_exchange_begin(struct ed_h2_exchange *exchange)
{
        struct ed_h2_head *head = &exchange->stream.head;
        int err;

        if (head->is_too_large) {
                exchange->method = ed_h2_head_known(head, ED_H2_METHOD);
                exchange->method = exchange->method ? exchange->method : "GET";
                exchange->is_head = strcmp(exchange->method, "HEAD") == 0;
                exchange->path = "/";
                refuse(exchange, 431, "the header fields are too large");
                return 0;
        }
        err = take_host(exchange);
        if (err == 0)
                err = take_target(exchange);
        if (err == 0)
                take_fields(exchange);
        return err;
}

static const char *h2_method(const eddy_http_exchange *base)
{
        return h2_of(base)->method;
}

static const char *h2_target(const eddy_http_exchange *base)
{
        return h2_of(base)->target;
}

static const char *h2_path(const eddy_http_exchange *base)
{
        return h2_of(base)->path;
}

static const char *h2_query(const eddy_http_exchange *base)
{
        return h2_of(base)->query;
}

static const char *h2_host(const eddy_http_exchange *base)
{
        return h2_of(base)->host;
}

static const char *h2_header(const eddy_http_exchange *base, const char *name)
{
        return ed_h2_head_field(&h2_of(base)->stream.head, name);
}

static int h2_header_at(const eddy_http_exchange *base, size_t i,
                        struct eddy_http_header *ret_header)
{
        return ed_h2_head_at(&h2_of(base)->stream.head, i, ret_header);
}

/* They are valid once the body was read to its end, as with HTTP/1. */
static int h2_trailer_at(const eddy_http_exchange *base, size_t i,
                         struct eddy_http_header *ret_trailer)
{
        const struct ed_h2_stream *stream = &h2_of(base)->stream;

        if (!stream->got_end || ed_buf_bytes(&stream->in) > 0)
                return -ENOENT;
        return ed_h2_head_at(&stream->trailers, i, ret_trailer);
}

/* ---- the body -------------------------------------------------------------------------- */

/* The client may be waiting for this response before it sends its body (RFC 9110, 10.1.1). */
static int send_continue(struct ed_h2_exchange *exchange)
{
        struct ed_h2_fields fields;
        int err;

        if (exchange->continued || exchange->answer != ED_HTTP_UNANSWERED ||
            exchange->stream.is_reset || !exchange->stream.h2)
                return 0;
        exchange->continued = true;
        ed_h2_fields_begin(&fields, exchange->stream.h2);
        ed_h2_fields_add(&fields, ":status", 7, "100", 3, 0);
        err = ed_h2_fields_end(&fields);
        return err < 0 ? err : ed_h2_stream_interim(&exchange->stream);
}

/*
 * Read at the minimum speed. While bodies that other handlers do not read keep the window of the connection,
 * the client cannot send, and is not slow.
 */
static int64_t read_at_pace(struct ed_h2_exchange *exchange, void *buf, size_t bytes)
{
        int64_t n;

        for (;;) {
                n = ed_http_pace_read(&exchange->upload, &exchange->stream.stream, buf, bytes);
                if (n != EDDY_E_NET_TIMED_OUT || !ed_h2_stream_is_starved(&exchange->stream))
                        return n;
                ed_http_pace_reset(&exchange->upload);
        }
}

static int64_t read_some(struct ed_h2_exchange *exchange, void *buf, size_t bytes)
{
        uint64_t left = exchange->body_max - exchange->body_bytes;
        char more;
        int64_t n;

        /* A byte above the limit is an error, and the end is not. */
        if (left == 0) {
                n = read_at_pace(exchange, &more, 1);
                return n > 0 ? EDDY_E_HTTP_TOO_LARGE : n;
        }
        if (bytes > left)
                bytes = (size_t) left;
        n = read_at_pace(exchange, buf, bytes);
        if (n > 0)
                exchange->body_bytes += (uint64_t) n;
        return n;
}

static int64_t receive(struct ed_h2_exchange *exchange, void *buf, size_t bytes)
{
        int64_t n = send_continue(exchange);

        if (n == 0)
                n = read_some(exchange, buf, bytes);
        if (n < 0 && n != -ECANCELED)
                exchange->failed = (int) n;
        return n;
}

static int64_t h2_read(eddy_http_exchange *base, void *buf, size_t bytes)
{
        struct ed_h2_exchange *exchange = h2_of(base);
        size_t kept = exchange->is_gathered ? 0 : ed_buf_bytes(&exchange->whole);
        struct ed_task *task;
        int err = ed_http_exchange_read_begin(exchange->failed, bytes, &task);

        if (err < 0)
                return err;
        if (kept == 0)
                return exchange->is_gathered ? 0 : receive(exchange, buf, bytes);
        bytes = kept < bytes ? kept : bytes; /* of a gather that was cancelled */
        memcpy(buf, ed_buf_data(&exchange->whole), bytes);
        ed_buf_consume(&exchange->whole, bytes);
        ed_suspend_passed(task);
        return (int64_t) bytes;
}

/*
 * Returns the room for the next read: for what has arrived, since a client may begin many bodies and send none.
 */
static size_t room_for_body(const struct ed_h2_exchange *exchange)
{
        size_t bytes = ed_buf_bytes(&exchange->stream.in);

        if (exchange->stream.got_end)
                return bytes + 1;
        return bytes < GATHER_LEAST ? GATHER_LEAST : bytes;
}

/* Gather the rest of the body, and a NUL. After a cancel, later calls continue. */
static int gather(struct ed_h2_exchange *exchange)
{
        int64_t n;
        char *at;
        int err;

        exchange->whole.max = SIZE_MAX / 2;
        do {
                size_t room = room_for_body(exchange);

                err = ed_buf_reserve(&exchange->whole, room + 1, &at);
                if (err < 0)
                        return err;
                n = receive(exchange, at, room);
                if (n > 0)
                        ed_buf_grow(&exchange->whole, (size_t) n);
        } while (n > 0);
        if (n < 0)
                return (int) n;
        *at = '\0';
        exchange->is_gathered = true;
        return 0;
}

static int h2_body(eddy_http_exchange *base, const void **ret_data, size_t *ret_bytes)
{
        struct ed_h2_exchange *exchange = h2_of(base);
        struct ed_task *task;
        int err = ed_http_exchange_read_begin(exchange->failed, 1, &task);

        if (err == 0 && exchange->is_gathered)
                ed_suspend_passed(task);
        else if (err == 0)
                err = gather(exchange);
        if (err < 0)
                return err;
        *ret_data = ed_buf_data(&exchange->whole);
        *ret_bytes = ed_buf_bytes(&exchange->whole);
        return 0;
}

static int64_t h2_body_bytes(const eddy_http_exchange *base)
{
        const struct ed_h2_exchange *exchange = h2_of(base);

        if (exchange->body_length < 0 && exchange->stream.got_end &&
            ed_buf_bytes(&exchange->stream.in) == 0)
                return 0;
        return exchange->body_length;
}

static int h2_limit_body(eddy_http_exchange *base, uint64_t bytes_max)
{
        struct ed_h2_exchange *exchange = h2_of(base);

        if (exchange->body_length >= 0 && (uint64_t) exchange->body_length > bytes_max)
                return EDDY_E_HTTP_TOO_LARGE;
        if (bytes_max < exchange->body_max)
                exchange->body_max =
                        bytes_max > exchange->body_bytes ? bytes_max : exchange->body_bytes;
        return 0;
}

/* ---- failures ---------------------------------------------------------------------------- */

void ed_h2_request_failure(const struct ed_h2_exchange *exchange,
                           struct ed_http_failure *ret_failure)
{
        *ret_failure = (struct ed_http_failure){ .error = exchange->failed };
        if (exchange->failed == EDDY_E_HTTP_TOO_LARGE) {
                ret_failure->status = 413;
                ret_failure->detail = "the body is too large";
        } else if (exchange->failed == EDDY_E_NET_TIMED_OUT) {
                ret_failure->status = 408;
                ret_failure->detail = "the body came too slowly";
        }
}

static void answer(struct ed_h2_exchange *exchange, int status, const char *detail)
{
        exchange->failed = ed_http_problem_respond(&exchange->base, status, detail);
}

void ed_h2_answer_missing(struct ed_h2_exchange *exchange, int result)
{
        struct ed_http_failure failure;

        ed_h2_request_failure(exchange, &failure);
        exchange->is_own = true;
        if (failure.status)
                answer(exchange, failure.status, failure.detail);
        else if (result < 0 || exchange->refused[0])
                answer(exchange, 500, "the server failed");
        else if (exchange->failed == 0)
                answer(exchange, 404, NULL);
}

static int h2_refuse(eddy_http_exchange *base, const char *reason)
{
        return ed_http_refuse(h2_of(base)->refused, "%s", reason);
}

static bool is_unanswered(const struct ed_h2_exchange *exchange)
{
        return exchange->answer == ED_HTTP_UNANSWERED && !exchange->aborted;
}

static void h2_failure(const eddy_http_exchange *base, int result,
                       struct ed_http_failure *ret_failure)
{
        const struct ed_h2_exchange *exchange = h2_of(base);

        *ret_failure = (struct ed_http_failure){ .error = 0 };
        if (!is_unanswered(exchange))
                return;
        if (exchange->failed < 0)
                ed_h2_request_failure(exchange, ret_failure);
        else if (result < 0)
                ret_failure->error = result;
        else if (exchange->refused[0])
                ret_failure->error = EDDY_E_HTTP_INVALID_ANSWER;
        else
                ret_failure->status = 404;
}

static void h2_take_over(eddy_http_exchange *base, int result, struct ed_http_failure *ret_failure)
{
        struct ed_h2_exchange *exchange = h2_of(base);

        h2_failure(base, result, ret_failure);
        if (is_unanswered(exchange))
                exchange->is_own = true;
}

static void h2_answer_missing(eddy_http_exchange *base, int result)
{
        struct ed_h2_exchange *exchange = h2_of(base);

        if (is_unanswered(exchange))
                ed_h2_answer_missing(exchange, result);
}

static void h2_abort(eddy_http_exchange *base)
{
        h2_of(base)->aborted = true;
}

static void h2_info(eddy_http_exchange *base, struct eddy_http_exchange_info *ret_info)
{
        struct ed_h2_exchange *exchange = h2_of(base);
        struct ed_h2_connection *connection = exchange->connection;
        const struct ed_http_ends *ends = ed_http_ends(&connection->ends, connection->h2.stream);

        *ret_info = (struct eddy_http_exchange_info){
                .version = VERSION,
                .status = exchange->status,
                .received_bytes = exchange->stream.received,
                .sent_bytes = exchange->stream.sent + exchange->stream.stream.taken,
                .started_ns = exchange->started_ns,
                .peer = &ends->peer,
                .local = &ends->local,
                .tls_cipher = "",
                .tls_server_name = "",
                .tls_alpn = "",
                .number = exchange->number,
        };
        if (connection->h2.stream)
                ed_http_describe_tls(connection->h2.stream, ret_info);
}

const struct ed_http_exchange_ops ed_h2_exchange_ops = {
        .method = h2_method,
        .target = h2_target,
        .path = h2_path,
        .query = h2_query,
        .host = h2_host,
        .header = h2_header,
        .header_at = h2_header_at,
        .trailer_at = h2_trailer_at,
        .read = h2_read,
        .body = h2_body,
        .limit_body = h2_limit_body,
        .body_bytes = h2_body_bytes,
        .add_header = ed_h2_add_header,
        .added_next = ed_h2_added_next,
        .add_trailer = ed_h2_add_trailer,
        .early_hints = ed_h2_early_hints,
        .respond = ed_h2_respond,
        .begin = ed_h2_begin,
        .reserve = ed_h2_reserve,
        .write = ed_h2_write,
        .end = ed_h2_end_answer,
        .flush = ed_h2_flush,
        .keep = ed_h2_keep,
        .upgrade = ed_h2_upgrade,
        .abort = h2_abort,
        .info = h2_info,
        .refuse = h2_refuse,
        .failure = h2_failure,
        .take_over = h2_take_over,
        .answer_missing = h2_answer_missing,
};
