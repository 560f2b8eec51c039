/*
 * io/pair.c - two connected streams in memory.
 *
 * Each end has the bytes on their way to it in a ring. Ends behave as connected sockets do: a close
 * with unread bytes is a reset for the peer.
 */
#include <errno.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/list.h"
#include "eddy/error.h"
#include "eddy/stream_ops.h"
#include "loop/member.h"
#include "scope/suspend.h"

enum { BUFFER_BYTES = 64 * 1024 };

struct end;

/* A waiting task's entry, on the task's stack, registered until the task runs again. */
struct waiter {
        struct end *end; /* NULL: unregistered; the end may be gone */
        enum eddy_stream_side side;
        struct ed_task *task;
        bool woken;
};

struct end {
        struct eddy_stream stream;
        struct ed_member member;
        struct end *peer; /* NULL: closed */
        struct waiter *waiters[2];
        eddy_stream_idle_fn *idle; /* NULL: none */
        void *idle_arg;
        eddy_stream_idle_fn *hangup; /* NULL: none */
        void *hangup_arg;
        struct ed_timer notices; /* calls 'hangup' and 'idle' from the loop */
        uint64_t sent;
        bool is_ended; /* the peer sends no more */
        bool is_reset; /* the peer was aborted, or closed with unread bytes */
        bool is_shut;  /* this end sends no more */
        size_t size, head, count;
        unsigned char ring[];
};

static struct end *end_of(const eddy_stream *stream)
{
        return ed_container_of(stream, struct end, stream);
}

static size_t least(size_t a, size_t b)
{
        return a < b ? a : b;
}

static size_t capped(const struct end *end, size_t bytes)
{
        size_t max = end->member.loop->sys->transfer_max;

        return max ? least(bytes, max) : bytes;
}

/* --- readiness --- */

static bool is_readable(const struct end *end)
{
        return end->count > 0 || end->is_reset || end->is_ended;
}

static bool is_writable(const struct end *end)
{
        return end->is_reset || end->is_shut || !end->peer || end->peer->count < end->peer->size;
}

static void wake(struct end *end, enum eddy_stream_side side)
{
        struct waiter *waiter = end->waiters[side];

        if (!waiter || waiter->woken)
                return;
        waiter->woken = true;
        ed_suspend_wake(waiter->task, 0);
}

/* Returns true if the connection was reset, or both directions have ended. */
static bool is_hung_up(const struct end *end)
{
        return end->is_reset || !end->peer || (end->is_ended && end->is_shut);
}

/* Let the loop call the callbacks whose time has come. */
static void notify(struct end *end)
{
        bool due = (end->idle && is_readable(end)) || (end->hangup && is_hung_up(end));

        if (!end->member.loop)
                return;
        if (due)
                ed_timer_arm(&end->member.loop->timers, &end->notices, 0);
        else
                ed_timer_cancel(&end->member.loop->timers, &end->notices);
}

static void became_readable(struct end *end)
{
        wake(end, EDDY_STREAM_READING);
        notify(end);
}

static void on_notices(struct ed_timer *timer)
{
        struct end *end = ed_container_of(timer, struct end, notices);
        eddy_stream_idle_fn *idle = end->idle, *hangup = end->hangup;

        if (hangup && is_hung_up(end)) {
                end->hangup = NULL;
                hangup(end->hangup_arg);
        }
        if (idle && end->idle == idle && is_readable(end)) {
                end->idle = NULL;
                idle(end->idle_arg); /* may have closed the stream */
        }
}

static bool take_back(void *arg)
{
        struct waiter *waiter = arg;

        waiter->end->waiters[waiter->side] = NULL;
        waiter->end = NULL;
        return true;
}

static int pair_wait(eddy_stream *stream, enum eddy_stream_side side)
{
        static const char *const waits_for[] = { "bytes of a pair", "room in a pair" };
        struct end *end = end_of(stream);
        struct waiter waiter = { .end = end, .side = side };
        int err = ed_suspend_enter(&waiter.task);

        if (err < 0)
                return err;
        if (side == EDDY_STREAM_READING ? is_readable(end) : is_writable(end))
                return 0;
        end->waiters[side] = &waiter;
        err = ed_suspend_park(waiter.task, waits_for[side], take_back, &waiter);
        if (!waiter.end)
                return err < 0 ? err : -ECANCELED;
        end->waiters[side] = NULL;
        /* Readiness is not a result, so a later cancel takes precedence. */
        return ed_suspend_enter(&waiter.task);
}

static bool pair_is_readable(eddy_stream *stream)
{
        return is_readable(end_of(stream));
}

static int pair_watch_idle(eddy_stream *stream, eddy_stream_idle_fn *fn, void *arg)
{
        struct end *end = end_of(stream);

        end->idle = fn;
        end->idle_arg = arg;
        notify(end);
        return 0;
}

static int pair_watch_hangup(eddy_stream *stream, eddy_stream_idle_fn *fn, void *arg)
{
        struct end *end = end_of(stream);

        end->hangup = NULL;
        if (fn && is_hung_up(end))
                return -EALREADY;
        end->hangup = fn;
        end->hangup_arg = arg;
        notify(end);
        return 0;
}

/* --- bytes --- */

static void ring_take(struct end *end, void *buf, size_t bytes)
{
        size_t first = least(bytes, end->size - end->head);

        memcpy(buf, end->ring + end->head, first);
        memcpy((char *) buf + first, end->ring, bytes - first);
        end->head = (end->head + bytes) % end->size;
        end->count -= bytes;
}

static void ring_put(struct end *end, const void *data, size_t bytes)
{
        size_t at = (end->head + end->count) % end->size;
        size_t first = least(bytes, end->size - at);

        memcpy(end->ring + at, data, first);
        memcpy(end->ring, (const char *) data + first, bytes - first);
        end->count += bytes;
}

static int64_t pair_try_read(eddy_stream *stream, void *buf, size_t bytes)
{
        struct end *end = end_of(stream);

        if (end->idle)
                return -EBUSY;
        if (end->count == 0) {
                if (end->is_reset)
                        return -ECONNRESET;
                return end->is_ended ? 0 : -EAGAIN;
        }
        bytes = capped(end, least(bytes, end->count));
        ring_take(end, buf, bytes);
        if (end->peer)
                wake(end->peer, EDDY_STREAM_WRITING);
        return (int64_t) bytes;
}

static int64_t pair_try_writev(eddy_stream *stream, const struct eddy_slice *slices, size_t n)
{
        struct end *end = end_of(stream), *peer = end->peer;
        size_t room, sent = 0;

        if (end->is_reset)
                return -ECONNRESET;
        if (end->is_shut || !peer)
                return -EPIPE;
        room = capped(end, peer->size - peer->count);
        if (room == 0)
                return -EAGAIN;
        for (size_t i = 0; i < n && sent < room; i++) {
                size_t bytes = least(slices[i].bytes, room - sent);

                ring_put(peer, slices[i].data, bytes);
                sent += bytes;
        }
        end->sent += sent;
        became_readable(peer);
        return (int64_t) sent;
}

static void pair_sent(const eddy_stream *stream, struct eddy_stream_sent *ret_sent)
{
        const struct end *end = end_of(stream);

        ret_sent->pending = end->peer ? end->peer->count : 0;
        ret_sent->acknowledged = end->sent - ret_sent->pending;
}

/* --- the end --- */

static int pair_shutdown(eddy_stream *stream)
{
        struct end *end = end_of(stream);

        if (end->is_reset)
                return -ENOTCONN;
        end->is_shut = true;
        notify(end);
        if (end->peer) {
                end->peer->is_ended = true;
                became_readable(end->peer);
        }
        return 0;
}

static void pair_close(eddy_stream *stream, unsigned flags)
{
        struct end *end = end_of(stream), *peer = end->peer;

        for (int side = 0; side < 2; side++) {
                struct waiter *waiter = end->waiters[side];

                if (!waiter)
                        continue;
                waiter->end = NULL;
                if (!waiter->woken)
                        ed_suspend_wake(waiter->task, -ECANCELED);
        }
        if (end->member.loop)
                ed_timer_cancel(&end->member.loop->timers, &end->notices);
        ed_member_leave(&end->member);
        if (peer) {
                peer->peer = NULL;
                if (flags & EDDY_STREAM_ABORT || end->count > 0)
                        peer->is_reset = true;
                else
                        peer->is_ended = true;
                became_readable(peer);
                wake(peer, EDDY_STREAM_WRITING);
        }
        ed_free(end);
}

static const struct eddy_stream_ops pair_ops = {
        .kind = "pair",
        .try_read = pair_try_read,
        .try_writev = pair_try_writev,
        .wait = pair_wait,
        .is_readable = pair_is_readable,
        .watch_idle = pair_watch_idle,
        .watch_hangup = pair_watch_hangup,
        .shutdown = pair_shutdown,
        .close = pair_close,
        .sent = pair_sent,
};

static struct end *end_new(struct ed_loop *loop, size_t size)
{
        struct end *end = ed_alloc(sizeof(*end) + size);

        if (!end)
                return NULL;
        *end = (struct end){ .size = size };
        ed_member_join(&end->member, loop, NULL);
        ed_timer_init(&end->notices, on_notices);
        return end;
}

int eddy_stream_pair(const struct eddy_stream_pair_opts *opts, eddy_stream **ret_first,
                     eddy_stream **ret_second)
{
        size_t size = opts && opts->buffer_bytes ? opts->buffer_bytes : BUFFER_BYTES;
        struct ed_loop *loop = ed_loop_current;
        struct end *first, *second;

        if (!loop)
                return EDDY_E_RUN_NOT_RUNNING;
        if (size > EDDY_STREAM_PAIR_BYTES_MAX)
                return -EINVAL;
        first = end_new(loop, size);
        if (!first)
                return -ENOMEM;
        second = end_new(loop, size);
        if (!second) {
                ed_member_leave(&first->member);
                ed_free(first);
                return -ENOMEM;
        }
        first->peer = second;
        second->peer = first;
        eddy_stream_init(&first->stream, &pair_ops);
        eddy_stream_init(&second->stream, &pair_ops);
        first->stream.member = &first->member;
        second->stream.member = &second->member;
        *ret_first = &first->stream;
        *ret_second = &second->stream;
        return 0;
}
