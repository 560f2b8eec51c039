/*
 * test_hash_table.c - what was added is found until it is removed, while the table grows; a walk meets
 * each member once; without memory the table is only slower.
 */
#include "base/hash_table.h"

#include <errno.h>

#include "base/alloc.h"
#include "test.h"

enum { THINGS = 3000, STEPS = 100000, CHAINED = 40 };

struct thing {
        struct ed_hash_node node;
        uint64_t key;
        bool is_in;
        int met;
};

static struct thing things[THINGS];

static uint32_t chance(uint32_t n)
{
        static uint64_t state = 1;

        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        return (uint32_t) (state >> 33) % n;
}

static void things_reset(void)
{
        for (uint64_t i = 0; i < THINGS; i++)
                things[i] = (struct thing){ .key = i };
}

static struct thing *find(const struct ed_hash_table *table, uint64_t key, uint64_t hash)
{
        ed_hash_each (node, table, hash) {
                struct thing *thing = ed_container_of(node, struct thing, node);

                if (thing->key == key)
                        return thing;
        }
        return NULL;
}

/* The walk meets the members and no other thing. */
static void check_walk(const struct ed_hash_table *table)
{
        size_t count = 0;

        for (int i = 0; i < THINGS; i++)
                things[i].met = 0;
        ed_hash_table_each_safe (node, table) {
                ed_container_of(node, struct thing, node)->met++;
                count++;
        }
        for (int i = 0; i < THINGS; i++)
                CHECK_EQ(things[i].met, things[i].is_in ? 1 : 0);
        CHECK_EQ(table->count, count);
}

/* Many hashes are equal, and others differ only in their high bits. */
static uint64_t poor_hash(uint64_t key)
{
        return key % 100 << 32 | key % 7;
}

static void check_steps(uint64_t (*hash)(uint64_t key))
{
        struct ed_hash_table table = { 0 };

        things_reset();
        check_walk(&table);
        for (int i = 0; i < STEPS; i++) {
                struct thing *thing = &things[chance(THINGS)];
                struct thing *found = find(&table, thing->key, hash(thing->key));

                CHECK(found == (thing->is_in ? thing : NULL));
                if (found)
                        ed_hash_table_remove(&table, &thing->node);
                else
                        ed_hash_table_add(&table, &thing->node, hash(thing->key));
                thing->is_in = !thing->is_in;
                if (i % 10000 == 0)
                        check_walk(&table);
        }
        check_walk(&table);
        ed_hash_table_fini(&table);
}

TEST(members_are_found_until_they_are_removed)
{
        check_steps(ed_hash_number);
}

TEST(members_with_equal_hashes_are_found_by_their_keys)
{
        check_steps(poor_hash);
}

TEST(the_current_member_of_a_walk_may_be_removed)
{
        struct ed_hash_table table = { 0 };

        things_reset();
        for (uint64_t i = 0; i < THINGS; i++)
                ed_hash_table_add(&table, &things[i].node, ed_hash_number(i));
        ed_hash_table_each_safe (node, &table) {
                struct thing *thing = ed_container_of(node, struct thing, node);

                CHECK_EQ(thing->met++, 0);
                ed_hash_table_remove(&table, node);
                memset(node, 0xff, sizeof(*node));
        }
        for (int i = 0; i < THINGS; i++)
                CHECK_EQ(things[i].met, 1);
        CHECK_EQ(table.count, 0);
        ed_hash_table_fini(&table);
}

/* The allocator below, and how often it may still allocate. */
struct limit {
        eddy_realloc_fn *fn;
        void *ctx;
        int allowed;
};

static void *limited(void *ctx, void *ptr, size_t bytes)
{
        struct limit *limit = ctx;

        return bytes > 0 && limit->allowed-- <= 0 ? NULL : limit->fn(limit->ctx, ptr, bytes);
}

TEST(without_memory_everything_is_still_found)
{
        struct ed_hash_table table = { 0 };
        struct limit limit = { 0 };

        ed_alloc_hook(&limit.fn, &limit.ctx);
        for (int allocations = 0; allocations < 4; allocations++) {
                things_reset();
                limit.allowed = allocations;
                eddy_alloc_set(limited, &limit);
                for (uint64_t i = 0; i < CHAINED; i++) {
                        ed_hash_table_add(&table, &things[i].node, ed_hash_number(i));
                        things[i].is_in = true;
                }
                for (uint64_t i = 0; i < THINGS; i++)
                        CHECK_EQ(find(&table, i, ed_hash_number(i)) != NULL, i < CHAINED);
                check_walk(&table);
                eddy_alloc_set(limit.fn, limit.ctx);
                ed_hash_table_fini(&table);
                CHECK_EQ(table.count, 0);
        }
}

TEST(adding_allocates_nothing_in_room_that_was_reserved)
{
        struct ed_hash_table table = { 0 };
        struct limit limit = { 0 };

        things_reset();
        ed_alloc_hook(&limit.fn, &limit.ctx);
        CHECK_EQ(ed_hash_table_reserve(&table, CHAINED), 0);
        limit.allowed = 0;
        eddy_alloc_set(limited, &limit);
        CHECK_EQ(ed_hash_table_reserve(&table, CHAINED), 0);
        CHECK_EQ(ed_hash_table_reserve(&table, THINGS), -ENOMEM);
        for (uint64_t i = 0; i < CHAINED; i++)
                ed_hash_table_add(&table, &things[i].node, ed_hash_number(i));
        CHECK_EQ(limit.allowed, -1);
        eddy_alloc_set(limit.fn, limit.ctx);
        ed_hash_table_fini(&table);
}

TEST(texts_with_another_seed_have_other_hashes)
{
        CHECK_EQ(ed_hash_text(1, "example.com"), ed_hash_text(1, "example.com"));
        CHECK(ed_hash_text(1, "example.com") != ed_hash_text(2, "example.com"));
        CHECK(ed_hash_text(1, "example.com") != ed_hash_text(1, "example.org"));
}
