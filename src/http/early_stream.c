/*
 * http/early_stream.c - see early_stream.h.
 */
#include "http/early_stream.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/list.h"
#include "eddy/stream_ops.h"

struct early_stream {
        struct eddy_stream stream;
        eddy_stream *lower;
        size_t at, end; /* of the early bytes */
        char data[];
};

static struct early_stream *self(const eddy_stream *stream)
{
        return ed_container_of(stream, struct early_stream, stream);
}

static int64_t early_try_read(eddy_stream *stream, void *buf, size_t bytes)
{
        struct early_stream *s = self(stream);
        size_t n = s->end - s->at;

        if (n == 0)
                return eddy_stream_try_read(s->lower, buf, bytes);
        if (n > bytes)
                n = bytes;
        memcpy(buf, s->data + s->at, n);
        s->at += n;
        return (int64_t) n;
}

static int64_t early_try_writev(eddy_stream *stream, const struct eddy_slice *slices, size_t n)
{
        return eddy_stream_try_writev(self(stream)->lower, slices, n);
}

static int early_flush(eddy_stream *stream)
{
        return (int) eddy_stream_try_writev(self(stream)->lower, NULL, 0);
}

static int early_wait(eddy_stream *stream, enum eddy_stream_side side)
{
        struct early_stream *s = self(stream);

        if (side == EDDY_STREAM_READING && s->at < s->end)
                return 0;
        return eddy_stream_wait(s->lower, side);
}

static bool early_is_readable(eddy_stream *stream)
{
        struct early_stream *s = self(stream);

        return s->at < s->end || eddy_stream_is_readable(s->lower) > 0;
}

static int early_shutdown(eddy_stream *stream)
{
        return eddy_stream_shutdown(self(stream)->lower);
}

static void early_close(eddy_stream *stream, unsigned flags)
{
        struct early_stream *s = self(stream);

        if (flags & EDDY_STREAM_ABORT)
                eddy_stream_abort(s->lower);
        else if (flags & EDDY_STREAM_NO_WAIT)
                eddy_stream_close_now(s->lower);
        else
                eddy_stream_close(s->lower);
        ed_free(s);
}

static int early_fd(const eddy_stream *stream)
{
        return eddy_stream_fd(self(stream)->lower);
}

static void early_sent(const eddy_stream *stream, struct eddy_stream_sent *ret_sent)
{
        eddy_stream_sent(self(stream)->lower, ret_sent);
}

static int early_endpoint(const eddy_stream *stream, enum eddy_stream_end end,
                          struct eddy_endpoint *ret_endpoint)
{
        const eddy_stream *lower = self(stream)->lower;

        return end == EDDY_STREAM_LOCAL ? eddy_stream_local(lower, ret_endpoint)
                                        : eddy_stream_peer(lower, ret_endpoint);
}

static int early_watch_hangup(eddy_stream *stream, eddy_stream_idle_fn *fn, void *arg)
{
        return eddy_stream_watch_hangup(self(stream)->lower, fn, arg);
}

static const struct eddy_stream_ops early_stream_ops = {
        .kind = "http upgrade",
        .try_read = early_try_read,
        .try_writev = early_try_writev,
        .flush = early_flush,
        .wait = early_wait,
        .is_readable = early_is_readable,
        .shutdown = early_shutdown,
        .close = early_close,
        .fd = early_fd,
        .sent = early_sent,
        .endpoint = early_endpoint,
        .watch_hangup = early_watch_hangup,
};

int ed_http_early_stream(eddy_stream *lower, const void *data, size_t bytes,
                         eddy_stream **ret_stream)
{
        struct early_stream *s;

        if (bytes == 0) {
                *ret_stream = lower;
                return 0;
        }
        s = ed_alloc(sizeof(*s) + bytes);
        if (!s)
                return -ENOMEM;
        s->lower = lower;
        s->at = 0;
        s->end = bytes;
        memcpy(s->data, data, bytes);
        eddy_stream_init(&s->stream, &early_stream_ops);
        s->stream.member = lower->member;
        *ret_stream = &s->stream;
        return 0;
}
