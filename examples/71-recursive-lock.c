/*
 * 71-recursive-lock - a lock that its owner may take again.
 *
 * The owner of a plain lock that takes it again would wait for itself for ever.
 * eddy returns -EDEADLK at once.  The owner of a recursive lock may take it again:
 * here book_group() calls book_one(), which takes it again.  The lock is free
 * after it has been released as often as it was taken.
 *
 * Only the owner may do that.  Another task waits, as for any lock, even
 * after the first of two releases.
 *
 * Run: 71-recursive-lock
 * Time: virtual 2 s
 * Output:
 *     plain lock: its owner cannot take it again
 *     recursive lock: taken by the group
 *     recursive lock: taken again by the group
 *     released once
 *     released twice
 *     recursive lock: taken by Ali
 */
#include <stdio.h>

#include "eddy/eddy.h"

static eddy_lock plain; /* ready to use when zero */
static eddy_lock recursive = EDDY_LOCK(EDDY_LOCK_RECURSIVE);

static int take_plain_twice(void)
{
        int err = eddy_lock_acquire(&plain);

        if (err < 0)
                return err;
        if (eddy_lock_acquire(&plain) == -EDEADLK)
                puts("plain lock: its owner cannot take it again");
        return eddy_lock_release(&plain);
}

static int ali(void *arg)
{
        int err = eddy_lock_acquire(&recursive);

        (void) arg;
        if (err < 0)
                return err;
        puts("recursive lock: taken by Ali");
        return eddy_lock_release(&recursive);
}

static int book_one(void)
{
        int err = eddy_lock_acquire(&recursive);

        if (err < 0)
                return err;
        puts("recursive lock: taken again by the group");
        err = eddy_sleep(EDDY_SEC(1));
        eddy_lock_release(&recursive);
        return err;
}

static int book_group(void *arg)
{
        int err = eddy_lock_acquire(&recursive);

        (void) arg;
        if (err < 0)
                return err;
        puts("recursive lock: taken by the group");
        err = book_one();
        puts("released once");
        if (err == 0)
                err = eddy_sleep(EDDY_SEC(1)); /* Ali would take the lock here if it were free */
        puts("released twice");
        eddy_lock_release(&recursive);
        return err;
}

static int run(void *arg)
{
        struct eddy_call calls[] = { EDDY_CALL(book_group, NULL), EDDY_CALL(ali, NULL) };
        int err = take_plain_twice();

        (void) arg;
        return err < 0 ? err : eddy_gather(calls, 2, 0);
}

int main(void)
{
        int err = eddy_run(run, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "71-recursive-lock: %s\n", eddy_error_text(err));
        return err < 0;
}
