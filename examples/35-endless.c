/*
 * 35-endless - a generator that never ends, and a reader who has had enough.
 *
 * The first value is asked for by hand, the rest in a loop, which continues
 * after the first.  Leaving the loop is enough: as the scope ends, the
 * generator's yield returns -ECANCELED, its own code cleans up, and only then
 * does eddy_scope_end_with() return.  In Python, cleaning up comes when the
 * garbage collector finds the generator, or with the loop's end.
 *
 * The Python program this mirrors prints for ever.
 *
 * Run: 35-endless
 * Time: virtual 0 s
 * Output:
 *     1
 *     1, 2, 3, 5, 8, 13, 21, 34, 55, 89, ...
 *     the generator has cleaned up
 */
#include <stdio.h>

#include "eddy/eddy.h"

/* Unsigned, so that it goes on beyond 64 bits, if no longer as Fibonacci would. */
static int fibonacci(eddy_generator *numbers, void *arg)
{
        uint64_t a = 1, b = 1;
        int err = 0;

        (void) arg;
        while (err == 0) {
                uint64_t next = a + b;

                err = eddy_generator_yield(numbers, &a);
                a = b;
                b = next;
        }
        puts("the generator has cleaned up");
        return err;
}

static int print_some(eddy_generator *numbers)
{
        uint64_t number;
        int more = eddy_generator_next(numbers, &number);

        if (more > 0)
                printf("%llu\n", (unsigned long long) number);
        for (int i = 0; i < 10 && more > 0; i++) {
                more = eddy_generator_next(numbers, &number);
                if (more > 0)
                        printf("%llu, ", (unsigned long long) number);
        }
        puts("...");
        return more < 0 ? more : 0;
}

static int run(void *arg)
{
        eddy_generator numbers;
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_generator_begin(&numbers, &scope, fibonacci, NULL, sizeof(uint64_t));
        return eddy_scope_end_with(&scope, print_some(&numbers));
}

int main(void)
{
        return eddy_run(run, NULL, NULL) == 0 ? 0 : 1;
}
