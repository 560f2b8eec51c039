/*
 * sqlite/call.c - a call of a connection: a job on a thread, and how a cancel ends it.
 *
 * sqlite3_interrupt() stops whatever the connection runs, so it must not come late, into the next
 * call. The loop calls stop() under the lock of the job's wait, and only before
 * ed_thread_wait_end(); after that, no interrupt comes. An interrupt that came after the last step of
 * this job has no effect, because SQLite forgets it when a statement begins and no other is active;
 * rows.c ends rows that would be active.
 *
 * For the same reason SQLite forgets an interrupt before the first step of this job. The progress
 * handler, which checks every 1,000 instructions whether the job was cancelled, covers this gap.
 */
#include "scope/scope.h"
#include "scope/threads/thread.h"
#include "sqlite/rows.h"

struct job {
        struct ed_thread_wait wait;
        eddy_sqlite_conn *conn;
        ed_sqlite_fn *fn;
        void *arg;
};

static void stop(struct ed_thread_wait *wait)
{
        sqlite3_interrupt(ed_container_of(wait, struct job, wait)->conn->handle);
}

static int run(void *arg)
{
        struct job *job = arg;
        bool is_open = job->conn->handle;
        int result;

        if (is_open)
                ed_thread_wait_begin(&job->wait);
        result = job->fn(job->conn, job->arg);
        if (is_open)
                ed_thread_wait_end();
        return result;
}

void ed_sqlite_hold(eddy_sqlite_conn *conn)
{
        conn->users++;
}

void ed_sqlite_let_go(eddy_sqlite_conn *conn)
{
        if (--conn->users == 0 && conn->is_orphaned)
                ed_sqlite_conn_close(conn);
}

static int call(eddy_sqlite_conn *conn, ed_sqlite_fn *fn, void *arg)
{
        struct job job = { .wait = { .stop = stop }, .conn = conn, .fn = fn, .arg = arg };
        eddy_sqlite_rows *rows = conn->rows; /* the job may end them */
        int err;

        ed_sqlite_hold(conn);
        conn->is_calling = true;
        if (rows)
                rows->is_in_job = true;
        err = eddy_thread_pool_call(conn->db->threads, run, &job, NULL);
        conn->is_calling = false;
        if (rows) {
                rows->is_in_job = false;
                (void) ed_sqlite_rows_settle(rows);
        }
        ed_sqlite_let_go(conn);
        return err;
}

int ed_sqlite_call(eddy_sqlite_conn *conn, const eddy_sqlite_rows *rows, ed_sqlite_fn *fn,
                   void *arg)
{
        int err = ed_member_check(&conn->db->member);

        if (err < 0)
                return err;
        if (!ed_task_running())
                return EDDY_E_RUN_NOT_RUNNING;
        if (conn->is_calling)
                return EDDY_E_SQLITE_STATE;
        if (conn->rows && conn->rows != rows)
                return ed_sqlite_refuse(conn, EDDY_E_SQLITE_STATE,
                                        "rows are open: close them, or read them to their end");
        conn->fault = ed_sqlite_no_fault;
        return call(conn, fn, arg);
}

int ed_sqlite_call_shielded(eddy_sqlite_conn *conn, ed_sqlite_fn *fn, void *arg)
{
        static const struct eddy_scope_opts shield = { .flags = EDDY_SCOPE_SHIELD };
        eddy_scope scope;
        int err;

        if (conn->is_calling)
                return EDDY_E_SQLITE_STATE;
        if (!ed_task_running())
                return fn(conn, arg);
        eddy_scope_begin(&scope, &shield);
        err = call(conn, fn, arg);
        (void) eddy_scope_end(&scope);
        return err;
}

bool ed_sqlite_pause(int count)
{
        static const int pauses_ms[] = { 1, 2, 5, 10, 15, 20 };
        int last = (int) ed_array_count(pauses_ms) - 1;

        if (eddy_thread_is_stopping())
                return false;
        (void) sqlite3_sleep(pauses_ms[count < last ? count : last]);
        return !eddy_thread_is_stopping();
}

struct foreign {
        int (*fn)(struct sqlite3 *handle, void *arg);
        void *arg;
};

static int call_foreign(eddy_sqlite_conn *conn, void *arg)
{
        struct foreign *foreign = arg;

        return foreign->fn(conn->handle, foreign->arg);
}

int eddy_sqlite_call(eddy_sqlite_conn *conn, int (*fn)(struct sqlite3 *handle, void *arg),
                     void *arg)
{
        struct foreign foreign = { fn, arg };

        return conn && fn ? ed_sqlite_call(conn, NULL, call_foreign, &foreign) : -EINVAL;
}
