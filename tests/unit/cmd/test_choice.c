/*
 * test_choice.c - the choice of the least: the same as that of a search through all places, with ranks
 * that rise unseen, places that wait for a time, and places that leave.
 */
#include "test.h"

#include "batch/run/choice.h"
#include "common/random.h"

enum { PLACES = 300, STEPS = 200000, RANKS = 40 };

static struct ed_choice_place places[PLACES];
static uint64_t ranks[PLACES]; /* the present ones, each with the number of the place */
static int64_t until_ns[PLACES];
static bool is_in[PLACES];
static struct ed_choice choice;

static uint64_t rank_of(uint64_t value, size_t number)
{
        return value << 16 | number;
}

/* Returns the number of the place that the choice names, with ranks that are compared. */
static int chosen(int64_t now_ns)
{
        struct ed_choice_place *place;

        while ((place = ed_choice_first(&choice, now_ns))) {
                size_t number = (size_t) (place - places);

                CHECK(is_in[number] && until_ns[number] <= now_ns);
                if (place->rank == ranks[number])
                        return (int) number;
                ed_choice_put(&choice, place, ranks[number]);
        }
        return -1;
}

static int searched(int64_t now_ns)
{
        int best = -1;

        for (int i = 0; i < PLACES; i++)
                if (is_in[i] && until_ns[i] <= now_ns && (best < 0 || ranks[i] < ranks[best]))
                        best = i;
        return best;
}

/* Change a place at random. */
static void step(struct ed_random *random, int64_t now_ns)
{
        size_t i = ed_random_next(random) % PLACES;
        uint64_t value = ed_random_next(random) % RANKS;

        switch (ed_random_next(random) % 5) {
        case 0: /* it rises, and the choice does not know it */
                if (rank_of(value, i) > ranks[i])
                        ranks[i] = rank_of(value, i);
                break;
        case 1:
                ed_choice_drop(&choice, &places[i]);
                is_in[i] = false;
                break;
        case 2:
                until_ns[i] = now_ns + (int64_t) value;
                is_in[i] = true;
                ed_choice_defer(&choice, &places[i], until_ns[i]);
                break;
        default:
                ranks[i] = rank_of(value, i);
                until_ns[i] = 0;
                is_in[i] = true;
                ed_choice_put(&choice, &places[i], ranks[i]);
        }
}

TEST(least_of_many_is_that_of_a_search_whatever_changes)
{
        struct ed_random random = { 0 };

        ed_random_init(&random);
        CHECK_EQ(ed_choice_reserve(&choice, 7), 0);
        CHECK_EQ(ed_choice_reserve(&choice, PLACES), 0);
        for (size_t i = 0; i < PLACES; i++)
                ranks[i] = rank_of(0, i);
        for (int64_t now_ns = 0; now_ns < STEPS; now_ns++) {
                step(&random, now_ns);
                if (now_ns % 16 == 0)
                        CHECK_EQ(chosen(now_ns), searched(now_ns));
        }
        for (size_t i = 0; i < PLACES; i++)
                ed_choice_drop(&choice, &places[i]);
        CHECK(ed_choice_first(&choice, STEPS) == NULL);
        CHECK_EQ(choice.open.count + choice.later.count, 0);
        ed_choice_fini(&choice);
}
