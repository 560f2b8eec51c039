/*
 * draw/table.c - see table.h.
 */
#include "draw/table.h"

#include <errno.h>
#include <string.h>

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

struct cell {
        struct ed_hash_link link;
        uint64_t first, second;
        uint32_t value;
};

static uint64_t pair_hash(uint64_t first, uint64_t second)
{
        const uint64_t pair[] = { first, second };

        return ed_hash_map_hash(pair, sizeof(pair));
}

static struct cell *cell_find(const struct ed_draw_table *table, uint64_t first, uint64_t second,
                              uint64_t hash)
{
        ed_hash_map_each (link, &table->cells, hash) {
                struct cell *cell = (struct cell *) link;

                if (cell->first == first && cell->second == second)
                        return cell;
        }
        return NULL;
}

void ed_draw_table_fini(struct ed_draw_table *table)
{
        ed_hash_map_free(&table->cells);
}

uint32_t ed_draw_table_get(const struct ed_draw_table *table, uint64_t first, uint64_t second)
{
        const struct cell *cell = cell_find(table, first, second, pair_hash(first, second));

        return cell ? cell->value : ED_DRAW_NONE;
}

int ed_draw_table_set(struct ed_draw_table *table, uint64_t first, uint64_t second, uint32_t value)
{
        uint64_t hash = pair_hash(first, second);
        struct cell *cell = cell_find(table, first, second, hash);

        if (!cell) {
                cell = eddy_malloc(sizeof(*cell));
                if (!cell)
                        return -ENOMEM;
                cell->first = first;
                cell->second = second;
                ed_hash_map_add(&table->cells, &cell->link, hash);
        }
        cell->value = value;
        return 0;
}
