/*
 * 104-stored-jobs - five workers on a queue with a hundred places store their results in PostgreSQL.
 *
 * A worker borrows one of three connections only while it stores a result, so five workers need no
 * more than three. The database refuses the result of job 3: the worker reports this, marks the job
 * as done and takes the next one, and other workers can use the connection. A sentinel for each
 * worker ends the workers.
 *
 * Run: psql -qd "$POSTGRES" -c "create table results (job int primary key, square int not null check (square <> 9))"; 104-stored-jobs "$POSTGRES"; psql -Atd "$POSTGRES" -c 'select count(*), sum(square) from results'
 * Time: wall 0 to 60 s
 * Output:
 *     Error in job 3: 23514, results_square_check
 *     249 results stored, 1 failed, 3 connections
 *     249|5177116
 */
#include <eddy/eddy.h>
#include <stdio.h>
#include <string.h>

enum { WORKERS = 5, JOBS = 250, CONNECTIONS = 3, SENTINEL = -1 };

static eddy_pool *pool;
static int stored, failed;

static int store(int job)
{
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        const struct eddy_pg_fault *fault;
        int err = eddy_pool_acquire(pool, &loan);

        if (err < 0)
                return err;
        err = eddy_pg_query(loan.item, "insert into results values ($1, $2)",
                            EDDY_PG_PARAMS(eddy_pg_int(job), eddy_pg_int((int64_t) job * job)),
                            NULL);
        if (err == 0)
                stored++;
        if (err != EDDY_E_PG_SERVER)
                return err;
        fault = eddy_pg_fault(loan.item);
        printf("Error in job %d: %s, %s\n", job, fault->sqlstate, fault->constraint);
        failed++;
        /* Class 23 is a constraint; with another, such as a missing table, no job can succeed. */
        return strncmp(fault->sqlstate, "23", 2) == 0 ? 0 : err;
}

static int work(void *queue)
{
        int job, err;

        while ((err = eddy_queue_get(queue, &job)) == 0) {
                if (job != SENTINEL)
                        err = store(job);
                eddy_queue_task_done(queue);
                if (job == SENTINEL || err < 0)
                        break;
        }
        return err;
}

/* Returns when all jobs are done. */
static int feed(eddy_queue *queue)
{
        int err = 0, sentinel = SENTINEL;

        for (int job = 0; job < JOBS && err == 0; job++)
                err = eddy_queue_put(queue, &job);
        for (int i = 0; i < WORKERS && err == 0; i++)
                err = eddy_queue_put(queue, &sentinel);
        return err < 0 ? err : eddy_queue_join(queue);
}

static int work_all(eddy_queue *queue)
{
        struct eddy_pool_stats stats;
        int err;

        EDDY_SCOPE (scope, &err) {
                for (int i = 0; i < WORKERS; i++)
                        eddy_scope_start(&scope, work, queue);
                err = feed(queue);
        }
        eddy_pool_stats(pool, &stats);
        printf("%d results stored, %d failed, %d connections\n", stored, failed,
               (int) stats.opened);
        return err;
}

static int run(void *arg)
{
        EDDY_AUTO(eddy_queue) eddy_queue queue = { 0 };
        struct eddy_pg_opts opts = { .conninfo = arg };
        struct eddy_pool_opts pool_opts = { .size = CONNECTIONS };
        int err = eddy_pg_pool_new(&opts, &pool_opts, &pool);

        if (err == 0)
                err = eddy_queue_init(&queue, sizeof(int), 100);
        if (err == 0)
                err = work_all(&queue);
        eddy_pool_close(pool);
        return err;
}

int main(int argc, char **argv)
{
        int err;

        if (argc != 2) {
                fprintf(stderr, "usage: 104-stored-jobs CONNINFO\n");
                return 2;
        }
        err = eddy_run(run, argv[1], NULL);
        if (err < 0)
                fprintf(stderr, "104-stored-jobs: %s\n", eddy_error_text(err));
        return err < 0;
}
