/*
 * 31-workers - five workers on a queue of a hundred, ended by five sentinels.
 *
 * The queue is bounded, so a producer that is faster than the workers waits in
 * put(), and memory does not grow.  A job that fails is reported and counted as
 * done, so its worker continues and the join returns.  Each worker takes
 * exactly one sentinel, because the worker then ends.
 *
 * eddy_queue_shutdown() would end the workers without any sentinel.
 *
 * Run: 31-workers
 * Time: virtual 5 s
 * Output:
 *     Error in worker w3 on job 3
 *     at most 100 jobs waited
 *     w0 did 50 jobs
 *     w1 did 50 jobs
 *     w2 did 50 jobs
 *     w3 did 50 jobs
 *     w4 did 50 jobs
 *     250 jobs done
 */
#include <stdio.h>

#include "eddy/eddy.h"

enum { WORKERS = 5, JOBS = 250, SENTINEL = -1 };

struct worker {
        int number;
        int jobs;
        eddy_queue *queue;
};

/* Job 3 fails. */
static int do_job(int job)
{
        int err = eddy_sleep(EDDY_MS(100));

        if (err < 0)
                return err;
        return job == 3 ? -EIO : 0;
}

static int work(void *arg)
{
        struct worker *worker = arg;
        int job, err;

        while ((err = eddy_queue_get(worker->queue, &job)) == 0) {
                if (job == SENTINEL)
                        return eddy_queue_task_done(worker->queue);
                err = do_job(job);
                eddy_queue_task_done(worker->queue);
                if (err == -ECANCELED)
                        return err;
                if (err < 0)
                        printf("Error in worker w%d on job %d\n", worker->number, job);
                worker->jobs++;
        }
        return err;
}

/* Returns when all jobs are done. */
static int feed(eddy_queue *queue)
{
        uint32_t most = 0;
        int err = 0, sentinel = SENTINEL;

        for (int job = 0; job < JOBS && err == 0; job++) {
                err = eddy_queue_put(queue, &job);
                if (eddy_queue_count(queue) > most)
                        most = eddy_queue_count(queue);
        }
        printf("at most %u jobs waited\n", most);
        for (int i = 0; i < WORKERS && err == 0; i++)
                err = eddy_queue_put(queue, &sentinel);
        return err < 0 ? err : eddy_queue_join(queue);
}

static int run(void *arg)
{
        struct worker workers[WORKERS];
        int err, done = 0;
        eddy_queue queue;

        (void) arg;
        err = eddy_queue_init(&queue, sizeof(int), 100);
        if (err < 0)
                return err;
        EDDY_SCOPE (scope, &err) {
                for (int i = 0; i < WORKERS; i++) {
                        workers[i] = (struct worker){ .number = i, .queue = &queue };
                        eddy_scope_start(&scope, work, &workers[i]);
                }
                err = feed(&queue);
        }
        for (int i = 0; i < WORKERS; done += workers[i].jobs, i++)
                printf("w%d did %d jobs\n", i, workers[i].jobs);
        printf("%d jobs done\n", done);
        eddy_queue_fini(&queue);
        return err;
}

int main(void)
{
        int err = eddy_run(run, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "31-workers: %s\n", eddy_error_text(err));
        return err < 0;
}
