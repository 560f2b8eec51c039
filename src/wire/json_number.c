/*
 * wire/json_number.c - numbers from and to text.
 */
#include <float.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/error.h"
#include "wire/json.h"
#include "wire/json_lanes.h"

enum { DIGITS_MAX = 17 }; /* after which a double is exact */

int eddy_json_bool(const struct eddy_json_value *value, bool *ret_bool)
{
        if (value->kind != EDDY_JSON_BOOL || value->bytes == 0)
                return EDDY_E_FIELD_TYPE;
        *ret_bool = value->text[0] == 't';
        return 0;
}

/* Convert digits alone: no fraction, no exponent. */
static int digits_read(const char *at, const char *end, uint64_t *ret_number)
{
        uint64_t number = 0;
        bool is_large = false;

        if (at == end)
                return EDDY_E_FIELD_TYPE;
        for (; at < end; at++) {
                if (!ed_json_is_digit((ed_byte) *at))
                        return EDDY_E_FIELD_TYPE;
                is_large |= __builtin_mul_overflow(number, 10, &number);
                is_large |= __builtin_add_overflow(number, (uint64_t) (*at - '0'), &number);
        }
        if (is_large)
                return EDDY_E_FIELD_RANGE;
        *ret_number = number;
        return 0;
}

static int number_read(const struct eddy_json_value *value, bool *ret_negative,
                       uint64_t *ret_number)
{
        if (value->kind != EDDY_JSON_NUMBER || value->bytes == 0)
                return EDDY_E_FIELD_TYPE;
        *ret_negative = value->text[0] == '-';
        return digits_read(value->text + *ret_negative, value->text + value->bytes, ret_number);
}

int eddy_json_int64(const struct eddy_json_value *value, int64_t *ret_number)
{
        uint64_t number = 0;
        bool is_negative;
        int err = number_read(value, &is_negative, &number);

        if (err < 0)
                return err;
        if (number > (uint64_t) INT64_MAX + is_negative)
                return EDDY_E_FIELD_RANGE;
        *ret_number = is_negative ? (int64_t) (0 - number) : (int64_t) number;
        return 0;
}

int eddy_json_uint64(const struct eddy_json_value *value, uint64_t *ret_number)
{
        uint64_t number = 0;
        bool is_negative;
        int err = number_read(value, &is_negative, &number);

        if (err < 0)
                return err;
        if (is_negative && number > 0)
                return EDDY_E_FIELD_RANGE;
        *ret_number = number;
        return 0;
}

/* strtod(3) with a dot as the decimal point. */
static double to_double(const char *text)
{
        /* Neither allocates nor fails: it is the locale that every program begins with. */
        locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t) 0);

        return plain ? strtod_l(text, NULL, plain) : strtod(text, NULL);
}

int eddy_json_double(const struct eddy_json_value *value, double *ret_number)
{
        char text[EDDY_JSON_NUMBER_BYTES + 1];
        uint64_t integer;
        bool is_negative;
        double number;

        /* This conversion rounds to the nearest double, as strtod(3) does. */
        if (number_read(value, &is_negative, &integer) == 0) {
                *ret_number = is_negative ? -(double) integer : (double) integer;
                return 0;
        }
        if (value->kind != EDDY_JSON_NUMBER || value->bytes == 0)
                return EDDY_E_FIELD_TYPE;
        if (value->bytes >= sizeof(text))
                return EDDY_E_FIELD_RANGE;
        memcpy(text, value->text, value->bytes);
        text[value->bytes] = '\0';
        number = to_double(text);
        if (!__builtin_isfinite(number))
                return EDDY_E_FIELD_RANGE;
        *ret_number = number;
        return 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* A positive number as 0.DDD times a power of ten. */
struct decimal {
        char digits[DIGITS_MAX + 1]; /* without zeros at the end */
        int count;
        int point; /* digits before the point; may be negative */
};

/* Use 'count' digits. In text as 1.25e-07 the point depends on the locale, so it is skipped. */
static void decimal_init(struct decimal *decimal, double number, int count)
{
        char text[DIGITS_MAX + 32];
        const char *at = text;

        snprintf(text, sizeof(text), "%.*e", count - 1, number);
        decimal->count = 0;
        for (; *at && *at != 'e'; at++)
                if (ed_json_is_digit((ed_byte) *at) && decimal->count < DIGITS_MAX)
                        decimal->digits[decimal->count++] = *at;
        while (decimal->count > 1 && decimal->digits[decimal->count - 1] == '0')
                decimal->count--;
        decimal->digits[decimal->count] = '\0';
        decimal->point = *at ? (int) strtol(at + 1, NULL, 10) + 1 : 1;
}

/* Write as ECMAScript does: 0.000001, 1e-7, 100000000000000000000, 1e+21. */
static void decimal_format(const struct decimal *decimal, char *out, size_t room)
{
        int n = decimal->count, point = decimal->point;
        const char *digits = decimal->digits;

        if (n <= point && point <= 21)
                snprintf(out, room, "%s%.*s", digits, point - n, "00000000000000000000");
        else if (point > 0 && point <= 21)
                snprintf(out, room, "%.*s.%s", point, digits, digits + point);
        else if (point > -6 && point <= 0)
                snprintf(out, room, "0.%.*s%s", -point, "00000", digits);
        else
                snprintf(out, room, "%.1s%s%se%+d", digits, n > 1 ? "." : "", digits + 1,
                         point - 1);
}

/* Use the fewest digits, from 'count' on, that give the same double or float. */
static size_t print(double number, int count, bool is_float, char text[ED_JSON_DOUBLE_BYTES])
{
        struct decimal decimal;
        char *at = text;

        if (__builtin_signbit(number)) {
                *at++ = '-';
                number = -number;
        }
        for (; count <= DIGITS_MAX; count++) {
                decimal_init(&decimal, number, count);
                decimal_format(&decimal, at, ED_JSON_DOUBLE_BYTES - 1);
                if (to_double(at) == number ||
                    (is_float && (float) to_double(at) == (float) number))
                        break;
        }
        return strlen(text);
}

size_t ed_json_double_print(double number, char text[ED_JSON_DOUBLE_BYTES])
{
        /* 15 digits are enough for most numbers, and decimal_init() drops zeros at the end. */
        return print(number, __builtin_fabs(number) < DBL_MIN ? 1 : DIGITS_MAX - 2, false, text);
}

int ed_json_double_write(struct ed_buf *buf, double number)
{
        char text[ED_JSON_DOUBLE_BYTES];

        if (!__builtin_isfinite(number))
                return EDDY_E_FIELD_RANGE;
        return ed_buf_append(buf, text, ed_json_double_print(number, text));
}

int ed_json_float_write(struct ed_buf *buf, float number)
{
        char text[ED_JSON_DOUBLE_BYTES];

        if (!__builtin_isfinite(number))
                return EDDY_E_FIELD_RANGE;
        return ed_buf_append(buf, text,
                             print((double) number, __builtin_fabsf(number) < FLT_MIN ? 1 : FLT_DIG,
                                   true, text));
}
