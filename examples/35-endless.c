/*
 * 35-endless - a generator that never ends, and a loop that takes ten of its
 * values.
 *
 * The first value is requested by hand, the rest in a loop, which continues after
 * the first.  The scope closes the generator: its yield returns -ECANCELED, its
 * own code cleans up, and then eddy_scope_end_with() returns.  Python needs
 * close() for that; otherwise the generator cleans up when its object is freed.
 *
 * The loop of the course has no end and prints for ever.
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

/* Unsigned: beyond 64 bits the numbers wrap around, which is defined. */
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
        int err = eddy_run(run, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "35-endless: %s\n", eddy_error_text(err));
        return err < 0;
}
