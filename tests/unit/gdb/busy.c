/*
 * busy.c - a program for perf.sh: tasks that compute, two calls deep.
 */
#include <eddy/eddy.h>
#include <stdint.h>

static volatile uint64_t sum;

/* One that calls nobody would have no frame, and hide its caller's. */
__attribute__((noinline)) static void computes(void)
{
        for (int i = 0; i < 100000; i++)
                sum += (uint64_t) i * sum;
        sum += (uint64_t) eddy_now();
}

__attribute__((noinline)) static int handles(void)
{
        computes();
        return sum == 1 ? 1 : 0;
}

static int works(void *arg)
{
        int err = 0;

        (void) arg;
        for (int i = 0; i < 100 && err == 0; i++) {
                (void) handles();
                err = eddy_sleep(0);
        }
        return err;
}

static int body(void *arg)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 4; i++)
                eddy_scope_start(&scope, works, arg);
        return eddy_scope_end(&scope);
}

int main(void)
{
        return eddy_run(body, NULL, NULL) < 0;
}
