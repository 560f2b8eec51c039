/*
 * base/calendar.h - the Gregorian calendar, also for the years before it was introduced.
 */
#ifndef ED_BASE_CALENDAR_H
#define ED_BASE_CALENDAR_H

#include <stdint.h>

#include "base/def.h"

enum { ED_DAY_SECONDS = 24 * 60 * 60 };

/* Month and day count from 1. */
struct ed_date {
        int year, month, day;
};

/* Returns the number of days of a month, 1 to 12. */
ED_SHARED int ed_month_days(int year, int month);

/* Returns the days since 1970-01-01 of a date with a month of 1 to 12; the year is at least 0. */
ED_SHARED int64_t ed_date_to_days(int year, int month, int day);

/* The opposite, for dates of year 0 or later. */
ED_SHARED struct ed_date ed_date_from_days(int64_t days);

/* Returns the days since 1970-01-01 of a time in seconds since then; negative times have days too. */
static inline int64_t ed_days_of_seconds(int64_t seconds)
{
        return seconds / ED_DAY_SECONDS - (seconds % ED_DAY_SECONDS < 0);
}

/* Write a number of 'digits' digits. Returns the place after the last one. */
static inline char *ed_digits_put(char *to, int number, int digits)
{
        for (int i = digits - 1; i >= 0; i--) {
                to[i] = (char) ('0' + number % 10);
                number /= 10;
        }
        return to + digits;
}

#endif
