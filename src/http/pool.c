/*
 * http/pool.c - the pool of connections.
 */
#include "http/pool.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/time.h"
#include "scope/debug/debug.h"
#include "scope/suspend.h"
#include "tls/config.h"

/* An opening that takes longer may hang, so it is not lent: another connection is opened. */
#define OPENING_LENT_NS EDDY_SEC(1)

/* A waiter in its origin's list, on the stack of its task. */
struct waiter {
        struct ed_list link;
        struct ed_http_pool *pool;
        struct ed_http_origin *origin;
        struct ed_task *task;
        struct ed_http_conn *conn; /* the connection handed to the waiter */
};

static void idle_expire(struct ed_timer *timer);
static void idle_disturbed(void *arg);

/* ---- origins --------------------------------------------------------------- */

/* A field that is added to the key must be added to ed_http_key_equal() too. */
_Static_assert(sizeof(struct ed_http_key) == 2 * sizeof(void *) + 8,
               "ed_http_key_equal() does not compare a new field");

bool ed_http_key_equal(const struct ed_http_key *a, const struct ed_http_key *b)
{
        return a->port == b->port && a->is_https == b->is_https && a->tls == b->tls &&
               a->host_bytes == b->host_bytes && memcmp(a->host, b->host, a->host_bytes) == 0;
}

static uint64_t hash_of(const struct ed_http_pool *pool, const struct ed_http_key *key)
{
        uint64_t hash = ed_hash(pool->seed ^ key->port ^ ((uint64_t) key->is_https << 32),
                                key->host, key->host_bytes);

        return hash ^ (hash >> 29);
}

static int origin_new(struct ed_http_pool *pool, const struct ed_http_key *key, uint64_t hash,
                      struct ed_http_origin **ret_origin)
{
        struct ed_http_origin *origin = ed_alloc_zero(sizeof(*origin));

        if (!origin)
                return -ENOMEM;
        ed_list_init(&origin->hungry);
        ed_list_init(&origin->idle);
        ed_list_init(&origin->spare);
        ed_list_init(&origin->waiters);
        origin->key = *key;
        memcpy(origin->host, key->host, (size_t) key->host_bytes + 1);
        origin->key.host = origin->host;
        /* The reference keeps another configuration from getting the same address. */
        if (key->tls)
                ed_tls_config_ref(key->tls);
        ed_hash_table_add(&pool->origins, &origin->node, hash);
        *ret_origin = origin;
        return 0;
}

static int origin_find(struct ed_http_pool *pool, const struct ed_http_key *key,
                       struct ed_http_origin **ret_origin)
{
        uint64_t hash = hash_of(pool, key);

        ed_hash_each (node, &pool->origins, hash) {
                struct ed_http_origin *origin = ed_container_of(node, struct ed_http_origin, node);

                if (ed_http_key_equal(&origin->key, key)) {
                        *ret_origin = origin;
                        return 0;
                }
        }
        return origin_new(pool, key, hash, ret_origin);
}

/* Call this whenever the number of an origin's slots or waiters changes. */
static void origin_changed(struct ed_http_pool *pool, struct ed_http_origin *origin)
{
        bool hungry = origin->waiting > 0 && origin->open < pool->per_host_max;

        if (!hungry)
                ed_list_remove(&origin->hungry);
        else if (ed_list_is_empty(&origin->hungry))
                ed_list_push_back(&pool->hungry, &origin->hungry);
        if (origin->open == 0 && origin->waiting == 0) {
                ed_hash_table_remove(&pool->origins, &origin->node);
                eddy_tls_config_close(origin->key.tls);
                ed_free(origin);
        }
}

/* ---- connections ----------------------------------------------------------- */

/* Make a connection of 'origin', not open yet. The caller has checked the limits. */
static int conn_new(struct ed_http_pool *pool, struct ed_http_origin *origin,
                    struct ed_http_conn **ret_conn)
{
        struct ed_http_conn *conn = ed_alloc_zero(sizeof(*conn));

        if (!conn)
                return -ENOMEM;
        conn->pool = pool;
        conn->origin = origin;
        conn->slots = 1; /* until the protocol is known */
        conn->idle_max_ns = pool->idle_timeout_ns;
        ed_list_init(&conn->same);
        ed_list_push_back(&pool->busy, &conn->link);
        pool->open++;
        origin->open++;
        *ret_conn = conn;
        return 0;
}

void ed_http_conn_disconnect(struct ed_http_conn *conn)
{
        eddy_stream_close_now(conn->stream);
        conn->stream = NULL;
        conn->reused = false;
        conn->idle_max_ns = conn->pool->idle_timeout_ns;
}

/* Close and free a connection whose slots are not lent. */
static void conn_free(struct ed_http_conn *conn)
{
        struct ed_http_pool *pool = conn->pool;

        ed_http_conn_disconnect(conn);
        ed_list_remove(&conn->link);
        pool->open--;
        conn->origin->open--;
        origin_changed(pool, conn->origin);
        ed_free(conn);
}

/* Close the connection and let another origin have its place. */
static void conn_move(struct ed_http_conn *conn, struct ed_http_origin *origin)
{
        struct ed_http_origin *from = conn->origin;

        ed_http_conn_disconnect(conn);
        if (from == origin)
                return;
        origin->open++;
        conn->origin = origin;
        from->open--;
        origin_changed(conn->pool, from);
        origin_changed(conn->pool, origin);
}

/* Arm the pool's timer for the connection that has been idle longest. */
static void idle_watch_time(struct ed_http_pool *pool)
{
        struct ed_http_conn *oldest;

        if (pool->timer.armed || ed_list_is_empty(&pool->idle))
                return;
        oldest = ed_container_of(pool->idle.prev, struct ed_http_conn, link);
        ed_timer_arm(&pool->member.loop->timers, &pool->timer,
                     ed_time_after(oldest->idle_since_ns, pool->idle_timeout_ns));
}

/* Take an idle connection out of the lists, to be used or closed. */
static void idle_take(struct ed_http_conn *conn)
{
        struct ed_http_pool *pool = conn->pool;

        eddy_stream_watch_idle(conn->stream, NULL, NULL);
        ed_list_remove(&conn->same);
        ed_list_remove(&conn->link);
        ed_list_push_back(&pool->busy, &conn->link);
        pool->idle_count--;
}

/* Close an idle connection that received unrequested bytes: they do not answer any request. */
static void idle_disturbed(void *arg)
{
        struct ed_http_conn *conn = arg;

        idle_take(conn);
        conn_free(conn);
}

static bool idle_is_over(const struct ed_http_conn *conn, int64_t now_ns)
{
        return now_ns - conn->idle_since_ns >= conn->idle_max_ns;
}

static void idle_expire(struct ed_timer *timer)
{
        struct ed_http_pool *pool = ed_container_of(timer, struct ed_http_pool, timer);

        while (!ed_list_is_empty(&pool->idle)) {
                struct ed_http_conn *oldest =
                        ed_container_of(pool->idle.prev, struct ed_http_conn, link);

                if (!idle_is_over(oldest, pool->member.loop->now_ns))
                        break;
                idle_take(oldest);
                conn_free(oldest);
        }
        idle_watch_time(pool);
}

/* Keep a connection for the next request. */
static void idle_put(struct ed_http_conn *conn)
{
        struct ed_http_pool *pool = conn->pool;

        if (eddy_stream_watch_idle(conn->stream, idle_disturbed, conn) < 0) {
                conn_free(conn);
                return;
        }
        conn->idle_since_ns = pool->member.loop->now_ns;
        ed_list_remove(&conn->link);
        ed_list_push_front(&pool->idle, &conn->link);
        ed_list_push_front(&conn->origin->idle, &conn->same);
        pool->idle_count++;
        idle_watch_time(pool);
}

/*
 * Returns true if the next request can use the connection: the peer has neither closed it nor sent
 * anything. This call asks the poller, because the loop has not yet seen events that arrived while
 * a task computed.
 */
static bool conn_is_silent(const struct ed_http_conn *conn)
{
        return !eddy_stream_is_readable(conn->stream);
}

/*
 * Returns the most recent usable idle connection of an origin, taken out of the lists. Unusable
 * connections are closed. If all are closed, returns the slot of the last one, to be connected.
 * Returns NULL if none is idle.
 */
static struct ed_http_conn *idle_lend(struct ed_http_origin *origin, int64_t now_ns)
{
        struct ed_http_conn *conn = NULL;

        while (!ed_list_is_empty(&origin->idle)) {
                if (conn)
                        conn_free(conn); /* the origin stays: it has the next connection */
                conn = ed_container_of(origin->idle.next, struct ed_http_conn, same);
                idle_take(conn);
                if (!idle_is_over(conn, now_ns) && conn_is_silent(conn))
                        return conn;
        }
        if (conn)
                ed_http_conn_disconnect(conn);
        return conn;
}

/* ---- openings without a borrower ------------------------------------------------ */

static bool opening_is_slow(const struct ed_http_conn *conn)
{
        return ed_loop_now(conn->pool->member.loop) - conn->began_ns >= OPENING_LENT_NS;
}

/* Let a spare opening end: at its deadline, or, with 0, whenever it ends by itself. */
static void opening_set_deadline(struct ed_http_conn *conn, int64_t deadline_ns)
{
        conn->give_up_ns = deadline_ns;
        if (conn->connecting)
                (void) eddy_scope_set_deadline(conn->connecting, deadline_ns);
}

/* Stop the task that opens the connection. The task gives the connection back when it ends. */
static void opening_stop(struct ed_http_conn *conn)
{
        conn->unwanted = true;
        if (conn->connecting)
                eddy_scope_cancel(conn->connecting);
}

static void spare_put(struct ed_http_conn *conn)
{
        struct ed_http_pool *pool = conn->pool;

        opening_set_deadline(conn, ed_time_after(conn->began_ns, pool->idle_timeout_ns));
        ed_list_remove(&conn->link);
        ed_list_push_front(&pool->spare, &conn->link);
        ed_list_push_front(&conn->origin->spare, &conn->same);
}

static void spare_take(struct ed_http_conn *conn)
{
        ed_list_remove(&conn->same);
        ed_list_remove(&conn->link);
        ed_list_push_back(&conn->pool->busy, &conn->link);
}

/*
 * Returns the latest spare opening of an origin, taken out of the lists. Returns NULL if there is
 * none or if it is slow.
 */
static struct ed_http_conn *spare_lend(struct ed_http_origin *origin)
{
        struct ed_http_conn *conn;

        if (ed_list_is_empty(&origin->spare))
                return NULL;
        conn = ed_container_of(origin->spare.next, struct ed_http_conn, same);
        if (opening_is_slow(conn))
                return NULL;
        spare_take(conn);
        opening_set_deadline(conn, 0);
        return conn;
}

/* End a spare opening. Its place goes to a waiter when its task has ended. */
static void spare_end(struct ed_http_conn *conn)
{
        spare_take(conn);
        opening_stop(conn);
}

/* ---- handing over and waiting --------------------------------------------------- */

static struct ed_http_conn *lend(struct ed_http_conn *conn)
{
        conn->pool->in_use += conn->lent == 0;
        conn->lent++;
        ed_assert(conn->lent <= conn->slots, "a connection has lent more slots than it has");
        return conn;
}

/* Hand a slot to the first waiter of its origin, which owns it from now on. */
static void hand_over(struct ed_http_conn *conn)
{
        struct ed_http_pool *pool = conn->pool;
        struct waiter *waiter = ed_container_of(conn->origin->waiters.next, struct waiter, link);

        ed_list_remove(&waiter->link);
        waiter->conn = lend(conn);
        conn->origin->waiting--;
        pool->waiting--;
        origin_changed(pool, conn->origin);
        ed_suspend_wake(waiter->task, 0);
}

/* Returns the next origin that lacks only a slot, other than 'but', or NULL. */
static struct ed_http_origin *hungry_next(struct ed_http_pool *pool,
                                          const struct ed_http_origin *but)
{
        ed_list_each (link, &pool->hungry) {
                struct ed_http_origin *origin =
                        ed_container_of(link, struct ed_http_origin, hungry);

                if (origin != but)
                        return origin;
        }
        return NULL;
}

/* Give a slot to the next origin in turn. */
static void feed(struct ed_http_conn *conn, struct ed_http_origin *origin)
{
        ed_list_remove(&origin->hungry); /* its next waiter goes to the end of the queue */
        conn_move(conn, origin);
        hand_over(conn);
}

/* Close the connection; a waiter that lacks only a slot gets its place. */
static void retire(struct ed_http_conn *conn)
{
        struct ed_http_pool *pool = conn->pool;
        struct ed_http_origin *own = conn->origin, *other;

        ed_http_conn_disconnect(conn);
        /* Its own origin queues like the others. */
        if (own->waiting > 0 && ed_list_is_empty(&own->hungry))
                ed_list_push_back(&pool->hungry, &own->hungry);
        other = hungry_next(pool, NULL);
        if (other)
                feed(conn, other);
        else
                conn_free(conn);
}

/* Find a use for a connection that is open, or is being opened, and not lent. */
static void settle(struct ed_http_conn *conn)
{
        struct ed_http_pool *pool = conn->pool;
        struct ed_http_origin *own = conn->origin, *other = hungry_next(pool, own);

        if (conn->opening && own->waiting > 0 && opening_is_slow(conn)) {
                opening_stop(conn);
        } else if (own->waiting > 0 && (!other || pool->handovers < ED_HTTP_HANDOVERS_MAX)) {
                pool->handovers += other != NULL;
                hand_over(conn);
        } else if (other) {
                pool->handovers = 0;
                if (conn->opening)
                        opening_stop(conn);
                else
                        feed(conn, other);
        } else if (conn->opening) {
                spare_put(conn);
        } else {
                idle_put(conn);
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
                        settle(conn);
                else
                        opening_stop(conn);
        } else if (reusable && conn->stream) {
                conn->reused = true;
                settle(conn);
        } else {
                retire(conn);
        }
}

void ed_http_conn_opened(struct ed_http_conn *conn, int err, const struct eddy_http_fault *fault)
{
        struct ed_http_opening *borrower = conn->borrower;

        conn->opening = false;
        conn->unwanted = false;
        conn->give_up_ns = 0;
        conn->borrower = NULL;
        if (borrower) {
                borrower->err = err;
                if (borrower->fault && err < 0)
                        *borrower->fault = *fault;
                ed_suspend_wake(borrower->task, 0);
                return;
        }
        if (conn->lent > 0)
                return; /* its borrower has not begun to wait, or was woken by a cancel */
        if (!ed_list_is_empty(&conn->same))
                spare_take(conn);
        conn->reused = true; /* it may have become stale */
        if (err < 0)
                retire(conn);
        else
                settle(conn);
}

/* Called if the wait was cancelled. */
static bool stop_waiting(void *arg)
{
        struct waiter *waiter = arg;

        ed_list_remove(&waiter->link);
        waiter->origin->waiting--;
        waiter->pool->waiting--;
        origin_changed(waiter->pool, waiter->origin);
        return true;
}

static int wait_for_slot(struct ed_task *task, struct ed_http_pool *pool,
                         struct ed_http_origin *origin, struct ed_http_conn **ret_conn)
{
        struct waiter waiter = { .pool = pool, .origin = origin, .task = task };
        int err;

        ed_list_push_back(&origin->waiters, &waiter.link);
        origin->waiting++;
        pool->waiting++;
        origin_changed(pool, origin);
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
        if (err < 0) {
                ed_http_pool_release(waiter.conn, true);
                return err;
        }
        if (waiter.conn->stream && !conn_is_silent(waiter.conn))
                ed_http_conn_disconnect(waiter.conn);
        *ret_conn = waiter.conn;
        return 0;
}

/*
 * Returns a connection for the origin that needs no wait, or NULL. If only a spare opening is in
 * the way, it is ended, and the caller waits for its place.
 */
static int take_place(struct ed_http_pool *pool, struct ed_http_origin *origin,
                      struct ed_http_conn **ret_conn)
{
        struct ed_http_conn *conn;

        *ret_conn = NULL;
        if (origin->open < pool->per_host_max && pool->open < pool->connections_max)
                return conn_new(pool, origin, ret_conn);
        if (!ed_list_is_empty(&origin->spare)) {
                spare_end(ed_container_of(origin->spare.prev, struct ed_http_conn, same));
        } else if (origin->open >= pool->per_host_max) {
                return 0;
        } else if (!ed_list_is_empty(&pool->idle)) {
                conn = ed_container_of(pool->idle.prev, struct ed_http_conn, link);
                idle_take(conn);
                conn_move(conn, origin);
                *ret_conn = conn;
        } else if (!ed_list_is_empty(&pool->spare)) {
                spare_end(ed_container_of(pool->spare.prev, struct ed_http_conn, link));
        }
        return 0;
}

int ed_http_pool_acquire(struct ed_http_pool *pool, const struct ed_http_key *key, int64_t *now_ns,
                         struct ed_http_conn **ret_conn)
{
        struct ed_http_origin *origin;
        struct ed_http_conn *conn;
        struct ed_task *task;
        int err;

        err = ed_suspend_enter(&task);
        if (err < 0)
                return err;
        if (pool->closed)
                return EDDY_E_HTTP_CLIENT_CLOSED;
        err = origin_find(pool, key, &origin);
        if (err < 0)
                return err;
        /* An origin with such a connection has no waiters, so this does not overtake any. */
        conn = idle_lend(origin, *now_ns);
        if (!conn)
                conn = spare_lend(origin);
        if (!conn) {
                err = take_place(pool, origin, &conn);
                if (err < 0) {
                        origin_changed(pool, origin);
                        return err;
                }
        }
        if (!conn) {
                err = wait_for_slot(task, pool, origin, ret_conn);
                *now_ns = ed_loop_now(pool->member.loop);
                return err;
        }
        *ret_conn = lend(conn);
        return 0;
}

/* ---- the pool -------------------------------------------------------------- */

void ed_http_pool_init(struct ed_http_pool *pool, struct ed_loop *loop)
{
        ed_member_join(&pool->member, loop, NULL);
        ed_list_init(&pool->idle);
        ed_list_init(&pool->spare);
        ed_list_init(&pool->busy);
        ed_list_init(&pool->hungry);
        ed_timer_init(&pool->timer, idle_expire);
        loop->sys->poll->random(loop->sys, &pool->seed, sizeof(pool->seed));
}

/* Wake all waiters of one origin; waking the last of them may free the origin. */
static void turn_away(struct ed_http_pool *pool, struct ed_http_origin *origin)
{
        struct ed_list *link;

        while ((link = ed_list_pop_front(&origin->waiters))) {
                struct waiter *waiter = ed_container_of(link, struct waiter, link);

                origin->waiting--;
                pool->waiting--;
                ed_suspend_wake(waiter->task, EDDY_E_HTTP_CLIENT_CLOSED);
        }
        origin_changed(pool, origin);
}

void ed_http_pool_close(struct ed_http_pool *pool)
{
        pool->closed = true;
        if (pool->member.loop)
                ed_timer_cancel(&pool->member.loop->timers, &pool->timer);
        ed_hash_table_each_safe (node, &pool->origins) {
                turn_away(pool, ed_container_of(node, struct ed_http_origin, node));
        }
        ed_list_each_safe (link, &pool->idle) {
                struct ed_http_conn *conn = ed_container_of(link, struct ed_http_conn, link);

                idle_take(conn);
                conn_free(conn);
        }
        ed_list_each (link, &pool->spare)
                opening_stop(ed_container_of(link, struct ed_http_conn, link));
        ed_list_each (link, &pool->busy) {
                struct ed_http_conn *conn = ed_container_of(link, struct ed_http_conn, link);

                if (conn->opening)
                        opening_stop(conn);
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
