/*
 * scope/call.c - scopes in one call: a call with a deadline, and concurrent calls.
 */
#include "eddy/call.h"

#include <errno.h>

#include "scope/scope.h"
#include "scope/suspend.h"

int eddy_call_timeout(eddy_task_fn *fn, void *arg, int64_t timeout_ns)
{
        struct eddy_scope_opts opts = { .timeout_ns = timeout_ns > 0 ? timeout_ns : -1 };
        eddy_scope scope;
        int result, err;

        if (!ed_task_running())
                return EDDY_E_RUN_NOT_RUNNING;
        eddy_scope_begin(&scope, &opts);
        result = fn(arg);
        err = eddy_scope_end(&scope);
        return result == -ECANCELED && err < 0 ? err : result;
}

static int run_call(void *arg)
{
        struct eddy_call *call = arg;

        call->result = call->fn(call->arg);
        return call->result;
}

int eddy_gather(struct eddy_call *calls, size_t n, unsigned flags)
{
        bool keep_going = flags & EDDY_GATHER_KEEP_GOING;
        struct eddy_scope_opts opts = { .flags = keep_going ? EDDY_SCOPE_KEEP_GOING : 0 };
        struct ed_task *task;
        eddy_scope scope;
        int err, start_err = 0, outside;

        err = ed_suspend_enter(&task);
        if (err < 0) {
                for (size_t i = 0; i < n; i++)
                        calls[i].result = err;
                return err;
        }
        eddy_scope_begin(&scope, &opts);
        ed_scope_of(&scope)->flags |= ED_SCOPE_RESULTS;
        for (size_t i = 0; i < n; i++) {
                struct ed_task *started;

                calls[i].result = -ECANCELED;
                if (start_err < 0)
                        continue;
                start_err = ed_scope_start(&scope, run_call, &calls[i], calls[i].name,
                                           __builtin_return_address(0), &started);
                if (start_err == 0)
                        started->self.fn = calls[i].fn; /* names the task */
        }
        if (n == 0 || start_err < 0)
                ed_suspend_passed(task);
        err = eddy_scope_end(&scope);
        outside = ed_scope_of(&scope)->node.flags & ED_NODE_OUTSIDE;
        if (!keep_going)
                return err;
        return start_err < 0 ? start_err : outside ? -ECANCELED : 0;
}
