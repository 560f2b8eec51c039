/*
 * http/encoder_zstd.c - the coding zstd of answers, by libzstd, which allocates with malloc(): its
 * interface for another allocator is not stable.
 */
#include <errno.h>
#include <stdbool.h>
#include <zstd.h>

#include "http/encoder.h"

/* These bound the memory of a state to 1.5 MiB: a window of 128 KiB, and tables of 256 KiB. */
enum { WINDOW_LOG = 17, TABLE_LOG = 16, LEVEL_MAX = 6 };

static bool set(ZSTD_CCtx *context, ZSTD_cParameter parameter, int value)
{
        return !ZSTD_isError(ZSTD_CCtx_setParameter(context, parameter, value));
}

static void *zstd_new(int level, int64_t bytes)
{
        ZSTD_CCtx *context = ZSTD_createCCtx();

        if (!context)
                return NULL;
        if (!set(context, ZSTD_c_compressionLevel, level) ||
            !set(context, ZSTD_c_windowLog, WINDOW_LOG) ||
            !set(context, ZSTD_c_hashLog, TABLE_LOG) || !set(context, ZSTD_c_chainLog, TABLE_LOG) ||
            (bytes >= 0 &&
             ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(context, (unsigned long long) bytes)))) {
                ZSTD_freeCCtx(context);
                return NULL;
        }
        return context;
}

static int zstd_step(void *state, struct ed_coding_step *step, enum ed_encoder_end end)
{
        static const ZSTD_EndDirective ends[] = { [ED_ENCODER_MORE] = ZSTD_e_continue,
                                                  [ED_ENCODER_FLUSH] = ZSTD_e_flush,
                                                  [ED_ENCODER_FINISH] = ZSTD_e_end };
        ZSTD_inBuffer in = { step->in, step->in_bytes, 0 };
        ZSTD_outBuffer out = { step->out, step->room, 0 };
        size_t left;

        do
                left = ZSTD_compressStream2(state, &out, &in, ends[end]);
        while (!ZSTD_isError(left) && out.pos < out.size &&
               (in.pos < in.size || (end != ED_ENCODER_MORE && left > 0)));
        step->in += in.pos;
        step->in_bytes -= in.pos;
        step->out += out.pos;
        step->room -= out.pos;
        if (ZSTD_isError(left))
                return -ENOMEM;
        return step->in_bytes > 0 || (end != ED_ENCODER_MORE && left > 0) ? ED_ENCODER_FULL : 0;
}

static void zstd_free(void *state)
{
        ZSTD_freeCCtx(state);
}

const struct ed_encoder ed_encoder_zstd = { "zstd", 3, LEVEL_MAX, zstd_new, zstd_step, zstd_free };
