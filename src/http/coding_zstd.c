/*
 * http/coding_zstd.c - the coding zstd, by libzstd, which allocates with malloc(): its interface for
 * another allocator is not stable.
 */
#include <errno.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "eddy/error.h"
#include "http/coding.h"

/* A client must support windows of 8 MiB, and a server must not use larger ones (RFC 9659, 3). */
enum { WINDOW_LOG_MAX = 23 };

static void *zstd_new(void)
{
        ZSTD_DStream *stream = ZSTD_createDStream();

        if (stream &&
            ZSTD_isError(ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, WINDOW_LOG_MAX))) {
                ZSTD_freeDStream(stream);
                return NULL;
        }
        return stream;
}

static int zstd_step(void *state, struct ed_coding_step *step)
{
        ZSTD_inBuffer in = { step->in, step->in_bytes, 0 };
        ZSTD_outBuffer out = { step->out, step->room, 0 };
        size_t result = ZSTD_decompressStream(state, &out, &in);

        step->in += in.pos;
        step->in_bytes -= in.pos;
        step->out += out.pos;
        step->room -= out.pos;
        if (ZSTD_isError(result))
                return ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation
                               ? -ENOMEM
                               : EDDY_E_HTTP_CODING_INVALID;
        return result == 0 ? ED_CODING_ENDED : 0;
}

/* Data may have several frames (RFC 8878, 3.1). */
static int zstd_restart(void *state)
{
        return ZSTD_isError(ZSTD_DCtx_reset(state, ZSTD_reset_session_only))
                       ? EDDY_E_HTTP_CODING_INVALID
                       : 0;
}

static void zstd_end(void *state)
{
        ZSTD_freeDStream(state);
}

const struct ed_coding ed_coding_zstd = { "zstd", zstd_new, zstd_step, zstd_restart, zstd_end };
