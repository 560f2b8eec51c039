/*
 * http/problem.c - see problem.h.
 */
#include "http/problem.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "eddy/error.h"
#include "eddy/json.h"
#include "scope/task.h"
#include "wire/http1.h"

/* Returns true if both errors are of the same facility. */
static bool is_like(int error, int other)
{
        return -error >> 8 == -other >> 8;
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
        char body[80 + 6 * ED_HTTP_DETAIL_BYTES]; /* a byte is at most six in JSON */
        const char *title = ed_http1_reason(status);
        size_t n = 0;

        body[n++] = '{';
        if (title[0])
                n += (size_t) snprintf(body + n, 50, "\"title\":\"%.38s\",", title);
        n += (size_t) snprintf(body + n, 20, "\"status\":%d", status);
        if (detail) {
                memcpy(body + n, ",\"detail\":", 10);
                n += 10;
                n += eddy_json_quote(detail, strnlen(detail, ED_HTTP_DETAIL_BYTES - 1), body + n);
        }
        body[n++] = '}';
        return eddy_http_exchange_respond(exchange, status, &type, 1, body, n);
}

/* Answer the failure of a handler that has begun no response. */
static void answer(const struct ed_http_server *server, eddy_http_exchange *exchange,
                   struct ed_http_failure *failure)
{
        int result = failure->error;

        if (server->opts.on_error) {
                (void) !server->opts.on_error(exchange, result, server->arg);
                exchange->ops->take_over(exchange, result, failure);
                if (failure->error == 0)
                        return;
        }
        if (!failure->status)
                failure->status = eddy_http_error_status(failure->error);
        (void) !ed_http_problem_respond(exchange, failure->status, failure->detail);
}

static void log_failure(eddy_log *log, eddy_http_exchange *exchange, int result, bool is_answered)
{
        struct eddy_http_exchange_info info;
        bool is_late;

        eddy_http_exchange_info(exchange, &info);
        is_late = info.status != 0 && !is_answered;
        eddy_log_write(
                log,
                is_late || info.status == 0 || info.status >= 500 ? EDDY_LOG_ERROR : EDDY_LOG_INFO,
                is_late ? "the handler failed after it had begun a response" : "the handler failed",
                eddy_log_result("error", result),
                eddy_log_str("method", eddy_http_exchange_method(exchange)),
                eddy_log_str("path", eddy_http_exchange_path(exchange)),
                eddy_log_int("status", info.status), eddy_log_end());
}

void ed_http_server_failed(const struct ed_http_server *server, eddy_http_exchange *exchange,
                           int result)
{
        struct ed_http_failure failure;
        bool is_answered;

        /* A handler whose client is gone, or whose server stops, has not failed. */
        if (result == -ECANCELED && ed_task_running()->inner->flags & ED_NODE_CANCELLED)
                return;
        exchange->ops->take_over(exchange, result, &failure);
        is_answered = failure.error < 0;
        if (is_answered)
                answer(server, exchange, &failure);
        if (server->opts.log)
                log_failure(server->opts.log, exchange, result, is_answered);
}
