/*
 * 75-order-mail - an order is confirmed at once, and its mail is sent in the
 * background.
 *
 * The steps of an order depend on each other and run in sequence.  The customer
 * does not have to wait for the mail, so a background task sends it.  The task
 * outlives the function that starts it, and borrows the order, which is therefore
 * not a local variable of that function.
 *
 * At the end the run waits for the mails, for at most drain_ns.  If a mail fails,
 * the run reports that.
 *
 * Run: 75-order-mail
 * Time: virtual 4 s
 * Output:
 *     0 s: order 1 is paid
 *     1 s: order 1 is confirmed
 *     1 s: order 2 is paid
 *     2 s: order 2 is confirmed
 *     2 s: the shop closes
 *     3 s: the mail for order 1 is sent
 *     4 s: the mail for order 2 is sent
 */
#include <stdio.h>

#include "eddy/eddy.h"

static int64_t began_ns;

static void print(const char *before, int order, const char *after)
{
        printf("%.0f s: %s %d %s\n", (double) (eddy_now() - began_ns) / 1e9, before, order, after);
}

static int send_mail(void *order)
{
        int err = eddy_sleep(EDDY_SEC(2));

        if (err == 0)
                print("the mail for order", *(const int *) order, "is sent");
        return err;
}

static int place_order(int *order)
{
        int err;

        print("order", *order, "is paid");
        err = eddy_sleep(EDDY_SEC(1)); /* the stock is updated */
        if (err < 0)
                return err;
        print("order", *order, "is confirmed");
        return eddy_background(send_mail, order);
}

static int run(void *arg)
{
        static int orders[] = { 1, 2 };
        int err = 0;

        (void) arg;
        began_ns = eddy_now();
        for (int i = 0; i < 2 && err == 0; i++)
                err = place_order(&orders[i]);
        if (err == 0)
                printf("%.0f s: the shop closes\n", (double) (eddy_now() - began_ns) / 1e9);
        return err;
}

int main(void)
{
        int err = eddy_run(run, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "75-order-mail: %s\n", eddy_error_text(err));
        return err < 0;
}
