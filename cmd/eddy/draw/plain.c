/*
 * draw/plain.c - the width of characters, and those that a terminal may not get.
 */
#include "draw/plain.h"

#include <stdint.h>

#include "eddy/json.h"

struct range {
        uint32_t first, last;
};

/* Controls, marks of direction, invisible characters. */
static const struct range unsafe[] = {
        { 0x00, 0x1f },     { 0x7f, 0x9f },     { 0xad, 0xad },     { 0x61c, 0x61c },
        { 0x180e, 0x180e }, { 0x200b, 0x200f }, { 0x2028, 0x202e }, { 0x2060, 0x206f },
        { 0xfe00, 0xfe0f }, { 0xfeff, 0xfeff }, { 0xfff0, 0xffff }, { 0xe0000, 0xe0fff },
};

/* Characters of two columns. */
static const struct range wide[] = {
        { 0x1100, 0x115f },   { 0x2e80, 0xa4cf },   { 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },
        { 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },   { 0xffe0, 0xffe6 },   { 0x1f300, 0x1f64f },
        { 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff }, { 0x20000, 0x3fffd },
};

/* Characters that combine with the one before them. */
static const struct range combining[] = { { 0x300, 0x36f },
                                          { 0x1ab0, 0x1aff },
                                          { 0x20d0, 0x20ff } };

static bool is_in(uint32_t code, const struct range *ranges, size_t count)
{
        for (size_t i = 0; i < count; i++)
                if (code >= ranges[i].first && code <= ranges[i].last)
                        return true;
        return false;
}

#define IS_IN(code, ranges) is_in(code, ranges, sizeof(ranges) / sizeof(ranges[0]))

/* Decode a character. Returns its bytes, or 0 if it is not UTF-8. */
static size_t character_read(const char *text, size_t left, uint32_t *ret_code)
{
        unsigned char lead = (unsigned char) *text;
        size_t bytes = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
        uint32_t code = lead & (bytes == 1 ? 0x7f : 0xff >> (bytes + 1));

        if (bytes > left || !eddy_json_is_utf8(text, bytes))
                return 0;
        for (size_t i = 1; i < bytes; i++)
                code = code << 6 | ((unsigned char) text[i] & 0x3f);
        *ret_code = code;
        return bytes;
}

/* Append characters up to the width. Returns the bytes of 'text' that fit. */
static size_t fit(struct ed_draft *out, const char *text, size_t bytes, unsigned columns,
                  bool is_ascii, unsigned *ret_columns)
{
        unsigned used = 0;
        size_t at = 0;

        while (at < bytes) {
                uint32_t code = 0;
                size_t width = character_read(text + at, bytes - at, &code);
                bool is_shown = width > 0 && !IS_IN(code, unsafe) && !(is_ascii && code > 0x7e);
                unsigned more = 1;

                if (is_shown)
                        more = IS_IN(code, wide) ? 2 : IS_IN(code, combining) ? 0 : 1;
                if (used + more > columns)
                        break;
                if (is_shown)
                        ed_draft_add(out, text + at, width);
                else
                        ed_draft_add_str(out, "?");
                used += more;
                at += width > 0 ? width : 1;
        }
        *ret_columns = used;
        return at;
}

unsigned ed_draw_plain_add(struct ed_draft *out, const char *text, size_t bytes, unsigned columns,
                           bool is_ascii)
{
        const char *ellipsis = is_ascii ? "..." : "\xe2\x80\xa6";
        unsigned tail = is_ascii ? 3 : 1, used;
        size_t before = out->bytes;

        if (fit(out, text, bytes, columns, is_ascii, &used) == bytes || columns < tail)
                return used;
        out->bytes = before;
        fit(out, text, bytes, columns - tail, is_ascii, &used);
        ed_draft_add_str(out, ellipsis);
        return used + tail;
}
