/*
 * test_byte_ranges.c - the field Range: ranges that a content has, those that it has not, texts that are
 * not valid, and requests for more than the content.
 */
#include "test.h"
#include "wire/byte_ranges.h"

/* Returns "0-4,6-9", "whole" or "none". */
static const char *read_ranges(const char *value, int64_t bytes)
{
        static char out[ED_BYTE_RANGES_MAX * 45];
        struct ed_byte_range ranges[ED_BYTE_RANGES_MAX];
        int count = ed_byte_ranges_read(value, bytes, ranges);
        size_t n = 0;

        CHECK(count >= -1 && count <= ED_BYTE_RANGES_MAX);
        if (count <= 0)
                return count == 0 ? "whole" : "none";
        for (int i = 0; i < count; i++)
                n += (size_t) snprintf(out + n, sizeof(out) - n, "%s%lld-%lld", i ? "," : "",
                                       (long long) ranges[i].first, (long long) ranges[i].last);
        return out;
}

static void check(const char *value, int64_t bytes, const char *expected)
{
        const char *seen = read_ranges(value, bytes);

        if (strcmp(seen, expected) != 0)
                test_fail(__FILE__, __LINE__, "'%s' of %lld bytes gives %s, expected %s", value,
                          (long long) bytes, seen, expected);
}

TEST(ranges_of_the_content_are_found)
{
        check("bytes=0-499", 10000, "0-499"); /* the examples of RFC 9110, 14.1.2 */
        check("bytes=500-999", 10000, "500-999");
        check("bytes=-500", 10000, "9500-9999");
        check("bytes=9500-", 10000, "9500-9999");
        check("bytes=0-0,-1", 10000, "0-0,9999-9999");
        check("bytes= 0-999, 4500-5499, -1000", 10000, "0-999,4500-5499,9000-9999");
        check("bytes=500-600,601-999", 10000, "500-600,601-999");
        check("bytes=500-700,601-999", 10000, "500-700,601-999");
        check("BYTES=1-2", 10, "1-2");
        check("bytes=0-", 10, "0-9");
        check("bytes=9-9", 10, "9-9");
        check("bytes=3-2000", 10, "3-9");
        check("bytes=-2000", 10, "0-9");
        check("bytes=,, 1-2 ,\t,3-4,,", 10, "1-2,3-4");
        check("bytes=8-9,0-1", 10, "8-9,0-1"); /* in the order asked for */
        check("bytes=0-0", 1, "0-0");
        check("bytes=-1", 1, "0-0");
        check("bytes=9223372036854775806-", INT64_MAX, "9223372036854775806-9223372036854775806");
}

TEST(ranges_outside_of_the_content_are_left_out_or_are_a_416)
{
        check("bytes=10-", 10, "none");
        check("bytes=10-20", 10, "none");
        check("bytes=-0", 10, "none");
        check("bytes=10-,20-30,-0", 10, "none");
        check("bytes=10-,2-3,-0", 10, "2-3");
        check("bytes=0-", 0, "none");
        check("bytes=0-0", 0, "none");
        check("bytes=-5", 0, "whole");
        check("bytes=-0", 0, "none");
        check("bytes=9223372036854775807-", INT64_MAX, "none");
}

TEST(a_number_beyond_64_bits_is_the_largest)
{
        check("bytes=0-99999999999999999999999", 10, "0-9");
        check("bytes=-99999999999999999999999", 10, "0-9");
        check("bytes=99999999999999999999999-", 10, "none");
        check("bytes=18446744073709551616-18446744073709551617", 10, "none");
        check("bytes=9223372036854775808-9223372036854775807", INT64_MAX, "none");
}

TEST(a_value_that_is_not_valid_is_ignored)
{
        static const char *const wrong[] = {
                "",           "bytes",         "bytes=",        "bytes=,",     "bytes=-",
                "bytes=a",    "bytes=1",       "bytes=1-2-3",   "bytes=2-1",   "bytes=0-1,2-1",
                "bytes=1 -2", "bytes=1- 2",    "bytes=+1-",     "bytes=--1",   "bytes=0x1-",
                "bytes=1-2;", "bytes=1-2 3-4", "bytes =0-",     "bytes 0-1",   "lines=0-1",
                "bytes:0-1",  "bytes=0-1/10",  "bytes=*",       "bytes=0-1,a", " bytes=0-1",
                "bytes==0-1", "bytes=1.0-2",   "bytes=0-9\x01",
        };

        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
                check(wrong[i], 10, "whole");
}

TEST(requests_for_more_bytes_than_the_content_has_get_it_whole)
{
        check("bytes=0-,0-", 10, "whole");
        check("bytes=0-4,0-4,0-0", 10, "whole");
        check("bytes=0-4,0-4", 10, "0-4,0-4");
        check("bytes=0-9,5-5", 10, "whole");
}

enum { VALUE_BYTES = 10 * (ED_BYTE_RANGES_MAX + 1) };

/* Write "bytes=" and a text of four characters a number of times. */
static void repeat(char out[VALUE_BYTES], const char *text, int times)
{
        memcpy(out, "bytes=", 6);
        for (int i = 0; i < times; i++)
                memcpy(out + 6 + 4 * i, text, 4);
        out[6 + 4 * times] = '\0';
}

TEST(more_ranges_than_the_limit_get_the_content_whole)
{
        char value[VALUE_BYTES];

        repeat(value, "1-1,", ED_BYTE_RANGES_MAX);
        CHECK(strncmp(read_ranges(value, 1000), "1-1,1-1,", 8) == 0);
        repeat(value, "1-1,", ED_BYTE_RANGES_MAX + 1);
        check(value, 1000, "whole");
        /* Also if the content does not have them. */
        repeat(value, "20-,", ED_BYTE_RANGES_MAX + 1);
        check(value, 10, "whole");
}
