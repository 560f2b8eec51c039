/*
 * cancelled_alone.c - a task that is cancelled alone does not say that it is
 * gone, and main waits for it for ever.  If main is cancelled, all end with it.
 *
 * Says: eddy_test: work: task=2,cancel=1: all tasks wait and nothing can wake them.*
 * Says: eddy_test: work: task=2,cancel=1: task 2, worker, was cancelled before it had begun
 * Says: eddy_test: again with EDDY_TEST_REPLAY='work:task=2,cancel=1'
 */
#include "planted.h"

enum { WORKERS = 3 };

static struct work {
        int left;
        eddy_event done;
} work;

int worker(void *arg);
int worker(void *arg)
{
        int err = eddy_sleep(EDDY_MS(1));

        (void) arg;
        if (FAULT && err < 0)
                return err;
        if (--work.left == 0)
                eddy_event_set(&work.done);
        return err;
}

static int work_main(void *arg)
{
        eddy_scope scope;
        int err, ended;

        (void) arg;
        work = (struct work){ .left = WORKERS };
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < WORKERS; i++)
                start(&scope, "worker", worker, NULL);
        err = eddy_event_wait(&work.done);
        ended = eddy_scope_end(&scope);
        return ended < 0 ? ended : err;
}

int main(void)
{
        const struct eddy_test_opts opts = { .name = "work" };
        int err = eddy_test_sweep(EDDY_TEST_CANCEL, work_main, NULL, &opts, NULL);

        if (err == 0)
                err = eddy_test_sweep(EDDY_TEST_CANCEL_TASK, work_main, NULL, &opts, NULL);
        return end(err);
}
