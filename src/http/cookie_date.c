/*
 * http/cookie_date.c - the dates of Expires (RFC 6265bis, 5.1.1).
 *
 * The text is split at separators, and the first part that has the form of a time, a day, a month or
 * a year is taken for that. Other parts, for example the name of the day, are skipped.
 */
#include <string.h>
#include <strings.h>

#include "base/calendar.h"
#include "http/cookie_text.h"

enum { YEAR_MIN = 1601, YEAR_MAX = 9999 };

struct date {
        int hour, minute, second;
        int day, month, year; /* 0: not found; a year may be 0 */
        bool has_time, has_year;
};

static bool is_separator(unsigned char c)
{
        return c == 0x09 || (c >= 0x20 && c <= 0x2F) || (c >= 0x3B && c <= 0x40) ||
               (c >= 0x5B && c <= 0x60) || (c >= 0x7B && c <= 0x7E);
}

/* Read 'least' to 'most' digits; a digit after them is an error. */
static bool read_number(const char **text, const char *end, int least, int most, int *ret_number)
{
        const char *at = *text;
        int number = 0, digits = 0;

        for (; at < end && *at >= '0' && *at <= '9'; at++) {
                if (++digits > most)
                        return false;
                number = number * 10 + (*at - '0');
        }
        if (digits < least)
                return false;
        *text = at;
        *ret_number = number;
        return true;
}

static bool read_colon(const char **text, const char *end)
{
        if (*text == end || **text != ':')
                return false;
        (*text)++;
        return true;
}

static bool read_time(const char *text, const char *end, struct date *date)
{
        int hour, minute, second;

        if (!read_number(&text, end, 1, 2, &hour) || !read_colon(&text, end) ||
            !read_number(&text, end, 1, 2, &minute) || !read_colon(&text, end) ||
            !read_number(&text, end, 1, 2, &second))
                return false;
        date->hour = hour;
        date->minute = minute;
        date->second = second;
        date->has_time = true;
        return true;
}

static int month_of(const char *text, const char *end)
{
        static const char months[12][4] = { "jan", "feb", "mar", "apr", "may", "jun",
                                            "jul", "aug", "sep", "oct", "nov", "dec" };

        for (int i = 0; end - text >= 3 && i < 12; i++)
                if (strncasecmp(text, months[i], 3) == 0)
                        return i + 1;
        return 0;
}

/* Take a part for the first thing that was not found and has its form. */
static void take_part(struct date *date, const char *text, const char *end)
{
        const char *at = text;
        int number;

        if (!date->has_time && read_time(text, end, date))
                return;
        if (!date->day && read_number(&at, end, 1, 2, &number)) {
                date->day = number ? number : -1;
                return;
        }
        if (!date->month) {
                date->month = month_of(text, end);
                if (date->month)
                        return;
        }
        at = text;
        if (!date->has_year && read_number(&at, end, 2, 4, &number)) {
                date->year = number;
                date->has_year = true;
        }
}

bool ed_cookie_date_parse(const char *text, size_t bytes, int64_t *ret_seconds)
{
        const char *end = text + bytes;
        struct date date = { 0 };

        while (text < end) {
                const char *start;

                while (text < end && is_separator((unsigned char) *text))
                        text++;
                for (start = text; text < end && !is_separator((unsigned char) *text); text++)
                        continue;
                if (text > start)
                        take_part(&date, start, text);
        }
        if (date.year >= 70 && date.year <= 99)
                date.year += 1900;
        else if (date.year >= 0 && date.year <= 69)
                date.year += 2000;
        if (!date.has_time || !date.has_year || !date.month || date.day < 1 ||
            date.year < YEAR_MIN || date.year > YEAR_MAX ||
            date.day > ed_month_days(date.year, date.month) || date.hour > 23 || date.minute > 59 ||
            date.second > 59)
                return false;
        *ret_seconds = ed_date_to_days(date.year, date.month, date.day) * ED_DAY_SECONDS +
                       date.hour * 3600 + date.minute * 60 + date.second;
        return true;
}
