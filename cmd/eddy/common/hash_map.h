/*
 * common/hash_map.h - the hash table of the program: its links are embedded in its members, which the
 * caller compares.
 *
 *     ed_hash_map_each (link, &map, hash)
 *             if (is_wanted((struct thing *) link))
 *                     ...
 *
 * A map grows with its members and never shrinks. Adding cannot fail: without memory for more slots
 * the map only gets slower.
 */
#ifndef ED_CMD_COMMON_HASH_MAP_H
#define ED_CMD_COMMON_HASH_MAP_H

#include <stddef.h>
#include <stdint.h>

/* The first member of each struct in a map. */
struct ed_hash_link {
        struct ed_hash_link *next; /* in its slot */
        uint64_t hash;
};

/* A zeroed map is empty. */
struct ed_hash_map {
        struct ed_hash_link **slots; /* NULL: all members are in 'only' */
        struct ed_hash_link *only;
        size_t slots_count; /* 0 or a power of two */
        size_t count;
};

/*
 * Returns a hash with the seed of this process. The author of hostile input does not know the seed,
 * and so cannot choose keys that collide.
 */
uint64_t ed_hash_map_hash(const void *data, size_t bytes);

/* Free the map's own memory, and make it empty. Its members are the caller's. */
void ed_hash_map_fini(struct ed_hash_map *map);

void ed_hash_map_add(struct ed_hash_map *map, struct ed_hash_link *link, uint64_t hash);

/* Remove a link of the map. */
void ed_hash_map_remove(struct ed_hash_map *map, struct ed_hash_link *link);

/* Free all members, each of which is memory of eddy_malloc(), and the map's own memory. */
void ed_hash_map_free(struct ed_hash_map *map);

/* Returns 'link' or the next in its slot that has the hash, or NULL. */
static inline struct ed_hash_link *ed_hash_link_with(struct ed_hash_link *link, uint64_t hash)
{
        while (link && link->hash != hash)
                link = link->next;
        return link;
}

/* Returns a link that has the hash, or NULL. */
static inline struct ed_hash_link *ed_hash_map_find(const struct ed_hash_map *map, uint64_t hash)
{
        return ed_hash_link_with(map->slots ? map->slots[hash & (map->slots_count - 1)] : map->only,
                                 hash);
}

/* Walks the links that have a hash; the current link must stay in the map. */
#define ed_hash_map_each(link, map, wanted)                                                        \
        for (struct ed_hash_link *link = ed_hash_map_find(map, wanted); link;                      \
             link = ed_hash_link_with(link->next, wanted))

#endif
