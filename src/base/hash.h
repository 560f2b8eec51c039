/*
 * base/hash.h - hashes for tables and checksums. They do not protect: a peer that chooses the bytes,
 * and knows the seed, can find others with the same hash.
 */
#ifndef ED_BASE_HASH_H
#define ED_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The hash of no bytes. */
#define ED_HASH_EMPTY UINT64_C(0xcbf29ce484222325)

/* Continue a hash with more bytes: FNV-1a, 64 bits. */
static inline uint64_t ed_hash(uint64_t hash, const void *data, size_t bytes)
{
        const unsigned char *at = data;

        for (size_t i = 0; i < bytes; i++)
                hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
        return hash;
}

/*
 * Returns the hash of a text. With a random seed, a peer cannot choose texts that collide. The hash is
 * mixed again so that its low bits depend on all bits.
 */
static inline uint64_t ed_hash_text(uint64_t seed, const char *text)
{
        uint64_t hash = ed_hash(seed ^ ED_HASH_EMPTY, text, strlen(text));

        hash ^= hash >> 32;
        hash *= UINT64_C(0xd6e8feb86659fd93);
        return hash ^ hash >> 32;
}

/* Returns the hash of a number. */
static inline uint64_t ed_hash_number(uint64_t number)
{
        number *= UINT64_C(0x9e3779b97f4a7c15);
        return number ^ number >> 32;
}

/* Returns the hash of an address. */
static inline uint64_t ed_hash_address(const void *thing)
{
        return ed_hash_number((uint64_t) (uintptr_t) thing);
}

#endif
