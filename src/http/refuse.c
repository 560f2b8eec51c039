/*
 * http/refuse.c - see refuse.h.
 */
#include "http/refuse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "eddy/error.h"
#include "eddy/http_text.h"
#include "http/exchange.h"
#include "scope/report.h"
#include "scope/task.h"

enum { SHOWN_BYTES_MAX = 40 }; /* of a name or a path in a report */

/* Copy text that may have any bytes, for a report. Returns 'out'. */
static const char *show(const char *text, char out[SHOWN_BYTES_MAX + 1])
{
        size_t n = 0;

        for (; text[n] && n < SHOWN_BYTES_MAX; n++)
                out[n] = text[n];
        out[n] = '\0';
        for (size_t i = 0; i < n; i++)
                if (out[i] < ' ' || out[i] > '~')
                        out[i] = '?';
        return out;
}

int ed_http_refuse(char refused[ED_HTTP_REFUSED_BYTES], const char *format, ...)
{
        va_list args;

        va_start(args, format);
        vsnprintf(refused, ED_HTTP_REFUSED_BYTES, format, args);
        va_end(args);
        return EDDY_E_HTTP_INVALID_ANSWER;
}

void ed_http_report_refused(const eddy_http_exchange *exchange, const char *refused)
{
        const struct ed_http_exchange_ops *ops = exchange->ops;
        char path[SHOWN_BYTES_MAX + 1], text[256];

        snprintf(text, sizeof(text), "the answer to %.20s %s was refused: %s",
                 ops->method(exchange), show(ops->path(exchange), path), refused);
        ed_report_task(ed_loop_current, EDDY_REPORT_MISUSE, EDDY_E_HTTP_INVALID_ANSWER,
                       ed_task_running(), text);
}

int ed_http_refuse_header(char refused[ED_HTTP_REFUSED_BYTES],
                          const struct eddy_http_header *header)
{
        char name[SHOWN_BYTES_MAX + 1];

        if (!header->name || !header->value)
                return ed_http_refuse(refused, "a header has no %s (%s)",
                                      header->name ? "value" : "name",
                                      header->name ? show(header->name, name) : "NULL");
        show(header->name, name);
        if (!eddy_http_is_token(header->name, strlen(header->name)))
                return ed_http_refuse(refused, "the name of the header \"%s\" is not a token",
                                      name);
        if (!eddy_http_is_value(header->value, strlen(header->value)))
                return ed_http_refuse(
                        refused, "the value of the header \"%s\" has a control character", name);
        if (strcasecmp(header->name, "connection") == 0)
                return ed_http_refuse(refused, "the header \"%s\" can only be \"close\"", name);
        return ed_http_refuse(refused, "the server writes the header \"%s\" itself: leave it out",
                              name);
}
