/*
 * wire/http_date.c - dates in HTTP: parsing the three formats, and writing one.
 */
#include "eddy/http_date.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/calendar.h"

enum {
        YEAR_MIN = 1601,
        YEAR_MAX = 9999,
        NANO_DIGITS = 9,
};

static const char months[12][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };

static const char *const weekdays[7] = { "Sunday",   "Monday", "Tuesday", "Wednesday",
                                         "Thursday", "Friday", "Saturday" };

struct date {
        int year, month, day; /* month and day count from 1 */
        int hour, minute, second;
};

static bool seconds_are_in_range(int64_t seconds)
{
        return seconds >= ed_date_to_days(YEAR_MIN, 1, 1) * ED_DAY_SECONDS &&
               seconds < ed_date_to_days(YEAR_MAX + 1, 1, 1) * ED_DAY_SECONDS;
}

/* ---- reading --------------------------------------------------------------- */

/* A text being read from its start. Each step returns whether it matched. */
struct reader {
        const char *at;
        const char *end;
};

static bool read_text(struct reader *reader, const char *text)
{
        size_t bytes = strlen(text);

        if ((size_t) (reader->end - reader->at) < bytes || memcmp(reader->at, text, bytes) != 0)
                return false;
        reader->at += bytes;
        return true;
}

/*
 * Read exactly 'digits' digits. With 'may_pad', spaces may replace leading ones (asctime: "Nov
 * 6").
 */
static bool read_digits(struct reader *reader, int digits, bool may_pad, int *ret_number)
{
        int number = 0;

        if (reader->end - reader->at < digits)
                return false;
        for (int i = 0; i < digits; i++) {
                char c = reader->at[i];

                if (may_pad && i < digits - 1 && number == 0 && c == ' ')
                        c = '0';
                if (c < '0' || c > '9')
                        return false;
                number = number * 10 + (c - '0');
        }
        reader->at += digits;
        *ret_number = number;
        return true;
}

static bool read_month(struct reader *reader, int *ret_month)
{
        for (int i = 0; i < 12; i++) {
                if (read_text(reader, months[i])) {
                        *ret_month = i + 1;
                        return true;
                }
        }
        return false;
}

static bool read_clock(struct reader *reader, struct date *date)
{
        return read_digits(reader, 2, false, &date->hour) && read_text(reader, ":") &&
               read_digits(reader, 2, false, &date->minute) && read_text(reader, ":") &&
               read_digits(reader, 2, false, &date->second);
}

/* "06 Nov 1994 08:49:37 GMT" */
static bool read_fixed(struct reader *reader, struct date *date)
{
        return read_text(reader, " ") && read_digits(reader, 2, false, &date->day) &&
               read_text(reader, " ") && read_month(reader, &date->month) &&
               read_text(reader, " ") && read_digits(reader, 4, false, &date->year) &&
               read_text(reader, " ") && read_clock(reader, date) && read_text(reader, " GMT");
}

/* "06-Nov-94 08:49:37 GMT" */
static bool read_rfc850(struct reader *reader, struct date *date)
{
        return read_text(reader, " ") && read_digits(reader, 2, false, &date->day) &&
               read_text(reader, "-") && read_month(reader, &date->month) &&
               read_text(reader, "-") && read_digits(reader, 2, false, &date->year) &&
               read_text(reader, " ") && read_clock(reader, date) && read_text(reader, " GMT");
}

/* "Nov  6 08:49:37 1994" */
static bool read_asctime(struct reader *reader, struct date *date)
{
        return read_text(reader, " ") && read_month(reader, &date->month) &&
               read_text(reader, " ") && read_digits(reader, 2, true, &date->day) &&
               read_text(reader, " ") && read_clock(reader, date) && read_text(reader, " ") &&
               read_digits(reader, 4, false, &date->year);
}

/* RFC 9110, 5.6.7: a year more than 50 years in the future is in the past century. */
static int whole_year(int two_digits, int64_t now_s)
{
        int year, this_year;

        /* A clock out of range cannot determine the century. */
        this_year =
                ed_date_from_days(seconds_are_in_range(now_s) ? now_s / ED_DAY_SECONDS : 0).year;
        year = this_year - this_year % 100 + two_digits;
        if (year > this_year + 50)
                year -= 100;
        return year;
}

static bool date_is_valid(const struct date *date)
{
        return date->year >= YEAR_MIN && date->year <= YEAR_MAX && date->day >= 1 &&
               date->day <= ed_month_days(date->year, date->month) && date->hour <= 23 &&
               date->minute <= 59 && date->second <= 60;
}

int eddy_http_date_parse(const char *text, size_t bytes, int64_t now_s, int64_t *ret_seconds)
{
        struct reader reader = { text, text + bytes };
        struct date date;
        bool is_read = false;

        for (int i = 0; i < 7 && !is_read; i++) {
                char abbreviated[4] = { weekdays[i][0], weekdays[i][1], weekdays[i][2], '\0' };

                reader.at = text;
                if (read_text(&reader, weekdays[i]) && read_text(&reader, ",")) {
                        is_read = read_rfc850(&reader, &date);
                        if (is_read)
                                date.year = whole_year(date.year, now_s);
                        break;
                }
                reader.at = text;
                if (read_text(&reader, abbreviated)) {
                        is_read = read_text(&reader, ",") ? read_fixed(&reader, &date)
                                                          : read_asctime(&reader, &date);
                        break;
                }
        }
        if (!is_read || reader.at != reader.end || !date_is_valid(&date))
                return -EINVAL;
        if (date.second == 60)
                date.second = 59;
        *ret_seconds = ed_date_to_days(date.year, date.month, date.day) * ED_DAY_SECONDS +
                       date.hour * 3600 + date.minute * 60 + date.second;
        return 0;
}

/* ---- writing --------------------------------------------------------------- */

int eddy_http_date_format(int64_t seconds, char out[EDDY_HTTP_DATE_BYTES + 1])
{
        struct ed_date date;
        char *to = out;
        int64_t days;
        int rest, weekday;

        if (!seconds_are_in_range(seconds))
                return -ERANGE;
        days = ed_days_of_seconds(seconds);
        rest = (int) (seconds - days * ED_DAY_SECONDS);
        weekday = (int) (((days + 4) % 7 + 7) % 7); /* 1970-01-01 was a Thursday */
        date = ed_date_from_days(days);
        memcpy(to, weekdays[weekday], 3);
        memcpy(to + 3, ", ", 2);
        to = ed_digits_put(to + 5, date.day, 2);
        *to++ = ' ';
        memcpy(to, months[date.month - 1], 3);
        to[3] = ' ';
        to = ed_digits_put(to + 4, date.year, 4);
        *to++ = ' ';
        to = ed_digits_put(to, rest / 3600, 2);
        *to++ = ':';
        to = ed_digits_put(to, rest / 60 % 60, 2);
        *to++ = ':';
        to = ed_digits_put(to, rest % 60, 2);
        memcpy(to, " GMT", 5);
        return 0;
}
