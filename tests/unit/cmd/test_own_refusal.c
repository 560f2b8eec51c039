/*
 * test_own_refusal.c - a request that is refused each time, and requests that have bad luck.
 */
#include "test.h"

#include "batch/run/own_refusal.h"
#include "eddy/time.h"

/* Returns the refusals of a request until they are its own, with such answers between two of them. */
static int own_after(uint64_t answered, uint64_t refused, int64_t wait_ns)
{
        struct ed_refusal_counts counts = { 0 };
        struct ed_own_refusal own = { .bits = 0 };

        for (int i = 1; i <= 100; i++) {
                if (ed_own_refusal_add(&own, &counts, 1 + i * wait_ns))
                        return i;
                counts.answered += answered;
                counts.refused += refused;
        }
        return 0;
}

TEST(refusals_are_about_the_request_if_others_are_answered_between_them)
{
        CHECK_EQ(own_after(1000, 0, EDDY_SEC(1)), 4);
        CHECK_EQ(own_after(30, 0, EDDY_SEC(1)), 5);
        CHECK_EQ(own_after(30, 3, EDDY_SEC(1)), 8);
        CHECK_EQ(own_after(1, 0, EDDY_SEC(1)), 21);
        CHECK_EQ(own_after(10, 10, EDDY_SEC(1)), 21);
}

TEST(refusals_of_all_are_about_the_pace)
{
        CHECK_EQ(own_after(0, 0, EDDY_MIN(1)), 0);
        CHECK_EQ(own_after(0, 10, EDDY_MIN(1)), 0);
        CHECK_EQ(own_after(1, 10, EDDY_MIN(1)), 0);
}

TEST(request_that_is_left_alone_is_refused_after_long_waits_too)
{
        struct ed_refusal_counts counts = { 0 };
        struct ed_own_refusal own = { .bits = 0 };

        CHECK(!ed_own_refusal_add(&own, &counts, 1));
        counts.answered += 100;
        CHECK(!ed_own_refusal_add(&own, &counts, EDDY_SEC(1)));
        CHECK_EQ(own.bits, 6);
        CHECK(!ed_own_refusal_add(&own, &counts, EDDY_SEC(30)));
        CHECK_EQ(own.bits, 6); /* too soon */
        CHECK(!ed_own_refusal_add(&own, &counts, EDDY_SEC(60)));
        CHECK(ed_own_refusal_add(&own, &counts, EDDY_SEC(90)));
        CHECK_EQ(counts.refused, 4); /* its own does not count */
        CHECK(ed_own_refusal_add(&own, &counts, EDDY_SEC(91)));
}
