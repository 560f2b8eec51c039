/*
 * http/websocket_read.c - reading messages; see websocket.h.
 *
 * Heads, control frames and small payloads go through 'in'. The rest of a large payload is read from
 * the stream directly into the message. All state is in the WebSocket, so a read that is cancelled
 * continues with the next call.
 */
#include <errno.h>
#include <string.h>

#include "eddy/error.h"
#include "eddy/serve.h"
#include "eddy/stream_ops.h"
#include "eddy/time.h"
#include "http/time_limit.h"
#include "http/websocket.h"
#include "loop/timer.h"
#include "wire/utf8_check.h"

enum {
        ROOM_FIRST =
                4 << 10, /* taken for the first bytes of a message; then for 4 times what came */
        ROOM_KEPT = 64 << 10, /* a larger message's memory is freed before the next one */
};

#define LEFT_MIN_NS EDDY_MS(1)

/* ---- bytes ------------------------------------------------------------------------- */

struct receiving {
        eddy_websocket *websocket;
        void *buf;
        size_t room;
        int64_t n;
};

/* Read from the stream. Returns -EINTR if a writer that gave the lock back has left answers. */
static int64_t receive_part(void *arg)
{
        struct receiving *r = arg;
        eddy_websocket *websocket = r->websocket;
        eddy_scope scope;
        int64_t n;

        if (websocket->pongs_bytes == 0)
                return eddy_stream_read(websocket->stream, r->buf, r->room);
        eddy_scope_begin(&scope, NULL);
        websocket->waiting = &scope;
        n = eddy_stream_read(websocket->stream, r->buf, r->room);
        if (n == -ECANCELED && !websocket->waiting)
                n = -EINTR;
        websocket->waiting = NULL;
        (void) eddy_scope_end(&scope);
        return n;
}

/* Wait for bytes of the stream until the silence is too long. Returns -ETIMEDOUT then. */
static int64_t receive_in_time(struct receiving *r)
{
        eddy_websocket *websocket = r->websocket;
        int64_t silence_ns = websocket->is_pinged ? websocket->pong_ns : websocket->ping_ns;
        int64_t left_ns = silence_ns - websocket->silent_ns, now_ns = eddy_now();
        int64_t n;

        if (silence_ns <= 0)
                return receive_part(r);
        if (left_ns < LEFT_MIN_NS)
                left_ns = LEFT_MIN_NS; /* bytes may be there */
        n = ed_http_call_until(receive_part, r, ed_time_after(now_ns, left_ns), -ETIMEDOUT);
        if (n == -ECANCELED || n == -EINTR)
                websocket->silent_ns += eddy_now() - now_ns;
        else
                websocket->silent_ns = 0;
        return n;
}

/* The peer is silent: ping it. Errors: EDDY_E_NET_TIMED_OUT: it did not answer */
static int ping_in_silence(eddy_websocket *websocket)
{
        uint64_t taken = websocket->stream->taken;
        int err;

        if (websocket->is_pinged && (!websocket->is_held || websocket->taken == taken))
                return EDDY_E_NET_TIMED_OUT;
        err = ed_websocket_send_ping(websocket);
        if (err < 0)
                return err;
        /* A peer that takes a long message may be silent, but has to take bytes. */
        websocket->is_held = err == 0;
        websocket->taken = taken;
        websocket->is_pinged = true;
        return 0;
}

/* Read bytes of the stream, with pings in silence. */
static int receive(void *arg)
{
        struct receiving *r = arg;
        int err;

        for (;;) {
                err = ed_websocket_send_pongs(r->websocket);
                if (err < 0)
                        return err;
                r->n = receive_in_time(r);
                if (r->n > 0)
                        r->websocket->is_pinged = false;
                if (r->n == -EINTR)
                        continue;
                if (r->n != -ETIMEDOUT)
                        return r->n < 0 ? (int) r->n : 0;
                err = ping_in_silence(r->websocket);
                if (err < 0)
                        return err;
        }
}

/* Returns the number of bytes, at least 1. Errors: EDDY_E_WEBSOCKET_LOST, those of the stream */
static int64_t receive_some(eddy_websocket *websocket, void *buf, size_t room)
{
        struct receiving receiving = { .websocket = websocket, .buf = buf, .room = room };
        /* During the close a stop does not end the wait for the peer's part. */
        bool is_idle = websocket->is_server && websocket->opcode == 0 && websocket->in_end == 0 &&
                       !websocket->is_close_sent;
        int err = is_idle ? eddy_serve_idle(receive, &receiving) : receive(&receiving);

        if (err < 0)
                return err;
        return receiving.n > 0 ? receiving.n : EDDY_E_WEBSOCKET_LOST;
}

/* Read more into 'in'. */
static int fill(eddy_websocket *websocket)
{
        size_t held = websocket->in_end - websocket->in_at;
        int64_t n;

        memmove(websocket->in, websocket->in + websocket->in_at, held);
        websocket->in_at = 0;
        websocket->in_end = held;
        n = receive_some(websocket, websocket->in + held, sizeof(websocket->in) - held);
        if (n < 0)
                return (int) n;
        websocket->in_end += (size_t) n;
        return 0;
}

/* ---- the end ----------------------------------------------------------------------- */

/* Keep the code and the reason of the end. */
static void note_end(eddy_websocket *websocket, int result, unsigned code, const char *reason,
                     size_t bytes)
{
        websocket->result = result;
        websocket->code = code;
        memcpy(websocket->reason, reason, bytes);
        websocket->reason[bytes] = '\0';
}

int ed_websocket_fail(eddy_websocket *websocket, int error, unsigned code, const char *why)
{
        note_end(websocket, error, code, why, strlen(why));
        if (code != EDDY_WEBSOCKET_LOST)
                ed_websocket_send_close(websocket, code, why);
        websocket->is_close_sent = true; /* or cannot be */
        return error;
}

static int fail_size(eddy_websocket *websocket, const char *why)
{
        return ed_websocket_fail(websocket, EDDY_E_WEBSOCKET_TOO_LARGE, EDDY_WEBSOCKET_TOO_LARGE,
                                 why);
}

static int fail_protocol(eddy_websocket *websocket, const char *why)
{
        return ed_websocket_fail(websocket, EDDY_E_WEBSOCKET_PROTOCOL,
                                 EDDY_WEBSOCKET_PROTOCOL_ERROR, why);
}

static int fail_text(eddy_websocket *websocket, const char *why)
{
        return ed_websocket_fail(websocket, EDDY_E_WEBSOCKET_UTF8, EDDY_WEBSOCKET_NOT_UTF8, why);
}

/* The peer's close: answer it with its own code. Returns 0 or the error that reads return. */
static int take_close(eddy_websocket *websocket, const char *data, size_t bytes)
{
        const char *why = NULL;
        unsigned code;
        bool is_normal;
        int err = ed_websocket_close_read(data, bytes, &code, &why);

        if (err == EDDY_E_WEBSOCKET_UTF8)
                return fail_text(websocket, why);
        if (err < 0)
                return fail_protocol(websocket, why);
        is_normal = code == EDDY_WEBSOCKET_NORMAL || code == EDDY_WEBSOCKET_GOING_AWAY ||
                    code == EDDY_WEBSOCKET_NO_CODE;
        note_end(websocket, is_normal ? 0 : EDDY_E_WEBSOCKET_CLOSED, code,
                 bytes > 2 ? data + 2 : "", bytes > 2 ? bytes - 2 : 0);
        if (!websocket->is_close_sent)
                ed_websocket_send_close(websocket, code, "");
        return websocket->result;
}

/* ---- frames ------------------------------------------------------------------------ */

/* A control frame, after its head. Returns ED_WEBSOCKET_OPEN, or the result that ends the reading. */
static int read_control(eddy_websocket *websocket, size_t head_bytes)
{
        struct ed_websocket_head *head = &websocket->head;
        size_t bytes = (size_t) head->bytes;
        unsigned char *data;
        int err = 0;

        while (err == 0 && websocket->in_end - websocket->in_at < head_bytes + bytes)
                err = fill(websocket);
        if (err < 0)
                return err;
        data = websocket->in + websocket->in_at + head_bytes;
        ed_websocket_mask(data, data, bytes, head->mask, 0);
        websocket->in_at += head_bytes + bytes;
        if (head->opcode == ED_WEBSOCKET_CLOSE)
                return take_close(websocket, (char *) data, bytes);
        if (head->opcode == ED_WEBSOCKET_PING)
                ed_websocket_keep_pong(websocket, data, bytes);
        return ED_WEBSOCKET_OPEN;
}

/* A frame of a message begins. */
static int begin_frame(eddy_websocket *websocket)
{
        const struct ed_websocket_head *head = &websocket->head;
        size_t held = ed_buf_bytes(&websocket->message);

        if (head->bytes > websocket->message_bytes_max - held)
                return fail_size(websocket, "the message is too large");
        if (websocket->frames == ED_WEBSOCKET_FRAMES_MAX)
                return fail_size(websocket, "the message has too many frames");
        websocket->frames++;
        if (head->opcode != ED_WEBSOCKET_CONTINUATION)
                websocket->opcode = head->opcode;
        websocket->left = head->bytes;
        websocket->in_frame = true;
        return ED_WEBSOCKET_OPEN;
}

/* Read the head of a frame, and all of a control frame. Returns as read_control() does. */
static int read_head(eddy_websocket *websocket)
{
        const char *why = NULL;
        int n, err;

        for (;;) {
                n = ed_websocket_head_read(
                        websocket->in + websocket->in_at, websocket->in_end - websocket->in_at,
                        websocket->is_server, websocket->opcode, &websocket->head, &why);
                if (n != 0)
                        break;
                err = fill(websocket);
                if (err < 0)
                        return err;
        }
        if (n < 0)
                return fail_protocol(websocket, why);
        if (ed_websocket_is_control(websocket->head.opcode))
                return read_control(websocket, (size_t) n);
        websocket->in_at += (size_t) n;
        return begin_frame(websocket);
}

/* Unmask bytes that came to the end of the message, and check them. */
static int take_bytes(eddy_websocket *websocket, size_t bytes)
{
        struct ed_buf *message = &websocket->message;
        char *at = ed_buf_data(message) + ed_buf_bytes(message);
        int64_t checked;

        if (websocket->is_server)
                ed_websocket_mask(at, at, bytes, websocket->head.mask,
                                  websocket->head.bytes - websocket->left);
        ed_buf_grow(message, bytes);
        websocket->left -= bytes;
        if (websocket->opcode != ED_WEBSOCKET_TEXT)
                return ED_WEBSOCKET_OPEN;
        checked = ed_utf8_check(ed_buf_data(message) + websocket->checked,
                                ed_buf_bytes(message) - websocket->checked);
        if (checked < 0)
                return fail_text(websocket, "a text that is not UTF-8");
        websocket->checked += (size_t) checked;
        return ED_WEBSOCKET_OPEN;
}

/* Read some of a frame's payload. */
static int read_payload(eddy_websocket *websocket)
{
        struct ed_buf *message = &websocket->message;
        size_t come = websocket->in_end - websocket->in_at, held = ed_buf_bytes(message);
        size_t room = held < ROOM_FIRST / 4 ? ROOM_FIRST : 4 * held;
        int64_t n;
        char *at;
        int err;

        if (come == 0 && websocket->left < sizeof(websocket->in)) {
                err = fill(websocket);
                return err < 0 ? err : ED_WEBSOCKET_OPEN;
        }
        if (come > 0)
                room = come;
        if (room > websocket->left)
                room = (size_t) websocket->left;
        err = ed_buf_reserve(message, room + 1, &at); /* with a NUL */
        if (err < 0)
                return err;
        if (come > 0) {
                memcpy(at, websocket->in + websocket->in_at, room);
                websocket->in_at += room;
                return take_bytes(websocket, room);
        }
        n = receive_some(websocket, at, room);
        return n < 0 ? (int) n : take_bytes(websocket, (size_t) n);
}

/* ---- messages ---------------------------------------------------------------------- */

/* The message was given to the caller: drop it. */
static void next_message(eddy_websocket *websocket)
{
        if (websocket->message.room > ROOM_KEPT)
                ed_buf_fini(&websocket->message);
        else
                ed_buf_drop(&websocket->message, ed_buf_bytes(&websocket->message));
        websocket->checked = 0;
        websocket->frames = 0;
        websocket->opcode = 0;
        websocket->is_given = false;
}

/* The last frame has ended. */
static int end_message(eddy_websocket *websocket, struct eddy_websocket_message *ret_message)
{
        struct ed_buf *message = &websocket->message;
        char *end;
        int err = ed_buf_reserve(message, 1, &end); /* an empty message has no memory yet */

        if (err < 0)
                return err;
        if (websocket->opcode == ED_WEBSOCKET_TEXT && websocket->checked != ed_buf_bytes(message))
                return fail_text(websocket, "a text that is not UTF-8");
        *end = '\0';
        websocket->in_frame = false;
        websocket->is_given = true;
        *ret_message = (struct eddy_websocket_message){
                .kind = (enum eddy_websocket_kind) websocket->opcode,
                .data = ed_buf_data(message),
                .bytes = ed_buf_bytes(message),
        };
        return 1;
}

/* Returns 1 with a message, 0 at the end, or an error. */
static int read_message(eddy_websocket *websocket, struct eddy_websocket_message *ret_message)
{
        int err = websocket->result;

        if (websocket->is_given)
                next_message(websocket);
        while (err == ED_WEBSOCKET_OPEN) {
                if (websocket->in_frame && websocket->left == 0) {
                        if (websocket->head.is_last)
                                return end_message(websocket, ret_message);
                        websocket->in_frame = false;
                }
                err = websocket->in_frame ? read_payload(websocket) : read_head(websocket);
        }
        return err;
}

int eddy_websocket_read(eddy_websocket *websocket, struct eddy_websocket_message *ret_message)
{
        int err;

        if (!websocket || !ret_message)
                return -EINVAL;
        err = ed_websocket_enter(websocket);
        if (err < 0)
                return err;
        if (websocket->is_reading)
                return -EBUSY;
        websocket->is_reading = true;
        err = read_message(websocket, ret_message);
        websocket->is_reading = false;
        if (err < 0 && err != -ECANCELED && err != -ENOMEM &&
            websocket->result == ED_WEBSOCKET_OPEN)
                return ed_websocket_fail(websocket, err, EDDY_WEBSOCKET_LOST, "");
        return err;
}
