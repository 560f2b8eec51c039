/*
 * test_hash_map.c - what was added is found until it is removed, while the map grows; without memory
 * the map is only slower.
 */
#include "common/hash_map.h"

#include "eddy/alloc.h"
#include "test.h"

enum { THINGS = 3000, STEPS = 100000, CHAINED = 40 };

struct thing {
        struct ed_hash_link link;
        uint64_t key;
        bool is_in;
};

static struct thing things[THINGS];

static void things_reset(void)
{
        for (uint64_t i = 0; i < THINGS; i++)
                things[i] = (struct thing){ .key = i };
}

static struct thing *find(const struct ed_hash_map *map, uint64_t key, uint64_t hash)
{
        ed_hash_map_each (link, map, hash) {
                struct thing *thing = (struct thing *) link;

                if (thing->key == key)
                        return thing;
        }
        return NULL;
}

static uint64_t good_hash(uint64_t key)
{
        return ed_hash_map_hash(&key, sizeof(key));
}

/* Many hashes are equal, and others differ only in their high bits. */
static uint64_t poor_hash(uint64_t key)
{
        return key % 100 << 32 | key % 7;
}

static void check_steps(uint64_t (*hash)(uint64_t key))
{
        struct ed_hash_map map = { 0 };
        uint64_t state = 1;
        size_t count = 0;

        things_reset();
        for (int i = 0; i < STEPS; i++) {
                struct thing *thing, *found;

                state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
                thing = &things[(state >> 33) % THINGS];
                found = find(&map, thing->key, hash(thing->key));
                CHECK(found == (thing->is_in ? thing : NULL));
                if (found)
                        ed_hash_map_remove(&map, &thing->link);
                else
                        ed_hash_map_add(&map, &thing->link, hash(thing->key));
                thing->is_in = !thing->is_in;
                count += thing->is_in ? 1 : (size_t) -1;
                CHECK_EQ(map.count, count);
        }
        ed_hash_map_fini(&map);
        CHECK_EQ(map.count, 0);
}

TEST(members_are_found_until_they_are_removed)
{
        check_steps(good_hash);
}

TEST(members_with_equal_hashes_are_found_by_their_keys)
{
        check_steps(poor_hash);
}

static int allowed;

static void *limited(void *ctx, void *ptr, size_t bytes)
{
        (void) ctx;
        if (bytes == 0) {
                free(ptr);
                return NULL;
        }
        return allowed-- <= 0 ? NULL : realloc(ptr, bytes);
}

TEST(without_memory_everything_is_still_found)
{
        struct ed_hash_map map = { 0 };

        for (int allocations = 0; allocations < 4; allocations++) {
                things_reset();
                allowed = allocations;
                eddy_alloc_set(limited, NULL);
                for (uint64_t i = 0; i < CHAINED; i++)
                        ed_hash_map_add(&map, &things[i].link, good_hash(i));
                for (uint64_t i = 0; i < THINGS; i++)
                        CHECK_EQ(find(&map, i, good_hash(i)) != NULL, i < CHAINED);
                ed_hash_map_fini(&map);
                eddy_alloc_set(NULL, NULL);
        }
}

TEST(free_frees_all_members)
{
        struct ed_hash_map map = { 0 };

        ed_hash_map_free(&map);
        for (uint64_t i = 0; i < CHAINED; i++) {
                struct thing *thing = eddy_malloc(sizeof(*thing));

                CHECK(thing);
                thing->key = i;
                ed_hash_map_add(&map, &thing->link, good_hash(i));
        }
        CHECK_EQ(map.count, CHAINED);
        ed_hash_map_free(&map);
        CHECK_EQ(map.count, 0);
        CHECK(!find(&map, 1, good_hash(1)));
}
