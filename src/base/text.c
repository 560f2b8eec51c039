/*
 * base/text.c - text that is put together in a buffer.
 */
#include "base/text.h"

#include <stdarg.h>
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
