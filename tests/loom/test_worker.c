/*
 * test_worker.c - sys/thread/worker_thread.c in every order: jobs that threads have done are
 * reported once and not slept over, and a worker that was left to itself notifies
 * nobody and wakes no table that may be gone.
 */
#include "sys/thread/worker_thread.h"

#include "base/alloc.h"
#include "loom.h"

static struct loom_table table;
static struct ed_workers workers;

static struct job {
        struct ed_job base;
        int ran, reported, left;
} jobs[2];

static struct job *job_of(struct ed_job *base)
{
        return ed_container_of(base, struct job, base);
}

static void job_run(struct ed_job *base)
{
        dfs_point();
        job_of(base)->ran++;
}

static void job_leave(struct ed_job *base)
{
        DFS_CHECK_EQ(job_of(base)->ran, 1);
        job_of(base)->left++;
}

static void on_done(struct ed_target *target, unsigned events)
{
        (void) events;
        ed_container_of(target, struct job, base.done)->reported++;
}

static void begin(void)
{
        loom_table_init(&table);
        ed_workers_init(&workers, &table.sys);
        for (int i = 0; i < 2; i++)
                jobs[i] = (struct job){
                        .base = { .done.on_events = on_done, .run = job_run, .leave = job_leave }
                };
}

static void finish(void)
{
        ed_workers_fini(&workers);
        table.gone = true;
}

static struct ed_worker *worker_new(void)
{
        struct ed_worker *worker;

        DFS_CHECK_EQ(ed_worker_new(&workers, "loom", &worker), 0);
        return worker;
}

/* As the table's: finished jobs are reported at once; else it waits for a wake. */
static void poll_once(int max)
{
        struct ed_event events[2];
        int n;

        if (!ed_workers_have_done(&workers))
                loom_table_wait(&table);
        table.woken = false;
        n = ed_workers_collect(&workers, events, max);
        for (int i = 0; i < n; i++)
                events[i].target->on_events(events[i].target, ED_EVENT_READ);
}

LOOM_TEST(worker, jobs_of_two_workers_are_reported_once_and_not_slept_over)
{
        struct ed_worker *pair[2];
        int max;

        begin();
        max = 1 + dfs_choose(2);
        for (int i = 0; i < 2; i++) {
                pair[i] = worker_new();
                ed_worker_run(&table.sys, pair[i], &jobs[i].base);
        }
        while (jobs[0].reported + jobs[1].reported < 2)
                poll_once(max);
        for (int i = 0; i < 2; i++) {
                DFS_CHECK_EQ(jobs[i].ran, 1);
                DFS_CHECK_EQ(jobs[i].reported, 1);
                ed_worker_free(&table.sys, pair[i]);
        }
        finish();
}

LOOM_TEST(worker, one_worker_runs_one_job_after_another)
{
        struct ed_worker *worker;

        begin();
        worker = worker_new();
        for (int i = 0; i < 2; i++) {
                ed_worker_run(&table.sys, worker, &jobs[i].base);
                while (!jobs[i].reported)
                        poll_once(2);
        }
        ed_worker_free(&table.sys, worker);
        DFS_CHECK_EQ(jobs[0].ran + jobs[1].ran, 2);
        finish();
}

/* Its job may be at its begin, done, reported, or about to be reported. */
LOOM_TEST(worker, a_worker_left_to_itself_touches_no_table_that_is_gone)
{
        struct ed_worker *left, *other;

        begin();
        left = worker_new();
        other = worker_new();
        ed_worker_run(&table.sys, left, &jobs[0].base);
        ed_worker_run(&table.sys, other, &jobs[1].base);
        while (!jobs[1].reported)
                poll_once(1);
        ed_worker_free(&table.sys, other);
        if (jobs[0].reported)
                ed_worker_free(&table.sys, left);
        else
                ed_worker_abandon(&table.sys, left);
        finish();
        while (jobs[0].reported + jobs[0].left == 0)
                dfs_yield();
        DFS_CHECK_EQ(jobs[0].reported + jobs[0].left, 1);
}
