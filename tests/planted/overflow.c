/*
 * overflow.c - a task that calls itself too deep: the guard of its stack stops
 * it, and the report names it.
 *
 * Ends: signal SIGSEGV
 * Says: eddy: task digger: .*stack.*
 */
#include "planted.h"

/* The depth is meant. */
#if defined(__clang__)
#pragma GCC diagnostic ignored "-Winfinite-recursion"
#endif

static __attribute__((noinline)) int dig(int depth)
{
        volatile char frame[1024];

        frame[0] = (char) depth;
        return depth > 0 ? dig(depth - 1) + frame[0] : 0;
}

static int digger(void *arg)
{
        (void) arg;
        return dig(FAULT ? 1 << 24 : 16) >= 0 ? 0 : 1;
}

static int digs(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        start(&scope, "digger", digger, NULL);
        return eddy_scope_end(&scope);
}

int main(void)
{
        return end(eddy_run(digs, NULL, NULL));
}
