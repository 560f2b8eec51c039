/*
 * http/failure.c - see failure.h.
 */
#include "http/failure.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "http/input.h"
#include "http/problem.h"
#include "scope/task.h"

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
        if (!failure->status && ed_http_wrong_respond(exchange, result) >= 0)
                return;
        if (!failure->status)
                failure->status = eddy_http_error_status(exchange, failure->error);
        if (!failure->detail && exchange->input_error == failure->error)
                failure->detail = exchange->input_detail;
        (void) !ed_http_problem_respond(exchange, failure->status, failure->detail);
}

/* With a 4xx the handler was not called, or returned the error of a call that reads the request. */
static const char *log_message(int status, bool is_late)
{
        if (is_late)
                return "the handler failed after it had begun a response";
        return status >= 400 && status < 500 ? "the request was refused" : "the handler failed";
}

static void log_failure(eddy_log *log, eddy_http_exchange *exchange, int result, bool is_answered)
{
        struct eddy_http_exchange_info info;
        bool is_late;

        eddy_http_exchange_info(exchange, &info);
        is_late = info.status != 0 && !is_answered;
        eddy_log_write(log,
                       is_late || info.status == 0 || info.status >= 500 ? EDDY_LOG_ERROR
                                                                         : EDDY_LOG_INFO,
                       log_message(info.status, is_late), eddy_log_result("error", result),
                       eddy_log_str("method", eddy_http_exchange_method(exchange)),
                       eddy_log_str("path", eddy_http_exchange_path(exchange)),
                       eddy_log_int("status", info.status), eddy_log_end());
}

/* Returns true if the result is not a failure: its client is gone, or its server stops. */
static bool is_stopped(int result)
{
        return result == -ECANCELED && ed_task_running()->inner->flags & ED_NODE_CANCELLED;
}

int ed_http_exchange_status(eddy_http_exchange *exchange, int result)
{
        struct eddy_http_exchange_info info;
        struct ed_http_failure failure;

        eddy_http_exchange_info(exchange, &info);
        if (info.status != 0)
                return info.status;
        if (is_stopped(result))
                return 0;
        exchange->ops->failure(exchange, result, &failure);
        if (failure.status || failure.error == 0)
                return failure.status;
        return eddy_http_error_status(exchange, failure.error);
}

void ed_http_exchange_after(eddy_http_exchange *exchange, const struct ed_http_after *after,
                            size_t bytes)
{
        const size_t route_bytes = strlen(after->route) + 1;
        struct ed_http_after **at = &exchange->after, *kept = NULL;
        struct eddy_http_exchange_info info;

        eddy_http_exchange_info(exchange, &info);
        if (info.status == 0)
                kept = ed_alloc(bytes + route_bytes);
        if (!kept) {
                /* Without memory, the status is the one that the server's table gives. */
                after->fn(exchange, after);
                return;
        }
        memcpy(kept, after, bytes);
        kept->route = memcpy((char *) kept + bytes, after->route, route_bytes);
        while (*at)
                at = &(*at)->next;
        kept->next = NULL;
        *at = kept;
}

static void failed(const struct ed_http_server *server, eddy_http_exchange *exchange, int result)
{
        struct ed_http_failure failure;
        bool is_answered;

        exchange->ops->take_over(exchange, result, &failure);
        is_answered = failure.error < 0;
        if (is_answered)
                answer(server, exchange, &failure);
        if (server->opts.log)
                log_failure(server->opts.log, exchange, result, is_answered);
}

void ed_http_server_returned(const struct ed_http_server *server, eddy_http_exchange *exchange,
                             int result)
{
        const bool has_stopped = is_stopped(result);

        if (result < 0 && !has_stopped)
                failed(server, exchange, result);
        if (exchange->after && !has_stopped)
                exchange->ops->answer_missing(exchange, result);
        while (exchange->after) {
                struct ed_http_after *after = exchange->after;

                exchange->after = after->next;
                after->fn(exchange, after);
                ed_free(after);
        }
}
