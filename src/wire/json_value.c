/*
 * wire/json_value.c - values inside of a valid text: walks, paths, strings.
 *
 * The text was checked before, so these functions look for ends only. They stay inside of the text
 * even if it is not valid any more.
 */
#include <errno.h>
#include <string.h>

#include "base/hex.h"
#include "eddy/error.h"
#include "wire/json.h"
#include "wire/json_lanes.h"

static const ed_byte *skip_space(const ed_byte *at, const ed_byte *end)
{
        return at < end && *at <= ' ' ? ed_json_space_run(at, end) : at;
}

/* A string, after its first quote. */
static const ed_byte *skip_string(const ed_byte *at, const ed_byte *end)
{
        while ((at = ed_json_string_run(at, end)) < end) {
                if (*at == '"')
                        return at + 1;
                at += end - at > 1 ? 2 : 1;
        }
        return end;
}

/* An array or object. */
static const ed_byte *skip_nest(const ed_byte *at, const ed_byte *end)
{
        size_t depth = 0;

        while ((at = ed_json_nest_run(at, end)) < end) {
                if (*at == '"') {
                        at = skip_string(at + 1, end);
                        continue;
                }
                if ((*at | 0x20) == '{')
                        depth++;
                else
                        depth -= depth > 0;
                at++;
                if (depth == 0)
                        return at;
        }
        return end;
}

static const ed_byte *skip_value(const ed_byte *at, const ed_byte *end)
{
        if (at == end)
                return end;
        if (*at == '"')
                return skip_string(at + 1, end);
        if (*at == '{' || *at == '[')
                return skip_nest(at, end);
        while (at < end && *at != ',' && *at != ']' && *at != '}' && *at > ' ')
                at++;
        return at;
}

static int kind_of(ed_byte c)
{
        switch (c) {
        case '{':
                return EDDY_JSON_OBJECT;
        case '[':
                return EDDY_JSON_ARRAY;
        case '"':
                return EDDY_JSON_STRING;
        case 't':
        case 'f':
                return EDDY_JSON_BOOL;
        case 'n':
                return EDDY_JSON_NULL;
        default:
                return EDDY_JSON_NUMBER;
        }
}

/* Store the value at 'at', and return its end. */
static const ed_byte *value_at(const ed_byte *at, const ed_byte *end, struct eddy_json_value *ret)
{
        const ed_byte *stop = skip_value(at, end);

        ret->text = (const char *) at;
        ret->bytes = (size_t) (stop - at);
        ret->kind = at < end ? kind_of(*at) : EDDY_JSON_NONE;
        return stop;
}

int eddy_json_parse(const char *text, size_t bytes, const struct eddy_json_opts *opts,
                    struct eddy_json_value *ret_value, struct eddy_json_error *ret_error)
{
        int err = eddy_json_check(text, bytes, opts, ret_error);
        const ed_byte *at, *end;

        if (err < 0)
                return err;
        end = (const ed_byte *) text + bytes;
        at = skip_space((const ed_byte *) text, end);
        while (end > at && ed_json_is_space(end[-1]))
                end--;
        ret_value->text = (const char *) at;
        ret_value->bytes = (size_t) (end - at);
        ret_value->kind = at < end ? kind_of(*at) : EDDY_JSON_NONE;
        return 0;
}

/* ---- walks ----------------------------------------------------------------------------------- */

int eddy_json_walk(const struct eddy_json_value *value, struct eddy_json_cursor *ret_cursor)
{
        if ((value->kind != EDDY_JSON_OBJECT && value->kind != EDDY_JSON_ARRAY) || value->bytes < 2)
                return EDDY_E_FIELD_TYPE;
        ret_cursor->at = value->text + 1;
        ret_cursor->end = value->text + value->bytes - 1;
        ret_cursor->is_object = value->kind == EDDY_JSON_OBJECT;
        return 0;
}

bool eddy_json_next(struct eddy_json_cursor *cursor, struct eddy_json_value *ret_name,
                    struct eddy_json_value *ret_value)
{
        const ed_byte *end = (const ed_byte *) cursor->end;
        const ed_byte *at = skip_space((const ed_byte *) cursor->at, end);
        struct eddy_json_value name = { 0 };

        if (at < end && *at == ',')
                at = skip_space(at + 1, end);
        if (at >= end)
                return false;
        if (cursor->is_object) {
                at = skip_space(value_at(at, end, &name), end);
                if (at < end)
                        at = skip_space(at + 1, end); /* the colon */
        }
        at = value_at(at, end, ret_value);
        if (at < end && ret_value->bytes == 0)
                at++; /* not valid: a walk always ends */
        if (ret_name)
                *ret_name = name;
        cursor->at = (const char *) at;
        return true;
}

/* ---- strings --------------------------------------------------------------------------------- */

static int hex4(const ed_byte *digits)
{
        int number = 0;

        for (int i = 0; i < 4; i++) {
                int digit = ed_hex_digit((char) digits[i]);

                if (digit < 0)
                        return -1;
                number = number << 4 | digit;
        }
        return number;
}

static size_t utf8_put(uint32_t code, char out[4])
{
        if (code < 0x80) {
                out[0] = (char) code;
                return 1;
        }
        if (code < 0x800) {
                out[0] = (char) (0xc0 | code >> 6);
                out[1] = (char) (0x80 | (code & 0x3f));
                return 2;
        }
        if (code < 0x10000) {
                out[0] = (char) (0xe0 | code >> 12);
                out[1] = (char) (0x80 | (code >> 6 & 0x3f));
                out[2] = (char) (0x80 | (code & 0x3f));
                return 3;
        }
        out[0] = (char) (0xf0 | code >> 18);
        out[1] = (char) (0x80 | (code >> 12 & 0x3f));
        out[2] = (char) (0x80 | (code >> 6 & 0x3f));
        out[3] = (char) (0x80 | (code & 0x3f));
        return 4;
}

/*
 * Convert the escape at '*at', after its backslash, and move '*at' after it. RFC 8259, 7: code
 * points above U+FFFF are two escapes. Returns the bytes put into 'out', or 0 if it has no UTF-8.
 */
static size_t unescape(const ed_byte **at, const ed_byte *end, char out[4])
{
        static const char letters[] = "bfnrt", meanings[] = "\b\f\n\r\t";
        const ed_byte *p = *at;
        const char *letter;
        int code, low;

        if (p == end)
                return 0;
        if (*p != 'u') {
                letter = *p ? strchr(letters, *p) : NULL;
                out[0] = letter ? meanings[letter - letters] : (char) *p;
                *at = p + 1;
                return 1;
        }
        code = end - p >= 5 ? hex4(p + 1) : -1;
        p += 5;
        if (code < 0 || (code >= 0xdc00 && code <= 0xdfff))
                return 0;
        if (code >= 0xd800 && code <= 0xdbff) {
                low = end - p >= 6 && p[0] == '\\' && p[1] == 'u' ? hex4(p + 2) : -1;
                if (low < 0xdc00 || low > 0xdfff)
                        return 0;
                code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                p += 6;
        }
        *at = p;
        return utf8_put((uint32_t) code, out);
}

/* Convert a string without its quotes; a NULL 'out' only counts. */
static int64_t convert(const ed_byte *at, const ed_byte *end, char *out)
{
        int64_t bytes = 0;

        while (at < end) {
                const ed_byte *stop = memchr(at, '\\', (size_t) (end - at));
                char unit[4];
                size_t n = (size_t) ((stop ? stop : end) - at);

                if (out)
                        memcpy(out + bytes, at, n);
                bytes += (int64_t) n;
                if (!stop)
                        break;
                at = stop + 1;
                n = unescape(&at, end, unit);
                if (n == 0)
                        return EDDY_E_FIELD_TEXT;
                if (out)
                        memcpy(out + bytes, unit, n);
                bytes += (int64_t) n;
        }
        return bytes;
}

static bool is_string(const struct eddy_json_value *value)
{
        return value->kind == EDDY_JSON_STRING && value->bytes >= 2;
}

int64_t eddy_json_string(const struct eddy_json_value *value, char *out, size_t room)
{
        const ed_byte *begin;
        int64_t bytes;

        if (!is_string(value))
                return EDDY_E_FIELD_TYPE;
        begin = (const ed_byte *) value->text + 1;
        bytes = convert(begin, begin + value->bytes - 2, NULL);
        if (bytes < 0 || !out)
                return bytes;
        if ((uint64_t) bytes >= room)
                return -EMSGSIZE;
        bytes = convert(begin, begin + value->bytes - 2, out);
        out[bytes] = '\0';
        return bytes;
}

/* Returns true if the string is 'text' after its escapes are converted. */
static bool string_is(const struct eddy_json_value *value, const char *text, size_t bytes)
{
        const ed_byte *at, *end;

        if (!is_string(value))
                return false;
        at = (const ed_byte *) value->text + 1;
        end = at + value->bytes - 2;
        while (at < end) {
                char unit[4];
                size_t n;

                if (*at != '\\') {
                        if (bytes == 0 || *at++ != (ed_byte) *text++)
                                return false;
                        bytes--;
                        continue;
                }
                at++;
                n = unescape(&at, end, unit);
                if (n == 0 || n > bytes || memcmp(unit, text, n) != 0)
                        return false;
                text += n;
                bytes -= n;
        }
        return bytes == 0;
}

bool eddy_json_is(const struct eddy_json_value *value, const char *text)
{
        return string_is(value, text, strlen(text));
}

/* ---- paths ----------------------------------------------------------------------------------- */

static int find_item(const struct eddy_json_value *value, uint64_t index,
                     struct eddy_json_value *ret_value)
{
        struct eddy_json_cursor cursor;

        if (value->kind != EDDY_JSON_ARRAY || eddy_json_walk(value, &cursor) < 0)
                return -ENOENT;
        while (eddy_json_next(&cursor, NULL, ret_value))
                if (index-- == 0)
                        return 0;
        return -ENOENT;
}

static int find_member(const struct eddy_json_value *value, const char *name, size_t bytes,
                       struct eddy_json_value *ret_value)
{
        struct eddy_json_cursor cursor;
        struct eddy_json_value found;

        if (value->kind != EDDY_JSON_OBJECT || eddy_json_walk(value, &cursor) < 0)
                return -ENOENT;
        while (eddy_json_next(&cursor, &found, ret_value))
                if (string_is(&found, name, bytes))
                        return 0;
        return -ENOENT;
}

/* Read "[12]" at '*path'. */
static int path_index(const char **path, uint64_t *ret_index)
{
        const char *at = *path + 1;
        uint64_t index = 0;

        if (!ed_json_is_digit((ed_byte) *at))
                return -EINVAL;
        for (; ed_json_is_digit((ed_byte) *at); at++)
                if (__builtin_mul_overflow(index, 10, &index) ||
                    __builtin_add_overflow(index, (uint64_t) (*at - '0'), &index))
                        return -EINVAL;
        if (*at != ']')
                return -EINVAL;
        *path = at + 1;
        *ret_index = index;
        return 0;
}

int eddy_json_get(const struct eddy_json_value *value, const char *path,
                  struct eddy_json_value *ret_value)
{
        struct eddy_json_value at = *value;
        bool is_first = true;
        int result = 0; /* the whole path is checked */

        for (; *path; is_first = false) {
                struct eddy_json_value next = { 0 };
                uint64_t index;
                size_t bytes;

                if (*path == '[') {
                        if (path_index(&path, &index) < 0)
                                return -EINVAL;
                        result = result < 0 ? result : find_item(&at, index, &next);
                } else {
                        path += !is_first && *path == '.';
                        bytes = strcspn(path, ".[]");
                        if (bytes == 0 || path[bytes] == ']' || (!is_first && path[-1] != '.'))
                                return -EINVAL;
                        result = result < 0 ? result : find_member(&at, path, bytes, &next);
                        path += bytes;
                }
                at = next;
        }
        if (result == 0)
                *ret_value = at;
        return result;
}
