/*
 * 101-job-queue - jobs in a table of PostgreSQL, for the workers of any number of processes.
 *
 * A worker takes the oldest job that is due; SKIP LOCKED skips jobs that other workers are taking.
 * Taking a job counts an attempt and makes the job due again after a lease. The work has a deadline
 * of half the lease. If the work succeeds, the worker deletes the job; if it fails, the worker
 * makes the job due again after a pause that grows with each attempt. If the process is killed,
 * nothing has to be cleaned up: the lease expires, and another worker takes the job. A job is never
 * lost, but may be done twice. After four attempts it remains in the table as failed.
 *
 * An idle worker waits for a NOTIFY, which a trigger sends for new jobs, or until the next job is
 * due. In each process a single connection listens for all workers. While that connection is lost,
 * workers check the table every ten seconds.
 *
 *     101-job-queue CONNINFO init
 *     101-job-queue CONNINFO add COMMAND COUNT    each job is this command for the shell
 *     101-job-queue CONNINFO work WORKERS LEASE   in seconds; ends if no job is left, or by Ctrl-C
 *     101-job-queue CONNINFO show
 *
 * Run: set -- 101-job-queue "$POSTGRES"; "$@" init; "$@" add 'sleep .1; [ $ATTEMPT -gt 1 ] || kill -9 $PPID' 2; "$@" add true 50; "$@" add '[ $ATTEMPT -gt 2 ]' 10; "$@" add 'exit 3' 2; for i in 1 2 3 4; do "$@" work 3 8 & done 2>/dev/null; wait; "$@" work 3 8; "$@" show
 * Time: wall 8 to 90 s
 * Output:
 *     "exit 3" failed 4 times: status 3
 *     "exit 3" failed 4 times: status 3
 *     0 left, 2 failed
 *
 * Run: set -- 101-job-queue "$POSTGRES"; "$@" init; "$@" add 'sleep 6; echo slept' 1; "$@" work 2 600 & sleep .5; "$@" add 'echo woken' 1; wait; "$@" show
 * Time: wall 6 to 60 s
 * Output:
 *     woken
 *     slept
 *     0 left, 0 failed
 *
 * Run: set -- 101-job-queue "$POSTGRES"; "$@" init; "$@" add 'sleep 100' 1; "$@" work 1 600 & P=$!; sleep .5; kill $P; wait; "$@" show; "$@" work 1 .2; "$@" show
 * Time: wall 0.5 to 60 s
 * Output:
 *     1 left, 0 failed
 *     "sleep 100" failed 4 times: took too long
 *     0 left, 1 failed
 */
#include <eddy/eddy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *conninfo;
static double lease;     /* seconds */
static eddy_pool *pool;  /* of connections */
static eddy_event event; /* there may be a job, or none is left */

/* --- the table --- */

struct job {
        int64_t id;
        char *command; /* owned */
        int32_t attempts;
};

static const struct eddy_field job_list[] = {
        EDDY_FIELD(struct job, id),
        EDDY_FIELD(struct job, command),
        EDDY_FIELD(struct job, attempts),
};
static const struct eddy_fields job_fields = EDDY_FIELDS(struct job, job_list, 0);

struct state {
        int64_t count, failed, wait_ms; /* until a job is due */
};

static const struct eddy_field state_list[] = {
        EDDY_FIELD(struct state, count),
        EDDY_FIELD(struct state, failed),
        EDDY_FIELD(struct state, wait_ms),
};
static const struct eddy_fields state_fields = EDDY_FIELDS(struct state, state_list, 0);

static const char init_sql[] =
        "create table jobs (id bigint generated always as identity primary key,"
        " command text not null, attempts int not null default 0, error text,"
        " due timestamptz not null default now());"
        "create index on jobs (due, id) where attempts < 4;"
        "create function notify_jobs() returns trigger language plpgsql as"
        " 'begin notify jobs; return null; end';"
        "create trigger jobs after insert on jobs execute function notify_jobs()";

static int get_state(eddy_pg *pg, struct state *ret_state)
{
        return eddy_pg_one(pg,
                           "select count(*) filter (where attempts < 4),"
                           " count(*) filter (where attempts >= 4) as failed, greatest(0, ceil("
                           "extract(epoch from min(due) filter (where attempts < 4) - now()) * 1000"
                           "))::int8 as wait_ms from jobs",
                           NULL, 0, &state_fields, ret_state);
}

/* Returns 1 with a job, or 0 with the state: none is due. */
static int take(struct job *ret_job, struct state *ret_state)
{
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        int err = eddy_pool_acquire(pool, &loan);

        if (err == 0)
                err = eddy_pg_one_or_none(
                        loan.item,
                        "update jobs set attempts = attempts + 1,"
                        " due = now() + make_interval(secs => $1) where id = (select id from jobs"
                        " where attempts < 4 and due <= now() order by due, id"
                        " for update skip locked limit 1) returning id, command, attempts",
                        EDDY_PG_PARAMS(eddy_pg_double(lease)), &job_fields, ret_job);
        return err == 0 ? get_state(loan.item, ret_state) : err;
}

/* Delete a job, or store its error. After its lease, the job may belong to another worker. */
static int finish(const struct job *job, const char *error, double pause)
{
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        int err = eddy_pool_acquire(pool, &loan);

        if (err == 0 && !error)
                err = eddy_pg_query(
                        loan.item, "delete from jobs where id = $1 and attempts = $2",
                        EDDY_PG_PARAMS(eddy_pg_int(job->id), eddy_pg_int(job->attempts)), NULL);
        else if (err == 0)
                err = eddy_pg_query(
                        loan.item,
                        "update jobs set error = $3, due = now() + make_interval(secs => $4)"
                        " where id = $1 and attempts = $2",
                        EDDY_PG_PARAMS(eddy_pg_int(job->id), eddy_pg_int(job->attempts),
                                       eddy_pg_text(error), eddy_pg_double(pause)),
                        NULL);
        return err;
}

/* --- workers --- */

struct work {
        const struct job *job;
        struct eddy_process_exit end;
};

static int run_command(void *arg)
{
        struct work *work = arg;
        EDDY_AUTO(eddy_process) eddy_process *process = NULL;
        char attempt[20];
        struct eddy_process_opts opts = { .command = work->job->command,
                                          .environment_add = (const char *const[]){ attempt, NULL },
                                          .flags = EDDY_PROCESS_GROUP };
        int err;

        snprintf(attempt, sizeof(attempt), "ATTEMPT=%d", work->job->attempts);
        err = eddy_process_start(&opts, &process);
        return err < 0 ? err : eddy_process_wait(process, &work->end);
}

/* Do a job, and store its result, even if the task is cancelled. */
static int perform(const struct job *job)
{
        struct work work = { .job = job };
        int err = eddy_call_timeout(run_command, &work, (int64_t) (lease / 2 * 1e9)), stored;
        double pause = err == -ECANCELED ? 0 : 0.05 * (1 << job->attempts);
        char error[100] = "";

        if (err == -ETIMEDOUT)
                snprintf(error, sizeof(error), "took too long");
        else if (err < 0)
                snprintf(error, sizeof(error), "%s", eddy_error_text(err));
        else if (work.end.code < 0)
                snprintf(error, sizeof(error), "signal %d", work.end.signo);
        else if (work.end.code > 0)
                snprintf(error, sizeof(error), "status %d", work.end.code);
        EDDY_SCOPE (shield, &stored, .flags = EDDY_SCOPE_SHIELD)
                stored = finish(job, *error ? error : NULL, pause);
        return err == -ECANCELED ? err : stored;
}

static int wait_event(void *arg)
{
        (void) arg;
        return eddy_event_wait(&event);
}

/* Do one job, or wait for one. Returns 1, or 0 if none is left. */
static int work_once(void)
{
        struct job job = { 0 };
        struct state state = { 0 };
        int err;

        eddy_event_clear(&event);
        /* If a cancel ended the call, the server could have given a job that nothing knows. */
        EDDY_SCOPE (shield, &err, .flags = EDDY_SCOPE_SHIELD)
                err = take(&job, &state);
        if (err == 1) {
                eddy_event_set(&event); /* there may be more */
                err = perform(&job);
                eddy_fields_fini(&job_fields, &job);
        } else if (err == 0 && state.count == 0) {
                eddy_event_set(&event); /* the others check too */
                return 0;
        } else if (err == 0) {
                int64_t wait_ns = EDDY_MS(state.wait_ms);

                err = eddy_call_timeout(wait_event, NULL,
                                        wait_ns < EDDY_SEC(10) ? wait_ns : EDDY_SEC(10));
        }
        return err == 0 || err == -ETIMEDOUT ? 1 : err;
}

static bool is_lost(int err)
{
        return err == EDDY_E_PG_CLOSED || err == EDDY_E_PG_CONNECT;
}

/* Any number of these tasks; they survive a restart of the server. */
static int work(void *arg)
{
        int err;

        (void) arg;
        do {
                err = work_once();
                if (is_lost(err))
                        err = eddy_sleep(EDDY_SEC(1)) < 0 ? -ECANCELED : 1;
        } while (err == 1);
        return err;
}

static int listen_once(void)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = NULL;
        struct eddy_pg_notification notification;
        int err = eddy_pg_connect(&(struct eddy_pg_opts){ .conninfo = conninfo }, &pg);

        if (err == 0)
                err = eddy_pg_exec(pg, "listen jobs");
        while (err == 0) {
                eddy_event_set(&event); /* at the start too: there may be jobs already */
                err = eddy_pg_notified(pg, &notification);
                if (err == 0)
                        eddy_pg_notification_fini(&notification);
        }
        return err;
}

static int listen_always(void *arg)
{
        int err;

        (void) arg;
        do {
                err = listen_once();
                if (is_lost(err))
                        err = eddy_sleep(EDDY_SEC(1));
        } while (err == 0);
        return err;
}

static int work_all(int workers)
{
        eddy_scope all;
        int err;

        eddy_scope_begin(&all, NULL);
        eddy_scope_start(&all, listen_always, NULL);
        EDDY_SCOPE (scope, &err)
                for (int i = 0; i < workers; i++)
                        eddy_scope_start(&scope, work, NULL);
        eddy_scope_cancel(&all); /* no more need to listen */
        return eddy_scope_end_with(&all, err);
}

/* --- commands --- */

static int show(eddy_pg *pg)
{
        EDDY_AUTO(eddy_pg_result) eddy_pg_result *rows = NULL;
        struct state state = { 0 };
        int err = eddy_pg_query(
                pg, "select command, attempts, error from jobs where attempts >= 4 order by id",
                NULL, 0, &rows);

        for (int i = 0; err == 0 && i < eddy_pg_rows(rows); i++)
                printf("\"%s\" failed %s times: %s\n", eddy_pg_get_text(rows, i, 0, NULL),
                       eddy_pg_get_text(rows, i, 1, NULL),
                       eddy_pg_is_null(rows, i, 2) ? "its worker ended"
                                                   : eddy_pg_get_text(rows, i, 2, NULL));
        if (err == 0)
                err = get_state(pg, &state);
        if (err == 0)
                printf("%lld left, %lld failed\n", (long long) state.count,
                       (long long) state.failed);
        return err;
}

static int run_on(eddy_pg *pg, char **args)
{
        if (strcmp(args[2], "init") == 0)
                return eddy_pg_exec(pg, init_sql);
        if (strcmp(args[2], "show") == 0)
                return show(pg);
        if (strcmp(args[2], "add") == 0 && args[3] && args[4])
                return eddy_pg_query(
                        pg, "insert into jobs (command) select $1 from generate_series(1, $2)",
                        EDDY_PG_PARAMS(eddy_pg_text(args[3]),
                                       eddy_pg_int(strtol(args[4], NULL, 10))),
                        NULL);
        return -EINVAL;
}

static int run(void *arg)
{
        char **args = arg;
        EDDY_AUTO(eddy_pg) eddy_pg *pg = NULL;
        static struct eddy_pg_fault fault;
        struct eddy_pg_opts opts = { .conninfo = args[1], .ret_fault = &fault };
        int err;

        conninfo = args[1];
        if (strcmp(args[2], "work") == 0 && args[3] && args[4]) {
                lease = strtod(args[4], NULL);
                err = eddy_pg_pool_new(&opts, NULL, &pool);
                if (err == 0)
                        err = work_all((int) strtol(args[3], NULL, 10));
                eddy_pool_close(pool);
        } else {
                err = eddy_pg_connect(&opts, &pg);
                if (err == 0)
                        err = run_on(pg, args);
                if (pg)
                        fault = *eddy_pg_fault(pg);
        }
        if (err < 0 && err != -ECANCELED)
                fprintf(stderr, "101-job-queue: %s: %s\n", eddy_error_text(err), fault.text);
        return err;
}

int main(int argc, char **argv)
{
        if (argc < 3) {
                fprintf(stderr, "usage: 101-job-queue CONNINFO init | add COMMAND COUNT | "
                                "work WORKERS LEASE | show\n");
                return 2;
        }
        return eddy_run(run, argv, NULL) < 0;
}
