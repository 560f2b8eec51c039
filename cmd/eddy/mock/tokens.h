/*
 * mock/tokens.h - counts the requests with each token, for /flaky/N?token=T in routes.c.
 *
 * At most ED_TOKENS_MAX tokens are kept; the oldest is dropped first.
 */
#ifndef ED_CMD_MOCK_TOKENS_H
#define ED_CMD_MOCK_TOKENS_H

#include <stddef.h>
#include <stdint.h>

#include "common/hash_map.h"
#include "eddy/def.h"

enum { ED_TOKENS_MAX = 10000, ED_TOKEN_BYTES_MAX = 128 };

struct ed_tokens_entry;

/* All zero: an empty table. */
struct ed_tokens {
        struct ed_hash_map map;
        struct ed_tokens_entry *oldest;
        struct ed_tokens_entry *newest;
};

void ed_tokens_fini(struct ed_tokens *tokens);

/*
 * Count a request with a token of 'bytes' bytes, and store the number of its earlier requests.
 *
 * Errors: -EINVAL  longer than ED_TOKEN_BYTES_MAX
 *         -ENOMEM
 */
EDDY_MUST_USE int ed_tokens_count(struct ed_tokens *tokens, const char *token, size_t bytes,
                                  uint32_t *ret_before);

#endif
