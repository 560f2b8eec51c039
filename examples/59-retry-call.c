/*
 * 59-retry-call - up to five attempts with random waits, within ten seconds.
 *
 * The library decides which errors may pass, and how long to wait.  A wait that would
 * end after the deadline is not begun: the last error is returned at once.  tenacity
 * and stamina do the same for Python.
 *
 * Run: 59-retry-call
 * Time: virtual 0 s
 * Output:
 *     attempt 1 failed: ECONNREFUSED
 *     attempt 2 failed: ECONNREFUSED
 *     loaded after 3 attempts
 *     gave up: ENOMEM
 */
#include <stdio.h>

#include "eddy/eddy.h"

struct load {
        int attempts;
        int fails;
        int error;
};

static int load(void *arg)
{
        struct load *load = arg;

        return ++load->attempts <= load->fails ? load->error : 0;
}

static void say_why(int error, uint32_t attempts, int64_t wait_ns, void *arg)
{
        (void) wait_ns;
        (void) arg;
        printf("attempt %u failed: %s\n", (unsigned) attempts, eddy_error_name(error));
}

static int run(void *arg)
{
        /* Without waits, so that the example takes no time; the default begins with 0 to 0.5 s. */
        struct eddy_retry_policy policy = { .attempts = 5, .base_ns = -1, .before_wait = say_why };
        struct load passing = { .fails = 2, .error = -ECONNREFUSED };
        struct load final = { .fails = 2, .error = -ENOMEM };
        eddy_scope scope;
        int err;

        (void) arg;
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_SEC(10) });
        if (eddy_retry_call(&policy, load, &passing) == 0)
                printf("loaded after %d attempts\n", passing.attempts);
        err = eddy_retry_call(&policy, load, &final);
        printf("gave up: %s\n", eddy_error_name(err));
        return eddy_scope_end(&scope);
}

int main(void)
{
        return eddy_run(run, NULL, NULL) == 0 ? 0 : 1;
}
