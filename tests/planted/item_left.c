/*
 * item_left.c - who is cancelled while it works on an item of a queue does not
 * say that the item is done.
 *
 * Says: eddy_test: jobs: task=2,cancel=2: 1 item of a queue taken and not done
 * Says: eddy_test: again with EDDY_TEST_REPLAY='jobs:task=2,cancel=2'
 */
#include "planted.h"

static eddy_queue jobs;

static int worker(void *arg)
{
        void *job;
        int err;

        (void) arg;
        while ((err = eddy_queue_get(&jobs, &job)) == 0) {
                err = eddy_sleep(EDDY_MS(1));
                if (FAULT && err < 0)
                        return err;
                eddy_queue_task_done(&jobs);
                if (err < 0)
                        return err;
        }
        return err == -EPIPE ? 0 : err;
}

static int jobs_main(void *arg)
{
        eddy_scope scope;
        int err;

        (void) arg;
        jobs = (eddy_queue){ 0 };
        eddy_test_watch_queue(&jobs);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 2; i++)
                start(&scope, "worker", worker, NULL);
        for (int i = 0; i < 4; i++) {
                void *job = &jobs;

                err = eddy_queue_put(&jobs, &job);
                if (err < 0)
                        break;
        }
        eddy_queue_shutdown(&jobs, 0);
        err = eddy_scope_end(&scope);
        eddy_queue_fini(&jobs);
        return err;
}

int main(void)
{
        const struct eddy_test_opts opts = { .name = "jobs", .cancel_named = "worker" };

        return end(eddy_test_sweep(EDDY_TEST_CANCEL_TASK, jobs_main, NULL, &opts, NULL));
}
