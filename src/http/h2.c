/*
 * http/h2.c - see h2.h.
 */
#include "http/h2.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "http/h2_stream.h"
#include "loop/loop.h"
#include "scope/suspend.h"

enum {
        READ_BYTES = 16 << 10,
        READS_MAX = 8,          /* in a row, before other tasks have a turn */
        WRITE_BYTES = 32 << 10, /* frames are joined up to this size */
        OUT_BYTES_MAX = 256 << 10,
        FRAME_TYPE_AT = 3,    /* in a frame's head */
        UPDATES_PER_DATA = 4, /* frames WINDOW_UPDATE that a frame of DATA explains */
        DRIBBLE_BYTES = 128,  /* DATA with fewer costs the peer less than this side */
        HEAD_SENT_BYTES_MAX = 16 << 20,
        QUEUE_MAX = 1 << 10,  /* frames that wait for the peer to read, without DATA ... */
        QUEUE_PER_STREAM = 8, /* ... and for each stream at once */
        STREAMS_MAX = 100,    /* of a client */
};

/* Time for the last bytes, such as a GOAWAY, or answers to a peer that has ended its sending. */
#define LAST_BYTES_NS EDDY_SEC(1)

/* ---- limits --------------------------------------------------------------------- */

/* The peer has exceeded a limit. Returns the result of a callback. */
static int over(struct ed_h2 *h2, enum ed_h2_limit limit)
{
        if (h2->limit < 0)
                h2->limit = (int) limit;
        ed_h2_fail(h2, NGHTTP2_ENHANCE_YOUR_CALM);
        return NGHTTP2_ERR_CALLBACK_FAILURE;
}

/* Returns 0, or the result of a callback if there are too many. */
static int spend(struct ed_h2 *h2, enum ed_h2_limit limit)
{
        if (ed_h2_bucket_take(&h2->buckets[limit], ed_loop_now(ed_loop_current)))
                return 0;
        return over(h2, limit);
}

/* Returns the limit for a type of frame that the peer may send at any time, or -1. */
static int limit_of(uint8_t type)
{
        switch (type) {
        case NGHTTP2_PRIORITY:
        case NGHTTP2_GOAWAY:
                return ED_H2_OTHERS;
        case NGHTTP2_RST_STREAM:
                return ED_H2_RESETS;
        case NGHTTP2_SETTINGS:
                return ED_H2_SETTINGS;
        case NGHTTP2_PING:
                return ED_H2_PINGS;
        case NGHTTP2_WINDOW_UPDATE:
                return ED_H2_UPDATES;
        default:
                return -1;
        }
}

static struct ed_h2_stream *find(nghttp2_session *session, int32_t id)
{
        return nghttp2_session_get_stream_user_data(session, id);
}

/* A new stream of the peer. The ids that it leaves out can never be used (RFC 9113, 5.1.1). */
static int begin_id(struct ed_h2 *h2, int32_t id)
{
        if (id > h2->last_id) {
                if (id > h2->last_id + 2) {
                        h2->gap_begin = h2->last_id + 1;
                        h2->gap_end = id;
                }
                h2->last_id = id;
        } else if (id >= h2->gap_begin && id < h2->gap_end) {
                ed_h2_fail(h2, NGHTTP2_PROTOCOL_ERROR);
                return NGHTTP2_ERR_CALLBACK_FAILURE;
        }
        return 0;
}

/*
 * Returns true if a frame counts as a stray if its stream has ended. Large DATA does not: it was on its
 * way, and a window limits it.
 */
static bool may_be_stray(uint8_t type, size_t length)
{
        return type == NGHTTP2_HEADERS || (type == NGHTTP2_DATA && length < DRIBBLE_BYTES);
}

/* Returns true if there was such a stream, which has ended. */
static bool has_ended(const struct ed_h2 *h2, int32_t id)
{
        return (!h2->is_server || id <= h2->last_id) && !find(h2->session, id);
}

static int on_begin_frame(nghttp2_session *session, const nghttp2_frame_hd *hd, void *arg)
{
        struct ed_h2 *h2 = arg;
        int limit = limit_of(hd->type);

        if (hd->type == NGHTTP2_HEADERS || hd->type == NGHTTP2_CONTINUATION)
                h2->in_head = !(hd->flags & NGHTTP2_FLAG_END_HEADERS);
        /* A reset by a server costs the client a request. */
        if (limit == ED_H2_RESETS && !h2->is_server && find(session, hd->stream_id))
                return 0;
        if (limit >= 0)
                return spend(h2, (enum ed_h2_limit) limit);
        /* The stream is looked for here, since it may have ended when its frame is counted below. */
        if (may_be_stray(hd->type, hd->length) && !has_ended(h2, hd->stream_id))
                h2->strays--;
        /* The settings of this side forbid it, also before the peer has answered them. */
        if (hd->type == NGHTTP2_PUSH_PROMISE) {
                ed_h2_fail(h2, NGHTTP2_PROTOCOL_ERROR);
                return NGHTTP2_ERR_CALLBACK_FAILURE;
        }
        if (hd->type == NGHTTP2_CONTINUATION) {
                h2->continuations++;
                if (h2->continuations_max && h2->continuations > h2->continuations_max)
                        return over(h2, ED_H2_CONTINUATIONS);
        } else if (hd->type == NGHTTP2_HEADERS) {
                h2->continuations = 0;
                if (h2->is_server && hd->stream_id % 2 == 1)
                        return begin_id(h2, hd->stream_id);
        }
        return 0;
}

/* ---- heads ------------------------------------------------------------------------ */

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
        struct ed_h2 *h2 = arg;
        struct ed_h2_stream *stream;
        int32_t id = frame->hd.stream_id;

        if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
                return 0;
        stream = h2->ops->begin ? h2->ops->begin(h2, id) : NULL;
        if (!stream) {
                if (nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id,
                                              NGHTTP2_REFUSED_STREAM) < 0)
                        return NGHTTP2_ERR_CALLBACK_FAILURE;
                return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
        }
        (void) nghttp2_session_set_stream_user_data(session, id, stream);
        return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_bytes, const uint8_t *value, size_t value_bytes, uint8_t flags,
                     void *arg)
{
        struct ed_h2_stream *stream = find(session, frame->hd.stream_id);
        struct ed_h2 *h2 = arg;
        struct ed_h2_head *head;
        int err;

        (void) flags;
        if (!stream || frame->hd.type != NGHTTP2_HEADERS)
                return 0;
        head = stream->has_head ? &stream->trailers : &stream->head;
        err = ed_h2_head_add(head, name, name_bytes, value, value_bytes);
        if (h2->head_decoded_max && head->bytes > h2->head_decoded_max)
                return over(h2, ED_H2_HEAD);
        if (err == -ENOMEM) {
                ed_h2_stream_reset(stream, NGHTTP2_INTERNAL_ERROR, -ENOMEM);
                return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
        }
        return 0;
}

/* A field that HTTP forbids makes the message malformed: nghttp2 would leave it out. */
static int on_invalid_header(nghttp2_session *session, const nghttp2_frame *frame,
                             const uint8_t *name, size_t name_bytes, const uint8_t *value,
                             size_t value_bytes, uint8_t flags, void *arg)
{
        (void) session, (void) frame, (void) name, (void) name_bytes, (void) value;
        (void) value_bytes, (void) flags, (void) arg;
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

static bool is_interim(const struct ed_h2_stream *stream)
{
        const char *status = ed_h2_head_known(&stream->head, ED_H2_STATUS);

        return status && status[0] == '1';
}

static void end_part(struct ed_h2_stream *stream, enum ed_h2_part part)
{
        struct ed_h2_head *head = part == ED_H2_TRAILERS ? &stream->trailers : &stream->head;

        if (ed_h2_head_end(head) < 0) {
                ed_h2_stream_reset(stream, NGHTTP2_INTERNAL_ERROR, -ENOMEM);
                return;
        }
        stream->ops->part(stream, part);
}

/* The fields of a frame HEADERS, and of its frames CONTINUATION, are complete. */
static void end_fields(struct ed_h2_stream *stream, bool is_end)
{
        if (stream->has_head) {
                end_part(stream, ED_H2_TRAILERS);
                return;
        }
        if (is_interim(stream)) {
                end_part(stream, ED_H2_INTERIM);
                ed_h2_head_clear(&stream->head);
                return;
        }
        stream->has_head = true;
        if (is_end) /* the side may look for a body */
                ed_h2_stream_got_end(stream);
        end_part(stream, ED_H2_MESSAGE);
}

/* ---- frames ----------------------------------------------------------------------- */

static int on_data_frame(struct ed_h2 *h2, const nghttp2_frame *frame)
{
        bool is_end = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;

        return frame->hd.length == frame->data.padlen && !is_end ? spend(h2, ED_H2_EMPTY) : 0;
}

static void on_connection_frame(struct ed_h2 *h2, const nghttp2_frame *frame)
{
        bool is_answer = frame->hd.flags & NGHTTP2_FLAG_ACK;

        if (frame->hd.type == NGHTTP2_SETTINGS && !is_answer && h2->ops->settings)
                h2->ops->settings(h2);
        if (frame->hd.type == NGHTTP2_PING && is_answer && h2->ops->pong)
                h2->ops->pong(h2);
        if (frame->hd.type != NGHTTP2_GOAWAY)
                return;
        h2->is_going = true;
        if (h2->ops->goaway)
                h2->ops->goaway(h2, frame->goaway.last_stream_id, frame->goaway.error_code);
}

static int on_frame_recv(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
        struct ed_h2_stream *stream = find(session, frame->hd.stream_id);
        struct ed_h2 *h2 = arg;
        bool is_end = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
        int err = 0;

        if (frame->hd.stream_id == 0) {
                on_connection_frame(h2, frame);
                return 0;
        }
        if (frame->hd.type == NGHTTP2_DATA)
                err = on_data_frame(h2, frame);
        if (err < 0 || !stream)
                return err;
        stream->received += ED_H2_FRAME_HEAD_BYTES + frame->hd.length;
        stream->reset_by_peer |= frame->hd.type == NGHTTP2_RST_STREAM;
        if (frame->hd.type == NGHTTP2_HEADERS)
                end_fields(stream, is_end);
        if (is_end && (frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS) &&
            !stream->got_end)
                ed_h2_stream_got_end(stream);
        return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data,
                   size_t bytes, void *arg)
{
        struct ed_h2_stream *stream = find(session, id);
        struct ed_h2 *h2 = arg;

        (void) flags;
        h2->got_data = true;
        if (!stream)
                return nghttp2_session_consume(session, id, bytes) == NGHTTP2_ERR_NOMEM
                               ? NGHTTP2_ERR_CALLBACK_FAILURE
                               : 0;
        if (!ed_h2_stream_receive(stream, data, bytes))
                ed_h2_stream_reset(stream, NGHTTP2_INTERNAL_ERROR, -ENOMEM);
        return 0;
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t code, void *arg)
{
        struct ed_h2_stream *stream = find(session, id);
        struct ed_h2 *h2 = arg;

        if (!stream)
                return 0;
        (void) nghttp2_session_set_stream_user_data(session, id, NULL);
        ed_h2_stream_closed(stream, code, 0);
        if (h2->streams_count == 0)
                h2->quiet_ns = ed_loop_now(ed_loop_current);
        return 0;
}

static int on_frame_send(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
        struct ed_h2_stream *stream = find(session, frame->hd.stream_id);
        struct ed_h2 *h2 = arg;

        if (frame->hd.type == NGHTTP2_GOAWAY) {
                h2->is_going = true;
                /* nghttp2 ends the connection itself after some faults. */
                if (h2->fault == 0)
                        h2->fault = frame->goaway.error_code;
        }
        /* The reading task ends the connection if there are too many. */
        if (frame->hd.type == NGHTTP2_RST_STREAM && (!stream || !stream->reset_by_us))
                (void) spend(h2, ED_H2_FAULTS);
        if (!stream)
                return 0;
        /* If the rest of a body waits after a small frame, the peer opens its window by few bytes. */
        if (frame->hd.type == NGHTTP2_DATA &&
            (frame->hd.length >= DRIBBLE_BYTES || ed_buf_bytes(&stream->out) == 0))
                ed_h2_bucket_add(&h2->buckets[ED_H2_UPDATES], UPDATES_PER_DATA);
        if (frame->hd.type != NGHTTP2_DATA)
                stream->sent += ED_H2_FRAME_HEAD_BYTES + frame->hd.length;
        if (frame->hd.type != NGHTTP2_DATA && frame->hd.type != NGHTTP2_HEADERS)
                return 0;
        if (!(frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
                return 0;
        stream->sent_end = true;
        h2->refuses |= stream->leaves && !stream->got_end;
        return 0;
}

/*
 * A head that is too large for nghttp2 is not sent, and no other frame would end the stream. nghttp2 ends
 * streams whose request was not sent.
 */
static int on_frame_not_send(nghttp2_session *session, const nghttp2_frame *frame, int result,
                             void *arg)
{
        struct ed_h2_stream *stream = find(session, frame->hd.stream_id);

        (void) arg;
        if (stream && frame->hd.type == NGHTTP2_HEADERS &&
            frame->headers.cat != NGHTTP2_HCAT_REQUEST)
                ed_h2_stream_reset(stream, NGHTTP2_INTERNAL_ERROR, ed_h2_error(result));
        return 0;
}

static int on_send_data(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *head,
                        size_t bytes, nghttp2_data_source *source, void *arg)
{
        const struct ed_h2 *h2 = arg;

        (void) session;
        if (ed_h2_stream_send(source->ptr, head, frame, bytes) < 0)
                return NGHTTP2_ERR_CALLBACK_FAILURE;
        return ed_buf_bytes(&h2->out) < WRITE_BYTES ? 0 : NGHTTP2_ERR_PAUSE;
}

/* ---- making it --------------------------------------------------------------------- */

static nghttp2_session_callbacks *callbacks_new(void)
{
        nghttp2_session_callbacks *callbacks;

        if (nghttp2_session_callbacks_new(&callbacks) < 0)
                return NULL;
        nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, on_begin_frame);
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
        nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
        nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks, on_invalid_header);
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame_recv);
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_send);
        nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, on_frame_not_send);
        nghttp2_session_callbacks_set_send_data_callback(callbacks, on_send_data);
        return callbacks;
}

static int session_new(struct ed_h2 *h2, const struct ed_h2_opts *opts)
{
        nghttp2_mem mem = { opts->memory, ed_h2_malloc, ed_h2_free, ed_h2_calloc, ed_h2_realloc };
        nghttp2_session_callbacks *callbacks = callbacks_new();
        nghttp2_option *option = NULL;
        int err = NGHTTP2_ERR_NOMEM;

        if (callbacks && nghttp2_option_new(&option) == 0) {
                nghttp2_option_set_no_auto_window_update(option, 1);
                /* The buckets limit these. */
                nghttp2_option_set_stream_reset_rate_limit(option, UINT32_MAX, UINT32_MAX);
                nghttp2_option_set_max_continuations(option, SIZE_MAX);
                nghttp2_option_set_max_send_header_block_length(option, HEAD_SENT_BYTES_MAX);
                if (opts->is_server)
                        err = nghttp2_session_server_new3(&h2->session, callbacks, h2, option,
                                                          &mem);
                else
                        err = nghttp2_session_client_new3(&h2->session, callbacks, h2, option,
                                                          &mem);
                nghttp2_option_del(option);
        }
        nghttp2_session_callbacks_del(callbacks);
        return err;
}

static int send_settings(struct ed_h2 *h2, const struct ed_h2_opts *opts)
{
        nghttp2_settings_entry list[4];
        size_t n = 0;
        int err;

        if (opts->is_server)
                list[n++] = (nghttp2_settings_entry){ NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS,
                                                      opts->streams_max };
        else
                list[n++] = (nghttp2_settings_entry){ NGHTTP2_SETTINGS_ENABLE_PUSH, 0 };
        list[n++] = (nghttp2_settings_entry){ NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
                                              opts->stream_window };
        list[n++] = (nghttp2_settings_entry){ NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE,
                                              opts->head_bytes_max };
        err = nghttp2_submit_settings(h2->session, NGHTTP2_FLAG_NONE, list, n);
        if (err == 0)
                err = nghttp2_session_set_local_window_size(h2->session, NGHTTP2_FLAG_NONE, 0,
                                                            (int32_t) opts->connection_window);
        return err;
}

static void init_limits(struct ed_h2 *h2, const struct ed_h2_opts *opts)
{
        int64_t now_ns = ed_loop_now(ed_loop_current);

        for (int i = 0; i < ED_H2_CONTINUATIONS; i++)
                ed_h2_bucket_init(&h2->buckets[i], opts->limits[i], now_ns);
        h2->continuations_max = opts->limits[ED_H2_CONTINUATIONS];
        h2->head_decoded_max = opts->limits[ED_H2_HEAD];
        h2->queue_max = QUEUE_MAX + QUEUE_PER_STREAM * (size_t) (opts->is_server ? opts->streams_max
                                                                                 : STREAMS_MAX);
        h2->quiet_ns = h2->active_ns = h2->begun_ns = now_ns;
        if (opts->is_server)
                h2->payload_left = NGHTTP2_CLIENT_MAGIC_LEN;
}

int ed_h2_init(struct ed_h2 *h2, const struct ed_h2_opts *opts)
{
        int err;

        *h2 = (struct ed_h2){
                .ops = opts->ops,
                .stream = opts->stream,
                .limit = -1,
                .is_server = opts->is_server,
                .credit_at_receipt = opts->credit_at_receipt,
                .answers_at_end = opts->answers_at_end,
                .fields_max = opts->fields_max,
                .head_bytes_max = opts->head_bytes_max,
                .connection_window = opts->connection_window,
        };
        ed_list_init(&h2->streams);
        ed_buf_init(&h2->out, OUT_BYTES_MAX);
        init_limits(h2, opts);
        err = session_new(h2, opts);
        if (err == 0)
                err = send_settings(h2, opts);
        if (err == 0) {
                ed_h2_wake(h2);
                return 0;
        }
        ed_h2_end(h2, -ENOMEM);
        return ed_h2_error(err);
}

void ed_h2_end(struct ed_h2 *h2, int error)
{
        nghttp2_session *session = h2->session;
        struct ed_list *link;

        h2->session = NULL;
        while ((link = ed_list_pop_front(&h2->streams)) != NULL) {
                ed_list_push_front(&h2->streams, link);
                ed_h2_stream_closed(ed_container_of(link, struct ed_h2_stream, link),
                                    NGHTTP2_CANCEL, error);
        }
        nghttp2_session_del(session);
        ed_buf_fini(&h2->out);
        ed_free(h2->fields);
        h2->fields = NULL;
        h2->fields_room = 0;
}

/* ---- reading ------------------------------------------------------------------------ */

int ed_h2_wait(struct ed_h2 *h2, eddy_scope *scope)
{
        int err;

        h2->waiting = scope;
        err = eddy_stream_wait(h2->stream, EDDY_STREAM_READING);
        h2->waiting = NULL;
        return err;
}

/* Returns true if the session has come to its end. */
static bool is_over(const struct ed_h2 *h2)
{
        return h2->fault != 0 || h2->is_written ||
               (!nghttp2_session_want_read(h2->session) &&
                !nghttp2_session_want_write(h2->session));
}

/* The session has found a fault itself, or a callback has. Errors: -ENOMEM. */
static int fault(struct ed_h2 *h2, int64_t result)
{
        if (result == NGHTTP2_ERR_NOMEM) {
                ed_h2_fail(h2, NGHTTP2_INTERNAL_ERROR);
                return -ENOMEM;
        }
        if (result == NGHTTP2_ERR_FLOODED)
                (void) over(h2, ED_H2_PINGS);
        else if (h2->fault == 0)
                ed_h2_fail(h2, result == NGHTTP2_ERR_CALLBACK_FAILURE ? NGHTTP2_INTERNAL_ERROR
                                                                      : NGHTTP2_PROTOCOL_ERROR);
        return 0;
}

/* Returns the bytes of a frame that are gathered: its head, and the number of a WINDOW_UPDATE. */
static uint8_t gathered_bytes(const struct ed_h2 *h2)
{
        return h2->frame_have >= ED_H2_FRAME_HEAD_BYTES &&
                               h2->frame[FRAME_TYPE_AT] == NGHTTP2_WINDOW_UPDATE &&
                               h2->payload_left == sizeof(uint32_t)
                       ? ED_H2_FRAME_HEAD_BYTES + sizeof(uint32_t)
                       : ED_H2_FRAME_HEAD_BYTES;
}

/*
 * Look at a frame for which nghttp2 may have no callback: it skips frames of unknown types, frames of streams
 * that have ended, and an invalid WINDOW_UPDATE of a stream that has just ended.
 */
static void check_frame(struct ed_h2 *h2)
{
        const uint8_t *number = h2->frame + ED_H2_FRAME_HEAD_BYTES;
        uint8_t type = h2->frame[FRAME_TYPE_AT];

        if (type > NGHTTP2_CONTINUATION)
                (void) spend(h2, ED_H2_OTHERS);
        if (may_be_stray(type, h2->payload_left))
                h2->strays++;
        if (type == NGHTTP2_WINDOW_UPDATE && h2->frame_have > ED_H2_FRAME_HEAD_BYTES &&
            !((number[0] & 0x7f) | number[1] | number[2] | number[3]))
                ed_h2_fail(h2, NGHTTP2_PROTOCOL_ERROR);
}

/* Gather a byte of a frame. */
static void gather(struct ed_h2 *h2, uint8_t byte)
{
        h2->frame[h2->frame_have++] = byte;
        if (h2->frame_have == ED_H2_FRAME_HEAD_BYTES)
                h2->payload_left =
                        (size_t) h2->frame[0] << 16 | (size_t) h2->frame[1] << 8 | h2->frame[2];
        if (h2->frame_have < gathered_bytes(h2))
                return;
        if (h2->frame_have > ED_H2_FRAME_HEAD_BYTES)
                h2->payload_left = 0;
        check_frame(h2);
        h2->frame_have = 0;
}

/* Follow the frames. Returns true if one has begun. */
static bool follow(struct ed_h2 *h2, const uint8_t *data, size_t bytes)
{
        bool begun = false;

        while (bytes > 0) {
                size_t n = h2->frame_have > 0         ? 0
                           : h2->payload_left < bytes ? h2->payload_left
                                                      : bytes;

                h2->payload_left -= n;
                data += n;
                bytes -= n;
                while (bytes > 0 && (h2->frame_have > 0 || h2->payload_left == 0)) {
                        begun |= h2->frame_have == 0;
                        gather(h2, *data);
                        data++;
                        bytes--;
                }
        }
        return begun;
}

/*
 * Note since when the peer has left a frame or a head incomplete. DATA that arrives begins that time
 * again: the stream's reader checks its speed.
 */
static void note_begun(struct ed_h2 *h2, bool has_begun, int64_t now_ns)
{
        bool is_partial = h2->payload_left > 0 || h2->frame_have > 0;

        if (!is_partial && !h2->in_head)
                h2->begun_ns = 0;
        else if (h2->begun_ns == 0 || (!h2->in_head && (has_begun || h2->got_data)))
                h2->begun_ns = now_ns;
}

static int take(struct ed_h2 *h2, const void *data, size_t bytes)
{
        int64_t now_ns = ed_loop_now(ed_loop_current);
        ssize_t n;

        h2->got_data = false;
        h2->received += bytes;
        h2->active_ns = now_ns;
        n = nghttp2_session_mem_recv(h2->session, data, bytes);
        note_begun(h2, follow(h2, data, bytes), now_ns);
        for (; h2->strays > 0 && h2->fault == 0; h2->strays--)
                (void) spend(h2, ED_H2_STRAYS);
        if (nghttp2_session_want_write(h2->session))
                ed_h2_wake(h2);
        if (n < 0)
                return fault(h2, n);
        /* The peer makes this side answer, and does not read. */
        if (nghttp2_session_get_outbound_queue_size(h2->session) > h2->queue_max)
                (void) over(h2, ED_H2_FAULTS);
        return 0;
}

/* Read what has arrived. Returns -EAGAIN, 0 at the end, 1 if more may have arrived; or an error. */
static int read_some(struct ed_h2 *h2)
{
        char *buf = ed_alloc(READ_BYTES);
        int64_t n = -ENOMEM;
        int err = 0;

        for (int i = 0; buf && i < READS_MAX; i++) {
                n = eddy_stream_try_read(h2->stream, buf, READ_BYTES);
                if (n <= 0)
                        break;
                err = take(h2, buf, (size_t) n);
                if (err < 0 || is_over(h2))
                        break;
        }
        ed_free(buf);
        if (err < 0)
                return err;
        return n > 0 ? 1 : (int) n;
}

/* A wait was ended: by the writing task, or by a fault. */
static bool was_stopped(const struct ed_h2 *h2, int err)
{
        return err == -ECANCELED && is_over(h2);
}

/* Returns true if all requests of the peer, which sends nothing more, are complete and can be answered. */
static bool can_answer(const struct ed_h2 *h2)
{
        if (!h2->answers_at_end || h2->is_going)
                return false;
        ed_list_each (link, &h2->streams)
                if (!ed_container_of(link, struct ed_h2_stream, link)->got_end)
                        return false;
        return true;
}

/* The peer has ended its sending, or the connection. */
static int end_of_peer(struct ed_h2 *h2)
{
        if (!nghttp2_session_want_read(h2->session))
                return 0;
        h2->is_answering = can_answer(h2);
        return -ECONNRESET;
}

static int read_all(struct ed_h2 *h2)
{
        struct ed_task *task;
        int err = 0, n;

        while (!is_over(h2)) {
                err = ed_suspend_enter(&task);
                if (err < 0)
                        return err;
                n = read_some(h2);
                if (n == 0)
                        return end_of_peer(h2);
                if (n < 0 && n != -EAGAIN)
                        return n;
                if (n > 0)
                        ed_suspend_give_way(task);
                else if (!is_over(h2))
                        err = h2->ops->wait(h2);
                if (err < 0)
                        return was_stopped(h2, err) ? 0 : err;
        }
        return 0;
}

/* Read until the connection ends. 'data' are bytes that were read before. */
static void read_task(struct ed_h2 *h2, const void *data, size_t bytes)
{
        int err = bytes > 0 ? take(h2, data, bytes) : 0;

        if (err == 0)
                err = read_all(h2);
        if (err < 0 && h2->error == 0)
                h2->error = err;
        if (h2->fault != 0 && !h2->is_written &&
            nghttp2_session_terminate_session(h2->session, h2->fault) < 0)
                h2->error = -ENOMEM;
        h2->is_read = true;
        ed_h2_wake(h2);
}

/* ---- writing ------------------------------------------------------------------------ */

/*
 * Reset the streams whose message of this side was sent, and whose task has left before the end of
 * the peer's. The reset leaves in another write than the message: curl 7.88 loses a response that
 * it reads together with the reset.
 */
static int refuse_rests(struct ed_h2 *h2)
{
        h2->refuses = false;
        ed_list_each (link, &h2->streams) {
                struct ed_h2_stream *stream = ed_container_of(link, struct ed_h2_stream, link);

                if (!stream->leaves || !stream->sent_end || stream->got_end || stream->is_reset ||
                    stream->reset_by_us)
                        continue;
                stream->reset_by_us = true;
                if (nghttp2_submit_rst_stream(h2->session, NGHTTP2_FLAG_NONE, stream->id,
                                              NGHTTP2_NO_ERROR) < 0)
                        return -ENOMEM;
        }
        return 0;
}

/* Join frames in 'out', which is empty. */
static int fill(struct ed_h2 *h2)
{
        if (h2->refuses && refuse_rests(h2) < 0)
                return -ENOMEM;
        while (ed_buf_bytes(&h2->out) < WRITE_BYTES) {
                const uint8_t *data;
                ssize_t n = nghttp2_session_mem_send(h2->session, &data);
                int err;

                if (n < 0)
                        return n == NGHTTP2_ERR_CALLBACK_FAILURE ? -ENOMEM : ed_h2_error(n);
                if (n == 0) /* the callback may have appended DATA */
                        return 0;
                err = ed_buf_append(&h2->out, data, (size_t) n);
                if (err < 0)
                        return err;
        }
        return 0;
}

/* Nothing is left to write. Returns false if nothing more will come. */
static bool rest(struct ed_h2 *h2, int *ret_err)
{
        if (h2->is_read && (!h2->is_answering || h2->streams_count == 0))
                return false;
        if (is_over(h2) && h2->waiting)
                eddy_scope_cancel(h2->waiting);
        if (h2->streams_count == 0)
                ed_buf_fini(&h2->out);
        if (h2->kept > 0 && h2->ops->stalled)
                h2->ops->stalled(h2);
        eddy_event_clear(&h2->wake);
        *ret_err = eddy_event_wait(&h2->wake);
        return *ret_err == 0;
}

/* The writing task: write until the reading task has ended, and nothing is left. */
static int write_task(void *arg)
{
        struct ed_h2 *h2 = arg;
        int err;

        for (;;) {
                struct eddy_slice slice;

                err = fill(h2);
                if (err < 0)
                        break;
                slice = (struct eddy_slice){ ed_buf_data(&h2->out), ed_buf_bytes(&h2->out) };
                if (slice.bytes == 0) {
                        if (!rest(h2, &err))
                                break;
                        continue;
                }
                err = ed_http_pace_writev(&h2->pace, h2->stream, &slice, 1);
                if (err < 0)
                        break;
                ed_buf_consume(&h2->out, slice.bytes);
        }
        if (err < 0 && h2->error == 0)
                h2->error = err;
        h2->is_written = true;
        if (h2->waiting)
                eddy_scope_cancel(h2->waiting);
        return 0;
}

/* ---- both ------------------------------------------------------------------------------ */

/* The tasks were cancelled: send what leaves at once, so that the peer learns of the end. */
static void say_goodbye(struct ed_h2 *h2)
{
        struct eddy_slice slice;

        if (h2->error != -ECANCELED ||
            (!h2->is_going &&
             nghttp2_session_terminate_session(h2->session, NGHTTP2_NO_ERROR) < 0) ||
            fill(h2) < 0)
                return;
        slice = (struct eddy_slice){ ed_buf_data(&h2->out), ed_buf_bytes(&h2->out) };
        if (slice.bytes > 0 && eddy_stream_try_writev(h2->stream, &slice, 1) > 0)
                (void) !eddy_stream_try_writev(h2->stream, NULL, 0);
}

int ed_h2_run(struct ed_h2 *h2, const void *data, size_t bytes)
{
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, NULL);
        err = eddy_scope_start_named(&scope, write_task, h2, "http_write");
        if (err < 0)
                h2->error = err;
        else
                read_task(h2, data, bytes);
        (void) eddy_scope_set_deadline(&scope, ed_time_after(eddy_now(), LAST_BYTES_NS));
        (void) eddy_scope_end(&scope);
        say_goodbye(h2);
        return h2->error;
}
