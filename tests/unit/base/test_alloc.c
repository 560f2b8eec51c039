/*
 * test_alloc.c - the allocator hook: all goes through it, and what it says is
 * passed on.
 */
#include "eddy/alloc.h"

#include "base/alloc.h"
#include "test.h"

struct counts {
        int allocated, resized, freed;
        size_t last_bytes;
        bool fails;
};

static void *counting(void *ctx, void *ptr, size_t bytes)
{
        struct counts *counts = ctx;

        if (bytes == 0) {
                counts->freed++;
                free(ptr);
                return NULL;
        }
        if (counts->fails)
                return NULL;
        counts->last_bytes = bytes;
        if (ptr)
                counts->resized++;
        else
                counts->allocated++;
        return realloc(ptr, bytes);
}

TEST(every_call_goes_to_the_hook_with_its_context)
{
        struct counts counts = { 0 };
        char *ptr;

        eddy_alloc_set(counting, &counts);
        ptr = eddy_malloc(10);
        CHECK(ptr != NULL);
        CHECK_EQ(counts.last_bytes, 10);
        ptr = eddy_realloc(ptr, 20);
        CHECK_EQ(counts.last_bytes, 20);
        ptr[19] = 1;
        eddy_free(ptr);
        CHECK_EQ(counts.allocated, 1);
        CHECK_EQ(counts.resized, 1);
        CHECK_EQ(counts.freed, 1);
}

TEST(freeing_nothing_does_not_reach_the_hook)
{
        struct counts counts = { 0 };

        eddy_alloc_set(counting, &counts);
        eddy_free(NULL);
        CHECK_EQ(counts.freed, 0);
}

TEST(no_bytes_is_an_allocation_and_never_a_free)
{
        struct counts counts = { 0 };
        void *ptr;

        eddy_alloc_set(counting, &counts);
        ptr = eddy_malloc(0);
        CHECK(ptr != NULL);
        ptr = eddy_realloc(ptr, 0);
        CHECK(ptr != NULL);
        CHECK_EQ(counts.freed, 0);
        eddy_free(ptr);
        CHECK_EQ(counts.freed, 1);
}

TEST(no_memory_is_null_and_the_old_block_is_unharmed)
{
        struct counts counts = { 0 };
        char *ptr;

        eddy_alloc_set(counting, &counts);
        ptr = eddy_malloc(4);
        memcpy(ptr, "abc", 4);
        counts.fails = true;
        CHECK(eddy_malloc(1) == NULL);
        CHECK(ed_alloc_zero(1) == NULL);
        CHECK(eddy_realloc(ptr, 100) == NULL);
        CHECK_STR(ptr, "abc");
        eddy_free(ptr);
}

TEST(null_goes_back_to_the_systems_allocator)
{
        struct counts counts = { 0 };

        eddy_alloc_set(counting, &counts);
        eddy_alloc_set(NULL, NULL);
        eddy_free(eddy_malloc(5));
        CHECK_EQ(counts.allocated + counts.freed, 0);
}

TEST(zeroed_memory_is_zero)
{
        unsigned char *ptr = ed_alloc_zero(64);

        for (int i = 0; i < 64; i++)
                CHECK_EQ(ptr[i], 0);
        ed_free(ptr);
}
