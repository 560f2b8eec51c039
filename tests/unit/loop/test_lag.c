/*
 * test_lag.c - the histogram of a loop's turns: where each length is counted,
 * and what a percentile says of it.
 */
#include "loop/lag.h"

#include "eddy/time.h"
#include "test.h"

/* In which bucket a turn of 'ns' is counted. */
static int bucket_of(int64_t ns)
{
        struct eddy_lag lag = { 0 };
        int found = -1;

        ed_lag_add(&lag, ns);
        CHECK_EQ(lag.count, 1);
        for (int i = 0; i < EDDY_LAG_BUCKETS; i++) {
                if (lag.buckets[i] == 0)
                        continue;
                CHECK_EQ(lag.buckets[i], 1);
                CHECK_EQ(found, -1);
                found = i;
        }
        return found;
}

TEST(each_power_of_two_has_two_buckets)
{
        CHECK_EQ(bucket_of(0), 0);
        CHECK_EQ(bucket_of(1023), 0);
        for (int i = 1; i < EDDY_LAG_BUCKETS; i++) {
                int64_t power = (int64_t) 1024 << (i - 1) / 2;
                int64_t begin = i % 2 == 1 ? power : power + power / 2;

                CHECK_EQ(bucket_of(begin), i);
                CHECK_EQ(bucket_of(begin - 1), i - 1);
        }
}

TEST(the_last_bucket_takes_all_that_is_longer)
{
        CHECK_EQ(bucket_of((int64_t) 1 << 29), EDDY_LAG_BUCKETS - 1);
        CHECK_EQ(bucket_of(INT64_MAX), EDDY_LAG_BUCKETS - 1);
}

TEST(a_clock_that_went_back_counts_as_no_time)
{
        struct eddy_lag lag = { 0 };

        ed_lag_add(&lag, -5);
        CHECK_EQ(lag.count, 1);
        CHECK_EQ(lag.max_ns, 0);
        CHECK_EQ(lag.buckets[0], 1);
}

TEST(the_sum_is_that_of_all_turns)
{
        struct eddy_lag lag = { 0 };

        ed_lag_add(&lag, 5);
        ed_lag_add(&lag, EDDY_SEC(3));
        ed_lag_add(&lag, -5);
        CHECK_EQ(lag.sum_ns, EDDY_SEC(3) + 5);
}

TEST(without_turns_a_percentile_is_nothing)
{
        struct eddy_lag lag = { 0 };

        CHECK_EQ(eddy_lag_percentile(&lag, 0), 0);
        CHECK_EQ(eddy_lag_percentile(&lag, 50), 0);
        CHECK_EQ(eddy_lag_percentile(&lag, 100), 0);
}

/* 90 turns of 2 us, nine of 100 us, one of 70 ms. */
TEST(a_percentile_is_the_end_of_the_bucket_that_reaches_it)
{
        struct eddy_lag lag = { 0 };

        for (int i = 0; i < 90; i++)
                ed_lag_add(&lag, 2000);
        for (int i = 0; i < 9; i++)
                ed_lag_add(&lag, 100000);
        ed_lag_add(&lag, 70000000);
        CHECK_EQ(lag.count, 100);
        CHECK_EQ(lag.max_ns, 70000000);
        CHECK_EQ(eddy_lag_percentile(&lag, -1), 2048);
        CHECK_EQ(eddy_lag_percentile(&lag, 0), 2048);
        CHECK_EQ(eddy_lag_percentile(&lag, 50), 2048);
        CHECK_EQ(eddy_lag_percentile(&lag, 90), 2048);
        CHECK_EQ(eddy_lag_percentile(&lag, 90.1), 131072);
        CHECK_EQ(eddy_lag_percentile(&lag, 99), 131072);
        CHECK_EQ(eddy_lag_percentile(&lag, 99.9), 70000000);
        CHECK_EQ(eddy_lag_percentile(&lag, 100), 70000000);
        CHECK_EQ(eddy_lag_percentile(&lag, 1000), 70000000);
}

TEST(a_percentile_in_the_last_bucket_is_the_maximum)
{
        struct eddy_lag lag = { 0 };

        ed_lag_add(&lag, EDDY_SEC(3));
        ed_lag_add(&lag, EDDY_SEC(7));
        CHECK_EQ(eddy_lag_percentile(&lag, 10), EDDY_SEC(7));
}

TEST(a_percentile_is_at_most_half_above_and_never_below)
{
        for (int64_t ns = 1024; ns < EDDY_MS(500); ns += ns / 7) {
                struct eddy_lag lag = { 0 };
                int64_t said;

                ed_lag_add(&lag, ns);
                ed_lag_add(&lag, EDDY_SEC(1));
                said = eddy_lag_percentile(&lag, 50);
                CHECK(said > ns);
                CHECK(said <= ns + ns / 2);
        }
}
