/*
 * 63-capacity - as many concurrent calls as a service can handle, a number that is not known.
 *
 * The service handles twelve calls at once and refuses further calls with 503.  The
 * limit begins at 8 and grows while calls succeed; a refused call lowers it again.
 *
 * Run: 63-capacity
 * Time: virtual 4.2 s
 * Output:
 *     3 of 1000 calls were refused; the limit is 12
 */
#include <stdio.h>

#include "eddy/eddy.h"

enum { CAPACITY = 12, CALLS = 1000 };

static eddy_concurrency slots;
static int in_service, refused;

/* The service, which answers after 50 ms. */
static int ask_service(void)
{
        int err, status = ++in_service > CAPACITY ? 503 : 200;

        err = status == 200 ? eddy_sleep(EDDY_MS(50)) : 0;
        in_service--;
        return err < 0 ? err : status;
}

static int call(void *arg)
{
        enum eddy_concurrency_result result = EDDY_CONCURRENCY_OK;
        int status, ticket = eddy_concurrency_acquire(&slots);

        (void) arg;
        if (ticket < 0)
                return ticket;
        status = ask_service();
        if (status < 0)
                result = EDDY_CONCURRENCY_UNKNOWN; /* cancelled */
        else if (status == 503)
                result = EDDY_CONCURRENCY_OVERLOAD;
        eddy_concurrency_release(&slots, ticket, result);
        refused += status == 503;
        return status < 0 ? status : 0;
}

static int call_all(void *arg)
{
        eddy_scope scope;
        int err;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < CALLS; i++)
                eddy_scope_start(&scope, call, NULL);
        err = eddy_scope_end(&scope);
        printf("%d of %d calls were refused; the limit is %u\n", refused, CALLS,
               (unsigned) eddy_concurrency_limit(&slots));
        return err;
}

int main(void)
{
        return eddy_run(call_all, NULL, NULL) == 0 ? 0 : 1;
}
