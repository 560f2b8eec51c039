/*
 * batch/request/tokens.h - estimates the tokens of a request, averages tokens, and computes their
 * cost. batch/answer/usage.h reads the tokens of an answer. No I/O.
 */
#ifndef ED_CMD_BATCH_REQUEST_TOKENS_H
#define ED_CMD_BATCH_REQUEST_TOKENS_H

#include <stddef.h>
#include <stdint.h>

#include "batch/request/request.h"
#include "eddy/def.h"

/* The largest price, and the largest amount, in units of a currency. */
enum { ED_PRICE_UNITS_MAX = 1000000 };

/*
 * Returns an estimate of the tokens of a request: a quarter of the bytes of its body that are ASCII,
 * half of the others, because a character of Chinese has 3 bytes and about one token; and its
 * output_tokens_max. If the request gives no maximum, the caller adds ed_tokens_mean().
 */
uint64_t ed_tokens_estimate(const struct ed_request *request);

/* The average output of answers, in which newer answers have more weight. Zero: no answers yet. */
struct ed_tokens_mean {
        uint64_t scaled; /* the average, times 1024 */
        uint32_t count;  /* answers, up to the number that the average spans */
};

void ed_tokens_mean_add(struct ed_tokens_mean *mean, uint64_t tokens);

/* Returns the average, rounded up, or 0 before the first answer. */
uint64_t ed_tokens_mean(const struct ed_tokens_mean *mean);

/* Millionths of a unit of a currency, for a million tokens. */
struct ed_price {
        uint64_t input;
        uint64_t output;
};

/*
 * Parse "IN/OUT": two decimal numbers with at most 6 decimals, each up to ED_PRICE_UNITS_MAX.
 *
 * Errors: -EINVAL, and '*ret_why' is a short explanation
 */
EDDY_MUST_USE int ed_price_parse(const char *text, struct ed_price *ret_price,
                                 const char **ret_why);

/*
 * Parse one such number to millionths of a unit.
 *
 * Errors: -EINVAL
 */
EDDY_MUST_USE int ed_price_amount_parse(const char *text, uint64_t *ret_micro);

/*
 * Returns the cost in millionths of a unit, rounded once to the nearest, or UINT64_MAX if it is
 * larger. For the cost of a run, pass the sums of its tokens, and do not add the costs of its
 * answers.
 */
uint64_t ed_tokens_cost(const struct ed_price *price, uint64_t input, uint64_t output);

#endif
