/*
 * common/percent.c - see percent.h.
 */
#include "common/percent.h"

static bool is_unreserved(unsigned char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '.' || c == '_' || c == '~';
}

void ed_percent_add(struct ed_draft *text, const char *data, size_t bytes)
{
        static const char digits[] = "0123456789ABCDEF";
        char *to = bytes > 0 ? ed_draft_room(text, 3 * bytes) : NULL, *at = to;

        for (size_t i = 0; to && i < bytes; i++) {
                unsigned char c = (unsigned char) data[i];

                if (is_unreserved(c)) {
                        *at++ = (char) c;
                        continue;
                }
                *at++ = '%';
                *at++ = digits[c >> 4];
                *at++ = digits[c & 15];
        }
        if (to)
                text->bytes += (size_t) (at - to);
}
