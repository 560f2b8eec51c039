/*
 * io/dns_table.h - a hash table from host names to the structs that embed its nodes.
 *
 * The seed is random, so an attacker cannot choose names that collide.
 */
#ifndef ED_IO_DNS_TABLE_H
#define ED_IO_DNS_TABLE_H

#include <stdint.h>

#include "base/def.h"

enum { ED_DNS_BUCKETS = 256 };

struct ed_dns_node {
        struct ed_dns_node *next;
        uint64_t hash;
        const char *name; /* borrowed: must live as long as the node */
};

struct ed_dns_table {
        uint64_t seed;
        struct ed_dns_node *buckets[ED_DNS_BUCKETS];
};

void ed_dns_table_init(struct ed_dns_table *table, uint64_t seed);

/* Returns the node of that name, or NULL. */
struct ed_dns_node *ed_dns_table_find(const struct ed_dns_table *table, const char *name);

/* Add a node by its name, which must not be in the table, and set the node's hash. */
void ed_dns_table_add(struct ed_dns_table *table, struct ed_dns_node *node);

void ed_dns_table_remove(struct ed_dns_table *table, struct ed_dns_node *node);

#endif
