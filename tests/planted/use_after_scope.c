/*
 * use_after_scope.c - a task in the background borrows what the request that
 * started it frees at its end.  A task of the request's scope may.
 *
 * Ends: failed
 * Says: .*AddressSanitizer: heap-use-after-free.*
 * Says: .* in count_bytes .*
 * Says: .* in request .*
 */
#include "planted.h"

struct body {
        int bytes;
};

int count_bytes(void *arg);
int count_bytes(void *arg)
{
        const struct body *body = arg;
        int err = eddy_sleep(EDDY_MS(5));

        return err < 0 ? err : body->bytes;
}

int request(void *arg);
int request(void *arg)
{
        struct body *body = calloc(1, sizeof(*body));
        eddy_scope scope;
        int err;

        (void) arg;
        if (!body)
                return -ENOMEM;
        eddy_scope_begin(&scope, NULL);
        if (FAULT)
                err = eddy_background(count_bytes, body);
        else
                err = eddy_scope_start(&scope, count_bytes, body);
        if (err == 0)
                err = eddy_scope_end(&scope);
        else
                (void) eddy_scope_end(&scope);
        free(body);
        return err;
}

int main(void)
{
        return end(eddy_run(request, NULL, NULL));
}
