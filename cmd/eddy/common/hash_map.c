/*
 * common/hash_map.c - slots with chains; as many slots as members, or more.
 */
#include "common/hash_map.h"

#include <string.h>
#include <xxhash.h>

#include "common/random.h"
#include "eddy/alloc.h"

enum { SLOTS_FIRST = 16 };

uint64_t ed_hash_map_hash(const void *data, size_t bytes)
{
        static uint64_t seed;
        struct ed_random random;

        if (seed == 0) {
                ed_random_init(&random);
                seed = ed_random_next(&random) | 1;
        }
        return XXH3_64bits_withSeed(data, bytes, seed);
}

void ed_hash_map_fini(struct ed_hash_map *map)
{
        eddy_free(map->slots);
        memset(map, 0, sizeof(*map));
}

static struct ed_hash_link **slot_of(struct ed_hash_map *map, uint64_t hash)
{
        return map->slots ? &map->slots[hash & (map->slots_count - 1)] : &map->only;
}

static void link_add(struct ed_hash_map *map, struct ed_hash_link *link)
{
        struct ed_hash_link **slot = slot_of(map, link->hash);

        link->next = *slot;
        *slot = link;
        map->count++;
}

static struct ed_hash_link *chain_of(const struct ed_hash_map *map, size_t i)
{
        return map->slots ? map->slots[i] : map->only;
}

static void grow(struct ed_hash_map *map)
{
        size_t chains = map->slots ? map->slots_count : 1;
        struct ed_hash_map grown = { .slots_count = map->slots ? 2 * chains : SLOTS_FIRST };
        struct ed_hash_link *link, *next;

        grown.slots = eddy_malloc(grown.slots_count * sizeof(struct ed_hash_link *));
        if (!grown.slots)
                return;
        memset(grown.slots, 0, grown.slots_count * sizeof(struct ed_hash_link *));
        for (size_t i = 0; i < chains; i++) {
                for (link = chain_of(map, i); link; link = next) {
                        next = link->next;
                        link_add(&grown, link);
                }
        }
        eddy_free(map->slots);
        *map = grown;
}

void ed_hash_map_free(struct ed_hash_map *map)
{
        size_t chains = map->slots ? map->slots_count : 1;
        struct ed_hash_link *link, *next;

        for (size_t i = 0; i < chains; i++) {
                for (link = chain_of(map, i); link; link = next) {
                        next = link->next;
                        eddy_free(link);
                }
        }
        ed_hash_map_fini(map);
}

void ed_hash_map_add(struct ed_hash_map *map, struct ed_hash_link *link, uint64_t hash)
{
        if (map->count >= map->slots_count)
                grow(map);
        link->hash = hash;
        link_add(map, link);
}

void ed_hash_map_remove(struct ed_hash_map *map, struct ed_hash_link *link)
{
        struct ed_hash_link **at = slot_of(map, link->hash);

        while (*at != link)
                at = &(*at)->next;
        *at = link->next;
        map->count--;
}
