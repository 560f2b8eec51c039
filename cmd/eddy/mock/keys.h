/*
 * mock/keys.h - limits that are counted for each API key: requests and tokens per minute, and a
 * quota of requests.
 *
 * At most ED_KEYS_MAX keys are kept; the least recently used key is dropped first. Keys are
 * compared by a hash of 64 bits.
 */
#ifndef ED_CMD_MOCK_KEYS_H
#define ED_CMD_MOCK_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "mock/bucket.h"

enum { ED_KEYS_MAX = 256, ED_RESET_TEXT_BYTES = 32 };

/* 0: no limit. */
struct ed_limits {
        uint32_t rpm; /* requests per minute */
        uint32_t tpm; /* tokens per minute */
        uint32_t quota;
};

struct ed_key {
        uint64_t hash;
        uint64_t used; /* number of its last use */
        uint64_t served;
        struct ed_bucket requests;
        struct ed_bucket tokens;
};

/* All zero: an empty table. */
struct ed_keys {
        struct ed_key keys[ED_KEYS_MAX];
        uint32_t count;
        uint64_t uses;
};

/* Returns the entry for a key, which may be a new entry. It is valid until the next call. */
struct ed_key *ed_keys_find(struct ed_keys *keys, const struct ed_limits *limits, const char *key,
                            size_t bytes, int64_t now_ns);

/* Print a time as the headers of OpenAI do: "12ms", "1.5s", "6m0s", "2h0m0s". */
void ed_reset_print(int64_t reset_ns, char text[ED_RESET_TEXT_BYTES]);

#endif
