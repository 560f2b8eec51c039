/*
 * wire/ratelimit_field.c - see ratelimit_field.h.
 */
#include "wire/ratelimit_field.h"

#include <string.h>

#include "wire/chars.h"

enum { DIGITS_MAX = 15 }; /* RFC 9651, 3.3.1 */

static void skip_spaces(const char **at)
{
        *at += strspn(*at, " \t");
}

/* Reads digits, and drops the decimals that may follow. */
static bool read_number(const char **at, int64_t *ret_number)
{
        size_t digits = strspn(*at, "0123456789");
        int64_t number = 0;

        if (digits == 0 || digits > DIGITS_MAX)
                return false;
        for (size_t i = 0; i < digits; i++)
                number = number * 10 + ((*at)[i] - '0');
        *at += digits;
        if (**at == '.') {
                digits = strspn(*at + 1, "0123456789");
                if (digits == 0)
                        return false;
                *at += 1 + digits;
        }
        *ret_number = number;
        return true;
}

static bool skip_string(const char **at)
{
        for ((*at)++; **at != '"'; (*at)++) {
                if (**at == '\\')
                        (*at)++;
                if (**at == '\0')
                        return false;
        }
        (*at)++;
        return true;
}

/* Reads a token or a key.  Its start remains in '*at' for the caller's copy. */
static size_t token_bytes(const char *at)
{
        size_t n = 0;

        while (ed_char_is(at[n], ED_CHAR_TOKEN) || at[n] == ':' || at[n] == '/')
                n++;
        return n;
}

/* Skips a value that is not a number: a string, bytes between colons, a boolean, a token. */
static bool skip_value(const char **at)
{
        const char *end;
        size_t bytes;

        switch (**at) {
        case '"':
                return skip_string(at);
        case ':':
                end = strchr(*at + 1, ':');
                if (!end)
                        return false;
                *at = end + 1;
                return true;
        case '?':
                if ((*at)[1] != '0' && (*at)[1] != '1')
                        return false;
                *at += 2;
                return true;
        default:
                bytes = token_bytes(*at);
                *at += bytes;
                return bytes > 0;
        }
}

/* Reads a number, or skips another value, which leaves -1. */
static bool read_value(const char **at, int64_t *ret_number)
{
        *ret_number = -1;
        if (**at >= '0' && **at <= '9')
                return read_number(at, ret_number);
        return **at != '-' && skip_value(at);
}

/* Reads ";key=value" after the semicolon.  A key without a value is true. */
static bool read_parameter(const char **at, struct ed_ratelimit_entry *entry)
{
        const char *key = *at, *value;
        size_t bytes = token_bytes(key);
        int64_t number = -1;

        if (bytes == 0)
                return false;
        *at += bytes;
        if (**at != '=')
                return true;
        value = ++*at;
        if (!read_value(at, &number))
                return false;
        if (bytes == 2 && memcmp(key, "qu", 2) == 0)
                entry->other_unit = strncmp(value, "\"requests\"", 10) != 0 &&
                                    strncmp(value, "requests", 8) != 0;
        if (bytes != 1)
                return true;
        switch (*key) {
        case 'q':
                entry->quota = number;
                break;
        case 'w':
                entry->window = number;
                break;
        case 'r':
                entry->remaining = number;
                break;
        case 't':
                entry->reset = number;
                break;
        default:
                break;
        }
        return true;
}

/* Reads what comes before the parameters. */
static bool read_item(const char **at, struct ed_ratelimit_entry *entry)
{
        size_t bytes = token_bytes(*at);

        if (**at == '"')
                return skip_string(at);
        if (**at >= '0' && **at <= '9')
                return read_number(at, &entry->number);
        if (bytes == 0)
                return false;
        if ((*at)[bytes] != '=') {
                *at += bytes;
                return true;
        }
        for (size_t i = 0; i < bytes && i < sizeof(entry->key) - 1; i++)
                entry->key[i] =
                        (char) ((*at)[i] >= 'A' && (*at)[i] <= 'Z' ? (*at)[i] | 0x20 : (*at)[i]);
        *at += bytes + 1;
        return read_value(at, &entry->number);
}

bool ed_ratelimit_entry_read(const char **at, struct ed_ratelimit_entry *ret_entry)
{
        struct ed_ratelimit_entry entry = {
                .number = -1, .quota = -1, .window = -1, .remaining = -1, .reset = -1
        };

        skip_spaces(at);
        if (!read_item(at, &entry))
                return false;
        for (;;) {
                skip_spaces(at);
                if (**at != ';')
                        break;
                ++*at;
                skip_spaces(at);
                if (!read_parameter(at, &entry))
                        return false;
        }
        if (**at == ',') {
                ++*at;
                skip_spaces(at);
                if (**at == '\0')
                        return false;
        } else if (**at != '\0') {
                return false;
        }
        *ret_entry = entry;
        return true;
}
