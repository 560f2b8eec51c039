/*
 * lost_wakeup.c - a box for a letter, made of a lock and a condition.  Who
 * waits for a letter looks into the box with the lock open: when it has the
 * lock, the letter may have come, and nobody tells it of another.
 *
 * In the order in which tasks are started it works; another finds it.
 *
 * Says: eddy_test: exchange: seed=\d+: all tasks wait and nothing can wake them; the run is cancelled:
 * Says: reader waits for a condition
 * Says: eddy_test: again with EDDY_TEST_REPLAY='exchange:seed=\d+'
 */
#include "planted.h"

struct box {
        eddy_lock lock;
        eddy_condition filled;
        int letter; /* 0: empty */
};

static int read_letter(void *arg)
{
        struct box *box = arg;
        bool empty = box->letter == 0;
        int err = eddy_lock_acquire(&box->lock);

        if (err < 0)
                return err;
        if (!FAULT)
                empty = box->letter == 0;
        if (empty)
                err = eddy_condition_wait(&box->filled, &box->lock);
        if (err == 0)
                box->letter = 0;
        eddy_lock_release(&box->lock);
        return err;
}

static int write_letter(void *arg)
{
        struct box *box = arg;
        int err = eddy_lock_acquire(&box->lock);

        if (err < 0)
                return err;
        err = eddy_sleep(EDDY_MS(1));
        if (err == 0) {
                box->letter = 7;
                err = eddy_condition_notify(&box->filled, 1);
        }
        eddy_lock_release(&box->lock);
        return err;
}

static int exchange(void *arg)
{
        struct box box = { .letter = 0 };
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        start(&scope, "reader", read_letter, &box);
        start(&scope, "writer", write_letter, &box);
        return eddy_scope_end(&scope);
}

int main(void)
{
        const struct eddy_test_opts opts = { .name = "exchange" };

        return end(eddy_test_sweep(EDDY_TEST_SEEDS, exchange, NULL, &opts, NULL));
}
