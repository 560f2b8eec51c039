/*
 * 42-held-lock - the last seats with a lock that is released on every way out.
 *
 * `held` releases the lock on every way out of its block, including the early
 * return of a failed payment, as Python's `with` does.  It is set only after
 * the lock was acquired: a lock that was not taken is not released.
 *
 * If a program forgets to release a lock by hand, and all other tasks wait for that
 * lock, the run ends with a report that names them.  It does not hang.
 *
 * Run: 42-held-lock
 * Time: virtual 1 s
 * Output:
 *     2 seats booked successfully for Mohammad
 *     Ali, number of seats that you want is greater than available seats
 *     Available seats: 0
 */
#include <stdio.h>

#include "eddy/eddy.h"

static eddy_lock lock; /* ready to use when zero */
static int available_seats = 2;

static int take_payment(void)
{
        return eddy_sleep(EDDY_SEC(1));
}

static int book_two(void *customer)
{
        EDDY_AUTO(eddy_lock) eddy_lock *held = NULL;
        int seats = 2, err = eddy_lock_acquire(&lock);

        if (err < 0)
                return err;
        held = &lock;
        if (seats > available_seats) {
                printf("%s, number of seats that you want is greater than available seats\n",
                       (const char *) customer);
                return 0;
        }
        err = take_payment();
        if (err < 0)
                return err;
        printf("%d seats booked successfully for %s\n", seats, (const char *) customer);
        available_seats -= seats;
        return 0;
}

static int run(void *arg)
{
        char mohammad[] = "Mohammad", ali[] = "Ali";
        struct eddy_call calls[] = { EDDY_CALL(book_two, mohammad), EDDY_CALL(book_two, ali) };
        int err = eddy_gather(calls, 2, 0);

        (void) arg;
        printf("Available seats: %d\n", available_seats);
        return err;
}

int main(void)
{
        int err = eddy_run(run, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "42-held-lock: %s\n", eddy_error_text(err));
        return err < 0;
}
