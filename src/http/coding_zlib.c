/*
 * http/coding_zlib.c - the codings gzip and deflate, by zlib.
 */
#include <errno.h>
#include <stdint.h>
#include <zlib.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "http/coding.h"

/* Arguments of inflateInit2(): the largest window, with the wrapper that is expected. */
enum { WRAP_ZLIB = 15, WRAP_GZIP = 15 + 16, WRAP_NONE = -15 };

struct inflate {
        z_stream stream;
        int wrap; /* 0: deflate, of which no byte has come */
};

void *ed_coding_zlib_alloc(void *arg, unsigned items, unsigned bytes)
{
        (void) arg;
        return bytes > 0 && items > SIZE_MAX / bytes ? NULL : ed_alloc((size_t) items * bytes);
}

void ed_coding_zlib_free(void *arg, void *ptr)
{
        (void) arg;
        ed_free(ptr);
}

static int begin(struct inflate *inflate, int wrap)
{
        inflate->wrap = wrap;
        return inflateInit2(&inflate->stream, wrap) == Z_OK ? 0 : -ENOMEM;
}

static struct inflate *new (void)
{
        struct inflate *inflate = ed_alloc_zero(sizeof(*inflate));

        if (inflate) {
                inflate->stream.zalloc = ed_coding_zlib_alloc;
                inflate->stream.zfree = ed_coding_zlib_free;
        }
        return inflate;
}

static void *deflate_new(void)
{
        return new ();
}

static void *gzip_new(void)
{
        struct inflate *inflate = new ();

        if (inflate && begin(inflate, WRAP_GZIP) < 0) {
                ed_free(inflate);
                return NULL;
        }
        return inflate;
}

static unsigned count_of(size_t bytes)
{
        return bytes < UINT32_MAX ? (unsigned) bytes : UINT32_MAX;
}

static int inflate_step(struct inflate *state, struct ed_coding_step *step)
{
        z_stream *stream = &state->stream;
        unsigned in = count_of(step->in_bytes), room = count_of(step->room);
        int result;

        stream->next_in = (Bytef *) (uintptr_t) step->in;
        stream->avail_in = in;
        stream->next_out = step->out;
        stream->avail_out = room;
        result = inflate(stream, Z_NO_FLUSH);
        step->in = stream->next_in;
        step->in_bytes -= in - stream->avail_in;
        step->out = stream->next_out;
        step->room -= room - stream->avail_out;
        switch (result) {
        case Z_STREAM_END:
                return ED_CODING_ENDED;
        case Z_OK:
        case Z_BUF_ERROR: /* no progress is possible */
                return 0;
        case Z_MEM_ERROR:
                return -ENOMEM;
        default: /* also Z_NEED_DICT: HTTP has no dictionary */
                return EDDY_E_HTTP_CODING_INVALID;
        }
}

static int gzip_step(void *state, struct ed_coding_step *step)
{
        return inflate_step(state, step);
}

/*
 * Many servers send deflate without the wrapper that RFC 9110, 8.4.1.2 requires. The wrapper's first
 * byte ends in 1000 (RFC 1950, 2.2); without it, that would be a stored block with a nonzero bit of
 * padding, which no compressor writes.
 */
static int deflate_step(void *state, struct ed_coding_step *step)
{
        struct inflate *inflate = state;
        int err;

        if (inflate->wrap == 0) {
                if (step->in_bytes == 0)
                        return 0;
                err = begin(inflate, (step->in[0] & 0x0f) == 8 ? WRAP_ZLIB : WRAP_NONE);
                if (err < 0) {
                        inflate->wrap = 0;
                        return err;
                }
        }
        return inflate_step(inflate, step);
}

/* A file of gzip may have several members (RFC 1952, 2.2). */
static int gzip_restart(void *state)
{
        struct inflate *inflate = state;

        return inflateReset(&inflate->stream) == Z_OK ? 0 : EDDY_E_HTTP_CODING_INVALID;
}

static void zlib_end(void *state)
{
        struct inflate *inflate = state;

        if (inflate->wrap != 0)
                (void) inflateEnd(&inflate->stream);
        ed_free(inflate);
}

const struct ed_coding ed_coding_gzip = { "gzip", gzip_new, gzip_step, gzip_restart, zlib_end };
const struct ed_coding ed_coding_deflate = { "deflate", deflate_new, deflate_step, NULL, zlib_end };
