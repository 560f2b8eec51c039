/*
 * test_marks.c - the table of debug mode: what is put is found, what is dropped
 * is not, and it has a maximum.
 */
#include "scope/debug/marks.h"
#include "test.h"

enum { THINGS = 3000, STEPS = 100000 };

/* Only their addresses count. */
static char things[ED_MARKS_MAX + 1];
static bool is_in[THINGS];

static uint32_t chance(uint32_t n)
{
        static uint64_t state = 1;

        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        return (uint32_t) (state >> 33) % n;
}

TEST(an_entry_is_found_until_it_is_dropped)
{
        struct ed_marks marks = { 0 };
        size_t count = 0;

        CHECK(ed_marks_find(&marks, things) == NULL);
        for (int i = 0; i < STEPS; i++) {
                uint32_t at = chance(THINGS);
                struct ed_mark *mark = ed_marks_find(&marks, &things[at]);

                CHECK_EQ(mark != NULL, is_in[at]);
                if (mark) {
                        CHECK(mark->thing == &things[at]);
                        CHECK_EQ(mark->kind, (int) at);
                        ed_marks_drop(&marks, mark);
                } else {
                        mark = ed_marks_put(&marks, &things[at]);
                        CHECK(mark != NULL);
                        mark->kind = (int) at;
                }
                count += mark && !is_in[at] ? 1 : (size_t) -1;
                is_in[at] = !is_in[at];
                CHECK_EQ(marks.table.count, count);
        }
        ed_marks_fini(&marks);
}

TEST(a_thing_has_one_mark_and_the_last_counts)
{
        struct ed_marks marks = { 0 };
        uint64_t first = ed_marks_put(&marks, things)->number;

        CHECK(ed_marks_put(&marks, things)->number > first);
        CHECK_EQ(marks.table.count, 1);
        ed_marks_fini(&marks);
}

TEST(marks_of_a_kind_come_in_the_order_they_were_put)
{
        struct ed_marks marks = { 0 };
        struct ed_mark *mark;

        for (int i = 0; i < 100; i++)
                ed_marks_put(&marks, &things[i])->kind = i % 2;
        mark = ed_marks_after(&marks, 1, 0);
        for (int i = 1; i < 100; i += 2) {
                CHECK(mark && mark->thing == &things[i]);
                mark = ed_marks_after(&marks, 1, mark->number);
        }
        CHECK(mark == NULL);
        ed_marks_fini(&marks);
}

TEST(beyond_its_maximum_it_takes_no_more)
{
        struct ed_marks marks = { 0 };

        for (int i = 0; i < ED_MARKS_MAX; i++)
                CHECK(ed_marks_put(&marks, &things[i]) != NULL);
        CHECK(ed_marks_put(&marks, &things[ED_MARKS_MAX]) == NULL);
        CHECK(ed_marks_put(&marks, &things[0]) != NULL);
        CHECK_EQ(marks.table.count, ED_MARKS_MAX);
        ed_marks_fini(&marks);
}
