/*
 * 34-fibonacci - the Fibonacci numbers below a thousand, one by one.
 *
 * fibonacci() keeps its two numbers in local variables between one value and
 * the next, because it is suspended in the middle of its loop.  It first runs when
 * the first value is requested.  After the last value next() returns 0, without an
 * exception, and no list of all values exists at any time.
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
        int err = eddy_run(run, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "34-fibonacci: %s\n", eddy_error_text(err));
        return err < 0;
}
