/*
 * base/calendar.c - see calendar.h. Years begin in March here, so the leap day is the last day of its
 * year; a cycle of the calendar, an era, has 400 years.
 */
#include "base/calendar.h"

enum { ERA_DAYS = 146097, EPOCH_DAYS = 719468 /* from 0000-03-01 to 1970-01-01 */ };

static int is_leap(int year)
{
        return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int ed_month_days(int year, int month)
{
        static const uint8_t days[12] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

        return days[month - 1] + (month == 2 && is_leap(year));
}

int64_t ed_date_to_days(int year, int month, int day)
{
        int64_t y = month <= 2 ? year - 1 : year;
        int64_t era = (y >= 0 ? y : y - 399) / 400;
        int64_t year_of_era = y - era * 400;
        int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
        int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

        return era * ERA_DAYS + day_of_era - EPOCH_DAYS;
}

struct ed_date ed_date_from_days(int64_t days)
{
        int64_t shifted = days + EPOCH_DAYS;
        int64_t era = (shifted >= 0 ? shifted : shifted - (ERA_DAYS - 1)) / ERA_DAYS;
        int64_t day_of_era = shifted - era * ERA_DAYS;
        int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 -
                               day_of_era / (ERA_DAYS - 1)) /
                              365;
        int64_t day_of_year =
                day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        int64_t month = (5 * day_of_year + 2) / 153;
        struct ed_date date;

        date.day = (int) (day_of_year - (153 * month + 2) / 5 + 1);
        date.month = (int) (month < 10 ? month + 3 : month - 9);
        date.year = (int) (year_of_era + era * 400 + (date.month <= 2));
        return date;
}
