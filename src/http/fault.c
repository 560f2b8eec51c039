/*
 * http/fault.c - see fault.h.
 */
#include "http/fault.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "eddy/error.h"

void ed_http_fault_note(struct eddy_http_fault *fault, const char *format, ...)
{
        va_list list;

        if (!fault)
                return;
        va_start(list, format);
        vsnprintf(fault->text, sizeof(fault->text), format, list);
        va_end(list);
}

void ed_http_fault_of_response(struct eddy_http_fault *fault, int err, const char *text)
{
        if (err == EDDY_E_HTTP_CLOSED || err == -ECONNRESET)
                ed_http_fault_note(fault, "%s", text); /* the connection may still be open */
        else
                ed_http_fault_note(fault, "%s: %s", eddy_error_text(err), text);
}
