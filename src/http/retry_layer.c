/*
 * http/retry_layer.c - see retry_layer.h. eddy_retry_next() decides; this file says what has
 * happened, and gives up if the body cannot be sent again.
 */
#include "http/retry_layer.h"

#include <errno.h>

#include "eddy/error.h"
#include "eddy/retry.h"
#include "eddy/task.h"
#include "http/call.h"

/* Returns true if another attempt is wanted, and stores the wait before it. */
static bool is_wanted(struct ed_http_call *call, struct eddy_retry *retry, int err,
                      int64_t *ret_wait_ns)
{
        const struct eddy_retry_policy *policy = call->request.retry;
        struct eddy_retry_cause cause = { .error = err };

        if (err == -ECANCELED)
                return false;
        if (err == 0)
                cause.status = eddy_http_response_status(call->response);
        if (err == 0 && cause.status < 400)
                return false;
        if (err < 0 && policy->is_passing && !policy->is_passing(err, policy->arg))
                return false;
        if (err == 0)
                eddy_http_response_retry_hint(call->response, &cause.hint);
        cause.repeatable = !call->was_sent || eddy_http_request_is_idempotent(&call->request);
        return eddy_retry_next(retry, &cause, ret_wait_ns) == 0;
}

int ed_http_retry_send(struct ed_http_call *call)
{
        const struct eddy_retry_policy *policy = call->request.retry;
        struct eddy_retry retry;
        int64_t wait_ns;
        int err;

        eddy_retry_begin(&retry, policy);
        for (;;) {
                err = ed_http_call_limit(call);
                /* A response of 400 or above has ended the sending, so the source is at rest. */
                if (!is_wanted(call, &retry, err, &wait_ns) || !ed_http_call_rewind(call))
                        return err;
                if (policy->before_wait)
                        policy->before_wait(err < 0 ? err : EDDY_E_HTTP_STATUS, retry.attempts,
                                            wait_ns, policy->arg);
                ed_http_call_drop(call);
                err = eddy_sleep(wait_ns);
                if (err < 0)
                        return err;
        }
}
