/*
 * test_histogram.c - percentiles are within a percent of the true ones, for
 * any size of value, and the maximum is exact.
 */
#include "test.h"

#include "common/histogram.h"
#include "common/random.h"

static struct ed_histogram histogram;

static int compare(const void *a, const void *b)
{
        int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

        return (x > y) - (x < y);
}

TEST(empty_histogram_has_no_values)
{
        CHECK_EQ(ed_histogram_value(&histogram, 500), 0);
        CHECK_EQ(ed_histogram_value(&histogram, 1000), 0);
}

TEST(single_value_is_each_percentile)
{
        ed_histogram_add(&histogram, 123456789);
        CHECK_EQ(ed_histogram_value(&histogram, 0), 123456789);
        CHECK_EQ(ed_histogram_value(&histogram, 500), 123456789);
        CHECK_EQ(ed_histogram_value(&histogram, 990), 123456789);
        CHECK_EQ(ed_histogram_value(&histogram, 1000), 123456789);
}

TEST(percentile_is_the_nearest_rank)
{
        for (int i = 1; i <= 100; i++)
                ed_histogram_add(&histogram, (int64_t) i * 1000);
        CHECK_EQ(ed_histogram_value(&histogram, 500), 50000);
        CHECK_EQ(ed_histogram_value(&histogram, 900), 90000);
        CHECK_EQ(ed_histogram_value(&histogram, 990), 99000);
        CHECK_EQ(ed_histogram_value(&histogram, 991), 100000);
        CHECK_EQ(ed_histogram_value(&histogram, 1), 1000);
}

TEST(percentiles_are_within_one_percent)
{
        enum { VALUES = 20000 };
        static int64_t values[VALUES];
        static const unsigned permilles[] = { 10, 100, 500, 900, 990, 999 };
        struct ed_random random = { 42 };

        for (int i = 0; i < VALUES; i++) {
                /* From microseconds to hours, all sizes alike. */
                unsigned shift = (unsigned) (ed_random_next(&random) % 32);

                values[i] =
                        (int64_t) (1000 * ((1 + ed_random_next(&random) % 4096) << (shift % 32)));
                if (values[i] > (int64_t) 1 << 49)
                        values[i] = (int64_t) 1 << 49;
                ed_histogram_add(&histogram, values[i]);
        }
        qsort(values, VALUES, sizeof(values[0]), compare);
        for (size_t i = 0; i < sizeof(permilles) / sizeof(permilles[0]); i++) {
                int64_t exact = values[(VALUES * permilles[i] + 999) / 1000 - 1];
                double off = (double) ed_histogram_value(&histogram, permilles[i]) / (double) exact;

                CHECK(off > 0.99 && off < 1.01);
        }
        CHECK_EQ(ed_histogram_value(&histogram, 1000), values[VALUES - 1]);
}

TEST(values_beyond_the_range_are_kept_at_its_ends)
{
        ed_histogram_add(&histogram, -5);
        CHECK_EQ(ed_histogram_value(&histogram, 500), 0);
        ed_histogram_add(&histogram, INT64_MAX - 1000);
        CHECK_EQ(ed_histogram_value(&histogram, 1000), INT64_MAX - 1000);
        CHECK_EQ(histogram.count, 2);
        CHECK_EQ(histogram.buckets[ED_HISTOGRAM_BUCKETS - 1], 1);
}
