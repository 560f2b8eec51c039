/*
 * common/pack.c - compression to gzip and zstd, by zlib and libzstd. zlib allocates by eddy_malloc();
 * libzstd by malloc(), because its interface for another allocator is not stable.
 */
#include "common/pack.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "eddy/alloc.h"

enum {
        GZIP_FORMAT = 16, /* added to the bits of the window */
        GZIP_MEMORY_LEVEL = 8,
        ZLIB_STEP_BYTES_MAX = 1 << 30,
};

struct pack_step {
        const unsigned char *in; /* NULL: the end */
        size_t in_bytes, taken;
        unsigned char *out;
        size_t room, written;
};

static bool name_ends_with(const char *path, const char *end)
{
        size_t bytes = strlen(path), end_bytes = strlen(end);

        return bytes >= end_bytes && memcmp(path + bytes - end_bytes, end, end_bytes) == 0;
}

enum ed_pack_kind ed_pack_kind_of(const char *path)
{
        if (name_ends_with(path, ".gz"))
                return ED_PACK_GZIP;
        return name_ends_with(path, ".zst") ? ED_PACK_ZSTD : ED_PACK_PLAIN;
}

size_t ed_pack_stem_bytes(const char *path)
{
        enum ed_pack_kind kind = ed_pack_kind_of(path);
        size_t end_bytes = kind == ED_PACK_GZIP   ? strlen(".gz")
                           : kind == ED_PACK_ZSTD ? strlen(".zst")
                                                  : 0;

        return strlen(path) - end_bytes;
}

static void *packer_alloc(void *ctx, unsigned items, unsigned bytes)
{
        (void) ctx;
        return bytes > 0 && items > SIZE_MAX / bytes ? NULL : eddy_malloc((size_t) items * bytes);
}

static void packer_free(void *ctx, void *ptr)
{
        (void) ctx;
        eddy_free(ptr);
}

static z_stream *packer_new(void)
{
        z_stream *stream = eddy_malloc(sizeof(*stream));

        if (!stream)
                return NULL;
        *stream = (z_stream){ .zalloc = packer_alloc, .zfree = packer_free };
        if (deflateInit2(stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + GZIP_FORMAT,
                         GZIP_MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
                eddy_free(stream);
                return NULL;
        }
        return stream;
}

int ed_pack_init(struct ed_pack *pack, enum ed_pack_kind kind)
{
        *pack = (struct ed_pack){ .kind = kind };
        if (kind == ED_PACK_GZIP)
                pack->state = packer_new();
        else if (kind == ED_PACK_ZSTD)
                pack->state = ZSTD_createCCtx();
        return kind == ED_PACK_PLAIN || pack->state ? 0 : -ENOMEM;
}

void ed_pack_fini(struct ed_pack *pack)
{
        if (pack->state && pack->kind == ED_PACK_GZIP) {
                (void) deflateEnd(pack->state);
                eddy_free(pack->state);
        } else if (pack->state) {
                ZSTD_freeCCtx(pack->state);
        }
        pack->state = NULL;
}

static unsigned step_bytes(size_t bytes)
{
        return bytes < ZLIB_STEP_BYTES_MAX ? (unsigned) bytes : ZLIB_STEP_BYTES_MAX;
}

/* Each function NAME_step takes what it can, and writes what there is room for. */
static int gzip_step(struct ed_pack *pack, struct pack_step *step)
{
        z_stream *stream = pack->state;
        unsigned in_bytes = step_bytes(step->in_bytes - step->taken);
        unsigned room = step_bytes(step->room);
        int result;

        /* zlib does not write to the input. */
        stream->next_in = step->in ? (Bytef *) (uintptr_t) (step->in + step->taken) : NULL;
        stream->avail_in = in_bytes;
        stream->next_out = step->out;
        stream->avail_out = room;
        result = deflate(stream, step->in ? Z_NO_FLUSH : Z_FINISH);
        step->taken += in_bytes - stream->avail_in;
        step->written = room - stream->avail_out;
        pack->ended = result == Z_STREAM_END;
        return result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR ? 0 : -ENOMEM;
}

static int zstd_step(struct ed_pack *pack, struct pack_step *step)
{
        ZSTD_inBuffer in = { step->in, step->in_bytes, step->taken };
        ZSTD_outBuffer out = { step->out, step->room, 0 };
        size_t left = ZSTD_compressStream2(pack->state, &out, &in,
                                           step->in ? ZSTD_e_continue : ZSTD_e_end);

        if (ZSTD_isError(left))
                return -ENOMEM;
        step->taken = in.pos;
        step->written = out.pos;
        pack->ended = !step->in && left == 0;
        return 0;
}

static int plain_step(struct pack_step *step)
{
        size_t n = step->in_bytes - step->taken;

        n = n < step->room ? n : step->room;
        if (n > 0)
                memcpy(step->out, step->in + step->taken, n);
        step->taken += n;
        step->written = n;
        return 0;
}

int64_t ed_pack_some(struct ed_pack *pack, const void *in, size_t in_bytes, size_t *ret_taken,
                     void *out, size_t room)
{
        struct pack_step step = { in, in ? in_bytes : 0, 0, out, room, 0 };
        int err = 0;

        /* Another call after the end would begin another member or frame. */
        while (err == 0 && !pack->ended && step.written == 0 &&
               (!in || step.taken < step.in_bytes)) {
                if (pack->kind == ED_PACK_GZIP)
                        err = gzip_step(pack, &step);
                else if (pack->kind == ED_PACK_ZSTD)
                        err = zstd_step(pack, &step);
                else
                        err = plain_step(&step);
                if (!in && pack->kind == ED_PACK_PLAIN)
                        break;
        }
        *ret_taken = step.taken;
        return err < 0 ? err : (int64_t) step.written;
}
