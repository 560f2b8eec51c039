/*
 * 40-race - two customers book the last two seats, two each.
 *
 * Another task can run only in a call that waits.  Here each customer waits
 * between the check and the booking: both see two free seats, and both take them.
 * Between threads this race happens sometimes, at any instruction
 * (72-thread-race).  Between tasks it happens only at a waiting call, and then in
 * every run, so a test finds it.  Without the wait the race cannot happen, and no
 * lock is needed.
 *
 * The next two examples repair it.
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
        err = take_payment(); /* the check above may be out of date after this */
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
                fprintf(stderr, "40-race: %s\n", eddy_error_text(err));
        return err < 0;
}
