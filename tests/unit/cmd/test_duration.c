/*
 * test_duration.c - durations need a unit, take decimals, and nothing that
 * strtod() would take beyond; printed they have at most three digits or two
 * units.
 */
#include "test.h"

#include "common/duration.h"
#include "eddy/time.h"

static int64_t parsed(const char *text)
{
        const char *why = NULL;
        int64_t ns = -1;

        if (ed_duration_parse(text, &ns, &why) < 0) {
                CHECK(why);
                CHECK_EQ(ns, -1); /* outputs are untouched on failure */
                return -1;
        }
        CHECK(!why);
        return ns;
}

static const char *why_not(const char *text)
{
        const char *why = "accepted";
        int64_t ns;

        CHECK(ed_duration_parse(text, &ns, &why) < 0);
        return why;
}

TEST(each_unit_is_read)
{
        CHECK_EQ(parsed("250ms"), EDDY_MS(250));
        CHECK_EQ(parsed("2.5s"), EDDY_MS(2500));
        CHECK_EQ(parsed("1m"), EDDY_MIN(1));
        CHECK_EQ(parsed("7us"), EDDY_US(7));
        CHECK_EQ(parsed("1.5h"), EDDY_MIN(90));
        CHECK_EQ(parsed("0s"), 0);
        CHECK_EQ(parsed(".5s"), EDDY_MS(500));
        CHECK_EQ(parsed("3.s"), EDDY_SEC(3));
        CHECK_EQ(parsed("0.000000001s"), 1);
        CHECK_EQ(parsed("0.1m"), EDDY_SEC(6));
}

TEST(bare_number_is_refused_with_advice_to_add_a_unit)
{
        CHECK(strstr(why_not("5"), "add one"));
        CHECK(strstr(why_not("2.5"), "add one"));
        CHECK(strstr(why_not("1m30s"), "in one"));
}

TEST(a_text_that_is_not_a_duration_is_refused)
{
        static const char *const cases[] = {
                "",     "s",   "-1s",  "+1s",    "1e3s",   "0x1s",  "infs",
                "nans", "1 s", " 1s",  "1s ",    "1.2.3s", ".s",    "1S",
                "1d",   "1sm", "1,5s", "99999h", "8761h",  "1ms2s", "99999999999999999999999999s",
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                if (parsed(cases[i]) != -1)
                        test_fail(__FILE__, __LINE__, "\"%s\" was accepted", cases[i]);
        }
}

TEST(year_is_the_maximum)
{
        CHECK_EQ(parsed("8760h"), ED_DURATION_MAX_NS);
        CHECK_EQ(parsed("8760.1h"), -1);
}

TEST(seconds_are_read_up_to_an_end)
{
        const char *text = "1.25&x=1";
        int64_t ns = -1;

        CHECK_EQ(ed_duration_parse_seconds(text, text + 4, &ns), 0);
        CHECK_EQ(ns, EDDY_MS(1250));
        CHECK(ed_duration_parse_seconds(text, NULL, &ns) < 0);
        CHECK(ed_duration_parse_seconds("", NULL, &ns) < 0);
        CHECK(ed_duration_parse_seconds("-1", NULL, &ns) < 0);
        CHECK(ed_duration_parse_seconds(".", NULL, &ns) < 0);
        CHECK_EQ(ns, EDDY_MS(1250));
}

static void check_print(int64_t ns, const char *expected)
{
        char text[ED_DURATION_TEXT_BYTES];

        ed_duration_print(ns, text);
        CHECK_STR(text, expected);
}

TEST(durations_print_in_the_unit_that_fits)
{
        check_print(0, "0us");
        check_print(-1, "0us");
        check_print(EDDY_US(999), "999us");
        check_print(EDDY_US(1000), "1.0ms");
        check_print(EDDY_US(1960), "2.0ms");
        check_print(EDDY_US(9949), "9.9ms");
        check_print(EDDY_US(9950), "10ms");
        check_print(EDDY_MS(250), "250ms");
        check_print(EDDY_US(999499), "999ms");
        check_print(EDDY_US(999500), "1.0s");
        check_print(EDDY_MS(1100), "1.1s");
        check_print(EDDY_MS(59949), "59.9s");
        check_print(EDDY_MS(59950), "1m00s");
        check_print(EDDY_SEC(411), "6m51s");
        check_print(EDDY_SEC(7500), "2h05m");
        check_print(INT64_MAX, "2562047h47m");
}
