/*
 * http/coding_brotli.c - the coding br, by libbrotlidec.
 */
#include <brotli/decode.h>
#include <errno.h>
#include <stdint.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "http/coding.h"

static void *brotli_alloc(void *arg, size_t bytes)
{
        (void) arg;
        return ed_alloc(bytes);
}

static void brotli_free(void *arg, void *ptr)
{
        (void) arg;
        ed_free(ptr);
}

static void *brotli_new(void)
{
        return BrotliDecoderCreateInstance(brotli_alloc, brotli_free, NULL);
}

static int brotli_step(void *state, struct ed_coding_step *step)
{
        BrotliDecoderErrorCode code;

        switch (BrotliDecoderDecompressStream(state, &step->in_bytes, &step->in, &step->room,
                                              &step->out, NULL)) {
        case BROTLI_DECODER_RESULT_SUCCESS:
                return ED_CODING_ENDED;
        case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT:
        case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT:
                return 0;
        default:
                code = BrotliDecoderGetErrorCode(state);
                return code <= BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES &&
                                       code >= BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES
                               ? -ENOMEM
                               : EDDY_E_HTTP_CODING_INVALID;
        }
}

static void brotli_end(void *state)
{
        BrotliDecoderDestroyInstance(state);
}

const struct ed_coding ed_coding_brotli = { "br", brotli_new, brotli_step, NULL, brotli_end };
