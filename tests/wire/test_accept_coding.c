/*
 * test_accept_coding.c - the field Accept-Encoding: weights, "*", and parts that are not valid.
 */
#include "test.h"
#include "wire/accept_coding.h"

TEST(a_coding_has_the_weight_of_its_part)
{
        CHECK_EQ(ed_accept_coding_weight("gzip", "gzip"), 1000);
        CHECK_EQ(ed_accept_coding_weight("br, GZIP;q=0.5", "gzip"), 500);
        CHECK_EQ(ed_accept_coding_weight("gzip;q=0.123, br", "gzip"), 123);
        CHECK_EQ(ed_accept_coding_weight("gzip ; q=1.000 ,br", "gzip"), 1000);
        CHECK_EQ(ed_accept_coding_weight("gzip;Q=0.07", "gzip"), 70);
        CHECK_EQ(ed_accept_coding_weight("gzip;q=1.", "gzip"), 1000);
        CHECK_EQ(ed_accept_coding_weight("gzip;q=0", "gzip"), 0);
        CHECK_EQ(ed_accept_coding_weight("gzip;q=0.000", "gzip"), 0);
        CHECK_EQ(ed_accept_coding_weight("deflate, zstd", "gzip"), 0);
        CHECK_EQ(ed_accept_coding_weight("", "gzip"), 0);
        CHECK_EQ(ed_accept_coding_weight("gzipped, xgzip", "gzip"), 0);
}

TEST(a_star_is_for_codings_that_are_not_in_the_list)
{
        CHECK_EQ(ed_accept_coding_weight("*", "gzip"), 1000);
        CHECK_EQ(ed_accept_coding_weight("*;q=0.1, gzip", "br"), 100);
        CHECK_EQ(ed_accept_coding_weight("*;q=0.1, gzip", "gzip"), 1000);
        CHECK_EQ(ed_accept_coding_weight("gzip;q=0, *", "gzip"), 0);
        CHECK_EQ(ed_accept_coding_weight("*;q=0", "gzip"), 0);
}

TEST(a_part_that_is_not_valid_is_not_there)
{
        static const char *const wrong[] = { "gzip;q=2",  "gzip;q=1.001", "gzip;q=0.1234",
                                             "gzip;q=",   "gzip;q=-1",    "gzip;q=a",
                                             "gzip;q=.5", "gzip;x=1",     "gzip q",
                                             "gzip;q=1x" };

        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
                CHECK_EQ(ed_accept_coding_weight(wrong[i], "gzip"), 0);
        CHECK_EQ(ed_accept_coding_weight("gzip;q=2, gzip;q=0.5", "gzip"), 500);
        CHECK_EQ(ed_accept_coding_weight(";q=1,,;,gzip", "gzip"), 1000);
}
