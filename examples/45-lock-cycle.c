/*
 * 45-lock-cycle - two transfers that each hold what the other needs, and the
 * cure: an order.
 *
 * The first half does not hang.  When all tasks wait and nothing can wake them,
 * the report names both and what each waits for, the run is cancelled, both
 * transfers release their locks, and eddy_run() returns -EDEADLK.  The second
 * half takes the same two locks in the same order everywhere, whichever way the
 * money goes, so no cycle is possible.
 *
 * Run: 45-lock-cycle
 * Time: virtual 3 s
 * Output:
 *     each takes its own account first:
 *     report: all tasks wait and nothing can wake them; the run is cancelled:
 *       main waits for the tasks of a scope to end
 *         scope of main
 *           rent waits for a lock, held by salary
 *           salary waits for a lock, held by rent
 *     EDEADLK; balances 100 and 100
 *     both take the first account first:
 *     done; balances 120 and 80
 */
#include <stdio.h>

#include "eddy/eddy.h"

struct account {
        eddy_lock lock;
        int balance;
};

static struct account accounts[2] = { { .balance = 100 }, { .balance = 100 } };

struct transfer {
        struct account *from, *to;
        struct account *first, *second; /* the two again, as they are to be locked */
        int amount;
};

static int transfer(void *arg)
{
        struct transfer *transfer = arg;
        EDDY_AUTO(eddy_lock) eddy_lock *first = NULL;
        EDDY_AUTO(eddy_lock) eddy_lock *second = NULL;
        int err = eddy_lock_acquire(&transfer->first->lock);

        if (err < 0)
                return err;
        first = &transfer->first->lock;
        err = eddy_sleep(EDDY_SEC(1)); /* looks whether there is enough on it */
        if (err == 0)
                err = eddy_lock_acquire(&transfer->second->lock);
        if (err < 0)
                return err;
        second = &transfer->second->lock;
        transfer->from->balance -= transfer->amount;
        transfer->to->balance += transfer->amount;
        return 0;
}

static int transfer_both(void *arg)
{
        EDDY_AUTO(eddy_task) eddy_task *rent = NULL, *salary = NULL;
        struct eddy_task_opts rent_opts = { .name = "rent" }, salary_opts = { .name = "salary" };
        struct transfer *transfers = arg;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start_task(&scope, transfer, &transfers[0], &rent_opts, &rent);
        eddy_scope_start_task(&scope, transfer, &transfers[1], &salary_opts, &salary);
        return eddy_scope_end(&scope);
}

static void say_report(const struct eddy_report *report, void *arg)
{
        (void) arg;
        printf("report: %s\n", report->text);
}

static int run(const char *how, struct transfer *transfers)
{
        struct eddy_run_opts opts = { .report = say_report };
        int err;

        printf("%s\n", how);
        err = eddy_run(transfer_both, transfers, &opts);
        printf("%s; balances %d and %d\n", err < 0 ? eddy_error_name(err) : "done",
               accounts[0].balance, accounts[1].balance);
        return err;
}

int main(void)
{
        struct account *a = &accounts[0], *b = &accounts[1];
        struct transfer cycle[] = { { a, b, a, b, 30 }, { b, a, b, a, 50 } };
        struct transfer ordered[] = { { a, b, a, b, 30 }, { b, a, a, b, 50 } };

        if (run("each takes its own account first:", cycle) != -EDEADLK)
                return 1;
        return run("both take the first account first:", ordered) == 0 ? 0 : 1;
}
