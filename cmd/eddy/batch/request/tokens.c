/*
 * batch/request/tokens.c - the estimate, the average and the price of tokens.
 */
#include "batch/request/tokens.h"

#include <errno.h>
#include <string.h>

#include "batch/answer/usage.h"

#define HIGH_BITS 0x8080808080808080u

enum {
        BYTES_PER_TOKEN = 4,
        HIGH_BYTES_PER_TOKEN = 2,
        MEAN_SCALE = 1024,
        MEAN_SPAN = 32, /* an answer's weight is 1/32, after the first 32 answers */
        MICRO = 1000000,
        PRICE_DECIMALS = 6,
};

static uint64_t sum_of(uint64_t a, uint64_t b)
{
        return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t product_of(uint64_t a, uint64_t b)
{
        return b > 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static uint64_t quotient_of(uint64_t bytes, uint64_t each)
{
        return bytes / each + (bytes % each > 0);
}

/* Count the bytes of characters that are not ASCII. */
static uint64_t high_count(const char *text, size_t bytes)
{
        uint64_t count = 0, eight;
        size_t i = 0;

        for (; i + sizeof(eight) <= bytes; i += sizeof(eight)) {
                memcpy(&eight, text + i, sizeof(eight));
                count += (uint64_t) __builtin_popcountll(eight & HIGH_BITS);
        }
        for (; i < bytes; i++)
                count += (unsigned char) text[i] >> 7;
        return count;
}

uint64_t ed_tokens_estimate(const struct ed_request *request)
{
        uint64_t high = high_count(request->body, request->body_bytes);

        return sum_of(quotient_of(request->body_bytes - high, BYTES_PER_TOKEN) +
                              quotient_of(high, HIGH_BYTES_PER_TOKEN),
                      request->output_tokens_max);
}

/* ---- the average ------------------------------------------------------------------------------ */

void ed_tokens_mean_add(struct ed_tokens_mean *mean, uint64_t tokens)
{
        uint64_t scaled =
                (tokens < ED_USAGE_TOKENS_MAX ? tokens : ED_USAGE_TOKENS_MAX) * MEAN_SCALE;

        if (mean->count < MEAN_SPAN)
                mean->count++;
        if (scaled >= mean->scaled)
                mean->scaled += (scaled - mean->scaled) / mean->count;
        else
                mean->scaled -= (mean->scaled - scaled) / mean->count;
}

uint64_t ed_tokens_mean(const struct ed_tokens_mean *mean)
{
        return (mean->scaled + MEAN_SCALE - 1) / MEAN_SCALE;
}

/* ---- the price -------------------------------------------------------------------------------- */

/* Read a decimal number as millionths. Returns the text after it, or NULL. */
static const char *amount_read(const char *text, uint64_t *ret_micro, const char **ret_why)
{
        const uint64_t max = (uint64_t) ED_PRICE_UNITS_MAX * MICRO;
        uint64_t value = 0, place = MICRO;
        size_t digits = strspn(text, "0123456789"), decimals = 0;

        *ret_why = "is not two prices of a million tokens";
        if (digits == 0)
                return NULL;
        for (; digits > 0; digits--, text++) {
                value = value * 10 + (uint64_t) (*text - '0') * MICRO;
                if (value > max)
                        goto fail_range;
        }
        if (*text != '.')
                goto done;
        text++;
        decimals = strspn(text, "0123456789");
        if (decimals == 0)
                return NULL;
        if (decimals > PRICE_DECIMALS) {
                *ret_why = "has more than 6 decimals";
                return NULL;
        }
        for (; decimals > 0; decimals--, text++) {
                place /= 10;
                value += (uint64_t) (*text - '0') * place;
        }
        if (value > max)
                goto fail_range;
done:
        *ret_micro = value;
        return text;

fail_range:
        *ret_why = "has a price above 1000000";
        return NULL;
}

int ed_price_parse(const char *text, struct ed_price *ret_price, const char **ret_why)
{
        struct ed_price price;

        text = amount_read(text, &price.input, ret_why);
        if (!text || *text != '/')
                return -EINVAL;
        text = amount_read(text + 1, &price.output, ret_why);
        if (!text || *text != '\0')
                return -EINVAL;
        *ret_price = price;
        return 0;
}

int ed_price_amount_parse(const char *text, uint64_t *ret_micro)
{
        const char *why;
        uint64_t micro;

        text = amount_read(text, &micro, &why);
        if (!text || *text != '\0')
                return -EINVAL;
        *ret_micro = micro;
        return 0;
}

uint64_t ed_tokens_cost(const struct ed_price *price, uint64_t input, uint64_t output)
{
        /* Tokens beyond whole millions: at most 2 * 10^6 * 10^12, which fits. */
        uint64_t rest = input % MICRO * price->input + output % MICRO * price->output;
        uint64_t whole = sum_of(product_of(input / MICRO, price->input),
                                product_of(output / MICRO, price->output));

        return sum_of(whole, (rest + MICRO / 2) / MICRO);
}
