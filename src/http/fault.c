/*
 * http/fault.c - see fault.h.
 */
#include "http/fault.h"

#include <stdarg.h>
#include <stdio.h>

void ed_http_fault_note(struct eddy_http_fault *fault, const char *format, ...)
{
        va_list list;

        if (!fault)
                return;
        va_start(list, format);
        vsnprintf(fault->text, sizeof(fault->text), format, list);
        va_end(list);
}
