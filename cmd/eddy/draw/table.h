/*
 * draw/table.h - growing arrays, and a table from pairs of numbers to a number. No I/O.
 */
#ifndef ED_CMD_DRAW_TABLE_H
#define ED_CMD_DRAW_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "common/hash_map.h"
#include "eddy/def.h"

/* No item, event or node. */
#define ED_DRAW_NONE UINT32_MAX

/*
 * Make room for an item after 'count' items of 'size' bytes in the array '*items', which has room
 * for '*room'.
 *
 * Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_draw_grow(void *items, uint32_t *room, uint32_t count, size_t size);

/* A zeroed table is empty. */
struct ed_draw_table {
        struct ed_hash_map cells;
};

void ed_draw_table_fini(struct ed_draw_table *table);

/* Returns the value of a pair, or ED_DRAW_NONE. */
uint32_t ed_draw_table_get(const struct ed_draw_table *table, uint64_t first, uint64_t second);

/*
 * Set the value of a pair.
 *
 * Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_draw_table_set(struct ed_draw_table *table, uint64_t first, uint64_t second,
                                    uint32_t value);

#endif
