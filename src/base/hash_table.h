/*
 * base/hash_table.h - the hash table of the library: its nodes are embedded in its members, which the
 * caller compares.
 *
 *     ed_hash_each (node, &table, hash)
 *             if (is_wanted(ed_container_of(node, struct thing, node)))
 *                     ...
 *
 * A table grows with its members and never shrinks. Adding cannot fail: without memory for more
 * slots the table only gets slower.
 */
#ifndef ED_BASE_HASH_TABLE_H
#define ED_BASE_HASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/def.h"
#include "base/hash.h"
#include "base/list.h"

struct ed_hash_node {
        struct ed_hash_node *next; /* in its slot */
        uint64_t hash;
};

/* An empty table is zero, except for 'is_debug'. */
struct ed_hash_table {
        struct ed_hash_node **slots; /* NULL: all members are in 'only' */
        struct ed_hash_node *only;
        size_t slots_count; /* 0 or a power of two */
        size_t count;
        bool is_debug; /* its memory is needed only by debug mode (base/alloc.h) */
};

/* Free the table's own memory, and make it empty. Its members are the caller's. */
ED_SHARED void ed_hash_table_fini(struct ed_hash_table *table);

/*
 * Make room for 'count' members, so that adding them allocates nothing.
 *
 * Errors: -ENOMEM  the table is as before
 */
EDDY_MUST_USE ED_SHARED int ed_hash_table_reserve(struct ed_hash_table *table, size_t count);

/* Add a node. The low bits of its hash should depend on the whole key. */
ED_SHARED void ed_hash_table_add(struct ed_hash_table *table, struct ed_hash_node *node,
                                 uint64_t hash);

/* Remove a node of the table. */
ED_SHARED void ed_hash_table_remove(struct ed_hash_table *table, struct ed_hash_node *node);

/*
 * Walk all nodes in no particular order: returns the node after 'node', or the first if 'node' is
 * NULL, or NULL after the last. No node may be added during a walk.
 */
ED_SHARED struct ed_hash_node *ed_hash_table_next(const struct ed_hash_table *table,
                                                  const struct ed_hash_node *node);

/* Returns 'node' or the next in its slot that has the hash, or NULL. */
static inline struct ed_hash_node *ed_hash_node_with(struct ed_hash_node *node, uint64_t hash)
{
        while (node && node->hash != hash)
                node = node->next;
        return node;
}

/* Returns a node that has the hash, or NULL. */
static inline struct ed_hash_node *ed_hash_table_find(const struct ed_hash_table *table,
                                                      uint64_t hash)
{
        return ed_hash_node_with(
                table->slots ? table->slots[hash & (table->slots_count - 1)] : table->only, hash);
}

/* Walks the nodes that have a hash; the current node must stay in the table. */
#define ed_hash_each(node, table, wanted)                                                          \
        for (struct ed_hash_node *node = ed_hash_table_find(table, wanted); node;                  \
             node = ed_hash_node_with(node->next, wanted))

/* Walks all nodes; the current node may be removed. */
#define ed_hash_table_each_safe(node, table)                                                       \
        for (struct ed_hash_node *node = ed_hash_table_next(table, NULL),                          \
                                 *node##_next = node ? ed_hash_table_next(table, node) : NULL;     \
             node;                                                                                 \
             node = node##_next, node##_next = node ? ed_hash_table_next(table, node) : NULL)

#endif
