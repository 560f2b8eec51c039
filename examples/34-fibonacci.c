/*
 * 34-fibonacci - the Fibonacci numbers below a thousand, one by one.
 *
 * fibonacci() keeps its two numbers in local variables between one value and
 * the next, because it is suspended in the middle of its loop.  It does not run
 * before the first value is asked for.  At its end next() returns 0: there is
 * no exception, and no list of all the values.
 *
 * Run: 34-fibonacci
 * Time: virtual 0 s
 * Output:
 *     1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987,
 */
#include <stdio.h>

#include "eddy/eddy.h"

static int fibonacci(eddy_generator *numbers, void *arg)
{
        int limit = *(const int *) arg, a = 1, b = 1, err = 0;

        while (a < limit && err == 0) {
                int next = a + b;

                err = eddy_generator_yield(numbers, &a);
                a = b;
                b = next;
        }
        return err;
}

static int run(void *arg)
{
        int limit = 1000, number, more;
        eddy_generator numbers;
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_generator_begin(&numbers, &scope, fibonacci, &limit, sizeof(int));
        more = eddy_generator_next(&numbers, &number);
        while (more > 0) {
                printf("%d,", number);
                more = eddy_generator_next(&numbers, &number);
                putchar(more > 0 ? ' ' : '\n');
        }
        return eddy_scope_end_with(&scope, more);
}

int main(void)
{
        return eddy_run(run, NULL, NULL) == 0 ? 0 : 1;
}
