/*
 * common/disposition.c - see disposition.h.
 */
#include "common/disposition.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "eddy/http_text.h"
#include "eddy/json.h"
#include "eddy/url.h"

/* A part of the value. A quoted text is without its quotes, and may have escapes. */
struct piece {
        const char *text; /* NULL: none */
        size_t bytes;
        bool is_quoted;
};

/* ---- the grammar ----------------------------------------------------------------------------- */

static void blanks_skip(const char **at)
{
        *at += strspn(*at, " \t");
}

static bool is(const struct piece *piece, const char *word)
{
        return strlen(word) == piece->bytes && strncasecmp(piece->text, word, piece->bytes) == 0;
}

/* Take what comes before a separator or a quote. Returns false if this is not a token. */
static bool token_take(const char **at, struct piece *ret_piece)
{
        *ret_piece = (struct piece){ .text = *at, .bytes = strcspn(*at, " \t;=\"") };
        *at += ret_piece->bytes;
        return eddy_http_is_token(ret_piece->text, ret_piece->bytes);
}

static bool quoted_take(const char **at, struct piece *ret_piece)
{
        const char *end = *at + 1;

        while (*end && *end != '"')
                end += end[0] == '\\' && end[1] ? 2 : 1;
        if (*end != '"')
                return false;
        *ret_piece = (struct piece){ .text = *at + 1,
                                     .bytes = (size_t) (end - *at - 1),
                                     .is_quoted = true };
        *at = end + 1;
        return true;
}

/* Take a parameter, from its ';' on. Returns false if it is malformed. An empty one has no name. */
static bool parameter_take(const char **at, struct piece *ret_name, struct piece *ret_value)
{
        *ret_name = (struct piece){ 0 };
        if (**at != ';')
                return false;
        ++*at;
        blanks_skip(at);
        if (**at == ';' || **at == '\0')
                return true;
        if (!token_take(at, ret_name))
                return false;
        blanks_skip(at);
        if (**at != '=')
                return false;
        ++*at;
        blanks_skip(at);
        if (!(**at == '"' ? quoted_take(at, ret_value) : token_take(at, ret_value)))
                return false;
        blanks_skip(at);
        return true;
}

/* Find the two parameters. Returns false if the value is malformed. */
static bool value_split(const char *value, struct piece *ret_plain, struct piece *ret_extended)
{
        struct piece type, name, given = { 0 };

        blanks_skip(&value);
        if (!token_take(&value, &type))
                return false;
        blanks_skip(&value);
        while (*value) {
                struct piece *piece;

                if (!parameter_take(&value, &name, &given))
                        return false;
                if (!name.text)
                        continue;
                piece = is(&name, "filename")    ? ret_plain
                        : is(&name, "filename*") ? ret_extended
                                                 : NULL;
                if (piece && piece->text)
                        return false;
                if (piece)
                        *piece = given;
        }
        return true;
}

/* ---- the texts ------------------------------------------------------------------------------- */

/* Copy the text of a "filename". Returns its bytes, or 0 if it does not fit. */
static size_t plain_copy(const struct piece *piece, char *out, size_t room)
{
        size_t n = 0;

        for (size_t i = 0; i < piece->bytes; i++) {
                if (piece->is_quoted && piece->text[i] == '\\')
                        i++;
                if (n + 1 >= room)
                        return 0;
                out[n++] = piece->text[i];
        }
        return n;
}

/* Decode a "filename*": UTF-8'LANGUAGE'TEXT. Returns the bytes, or 0 if it is not one, or has no room. */
static size_t extended_copy(const struct piece *piece, char *out, size_t room)
{
        static const char charset[] = "UTF-8'";
        const char *text, *end = piece->text + piece->bytes;
        int64_t n;

        if (piece->is_quoted || piece->bytes < sizeof(charset) ||
            strncasecmp(piece->text, charset, sizeof(charset) - 1) != 0)
                return 0;
        text = piece->text + sizeof(charset) - 1;
        text = memchr(text, '\'', (size_t) (end - text));
        if (!text)
                return 0;
        text++;
        for (const char *c = text; c < end; c++)
                if (!isalnum((unsigned char) *c) && !strchr("!#$&+-.^_`|~%", *c))
                        return 0;
        n = eddy_url_unquote(text, (size_t) (end - text), 0, out, room);
        return n > 0 ? (size_t) n : 0;
}

/* Returns true for a character that terminals obey, or that hides how a name ends. */
static bool is_control(const unsigned char *c, size_t left)
{
        if (*c < 0x20 || *c == 0x7f)
                return true;
        if (left >= 2 && c[0] == 0xc2 && c[1] < 0xa0)
                return true; /* U+0080 to U+009F */
        return left >= 3 && c[0] == 0xe2 &&
               ((c[1] == 0x80 &&
                 (c[2] == 0x8e || c[2] == 0x8f || (c[2] >= 0xa8 && c[2] <= 0xae))) ||
                (c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9));
}

static bool is_usable(const char *name, size_t bytes)
{
        if (bytes == 0 || name[0] == '.' || !eddy_json_is_utf8(name, bytes))
                return false;
        for (size_t i = 0; i < bytes; i++)
                if (name[i] == '/' || name[i] == '\\' ||
                    is_control((const unsigned char *) name + i, bytes - i))
                        return false;
        return true;
}

size_t ed_disposition_name(const char *value, char *out, size_t room)
{
        struct piece plain = { 0 }, extended = { 0 };
        size_t bytes = 0;

        if (!value || !value_split(value, &plain, &extended))
                return 0;
        if (extended.text)
                bytes = extended_copy(&extended, out, room);
        if (!is_usable(out, bytes) && plain.text)
                bytes = plain_copy(&plain, out, room);
        return is_usable(out, bytes) ? bytes : 0;
}
