/*
 * http/health.c - the handlers that report whether a server lives and is ready.
 */
#include "eddy/http_health.h"

#include <errno.h>
#include <stdio.h>

#include "eddy/call.h"
#include "eddy/http_answer.h"
#include "eddy/serve.h"
#include "eddy/time.h"
#include "http/problem.h"

#define TIMEOUT_DEFAULT_NS EDDY_SEC(1)

/* The checks of a request. */
struct checking {
        const struct eddy_http_ready_opts *opts;
        size_t at; /* the present check */
};

static int run_checks(void *arg)
{
        struct checking *checking = arg;
        int err = 0;

        for (; checking->at < checking->opts->checks_count; checking->at++) {
                const struct eddy_http_check *check = &checking->opts->checks[checking->at];

                err = check->fn(check->arg);
                if (err < 0)
                        return err;
        }
        return 0;
}

static int answer_ok(eddy_http_exchange *exchange)
{
        static const struct eddy_http_header headers[] = { { "Content-Type", "text/plain" },
                                                           { "Cache-Control", "no-store" } };

        return eddy_http_exchange_respond(exchange, 200, headers, 2, "ok\n", 3);
}

static int answer_not_ready(eddy_http_exchange *exchange, const char *detail)
{
        int err = eddy_http_exchange_add_header(exchange, "Cache-Control", "no-store");

        return err < 0 ? err : ed_http_problem_respond(exchange, 503, detail);
}

int eddy_http_handle_live(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return answer_ok(exchange);
}

int eddy_http_handle_ready(eddy_http_exchange *exchange, void *arg)
{
        static const struct eddy_http_ready_opts no_checks;
        struct checking checking = { arg ? arg : &no_checks, 0 };
        const int64_t timeout_ns = checking.opts->timeout_ns;
        char detail[EDDY_HTTP_DETAIL_BYTES];
        const char *name;
        int err;

        if (eddy_serve_is_stopping())
                return answer_not_ready(exchange, "the server stops");
        err = eddy_call_timeout(run_checks, &checking,
                                timeout_ns ? timeout_ns : TIMEOUT_DEFAULT_NS);
        if (err >= 0)
                return answer_ok(exchange);
        name = checking.opts->checks[checking.at].name;
        snprintf(detail, sizeof(detail), "%s %s", name ? name : "a check",
                 err == -ETIMEDOUT ? "took too long" : "failed");
        return answer_not_ready(exchange, detail);
}
