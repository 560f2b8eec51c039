/*
 * common/bits.h - a set of numbers from 0, in a bit for each number up to the largest. No I/O.
 */
#ifndef ED_CMD_COMMON_BITS_H
#define ED_CMD_COMMON_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eddy/def.h"

/* A zeroed set is empty. */
struct ed_bits {
        uint8_t *data; /* owned */
        size_t bytes;
};

void ed_bits_fini(struct ed_bits *bits);

/* Add a number. Returns 1, or 0 if the set has it already. Errors: -ENOMEM */
EDDY_MUST_USE int ed_bits_add(struct ed_bits *bits, uint64_t number);

bool ed_bits_has(const struct ed_bits *bits, uint64_t number);

#endif
