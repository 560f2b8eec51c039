/*
 * pg/value.c - the text form of values: times and arrays.
 */
#include <errno.h>
#include <string.h>

#include "base/calendar.h"
#include "base/def.h"
#include "pg/pg.h"

#define NS ((int64_t) 1000000000)

/* --- times, as "2026-01-31 12:34:56.789+05:30" --- */

/* Read digits, at most nine, and move '*at' after them. Returns how many there were. */
static int digits(const char **at, int64_t *ret_number)
{
        int n = 0;

        *ret_number = 0;
        for (; n < 9 && **at >= '0' && **at <= '9'; n++, (*at)++)
                *ret_number = *ret_number * 10 + (**at - '0');
        return n;
}

/* Read "SEPARATOR DIGITS", with two digits. */
static bool two_digits(const char **at, char separator, int64_t *ret_number)
{
        if (separator && **at != separator)
                return false;
        *at += separator != '\0';
        return digits(at, ret_number) == 2;
}

/* The fraction of a second. */
static bool fraction(const char **at, int64_t *ret_ns)
{
        int n;

        *ret_ns = 0;
        if (**at != '.')
                return true;
        (*at)++;
        n = digits(at, ret_ns);
        for (int i = n; i < 9; i++)
                *ret_ns *= 10;
        return n > 0;
}

/* "+02", "-03:30", "+01:23:45", or nothing. */
static bool offset(const char **at, int64_t *ret_seconds)
{
        int64_t hours, minutes = 0, seconds = 0, sign = **at == '-' ? -1 : 1;

        *ret_seconds = 0;
        if (**at != '+' && **at != '-')
                return true;
        (*at)++;
        if (digits(at, &hours) != 2 || (**at == ':' && !two_digits(at, ':', &minutes)) ||
            (**at == ':' && !two_digits(at, ':', &seconds)))
                return false;
        *ret_seconds = sign * (hours * 3600 + minutes * 60 + seconds);
        return true;
}

static bool clock_of(const char **at, int64_t *ret_seconds, int64_t *ret_ns)
{
        int64_t hour, minute, second, east;

        if (**at == '\0' || **at == ' ') {
                bool is_clock = (*at)[0] == ' ' && (*at)[1] >= '0' && (*at)[1] <= '9';

                if (!is_clock)
                        return true;
        }
        if (!two_digits(at, ' ', &hour) || !two_digits(at, ':', &minute) ||
            !two_digits(at, ':', &second) || !fraction(at, ret_ns) || !offset(at, &east))
                return false;
        *ret_seconds = hour * 3600 + minute * 60 + second - east;
        return true;
}

int ed_pg_time_parse(const char *text, int64_t *ret_time_ns)
{
        int64_t year, month, day, seconds = 0, ns = 0, total, result;
        const char *at = text;

        if (strcmp(text, "infinity") == 0 || strcmp(text, "-infinity") == 0) {
                *ret_time_ns = *text == '-' ? INT64_MIN : INT64_MAX;
                return 0;
        }
        if (digits(&at, &year) < 4 || !two_digits(&at, '-', &month) ||
            !two_digits(&at, '-', &day) || month < 1 || month > 12 || day < 1 || day > 31 ||
            !clock_of(&at, &seconds, &ns))
                return EDDY_E_FIELD_TYPE;
        if (strcmp(at, " BC") == 0)
                return EDDY_E_FIELD_RANGE;
        if (*at)
                return EDDY_E_FIELD_TYPE;
        total = ed_date_to_days((int) year, (int) month, (int) day) * ED_DAY_SECONDS + seconds;
        if (__builtin_mul_overflow(total, NS, &result) ||
            __builtin_add_overflow(result, ns, &result) || result == INT64_MAX ||
            result == INT64_MIN)
                return EDDY_E_FIELD_RANGE;
        *ret_time_ns = result;
        return 0;
}

/* --- arrays, as {1,NULL,"a \"b\""} --- */

int ed_pg_array_begin(const char *text, char separator, struct eddy_pg_array *ret_array)
{
        /* Bounds other than from 1: "[0:1]={...}". */
        if (*text == '[') {
                text += strspn(text, "[]:+-0123456789");
                text += *text == '=';
        }
        if (text[0] != '{' || text[1] == '{')
                return EDDY_E_FIELD_TYPE;
        *ret_array =
                (struct eddy_pg_array){ .at = text + 1, .separator = separator, .is_first = true };
        return 0;
}

static bool put_char(char *out, size_t room, size_t *bytes, char c)
{
        if (*bytes + 1 >= room)
                return false;
        out[(*bytes)++] = c;
        return true;
}

/* Returns whether there is room; moves '*at' after the element. */
static bool element(const char **at, char separator, char *out, size_t room, size_t *bytes)
{
        bool is_quoted = **at == '"';
        const char *p = *at + is_quoted;

        for (; *p && (is_quoted ? *p != '"' : *p != separator && *p != '}'); p++) {
                if (*p == '\\' && p[1])
                        p++;
                if (!put_char(out, room, bytes, *p))
                        return false;
        }
        *at = p + (is_quoted && *p == '"');
        return *bytes < room;
}

int64_t eddy_pg_array_next(eddy_pg_array *array, char *out, size_t room, bool *ret_is_null)
{
        const char *at = array->at;
        size_t bytes = 0;
        bool is_null;

        if (*at == '}')
                return -ENOENT;
        if (!array->is_first) {
                if (*at != array->separator)
                        return EDDY_E_FIELD_TYPE;
                at++;
        }
        if (!*at || *at == '{')
                return EDDY_E_FIELD_TYPE;
        is_null = strncmp(at, "NULL", 4) == 0 && (at[4] == array->separator || at[4] == '}');
        if (is_null)
                at += 4;
        else if (!element(&at, array->separator, out, room, &bytes))
                return -EMSGSIZE;
        if (room == 0)
                return -EMSGSIZE;
        if (!*at)
                return EDDY_E_FIELD_TYPE;
        out[bytes] = '\0';
        array->at = at;
        array->is_first = false;
        if (ret_is_null)
                *ret_is_null = is_null;
        return (int64_t) bytes;
}
