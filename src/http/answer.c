/*
 * http/answer.c - whole answers, see eddy/http_answer.h.
 */
#include "eddy/http_answer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "eddy/alloc.h"
#include "eddy/error.h"
#include "eddy/json.h"
#include "http/exchange.h"
#include "http/problem.h"

int eddy_http_exchange_respond_text(eddy_http_exchange *exchange, int status, const char *text)
{
        static const struct eddy_http_header plain = { "Content-Type",
                                                       "text/plain; charset=utf-8" };

        return eddy_http_exchange_respond(exchange, status, &plain, 1, text,
                                          text ? strlen(text) : 0);
}

int eddy_http_exchange_respond_json(eddy_http_exchange *exchange, int status,
                                    const struct eddy_fields *fields, const void *in)
{
        static const struct eddy_http_header json = { "Content-Type", "application/json" };
        struct eddy_json_error error;
        size_t bytes;
        char *text;
        int err = eddy_json_write(fields, in, &text, &bytes, &error);

        if (err == -ENOMEM)
                return err;
        if (err < 0)
                return exchange->ops->refuse(exchange, error.text);
        err = eddy_http_exchange_respond(exchange, status, &json, 1, text, bytes);
        eddy_free(text);
        return err;
}

int eddy_http_exchange_redirect(eddy_http_exchange *exchange, int status, const char *url)
{
        struct eddy_http_header location = { "Location", url };

        if (status != 301 && status != 302 && status != 303 && status != 307 && status != 308)
                return exchange->ops->refuse(
                        exchange, "the status of a redirect is 301, 302, 303, 307 or 308");
        if (!url || !url[0])
                return exchange->ops->refuse(exchange, "the URL of a redirect is empty");
        for (const char *at = url; *at; at++)
                if (*at <= ' ' || *at > '~' || strchr("\"<>\\^`{|}", *at))
                        return exchange->ops->refuse(
                                exchange, "the URL of a redirect has a character that must be "
                                          "quoted (eddy_url_quote())");
        return eddy_http_exchange_respond(exchange, status, &location, 1, NULL, 0);
}

/* Remove the first bytes of a character at the end of a text that was cut. */
static void trim(char *text, size_t bytes)
{
        while (bytes > 0 && (text[bytes - 1] & 0xC0) == 0x80)
                bytes--;
        if (bytes > 0 && text[bytes - 1] & 0x80)
                bytes--;
        text[bytes] = '\0';
}

int eddy_http_exchange_fail(eddy_http_exchange *exchange, int status, const char *format, ...)
{
        char detail[EDDY_HTTP_DETAIL_BYTES];
        va_list args;
        int n;

        if (status < 400)
                return exchange->ops->refuse(exchange, "the status of an error is 400 or above");
        va_start(args, format);
        n = vsnprintf(detail, sizeof(detail), format, args);
        va_end(args);
        if (n >= (int) sizeof(detail))
                trim(detail, sizeof(detail) - 1);
        return ed_http_problem_respond(exchange, status, detail[0] ? detail : NULL);
}
