/*
 * pg/cancel.c - cancelling the command of a connection.
 *
 * PQcancel() blocks without a limit of time, so each request has a thread of its own, and a task
 * waits for the thread. The next call on the connection waits for the task: otherwise a late request
 * could cancel the next command.
 *
 * A request that does not end in time is left to its thread. Since it may still arrive, the
 * connection is lost. While such a request exists, its server gets no other one, and all connections
 * that need one are lost: a server that is silent thus occupies at most REQUESTS_MAX threads.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/event.h"
#include "eddy/run.h"
#include "eddy/scope.h"
#include "eddy/semaphore.h"
#include "loop/loop.h"
#include "pg/pg.h"

/* At the same time: to a server from a loop, and of the process. */
enum { REQUESTS_MAX = 4, THREADS_MAX = 64 };

enum { ADDRESS_BYTES = 320 };

/* A server. It is forgotten after its last request, when another one is added. */
struct server {
        struct ed_list link;     /* of its loop's servers */
        _Atomic uint32_t refs;   /* the loop, tasks and requests */
        _Atomic uint32_t strays; /* requests that were left to their threads */
        eddy_semaphore turns;
        char address[ADDRESS_BYTES];
};

/* The servers of a loop. */
struct servers {
        struct ed_loop_local local;
        struct ed_list list;
};

/* The work of a thread. */
struct request {
        struct ed_job job;
        PGcancel *cancel; /* owned */
        struct server *server;
        eddy_event done;
};

struct ed_pg_cancel {
        uint32_t refs; /* the connection and the task */
        eddy_event done;
        int64_t timeout_ns;
        bool is_refused;         /* the connection cannot be used any more */
        struct request *request; /* owned until it is left to its thread */
};

static _Atomic uint32_t threads;

/* --- servers --- */

static const char servers_key;

static void server_unref(struct server *server)
{
        if (server && atomic_fetch_sub(&server->refs, 1) == 1)
                ed_free(server);
}

static void server_forget(struct server *server)
{
        ed_list_remove(&server->link);
        server_unref(server);
}

static void servers_free(struct ed_loop_local *local)
{
        struct servers *servers = ed_container_of(local, struct servers, local);

        while (!ed_list_is_empty(&servers->list))
                server_forget(ed_container_of(servers->list.next, struct server, link));
        ed_free(servers);
}

static struct servers *servers_get(struct ed_loop *loop)
{
        struct ed_loop_local *local = ed_loop_local_find(loop, &servers_key);
        struct servers *servers;

        if (local)
                return ed_container_of(local, struct servers, local);
        servers = ed_alloc_zero(sizeof(*servers));
        if (!servers)
                return NULL;
        servers->local = (struct ed_loop_local){ .key = &servers_key, .free = servers_free };
        ed_list_init(&servers->list);
        ed_loop_local_add(loop, &servers->local);
        return servers;
}

static struct server *server_new(struct servers *servers, const char *address)
{
        struct server *server = ed_alloc_zero(sizeof(*server));

        if (!server)
                return NULL;
        atomic_init(&server->refs, 1);
        eddy_semaphore_init(&server->turns, REQUESTS_MAX, 0);
        memcpy(server->address, address, strlen(address) + 1);
        ed_list_push_front(&servers->list, &server->link);
        return server;
}

/* Returns the server of a connection, with a reference; NULL without a loop or memory. */
static struct server *server_of(const PGconn *conn)
{
        struct servers *servers = ed_loop_current ? servers_get(ed_loop_current) : NULL;
        const char *host = PQhostaddr(conn);
        char address[ADDRESS_BYTES];
        struct server *found = NULL;

        if (!servers)
                return NULL;
        host = host && *host ? host : PQhost(conn);
        snprintf(address, sizeof(address), "%s %s", host ? host : "", PQport(conn));
        ed_list_each_safe (link, &servers->list) {
                struct server *server = ed_container_of(link, struct server, link);

                if (strcmp(server->address, address) == 0)
                        found = server;
                else if (atomic_load(&server->refs) == 1)
                        server_forget(server);
        }
        found = found ? found : server_new(servers, address);
        if (found)
                atomic_fetch_add(&found->refs, 1);
        return found;
}

/* --- requests --- */

static void request_free(struct request *request)
{
        if (!request)
                return;
        PQfreeCancel(request->cancel);
        server_unref(request->server);
        ed_free(request);
}

static struct request *request_of(struct ed_job *job)
{
        return ed_container_of(job, struct request, job);
}

/* On a thread. An error is of no use: the connection then waits for its answer in vain. */
static void job_run(struct ed_job *job)
{
        char why[256];

        (void) PQcancel(request_of(job)->cancel, why, sizeof(why));
        atomic_fetch_sub(&threads, 1);
}

/* On a thread, after a request that did not end in time. */
static void job_leave(struct ed_job *job)
{
        atomic_fetch_sub(&request_of(job)->server->strays, 1);
        request_free(request_of(job));
}

static void job_done(struct ed_target *target, unsigned events)
{
        struct ed_job *job = ed_container_of(target, struct ed_job, done);

        (void) events;
        (void) eddy_event_set(&request_of(job)->done);
}

static struct request *request_new(PGconn *conn)
{
        struct request *request = ed_alloc_zero(sizeof(*request));

        if (!request)
                return NULL;
        request->job =
                (struct ed_job){ .done.on_events = job_done, .run = job_run, .leave = job_leave };
        request->server = server_of(conn);
        request->cancel = request->server ? PQgetCancel(conn) : NULL;
        if (request->cancel)
                return request;
        request_free(request);
        return NULL;
}

/* Wait for a request's thread. Returns -ECANCELED if the request was left to the thread. */
static int request_run(struct request *request, struct ed_loop *loop)
{
        struct ed_sys *sys = loop->sys;
        struct ed_worker *worker;
        int err;

        if (atomic_fetch_add(&threads, 1) >= THREADS_MAX) {
                atomic_fetch_sub(&threads, 1);
                return -EAGAIN;
        }
        err = sys->worker->start(sys, "eddy-pg-cancel", &worker);
        if (err < 0) {
                atomic_fetch_sub(&threads, 1);
                return err;
        }
        loop->waits++;
        sys->worker->run(sys, worker, &request->job);
        err = eddy_event_wait(&request->done);
        loop->waits--;
        if (err == 0 || eddy_event_is_set(&request->done)) {
                sys->worker->end(sys, worker);
                return 0;
        }
        atomic_fetch_add(&request->server->strays, 1);
        sys->worker->abandon(sys, worker);
        return -ECANCELED;
}

/* Run a request in its turn. */
static int take_turn(struct ed_pg_cancel *cancel)
{
        struct server *server = cancel->request->server;
        int err = eddy_semaphore_acquire(&server->turns);

        if (err < 0)
                return err;
        cancel->is_refused = atomic_load(&server->strays) > 0;
        if (!cancel->is_refused && request_run(cancel->request, ed_loop_current) == -ECANCELED) {
                cancel->is_refused = true;
                cancel->request = NULL;
        }
        (void) eddy_semaphore_release(&server->turns);
        return 0;
}

/* --- the task --- */

static void unref(struct ed_pg_cancel *cancel)
{
        if (--cancel->refs > 0)
                return;
        request_free(cancel->request);
        ed_free(cancel);
}

static int cancel_run(void *arg)
{
        struct ed_pg_cancel *cancel = arg;
        struct eddy_scope_opts limit = { .timeout_ns = cancel->timeout_ns };
        struct server *server = cancel->request->server;
        eddy_scope scope;

        atomic_fetch_add(&server->refs, 1);
        eddy_scope_begin(&scope, &limit);
        (void) take_turn(cancel);
        (void) eddy_scope_end(&scope);
        server_unref(server);
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
        cancel->request = request_new(pg->conn);
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
        if (err < 0)
                return err;
        err = pg->cancel && pg->cancel->is_refused ? EDDY_E_PG_CLOSED : 0;
        ed_pg_cancel_drop(pg);
        return err;
}

void ed_pg_cancel_drop(eddy_pg *pg)
{
        if (pg->cancel)
                unref(pg->cancel);
        pg->cancel = NULL;
}
