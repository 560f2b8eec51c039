/*
 * test_log_line.c - the parts of a line: times, strings, values, and where they are cut.
 */
#include "obs/log_line.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

#include "obs_test.h"

static char text[4096];

/* A line with room for 'bytes'; the text after it is checked to stay as it is. */
static struct ed_log_line line_of(size_t bytes)
{
        memset(text, '#', sizeof(text));
        return (struct ed_log_line){ text, text, text + bytes, false };
}

static const char *end(struct ed_log_line *line)
{
        CHECK(line->at <= line->end);
        CHECK(*line->end == '#');
        *line->at = '\0';
        return text;
}

TEST(times_are_dates_of_utc)
{
        static const struct {
                int64_t s;
                const char *text;
        } cases[] = {
                { 0, "1970-01-01T00:00:00.007Z" },
                { 68169599, "1972-02-28T23:59:59.007Z" },
                { 68169600, "1972-02-29T00:00:00.007Z" },
                { 951782400, "2000-02-29T00:00:00.007Z" },
                { 1735689599, "2024-12-31T23:59:59.007Z" },
                { 1795437005, "2026-11-23T12:30:05.007Z" },
                { 4107542399, "2100-02-28T23:59:59.007Z" },
                { 4107542400, "2100-03-01T00:00:00.007Z" }, /* not a leap year */
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct ed_log_line line = line_of(100);

                ed_log_line_time(&line, cases[i].s * 1000000000 + 7999999, true);
                CHECK_STR(end(&line), cases[i].text);
                line = line_of(100);
                ed_log_line_time(&line, cases[i].s * 1000000000 + 7999999, false);
                CHECK(strncmp(end(&line), cases[i].text + 11, 12) == 0);
                CHECK_EQ(strlen(text), 12);
        }
}

static const char *of_value(struct eddy_log_value value)
{
        struct ed_log_line line = line_of(1000);

        ed_log_line_value(&line, &value);
        CHECK(!line.is_cut);
        return end(&line);
}

TEST(each_kind_of_value_is_json)
{
        CHECK_STR(of_value(eddy_log_int("a", INT64_MIN)), ",\"a\":-9223372036854775808");
        CHECK_STR(of_value(eddy_log_uint("a", UINT64_MAX)), ",\"a\":18446744073709551615");
        CHECK_STR(of_value(eddy_log_bool("a", true)), ",\"a\":true");
        CHECK_STR(of_value(eddy_log_bool("a", false)), ",\"a\":false");
        CHECK_STR(of_value(eddy_log_double("a", 0.1)), ",\"a\":0.1");
        CHECK_STR(of_value(eddy_log_double("a", -1e300)), ",\"a\":-1e+300");
        CHECK_STR(of_value(eddy_log_double("a", 3)), ",\"a\":3");
        CHECK_STR(of_value(eddy_log_double("a", 1763882405.123)), ",\"a\":1763882405.123");
        CHECK_STR(of_value(eddy_log_double("a", __builtin_inf())), ",\"a\":null");
        CHECK_STR(of_value(eddy_log_double("a", __builtin_nan(""))), ",\"a\":null");
        CHECK_STR(of_value(eddy_log_str("a", "b\"\\\n\x01")), ",\"a\":\"b\\\"\\\\\\n\\u0001\"");
        CHECK_STR(of_value(eddy_log_str("a", NULL)), ",\"a\":null");
        CHECK_STR(of_value(eddy_log_str("a", "")), ",\"a\":\"\"");
        CHECK_STR(of_value(eddy_log_text("a", "b\0c", 3)), ",\"a\":\"b\\u0000c\"");
        CHECK_STR(of_value(eddy_log_str("a", "\xff\xc3\xa9\xc3")),
                  ",\"a\":\"\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\"");
        CHECK_STR(of_value(eddy_log_result("a", 0)), ",\"a\":0");
        CHECK_STR(of_value(eddy_log_result("a", 12)), ",\"a\":12");
        CHECK_STR(of_value(eddy_log_result("a", -ENOENT)),
                  ",\"a\":\"ENOENT: No such file or directory\"");
        CHECK_STR(of_value(eddy_log_result("a", INT64_MIN)), ",\"a\":-9223372036854775808");
}

TEST(milliseconds_are_rounded_to_tenths)
{
        CHECK_STR(of_value(eddy_log_ms("a", 0)), ",\"a\":0.0");
        CHECK_STR(of_value(eddy_log_ms("a", 49999)), ",\"a\":0.0");
        CHECK_STR(of_value(eddy_log_ms("a", 50000)), ",\"a\":0.1");
        CHECK_STR(of_value(eddy_log_ms("a", 1949999)), ",\"a\":1.9");
        CHECK_STR(of_value(eddy_log_ms("a", 1950000)), ",\"a\":2.0");
        CHECK_STR(of_value(eddy_log_ms("a", -1250000)), ",\"a\":-1.3");
        CHECK_STR(of_value(eddy_log_ms("a", INT64_MAX)), ",\"a\":9223372036854.8");
        CHECK_STR(of_value(eddy_log_ms("a", INT64_MIN)), ",\"a\":-9223372036854.8");
}

TEST(values_with_other_keys_are_left_out)
{
        CHECK_STR(of_value(eddy_log_int(NULL, 1)), "");
        CHECK_STR(of_value(eddy_log_int("", 1)), "");
        CHECK_STR(of_value(eddy_log_int("a b", 1)), "");
        CHECK_STR(of_value(eddy_log_int("a\"", 1)), "");
        CHECK_STR(of_value(eddy_log_int("\xc3\xa9", 1)), "");
        CHECK_STR(of_value(eddy_log_int("aZ09_-.", 1)), ",\"aZ09_-.\":1");
        CHECK_STR(of_value(eddy_log_int("level", 1)), ",\"level_\":1");
        CHECK_STR(of_value(eddy_log_int("cut", 1)), ",\"cut_\":1");
}

TEST(a_value_that_does_not_fit_is_left_out_as_a_whole)
{
        struct eddy_log_value first = eddy_log_int("a", 1), second = eddy_log_str("bc", "x\ny");

        for (size_t room = 0; room < 30; room++) {
                struct ed_log_line line = line_of(room);

                ed_log_line_value(&line, &first);
                ed_log_line_value(&line, &second);
                ed_log_line_value(&line, &first);
                (void) end(&line);
                if (room < 6)
                        CHECK_STR(text, "");
                else if (room < 6 + 12)
                        CHECK_STR(text, ",\"a\":1");
                else if (room < 6 + 12 + 6)
                        CHECK_STR(text, ",\"a\":1,\"bc\":\"x\\ny\"");
                else
                        CHECK_STR(text, ",\"a\":1,\"bc\":\"x\\ny\",\"a\":1");
                CHECK_EQ(line.is_cut, room < 24);
        }
}

TEST(a_text_that_cannot_fit_is_not_read)
{
        size_t bytes = 1 << 20;
        char *unreadable = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        struct eddy_log_value value = eddy_log_text("a", unreadable, bytes);
        struct ed_log_line line = line_of(1000);

        CHECK(unreadable != MAP_FAILED);
        ed_log_line_value(&line, &value);
        CHECK(line.is_cut);
        CHECK_STR(end(&line), "");
        munmap(unreadable, bytes);
}

TEST(json_is_cut_between_values)
{
        static const char json[] = ",\"a\":\"x,y\\\"\",\"b\":12,\"c\":null";
        static const size_t ends[] = { 0, 12, 19, 28 };

        CHECK_EQ(strlen(json), 28);
        for (size_t room = 0; room <= 28; room++) {
                struct ed_log_line line = line_of(room);
                size_t fits = 0;

                ed_log_line_json(&line, json, 28);
                for (size_t i = 0; i < 4; i++)
                        if (ends[i] <= room)
                                fits = ends[i];
                CHECK_EQ(strlen(end(&line)), fits);
                CHECK(strncmp(text, json, fits) == 0);
                CHECK_EQ(line.is_cut, room < 28);
        }
}

static const char *without(const char *json, const char *key)
{
        struct ed_log_line line = line_of(1000);
        size_t bytes = strlen(json);

        memcpy(text, json, bytes);
        line.at += bytes;
        CHECK_EQ(ed_log_line_remove(&line, bytes, key), bytes - (size_t) (line.at - text));
        return end(&line);
}

TEST(a_value_is_removed_by_its_key)
{
        static const char json[] = ",\"a\":\"x,\\\"b\\\":1\",\"b\":12,\"c\":null";

        CHECK_STR(without(json, "a"), ",\"b\":12,\"c\":null");
        CHECK_STR(without(json, "b"), ",\"a\":\"x,\\\"b\\\":1\",\"c\":null");
        CHECK_STR(without(json, "c"), ",\"a\":\"x,\\\"b\\\":1\",\"b\":12");
        CHECK_STR(without(json, "d"), json);
        CHECK_STR(without(json, ""), json);
        CHECK_STR(without(json, NULL), json);
        CHECK_STR(without("", "a"), "");
        /* A key that gets a '_' is removed as it was written. */
        CHECK_STR(without(",\"time_\":1,\"b\":2", "time"), ",\"b\":2");
        CHECK_STR(without(",\"time_\":1,\"b\":2", "time_"), ",\"b\":2");
        CHECK_STR(without(",\"time.\":1,\"b\":2", "time"), ",\"time.\":1,\"b\":2");
}

static const char *on_console(const char *json, bool colour)
{
        struct ed_log_line line = line_of(1000);

        ed_log_line_console(&line, json, strlen(json), colour);
        return end(&line);
}

TEST(a_terminal_gets_words_without_quotes)
{
        CHECK_STR(on_console(",\"a\":\"x\",\"b\":1,\"c\":\"two words\",\"d\":\"\",\"e\":\"a=b\"",
                             false),
                  " a=x b=1 c=\"two words\" d=\"\" e=\"a=b\"");
        CHECK_STR(on_console(",\"a\":\"x\"", true), " \x1b[36ma\x1b[0m=x");
}

TEST(a_terminal_gets_no_control_characters)
{
        struct ed_log_line line = line_of(1000);
        static const char bad[] = "a\x1b[2J\n\r\t\x7f\xc2\x9b\xc2\xa0\xff\xc3\xa9";

        ed_log_line_plain(&line, bad, sizeof(bad) - 1);
        CHECK_STR(end(&line), "a\\u001b[2J\\n\\r\\t\\u007f\\u009b\xc2\xa0\xef\xbf\xbd\xc3\xa9");
        /* JSON escapes C0 only. */
        CHECK_STR(on_console(",\"a\":\"x\x7f\xc2\x9by\"", false), " a=x\\u007f\\u009by");
}
