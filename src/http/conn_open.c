/*
 * http/conn_open.c - a borrower waits until its connection is open, or gets a slot of another one.
 */
#include <errno.h>

#include "eddy/error.h"
#include "http/client.h"
#include "http/opening.h"
#include "http/pool_origin.h"
#include "scope/debug/debug.h"
#include "scope/suspend.h"

static void stop_sharing(struct ed_http_sharer *sharer)
{
        ed_list_remove(&sharer->link);
        sharer->conn->origin->sharing--;
}

static void time_is_over(struct ed_timer *timer)
{
        struct ed_http_sharer *sharer = ed_container_of(timer, struct ed_http_sharer, timer);

        if (ed_list_is_empty(&sharer->link))
                return; /* woken already */
        stop_sharing(sharer);
        ed_suspend_wake(sharer->task, 0);
}

/* Called if the wait was cancelled. */
static bool sharing_was_cancelled(void *arg)
{
        stop_sharing(arg);
        return true;
}

/* Returns the latest opening of an origin, which is the last one to become slow, or NULL. */
static const struct ed_http_conn *latest_opening(const struct ed_http_origin *origin)
{
        const struct ed_list *borrowed = &origin->conns[ED_HTTP_CONN_OPENING],
                             *spare = &origin->conns[ED_HTTP_CONN_SPARE];
        const struct ed_http_conn *latest = NULL, *conn;

        if (!ed_list_is_empty(borrowed))
                latest = ed_container_of(borrowed->next, struct ed_http_conn, same);
        if (ed_list_is_empty(spare))
                return latest;
        conn = ed_container_of(spare->next, struct ed_http_conn, same);
        return !latest || conn->began_ns > latest->began_ns ? conn : latest;
}

/* Returns until when the borrower of 'conn' waits to share another opening; 0: it opens its own. */
static int64_t share_until(const struct ed_http_conn *conn, int64_t began_ns)
{
        const struct ed_http_origin *origin = conn->origin;
        const struct ed_http_conn *latest = latest_opening(origin);
        const struct ed_http_protocols *protocols =
                &ed_container_of(conn->pool, eddy_http_client, pool)->protocols;
        int64_t now_ns = ed_loop_now(conn->pool->member.loop), until_ns;
        uint32_t slots = origin->kind == ED_HTTP_ORIGIN_MANY ? origin->slots : 0;

        if (conn->opening || !latest || origin->key.only_http1 ||
            origin->kind == ED_HTTP_ORIGIN_SINGLE)
                return 0;
        if (ed_http_speaks_prior(conn))
                slots = slots ? slots : protocols->prior->slots;
        else if (!origin->key.is_https || !ed_http_offers_many(protocols))
                return 0;
        /* Each opening has a borrower of its own. */
        if (slots > 0 && origin->sharing + origin->openings >= origin->openings * slots)
                return 0;
        /* Nothing is known: all that wait open their own at the same time, and not one each second. */
        if (slots > 0 || latest->began_ns < began_ns)
                began_ns = latest->began_ns;
        until_ns = ed_time_after(began_ns, ED_HTTP_OPENING_LENT_NS);
        return until_ns > now_ns ? until_ns : 0;
}

/*
 * Wait for a slot of another opening until a time. On success '*conn' is the borrower's connection: the same as
 * before, or one that is open or being opened.
 */
static int wait_to_share(struct ed_task *task, struct ed_http_conn **conn, int64_t until_ns,
                         bool *ret_failed)
{
        struct ed_http_sharer sharer = { .task = task, .conn = *conn };
        struct ed_http_origin *origin = (*conn)->origin;
        struct ed_timers *timers = &origin->pool->member.loop->timers;
        int err;

        ed_timer_init(&sharer.timer, time_is_over);
        ed_timer_arm(timers, &sharer.timer, until_ns);
        ed_list_push_back(&origin->sharers, &sharer.link);
        origin->sharing++;
        ed_debug_net(task);
        err = ed_suspend_park(task, "an HTTP client's connection", sharing_was_cancelled, &sharer);
        ed_timer_cancel(timers, &sharer.timer);
        *conn = sharer.conn;
        *ret_failed = sharer.failed;
        return err;
}

/*
 * The connection is open, but has ended since its slot was granted. Get another one, or at least a
 * place.
 */
static int replace(struct ed_http_conn **conn)
{
        struct ed_http_pool *pool = (*conn)->pool;
        struct ed_http_origin *origin = (*conn)->origin;
        int64_t now_ns = ed_loop_now(pool->member.loop);

        if (ed_http_conn_renew(*conn))
                return 0;
        *conn = NULL;
        /* The slots of the other borrowers keep the origin. */
        return ed_http_pool_acquire(pool, &origin->key, &now_ns, conn);
}

/* Called if the wait was cancelled. */
static bool opening_was_cancelled(void *arg)
{
        struct ed_http_conn *conn = arg;

        conn->borrower = NULL;
        return true;
}

static int wait_until_open(struct ed_http_conn *conn, struct ed_http_opening *opening)
{
        int err = 0;

        if (!conn->opening)
                err = ed_http_connect_start(conn);
        if (err < 0)
                return err;
        ed_http_conn_sort(conn);
        conn->borrower = opening;
        err = ed_suspend_park(opening->task, "an HTTP client's connection", opening_was_cancelled,
                              conn);
        return err < 0 ? err : opening->err;
}

int ed_http_conn_open(struct ed_http_conn **conn, struct eddy_http_fault *fault)
{
        struct ed_http_opening opening = { .fault = fault };
        int64_t began_ns = ed_loop_now((*conn)->pool->member.loop), until_ns;
        bool failed = false;
        int err;

        for (;;) {
                err = ed_suspend_enter(&opening.task);
                if (err < 0)
                        return err;
                if ((*conn)->pool->closed)
                        return EDDY_E_HTTP_CLIENT_CLOSED;
                if (!(*conn)->stream && !(*conn)->opening && ed_http_conn_swap(conn))
                        return 0;
                if ((*conn)->stream) {
                        if (ed_http_conn_is_usable(*conn))
                                return 0;
                        err = replace(conn);
                        if (err < 0)
                                return err;
                        continue;
                }
                until_ns = failed ? 0 : share_until(*conn, began_ns);
                if (until_ns == 0)
                        return wait_until_open(*conn, &opening);
                err = wait_to_share(opening.task, conn, until_ns, &failed);
                if (err < 0)
                        return err;
        }
}
