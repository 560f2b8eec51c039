/*
 * 64-breaker - a circuit breaker: calls to a service that is down fail at once.
 *
 * The service is called once a second, and is down from second 2 to second 11.  After two
 * failures among the last three calls the breaker opens for five seconds.  Then a trial
 * call decides whether it closes.
 *
 * Run: 64-breaker
 * Time: virtual 18 s
 * Output:
 *     second  0: ok
 *     second  1: ok
 *     second  2: the deadline passed
 *     second  3: the deadline passed
 *     second  4: the circuit breaker is open
 *     ...
 *     second  8: the circuit breaker is open
 *     second  9: the deadline passed
 *     second 10: the circuit breaker is open
 *     ...
 *     second 14: the circuit breaker is open
 *     second 15: ok
 *     second 16: ok
 *     second 17: ok
 */
#include <errno.h>
#include <stdio.h>

#include "eddy/eddy.h"

static eddy_breaker breaker;
static int64_t start_ns;

/* The service answers at once, or not at all while it is down. */
static int ask_service(void *arg)
{
        int64_t second = (eddy_now() - start_ns) / EDDY_SEC(1);

        (void) arg;
        return second >= 2 && second < 12 ? eddy_sleep(EDDY_MIN(1)) : 0;
}

static int call(void *arg)
{
        enum eddy_breaker_result result = EDDY_BREAKER_WORKED;
        int err, ticket = eddy_breaker_enter(&breaker);

        if (ticket < 0)
                return ticket;
        err = eddy_call_timeout(ask_service, arg, EDDY_MS(500));
        if (err < 0)
                result = err == -ECANCELED ? EDDY_BREAKER_UNKNOWN : EDDY_BREAKER_FAILED;
        eddy_breaker_leave(&breaker, ticket, result);
        return err;
}

static int call_each_second(void *arg)
{
        struct eddy_breaker_opts opts = {
                .calls = 3, .calls_min = 3, .trials = 1, .open_ns = EDDY_SEC(5)
        };
        int err = eddy_breaker_init(&breaker, &opts);

        start_ns = eddy_now();
        for (int second = 0; second < 18 && err == 0; second++) {
                int result = call(arg);

                printf("second %2d: %s\n", second, result < 0 ? eddy_error_text(result) : "ok");
                err = eddy_sleep(start_ns + (second + 1) * EDDY_SEC(1) - eddy_now());
        }
        return err;
}

int main(void)
{
        return eddy_run(call_each_second, NULL, NULL) == 0 ? 0 : 1;
}
