/*
 * test_id_places.c - the places of ids: each id that was added is found with its first place,
 * others are not, also of lines without an id; pairs are sorted from any order.
 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch/sort/id_places.h"
#include "common/random.h"
#include "eddy/alloc.h"

static struct ed_id_places places;

static int text_add(const char *id, uint64_t place)
{
        return ed_id_places_add(&places, id, strlen(id), place);
}

static uint64_t text_find(const char *id)
{
        return ed_id_places_find(&places, id, strlen(id));
}

TEST(each_id_has_the_place_that_it_was_added_with)
{
        char id[32];

        ed_id_places_init(&places);
        for (uint64_t i = 1; i <= 50000; i++) {
                snprintf(id, sizeof(id), "id-%llu", (unsigned long long) (i * 7919 % 50021));
                CHECK_EQ(text_add(id, i), 0);
        }
        ed_id_places_seal(&places);
        for (uint64_t i = 1; i <= 50000; i++) {
                snprintf(id, sizeof(id), "id-%llu", (unsigned long long) (i * 7919 % 50021));
                CHECK_EQ(text_find(id), i);
                snprintf(id, sizeof(id), "id-%llu-", (unsigned long long) i);
                CHECK_EQ(text_find(id), ED_PLACE_NONE);
        }
        CHECK(places.room <= places.count + places.count / 4 + 1024);
        ed_id_places_fini(&places);
}

TEST(of_an_id_that_is_there_twice_the_first_place_counts)
{
        ed_id_places_init(&places);
        for (uint64_t i = 1; i <= 5000; i++)
                CHECK_EQ(text_add(i % 2 ? "a" : "b", 5001 - i), 0);
        ed_id_places_seal(&places);
        CHECK_EQ(text_find("b"), 1);
        CHECK_EQ(text_find("a"), 2);
        ed_id_places_fini(&places);
}

TEST(each_repetition_of_an_id_is_found_once)
{
        struct ed_id_places_walk walk = { 0 };
        uint64_t place, count = 0, sum = 0;

        ed_id_places_init(&places);
        CHECK_EQ(text_add("a", 3), 0);
        CHECK_EQ(text_add("b", 4), 0);
        CHECK_EQ(text_add("a", 9), 0);
        CHECK_EQ(text_add("c", 10), 0);
        CHECK_EQ(text_add("a", 20), 0);
        CHECK_EQ(text_add("c", 5), 0);
        ed_id_places_seal(&places);
        while ((place = ed_id_places_repeated(&places, &walk)) > 0) {
                count++;
                sum += place;
        }
        CHECK_EQ(count, 3);
        CHECK_EQ(sum, 9 + 20 + 10);
        ed_id_places_fini(&places);
}

TEST(ids_of_lines_are_those_that_were_added)
{
        static const char *const strange[] = { "line-0",  "line-",
                                               "line-8",  "line-03",
                                               "line-+3", "line-3 ",
                                               "Line-3",  "line-1000000000000000000003",
                                               "" };

        ed_id_places_init(&places);
        CHECK_EQ(text_find("line-1"), ED_PLACE_NONE);
        CHECK_EQ(text_add("line-1", 1), 0);
        CHECK_EQ(places.count, 0);
        CHECK_EQ(text_add("line-5", 3), 0); /* an id that looks so */
        CHECK_EQ(places.count, 1);
        CHECK_EQ(ed_id_places_add_line(&places, 7), 0);
        CHECK_EQ(ed_id_places_add_line(&places, 100000), 0);
        CHECK_EQ(ed_id_places_add_line(&places, 2), 0);
        CHECK_EQ(ed_id_places_add_line(&places, 0), -ERANGE);
        ed_id_places_seal(&places);
        CHECK_EQ(text_find("line-1"), 1);
        CHECK_EQ(text_find("line-2"), 2);
        CHECK_EQ(text_find("line-3"), ED_PLACE_NONE); /* has another id */
        CHECK_EQ(text_find("line-6"), ED_PLACE_NONE); /* a blank line */
        CHECK_EQ(text_find("line-100000"), 100000);
        CHECK_EQ(text_find("line-100001"), ED_PLACE_NONE);
        CHECK_EQ(text_find("line-5"), 3);
        CHECK_EQ(text_find("line-7"), 7);
        for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++)
                CHECK_EQ(text_find(strange[i]), ED_PLACE_NONE);
        ed_id_places_fini(&places);
}

TEST(explicit_id_line_n_repeats_that_of_line_n)
{
        struct ed_id_places_walk walk = { 0 };
        uint64_t place, count = 0, sum = 0;

        ed_id_places_init(&places);
        CHECK_EQ(text_add("line-5", 3), 0);
        CHECK_EQ(ed_id_places_add_line(&places, 5), 0);
        CHECK_EQ(text_add("line-5", 6), 0);
        CHECK_EQ(ed_id_places_add_line(&places, 7), 0);
        CHECK_EQ(text_add("line-8", 8), 0); /* as line 8 would have */
        CHECK_EQ(text_add("line-8", 20), 0);
        CHECK_EQ(text_add("line-9", 21), 0);
        ed_id_places_seal(&places);
        CHECK_EQ(text_find("line-5"), 3);
        CHECK_EQ(text_find("line-8"), 8);
        CHECK_EQ(text_find("line-9"), 21);
        while ((place = ed_id_places_repeated(&places, &walk)) > 0) {
                count++;
                sum += place;
        }
        CHECK_EQ(count, 3);
        CHECK_EQ(sum, 6 + 5 + 20);
        ed_id_places_fini(&places);
}

TEST(place_beyond_the_limits_is_refused)
{
        ed_id_places_init(&places);
        CHECK_EQ(text_add("a", 0), -ERANGE);
        CHECK_EQ(text_add("a", ED_PLACE_MAX + 1), -ERANGE);
        CHECK_EQ(text_add("a", ED_PLACE_MAX), 0);
        ed_id_places_seal(&places);
        CHECK_EQ(text_find("a"), ED_PLACE_MAX);
        ed_id_places_fini(&places);
}

static bool heap_fails;

static void *heap_allocate(void *ctx, void *ptr, size_t bytes)
{
        (void) ctx;
        if (bytes == 0) {
                free(ptr);
                return NULL;
        }
        return heap_fails ? NULL : realloc(ptr, bytes);
}

TEST(failed_allocation_loses_no_place)
{
        char id[32];

        eddy_alloc_set(heap_allocate, NULL);
        ed_id_places_init(&places);
        for (uint64_t i = 1; i <= 2000; i++) {
                snprintf(id, sizeof(id), "%llu", (unsigned long long) i);
                heap_fails = places.count == places.room;
                if (heap_fails)
                        CHECK_EQ(text_add(id, i), -ENOMEM);
                heap_fails = false;
                CHECK_EQ(text_add(id, i), 0);
        }
        ed_id_places_seal(&places);
        CHECK_EQ(text_find("1"), 1);
        CHECK_EQ(text_find("2000"), 2000);
        ed_id_places_fini(&places);
        eddy_alloc_set(NULL, NULL);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static int pair_compare(const void *left, const void *right)
{
        const struct ed_pair *a = left, *b = right;

        return ed_pair_is_before(a, b) ? -1 : ed_pair_is_before(b, a);
}

TEST(pairs_are_sorted_from_any_order)
{
        enum { MOST = 3000, SHAPES = 6 };
        static struct ed_pair pairs[MOST], wanted[MOST];
        struct ed_random random;

        ed_random_init(&random);
        for (int shape = 0; shape < SHAPES; shape++) {
                for (size_t count = 0; count <= MOST; count = count * 3 / 2 + 1) {
                        for (size_t i = 0; i < count; i++) {
                                const uint64_t firsts[SHAPES] = { i,
                                                                  count - i,
                                                                  5,
                                                                  i % 2,
                                                                  ed_random_next(&random),
                                                                  i < count / 2 ? i : count - i };

                                pairs[i] = (struct ed_pair){ firsts[shape], i * 7 % 5 };
                        }
                        memcpy(wanted, pairs, sizeof(pairs));
                        qsort(wanted, count, sizeof(wanted[0]), pair_compare);
                        ed_pair_sort(pairs, count);
                        CHECK_EQ(memcmp(pairs, wanted, count * sizeof(pairs[0])), 0);
                }
        }
}
