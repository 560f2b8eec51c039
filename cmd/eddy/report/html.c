/*
 * report/html.c - escaping.
 */
#include "report/html.h"

#include <stdbool.h>
#include <string.h>

#include "eddy/json.h"

#define REPLACEMENT "\xef\xbf\xbd"

/* Returns the text that replaces the byte, or NULL if the byte needs no escape. */
static const char *entity_of(unsigned char byte)
{
        switch (byte) {
        case '&':
                return "&amp;";
        case '<':
                return "&lt;";
        case '>':
                return "&gt;";
        case '"':
                return "&quot;";
        case '\'':
                return "&#39;";
        case '\t':
        case '\n':
                return NULL;
        default:
                return byte < 0x20 || byte == 0x7f ? REPLACEMENT : NULL;
        }
}

/* Returns the size of the character at 'text', or 0 if it is not UTF-8 or a control character. */
static size_t character_bytes(const char *text, size_t left)
{
        unsigned char lead = (unsigned char) *text;
        size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;

        if (lead < 0xc2 || bytes > left || !eddy_json_is_utf8(text, bytes))
                return 0;
        if (lead == 0xc2 && (unsigned char) text[1] < 0xa0)
                return 0;
        return bytes;
}

void ed_html_add(struct ed_draft *out, const char *text, size_t bytes)
{
        size_t plain = 0; /* the start of bytes that are copied as they are */

        for (size_t at = 0; at < bytes;) {
                unsigned char byte = (unsigned char) text[at];
                const char *entity = byte < 0x80 ? entity_of(byte) : NULL;
                size_t width = byte < 0x80 ? 1 : character_bytes(text + at, bytes - at);

                if (width == 0) {
                        entity = REPLACEMENT;
                        width = 1;
                }
                if (entity) {
                        ed_draft_add(out, text + plain, at - plain);
                        ed_draft_add_str(out, entity);
                        plain = at + width;
                }
                at += width;
        }
        ed_draft_add(out, text + plain, bytes - plain);
}

void ed_html_add_str(struct ed_draft *out, const char *text)
{
        ed_html_add(out, text, strlen(text));
}
