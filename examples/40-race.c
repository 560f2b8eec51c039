/*
 * 40-race - two customers book the last two seats, two each.
 *
 * Tasks change places only when they wait, and here each waits between looking
 * and booking: both see two free seats, and both take them.  With threads that
 * happens sometimes, wherever they are interrupted; on one loop it happens only
 * where the code waits, every time, so a test can find it.  Without the wait
 * there would be no race, and no need of a lock.
 *
 * The cure is in the next two examples.
 *
 * Run: 40-race
 * Time: virtual 1 s
 * Output:
 *     2 seats booked successfully for Mohammad
 *     2 seats booked successfully for Ali
 *     Available seats: -2
 */
#include <stdio.h>

#include "eddy/eddy.h"

static int available_seats = 2;

static int take_payment(void)
{
        return eddy_sleep(EDDY_SEC(1));
}

static int book_two(void *customer)
{
        int seats = 2, err;

        if (seats > available_seats) {
                printf("%s, there are not that many seats\n", (const char *) customer);
                return 0;
        }
        err = take_payment(); /* what was seen above may no longer hold after this */
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
        return eddy_run(run, NULL, NULL) == 0 ? 0 : 1;
}
