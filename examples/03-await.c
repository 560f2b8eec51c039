/*
 * 03-await - waiting for an answer is a plain call.
 *
 * fetch_data() suspends in the middle, but its name, its type and its callers
 * do not show that.  Python writes `await fetch_data()`; C calls the function.
 * If there were other tasks, they would run meanwhile.  The return value is the
 * error; a cancel would also be returned there, as -ECANCELED.
 *
 * Run: 03-await
 * Time: virtual 2 s
 * Output:
 *     Starting data request
 *     Data received
 *     {'status': 'ok'}
 */
#include <stdio.h>

#include "eddy/eddy.h"

struct reply {
        const char *status;
};

static int fetch_data(struct reply *ret_reply)
{
        int err;

        puts("Starting data request");
        err = eddy_sleep(EDDY_SEC(2)); /* as long as a network would take */
        if (err < 0)
                return err;
        puts("Data received");
        *ret_reply = (struct reply){ .status = "ok" };
        return 0;
}

static int show(void *arg)
{
        struct reply reply;
        int err = fetch_data(&reply);

        (void) arg;
        if (err == 0)
                printf("{'status': '%s'}\n", reply.status);
        return err;
}

int main(void)
{
        int err = eddy_run(show, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "03-await: %s\n", eddy_error_text(err));
        return err < 0 ? 1 : 0;
}
