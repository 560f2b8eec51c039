/*
 * http/http1_out.c - see http1_out.h.
 */
#include "http/http1_out.h"

#include <errno.h>
#include <string.h>

#include "eddy/error.h"
#include "eddy/stream_ops.h"
#include "http/http1_gone.h"

/*
 * Bytes kept at most. A piece that is larger than the rest of the room is sent in place: one copy of
 * this size takes a tenth of a write's time.
 */
enum {
        KEPT_BYTES_MAX = 16 << 10,
        /* With the head before it: a write of two pieces takes a fortieth longer than one of one, and
         * a copy of this size a hundredth. */
        JOINED_BYTES_MAX = 2 << 10,
};

static void drop(struct ed_http1_exchange *exchange)
{
        ed_buf_consume(&exchange->out, ed_buf_bytes(&exchange->out));
}

/* It is unknown how much of the answer was sent: the connection ends, and later calls fail. */
static void fail(struct ed_http1_exchange *exchange, int err)
{
        if (err == EDDY_E_NET_TIMED_OUT)
                exchange->stalled = true;
        exchange->out_error = err == -ECANCELED ? EDDY_E_STREAM_BROKEN : err;
        exchange->closing = true;
        drop(exchange);
}

/* The same while the handler waits, and would not learn of the failure if it waits for events. */
static void fail_unseen(struct ed_http1_exchange *exchange, int err)
{
        fail(exchange, err);
        if (exchange->base.repeat_timer.armed)
                ed_http1_gone(exchange);
}

/* ---- when the handler waits ------------------------------------------------ */

/* Give the stream what it takes without a wait. Errors: -EAGAIN; those of the stream. */
static int send_now(struct ed_http1_exchange *exchange)
{
        while (ed_buf_bytes(&exchange->out) > 0) {
                struct eddy_slice slice = { ed_buf_data(&exchange->out),
                                            ed_buf_bytes(&exchange->out) };
                int64_t n = eddy_stream_try_writev(exchange->stream, &slice, 1);

                if (n <= 0)
                        return n < 0 ? (int) n : -EIO;
                ed_buf_consume(&exchange->out, (size_t) n);
        }
        return (int) eddy_stream_try_writev(exchange->stream, NULL, 0);
}

/* Append the slices to 'out', which is in use. Returns false if they are too large. */
static bool append(struct ed_http1_exchange *exchange, const struct eddy_slice *slices, size_t n,
                   size_t bytes_max)
{
        size_t bytes = 0;
        char *at;

        for (size_t i = 0; i < n; i++) {
                if (slices[i].bytes > bytes_max)
                        return false;
                bytes += slices[i].bytes;
        }
        if (ed_buf_bytes(&exchange->out) + bytes > bytes_max ||
            ed_buf_reserve(&exchange->out, bytes, &at) < 0)
                return false;
        for (size_t i = 0; i < n; i++) {
                if (slices[i].bytes > 0)
                        memcpy(at, slices[i].data, slices[i].bytes);
                at += slices[i].bytes;
        }
        ed_buf_grow(&exchange->out, bytes);
        return true;
}

/* Write the slices after what 'out' holds; 'out' may have copies of them then. */
static int write_all(struct ed_http1_exchange *exchange, const struct eddy_slice *slices, size_t n)
{
        struct eddy_slice all[1 + ED_HTTP1_OUT_SLICES_MAX];
        int err;

        if (ed_buf_bytes(&exchange->out) > 0 && append(exchange, slices, n, JOINED_BYTES_MAX))
                n = 0;
        all[0].data = ed_buf_data(&exchange->out);
        all[0].bytes = ed_buf_bytes(&exchange->out);
        for (size_t i = 0; i < n; i++)
                all[1 + i] = slices[i];
        exchange->sending = true;
        err = ed_http_pace_writev(&exchange->download, exchange->stream, all, 1 + n);
        exchange->sending = false;
        return err;
}

/* The task: write the rest. */
static int send_rest(void *arg)
{
        struct ed_http1_exchange *exchange = arg;
        int err = write_all(exchange, NULL, 0);

        if (err < 0)
                fail_unseen(exchange, err);
        drop(exchange);
        exchange->resting = false;
        eddy_event_set(&exchange->rest_sent);
        return 0;
}

/* The handler waits or has yielded. */
static void on_wait(struct ed_call *call)
{
        struct ed_http1_exchange *exchange =
                ed_container_of(call, struct ed_http1_exchange, at_wait);
        int err = send_now(exchange);

        if (err == -EAGAIN) {
                exchange->sending = exchange->resting = true;
                eddy_event_clear(&exchange->rest_sent);
                err = eddy_scope_start_named(exchange->scope, send_rest, exchange, "http_send");
                if (err < 0)
                        exchange->sending = exchange->resting = false;
        }
        if (err < 0)
                fail_unseen(exchange, err);
}

/* Have the loop send what is kept. */
static void queue(struct ed_http1_exchange *exchange)
{
        if (exchange->at_wait.queued || ed_buf_bytes(&exchange->out) == 0)
                return;
        ed_call_init(&exchange->at_wait, on_wait);
        ed_call_queue(ed_loop_current, &exchange->at_wait, true);
}

/*
 * Wait for the task that writes a rest. If several tasks of the handler wait, the first one that
 * continues may be writing when the others do.
 */
static int wait_for_rest(struct ed_http1_exchange *exchange)
{
        int err = 0;

        while (exchange->resting && err == 0)
                err = eddy_event_wait(&exchange->rest_sent);
        return err;
}

/* ---- keeping and sending --------------------------------------------------- */

void ed_http1_out_reset(struct ed_http1_exchange *exchange)
{
        ed_call_cancel(ed_loop_current, &exchange->at_wait);
        exchange->out_error = 0;
        drop(exchange);
}

bool ed_http1_out_keep(struct ed_http1_exchange *exchange, const struct eddy_slice *slices,
                       size_t n)
{
        if (exchange->sending || exchange->out_error < 0 ||
            !append(exchange, slices, n, KEPT_BYTES_MAX))
                return false;
        queue(exchange);
        return true;
}

int ed_http1_out_send(struct ed_http1_exchange *exchange, const struct eddy_slice *slices, size_t n)
{
        uint64_t taken;
        size_t held;
        int err;

        err = wait_for_rest(exchange);
        if (err < 0 || exchange->out_error < 0)
                return err < 0 ? err : exchange->out_error;
        /* Another task of the handler is writing: the stream refuses a second one. */
        if (exchange->sending)
                return ed_http_pace_writev(&exchange->download, exchange->stream, slices, n);
        if (n == 0 && ed_buf_bytes(&exchange->out) == 0)
                return 0;
        ed_call_cancel(ed_loop_current, &exchange->at_wait);
        taken = exchange->stream->taken;
        held = ed_buf_bytes(&exchange->out);
        err = write_all(exchange, slices, n);
        if (err == -ECANCELED && exchange->stream->taken == taken) {
                exchange->out.end = exchange->out.start + held; /* without the slices */
                queue(exchange);
                return err;
        }
        if (err < 0)
                fail(exchange, err);
        drop(exchange);
        return err;
}

int64_t ed_http1_out_send_file(struct ed_http1_exchange *exchange, const eddy_file *file,
                               int64_t offset, size_t bytes)
{
        int64_t n;
        int err = ed_http1_out_send(exchange, NULL, 0);

        if (err < 0)
                return err;
        exchange->sending = true;
        n = ed_http_pace_send_file(&exchange->download, exchange->stream, file, offset, bytes);
        exchange->sending = false;
        if (n < 0 && n != -EAGAIN && n != -ENOTSUP)
                fail(exchange, (int) n);
        return n;
}

void ed_http1_out_finish(struct ed_http1_exchange *exchange)
{
        int err = 0;

        if (exchange->at_wait.queued) {
                ed_call_cancel(ed_loop_current, &exchange->at_wait);
                err = send_now(exchange);
        }
        if (err == -EAGAIN || exchange->resting)
                err = ed_http1_out_send(exchange, NULL, 0);
        ed_call_cancel(ed_loop_current, &exchange->at_wait);
        if (err < 0)
                exchange->closing = true;
}
