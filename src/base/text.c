/*
 * base/text.c - formatting text into a buffer.
 */
#include "base/text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

void ed_text_add(struct ed_text *text, const char *format, ...)
{
        va_list args;
        int n;

        va_start(args, format);
        n = vsnprintf(text->at, text->left, format, args);
        va_end(args);
        if (n < 0)
                return;
        if ((size_t) n >= text->left)
                n = text->left > 0 ? (int) text->left - 1 : 0;
        text->at += n;
        text->left -= (size_t) n;
}

static bool is_letter(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
               (unsigned char) c >= 0x80;
}

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

/* Returns the size of a separator between two identifiers of a path: "::", "->" or ".". */
static size_t joint_bytes(const char *at)
{
        if ((at[0] == ':' && at[1] == ':') || (at[0] == '-' && at[1] == '>'))
                return 2;
        return at[0] == '.';
}

size_t ed_text_function(const char *text, const char **ret_begin)
{
        const char *begin = text + (*text == '&'), *at = begin, *end;
        size_t joint;

        if (at[0] == ':' && at[1] == ':')
                at += 2;
        do {
                if (!is_letter(*at))
                        return 0;
                while (is_letter(*at) || is_digit(*at))
                        at++;
                joint = joint_bytes(at);
                at += joint;
        } while (joint > 0);
        end = at;
        while (*at == ' ')
                at++;
        if (*at != ',' && *at != '\0')
                return 0;
        *ret_begin = begin;
        return (size_t) (end - begin);
}
