/*
 * io/dns_table.c - a hash table of host names, for the cache and for lookups in progress.
 */
#include "io/dns_table.h"

#include <string.h>

#include "base/hash.h"

/* Mixed again so that its low bits depend on all bits. */
static uint64_t hash_of(const struct ed_dns_table *table, const char *name)
{
        uint64_t hash = ed_hash(table->seed ^ ED_HASH_EMPTY, name, strlen(name));

        hash ^= hash >> 32;
        hash *= 0xd6e8feb86659fd93u;
        return hash ^ hash >> 32;
}

void ed_dns_table_init(struct ed_dns_table *table, uint64_t seed)
{
        *table = (struct ed_dns_table){ .seed = seed };
}

struct ed_dns_node *ed_dns_table_find(const struct ed_dns_table *table, const char *name)
{
        uint64_t hash = hash_of(table, name);
        struct ed_dns_node *node = table->buckets[hash % ED_DNS_BUCKETS];

        while (node && (node->hash != hash || strcmp(node->name, name) != 0))
                node = node->next;
        return node;
}

void ed_dns_table_add(struct ed_dns_table *table, struct ed_dns_node *node)
{
        struct ed_dns_node **bucket;

        node->hash = hash_of(table, node->name);
        bucket = &table->buckets[node->hash % ED_DNS_BUCKETS];
        node->next = *bucket;
        *bucket = node;
}

void ed_dns_table_remove(struct ed_dns_table *table, struct ed_dns_node *node)
{
        struct ed_dns_node **place = &table->buckets[node->hash % ED_DNS_BUCKETS];

        while (*place != node)
                place = &(*place)->next;
        *place = node->next;
}
