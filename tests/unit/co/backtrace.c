/*
 * backtrace.c - a program for backtrace.sh: a task three calls deep.
 */
#include <eddy/eddy.h>
#include <stdio.h>

__attribute__((noinline)) static int innermost(int depth)
{
        puts("here");
        return depth;
}

__attribute__((noinline)) static int middle(int depth)
{
        return innermost(depth + 1) + 1;
}

static int body(void *arg)
{
        (void) arg;
        eddy_sleep(0);
        return middle(1) - 3;
}

int main(void)
{
        return eddy_run(body, NULL, NULL);
}
