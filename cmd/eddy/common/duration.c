/*
 * common/duration.c - parsing and printing durations.
 *
 * Does not use strtod(), which accepts "inf", "0x1p3" and, in some locales, a comma.
 */
#include "common/duration.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * Read the number at 'text', times 'unit_ns'. Returns the text after it, or NULL if the text
 * does not begin with a digit or the result is above the maximum.
 */
static const char *number_scale(const char *text, const char *end, int64_t unit_ns, int64_t *ret_ns)
{
        int64_t whole = 0, fraction_ns = 0, place_ns = unit_ns;
        int digits = 0;

        for (; text < end && *text >= '0' && *text <= '9'; text++, digits++) {
                whole = whole * 10 + (*text - '0');
                if (whole > ED_DURATION_MAX_NS / unit_ns)
                        return NULL;
        }
        if (text < end && *text == '.') {
                for (text++; text < end && *text >= '0' && *text <= '9'; text++, digits++) {
                        /* Ignore digits below a nanosecond. */
                        place_ns /= 10;
                        fraction_ns += (*text - '0') * place_ns;
                }
        }
        if (digits == 0 || whole * unit_ns + fraction_ns > ED_DURATION_MAX_NS)
                return NULL;
        *ret_ns = whole * unit_ns + fraction_ns;
        return text;
}

int ed_duration_parse(const char *text, int64_t *ret_ns, const char **ret_why)
{
        static const struct {
                const char *name;
                int64_t ns;
        } units[] = {
                { "us", 1000 },
                { "ms", 1000000 },
                { "s", 1000000000 },
                { "m", (int64_t) 60 * 1000000000 },
                { "h", (int64_t) 3600 * 1000000000 },
        };
        size_t number = strspn(text, "0123456789.");
        int64_t ns;
        const char *unit = text + number;

        if (number == 0) {
                *ret_why = "is not a duration such as 250ms, 2.5s or 1m";
                return -EINVAL;
        }
        if (*unit == '\0') {
                *ret_why = "has no unit: add one, as in 250ms, 2.5s or 1m";
                return -EINVAL;
        }
        if (strpbrk(unit, "0123456789")) {
                *ret_why = "is in several units: write it in one, as in 90s";
                return -EINVAL;
        }
        for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
                if (strcmp(unit, units[i].name) != 0)
                        continue;
                if (number_scale(text, unit, units[i].ns, &ns) != unit) {
                        *ret_why = "is not a number, or more than a year";
                        return -EINVAL;
                }
                *ret_ns = ns;
                return 0;
        }
        *ret_why = "has an unknown unit: us, ms, s, m and h are known";
        return -EINVAL;
}

int ed_duration_parse_seconds(const char *text, const char *end, int64_t *ret_ns)
{
        int64_t ns = 0;

        if (!end)
                end = text + strlen(text);
        if (text == end || number_scale(text, end, 1000000000, &ns) != end)
                return -EINVAL;
        *ret_ns = ns;
        return 0;
}

void ed_duration_print(int64_t duration_ns, char text[ED_DURATION_TEXT_BYTES])
{
        long long us = duration_ns > 0 ? duration_ns / 1000 : 0, seconds;

        if (us < 1000) {
                snprintf(text, ED_DURATION_TEXT_BYTES, "%lldus", us);
                return;
        }
        if (us < 9950) {
                snprintf(text, ED_DURATION_TEXT_BYTES, "%lld.%lldms", (us + 50) / 1000,
                         (us + 50) / 100 % 10);
                return;
        }
        if (us < 999500) {
                snprintf(text, ED_DURATION_TEXT_BYTES, "%lldms", (us + 500) / 1000);
                return;
        }
        if (us < 59950000) {
                snprintf(text, ED_DURATION_TEXT_BYTES, "%lld.%llds", (us + 50000) / 1000000,
                         (us + 50000) / 100000 % 10);
                return;
        }
        seconds = (us + 500000) / 1000000;
        if (seconds < 3600)
                snprintf(text, ED_DURATION_TEXT_BYTES, "%lldm%02llds", seconds / 60, seconds % 60);
        else
                snprintf(text, ED_DURATION_TEXT_BYTES, "%lldh%02lldm", seconds / 3600,
                         seconds / 60 % 60);
}
