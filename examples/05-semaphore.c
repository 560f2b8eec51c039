/*
 * 05-semaphore - thirty tasks, never more than ten of them at work.
 *
 * All thirty tasks start at once, but each needs one of ten units to continue.
 * A released unit goes to the task that has waited longest.  EDDY_AUTO releases
 * the unit on every way out of guarded(), as `async with` does in Python.  A
 * cancelled wait has taken no unit.
 *
 * Run: 05-semaphore
 * Time: virtual 3 s
 * Output:
 *     30 done, 10 at once
 */
#include <stdio.h>

#include "eddy/eddy.h"

static eddy_semaphore room = EDDY_SEMAPHORE(10, 0);

struct tally {
        int running, most, done;
};

static int work(struct tally *tally)
{
        int err;

        if (++tally->running > tally->most)
                tally->most = tally->running;
        err = eddy_sleep(EDDY_SEC(1));
        tally->running--;
        if (err == 0)
                tally->done++;
        return err;
}

static int guarded(void *tally)
{
        EDDY_AUTO(eddy_semaphore) eddy_semaphore *unit = NULL;
        int err = eddy_semaphore_acquire(&room);

        if (err < 0)
                return err;
        unit = &room;
        return work(tally);
}

static int start_all(void *arg)
{
        struct tally tally = { 0 };
        eddy_scope scope;
        int err;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 30; i++)
                eddy_scope_start(&scope, guarded, &tally);
        err = eddy_scope_end(&scope);
        printf("%d done, %d at once\n", tally.done, tally.most);
        return err;
}

int main(void)
{
        int err = eddy_run(start_all, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "05-semaphore: %s\n", eddy_error_text(err));
        return err < 0 ? 1 : 0;
}
