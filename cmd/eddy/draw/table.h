/*
 * draw/table.h - growing arrays, and a table from pairs of numbers to a number. No I/O.
 */
#ifndef ED_CMD_DRAW_TABLE_H
#define ED_CMD_DRAW_TABLE_H

#include <stddef.h>
#include <stdint.h>

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

/* Returns a hash with the seed of this process. */
uint64_t ed_draw_hash(const void *data, size_t bytes);

struct ed_draw_cell {
        uint64_t first, second;
        uint32_t value; /* ED_DRAW_NONE: the cell is free */
};

/* A zeroed table is empty. */
struct ed_draw_table {
        struct ed_draw_cell *cells;
        uint32_t room; /* a power of two */
        uint32_t count;
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
