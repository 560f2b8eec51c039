/*
 * pg/cancel.c - cancelling the command of a connection.
 *
 * PQcancel() blocks, so it runs in the lane of slow jobs. A task of its own calls it, because the
 * task whose call was cancelled does not wait. The next call on the connection waits for the end of
 * the request: otherwise a late request could cancel the next command.
 */
#include <errno.h>

#include "base/alloc.h"
#include "eddy/event.h"
#include "eddy/run.h"
#include "eddy/scope.h"
#include "eddy/thread.h"
#include "pg/pg.h"

struct ed_pg_cancel {
        uint32_t refs; /* the connection and the task */
        eddy_event done;
        int64_t timeout_ns;
        PGcancel *request; /* owned until the job takes it */
};

static void unref(struct ed_pg_cancel *cancel)
{
        if (--cancel->refs > 0)
                return;
        PQfreeCancel(cancel->request);
        ed_free(cancel);
}

/* On a thread. An error is of no use: the connection then waits for its answer in vain. */
static int job_run(void *arg)
{
        char why[256];

        (void) PQcancel(arg, why, sizeof(why));
        return 0;
}

static void job_release(void *arg)
{
        PQfreeCancel(arg);
}

static int cancel_run(void *arg)
{
        struct eddy_thread_opts opts = { .flags = EDDY_THREAD_SLOW | EDDY_THREAD_ABANDON,
                                         .release = job_release };
        struct ed_pg_cancel *cancel = arg;
        struct eddy_scope_opts limit = { .timeout_ns = cancel->timeout_ns };
        PGcancel *request = cancel->request;
        eddy_scope scope;

        cancel->request = NULL;
        eddy_scope_begin(&scope, &limit);
        (void) eddy_thread_pool_call(NULL, job_run, request, &opts);
        (void) eddy_scope_end(&scope);
        (void) eddy_event_set(&cancel->done);
        unref(cancel);
        return 0;
}

void ed_pg_cancel_begin(eddy_pg *pg)
{
        struct ed_pg_cancel *cancel;

        if (pg->cancel)
                return;
        cancel = ed_alloc_zero(sizeof(*cancel));
        if (!cancel)
                return;
        cancel->refs = 1;
        cancel->timeout_ns = pg->cancel_timeout_ns;
        cancel->request = PQgetCancel(pg->conn);
        pg->cancel = cancel;
        if (!cancel->request)
                return;
        cancel->refs++;
        if (eddy_background(cancel_run, cancel) < 0) {
                cancel->refs--;
                ed_pg_cancel_drop(pg);
        }
}

int ed_pg_cancel_wait(eddy_pg *pg)
{
        int err = 0;

        if (!pg->cancel)
                ed_pg_cancel_begin(pg);
        if (pg->cancel && pg->cancel->refs > 1)
                err = eddy_event_wait(&pg->cancel->done);
        if (err == 0)
                ed_pg_cancel_drop(pg);
        return err;
}

void ed_pg_cancel_drop(eddy_pg *pg)
{
        if (pg->cancel)
                unref(pg->cancel);
        pg->cancel = NULL;
}
