/*
 * mock/tokens.c - counts requests per token: a hash table with chains, and a queue of all its
 * entries.
 */
#include "mock/tokens.h"

#include <errno.h>
#include <string.h>

#include "eddy/alloc.h"
#include "mock/model.h"

struct ed_tokens_entry {
        struct ed_tokens_entry *next;  /* in its chain */
        struct ed_tokens_entry *newer; /* in the queue */
        uint32_t chain;
        uint32_t requests;
        size_t bytes;
        char token[];
};

static uint32_t chain_of(const char *token, size_t bytes)
{
        return (uint32_t) (ed_model_hash(ED_MODEL_HASH, token, bytes) % ED_TOKENS_CHAINS);
}

static void forget_oldest(struct ed_tokens *tokens)
{
        struct ed_tokens_entry *entry = tokens->oldest;
        struct ed_tokens_entry **at = &tokens->chains[entry->chain];

        while (*at != entry)
                at = &(*at)->next;
        *at = entry->next;
        tokens->oldest = entry->newer;
        if (!tokens->oldest)
                tokens->newest = NULL;
        tokens->count--;
        eddy_free(entry);
}

void ed_tokens_fini(struct ed_tokens *tokens)
{
        while (tokens->oldest)
                forget_oldest(tokens);
}

static struct ed_tokens_entry *entry_add(struct ed_tokens *tokens, const char *token, size_t bytes,
                                         uint32_t chain)
{
        struct ed_tokens_entry *entry = eddy_malloc(sizeof(*entry) + bytes);

        if (!entry)
                return NULL;
        *entry = (struct ed_tokens_entry){ .next = tokens->chains[chain],
                                           .chain = chain,
                                           .bytes = bytes };
        memcpy(entry->token, token, bytes);
        if (tokens->count == ED_TOKENS_MAX) {
                forget_oldest(tokens);
                entry->next = tokens->chains[chain]; /* the dropped entry may have been first */
        }
        tokens->chains[chain] = entry;
        if (tokens->newest)
                tokens->newest->newer = entry;
        else
                tokens->oldest = entry;
        tokens->newest = entry;
        tokens->count++;
        return entry;
}

int ed_tokens_count(struct ed_tokens *tokens, const char *token, size_t bytes, uint32_t *ret_before)
{
        struct ed_tokens_entry *entry;
        uint32_t chain;

        if (bytes > ED_TOKEN_BYTES_MAX)
                return -EINVAL;
        chain = chain_of(token, bytes);
        for (entry = tokens->chains[chain]; entry; entry = entry->next) {
                if (entry->bytes == bytes && memcmp(entry->token, token, bytes) == 0)
                        break;
        }
        if (!entry)
                entry = entry_add(tokens, token, bytes, chain);
        if (!entry)
                return -ENOMEM;
        *ret_before = entry->requests;
        if (entry->requests < UINT32_MAX)
                entry->requests++;
        return 0;
}
