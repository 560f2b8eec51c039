/*
 * http/problem.c - see problem.h.
 */
#include "http/problem.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "eddy/error.h"
#include "eddy/json.h"
#include "wire/http1.h"

/* Returns true if both errors are of the same facility. */
static bool is_like(int error, int other)
{
        return -(int64_t) error >> 8 == -(int64_t) other >> 8;
}

int eddy_http_error_status(int error)
{
        if (is_like(error, EDDY_E_FIELD_TYPE))
                return error == EDDY_E_FIELD_TABLE ? 500 : 422;
        if (is_like(error, EDDY_E_JSON_SYNTAX) || error == EDDY_E_URL_INVALID ||
            error == EDDY_E_HTTP_MULTIPART)
                return 400;
        if (error == EDDY_E_HTTP_TOO_LARGE)
                return 413;
        if (error == EDDY_E_HTTP_CONTENT_TYPE)
                return 415;
        return error == -ETIMEDOUT ? 503 : 500;
}

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
