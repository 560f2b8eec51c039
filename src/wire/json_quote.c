/*
 * wire/json_quote.c - writing JSON strings.
 */
#include "base/utf8.h"
#include "wire/json.h"
#include "wire/json_lanes.h"

static const char replacement[3] = "\xef\xbf\xbd"; /* U+FFFD */

/* The letter after the backslash, or 0 if the escape has digits. */
static char letter_of(ed_byte c)
{
        switch (c) {
        case '"':
        case '\\':
                return (char) c;
        case '\n':
                return 'n';
        case '\r':
                return 'r';
        case '\t':
                return 't';
        case '\b':
                return 'b';
        case '\f':
                return 'f';
        default:
                return 0;
        }
}

static size_t escape(ed_byte c, char out[6])
{
        static const char hex[] = "0123456789abcdef";
        const char digits[6] = { '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15] };
        char letter = letter_of(c);

        memcpy(out, digits, sizeof(digits));
        out[1] = letter ? letter : 'u';
        return letter ? 2 : sizeof(digits);
}

/*
 * Find the next piece at 'at' that is written in another way than as it is. Bytes before it are
 * written as they are. Returns its place, or 'end'; stores how it is written, and its bytes.
 */
static const ed_byte *next_piece(const ed_byte *at, const ed_byte *end, char out[6],
                                 size_t *ret_out, size_t *ret_bytes)
{
        *ret_bytes = 1;
        while (at < end) {
                size_t n;

                at = ed_json_plain_run(at, end, 0x7f);
                if (at == end)
                        break;
                n = *at >= 0x80 ? ed_utf8_length(at, (size_t) (end - at)) : 0;
                if (n == 0) {
                        *ret_out = *at < 0x80 ? escape(*at, out) : sizeof(replacement);
                        if (*at >= 0x80)
                                memcpy(out, replacement, sizeof(replacement));
                        return at;
                }
                at += n;
        }
        return end;
}

/* With a NULL 'out' only counts. */
static size_t quote(const ed_byte *at, const ed_byte *end, char *out)
{
        size_t written = 1;

        if (out)
                out[0] = '"';
        while (at < end) {
                char piece[6];
                size_t piece_bytes, bytes;
                const ed_byte *stop = next_piece(at, end, piece, &piece_bytes, &bytes);

                if (out && stop > at)
                        memcpy(out + written, at, (size_t) (stop - at));
                written += (size_t) (stop - at);
                if (stop == end)
                        break;
                if (out)
                        memcpy(out + written, piece, piece_bytes);
                written += piece_bytes;
                at = stop + bytes;
        }
        if (out)
                out[written] = '"';
        return written + 1;
}

size_t eddy_json_quote(const void *data, size_t bytes, char *out)
{
        return quote(data, (const ed_byte *) data + bytes, out);
}

size_t eddy_json_quoted_bytes(const void *data, size_t bytes)
{
        return quote(data, (const ed_byte *) data + bytes, NULL);
}

bool eddy_json_is_utf8(const void *data, size_t bytes)
{
        const ed_byte *at = data, *end = at + bytes;

        while (at < end) {
                size_t n;

                at = ed_json_plain_run(at, end, '"');
                if (at == end)
                        break;
                n = ed_utf8_length(at, (size_t) (end - at));
                if (n == 0)
                        return false;
                at += n;
        }
        return true;
}
