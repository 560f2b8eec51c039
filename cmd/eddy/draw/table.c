/*
 * draw/table.c - open addressing with linear probing.
 */
#include "draw/table.h"

#include <errno.h>
#include <string.h>
#include <xxhash.h>

#include "common/random.h"
#include "eddy/alloc.h"

enum { ROOM_FIRST = 64 };

int ed_draw_grow(void *items, uint32_t *room, uint32_t count, size_t size)
{
        uint32_t grown = *room ? 2 * *room : ROOM_FIRST;
        void *old, *moved;

        if (count < *room)
                return 0;
        memcpy(&old, items, sizeof(old));
        moved = eddy_realloc(old, grown * size);
        if (!moved)
                return -ENOMEM;
        memcpy(items, &moved, sizeof(moved));
        *room = grown;
        return 0;
}

/* The author of a hostile file does not know the seed, and so cannot choose numbers that collide. */
uint64_t ed_draw_hash(const void *data, size_t bytes)
{
        static uint64_t seed;
        struct ed_random random;

        if (seed == 0) {
                ed_random_init(&random);
                seed = ed_random_next(&random) | 1;
        }
        return XXH3_64bits_withSeed(data, bytes, seed);
}

/* Returns the cell of a pair, or the free cell where it belongs. */
static struct ed_draw_cell *cell_find(const struct ed_draw_table *table, uint64_t first,
                                      uint64_t second)
{
        const uint64_t pair[] = { first, second };
        uint64_t at = ed_draw_hash(pair, sizeof(pair));

        for (;; at++) {
                struct ed_draw_cell *cell = &table->cells[at & (table->room - 1)];

                if (cell->value == ED_DRAW_NONE || (cell->first == first && cell->second == second))
                        return cell;
        }
}

void ed_draw_table_fini(struct ed_draw_table *table)
{
        eddy_free(table->cells);
        memset(table, 0, sizeof(*table));
}

uint32_t ed_draw_table_get(const struct ed_draw_table *table, uint64_t first, uint64_t second)
{
        return table->room ? cell_find(table, first, second)->value : ED_DRAW_NONE;
}

static int table_grow(struct ed_draw_table *table)
{
        struct ed_draw_table grown = { .room = table->room ? 2 * table->room : ROOM_FIRST,
                                       .count = table->count };

        grown.cells = eddy_malloc(grown.room * sizeof(*grown.cells));
        if (!grown.cells)
                return -ENOMEM;
        for (uint32_t i = 0; i < grown.room; i++)
                grown.cells[i].value = ED_DRAW_NONE;
        for (uint32_t i = 0; i < table->room; i++) {
                const struct ed_draw_cell *cell = &table->cells[i];

                if (cell->value != ED_DRAW_NONE)
                        *cell_find(&grown, cell->first, cell->second) = *cell;
        }
        eddy_free(table->cells);
        *table = grown;
        return 0;
}

int ed_draw_table_set(struct ed_draw_table *table, uint64_t first, uint64_t second, uint32_t value)
{
        struct ed_draw_cell *cell;

        if (2 * table->count >= table->room && table_grow(table) < 0)
                return -ENOMEM;
        cell = cell_find(table, first, second);
        table->count += cell->value == ED_DRAW_NONE;
        *cell = (struct ed_draw_cell){ first, second, value };
        return 0;
}
