/*
 * wire/http_text.c - checks of methods, and of names and values of headers.
 */
#include "eddy/http_text.h"

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
        for (size_t i = 0; i < bytes; i++)
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
