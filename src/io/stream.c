/*
 * io/stream.c - the public calls of every stream, and gathered writes.
 */
#include "io/stream.h"

#include <errno.h>

#include "scope/debug/debug.h"

int64_t eddy_stream_read(eddy_stream *stream, void *buf, size_t bytes)
{
        return stream ? stream->ops->read(stream, buf, bytes) : -EINVAL;
}

int eddy_stream_write(eddy_stream *stream, const void *data, size_t bytes)
{
        struct eddy_slice slice = { data, bytes };

        return stream ? stream->ops->writev(stream, &slice, 1) : -EINVAL;
}

int eddy_stream_writev(eddy_stream *stream, const struct eddy_slice *slices, size_t n)
{
        return stream ? stream->ops->writev(stream, slices, n) : -EINVAL;
}

int eddy_stream_shutdown(eddy_stream *stream)
{
        return stream ? stream->ops->shutdown(stream) : -EINVAL;
}

int eddy_stream_is_readable(eddy_stream *stream)
{
        return stream ? stream->ops->is_readable(stream) : -EINVAL;
}

int eddy_stream_watch_idle(eddy_stream *stream, eddy_stream_idle_fn *fn, void *arg)
{
        return stream ? stream->ops->watch_idle(stream, fn, arg) : -EINVAL;
}

struct ed_stream_sent ed_stream_sent(eddy_stream *stream)
{
        if (!stream->ops->sent)
                return (struct ed_stream_sent){ 0 };
        return stream->ops->sent(stream);
}

static void close_stream(eddy_stream *stream, bool abort)
{
        if (!stream)
                return;
        ed_debug_gone(stream);
        stream->ops->close(stream, abort);
}

void eddy_stream_close(eddy_stream *stream)
{
        close_stream(stream, false);
}

void eddy_stream_abort(eddy_stream *stream)
{
        close_stream(stream, true);
}

int ed_slices_init(struct ed_slices *slices, const struct eddy_slice *list, size_t n)
{
        if (n > EDDY_STREAM_SLICES_MAX)
                return -EINVAL;
        slices->first = slices->n = 0;
        for (size_t i = 0; i < n; i++)
                if (list[i].bytes > 0)
                        slices->list[slices->n++] = list[i];
        return 0;
}

void ed_slices_skip(struct ed_slices *slices, size_t bytes)
{
        while (bytes > 0) {
                struct eddy_slice *slice = &slices->list[slices->first];
                size_t n = bytes < slice->bytes ? bytes : slice->bytes;

                slice->data = (const char *) slice->data + n;
                slice->bytes -= n;
                bytes -= n;
                if (slice->bytes == 0)
                        slices->first++;
        }
}
