/*
 * http/h2_stream.c - see h2_stream.h.
 */
#include "http/h2_stream.h"

#include <errno.h>
#include <string.h>

#include "eddy/error.h"
#include "scope/debug/debug.h"
#include "scope/suspend.h"

enum {
        IN_BYTES_MAX = 1 << 30, /* the window limits it before */
        SHRINK_BYTES = 4 << 10,
        STARVED_BYTES = 1 << 10, /* a peer may wait for a larger window than this */
};

/* A waiting task's entry, on the task's stack, registered until the task runs again. */
struct ed_h2_waiter {
        struct ed_h2_stream *stream; /* NULL: unregistered; the stream may be gone */
        enum eddy_stream_side side;
        struct ed_task *task;
        bool woken;
};

/* ---- its life ----------------------------------------------------------------- */

static const struct eddy_stream_ops stream_ops;

void ed_h2_stream_init(struct ed_h2_stream *stream, struct ed_h2 *h2, int32_t id)
{
        *stream = (struct ed_h2_stream){
                .ops = h2->ops,
                .h2 = h2,
                .id = id,
                .in.max = IN_BYTES_MAX,
                .out.max = ED_H2_KEPT_BYTES_MAX,
        };
        eddy_stream_init(&stream->stream, &stream_ops);
        ed_h2_head_init(&stream->head, h2->fields_max, h2->head_bytes_max);
        ed_h2_head_init(&stream->trailers, h2->fields_max, h2->head_bytes_max);
        ed_list_init(&stream->link);
        if (id == 0)
                return;
        stream->owners = ED_H2_PROTOCOL;
        ed_list_push_back(&h2->streams, &stream->link);
        h2->streams_count++;
}

void ed_h2_stream_fini(struct ed_h2_stream *stream)
{
        ed_h2_head_fini(&stream->head);
        ed_h2_head_fini(&stream->trailers);
        ed_buf_fini(&stream->in);
        ed_buf_fini(&stream->out);
}

void ed_h2_stream_take(struct ed_h2_stream *stream)
{
        stream->owners |= ED_H2_TASK;
}

static void let_go(struct ed_h2_stream *stream, uint8_t owner)
{
        stream->owners &= (uint8_t) ~owner;
        if (stream->owners)
                return;
        ed_debug_gone(&stream->stream);
        stream->ops->free(stream);
}

static void wake(struct ed_h2_stream *stream, enum eddy_stream_side side)
{
        struct ed_h2_waiter *waiter = stream->waiters[side];

        if (!waiter || waiter->woken)
                return;
        waiter->woken = true;
        ed_suspend_wake(waiter->task, 0);
}

/* Give back the room that no write has used. */
static void unreserve(struct ed_h2_stream *stream)
{
        if (stream->h2)
                stream->h2->kept -= stream->reserved;
        stream->reserved = 0;
}

static void drop_out(struct ed_h2_stream *stream)
{
        unreserve(stream);
        if (stream->h2)
                stream->h2->kept -= ed_buf_bytes(&stream->out);
        ed_buf_fini(&stream->out);
}

static void mark_reset(struct ed_h2_stream *stream, uint32_t code, int error)
{
        if (stream->is_reset)
                return;
        stream->is_reset = true;
        stream->code = code;
        stream->error = error < 0 ? error : -ECONNRESET;
        drop_out(stream);
        wake(stream, EDDY_STREAM_READING);
        wake(stream, EDDY_STREAM_WRITING);
}

void ed_h2_stream_reset(struct ed_h2_stream *stream, uint32_t code, int error)
{
        struct ed_h2 *h2 = stream->h2;

        if (!stream->is_reset && h2 && h2->session && stream->owners & ED_H2_PROTOCOL) {
                stream->reset_by_us = true;
                /* Without memory for a frame the connection ends. */
                if (nghttp2_submit_rst_stream(h2->session, NGHTTP2_FLAG_NONE, stream->id, code) < 0)
                        ed_h2_fail(h2, NGHTTP2_INTERNAL_ERROR);
                ed_h2_wake(h2);
        }
        mark_reset(stream, code, error);
}

void ed_h2_stream_closed(struct ed_h2_stream *stream, uint32_t code, int error)
{
        struct ed_h2 *h2 = stream->h2;

        ed_list_remove(&stream->link);
        h2->streams_count--;
        if (code != NGHTTP2_NO_ERROR || error < 0 || !stream->got_end || !stream->is_ended ||
            ed_buf_bytes(&stream->out) > 0)
                mark_reset(stream, code, error);
        if (stream->ops->closed)
                stream->ops->closed(stream);
        if (!h2->session)
                stream->h2 = NULL;
        let_go(stream, ED_H2_PROTOCOL);
}

void ed_h2_stream_leave(struct ed_h2_stream *stream, uint32_t code)
{
        bool at_end = stream->is_ended && code == NGHTTP2_NO_ERROR;

        unreserve(stream);
        ed_h2_stream_drop_input(stream);
        if (stream->owners & ED_H2_PROTOCOL && !(stream->is_ended && stream->got_end)) {
                if (at_end && !stream->sent_end)
                        stream->leaves = true;
                else
                        ed_h2_stream_reset(stream, code, -ECANCELED);
        }
        let_go(stream, ED_H2_TASK);
}

void ed_h2_stream_leave_quietly(struct ed_h2_stream *stream)
{
        ed_h2_stream_drop_input(stream);
        let_go(stream, ED_H2_TASK);
}

/* ---- what the peer sends ------------------------------------------------------ */

/*
 * Return credit of the connection. nghttp2 sends it when half of the window is due, and unread bodies may
 * keep more than the other half: send it when as much is due as is left.
 */
static int return_credit(struct ed_h2 *h2, size_t bytes)
{
        int err = nghttp2_session_consume_connection(h2->session, bytes);
        int64_t left = nghttp2_session_get_local_window_size(h2->session);
        int64_t due =
                nghttp2_session_get_effective_recv_data_length(h2->session) - (int64_t) h2->unread;

        if (err < 0 || due <= 0 || due < left)
                return err;
        return nghttp2_submit_window_update(h2->session, NGHTTP2_FLAG_NONE, 0, (int32_t) due);
}

/* Give back the credit for bytes that a task has read, or that are dropped. */
static void give_credit(struct ed_h2_stream *stream, size_t bytes)
{
        struct ed_h2 *h2 = stream->h2;
        bool is_due = stream->owners & ED_H2_PROTOCOL && !stream->got_end;
        int err = 0;

        if (!h2 || !h2->session || bytes == 0)
                return;
        h2->unread -= bytes;
        if (h2->credit_at_receipt && !is_due)
                return;
        if (!h2->credit_at_receipt)
                err = return_credit(h2, bytes);
        if (err == 0 && is_due)
                err = nghttp2_session_consume_stream(h2->session, stream->id, bytes);
        if (err == NGHTTP2_ERR_NOMEM)
                ed_h2_fail(h2, NGHTTP2_INTERNAL_ERROR);
        ed_h2_wake(h2);
}

bool ed_h2_stream_receive(struct ed_h2_stream *stream, const void *data, size_t bytes)
{
        struct ed_h2 *h2 = stream->h2;

        stream->data_in += bytes;
        h2->unread += bytes;
        if (h2->credit_at_receipt &&
            nghttp2_session_consume_connection(h2->session, bytes) == NGHTTP2_ERR_NOMEM)
                return false;
        if (stream->drops || stream->is_reset) {
                give_credit(stream, bytes);
                return true;
        }
        if (ed_buf_append(&stream->in, data, bytes) < 0) {
                give_credit(stream, bytes);
                return false;
        }
        wake(stream, EDDY_STREAM_READING);
        return true;
}

void ed_h2_stream_got_end(struct ed_h2_stream *stream)
{
        if (stream->is_reset) /* bytes may be missing */
                return;
        stream->got_end = true;
        wake(stream, EDDY_STREAM_READING);
}

void ed_h2_stream_take_input(struct ed_h2_stream *stream, struct ed_buf *empty)
{
        struct ed_buf input = stream->in;

        stream->in = *empty;
        stream->in.max = input.max;
        input.max = empty->max;
        *empty = input;
        give_credit(stream, ed_buf_bytes(&input));
}

void ed_h2_stream_drop_input(struct ed_h2_stream *stream)
{
        size_t bytes = ed_buf_bytes(&stream->in);

        stream->drops = true;
        ed_buf_fini(&stream->in);
        give_credit(stream, bytes);
}

static bool is_readable(const struct ed_h2_stream *stream)
{
        return ed_buf_bytes(&stream->in) > 0 || stream->got_end || stream->is_reset;
}

static int64_t stream_try_read(eddy_stream *base, void *buf, size_t bytes)
{
        struct ed_h2_stream *stream = ed_h2_stream_of(base);
        size_t held = ed_buf_bytes(&stream->in);

        if (held == 0) {
                if (stream->got_end)
                        return 0;
                return stream->is_reset ? stream->error : -EAGAIN;
        }
        if (bytes > held)
                bytes = held;
        memcpy(buf, ed_buf_data(&stream->in), bytes);
        ed_buf_consume(&stream->in, bytes);
        if (bytes == held)
                ed_buf_fini(&stream->in);
        give_credit(stream, bytes);
        return (int64_t) bytes;
}

/* ---- what this side sends ----------------------------------------------------- */

/*
 * Returns the bytes that can be kept now: the rest of the limits, but not a few bytes, unless the stream
 * has none.
 */
static size_t room(const struct ed_h2_stream *stream)
{
        size_t kept = ed_buf_bytes(&stream->out), own = ED_H2_KEPT_BYTES_MAX - kept;
        uint64_t others = stream->h2->kept - stream->reserved;
        uint64_t all = others < ED_H2_KEPT_ALL_BYTES_MAX ? ED_H2_KEPT_ALL_BYTES_MAX - others : 0;

        if (all < ED_H2_KEPT_LEAST)
                all = kept == 0 ? ED_H2_KEPT_LEAST : 0;
        if (own < all)
                all = own;
        return all > stream->reserved ? (size_t) all : stream->reserved;
}

size_t ed_h2_stream_reserve(struct ed_h2_stream *stream, size_t bytes)
{
        size_t left = room(stream);

        unreserve(stream);
        stream->reserved = bytes < left ? bytes : left;
        stream->h2->kept += stream->reserved;
        return stream->reserved;
}

static bool is_writable(const struct ed_h2_stream *stream)
{
        return stream->is_reset || stream->is_ended || !stream->h2 || room(stream) > 0;
}

/* There is something to send. */
static void resume(struct ed_h2_stream *stream)
{
        struct ed_h2 *h2 = stream->h2;

        if (!stream->is_deferred)
                return;
        stream->is_deferred = false;
        if (nghttp2_session_resume_data(h2->session, stream->id) == NGHTTP2_ERR_NOMEM)
                ed_h2_fail(h2, NGHTTP2_INTERNAL_ERROR);
        ed_h2_wake(h2);
}

static int64_t stream_try_writev(eddy_stream *base, const struct eddy_slice *slices, size_t n)
{
        struct ed_h2_stream *stream = ed_h2_stream_of(base);
        size_t left, taken = 0;
        char *at;
        int err;

        if (stream->is_reset || !stream->h2)
                return stream->error < 0 ? stream->error : -ECONNRESET;
        if (stream->is_ended)
                return -EPIPE;
        left = room(stream);
        if (left == 0)
                return -EAGAIN;
        unreserve(stream);
        for (size_t i = 0; i < n && left > 0; i++) {
                size_t bytes = slices[i].bytes < left ? slices[i].bytes : left;

                err = ed_buf_reserve(&stream->out, bytes, &at);
                if (err < 0)
                        break;
                memcpy(at, slices[i].data, bytes);
                ed_buf_grow(&stream->out, bytes);
                taken += bytes;
                left -= bytes;
        }
        if (taken == 0)
                return -ENOMEM;
        stream->h2->kept += taken;
        resume(stream);
        return (int64_t) taken;
}

void ed_h2_stream_end(struct ed_h2_stream *stream, struct ed_h2_head *trailers)
{
        if (stream->is_ended || stream->is_reset)
                return;
        stream->is_ended = true;
        stream->last = trailers;
        unreserve(stream);
        resume(stream);
        wake(stream, EDDY_STREAM_WRITING);
}

static int stream_shutdown(eddy_stream *base)
{
        struct ed_h2_stream *stream = ed_h2_stream_of(base);

        if (stream->is_reset)
                return stream->error;
        ed_h2_stream_end(stream, NULL);
        return 0;
}

/*
 * Give memory back that few bytes of a stream occupy: a client could leave a byte of each response. Without
 * memory for a smaller buffer the larger one remains.
 */
static void shrink(struct ed_buf *buf)
{
        size_t bytes = ed_buf_bytes(buf);
        struct ed_buf smaller;

        if (buf->room <= SHRINK_BYTES || bytes >= buf->room / 4)
                return;
        ed_buf_init(&smaller, buf->max);
        if (bytes > 0 && ed_buf_append(&smaller, ed_buf_data(buf), bytes) < 0)
                return;
        ed_buf_fini(buf);
        *buf = smaller;
}

int ed_h2_stream_send(struct ed_h2_stream *stream, const uint8_t *head, const nghttp2_frame *frame,
                      size_t bytes)
{
        struct ed_h2 *h2 = stream->h2;
        char *at;
        int err;

        ed_assert(frame->data.padlen == 0, "a frame of DATA has padding");
        err = ed_buf_reserve(&h2->out, ED_H2_FRAME_HEAD_BYTES + bytes, &at);
        if (err < 0)
                return err;
        memcpy(at, head, ED_H2_FRAME_HEAD_BYTES);
        memcpy(at + ED_H2_FRAME_HEAD_BYTES, ed_buf_data(&stream->out), bytes);
        ed_buf_grow(&h2->out, ED_H2_FRAME_HEAD_BYTES + bytes);
        ed_buf_consume(&stream->out, bytes);
        shrink(&stream->out);
        h2->kept -= bytes;
        stream->data_out += bytes;
        if (ed_buf_bytes(&stream->out) <= ED_H2_KEPT_BYTES_MAX / 2 && room(stream) > 0)
                wake(stream, EDDY_STREAM_WRITING);
        return 0;
}

/* ---- frames of a message ------------------------------------------------------ */

/* Set trailers as the list of fields. */
static int take_trailers(struct ed_h2 *h2, const struct ed_h2_head *head)
{
        struct eddy_http_header header;
        struct ed_h2_fields fields;

        ed_h2_fields_begin(&fields, h2);
        for (size_t i = 0; ed_h2_head_at(head, i, &header) == 0; i++)
                ed_h2_fields_add(&fields, header.name, strlen(header.name), header.value,
                                 strlen(header.value), 0);
        return ed_h2_fields_end(&fields);
}

/* The last bytes are about to leave: queue the trailers after them. */
static int queue_trailers(struct ed_h2_stream *stream)
{
        struct ed_h2 *h2 = stream->h2;

        if (take_trailers(h2, stream->last) < 0 ||
            nghttp2_submit_trailer(h2->session, stream->id, h2->fields, h2->fields_count) < 0)
                return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
        return 0;
}

/* nghttp2 asks for bytes. They are copied later, when the frame's head is ready. */
static ssize_t on_ask(nghttp2_session *session, int32_t id, uint8_t *buf, size_t bytes,
                      uint32_t *flags, nghttp2_data_source *source, void *arg)
{
        struct ed_h2_stream *stream = source->ptr;
        size_t held = ed_buf_bytes(&stream->out);

        (void) session, (void) id, (void) buf, (void) arg;
        if (held == 0 && !stream->is_ended) {
                stream->is_deferred = true;
                return NGHTTP2_ERR_DEFERRED;
        }
        if (bytes > held)
                bytes = held;
        if (bytes > 0)
                *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
        if (!stream->is_ended || bytes < held)
                return (ssize_t) bytes;
        *flags |= NGHTTP2_DATA_FLAG_EOF;
        if (stream->last && stream->last->kept > 0) {
                *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
                if (queue_trailers(stream) < 0)
                        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
        }
        return (ssize_t) bytes;
}

static nghttp2_data_provider provider_of(struct ed_h2_stream *stream)
{
        return (nghttp2_data_provider){ .source = { .ptr = stream }, .read_callback = on_ask };
}

/* Returns 0 if frames can be queued for the stream. */
static int check(const struct ed_h2_stream *stream)
{
        if (stream->is_reset)
                return stream->error;
        return stream->h2 && stream->h2->session && stream->owners & ED_H2_PROTOCOL ? 0
                                                                                    : -ECONNRESET;
}

int ed_h2_stream_request(struct ed_h2_stream *stream, bool has_body)
{
        struct ed_h2 *h2 = stream->h2;
        nghttp2_data_provider provider = provider_of(stream);
        int32_t id;

        if (!h2->session)
                return -ECONNRESET;
        id = nghttp2_submit_request(h2->session, NULL, h2->fields, h2->fields_count,
                                    has_body ? &provider : NULL, stream);
        if (id == NGHTTP2_ERR_STREAM_ID_NOT_AVAILABLE)
                return -EAGAIN;
        if (id < 0)
                return ed_h2_error(id);
        stream->id = id;
        stream->sent_head = true;
        stream->is_ended = !has_body;
        stream->owners |= ED_H2_PROTOCOL;
        ed_list_push_back(&h2->streams, &stream->link);
        h2->streams_count++;
        ed_h2_wake(h2);
        return 0;
}

int ed_h2_stream_respond(struct ed_h2_stream *stream, bool has_body)
{
        struct ed_h2 *h2 = stream->h2;
        nghttp2_data_provider provider = provider_of(stream);
        int err = check(stream);

        if (err < 0)
                return err;
        err = nghttp2_submit_response(h2->session, stream->id, h2->fields, h2->fields_count,
                                      has_body ? &provider : NULL);
        if (err < 0)
                return ed_h2_error(err);
        stream->sent_head = true;
        if (!has_body)
                stream->is_ended = true;
        ed_h2_wake(h2);
        return 0;
}

int ed_h2_stream_interim(struct ed_h2_stream *stream)
{
        struct ed_h2 *h2 = stream->h2;
        int err = check(stream);

        if (err < 0)
                return err;
        err = nghttp2_submit_headers(h2->session, NGHTTP2_FLAG_NONE, stream->id, NULL, h2->fields,
                                     h2->fields_count, NULL);
        if (err < 0)
                return ed_h2_error(err);
        ed_h2_wake(h2);
        return 0;
}

bool ed_h2_stream_is_starved(const struct ed_h2_stream *stream)
{
        nghttp2_session *session = stream->h2 ? stream->h2->session : NULL;

        return session && !stream->is_reset &&
               nghttp2_session_get_local_window_size(session) < STARVED_BYTES;
}

/* ---- as a stream -------------------------------------------------------------- */

static bool take_back(void *arg)
{
        struct ed_h2_waiter *waiter = arg;

        waiter->stream->waiters[waiter->side] = NULL;
        waiter->stream = NULL;
        return true;
}

static int stream_wait(eddy_stream *base, enum eddy_stream_side side)
{
        static const char *const waits_for[] = { "bytes of an HTTP/2 stream",
                                                 "room in an HTTP/2 stream" };
        struct ed_h2_stream *stream = ed_h2_stream_of(base);
        struct ed_h2_waiter waiter = { .stream = stream, .side = side };
        int err = ed_suspend_enter(&waiter.task);

        if (err < 0)
                return err;
        if (side == EDDY_STREAM_READING ? is_readable(stream) : is_writable(stream))
                return 0;
        stream->waiters[side] = &waiter;
        err = ed_suspend_park(waiter.task, waits_for[side], take_back, &waiter);
        if (!waiter.stream)
                return err < 0 ? err : -ECANCELED;
        stream->waiters[side] = NULL;
        /* Readiness is not a result, so a later cancel takes precedence. */
        return ed_suspend_enter(&waiter.task);
}

static bool stream_is_readable(eddy_stream *base)
{
        return is_readable(ed_h2_stream_of(base));
}

static void stream_sent(const eddy_stream *base, struct eddy_stream_sent *ret_sent)
{
        const struct ed_h2_stream *stream = ed_h2_stream_of(base);

        ret_sent->acknowledged = stream->data_out;
        ret_sent->pending = ed_buf_bytes(&stream->out);
}

static int stream_endpoint(const eddy_stream *base, enum eddy_stream_end end,
                           struct eddy_endpoint *ret_endpoint)
{
        const struct ed_h2 *h2 = ed_h2_stream_of(base)->h2;

        if (!h2 || !h2->stream)
                return -ENOTCONN;
        return end == EDDY_STREAM_PEER ? eddy_stream_peer(h2->stream, ret_endpoint)
                                       : eddy_stream_local(h2->stream, ret_endpoint);
}

static void stream_close(eddy_stream *base, unsigned flags)
{
        struct ed_h2_stream *stream = ed_h2_stream_of(base);

        for (int side = 0; side < 2; side++) {
                struct ed_h2_waiter *waiter = stream->waiters[side];

                if (!waiter)
                        continue;
                stream->waiters[side] = NULL;
                waiter->stream = NULL;
                if (!waiter->woken)
                        ed_suspend_wake(waiter->task, -ECANCELED);
        }
        if (flags & EDDY_STREAM_ABORT)
                ed_h2_stream_reset(stream, NGHTTP2_CANCEL, -ECANCELED);
        ed_h2_stream_leave(stream, NGHTTP2_CANCEL);
}

static const struct eddy_stream_ops stream_ops = {
        .kind = "h2",
        .try_read = stream_try_read,
        .try_writev = stream_try_writev,
        .wait = stream_wait,
        .is_readable = stream_is_readable,
        .shutdown = stream_shutdown,
        .close = stream_close,
        .sent = stream_sent,
        .endpoint = stream_endpoint,
};
