/*
 * http/problem.c - see problem.h.
 */
#include "http/problem.h"

#include <stdio.h>
#include <string.h>

#include "eddy/json.h"
#include "wire/http1.h"

int ed_http_problem_respond(eddy_http_exchange *exchange, int status, const char *detail)
{
        static const struct eddy_http_header type = { "Content-Type", "application/problem+json" };
        char body[80 + 6 * EDDY_HTTP_DETAIL_BYTES]; /* a byte is at most six in JSON */
        const char *title = ed_http1_reason(status);
        size_t n = 0;

        body[n++] = '{';
        if (title[0])
                n += (size_t) snprintf(body + n, 50, "\"title\":\"%.38s\",", title);
        n += (size_t) snprintf(body + n, 20, "\"status\":%d", status);
        if (detail) {
                memcpy(body + n, ",\"detail\":", 10);
                n += 10;
                n += eddy_json_quote(detail, strnlen(detail, EDDY_HTTP_DETAIL_BYTES - 1), body + n);
        }
        body[n++] = '}';
        return eddy_http_exchange_respond(exchange, status, &type, 1, body, n);
}
