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
        static const char *const ends[] = { "authorization", "cookie", "key",
                                            "token",         "secret", "password" };
        size_t bytes = name ? strlen(name) : 0;

        if (bytes == 0 || strcasecmp(name, "idempotency-key") == 0 ||
            strcasecmp(name, "x-idempotency-key") == 0)
                return false;
        for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
                size_t end = strlen(ends[i]);

                if (bytes >= end && strcasecmp(name + bytes - end, ends[i]) == 0)
                        return true;
        }
        return false;
}
