/*
 * common/excerpt.c - see excerpt.h.
 */
#include "common/excerpt.h"

#include <string.h>

#include "eddy/alloc.h"
#include "eddy/json.h"

/* Returns the size of the printable character at the start of a text, or 0 if there is none. */
static size_t char_bytes(const unsigned char *text, size_t bytes)
{
        unsigned char c = text[0];
        size_t n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;

        if (c < 0x20 || c == 0x7f || n > bytes || !eddy_json_is_utf8(text, n))
                return 0;
        if (c == 0xc2 && text[1] < 0xa0) /* U+0080 .. U+009F are control characters */
                return 0;
        /* U+202A .. U+202E and U+2066 .. U+2069 change the direction of the text after them. */
        if (c == 0xe2 && ((text[1] == 0x80 && text[2] >= 0xaa && text[2] <= 0xae) ||
                          (text[1] == 0x81 && text[2] >= 0xa6 && text[2] <= 0xa9)))
                return 0;
        return n;
}

const char *ed_excerpt(char room[ED_EXCERPT_BYTES], const char *text, size_t bytes)
{
        return ed_excerpt_within(room, ED_EXCERPT_BYTES, text, bytes);
}

const char *ed_excerpt_within(char *room, size_t room_bytes, const char *text, size_t bytes)
{
        size_t max = room_bytes - sizeof("..."), at = 0, used = 0;

        while (at < bytes) {
                size_t n = char_bytes((const unsigned char *) text + at, bytes - at);

                if (used + (n ? n : 1) > max)
                        break;
                if (n > 0)
                        memcpy(room + used, text + at, n);
                else
                        room[used] = '?';
                used += n ? n : 1;
                at += n ? n : 1;
        }
        memcpy(room + used, at < bytes ? "..." : "", at < bytes ? 4 : 1);
        return room;
}

char *ed_text_copy(const char *text)
{
        size_t bytes = strlen(text) + 1;
        char *copy = eddy_malloc(bytes);

        return copy ? memcpy(copy, text, bytes) : NULL;
}
