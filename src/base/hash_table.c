/*
 * base/hash_table.c - slots with chains; as many slots as members, or more.
 */
#include "base/hash_table.h"

#include <errno.h>

#include "base/alloc.h"

enum { SLOTS_FIRST = 16 };

void ed_hash_table_fini(struct ed_hash_table *table)
{
        ed_free(table->slots);
        *table = (struct ed_hash_table){ .is_debug = table->is_debug };
}

static struct ed_hash_node **slot_of(struct ed_hash_table *table, uint64_t hash)
{
        return table->slots ? &table->slots[hash & (table->slots_count - 1)] : &table->only;
}

static void chain_move(struct ed_hash_table *table, struct ed_hash_node *node)
{
        struct ed_hash_node **slot, *next;

        for (; node; node = next) {
                next = node->next;
                slot = slot_of(table, node->hash);
                node->next = *slot;
                *slot = node;
        }
}

/* Errors: -ENOMEM */
static int grow(struct ed_hash_table *table, size_t slots_count)
{
        struct ed_hash_table grown = { .slots_count = slots_count,
                                       .count = table->count,
                                       .is_debug = table->is_debug };
        size_t bytes = slots_count * sizeof(struct ed_hash_node *);

        grown.slots = table->is_debug ? ed_alloc_debug(bytes) : ed_alloc_zero(bytes);
        if (!grown.slots)
                return -ENOMEM;
        chain_move(&grown, table->only);
        for (size_t i = 0; i < table->slots_count; i++)
                chain_move(&grown, table->slots[i]);
        ed_free(table->slots);
        *table = grown;
        return 0;
}

int ed_hash_table_reserve(struct ed_hash_table *table, size_t count)
{
        size_t slots_count = table->slots_count ? table->slots_count : SLOTS_FIRST;

        while (slots_count < count)
                slots_count *= 2;
        return slots_count > table->slots_count ? grow(table, slots_count) : 0;
}

void ed_hash_table_add(struct ed_hash_table *table, struct ed_hash_node *node, uint64_t hash)
{
        struct ed_hash_node **slot;

        if (table->count >= table->slots_count)
                (void) grow(table, table->slots_count ? 2 * table->slots_count : SLOTS_FIRST);
        slot = slot_of(table, hash);
        node->hash = hash;
        node->next = *slot;
        *slot = node;
        table->count++;
}

void ed_hash_table_remove(struct ed_hash_table *table, struct ed_hash_node *node)
{
        struct ed_hash_node **at = slot_of(table, node->hash);

        while (*at != node)
                at = &(*at)->next;
        *at = node->next;
        table->count--;
}

struct ed_hash_node *ed_hash_table_next(const struct ed_hash_table *table,
                                        const struct ed_hash_node *node)
{
        size_t i = 0;

        if (node && node->next)
                return node->next;
        if (!table->slots)
                return node ? NULL : table->only;
        if (node)
                i = (size_t) (node->hash & (table->slots_count - 1)) + 1;
        while (i < table->slots_count && !table->slots[i])
                i++;
        return i < table->slots_count ? table->slots[i] : NULL;
}
