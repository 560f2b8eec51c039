/*
 * test_limiter_report.c - what a server reports about its limit bounds what the limiter grants.
 */
#include "passed.h"

static eddy_limiter *limiter_of(void)
{
        eddy_limiter *limiter;

        CHECK_EQ(eddy_limiter_new(NULL, &limiter), 0);
        return limiter;
}

static void learn(eddy_limiter *limiter, int64_t remaining, int64_t reset_ns)
{
        struct eddy_ratelimit seen = { 100, remaining, reset_ns, -1, false };

        CHECK_EQ(eddy_limiter_learn(limiter, EDDY_LIMITER_REQUESTS, &seen), 0);
}

/* How many are granted at once. */
static int left(eddy_limiter *limiter)
{
        int n = 0;

        while (n < 1000 && eddy_limiter_try_reserve(limiter, 1, 0, NULL) == 0)
                n++;
        return n;
}

SIM_TEST(no_more_than_remains_is_granted_until_the_reset)
{
        eddy_limiter *limiter = limiter_of();

        learn(limiter, 3, EDDY_SEC(30));
        CHECK_EQ(left(limiter), 3);
        CHECK_EQ(eddy_limiter_try_reserve(limiter, 0, 1000, NULL), 0);
        CHECK_EQ(eddy_limiter_reserve(limiter, 1, 0, NULL), 0);
        CHECK_NS(passed_ns(), EDDY_SEC(30));
        CHECK_EQ(left(limiter), 1000);
        eddy_limiter_close(limiter);
}

SIM_TEST(a_waiter_is_held_back_and_let_go_by_reports)
{
        eddy_limiter *limiter = limiter_of();

        learn(limiter, 0, EDDY_SEC(30));
        CHECK_EQ(eddy_limiter_reserve(limiter, 1, 0, NULL), 0);
        CHECK_NS(passed_ns(), EDDY_SEC(30));
        learn(limiter, 0, EDDY_SEC(30));
        learn(limiter, 0, 0); /* whole again */
        CHECK_EQ(left(limiter), 1000);
        eddy_limiter_close(limiter);
}

SIM_TEST(late_reports_about_the_same_window_do_not_raise_the_number)
{
        eddy_limiter *limiter = limiter_of();

        learn(limiter, 10, EDDY_SEC(30));
        for (int i = 0; i < 6; i++)
                CHECK_EQ(eddy_limiter_try_reserve(limiter, 1, 0, NULL), 0);
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0);
        learn(limiter, 9, EDDY_SEC(29)); /* five of the six are still on their way */
        CHECK_EQ(left(limiter), 4);
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0);
        learn(limiter, 0, EDDY_SEC(28));
        CHECK_EQ(left(limiter), 0);
        CHECK_EQ(eddy_sleep(EDDY_SEC(20)), 0);
        /* Other clients of the key use it too. */
        learn(limiter, 50, EDDY_SEC(30)); /* the next window has begun earlier than expected */
        learn(limiter, 5, EDDY_SEC(30));
        CHECK_EQ(left(limiter), 5);
        eddy_limiter_close(limiter);
}

SIM_TEST(a_limit_that_refills_evenly_is_granted_as_it_refills)
{
        struct eddy_ratelimit seen = { 60, 0, EDDY_SEC(60), -1, true };
        eddy_limiter *limiter = limiter_of();

        CHECK_EQ(eddy_limiter_learn(limiter, EDDY_LIMITER_REQUESTS, &seen), 0);
        for (int i = 1; i <= 5; i++) {
                CHECK_EQ(eddy_limiter_reserve(limiter, 1, 0, NULL), 0);
                CHECK_NS(passed_ns(), EDDY_SEC(i));
        }
        CHECK_EQ(eddy_limiter_reserve(limiter, 10, 0, NULL), 0);
        CHECK_NS(passed_ns(), EDDY_SEC(15));
        CHECK_EQ(eddy_limiter_reserve(limiter, 1000, 0, NULL), 0);
        CHECK_NS(passed_ns(), EDDY_SEC(60));
        eddy_limiter_close(limiter);
}

SIM_TEST(returned_units_may_be_granted_again)
{
        eddy_limiter *limiter = limiter_of();
        struct eddy_reservation reservation;

        learn(limiter, 1, EDDY_SEC(30));
        CHECK_EQ(eddy_limiter_reserve(limiter, 1, 0, &reservation), 0);
        CHECK_EQ(left(limiter), 0);
        CHECK_EQ(eddy_limiter_release(limiter, &reservation), 0);
        CHECK_EQ(left(limiter), 1);
        eddy_limiter_close(limiter);
}

SIM_TEST(reports_without_their_numbers_change_nothing)
{
        struct eddy_ratelimit seen = { 100, -1, EDDY_SEC(30), -1, false };
        eddy_limiter *limiter = limiter_of();

        CHECK_EQ(eddy_limiter_learn(limiter, EDDY_LIMITER_REQUESTS, &seen), 0);
        seen = (struct eddy_ratelimit){ 100, 0, -1, -1, false };
        CHECK_EQ(eddy_limiter_learn(limiter, EDDY_LIMITER_REQUESTS, &seen), 0);
        seen = (struct eddy_ratelimit){ 100, 0, EDDY_SEC(30), -1, false };
        CHECK_EQ(eddy_limiter_learn(limiter, (enum eddy_limiter_unit) 7, &seen), 0);
        CHECK_EQ(left(limiter), 1000);
        seen = (struct eddy_ratelimit){ INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, true };
        CHECK_EQ(eddy_limiter_learn(limiter, EDDY_LIMITER_REQUESTS, &seen), 0);
        CHECK_EQ(eddy_limiter_learn(limiter, EDDY_LIMITER_REQUESTS, &seen), 0);
        CHECK_EQ(left(limiter), 1000);
        eddy_limiter_close(limiter);
}
