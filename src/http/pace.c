/*
 * http/pace.c - the minimum speed of a peer, checked at the end of each window.
 *
 * A timer fires at the end of each window, even in the middle of a call, and either begins another
 * window or cancels the scope around the call.
 */
#include "http/pace.h"

#include <errno.h>

#include "base/def.h"
#include "eddy/error.h"
#include "eddy/scope.h"
#include "eddy/stream_ops.h"
#include "io/stream.h"
#include "loop/loop.h"

enum { LATE_PART = 8 }; /* a loop is late if it misses a window's end by this part of a window */

#define NS_PER_S 1000000000.0

/* A call that may wait for the peer, on the stack of its task. */
struct wait {
        struct ed_stream_wait first; /* of a write */
        struct ed_timer timer;       /* fires at the end of the window */
        eddy_scope scope;
        struct ed_http_pace *pace;
        eddy_stream *stream;
        int64_t begun_ns;
        int64_t end_ns; /* of the window */
        bool writes;
        bool too_slow;
};

void ed_http_pace_init(struct ed_http_pace *pace, uint32_t rate, int64_t over_ns)
{
        double bytes = rate * ((double) over_ns / NS_PER_S);

        *pace = (struct ed_http_pace){ .over_ns = over_ns };
        if (rate > 0)
                pace->window_bytes = bytes < 1                   ? 1
                                     : bytes < (double) SIZE_MAX ? (uint64_t) bytes
                                                                 : SIZE_MAX;
}

void ed_http_pace_reset(struct ed_http_pace *pace)
{
        pace->waited_ns = 0;
        pace->moved = 0;
}

static void wait_arm(struct wait *wait, struct ed_loop *loop)
{
        int64_t rest_ns = wait->pace->over_ns - wait->pace->waited_ns;

        wait->end_ns = ed_time_after(wait->begun_ns, rest_ns);
        ed_timer_arm(&loop->timers, &wait->timer, wait->end_ns);
}

/*
 * Returns true if the peer has sent enough in the window, or if unread bytes are waiting because
 * the loop is late.
 */
static bool has_read_enough(const struct ed_http_pace *pace, eddy_stream *stream)
{
        return pace->moved >= pace->window_bytes || eddy_stream_is_readable(stream);
}

/*
 * Returns true if the peer has taken enough in the window. 'late': the loop was late at the
 * window's end.
 */
static bool has_taken_enough(struct ed_http_pace *pace, eddy_stream *stream, bool late)
{
        struct eddy_stream_sent sent;
        bool is_enough;

        eddy_stream_sent(stream, &sent);
        is_enough = sent.acknowledged - pace->left >= pace->window_bytes ||
                    (pace->pending > sent.pending &&
                     pace->pending - sent.pending >= pace->window_bytes);
        if (sent.acknowledged > 0)
                is_enough |= sent.pending == 0;
        else /* unknown, or none yet; a late loop has not seen what the peer took meanwhile */
                is_enough |= late || stream->taken - pace->taken >= pace->window_bytes;
        pace->left = sent.acknowledged;
        pace->pending = sent.pending;
        pace->taken = stream->taken;
        return is_enough;
}

static void on_window_end(struct ed_timer *timer)
{
        struct wait *wait = ed_container_of(timer, struct wait, timer);
        struct ed_loop *loop = ed_loop_current;
        bool late = ed_loop_now(loop) - wait->end_ns > wait->pace->over_ns / LATE_PART;

        if (wait->writes ? has_taken_enough(wait->pace, wait->stream, late)
                         : has_read_enough(wait->pace, wait->stream)) {
                ed_http_pace_reset(wait->pace);
                wait->begun_ns = ed_loop_now(loop);
                wait_arm(wait, loop);
                return;
        }
        wait->too_slow = true;
        eddy_scope_cancel(&wait->scope);
}

static void wait_begin(struct wait *wait, struct ed_http_pace *pace, eddy_stream *stream,
                       bool writes)
{
        struct ed_loop *loop = ed_loop_current;

        wait->pace = pace;
        wait->stream = stream;
        wait->writes = writes;
        wait->too_slow = false;
        wait->begun_ns = ed_loop_now(loop);
        eddy_scope_begin(&wait->scope, NULL);
        ed_timer_init(&wait->timer, on_window_end);
        wait_arm(wait, loop);
}

/* Returns the result of the call. */
static int64_t wait_end(struct wait *wait, int64_t result)
{
        struct ed_loop *loop = ed_loop_current;

        ed_timer_cancel(&loop->timers, &wait->timer);
        (void) eddy_scope_end(&wait->scope);
        wait->pace->waited_ns += ed_loop_now(loop) - wait->begun_ns;
        /* A stream may have taken the last bytes that the peer does not take. */
        return wait->too_slow && (wait->writes || result == -ECANCELED) ? EDDY_E_NET_TIMED_OUT
                                                                        : result;
}

int64_t ed_http_pace_read(struct ed_http_pace *pace, eddy_stream *stream, void *buf, size_t bytes)
{
        struct wait wait;
        int64_t n;

        if (pace->window_bytes == 0)
                return eddy_stream_read(stream, buf, bytes);
        wait_begin(&wait, pace, stream, false);
        n = eddy_stream_read(stream, buf, bytes);
        pace->moved += n > 0 ? (uint64_t) n : 0;
        return wait_end(&wait, n);
}

static void begin_write(struct ed_stream_wait *first)
{
        struct wait *wait = ed_container_of(first, struct wait, first);

        wait_begin(wait, wait->pace, wait->stream, true);
}

/* A write that need not wait, as most, costs neither a timer nor a scope. */
int ed_http_pace_writev(struct ed_http_pace *pace, eddy_stream *stream,
                        const struct eddy_slice *slices, size_t n)
{
        struct wait wait;
        int err;

        if (pace->window_bytes == 0)
                return eddy_stream_writev(stream, slices, n);
        wait.first = (struct ed_stream_wait){ .begin = begin_write };
        wait.pace = pace;
        wait.stream = stream;
        err = ed_stream_writev(stream, slices, n, &wait.first);
        return wait.first.waited ? (int) wait_end(&wait, err) : err;
}

int ed_http_pace_wait(struct ed_http_pace *pace, eddy_stream *stream)
{
        struct wait wait;
        int err;

        if (pace->window_bytes == 0)
                return eddy_stream_wait(stream, EDDY_STREAM_WRITING);
        wait_begin(&wait, pace, stream, true);
        err = eddy_stream_wait(stream, EDDY_STREAM_WRITING);
        return (int) wait_end(&wait, err);
}

int64_t ed_http_pace_send_file(struct ed_http_pace *pace, eddy_stream *stream,
                               const eddy_file *file, int64_t offset, size_t bytes)
{
        struct wait wait;
        int64_t n;

        if (pace->window_bytes == 0)
                return ed_stream_send_file(stream, file, offset, bytes, NULL);
        wait.first = (struct ed_stream_wait){ .begin = begin_write };
        wait.pace = pace;
        wait.stream = stream;
        n = ed_stream_send_file(stream, file, offset, bytes, &wait.first);
        return wait.first.waited ? wait_end(&wait, n) : n;
}
