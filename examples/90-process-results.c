/*
 * 90-process-results - results of worker processes, collected in the order of the calls.
 *
 * Each call is a task with a handle, and eddy_task_join() waits for it.  The third call
 * crashes its worker: only this call fails, and another worker takes the place of the dead
 * one.  In Python the whole pool breaks, or the call waits for ever.
 *
 * Run: 90-process-results
 * Time: wall 0 s
 * Output:
 *     the roots of 1 to 12500000: 29462784317.00
 *     the roots of 12500001 to 25000000: 53870551516.12
 *     the roots of 25000001 to 37500000: the worker process ended before it had a result (signal 9)
 *     the roots of 37500001 to 50000000: 82609151945.24
 *     again: 69759776152.48
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>

#include "eddy/eddy.h"

enum { PARTS = 4, COUNT = 50000000, BAD = 2 };

struct part {
        int from, to;
        bool crashes;
};

static eddy_process_pool *pool;

/* In a worker process. */
static int do_math(eddy_process_work *work)
{
        const struct part *part = eddy_process_work_input(work);
        double sum = 0;

        if (part->crashes)
                raise(SIGKILL);
        for (int i = part->from; i <= part->to; i++)
                sum += sqrt(i);
        return eddy_process_work_reply(work, &sum, sizeof(sum));
}

struct job {
        struct part part;
        double sum;
        struct eddy_process_exit exit; /* how the worker ended */
};

static int compute(void *arg)
{
        struct job *job = arg;
        struct eddy_process_call call = { .fn = do_math,
                                          .input = &job->part,
                                          .input_bytes = sizeof(job->part),
                                          .result = &job->sum,
                                          .result_bytes_max = sizeof(job->sum) };
        int err = eddy_process_pool_call(pool, &call);

        job->exit = call.exit;
        return err;
}

static void show(const struct job *job, int err)
{
        printf("the roots of %d to %d: ", job->part.from, job->part.to);
        if (err == 0)
                printf("%.2f\n", job->sum);
        else
                printf("%s (signal %d)\n", eddy_error_text(err), job->exit.signo);
}

static int show_all(void)
{
        eddy_task *tasks[PARTS] = { NULL };
        struct job jobs[PARTS];
        eddy_scope scope;
        int err = 0, result;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_KEEP_GOING });
        for (int i = 0; i < PARTS && err == 0; i++) {
                jobs[i] = (struct job){ .part = { COUNT / PARTS * i + 1, COUNT / PARTS * (i + 1),
                                                  i == BAD } };
                err = eddy_scope_start_task(&scope, compute, &jobs[i], NULL, &tasks[i]);
        }
        for (int i = 0; i < PARTS && err == 0; i++) {
                err = eddy_task_join(tasks[i], &result);
                if (err == 0)
                        show(&jobs[i], result);
        }
        for (int i = 0; i < PARTS; i++)
                eddy_task_release(tasks[i]);
        (void) eddy_scope_end(&scope); /* the program continues after a failed part */
        if (err < 0)
                return err;
        jobs[BAD].part.crashes = false;
        err = compute(&jobs[BAD]);
        if (err == 0)
                printf("again: %.2f\n", jobs[BAD].sum);
        return err;
}

static int run(void *arg)
{
        int err = eddy_process_pool_open(NULL, &pool);

        (void) arg;
        if (err < 0)
                return err;
        err = show_all();
        eddy_process_pool_close(pool);
        return err;
}

int main(void)
{
        int err = eddy_process_pool_prepare();

        if (err == 0)
                err = eddy_run(run, NULL, NULL);
        if (err < 0)
                fprintf(stderr, "90-process-results: %s\n", eddy_error_text(err));
        return err < 0;
}
