/*
 * script.c - see script.h.
 */
#include "script.h"

#include <errno.h>
#include <string.h>

#include "eddy/stream_ops.h"

static struct script *script_of(const eddy_stream *stream)
{
        return (struct script *) (uintptr_t) stream;
}

static int64_t script_try_read(eddy_stream *stream, void *buf, size_t bytes)
{
        struct script *script = script_of(stream);
        size_t n = 0;

        if (!script->has_come)
                return -EAGAIN;
        while (n < bytes && script->at + n < script->bytes) {
                size_t i = script->at + n++;

                if (i < 64 && script->cuts >> i & 1) {
                        script->has_come = false;
                        break;
                }
        }
        memcpy(buf, script->data + script->at, n);
        script->at += n;
        return n == 0 ? script->error : (int64_t) n;
}

static int64_t script_try_writev(eddy_stream *stream, const struct eddy_slice *slices,
                                 size_t slices_count)
{
        struct script *script = script_of(stream);
        size_t bytes = slices[0].bytes, room = sizeof(script->taken) - script->taken_bytes;

        (void) slices_count;
        if (script->write_error && script->taken_bytes >= script->write_error_at)
                return script->write_error;
        if (script->piece_max && !script->has_room)
                return -EAGAIN;
        if (script->piece_max && bytes > script->piece_max)
                bytes = script->piece_max;
        if (bytes > room)
                bytes = room;
        memcpy(script->taken + script->taken_bytes, slices[0].data, bytes);
        script->taken_bytes += bytes;
        script->held += script->holds ? bytes : 0;
        script->has_room = false;
        return (int64_t) bytes;
}

static int script_flush(eddy_stream *stream)
{
        struct script *script = script_of(stream);

        if (script->held == 0)
                return 0;
        if (!script->has_room)
                return -EAGAIN;
        script->has_room = false;
        script->held = 0;
        return 0;
}

static int script_wait(eddy_stream *stream, enum eddy_stream_side side)
{
        struct script *script = script_of(stream);
        int err = eddy_sleep(EDDY_MS(1));

        if (err < 0)
                return err;
        if (side == EDDY_STREAM_READING)
                script->has_come = true;
        else
                script->has_room = true;
        return 0;
}

static bool script_is_readable(eddy_stream *stream)
{
        return script_of(stream)->has_come;
}

static int script_shutdown(eddy_stream *stream)
{
        (void) stream;
        return 0;
}

static void script_close(eddy_stream *stream, unsigned flags)
{
        (void) stream;
        (void) flags;
}

static const struct eddy_stream_ops script_ops = {
        .kind = "script",
        .try_read = script_try_read,
        .try_writev = script_try_writev,
        .flush = script_flush,
        .wait = script_wait,
        .is_readable = script_is_readable,
        .shutdown = script_shutdown,
        .close = script_close,
};

void script_init(struct script *script, const char *data, size_t bytes, uint64_t cuts)
{
        /* Not eddy_stream_init(), which in debug mode would require a close of each. */
        *script = (struct script){
                .stream = { .ops = &script_ops }, .data = data, .bytes = bytes, .cuts = cuts
        };
}
