/*
 * mock/model.c - seeds all output of the model with a hash of the input.
 */
#include "mock/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/random.h"
#include "eddy/base64.h"

enum {
        LENGTH_MIN = 8,
        LENGTH_MAX = 40,
        FLOATS_AT_ONCE = 48, /* 192 bytes, which base64 encodes without padding */
        DECIMALS = 8,
        WORDS = 32,
};

static const char words[WORDS][8] = {
        "a",    "river", "flows",  "past",  "the",  "old",    "stone", "bridge",
        "and",  "water", "turns",  "in",    "slow", "rings",  "near",  "each",
        "pier", "leaf",  "drifts", "under", "it",   "while",  "small", "waves",
        "meet", "clear", "light",  "on",    "sand", "before", "they",  "part",
};

uint64_t ed_model_hash(uint64_t hash, const void *data, size_t bytes)
{
        const unsigned char *at = data;

        for (size_t i = 0; i < bytes; i++)
                hash = (hash ^ at[i]) * UINT64_C(1099511628211);
        return hash;
}

uint64_t ed_model_tokens(uint64_t bytes)
{
        return bytes > 0 ? (bytes + 3) / 4 : 1;
}

/* Returns a number from -1 to below 1. */
static double component_next(struct ed_random *random)
{
        return 2 * ed_random_fraction(random) - 1;
}

/* Append a number from -1 to 1 with DECIMALS decimals; much faster than printf. */
static void component_add(struct ed_draft *text, double component)
{
        char digits[DECIMALS + 3];
        int64_t scaled = llround(component * 1e8);
        uint64_t rest = (uint64_t) (scaled < 0 ? -scaled : scaled);

        for (int i = DECIMALS + 2; i > 2; i--, rest /= 10)
                digits[i] = (char) ('0' + rest % 10);
        digits[2] = '.';
        digits[1] = (char) ('0' + rest % 10);
        digits[0] = '-';
        ed_draft_add(text, digits + (scaled >= 0), sizeof(digits) - (scaled >= 0));
}

/* Store a float with its least significant byte first. */
static void float_store(float number, unsigned char *out)
{
        uint32_t bits;

        memcpy(&bits, &number, sizeof(bits));
        for (int i = 0; i < 4; i++)
                out[i] = (unsigned char) (bits >> (8 * i));
}

void ed_model_embed(uint64_t hash, uint32_t dimensions, bool base64, struct ed_draft *text)
{
        struct ed_random random = { hash }, again = { hash };
        unsigned char floats[FLOATS_AT_ONCE * 4];
        char encoded[EDDY_BASE64_BYTES(sizeof(floats))];
        double squares = 0, scale;
        size_t held = 0;

        for (uint32_t i = 0; i < dimensions; i++) {
                double component = component_next(&random);

                squares += component * component;
        }
        scale = squares > 0 ? 1 / sqrt(squares) : 0;
        ed_draft_add_str(text, base64 ? "\"" : "[");
        for (uint32_t i = 0; i < dimensions; i++) {
                double component = scale * component_next(&again);

                if (!base64) {
                        if (i > 0)
                                ed_draft_add(text, ",", 1);
                        component_add(text, component);
                        continue;
                }
                float_store((float) component, floats + held);
                held += 4;
                if (held == sizeof(floats) || i + 1 == dimensions) {
                        ed_draft_add(text, encoded, eddy_base64_encode(floats, held, encoded));
                        held = 0;
                }
        }
        ed_draft_add_str(text, base64 ? "\"" : "]");
}

/* Returns a hash that differs for each choice and each word. */
static uint64_t mix(uint64_t hash, uint32_t choice, uint32_t i)
{
        struct ed_random random = { hash + ((uint64_t) choice << 32) + i };

        return ed_random_next(&random);
}

uint32_t ed_model_length(uint64_t hash, uint32_t choice)
{
        return LENGTH_MIN +
               (uint32_t) (mix(hash, choice, UINT32_MAX) % (LENGTH_MAX - LENGTH_MIN + 1));
}

size_t ed_model_word(uint64_t hash, uint32_t choice, uint32_t i, uint32_t length,
                     char word[ED_MODEL_WORD_BYTES])
{
        const char *stem = words[mix(hash, choice, i) % WORDS];
        int bytes = snprintf(word, ED_MODEL_WORD_BYTES, "%s%s%s", i > 0 ? " " : "", stem,
                             i + 1 == length ? "." : "");

        if (i == 0)
                word[0] = (char) (word[0] - 'a' + 'A');
        return (size_t) bytes;
}
