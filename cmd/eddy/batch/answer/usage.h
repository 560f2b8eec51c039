/*
 * batch/answer/usage.h - the tokens that an answer reports. No I/O.
 */
#ifndef ED_CMD_BATCH_ANSWER_USAGE_H
#define ED_CMD_BATCH_ANSWER_USAGE_H

#include <stddef.h>
#include <stdint.h>

#include "eddy/def.h"

/* The largest count. Larger counts are reduced to it, so that sums over answers do not overflow. */
#define ED_USAGE_TOKENS_MAX ((uint64_t) 1000000000000)

struct ed_usage {
        uint64_t input;     /* including tokens from a cache */
        uint64_t output;    /* including tokens of reasoning */
        uint64_t cached;    /* the part of 'input' that was read from a cache */
        uint64_t reasoning; /* the part of 'output' that is not in the answer */
};

/*
 * Read the usage of an answer, in the forms of OpenAI (chat completions, completions, responses,
 * embeddings), Anthropic, Gemini, Cohere and Ollama. 'body' is a valid JSON text.
 *
 * Most servers write the usage at the end, so the last 4 KiB are read first, backwards. If they
 * have no usage, a longer body is read from its start.
 *
 * Errors: -ENOENT  the body gives no usage; '*ret_usage' is zero
 */
int ed_usage_read(const char *body, size_t bytes, struct ed_usage *ret_usage);

#endif
