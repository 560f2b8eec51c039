/*
 * fetch/date.c - three forms of date, without strptime(): that one reads the
 * names of days and months in the language of the user.
 */
#include "fetch/date.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

struct date {
        int year, month, day, hour, minute, second;
};

/*
 * Match 'text' with a pattern: 'd' is a digit, 'm' a letter of a month's name,
 * 'w' a letter of a day's, 'p' a digit or a space; all else is itself.
 */
static bool matches(const char *text, const char *pattern)
{
        for (; *pattern; pattern++, text++) {
                bool digit = *text >= '0' && *text <= '9';
                bool letter = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z');

                if (*pattern == 'd'                      ? !digit
                    : *pattern == 'p'                    ? !digit && *text != ' '
                    : *pattern == 'w' || *pattern == 'm' ? !letter
                                                         : *text != *pattern)
                        return false;
        }
        return *text == '\0';
}

static int two_digits(const char *text)
{
        return (text[0] == ' ' ? 0 : text[0] - '0') * 10 + (text[1] - '0');
}

/* 1 to 12, or 0. */
static int month_of(const char *text)
{
        static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

        for (int i = 0; i < 12; i++) {
                if (strncmp(names + 3 * i, text, 3) == 0)
                        return i + 1;
        }
        return 0;
}

static void time_of(const char *text, struct date *date)
{
        date->hour = two_digits(text);
        date->minute = two_digits(text + 3);
        date->second = two_digits(text + 6);
}

static int64_t days_since_1970(const struct date *date)
{
        static const int before[] = { 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334 };
        int64_t y = date->year;
        bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
        int64_t leap_days = (y - 1) / 4 - (y - 1) / 100 + (y - 1) / 400 - 477;

        return (y - 1970) * 365 + leap_days + before[date->month - 1] + (leap && date->month > 2) +
               date->day - 1;
}

int ed_date_parse(const char *text, int64_t *ret_seconds)
{
        struct date date = { 0 };
        const char *comma = strchr(text, ',');

        if (matches(text, "www, dd mmm dddd dd:dd:dd GMT")) {
                date.day = two_digits(text + 5);
                date.month = month_of(text + 8);
                date.year = two_digits(text + 12) * 100 + two_digits(text + 14);
                time_of(text + 17, &date);
        } else if (matches(text, "www mmm pd dd:dd:dd dddd")) {
                date.day = two_digits(text + 8);
                date.month = month_of(text + 4);
                date.year = two_digits(text + 20) * 100 + two_digits(text + 22);
                time_of(text + 11, &date);
        } else if (comma && matches(comma, ", dd-mmm-dd dd:dd:dd GMT")) {
                /* Two digits: RFC 9110 has them mean at most 50 years ahead. */
                date.day = two_digits(comma + 2);
                date.month = month_of(comma + 5);
                date.year = two_digits(comma + 9);
                date.year += date.year < 70 ? 2000 : 1900;
                time_of(comma + 12, &date);
        }
        if (date.month == 0 || date.day < 1 || date.day > 31 || date.year < 1970 ||
            date.hour > 23 || date.minute > 59 || date.second > 60)
                return -EINVAL;
        *ret_seconds =
                days_since_1970(&date) * 86400 + date.hour * 3600 + date.minute * 60 + date.second;
        return 0;
}
