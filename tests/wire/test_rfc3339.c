/*
 * test_rfc3339.c - times as text.
 *
 * - All of the grammar of RFC 3339, 5.6, is read, and nothing else.
 * - A text that is cut, extended or changed in one character is another time or is refused.
 * - Each day of all times that exist is written and read back.
 * - A text is never later than its time, and texts of one form sort as their times.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "eddy/rfc3339.h"
#include "eddy/time.h"
#include "test.h"

enum { NOW_S = 1795406400 }; /* 2026-11-23 04:00:00 */

#define DAY_NS (INT64_C(86400) * 1000000000)

static int64_t parse(const char *text)
{
        int64_t ns = -7;

        CHECK_EQ(eddy_rfc3339_parse(text, strlen(text), &ns), 0);
        return ns;
}

static void check_refused(const char *text, int expected)
{
        int64_t ns = 42;
        int err = eddy_rfc3339_parse(text, strlen(text), &ns);

        if (err != expected)
                test_fail(__FILE__, __LINE__, "'%s' gave %d", text, err);
        CHECK_EQ(ns, 42);
}

static void check_written(int64_t time_ns, unsigned digits, const char *expected)
{
        char text[EDDY_RFC3339_TEXT_BYTES];
        size_t bytes;

        memset(text, '#', sizeof(text));
        bytes = eddy_rfc3339_format(time_ns, digits, text);
        CHECK_STR(text, expected);
        CHECK_EQ(bytes, strlen(expected));
}

/* ---- reading --------------------------------------------------------------- */

TEST(times_have_a_fraction_and_an_offset)
{
        CHECK_EQ(parse("1970-01-01T00:00:00Z"), 0);
        CHECK_EQ(parse("1970-01-01T00:00:00.000000001Z"), 1);
        CHECK_EQ(parse("2026-11-23T04:00:00Z"), EDDY_SEC(NOW_S));
        CHECK_EQ(parse("2026-11-23t04:00:00z"), EDDY_SEC(NOW_S));
        CHECK_EQ(parse("2026-11-23T06:00:00+02:00"), EDDY_SEC(NOW_S));
        CHECK_EQ(parse("2026-11-22T22:30:00-05:30"), EDDY_SEC(NOW_S));
        CHECK_EQ(parse("2026-11-24T03:59:00+23:59"), EDDY_SEC(NOW_S));
        CHECK_EQ(parse("2026-11-22T04:01:00-23:59"), EDDY_SEC(NOW_S));
        CHECK_EQ(parse("2026-11-23T04:00:00-00:00"), EDDY_SEC(NOW_S));
        CHECK_EQ(parse("2026-11-23T04:00:00.25Z"), EDDY_SEC(NOW_S) + EDDY_MS(250));
        CHECK_EQ(parse("2024-02-29T12:00:00.123456789Z"), EDDY_SEC(1709208000) + 123456789);
        CHECK_EQ(parse("2024-02-29T12:00:00.1234567899999Z"), EDDY_SEC(1709208000) + 123456789);
}

/* RFC 3339, 5.8. */
TEST(the_examples_of_the_standard_are_read)
{
        CHECK_EQ(parse("1985-04-12T23:20:50.52Z"), EDDY_SEC(482196050) + EDDY_MS(520));
        CHECK_EQ(parse("1996-12-19T16:39:57-08:00"), parse("1996-12-20T00:39:57Z"));
        CHECK_EQ(parse("1990-12-31T23:59:60Z"), parse("1990-12-31T15:59:60-08:00"));
        CHECK_EQ(parse("1937-01-01T12:00:27.87+00:20"), parse("1937-01-01T11:40:27.87Z"));
}

TEST(times_before_1970_are_negative)
{
        CHECK_EQ(parse("1969-12-31T23:59:59Z"), -EDDY_SEC(1));
        CHECK_EQ(parse("1969-12-31T23:59:59.75Z"), -EDDY_MS(250));
        CHECK_EQ(parse("1969-12-31T23:59:59.999999999Z"), -1);
        CHECK_EQ(parse("1900-03-01T00:00:00Z"), -EDDY_SEC(INT64_C(2203891200)));
}

TEST(a_leap_second_is_the_last_nanosecond_before_it)
{
        const int64_t last_ns = EDDY_SEC(1483228800) - 1; /* of 2016 */

        CHECK_EQ(parse("2016-12-31T23:59:60Z"), last_ns);
        CHECK_EQ(parse("2016-12-31T23:59:60.5Z"), last_ns);
        CHECK_EQ(parse("2017-01-01T05:29:60+05:30"), last_ns);
        CHECK_EQ(parse("2016-12-31T15:59:60-08:00"), last_ns);
        CHECK_EQ(parse("2015-06-30T23:59:60Z"), EDDY_SEC(1435708800) - 1);
        CHECK_EQ(parse("1972-02-29T23:59:60Z"), parse("1972-03-01T00:00:00Z") - 1);
        /* Not at the end of a month in UTC. */
        check_refused("2016-12-31T23:58:60Z", -EINVAL);
        check_refused("2016-12-31T22:59:60Z", -EINVAL);
        check_refused("2016-12-30T23:59:60Z", -EINVAL);
        check_refused("2016-12-31T23:59:60+01:00", -EINVAL);
        check_refused("1972-02-28T23:59:60Z", -EINVAL);
        check_refused("2016-12-31T23:59:61Z", -EINVAL);
}

TEST(times_that_an_int64_does_not_have_are_out_of_range)
{
        CHECK_EQ(parse("2262-04-11T23:47:16.854775807Z"), INT64_MAX);
        CHECK_EQ(parse("1677-09-21T00:12:43.145224192Z"), INT64_MIN);
        check_refused("2262-04-11T23:47:16.854775808Z", -ERANGE);
        check_refused("1677-09-21T00:12:43.145224191Z", -ERANGE);
        check_refused("2262-04-11T23:47:17Z", -ERANGE);
        check_refused("1677-09-21T00:12:43Z", -ERANGE);
        check_refused("0000-01-01T00:00:00Z", -ERANGE);
        check_refused("0000-01-01T00:00:00+23:59", -ERANGE);
        check_refused("9999-12-31T23:59:59.999999999-23:59", -ERANGE);
        check_refused("9999-12-31T23:59:60Z", -ERANGE);
        /* The offset decides. */
        CHECK_EQ(parse("2262-04-12T01:47:16.854775807+02:00"), INT64_MAX);
        CHECK_EQ(parse("1677-09-20T22:12:43.145224192-02:00"), INT64_MIN);
}

TEST(dates_and_times_that_do_not_exist_are_refused)
{
        static const char *const texts[] = {
                "2026-00-23T04:00:00Z",      "2026-13-23T04:00:00Z",      "2026-11-00T04:00:00Z",
                "2026-11-31T04:00:00Z",      "2026-02-29T04:00:00Z",      "2100-02-29T04:00:00Z",
                "2026-11-23T24:00:00Z",      "2026-11-23T04:60:00Z",      "2026-11-23T04:00:61Z",
                "2026-11-23T04:00:00+24:00", "2026-11-23T04:00:00-01:60", "0000-02-30T04:00:00Z",
        };

        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
                check_refused(texts[i], -EINVAL);
        CHECK(parse("2000-02-29T04:00:00Z") > 0);
        check_refused("0000-02-29T04:00:00Z", -ERANGE); /* exists */
}

TEST(other_texts_are_not_times)
{
        static const char *const texts[] = {
                "",
                "2026-11-23",
                "04:00:00Z",
                "2026-11-23T04:00:00",
                "2026-11-23 04:00:00Z",
                "2026-11-23T04:00Z",
                "20261123T040000Z",
                "2026-11-23T04:00:00,5Z",
                "2026-11-23T04:00:00.Z",
                "2026-11-23T04:00:00.+01:00",
                "2026-11-23T04:00:00.5",
                "2026-11-23T04:00:00+0100",
                "2026-11-23T04:00:00+01",
                "2026-11-23T04:00:00+1:00",
                "2026-11-23T04:00:00ZZ",
                "2026-11-23T04:00:00 Z",
                " 2026-11-23T04:00:00Z",
                "2026-11-23T04:00:00Z ",
                "2026-11-23T04:00:00UTC",
                "2026-1-23T04:00:00Z",
                "26-11-23T04:00:00Z",
                "+2026-11-23T04:00:00Z",
                "-2026-11-23T04:00:00Z",
                "12026-11-23T04:00:00Z",
                "2026-W48-1T04:00:00Z",
                "2026-327T04:00:00Z",
                "2026/11/23T04:00:00Z",
                "2026-11-23T 4:00:00Z",
                "2026-11-23T+4:00:00Z",
                "2026-11-23T04:00:00\342\210\22201:00", /* the minus sign of Unicode */
                "now",
        };
        static const char nul[] = "2026-11-23T04:00:00Z\0";
        int64_t ns = 42;

        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
                check_refused(texts[i], -EINVAL);
        CHECK_EQ(eddy_rfc3339_parse(nul, sizeof(nul) - 1, &ns), -EINVAL);
        CHECK_EQ(eddy_rfc3339_parse(NULL, 0, &ns), -EINVAL);
        CHECK_EQ(ns, 42);
}

TEST(a_text_is_read_only_to_its_length)
{
        static const char text[] = "2026-11-23T04:00:00.123+02:00";

        for (size_t bytes = 0; bytes < sizeof(text) - 1; bytes++) {
                char *copy = malloc(bytes + (bytes == 0)); /* a read after it is found by ASan */
                int64_t ns = 42;

                CHECK(copy != NULL);
                memcpy(copy, text, bytes);
                CHECK_EQ(eddy_rfc3339_parse(copy, bytes, &ns), -EINVAL);
                CHECK_EQ(ns, 42);
                free(copy);
        }
}

/* Every character in each place: accepted texts are written back as UTC and mean the same. */
TEST(one_changed_character_gives_another_time_or_none)
{
        static const char text[] = "2026-11-23T04:05:06.123456789-02:30";

        for (size_t at = 0; at < sizeof(text) - 1; at++)
                for (int c = 0; c < 256; c++) {
                        char changed[sizeof(text)], back[EDDY_RFC3339_TEXT_BYTES];
                        int64_t ns = 42, again;

                        memcpy(changed, text, sizeof(text));
                        changed[at] = (char) c;
                        if (eddy_rfc3339_parse(changed, sizeof(text) - 1, &ns) < 0) {
                                CHECK_EQ(ns, 42);
                                continue;
                        }
                        CHECK(ns != parse(text) || c == text[at] || (at == 10 && c == 't'));
                        CHECK_EQ(eddy_rfc3339_format(ns, 9, back), EDDY_RFC3339_TEXT_BYTES - 1);
                        CHECK_EQ(eddy_rfc3339_parse(back, EDDY_RFC3339_TEXT_BYTES - 1, &again), 0);
                        CHECK_EQ(again, ns);
                }
}

/* ---- writing --------------------------------------------------------------- */

TEST(times_are_written_in_utc_with_up_to_nine_digits)
{
        const int64_t ns = EDDY_SEC(NOW_S) + EDDY_SEC(3661) + 987654321;

        check_written(0, 0, "1970-01-01T00:00:00Z");
        check_written(0, 9, "1970-01-01T00:00:00.000000000Z");
        check_written(ns, 0, "2026-11-23T05:01:01Z");
        check_written(ns, 1, "2026-11-23T05:01:01.9Z");
        check_written(ns, 3, "2026-11-23T05:01:01.987Z");
        check_written(ns, 6, "2026-11-23T05:01:01.987654Z");
        check_written(ns, 9, "2026-11-23T05:01:01.987654321Z");
        check_written(ns, 10, "2026-11-23T05:01:01.987654321Z");
        check_written(ns, UINT32_MAX, "2026-11-23T05:01:01.987654321Z");
        check_written(INT64_MAX, 9, "2262-04-11T23:47:16.854775807Z");
        check_written(INT64_MIN, 9, "1677-09-21T00:12:43.145224192Z");
}

TEST(a_text_is_never_later_than_its_time)
{
        check_written(-1, 0, "1969-12-31T23:59:59Z");
        check_written(-1, 3, "1969-12-31T23:59:59.999Z");
        check_written(-EDDY_SEC(1), 3, "1969-12-31T23:59:59.000Z");
        check_written(-EDDY_SEC(1) - 1, 3, "1969-12-31T23:59:58.999Z");
        check_written(EDDY_MS(1) - 1, 3, "1970-01-01T00:00:00.000Z");
        check_written(-DAY_NS, 0, "1969-12-31T00:00:00Z");
        check_written(-DAY_NS - 1, 0, "1969-12-30T23:59:59Z");
}

TEST(each_day_that_exists_is_written_and_read_back_in_order)
{
        char before[EDDY_RFC3339_TEXT_BYTES] = "";
        int64_t time_ns = INT64_MIN;

        for (;;) {
                char text[EDDY_RFC3339_TEXT_BYTES];

                CHECK_EQ(eddy_rfc3339_format(time_ns, 9, text), EDDY_RFC3339_TEXT_BYTES - 1);
                CHECK(strcmp(before, text) < 0);
                CHECK_EQ(parse(text), time_ns);
                memcpy(before, text, sizeof(text));
                if (time_ns > INT64_MAX - DAY_NS)
                        break;
                time_ns += DAY_NS;
        }
        CHECK(strncmp(before, "2262-04-1", 9) == 0);
}
