/*
 * http/encoder_zlib.c - the coding gzip of answers, by zlib.
 */
#include <errno.h>
#include <stdint.h>
#include <zlib.h>

#include "base/alloc.h"
#include "http/encoder.h"

/* The largest window with the wrapper of gzip, and zlib's default for the memory of the search. */
enum { WINDOW_GZIP = 15 + 16, MEMORY_LEVEL = 8 };

static void *gzip_new(int level, int64_t bytes)
{
        z_stream *stream = ed_alloc_zero(sizeof(*stream));

        (void) bytes;
        if (!stream)
                return NULL;
        stream->zalloc = ed_coding_zlib_alloc;
        stream->zfree = ed_coding_zlib_free;
        if (deflateInit2(stream, level, Z_DEFLATED, WINDOW_GZIP, MEMORY_LEVEL,
                         Z_DEFAULT_STRATEGY) != Z_OK) {
                ed_free(stream);
                return NULL;
        }
        return stream;
}

static unsigned count_of(size_t bytes)
{
        return bytes < UINT32_MAX ? (unsigned) bytes : UINT32_MAX;
}

static int gzip_step(void *state, struct ed_coding_step *step, enum ed_encoder_end end)
{
        static const int flushes[] = { [ED_ENCODER_MORE] = Z_NO_FLUSH,
                                       [ED_ENCODER_FLUSH] = Z_SYNC_FLUSH,
                                       [ED_ENCODER_FINISH] = Z_FINISH };
        z_stream *stream = state;
        int result;

        do {
                unsigned in = count_of(step->in_bytes), room = count_of(step->room);

                stream->next_in = (Bytef *) (uintptr_t) step->in;
                stream->avail_in = in;
                stream->next_out = step->out;
                stream->avail_out = room;
                /* The end comes after the last part of an input that is too long for a call. */
                result = deflate(stream, in < step->in_bytes ? Z_NO_FLUSH : flushes[end]);
                step->in = stream->next_in;
                step->in_bytes -= in - stream->avail_in;
                step->out = stream->next_out;
                step->room -= room - stream->avail_out;
        } while (result == Z_OK && step->in_bytes > 0 && step->room > 0);
        if (result == Z_STREAM_END)
                return 0;
        if (result != Z_OK && result != Z_BUF_ERROR)
                return -ENOMEM;
        return step->room == 0 ? ED_ENCODER_FULL : 0;
}

static void gzip_free(void *state)
{
        (void) deflateEnd(state);
        ed_free(state);
}

const struct ed_encoder ed_encoder_gzip = { "gzip", 6, 9, gzip_new, gzip_step, gzip_free };
