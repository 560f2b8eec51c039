/*
 * mock/tokens.h - how often each token has been requested.
 *
 * At most ED_FLAKY_TOKENS_MAX tokens are kept; the oldest is dropped first.
 */
#ifndef ED_CMD_MOCK_TOKENS_H
#define ED_CMD_MOCK_TOKENS_H

#include <stddef.h>
#include <stdint.h>

#include "eddy/def.h"

enum { ED_FLAKY_TOKENS_MAX = 10000, ED_FLAKY_TOKEN_BYTES_MAX = 128, ED_FLAKY_CHAINS = 4096 };

struct ed_flaky_entry;

/* All zero: an empty table. */
struct ed_flaky {
        struct ed_flaky_entry *chains[ED_FLAKY_CHAINS];
        struct ed_flaky_entry *oldest;
        struct ed_flaky_entry *newest;
        uint32_t count;
};

void ed_flaky_fini(struct ed_flaky *flaky);

/*
 * Count a request with the token of 'bytes' bytes, and return the number of earlier ones.
 *
 * Errors: -EINVAL  longer than ED_FLAKY_TOKEN_BYTES_MAX
 *         -ENOMEM
 */
EDDY_MUST_USE int ed_flaky_count(struct ed_flaky *flaky, const char *token, size_t bytes,
                                 uint32_t *ret_before);

#endif
