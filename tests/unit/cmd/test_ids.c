/*
 * test_ids.c - the set of ids: it finds what was added and nothing else, keeps flags and the hash
 * of the request, and takes at most 24 bytes for each of many ids, also while it grows.
 */
#include "test.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>

#include "batch/request/ids.h"
#include "eddy/alloc.h"

/* --- an allocator that counts --- */

static size_t heap_bytes, heap_most;
static long heap_countdown = -1; /* allocations before the one that fails; -1: none does */

static size_t block_size(void *ptr)
{
        return ptr ? malloc_usable_size(ptr) + sizeof(size_t) : 0;
}

static void *heap_allocate(void *ctx, void *ptr, size_t bytes)
{
        size_t before = block_size(ptr);
        void *result;

        (void) ctx;
        if (bytes == 0) {
                heap_bytes -= before;
                free(ptr);
                return NULL;
        }
        if (heap_countdown >= 0 && heap_countdown-- == 0)
                return NULL;
        result = realloc(ptr, bytes);
        if (!result)
                return NULL;
        /* Both blocks exist while one is copied to the other. */
        if (heap_bytes + block_size(result) > heap_most)
                heap_most = heap_bytes + block_size(result);
        heap_bytes = heap_bytes - before + block_size(result);
        return result;
}

/* --- ids --- */

static struct ed_ids *ids;

static size_t id_print(char id[32], size_t number)
{
        return (size_t) snprintf(id, 32, "request-%zu", number);
}

static int number_add(size_t number, uint64_t hash, unsigned flags, bool *ret_same)
{
        char id[32];
        size_t bytes = id_print(id, number);

        return ed_ids_add(ids, id, bytes, hash, flags, ret_same);
}

static void number_line_set(size_t number, uint64_t line)
{
        char id[32];
        size_t bytes = id_print(id, number);

        ed_ids_set_line(ids, id, bytes, line);
}

static uint64_t number_line(size_t number)
{
        char id[32];
        size_t bytes = id_print(id, number);

        return ed_ids_line(ids, id, bytes);
}

static unsigned number_flags(size_t number)
{
        char id[32];
        size_t bytes = id_print(id, number);

        return ed_ids_flags(ids, id, bytes);
}

TEST(every_id_is_found_with_its_flags_and_no_other)
{
        enum { COUNT = 50000 };
        bool same;

        CHECK_EQ(ed_ids_new(&ids), 0);
        CHECK_EQ(number_flags(0), 0);
        for (size_t i = 0; i < COUNT; i++)
                CHECK_EQ(number_add(i, i, i & 1 ? ED_IDS_READ : ED_IDS_ANSWERED, &same), 0);
        for (size_t i = 0; i < COUNT; i++) {
                CHECK_EQ(number_flags(i), i & 1 ? ED_IDS_READ : ED_IDS_ANSWERED);
                CHECK_EQ(number_flags(i + COUNT), 0);
        }
        for (size_t i = 0; i < COUNT; i++)
                CHECK_EQ(number_add(i, 0, ED_IDS_READ, NULL),
                         i & 1 ? ED_IDS_READ : ED_IDS_ANSWERED);
        ed_ids_clear(ids, ED_IDS_ANSWERED);
        for (size_t i = 0; i < COUNT; i++)
                CHECK_EQ(number_flags(i), ED_IDS_READ);
        /* Without flags an id is a member all the same: its request is known. */
        ed_ids_clear(ids, ED_IDS_READ);
        CHECK_EQ(number_flags(7), 0);
        CHECK_EQ(number_add(7, UINT64_MAX, ED_IDS_ANSWERED, &same), 0);
        CHECK(!same);
        CHECK_EQ(number_flags(7), ED_IDS_ANSWERED);
        ed_ids_free(ids);
}

TEST(ids_that_differ_in_a_nul_or_in_length_are_different)
{
        static char zeros[600];

        CHECK_EQ(ed_ids_new(&ids), 0);
        for (size_t i = 0; i <= sizeof(zeros); i++)
                CHECK_EQ(ed_ids_add(ids, zeros, i, 0, ED_IDS_READ, NULL), 0);
        for (size_t i = 0; i <= sizeof(zeros); i++)
                CHECK_EQ(ed_ids_add(ids, zeros, i, 0, 0, NULL), ED_IDS_READ);
        ed_ids_free(ids);
}

TEST(changed_request_is_noticed_and_an_unknown_hash_is_equal_to_all)
{
        const uint64_t one = 0x123456789abcdef0, other = 0x923456789abcdef0;
        bool same = false;

        CHECK_EQ(ed_ids_new(&ids), 0);
        CHECK_EQ(number_add(1, 0, 0, &same), 0);
        CHECK(same);
        CHECK_EQ(number_add(1, one, 0, &same), 0); /* becomes known */
        CHECK(same);
        CHECK_EQ(number_add(1, 0, 0, &same), 0);
        CHECK(same);
        CHECK_EQ(number_add(1, other, 0, &same), 0);
        CHECK(!same);
        CHECK_EQ(number_add(1, one, 0, &same), 0); /* the first is kept */
        CHECK(same);
        /* A hash whose kept bits are 0 is not an unknown one. */
        CHECK_EQ(number_add(2, 1, 0, &same), 0);
        CHECK_EQ(number_add(2, other, 0, &same), 0);
        CHECK(!same);
        /* Every kept bit counts. */
        for (int bit = 36; bit < 64; bit++) {
                CHECK_EQ(number_add(3, one, 15, &same) & ~15, 0);
                CHECK(same);
                CHECK_EQ(number_add(3, one ^ (uint64_t) 1 << bit, 0, &same), 15);
                CHECK(!same);
        }
        ed_ids_free(ids);
}

TEST(number_of_a_line_takes_the_place_of_the_hash)
{
        static const uint64_t numbers[] = { 1, 1000, (1 << 28) - 1 };
        bool same;

        CHECK_EQ(ed_ids_new(&ids), 0);
        CHECK_EQ(ed_ids_line(ids, "a", 1), 0);
        CHECK_EQ(number_add(3, 0, ED_IDS_READ | ED_IDS_FAILED, &same), 0);
        CHECK_EQ(number_line(3), 0);
        for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
                number_line_set(3, numbers[i]);
                CHECK_EQ(number_line(3), numbers[i]);
                CHECK_EQ(number_flags(3), ED_IDS_READ | ED_IDS_FAILED);
        }
        number_line_set(3, 1 << 28);
        CHECK_EQ(number_line(3), 0);
        ed_ids_free(ids);
}

TEST(many_ids_take_at_most_24_bytes_each_even_while_the_set_grows)
{
        static const size_t counts[] = { 1, 1000, 100000, 1000000 };
        size_t count = 0;

        eddy_alloc_set(heap_allocate, NULL);
        CHECK_EQ(ed_ids_new(&ids), 0);
        for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
                for (; count < counts[i]; count++) {
                        CHECK_EQ(number_add(count, count, ED_IDS_READ, NULL), 0);
                        if (count < 100000)
                                heap_most = heap_bytes;
                        else if (heap_most > 24 * count)
                                test_fail(__FILE__, __LINE__, "%zu ids take at most %zu bytes",
                                          count, heap_most);
                }
                printf("# %zu ids: %zu bytes\n", count, heap_bytes);
        }
        CHECK(heap_bytes <= 24 * count);
        ed_ids_free(ids);
        CHECK_EQ(heap_bytes, 0);
}

TEST(set_is_whole_after_each_failed_allocation)
{
        enum { COUNT = 3000 };
        int failures = 0;

        eddy_alloc_set(heap_allocate, NULL);
        heap_countdown = 0;
        CHECK_EQ(ed_ids_new(&ids), -ENOMEM);
        CHECK_EQ(ed_ids_new(&ids), 0);
        for (size_t i = 0; i < COUNT; i++) {
                int result;

                heap_countdown = 0;
                result = number_add(i, i, ED_IDS_READ, NULL);
                CHECK(result == 0 || result == -ENOMEM);
                heap_countdown = -1;
                if (result == 0)
                        continue;
                failures++;
                CHECK_EQ(number_flags(i), 0);
                for (size_t k = 0; k < i; k++)
                        CHECK_EQ(number_flags(k), ED_IDS_READ);
                CHECK_EQ(number_add(i, i, ED_IDS_READ, NULL), 0);
        }
        CHECK(failures > 64 * 8);
        ed_ids_free(ids);
        ed_ids_free(NULL);
        CHECK_EQ(heap_bytes, 0);
}
