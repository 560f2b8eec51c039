/*
 * http/pool.c - the pool of connections: lends slots, takes them back, and hands them to waiters.
 */
#include "http/pool.h"

#include "eddy/error.h"
#include "http/opening.h"
#include "http/pool_origin.h"
#include "scope/debug/debug.h"
#include "scope/suspend.h"

/* A waiter in its origin's list, on the stack of its task. */
struct waiter {
        struct ed_list link;
        struct ed_http_origin *origin;
        struct ed_task *task;
        struct ed_http_conn *conn; /* the connection handed to the waiter */
};

/* ---- lending and handing over --------------------------------------------------- */

/* Hand a slot, or a place, to the first waiter of its origin, which owns it from now on. */
static void hand_over(struct ed_http_conn *conn)
{
        struct ed_http_origin *origin = conn->origin;
        struct waiter *waiter =
                ed_container_of(ed_list_pop_front(&origin->waiters), struct waiter, link);

        waiter->conn = ed_http_conn_lend(conn);
        origin->waiting--;
        origin->pool->waiting--;
        ed_http_origin_changed(origin);
        ed_suspend_wake(waiter->task, 0);
}

/* Give a place to the next origin in turn. */
static void feed(struct ed_http_conn *conn, struct ed_http_origin *origin)
{
        if (origin != conn->origin)
                conn->pool->handovers = 0;
        ed_list_remove(&origin->hungry); /* its next waiter goes to the end of the queue */
        ed_http_conn_move(conn, origin);
        hand_over(conn);
}

/* Close the connection, whose slots are not lent; a waiter that lacks only a place gets it. */
static void retire(struct ed_http_conn *conn)
{
        struct ed_http_pool *pool = conn->pool;
        struct ed_http_origin *own = conn->origin, *next;

        /* Its own origin queues like the others. */
        if (own->waiting > 0 && ed_list_is_empty(&own->hungry))
                ed_list_push_back(&pool->hungry, &own->hungry);
        next = ed_http_origin_hungry(pool, NULL);
        if (next)
                feed(conn, next);
        else
                ed_http_conn_free(conn);
}

/*
 * Returns true if the connection may lend another slot to its own origin. Otherwise another origin
 * waits for a place: if slots are lent, the connection drains for it.
 */
static bool may_lend(struct ed_http_conn *conn)
{
        struct ed_http_pool *pool = conn->pool;

        if (!ed_http_origin_hungry(pool, conn->origin))
                return true;
        if (pool->handovers < ED_HTTP_HANDOVERS_MAX * conn->slots) {
                pool->handovers++;
                return true;
        }
        if (conn->lent > 0) {
                pool->handovers = 0; /* one connection is enough for now */
                conn->draining = true;
                ed_http_conn_sort(conn);
        }
        return false;
}

static bool has_free_slot(const struct ed_http_conn *conn)
{
        return !conn->draining && conn->lent < conn->slots;
}

/* Give the free slots to those that wait to share, and to waiters. */
static void serve(struct ed_http_conn *conn)
{
        struct ed_http_origin *own = conn->origin;
        struct ed_list places, *link;

        ed_list_init(&places);
        while (has_free_slot(conn) && own->sharing > 0) {
                struct ed_http_conn *place = ed_http_opening_grant(conn);

                ed_list_remove(&place->same);
                ed_list_push_back(&places, &place->same);
        }
        while (has_free_slot(conn) && own->waiting > 0 && may_lend(conn))
                hand_over(conn);
        while ((link = ed_list_pop_front(&places)))
                retire(ed_container_of(link, struct ed_http_conn, same));
}

/*
 * Find a use for the free slots of a connection that is open. If no slot is lent, the connection
 * becomes idle, goes to another origin, or is closed.
 */
static void settle(struct ed_http_conn *conn)
{
        struct ed_http_origin *other;

        serve(conn);
        if (conn->lent > 0) {
                ed_http_conn_sort(conn);
                return;
        }
        other = ed_http_origin_hungry(conn->pool, conn->origin);
        if (conn->draining || conn->slots == 0)
                retire(conn);
        else if (other)
                feed(conn, other);
        else
                ed_http_conn_idle_put(conn);
}

/* Find a use for a connection that is being opened and not lent. */
static void settle_opening(struct ed_http_conn *conn)
{
        struct ed_http_pool *pool = conn->pool;
        struct ed_http_origin *own = conn->origin, *other = ed_http_origin_hungry(pool, own);

        if (own->waiting > 0 && ed_http_opening_is_slow(conn)) {
                ed_http_opening_stop(conn);
        } else if (own->sharing > 0) {
                retire(ed_http_opening_grant(conn));
        } else if (own->waiting > 0 && (!other || pool->handovers < ED_HTTP_HANDOVERS_MAX)) {
                pool->handovers += other != NULL;
                hand_over(conn);
        } else if (other) {
                pool->handovers = 0;
                ed_http_opening_stop(conn);
        } else {
                ed_http_opening_set_deadline(conn,
                                             ed_time_after(conn->began_ns, pool->idle_timeout_ns));
                ed_http_conn_sort(conn);
        }
}

void ed_http_pool_release(struct ed_http_conn *conn, bool reusable)
{
        ed_assert(conn->lent > 0, "a slot was given back twice");
        conn->lent--;
        conn->pool->in_use -= conn->lent == 0;
        reusable = reusable && !conn->pool->closed;
        if (conn->opening) {
                if (reusable && !conn->unwanted)
                        settle_opening(conn);
                else
                        ed_http_opening_stop(conn);
        } else if (conn->stream) {
                conn->reused = true;
                conn->draining |= !reusable;
                settle(conn);
        } else if (conn->lent == 0) {
                retire(conn);
        }
}

bool ed_http_conn_renew(struct ed_http_conn *conn)
{
        if (conn->lent > 1) {
                ed_http_pool_release(conn, false);
                return false;
        }
        ed_http_conn_disconnect(conn);
        ed_http_conn_sort(conn);
        return true;
}

void ed_http_conn_set_slots(struct ed_http_conn *conn, uint32_t slots)
{
        conn->slots = slots < ED_HTTP_SLOTS_MAX ? slots : ED_HTTP_SLOTS_MAX;
        if (!conn->stream)
                return; /* it is being opened */
        conn->origin->slots = conn->slots;
        if (conn->lent > 0)
                settle(conn);
        else if (slots == 0)
                ed_http_conn_drain(conn);
}

void ed_http_conn_drain(struct ed_http_conn *conn)
{
        if (conn->state == ED_HTTP_CONN_IDLE) {
                ed_http_conn_idle_take(conn);
                retire(conn);
        } else {
                conn->draining = true;
                ed_http_conn_sort(conn);
        }
}

/* ---- the end of an opening ------------------------------------------------------- */

/* Remember whether the origin's connections have many slots. */
static void learn(const struct ed_http_conn *conn)
{
        struct ed_http_origin *origin = conn->origin;

        origin->kind = conn->protocol->slots > 1 ? ED_HTTP_ORIGIN_MANY : ED_HTTP_ORIGIN_SINGLE;
        origin->slots = conn->slots;
}

static void wake_borrower(struct ed_http_conn *conn, int err, const struct eddy_http_fault *fault)
{
        struct ed_http_opening *borrower = conn->borrower;

        if (!borrower)
                return; /* none, or it has not begun to wait, or was woken by a cancel */
        conn->borrower = NULL;
        borrower->err = err;
        if (borrower->fault && err < 0)
                *borrower->fault = *fault;
        ed_suspend_wake(borrower->task, 0);
}

static void opening_failed(struct ed_http_conn *conn)
{
        ed_http_opening_wake(conn->origin, true);
        if (conn->lent > 0)
                ed_http_conn_sort(conn);
        else
                retire(conn);
}

void ed_http_conn_opened(struct ed_http_conn *conn, int err, const struct eddy_http_fault *fault)
{
        struct ed_http_origin *origin = conn->origin;
        bool shared = origin->sharing > 0;

        conn->opening = false;
        conn->unwanted = false;
        conn->give_up_ns = 0;
        wake_borrower(conn, err, fault);
        conn->reused |= conn->lent == 0; /* it may have become stale */
        if (err < 0) {
                opening_failed(conn);
                return;
        }
        learn(conn);
        settle(conn);
        /* The origin of those that wait to share is alive: they hold places, or a slot of 'conn'. */
        if (shared)
                ed_http_opening_wake(origin, false);
}

/* ---- acquiring and waiting ------------------------------------------------------- */

/* Called if the wait was cancelled. */
static bool stop_waiting(void *arg)
{
        struct waiter *waiter = arg;
        struct ed_http_origin *origin = waiter->origin;

        ed_list_remove(&waiter->link);
        origin->waiting--;
        origin->pool->waiting--;
        ed_http_origin_changed(origin);
        return true;
}

/* 'again': the task has waited before, and is served before the others. */
static int wait_for_slot(struct ed_task *task, struct ed_http_origin *origin, bool again,
                         struct ed_http_conn **ret_conn)
{
        struct waiter waiter = { .origin = origin, .task = task };
        int err;

        if (again)
                ed_list_push_front(&origin->waiters, &waiter.link);
        else
                ed_list_push_back(&origin->waiters, &waiter.link);
        origin->waiting++;
        origin->pool->waiting++;
        ed_http_origin_changed(origin);
        ed_debug_net(task);
        err = ed_suspend_park(task, "a connection of an HTTP client's pool", stop_waiting, &waiter);
        if (err < 0)
                return err;
        /*
         * The waiter has the slot, so a pending cancel would show at the next call, which is a
         * write. Check for the cancel here, while the connection is still unused and can go to the
         * next waiter.
         */
        err = ed_suspend_enter(&task);
        if (err < 0)
                ed_http_pool_release(waiter.conn, true);
        else
                *ret_conn = waiter.conn;
        return err;
}

/*
 * Returns true if the slot that was handed over is still of use, or at least its place. Otherwise
 * the slot has been given back.
 */
static bool keep_slot(struct ed_http_conn *conn)
{
        bool is_place = !conn->stream && conn->lent == 1;

        return is_place || ed_http_conn_is_usable(conn) || ed_http_conn_renew(conn);
}

/* Returns the fullest open connection of an origin with a free slot, or NULL. */
static struct ed_http_conn *open_find(struct ed_http_origin *origin)
{
        struct ed_list *open = &origin->conns[ED_HTTP_CONN_OPEN];

        while (!ed_list_is_empty(open)) {
                struct ed_http_conn *conn = ed_container_of(open->next, struct ed_http_conn, same);

                if (may_lend(conn))
                        return conn;
        }
        return NULL;
}

bool ed_http_conn_swap(struct ed_http_conn **conn)
{
        struct ed_http_conn *place = *conn, *open = open_find(place->origin);

        if (!open)
                return false;
        *conn = ed_http_conn_lend(open);
        place->lent = 0;
        place->pool->in_use--;
        retire(place);
        return true;
}

/*
 * Returns a place for the origin that needs no wait, or NULL. If only a spare opening is in the way,
 * it is ended, and the caller waits for its place.
 */
static int take_place(struct ed_http_origin *origin, struct ed_http_conn **ret_conn)
{
        struct ed_http_pool *pool = origin->pool;
        struct ed_list *spare = &origin->conns[ED_HTTP_CONN_SPARE];
        struct ed_http_conn *conn;

        *ret_conn = NULL;
        if (origin->open < pool->per_host_max && pool->open < pool->connections_max)
                return ed_http_conn_new(origin, ret_conn);
        if (!ed_list_is_empty(spare)) {
                ed_http_opening_stop(ed_container_of(spare->prev, struct ed_http_conn, same));
        } else if (origin->open >= pool->per_host_max) {
                return 0;
        } else if (!ed_list_is_empty(&pool->idle)) {
                conn = ed_container_of(pool->idle.prev, struct ed_http_conn, link);
                ed_http_conn_idle_take(conn);
                ed_http_conn_move(conn, origin);
                *ret_conn = conn;
        } else if (!ed_list_is_empty(&pool->spare)) {
                ed_http_opening_stop(ed_container_of(pool->spare.prev, struct ed_http_conn, link));
        }
        return 0;
}

/* Returns a connection that can lend a slot at once, or NULL. */
static int find_slot(struct ed_http_origin *origin, int64_t now_ns, struct ed_http_conn **ret_conn)
{
        *ret_conn = open_find(origin);
        if (!*ret_conn)
                *ret_conn = ed_http_conn_idle_find(origin, now_ns);
        if (!*ret_conn)
                *ret_conn = ed_http_opening_find(origin);
        return *ret_conn ? 0 : take_place(origin, ret_conn);
}

int ed_http_pool_acquire(struct ed_http_pool *pool, const struct ed_http_key *key, int64_t *now_ns,
                         struct ed_http_conn **ret_conn)
{
        struct ed_http_origin *origin = NULL;
        struct ed_http_conn *conn;
        struct ed_task *task;
        int err;

        err = ed_suspend_enter(&task);
        while (err >= 0) {
                bool again = origin != NULL;

                if (pool->closed)
                        return EDDY_E_HTTP_CLIENT_CLOSED;
                /* Later, the slots of other borrowers keep the origin. */
                if (!again)
                        err = ed_http_origin_find(pool, key, &origin);
                if (err < 0)
                        return err;
                /* An origin with a free slot has no waiters, so this does not overtake any. */
                err = find_slot(origin, *now_ns, &conn);
                if (err < 0) {
                        ed_http_origin_changed(origin);
                        return err;
                }
                if (conn) {
                        *ret_conn = ed_http_conn_lend(conn);
                        return 0;
                }
                err = wait_for_slot(task, origin, again, &conn);
                *now_ns = ed_loop_now(pool->member.loop);
                if (err >= 0 && keep_slot(conn)) {
                        *ret_conn = conn;
                        return 0;
                }
        }
        return err;
}

/* ---- the pool -------------------------------------------------------------- */

void ed_http_pool_init(struct ed_http_pool *pool, struct ed_loop *loop)
{
        ed_member_join(&pool->member, loop, NULL);
        ed_list_init(&pool->idle);
        ed_list_init(&pool->spare);
        ed_list_init(&pool->busy);
        ed_list_init(&pool->hungry);
        ed_timer_init(&pool->timer, ed_http_pool_expire);
        loop->sys->poll->random(loop->sys, &pool->seed, sizeof(pool->seed));
}

/* Wake all that wait at one origin; waking the last waiter may free the origin. */
static void turn_away(struct ed_http_origin *origin)
{
        struct ed_list *link;

        ed_http_opening_wake(origin, true);
        while ((link = ed_list_pop_front(&origin->waiters))) {
                struct waiter *waiter = ed_container_of(link, struct waiter, link);

                origin->waiting--;
                origin->pool->waiting--;
                ed_suspend_wake(waiter->task, EDDY_E_HTTP_CLIENT_CLOSED);
        }
        ed_http_origin_changed(origin);
}

void ed_http_pool_close(struct ed_http_pool *pool)
{
        pool->closed = true;
        if (pool->member.loop)
                ed_timer_cancel(&pool->member.loop->timers, &pool->timer);
        ed_hash_table_each_safe (node, &pool->origins) {
                turn_away(ed_container_of(node, struct ed_http_origin, node));
        }
        ed_list_each_safe (link, &pool->idle) {
                struct ed_http_conn *conn = ed_container_of(link, struct ed_http_conn, link);

                ed_http_conn_idle_take(conn);
                ed_http_conn_free(conn);
        }
        /* A connection that is stopped moves to the list of busy ones. */
        ed_list_each_safe (link, &pool->spare)
                ed_http_opening_stop(ed_container_of(link, struct ed_http_conn, link));
        ed_list_each_safe (link, &pool->busy) {
                struct ed_http_conn *conn = ed_container_of(link, struct ed_http_conn, link);

                if (conn->opening)
                        ed_http_opening_stop(conn);
                ed_http_conn_disconnect(conn);
        }
}

void ed_http_pool_fini(struct ed_http_pool *pool)
{
        eddy_tls_config_close(pool->tls);
        eddy_tls_config_close(pool->made_tls);
        ed_assert(pool->open == 0, "an HTTP client's pool ended with a slot held");
        ed_hash_table_fini(&pool->origins);
        ed_member_leave(&pool->member);
}
