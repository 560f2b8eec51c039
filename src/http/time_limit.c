/*
 * http/time_limit.c - a call that ends at a deadline with an error of its own.
 */
#include "http/time_limit.h"

#include <errno.h>

#include "eddy/scope.h"
#include "scope/scope.h"

int64_t ed_http_call_until(ed_http_part_fn *fn, void *arg, int64_t deadline_ns, int error)
{
        struct eddy_scope_opts opts = { .deadline_ns = deadline_ns };
        eddy_scope scope;
        int64_t result;
        int end;

        eddy_scope_begin(&scope, &opts);
        result = fn(arg);
        end = eddy_scope_end(&scope);
        return result == -ECANCELED && end == -ETIMEDOUT ? error : result;
}

bool ed_http_is_out_of_time(void)
{
        return ed_scope_of_node(ed_task_running()->inner)->expired_first;
}
