/*
 * test_http_date.c - dates in HTTP and Retry-After.
 */
#include <errno.h>

#include "eddy/http_date.h"
#include "test.h"

enum { EXAMPLE = 784111777 }; /* RFC 9110: 1994-11-06 08:49:37 */

static const int64_t now = 1795235848; /* 2026-11-21 */

static int64_t parse(const char *text)
{
        int64_t seconds = INT64_MIN;

        CHECK_EQ(eddy_http_date_parse(text, strlen(text), now, &seconds), 0);
        return seconds;
}

static void check_refused(const char *text)
{
        int64_t seconds = 42;

        if (eddy_http_date_parse(text, strlen(text), now, &seconds) != -EINVAL)
                test_fail(__FILE__, __LINE__, "%s was read", text);
        CHECK_EQ(seconds, 42);
}

TEST(all_three_forms_of_a_date_are_read)
{
        CHECK_EQ(parse("Sun, 06 Nov 1994 08:49:37 GMT"), EXAMPLE);
        CHECK_EQ(parse("Sunday, 06-Nov-94 08:49:37 GMT"), EXAMPLE);
        CHECK_EQ(parse("Sun Nov  6 08:49:37 1994"), EXAMPLE);
        CHECK_EQ(parse("Thu Nov 16 08:49:37 1994"), EXAMPLE + 10 * 86400);
}

TEST(dates_around_epochs_and_leap_days_are_right)
{
        CHECK_EQ(parse("Thu, 01 Jan 1970 00:00:00 GMT"), 0);
        CHECK_EQ(parse("Wed, 31 Dec 1969 23:59:59 GMT"), -1);
        CHECK_EQ(parse("Tue, 29 Feb 2000 00:00:00 GMT"), 951782400);
        CHECK_EQ(parse("Mon, 01 Mar 2100 00:00:00 GMT"), 4107542400);
        CHECK_EQ(parse("Thu, 29 Feb 2024 12:00:00 GMT"), 1709208000);
        CHECK_EQ(parse("Fri, 01 Mar 2024 00:00:00 GMT"), 1709251200);
        CHECK_EQ(parse("Wed, 01 Mar 2023 00:00:00 GMT"), 1677628800);
        CHECK_EQ(parse("Tue, 19 Jan 2038 03:14:08 GMT"), 2147483648);
        CHECK_EQ(parse("Fri, 31 Dec 9999 23:59:59 GMT"), 253402300799);
        CHECK_EQ(parse("Mon, 01 Jan 1601 00:00:00 GMT"), -11644473600);
}

TEST(year_of_two_digits_is_at_most_50_years_ahead)
{
        CHECK_EQ(parse("Saturday, 01-Jan-76 00:00:00 GMT"), 3345062400); /* 2076 */
        CHECK_EQ(parse("Saturday, 01-Jan-77 00:00:00 GMT"), 220924800);  /* 1977 */
}

TEST(leap_second_is_the_second_before_it)
{
        CHECK_EQ(parse("Sat, 31 Dec 2016 23:59:60 GMT"), parse("Sat, 31 Dec 2016 23:59:59 GMT"));
}

TEST(date_that_does_not_exist_is_refused)
{
        check_refused("Sun, 00 Nov 1994 08:49:37 GMT");
        check_refused("Sun, 31 Nov 1994 08:49:37 GMT");
        check_refused("Sun, 32 Nov 1994 08:49:37 GMT");
        check_refused("Sun, 06 Foo 1994 08:49:37 GMT");
        check_refused("Sun, 29 Feb 1994 08:49:37 GMT");
        check_refused("Sun, 29 Feb 2100 08:49:37 GMT");
        check_refused("Sun, 06 Nov 1994 24:00:00 GMT");
        check_refused("Sun, 06 Nov 1994 08:60:37 GMT");
        check_refused("Sun, 06 Nov 1994 08:49:61 GMT");
        check_refused("Sun, 06 Nov 1600 08:49:37 GMT");
        check_refused("Sun, 06 Now 1994 08:49:37 GMT");
        check_refused("Son, 06 Nov 1994 08:49:37 GMT");
}

TEST(date_in_another_form_is_refused)
{
        check_refused("");
        check_refused("Sun");
        check_refused("Sun, 06 Nov 1994 08:49:37");
        check_refused("Sun, 06 Nov 1994 08:49:37 GMT ");
        check_refused("Sun, 06 Nov 1994 08:49:37 GMT and more");
        check_refused(", 06-Nov-9");
        check_refused("Sun Nov  6 08:49");
        check_refused("Sun, 06 Nov 1994 08:49:37 UTC");
        check_refused("Sun, 06 Nov 1994 08:49:37 +0000");
        check_refused("Sun, 6 Nov 1994 08:49:37 GMT");
        check_refused("sun, 06 nov 1994 08:49:37 gmt");
        check_refused("Sun, 06  Nov 1994 08:49:37 GMT");
        check_refused("Sun, 06 Nov 1994 8:49:37 GMT");
        check_refused("Sun, +6 Nov 1994 08:49:37 GMT");
        check_refused("Sun, 06-Nov-94 08:49:37 GMT");
        check_refused("Sun Nov   08:49:37 1994");
        check_refused("1994-11-06T08:49:37Z");
}

TEST(date_cut_at_any_place_is_refused)
{
        static const char *const dates[] = { "Sun, 06 Nov 1994 08:49:37 GMT",
                                             "Sunday, 06-Nov-94 08:49:37 GMT",
                                             "Sun Nov  6 08:49:37 1994" };

        for (size_t i = 0; i < 3; i++) {
                for (size_t bytes = 0; bytes < strlen(dates[i]); bytes++) {
                        char *exact = malloc(bytes ? bytes : 1);
                        int64_t seconds;

                        CHECK(exact);
                        memcpy(exact, dates[i], bytes);
                        CHECK_EQ(eddy_http_date_parse(exact, bytes, now, &seconds), -EINVAL);
                        free(exact);
                }
        }
}

TEST(date_is_written_in_the_fixed_form)
{
        char out[EDDY_HTTP_DATE_BYTES + 1];

        CHECK_EQ(eddy_http_date_format(EXAMPLE, out), 0);
        CHECK_STR(out, "Sun, 06 Nov 1994 08:49:37 GMT");
        CHECK_EQ(eddy_http_date_format(-1, out), 0);
        CHECK_STR(out, "Wed, 31 Dec 1969 23:59:59 GMT");
        CHECK_EQ(eddy_http_date_format(253402300800, out), -ERANGE);
        CHECK_EQ(eddy_http_date_format(-11644473601, out), -ERANGE);
        CHECK_EQ(eddy_http_date_format(INT64_MIN, out), -ERANGE);
        CHECK_EQ(eddy_http_date_format(INT64_MAX, out), -ERANGE);
        CHECK_STR(out, "Wed, 31 Dec 1969 23:59:59 GMT");
}

TEST(date_written_is_read_back_on_every_day_of_four_centuries)
{
        for (int64_t day = -134774; day < -134774 + 4 * 146097; day += 1) {
                char out[EDDY_HTTP_DATE_BYTES + 1];
                int64_t seconds = day * 86400 + (day * 7919 % 86400 + 86400) % 86400;

                CHECK_EQ(eddy_http_date_format(seconds, out), 0);
                CHECK_EQ(parse(out), seconds);
        }
}

static int64_t delay(const char *text)
{
        int64_t delay_ns = INT64_MIN;

        CHECK_EQ(eddy_http_retry_after_parse(text, strlen(text), EXAMPLE, &delay_ns), 0);
        return delay_ns;
}

/* B50, B51: Seconds, with or without decimals. */
TEST(retry_after_takes_seconds)
{
        CHECK_EQ(delay("0"), 0);
        CHECK_EQ(delay("120"), 120000000000);
        CHECK_EQ(delay("007"), 7000000000);
        CHECK_EQ(delay("1.5"), 1500000000);
        CHECK_EQ(delay("0.000000001"), 1);
        CHECK_EQ(delay("0.0000000019"), 1);
}

/* B50, B51: A date in the past is no wait. */
TEST(retry_after_takes_a_date)
{
        CHECK_EQ(delay("Sun, 06 Nov 1994 08:49:40 GMT"), 3000000000);
        CHECK_EQ(delay("Sun, 06 Nov 1994 08:49:37 GMT"), 0);
        CHECK_EQ(delay("Sun, 06 Nov 1994 08:49:30 GMT"), 0);
        CHECK_EQ(delay("Fri, 31 Dec 9999 23:59:59 GMT"), INT64_MAX);
}

TEST(retry_after_too_long_is_the_longest_there_is)
{
        CHECK_EQ(delay("1000000000"), 1000000000000000000);
        CHECK_EQ(delay("1000000000.999999999"), 1000000000999999999);
        CHECK_EQ(delay("99999999999"), INT64_MAX);
        CHECK_EQ(delay("9999999999999999"), INT64_MAX);
        CHECK_EQ(delay("99999999999999999999999999999999999999"), INT64_MAX);
}

TEST(retry_after_takes_a_time_of_day_as_a_number)
{
        static const int64_t day_s = 1795235848;
        static const struct {
                const char *text;
                int64_t delay_ns;
        } cases[] = {
                { "1795235878", 30000000000 },
                { "1795235878.5", 30500000000 },
                { "1795235848", 0 },
                { "1795235847", 0 },
                { "1000000001", 0 },
                { "1795235878500", 30500000000 },
                { "1795235847999", 0 },
                { "100000000001", 0 },
                { "1795322248", 86400000000000 },
                { "0001795235878", 30000000000 },
                { "9999999999", INT64_MAX },
                { "1795235878000000", INT64_MAX },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                int64_t delay_ns = -1;

                CHECK_EQ(eddy_http_retry_after_parse(cases[i].text, strlen(cases[i].text), day_s,
                                                     &delay_ns),
                         0);
                CHECK_EQ(delay_ns, cases[i].delay_ns);
        }
}

TEST(retry_after_that_is_neither_is_refused)
{
        static const char *const values[] = { "",     "-1",    "+1",   "1e3", "inf",  "nan",
                                              "0x10", "1.",    ".5",   "1 ",  " 1",   "1,2",
                                              "1s",   "1.5.5", "1..2", ".",   "...",  "12:30",
                                              "\xff", "soon",  "1.-",  "1_0", "1.5e3" };

        for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
                int64_t delay_ns = 42;

                CHECK_EQ(eddy_http_retry_after_parse(values[i], strlen(values[i]), now, &delay_ns),
                         -EINVAL);
                CHECK_EQ(delay_ns, 42);
        }
}
