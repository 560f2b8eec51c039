/*
 * http/websocket_write.c - sending frames; see websocket.h.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/stream.h"
#include "eddy/time.h"
#include "http/time_limit.h"
#include "http/websocket.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "wire/utf8_check.h"

enum {
        SMALL_BYTES = 1 << 10, /* a masked frame of this size needs no memory */
        MASKED_BYTES = 64 << 10,
        CONTROL_BYTES = ED_WEBSOCKET_HEAD_MAX + ED_WEBSOCKET_CONTROL_MAX,
};

void ed_websocket_draw_mask(eddy_websocket *websocket, unsigned char mask[ED_WEBSOCKET_MASK_BYTES])
{
        struct ed_loop *loop = ed_loop_current;
        unsigned char *at;

        if (websocket->masks_left == 0) {
                loop->sys->poll->random(loop->sys, websocket->masks, sizeof(websocket->masks));
                websocket->masks_left = sizeof(websocket->masks);
        }
        websocket->masks_left -= ED_WEBSOCKET_MASK_BYTES;
        at = websocket->masks + websocket->masks_left;
        memcpy(mask, at, ED_WEBSOCKET_MASK_BYTES);
        memset(at, 0, ED_WEBSOCKET_MASK_BYTES);
}

/* Write a head. Returns its length. */
static size_t put_head(eddy_websocket *websocket, struct ed_websocket_head *head, uint8_t opcode,
                       bool is_last, uint64_t bytes, unsigned char *out)
{
        *head = (struct ed_websocket_head){ .bytes = bytes,
                                            .opcode = opcode,
                                            .is_last = is_last,
                                            .is_masked = !websocket->is_server };
        if (head->is_masked)
                ed_websocket_draw_mask(websocket, head->mask);
        return ed_websocket_head_write(head, out);
}

/* Write a whole control frame. Returns its length. */
static size_t put_control(eddy_websocket *websocket, uint8_t opcode, const void *data, size_t bytes,
                          unsigned char *out)
{
        struct ed_websocket_head head;
        size_t n = put_head(websocket, &head, opcode, true, bytes, out);

        ed_websocket_mask(out + n, data, bytes, head.mask, 0);
        return n + bytes;
}

/* Whether another frame may be sent. The lock is held. */
static int check(const eddy_websocket *websocket)
{
        if (websocket->is_close_sent)
                return EDDY_E_WEBSOCKET_CLOSED;
        return websocket->is_cut ? EDDY_E_STREAM_BROKEN : 0;
}

/* Give the lock back. A writer that was cancelled has not sent the answers: the reader does. */
static void release(eddy_websocket *websocket)
{
        (void) eddy_lock_release(&websocket->lock);
        if (websocket->pongs_bytes > 0 && websocket->waiting) {
                eddy_scope_cancel(websocket->waiting);
                websocket->waiting = NULL;
        }
}

/* ---- messages ---------------------------------------------------------------------- */

/* A frame of a server: its payload is sent as it is. */
static int send_plain(eddy_websocket *websocket, uint8_t opcode, bool is_last, const char *data,
                      size_t bytes)
{
        unsigned char out[ED_WEBSOCKET_HEAD_MAX];
        struct ed_websocket_head head;
        size_t n = put_head(websocket, &head, opcode, is_last, bytes, out);
        const struct eddy_slice slices[] = { { out, n }, { data, bytes } };

        return eddy_stream_writev(websocket->stream, slices, bytes > 0 ? 2 : 1);
}

/* A frame of a client: its payload is masked in a buffer, part by part. */
static int send_masked(eddy_websocket *websocket, uint8_t opcode, bool is_last, const char *data,
                       size_t bytes, unsigned char *buf, size_t room)
{
        struct ed_websocket_head head;
        size_t filled = put_head(websocket, &head, opcode, is_last, bytes, buf), at = 0;
        int err = 0;

        do {
                size_t n = bytes - at < room - filled ? bytes - at : room - filled;

                ed_websocket_mask(buf + filled, data + at, n, head.mask, at);
                err = eddy_stream_write(websocket->stream, buf, filled + n);
                if (err < 0 && at > 0)
                        websocket->is_cut = true;
                at += n;
                filled = 0;
        } while (err == 0 && at < bytes);
        return err;
}

/* Send the kept answers to pings. The lock is held. */
static int send_kept(eddy_websocket *websocket)
{
        unsigned char out[ED_WEBSOCKET_PONGS_BYTES];
        int err = 0;

        if (check(websocket) < 0)
                return 0;
        /* The reader may keep more during a write, and does not send them while the lock is held. */
        while (err == 0 && websocket->pongs_bytes > 0) {
                size_t bytes = websocket->pongs_bytes;

                memcpy(out, websocket->pongs, bytes);
                websocket->pongs_bytes = 0;
                err = eddy_stream_write(websocket->stream, out, bytes);
                if (err == -ECANCELED && websocket->pongs_bytes == 0) {
                        memcpy(websocket->pongs, out, bytes);
                        websocket->pongs_bytes = bytes;
                }
        }
        return err;
}

/* Send the frames of a message. The lock is held. */
static int send_frames(eddy_websocket *websocket, uint8_t opcode, const char *data, size_t bytes,
                       unsigned char *buf, size_t room)
{
        size_t size = websocket->fragment_bytes ? websocket->fragment_bytes : SIZE_MAX, at = 0;
        int err = check(websocket);
        bool is_last = false;

        while (err == 0 && !is_last) {
                size_t n = bytes - at < size ? bytes - at : size;

                is_last = at + n == bytes;
                err = buf ? send_masked(websocket, opcode, is_last, data + at, n, buf, room)
                          : send_plain(websocket, opcode, is_last, data + at, n);
                if (err == 0 && is_last) {
                        (void) send_kept(websocket); /* the message was sent */
                } else if (err == 0) {
                        at += n;
                        err = send_kept(websocket);
                }
                websocket->is_cut |= err < 0 && at > 0;
                opcode = ED_WEBSOCKET_CONTINUATION;
        }
        return err;
}

static int send_message(eddy_websocket *websocket, uint8_t opcode, const char *data, size_t bytes,
                        unsigned char *buf, size_t room)
{
        int err = eddy_lock_acquire(&websocket->lock);

        if (err < 0)
                return err;
        err = send_frames(websocket, opcode, data, bytes, buf, room);
        release(websocket);
        return err;
}

int eddy_websocket_write(eddy_websocket *websocket, enum eddy_websocket_kind kind, const void *data,
                         size_t bytes)
{
        unsigned char small[SMALL_BYTES], *buf = small;
        size_t room = sizeof(small);
        int err;

        if (!data && bytes == 0)
                data = "";
        if (!websocket || !data || (kind != EDDY_WEBSOCKET_TEXT && kind != EDDY_WEBSOCKET_BINARY))
                return -EINVAL;
        err = ed_websocket_enter(websocket);
        if (err < 0)
                return err;
        if (kind == EDDY_WEBSOCKET_TEXT && ed_utf8_check(data, bytes) != (int64_t) bytes)
                return EDDY_E_WEBSOCKET_UTF8;
        if (websocket->is_server)
                return send_message(websocket, (uint8_t) kind, data, bytes, NULL, 0);
        if (bytes > room - ED_WEBSOCKET_HEAD_MAX) {
                room = bytes < MASKED_BYTES ? bytes + ED_WEBSOCKET_HEAD_MAX : MASKED_BYTES;
                buf = ed_alloc(room);
        }
        if (!buf)
                return -ENOMEM;
        err = send_message(websocket, (uint8_t) kind, data, bytes, buf, room);
        if (buf != small)
                ed_free(buf);
        return err;
}

/* ---- control frames ---------------------------------------------------------------- */

struct control {
        eddy_websocket *websocket;
        uint8_t opcode;
        size_t bytes;
        char data[ED_WEBSOCKET_CONTROL_MAX];
};

/* Send the frame. The lock is held. */
static int send_control(struct control *control)
{
        eddy_websocket *websocket = control->websocket;
        unsigned char out[CONTROL_BYTES];
        int err = check(websocket);
        size_t n;

        if (err < 0)
                return err;
        n = put_control(websocket, control->opcode, control->data, control->bytes, out);
        return eddy_stream_write(websocket->stream, out, n);
}

int eddy_websocket_ping(eddy_websocket *websocket, const void *data, size_t bytes)
{
        struct control control = { .websocket = websocket,
                                   .opcode = ED_WEBSOCKET_PING,
                                   .bytes = bytes };
        int err;

        if (!websocket || (!data && bytes > 0) || bytes > EDDY_WEBSOCKET_PING_MAX)
                return -EINVAL;
        if (bytes > 0)
                memcpy(control.data, data, bytes);
        err = ed_websocket_enter(websocket);
        if (err == 0)
                err = eddy_lock_acquire(&websocket->lock);
        if (err < 0)
                return err;
        err = send_control(&control);
        if (err == 0)
                (void) send_kept(websocket); /* the ping was sent */
        release(websocket);
        return err;
}

void ed_websocket_keep_pong(eddy_websocket *websocket, const void *data, size_t bytes)
{
        unsigned char out[CONTROL_BYTES];
        size_t n;

        if (websocket->is_close_sent)
                return;
        n = put_control(websocket, ED_WEBSOCKET_PONG, data, bytes, out);
        if (websocket->pongs_bytes + n > sizeof(websocket->pongs))
                websocket->pongs_bytes = 0;
        memcpy(websocket->pongs + websocket->pongs_bytes, out, n);
        websocket->pongs_bytes += n;
}

static int64_t send_kept_part(void *arg)
{
        return send_kept(arg);
}

static int64_t send_control_part(void *arg)
{
        return send_control(arg);
}

/* Call a part that sends, within 'pong_ns', if no other task is sending. Returns 1 if it was called. */
static int send_if_free(eddy_websocket *websocket, ed_http_part_fn *fn, void *arg)
{
        int64_t err;

        if (eddy_lock_try_acquire(&websocket->lock) < 0)
                return 0;
        err = ed_http_call_until(fn, arg, ed_time_after(eddy_now(), websocket->pong_ns),
                                 EDDY_E_NET_TIMED_OUT);
        release(websocket);
        return err == -ECANCELED || err == EDDY_E_NET_TIMED_OUT ? (int) err : 1;
}

int ed_websocket_send_pongs(eddy_websocket *websocket)
{
        int err =
                websocket->pongs_bytes > 0 ? send_if_free(websocket, send_kept_part, websocket) : 0;

        if (err == 1)
                websocket->pongs_bytes = 0; /* sent, or the stream takes none any more */
        return err < 0 ? err : 0;
}

int ed_websocket_send_ping(eddy_websocket *websocket)
{
        struct control control = { .websocket = websocket, .opcode = ED_WEBSOCKET_PING };

        return send_if_free(websocket, send_control_part, &control);
}

/* ---- the close --------------------------------------------------------------------- */

static int64_t send_close_part(void *arg)
{
        struct control *control = arg;
        eddy_websocket *websocket = control->websocket;
        int err = eddy_lock_acquire(&websocket->lock);

        if (err < 0)
                return err;
        err = send_kept(websocket);
        if (err == 0)
                err = send_control(control);
        if (err != -ECANCELED)
                websocket->is_close_sent = true;
        release(websocket);
        return err;
}

/* Send a close in a task that may be cancelled. */
static int send_close_now(struct control *control)
{
        eddy_websocket *websocket = control->websocket;
        unsigned char out[CONTROL_BYTES];
        struct eddy_slice slice = { .data = out };
        int err = check(websocket);

        if (err == 0)
                err = eddy_lock_try_acquire(&websocket->lock);
        if (err < 0)
                return err;
        slice.bytes = put_control(websocket, control->opcode, control->data, control->bytes, out);
        err = eddy_stream_try_writev(websocket->stream, &slice, 1) < 0 ? -ECANCELED : 0;
        websocket->is_close_sent = true;
        release(websocket);
        return err;
}

int ed_websocket_send_close(eddy_websocket *websocket, unsigned code, const char *reason)
{
        struct control control = { .websocket = websocket, .opcode = ED_WEBSOCKET_CLOSE };
        int64_t err;

        if (code != EDDY_WEBSOCKET_NO_CODE) {
                int64_t whole = ed_utf8_check(reason, strnlen(reason, EDDY_WEBSOCKET_REASON_MAX));
                size_t bytes = whole > 0 ? (size_t) whole : 0; /* no sequence is cut */

                control.data[0] = (char) (code >> 8);
                control.data[1] = (char) code;
                memcpy(control.data + 2, reason, bytes);
                control.bytes = 2 + bytes;
        }
        err = ed_http_call_until(send_close_part, &control,
                                 ed_time_after(eddy_now(), websocket->close_ns),
                                 EDDY_E_NET_TIMED_OUT);
        if (err == EDDY_E_NET_TIMED_OUT)
                websocket->is_close_sent = true; /* not again */
        return err == -ECANCELED ? send_close_now(&control) : (int) err;
}
