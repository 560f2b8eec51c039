/*
 * common/unpack.c - decompression of gzip and zstd, by zlib and libzstd. zlib allocates by
 * eddy_malloc(); libzstd by malloc(), because its interface for another allocator is not stable.
 */
#include "common/unpack.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "eddy/alloc.h"

enum {
        GZIP_ONLY = 16, /* added to the bits of the window: no other format of zlib's */
        ZLIB_STEP_BYTES_MAX = 1 << 30,
        ZSTD_WINDOW_BITS_MAX = 27,
};

/* Bytes to take, and room to write to. */
struct unpack_step {
        const unsigned char *in;
        size_t in_bytes, taken;
        unsigned char *out;
        size_t room, written;
};

void ed_unpack_init(struct ed_unpack *unpack)
{
        *unpack = (struct ed_unpack){ .kind = ED_UNPACK_UNKNOWN };
}

void ed_unpack_fini(struct ed_unpack *unpack)
{
        if (unpack->state && unpack->kind == ED_UNPACK_GZIP) {
                (void) inflateEnd(unpack->state);
                eddy_free(unpack->state);
        } else if (unpack->state) {
                ZSTD_freeDStream(unpack->state);
        }
        unpack->state = NULL;
}

/* Returns true if the first bytes, as many as have arrived, are those of 'magic'. */
static bool head_is(const struct ed_unpack *unpack, const char *magic, size_t bytes)
{
        size_t n = unpack->head_bytes < bytes ? unpack->head_bytes : bytes;

        return memcmp(unpack->head, magic, n) == 0;
}

/* Returns true for a frame of zstd that has no text (RFC 8878, 3.1.2), as pzstd writes it. */
static bool head_is_skippable(const struct ed_unpack *unpack)
{
        char magic[4] = { 0x50, 0x2a, 0x4d, 0x18 };

        magic[0] = (char) (magic[0] | (unpack->head[0] & 0x0f));
        return head_is(unpack, magic, sizeof(magic));
}

static enum ed_unpack_kind head_kind(const struct ed_unpack *unpack)
{
        if (head_is(unpack, "\x1f\x8b", 2))
                return unpack->head_bytes >= 2 ? ED_UNPACK_GZIP : ED_UNPACK_UNKNOWN;
        if (head_is(unpack, "\x28\xb5\x2f\xfd", 4) || head_is_skippable(unpack))
                return unpack->head_bytes >= 4 ? ED_UNPACK_ZSTD : ED_UNPACK_UNKNOWN;
        return ED_UNPACK_PLAIN;
}

static void *gzip_alloc(void *ctx, unsigned items, unsigned bytes)
{
        (void) ctx;
        return bytes > 0 && items > SIZE_MAX / bytes ? NULL : eddy_malloc((size_t) items * bytes);
}

static void gzip_free(void *ctx, void *ptr)
{
        (void) ctx;
        eddy_free(ptr);
}

static void *gzip_new(void)
{
        z_stream *stream = eddy_malloc(sizeof(*stream));

        if (!stream)
                return NULL;
        *stream = (z_stream){ .zalloc = gzip_alloc, .zfree = gzip_free };
        if (inflateInit2(stream, MAX_WBITS + GZIP_ONLY) != Z_OK) {
                eddy_free(stream);
                return NULL;
        }
        return stream;
}

static void *zstd_new(void)
{
        ZSTD_DStream *stream = ZSTD_createDStream();

        if (stream && ZSTD_isError(ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax,
                                                          ZSTD_WINDOW_BITS_MAX))) {
                ZSTD_freeDStream(stream);
                return NULL;
        }
        return stream;
}

static unsigned zlib_bytes(size_t bytes)
{
        return bytes < ZLIB_STEP_BYTES_MAX ? (unsigned) bytes : ZLIB_STEP_BYTES_MAX;
}

/* Each function NAME_step makes progress if there is input, or output to write. */
static int gzip_step(struct ed_unpack *unpack, struct unpack_step *step)
{
        z_stream *stream = unpack->state;
        unsigned in_bytes = zlib_bytes(step->in_bytes - step->taken);
        unsigned room = zlib_bytes(step->room - step->written);
        int result;

        if (!unpack->inside && in_bytes == 0)
                return 0;
        if (!unpack->inside && inflateReset(stream) != Z_OK)
                return -EINVAL;
        /* zlib does not write to the input. */
        stream->next_in = (Bytef *) (uintptr_t) (step->in + step->taken);
        stream->avail_in = in_bytes;
        stream->next_out = step->out + step->written;
        stream->avail_out = room;
        result = inflate(stream, Z_NO_FLUSH);
        step->taken += in_bytes - stream->avail_in;
        step->written += room - stream->avail_out;
        unpack->inside = result != Z_STREAM_END;
        if (result == Z_MEM_ERROR)
                return -ENOMEM;
        return result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR ? 0 : -EINVAL;
}

static int zstd_step(struct ed_unpack *unpack, struct unpack_step *step)
{
        ZSTD_inBuffer in = { step->in, step->in_bytes, step->taken };
        ZSTD_outBuffer out = { step->out, step->room, step->written };
        size_t result;

        if (!unpack->inside && in.pos == in.size)
                return 0;
        result = ZSTD_decompressStream(unpack->state, &out, &in);
        step->taken = in.pos;
        step->written = out.pos;
        if (!ZSTD_isError(result)) {
                unpack->inside = result != 0;
                return 0;
        }
        switch (ZSTD_getErrorCode(result)) {
        case ZSTD_error_memory_allocation:
                return -ENOMEM;
        case ZSTD_error_frameParameter_windowTooLarge:
                return -EFBIG;
        default:
                return -EINVAL;
        }
}

static int plain_step(struct unpack_step *step)
{
        size_t n = step->in_bytes - step->taken;

        if (n > step->room - step->written)
                n = step->room - step->written;
        if (n > 0)
                memcpy(step->out + step->written, step->in + step->taken, n);
        step->taken += n;
        step->written += n;
        return 0;
}

/* Unpack until bytes are written or all are taken. */
static int kind_step(struct ed_unpack *unpack, struct unpack_step *step)
{
        int err;

        do {
                if (unpack->kind == ED_UNPACK_GZIP)
                        err = gzip_step(unpack, step);
                else if (unpack->kind == ED_UNPACK_ZSTD)
                        err = zstd_step(unpack, step);
                else
                        err = plain_step(step);
        } while (err == 0 && step->written == 0 && step->taken < step->in_bytes);
        return err;
}

/* Collect the first bytes until the kind is known; 'in' NULL is the end. Returns the number of bytes taken. */
static size_t head_collect(struct ed_unpack *unpack, const unsigned char *in, size_t in_bytes)
{
        size_t taken = 0;

        while (unpack->kind == ED_UNPACK_UNKNOWN && taken < in_bytes) {
                unpack->head[unpack->head_bytes++] = in[taken++];
                unpack->kind = head_kind(unpack);
        }
        if (!in && unpack->kind == ED_UNPACK_UNKNOWN)
                unpack->kind = ED_UNPACK_PLAIN;
        return taken;
}

int64_t ed_unpack_some(struct ed_unpack *unpack, const void *in, size_t in_bytes, size_t *ret_taken,
                       void *out, size_t room)
{
        size_t taken = head_collect(unpack, in, in_bytes);
        struct unpack_step step = {
                unpack->head, unpack->head_bytes, unpack->head_taken, out, room, 0
        };
        int err = 0;

        if (unpack->kind == ED_UNPACK_UNKNOWN) {
                *ret_taken = taken;
                return 0;
        }
        if (!unpack->state && unpack->kind != ED_UNPACK_PLAIN) {
                unpack->state = unpack->kind == ED_UNPACK_GZIP ? gzip_new() : zstd_new();
                if (!unpack->state)
                        return -ENOMEM;
        }
        if (step.taken < step.in_bytes) {
                err = kind_step(unpack, &step);
                unpack->head_taken = step.taken;
        }
        if (err == 0 && step.written == 0) {
                step.in = in ? in : unpack->head; /* never NULL */
                step.in_bytes = in_bytes;
                step.taken = taken;
                err = kind_step(unpack, &step);
                taken = step.taken;
        }
        if (err < 0)
                return err;
        if (!in && step.written == 0 && unpack->inside)
                return -EINVAL;
        *ret_taken = taken;
        return (int64_t) step.written;
}
