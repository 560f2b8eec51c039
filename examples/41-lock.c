/*
 * 41-lock - the last seats again, with a lock taken and released by hand.
 *
 * acquire() can fail, like any call that waits, and then there is nothing to
 * release.  After it, every path reaches the release, as with `finally`.  Ali waits
 * while Mohammad pays, and only then checks whether seats are left.
 *
 * Two customers who request the lock at the same instant do not block each other:
 * the first gets the lock, and the other is next.
 *
 * Run: 41-lock
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
        int seats = 2, err = eddy_lock_acquire(&lock);

        if (err < 0)
                return err;
        if (seats > available_seats)
                printf("%s, number of seats that you want is greater than available seats\n",
                       (const char *) customer);
        else
                err = take_payment();
        if (err == 0 && seats <= available_seats) {
                printf("%d seats booked successfully for %s\n", seats, (const char *) customer);
                available_seats -= seats;
        }
        eddy_lock_release(&lock);
        return err;
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
                fprintf(stderr, "41-lock: %s\n", eddy_error_text(err));
        return err < 0;
}
