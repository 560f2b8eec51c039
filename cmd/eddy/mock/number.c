/*
 * mock/number.c - reads numbers without strtod(), which accepts "inf", "0x1p3" and, in some
 * locales, a comma.
 */
#include "mock/number.h"

#include <string.h>

#include "common/duration.h"

enum { DIGITS_MAX = 15, DURATION_BYTES_MAX = 40 };

const char *ed_number_read(const char *text, double *ret_number)
{
        double number = 0, place = 1;
        int digits = 0;

        for (; *text >= '0' && *text <= '9' && digits < DIGITS_MAX; text++, digits++)
                number = number * 10 + (*text - '0');
        if (*text == '.') {
                for (text++; *text >= '0' && *text <= '9' && digits < DIGITS_MAX;
                     text++, digits++) {
                        place /= 10;
                        number += place * (*text - '0');
                }
        }
        if (digits == 0)
                return NULL;
        *ret_number = number;
        return text;
}

const char *ed_number_read_part(const char *text, double *ret_part)
{
        double part;

        text = ed_number_read(text, &part);
        if (!text)
                return NULL;
        if (*text == '%') {
                part /= 100;
                text++;
        }
        if (part > 1)
                return NULL;
        *ret_part = part;
        return text;
}

const char *ed_number_read_duration(const char *text, const char *ends, int64_t *ret_ns,
                                    const char **ret_why)
{
        size_t bytes = strcspn(text, ends);
        char piece[DURATION_BYTES_MAX];

        if (bytes >= sizeof(piece)) {
                *ret_why = "has a duration that is too long";
                return NULL;
        }
        memcpy(piece, text, bytes);
        piece[bytes] = '\0';
        return ed_duration_parse(piece, ret_ns, ret_why) < 0 ? NULL : text + bytes;
}
