/*
 * wire/rfc3339.c - times of RFC 3339: reading and writing.
 */
#include "eddy/rfc3339.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/calendar.h"

#define SECOND_NS INT64_C(1000000000)

enum { NANO_DIGITS = 9 };

/* ---- reading --------------------------------------------------------------- */

/* A text being read from its start. Each step returns whether it matched. */
struct reader {
        const char *at;
        const char *end;
};

static bool is_digit(const struct reader *reader)
{
        return reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9';
}

/* Letters match in either case. */
static bool read_char(struct reader *reader, char c)
{
        if (reader->at == reader->end ||
            (*reader->at != c && !(c >= 'A' && *reader->at == (c | 0x20))))
                return false;
        reader->at++;
        return true;
}

/* Read exactly 'digits' digits, a number from 'min' to 'max'. */
static bool read_number(struct reader *reader, int digits, int min, int max, int *ret_number)
{
        int number = 0;

        for (int i = 0; i < digits; i++) {
                if (!is_digit(reader))
                        return false;
                number = number * 10 + (*reader->at++ - '0');
        }
        *ret_number = number;
        return number >= min && number <= max;
}

static bool read_date(struct reader *reader, int64_t *ret_days)
{
        int year, month, day;

        if (!read_number(reader, 4, 0, 9999, &year) || !read_char(reader, '-') ||
            !read_number(reader, 2, 1, 12, &month) || !read_char(reader, '-') ||
            !read_number(reader, 2, 1, ed_month_days(year, month), &day))
                return false;
        *ret_days = ed_date_to_days(year, month, day);
        return true;
}

static bool read_clock(struct reader *reader, int *ret_seconds, bool *ret_is_leap)
{
        int hour, minute, second;

        if (!read_number(reader, 2, 0, 23, &hour) || !read_char(reader, ':') ||
            !read_number(reader, 2, 0, 59, &minute) || !read_char(reader, ':') ||
            !read_number(reader, 2, 0, 60, &second))
                return false;
        *ret_is_leap = second == 60;
        *ret_seconds = hour * 3600 + minute * 60 + second - *ret_is_leap;
        return true;
}

static bool read_fraction(struct reader *reader, int64_t *ret_ns)
{
        int64_t scale_ns = SECOND_NS;

        *ret_ns = 0;
        if (!read_char(reader, '.'))
                return true;
        if (!is_digit(reader))
                return false;
        for (; is_digit(reader); reader->at++) {
                scale_ns /= 10;
                *ret_ns += scale_ns * (*reader->at - '0');
        }
        return true;
}

/* Seconds to the east of UTC. */
static bool read_offset(struct reader *reader, int *ret_seconds)
{
        int hour, minute, sign = 1;

        *ret_seconds = 0;
        if (read_char(reader, 'Z'))
                return true;
        if (read_char(reader, '-'))
                sign = -1;
        else if (!read_char(reader, '+'))
                return false;
        if (!read_number(reader, 2, 0, 23, &hour) || !read_char(reader, ':') ||
            !read_number(reader, 2, 0, 59, &minute))
                return false;
        *ret_seconds = sign * (hour * 3600 + minute * 60);
        return true;
}

/* Returns whether the second after this one begins a month. */
static bool is_end_of_month(int64_t seconds)
{
        return (seconds + 1) % ED_DAY_SECONDS == 0 &&
               ed_date_from_days(ed_days_of_seconds(seconds + 1)).day == 1;
}

static int to_ns(int64_t seconds, int64_t ns, int64_t *ret_time_ns)
{
        int64_t total;

        /* Both parts with the sign of the time: the earliest time has no whole second before it. */
        if (seconds < 0 && ns > 0) {
                seconds++;
                ns -= SECOND_NS;
        }
        if (__builtin_mul_overflow(seconds, SECOND_NS, &total) ||
            __builtin_add_overflow(total, ns, &total))
                return -ERANGE;
        *ret_time_ns = total;
        return 0;
}

int eddy_rfc3339_parse(const char *text, size_t bytes, int64_t *ret_time_ns)
{
        struct reader reader = { text, text + bytes };
        int64_t days, seconds, ns;
        int clock, offset;
        bool is_leap;

        if (!read_date(&reader, &days) || !read_char(&reader, 'T') ||
            !read_clock(&reader, &clock, &is_leap) || !read_fraction(&reader, &ns) ||
            !read_offset(&reader, &offset) || reader.at != reader.end)
                return -EINVAL;
        seconds = days * ED_DAY_SECONDS + clock - offset;
        if (is_leap && !is_end_of_month(seconds))
                return -EINVAL;
        return to_ns(seconds, is_leap ? SECOND_NS - 1 : ns, ret_time_ns);
}

/* ---- writing --------------------------------------------------------------- */

size_t eddy_rfc3339_format(int64_t time_ns, unsigned digits, char out[EDDY_RFC3339_TEXT_BYTES])
{
        int64_t seconds = time_ns / SECOND_NS - (time_ns % SECOND_NS < 0);
        int64_t days = ed_days_of_seconds(seconds);
        int clock = (int) (seconds - days * ED_DAY_SECONDS);
        /* Not time_ns - seconds * SECOND_NS: the product may be below all times. */
        int ns = (int) (time_ns % SECOND_NS + (time_ns % SECOND_NS < 0 ? SECOND_NS : 0));
        struct ed_date date = ed_date_from_days(days);
        char *to = ed_digits_put(out, date.year, 4);

        *to++ = '-';
        to = ed_digits_put(to, date.month, 2);
        *to++ = '-';
        to = ed_digits_put(to, date.day, 2);
        *to++ = 'T';
        to = ed_digits_put(to, clock / 3600, 2);
        *to++ = ':';
        to = ed_digits_put(to, clock / 60 % 60, 2);
        *to++ = ':';
        to = ed_digits_put(to, clock % 60, 2);
        if (digits > 0) {
                *to++ = '.';
                (void) ed_digits_put(to, ns, NANO_DIGITS);
                to += digits < NANO_DIGITS ? digits : NANO_DIGITS;
        }
        *to++ = 'Z';
        *to = '\0';
        return (size_t) (to - out);
}
