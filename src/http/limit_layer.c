/*
 * http/limit_layer.c - see limit_layer.h. The breaker is asked first: a call that it refuses does
 * not wait for the limiter.
 */
#include "http/limit_layer.h"

#include <errno.h>

#include "eddy/breaker.h"
#include "eddy/error.h"
#include "eddy/limiter.h"
#include "eddy/retry.h"
#include "http/call.h"
#include "http/time_limit.h"

#define PAUSE_MAX_NS EDDY_MIN(2)

/* Returns true if the server asks for fewer requests. */
static bool asks_for_pause(int status)
{
        return status == 429 || status == 503;
}

/* All requests wait as long as the server asks, within reason. */
static void obey(struct ed_http_call *call, eddy_limiter *limiter)
{
        struct eddy_retry_hint hint;

        if (!asks_for_pause(eddy_http_response_status(call->response)))
                return;
        eddy_http_response_retry_hint(call->response, &hint);
        if (hint.has_wait && hint.wait_ns > 0)
                (void) eddy_limiter_pause(
                        limiter,
                        eddy_now() + (hint.wait_ns < PAUSE_MAX_NS ? hint.wait_ns : PAUSE_MAX_NS));
}

static int send_limited(struct ed_http_call *call)
{
        eddy_limiter *limiter = call->request.limiter;
        struct eddy_reservation reservation;
        int err;

        if (!limiter)
                return ed_http_call_cookies(call);
        err = eddy_limiter_reserve(limiter, 1, 0, &reservation);
        if (err < 0)
                return err;
        err = ed_http_call_cookies(call);
        if (err < 0 && !call->was_sent)
                (void) eddy_limiter_release(limiter, &reservation);
        else if (err == 0)
                obey(call, limiter);
        return err;
}

/*
 * A failure is one of the service: 500 and above, errors that may pass, and the end of the total time
 * while the service is waited for. A cancel by the caller, and a wait for the limiter or the pool,
 * shows nothing about the service.
 */
static enum eddy_breaker_result result_of(const struct ed_http_call *call, int err)
{
        bool failed;

        if (err == 0)
                failed = eddy_http_response_status(call->response) >= 500;
        else if (err == -ECANCELED && call->was_reached)
                failed = call->deadline_ns && ed_http_is_out_of_time();
        else
                failed = err != EDDY_E_HTTP_TIMEOUT_POOL && eddy_retry_error_is_passing(err);
        if (failed)
                return EDDY_BREAKER_FAILED;
        return err == 0 ? EDDY_BREAKER_WORKED : EDDY_BREAKER_UNKNOWN;
}

int ed_http_limit_send(struct ed_http_call *call)
{
        eddy_breaker *breaker = call->request.breaker;
        int ticket, err;

        call->was_sent = call->was_reached = false;
        if (!breaker)
                return send_limited(call);
        ticket = eddy_breaker_enter(breaker);
        if (ticket < 0)
                return ticket;
        err = send_limited(call);
        eddy_breaker_leave(breaker, ticket, result_of(call, err));
        return err;
}
