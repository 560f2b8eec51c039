/*
 * transfer.c - see transfer.h.
 */
#include "transfer.h"

static int ask_the_bank(void)
{
        return eddy_sleep(EDDY_SEC(1));
}

static int take(struct account *from, int64_t amount)
{
        int err = eddy_lock_acquire(&from->lock);

        if (err < 0)
                return err;
        if (from->amount >= amount)
                from->amount -= amount;
        else
                err = -ENOSPC;
        eddy_lock_release(&from->lock);
        return err;
}

/* In a shield: what was taken arrives somewhere, whatever is cancelled. */
static void put(struct account *to, int64_t amount)
{
        struct eddy_scope_opts opts = { .flags = EDDY_SCOPE_SHIELD };
        eddy_scope scope;

        eddy_scope_begin(&scope, &opts);
        if (eddy_lock_acquire(&to->lock) == 0) {
                to->amount += amount;
                eddy_lock_release(&to->lock);
        }
        (void) eddy_scope_end(&scope);
}

int transfer(struct account *from, struct account *to, int64_t amount)
{
        int err = take(from, amount);

        if (err < 0)
                return err;
        err = ask_the_bank();
        put(err < 0 ? from : to, amount);
        return err;
}

int transfer_careless(struct account *from, struct account *to, int64_t amount)
{
        int err = take(from, amount);

        if (err < 0)
                return err;
        err = ask_the_bank();
        if (err < 0)
                return err;
        put(to, amount);
        return 0;
}
