/*
 * mock/tokens.c - a hash table with chains, and a queue of all its entries.
 */
#include "mock/tokens.h"

#include <errno.h>
#include <string.h>

#include "eddy/alloc.h"

struct ed_flaky_entry {
        struct ed_flaky_entry *next;  /* in its chain */
        struct ed_flaky_entry *newer; /* in the queue */
        uint32_t chain;
        uint32_t requests;
        size_t bytes;
        char token[];
};

/* FNV-1a. */
static uint32_t chain_of(const char *token, size_t bytes)
{
        uint32_t hash = 2166136261u;

        for (size_t i = 0; i < bytes; i++)
                hash = (hash ^ (unsigned char) token[i]) * 16777619u;
        return hash % ED_FLAKY_CHAINS;
}

static void forget_oldest(struct ed_flaky *flaky)
{
        struct ed_flaky_entry *entry = flaky->oldest;
        struct ed_flaky_entry **at = &flaky->chains[entry->chain];

        while (*at != entry)
                at = &(*at)->next;
        *at = entry->next;
        flaky->oldest = entry->newer;
        if (!flaky->oldest)
                flaky->newest = NULL;
        flaky->count--;
        eddy_free(entry);
}

void ed_flaky_fini(struct ed_flaky *flaky)
{
        while (flaky->oldest)
                forget_oldest(flaky);
}

static struct ed_flaky_entry *entry_add(struct ed_flaky *flaky, const char *token, size_t bytes,
                                        uint32_t chain)
{
        struct ed_flaky_entry *entry = eddy_malloc(sizeof(*entry) + bytes);

        if (!entry)
                return NULL;
        *entry = (struct ed_flaky_entry){ .next = flaky->chains[chain],
                                          .chain = chain,
                                          .bytes = bytes };
        memcpy(entry->token, token, bytes);
        if (flaky->count == ED_FLAKY_TOKENS_MAX) {
                forget_oldest(flaky);
                entry->next = flaky->chains[chain]; /* the dropped entry may have been first */
        }
        flaky->chains[chain] = entry;
        if (flaky->newest)
                flaky->newest->newer = entry;
        else
                flaky->oldest = entry;
        flaky->newest = entry;
        flaky->count++;
        return entry;
}

int ed_flaky_count(struct ed_flaky *flaky, const char *token, size_t bytes, uint32_t *ret_before)
{
        struct ed_flaky_entry *entry;
        uint32_t chain;

        if (bytes > ED_FLAKY_TOKEN_BYTES_MAX)
                return -EINVAL;
        chain = chain_of(token, bytes);
        for (entry = flaky->chains[chain]; entry; entry = entry->next) {
                if (entry->bytes == bytes && memcmp(entry->token, token, bytes) == 0)
                        break;
        }
        if (!entry)
                entry = entry_add(flaky, token, bytes, chain);
        if (!entry)
                return -ENOMEM;
        *ret_before = entry->requests;
        if (entry->requests < UINT32_MAX)
                entry->requests++;
        return 0;
}
