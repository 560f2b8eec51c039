/*
 * wire/uuid_text.c - the text of identifiers of 128 bits: reading and writing.
 */
#include <errno.h>

#include "base/hex.h"
#include "eddy/uuid.h"

enum { GROUPS = 5 };

/* In bytes. */
static const uint8_t groups[GROUPS] = { 4, 2, 2, 2, 6 };

int eddy_uuid_parse(const char *text, size_t bytes, struct eddy_uuid *ret_uuid)
{
        struct eddy_uuid uuid;
        uint8_t *to = uuid.bytes;

        if (bytes != EDDY_UUID_TEXT_BYTES - 1)
                return -EINVAL;
        for (int group = 0; group < GROUPS; group++) {
                if (group > 0 && *text++ != '-')
                        return -EINVAL;
                for (int i = 0; i < groups[group]; i++, text += 2) {
                        int high = ed_hex_digit(text[0]), low = ed_hex_digit(text[1]);

                        if (high < 0 || low < 0)
                                return -EINVAL;
                        *to++ = (uint8_t) (high << 4 | low);
                }
        }
        *ret_uuid = uuid;
        return 0;
}

void eddy_uuid_format(const struct eddy_uuid *uuid, char out[EDDY_UUID_TEXT_BYTES])
{
        static const char digits[] = "0123456789abcdef";
        const uint8_t *at = uuid->bytes;

        for (int group = 0; group < GROUPS; group++) {
                if (group > 0)
                        *out++ = '-';
                for (int i = 0; i < groups[group]; i++, at++) {
                        *out++ = digits[*at >> 4];
                        *out++ = digits[*at & 15];
                }
        }
        *out = '\0';
}
