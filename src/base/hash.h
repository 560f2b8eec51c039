/*
 * base/hash.h - the hash FNV-1a of 64 bits, for tables and checksums. It does not protect: a peer
 * that chooses the bytes can find others with the same hash.
 */
#ifndef ED_BASE_HASH_H
#define ED_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The hash of no bytes. */
#define ED_HASH_EMPTY UINT64_C(0xcbf29ce484222325)

/* Continue a hash with more bytes. */
static inline uint64_t ed_hash(uint64_t hash, const void *data, size_t bytes)
{
        const unsigned char *at = data;

        for (size_t i = 0; i < bytes; i++)
                hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
        return hash;
}

#endif
