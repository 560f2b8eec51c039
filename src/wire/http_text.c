/*
 * wire/http_text.c - checks of methods, and of names and values of headers.
 */
#include "eddy/http_text.h"

#include <string.h>
#include <strings.h>

#include "wire/chars.h"

bool eddy_http_is_token(const char *text, size_t bytes)
{
        for (size_t i = 0; i < bytes; i++)
                if (!ed_char_is(text[i], ED_CHAR_TOKEN))
                        return false;
        return bytes > 0;
}

bool eddy_http_is_value(const char *text, size_t bytes)
{
        size_t run = bytes > UINT32_MAX ? 0 : ed_chars_value_run(text, 0, (uint32_t) bytes);

        for (size_t i = run; i < bytes; i++)
                if (!ed_char_is(text[i], ED_CHAR_VALUE))
                        return false;
        return true;
}

bool eddy_http_method_is_idempotent(const char *method)
{
        static const char *const names[] = { "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE" };

        for (size_t i = 0; i < ed_array_count(names); i++)
                if (strcmp(method, names[i]) == 0)
                        return true;
        return false;
}

bool eddy_http_header_is_secret(const char *name)
{
        static const struct {
                const char *text;
                size_t bytes;
        } ends[] = { { "authorization", 13 }, { "cookie", 6 }, { "key", 3 },
                     { "token", 5 },          { "secret", 6 }, { "password", 8 } };
        size_t bytes = name ? strlen(name) : 0;
        char last = bytes > 0 ? (char) (name[bytes - 1] | 0x20) : '\0';

        for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
                size_t end = ends[i].bytes;

                if (bytes < end || ends[i].text[end - 1] != last ||
                    strcasecmp(name + bytes - end, ends[i].text) != 0)
                        continue;
                return strcasecmp(name, "idempotency-key") != 0 &&
                       strcasecmp(name, "x-idempotency-key") != 0;
        }
        return false;
}
