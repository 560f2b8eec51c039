/*
 * mock/tokens.c - counts requests per token: a map, and a queue of all its entries.
 */
#include "mock/tokens.h"

#include <errno.h>
#include <string.h>

#include "eddy/alloc.h"

struct ed_tokens_entry {
        struct ed_hash_link link;
        struct ed_tokens_entry *newer; /* in the queue */
        uint32_t requests;
        size_t bytes;
        char token[];
};

static void forget_oldest(struct ed_tokens *tokens)
{
        struct ed_tokens_entry *entry = tokens->oldest;

        ed_hash_map_remove(&tokens->map, &entry->link);
        tokens->oldest = entry->newer;
        if (!tokens->oldest)
                tokens->newest = NULL;
        eddy_free(entry);
}

void ed_tokens_fini(struct ed_tokens *tokens)
{
        while (tokens->oldest)
                forget_oldest(tokens);
        ed_hash_map_fini(&tokens->map);
}

static struct ed_tokens_entry *entry_find(const struct ed_tokens *tokens, const char *token,
                                          size_t bytes, uint64_t hash)
{
        ed_hash_map_each (link, &tokens->map, hash) {
                struct ed_tokens_entry *entry = (struct ed_tokens_entry *) link;

                if (entry->bytes == bytes && memcmp(entry->token, token, bytes) == 0)
                        return entry;
        }
        return NULL;
}

static struct ed_tokens_entry *entry_add(struct ed_tokens *tokens, const char *token, size_t bytes,
                                         uint64_t hash)
{
        struct ed_tokens_entry *entry = eddy_malloc(sizeof(*entry) + bytes);

        if (!entry)
                return NULL;
        *entry = (struct ed_tokens_entry){ .bytes = bytes };
        memcpy(entry->token, token, bytes);
        if (tokens->map.count == ED_TOKENS_MAX)
                forget_oldest(tokens);
        ed_hash_map_add(&tokens->map, &entry->link, hash);
        if (tokens->newest)
                tokens->newest->newer = entry;
        else
                tokens->oldest = entry;
        tokens->newest = entry;
        return entry;
}

int ed_tokens_count(struct ed_tokens *tokens, const char *token, size_t bytes, uint32_t *ret_before)
{
        struct ed_tokens_entry *entry;
        uint64_t hash;

        if (bytes > ED_TOKEN_BYTES_MAX)
                return -EINVAL;
        hash = ed_hash_map_hash(token, bytes);
        entry = entry_find(tokens, token, bytes, hash);
        if (!entry)
                entry = entry_add(tokens, token, bytes, hash);
        if (!entry)
                return -ENOMEM;
        *ret_before = entry->requests;
        if (entry->requests < UINT32_MAX)
                entry->requests++;
        return 0;
}
