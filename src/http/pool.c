/*
 * http/pool.c - the pool of connections.
 */
#include "http/pool.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/tcp.h"
#include "scope/debug/debug.h"
#include "scope/suspend.h"

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

static uint64_t hash_of(const struct ed_http_pool *pool, const struct ed_url *url)
{
        uint64_t hash = pool->seed ^ url->port ^ ((uint64_t) url->is_https << 32);

        for (size_t i = 0; i < url->host_bytes; i++)
                hash = (hash ^ (unsigned char) url->host[i]) * UINT64_C(0x100000001b3);
        return hash ^ (hash >> 29);
}

static struct ed_list *bucket_of(const struct ed_http_pool *pool, uint64_t hash)
{
        return &pool->buckets[hash & (pool->buckets_count - 1)];
}

static int buckets_new(uint32_t count, struct ed_list **ret_buckets)
{
        struct ed_list *buckets = ed_alloc(count * sizeof(*buckets));

        if (!buckets)
                return -ENOMEM;
        for (uint32_t i = 0; i < count; i++)
                ed_list_init(&buckets[i]);
        *ret_buckets = buckets;
        return 0;
}

/* Add buckets if there are many origins. If memory runs out, the lists only get longer. */
static void buckets_grow(struct ed_http_pool *pool)
{
        struct ed_list *old = pool->buckets, *link;
        uint32_t old_count = pool->buckets_count;

        if (pool->origins <= old_count || buckets_new(2 * old_count, &pool->buckets) < 0)
                return;
        pool->buckets_count = 2 * old_count;
        for (uint32_t i = 0; i < old_count; i++) {
                while ((link = ed_list_pop_front(&old[i]))) {
                        struct ed_http_origin *origin =
                                ed_container_of(link, struct ed_http_origin, link);

                        ed_list_push_back(bucket_of(pool, origin->hash), link);
                }
        }
        ed_free(old);
}

static int origin_find(struct ed_http_pool *pool, const struct ed_url *url,
                       struct ed_http_origin **ret_origin)
{
        uint64_t hash = hash_of(pool, url);
        struct ed_http_origin *origin;

        ed_list_each (link, bucket_of(pool, hash)) {
                origin = ed_container_of(link, struct ed_http_origin, link);
                if (origin->hash == hash && origin->port == url->port &&
                    origin->is_https == url->is_https && origin->host_bytes == url->host_bytes &&
                    memcmp(origin->host, url->host, url->host_bytes) == 0) {
                        *ret_origin = origin;
                        return 0;
                }
        }
        buckets_grow(pool);
        origin = ed_alloc_zero(sizeof(*origin));
        if (!origin)
                return -ENOMEM;
        ed_list_init(&origin->hungry);
        ed_list_init(&origin->idle);
        ed_list_init(&origin->waiters);
        origin->hash = hash;
        origin->port = url->port;
        origin->is_https = url->is_https;
        origin->host_bytes = url->host_bytes;
        memcpy(origin->host, url->host, (size_t) url->host_bytes + 1);
        ed_list_push_back(bucket_of(pool, hash), &origin->link);
        pool->origins++;
        *ret_origin = origin;
        return 0;
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
                ed_list_remove(&origin->link);
                pool->origins--;
                ed_free(origin);
        }
}

/* ---- slots ----------------------------------------------------------------- */

/* Make a slot of 'origin'. The caller has checked the limits. */
static int conn_new(struct ed_http_pool *pool, struct ed_http_origin *origin,
                    struct ed_http_conn **ret_conn)
{
        struct ed_http_conn *conn = ed_alloc_zero(sizeof(*conn));

        if (!conn)
                return -ENOMEM;
        conn->pool = pool;
        conn->origin = origin;
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
}

/* Close and free a slot that has no waiter. */
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

/* Close the connection and move its slot to another origin. */
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
        ed_timer_arm(&pool->loop->timers, &pool->timer,
                     ed_time_after(oldest->idle_since_ns, pool->keepalive_ns));
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
        return now_ns - conn->idle_since_ns >= conn->pool->keepalive_ns;
}

static void idle_expire(struct ed_timer *timer)
{
        struct ed_http_pool *pool = ed_container_of(timer, struct ed_http_pool, timer);

        while (!ed_list_is_empty(&pool->idle)) {
                struct ed_http_conn *oldest =
                        ed_container_of(pool->idle.prev, struct ed_http_conn, link);

                if (!idle_is_over(oldest, pool->loop->now_ns))
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
        conn->idle_since_ns = pool->loop->now_ns;
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
static struct ed_http_conn *idle_lend(struct ed_http_origin *origin)
{
        struct ed_http_conn *conn = NULL;

        while (!ed_list_is_empty(&origin->idle)) {
                if (conn)
                        conn_free(conn); /* the origin stays: it has the next connection */
                conn = ed_container_of(origin->idle.next, struct ed_http_conn, same);
                idle_take(conn);
                if (!idle_is_over(conn, ed_loop_now(conn->pool->loop)) && conn_is_silent(conn))
                        return conn;
        }
        if (conn)
                ed_http_conn_disconnect(conn);
        return conn;
}

/* ---- handing over and waiting --------------------------------------------------- */

/* Hand a slot to the first waiter of its origin, which owns it from now on. */
static void hand_over(struct ed_http_conn *conn)
{
        struct ed_http_pool *pool = conn->pool;
        struct waiter *waiter = ed_container_of(conn->origin->waiters.next, struct waiter, link);

        ed_list_remove(&waiter->link);
        waiter->conn = conn;
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

void ed_http_pool_release(struct ed_http_conn *conn, bool reusable)
{
        struct ed_http_pool *pool = conn->pool;
        struct ed_http_origin *own = conn->origin, *other;

        if (!reusable || !conn->stream || pool->closed) {
                ed_http_conn_disconnect(conn);
                /* Its own origin queues like the others. */
                if (own->waiting > 0 && ed_list_is_empty(&own->hungry))
                        ed_list_push_back(&pool->hungry, &own->hungry);
                other = hungry_next(pool, NULL);
                if (other)
                        feed(conn, other);
                else
                        conn_free(conn);
                return;
        }
        conn->reused = true;
        other = hungry_next(pool, own);
        if (own->waiting > 0 && (!other || pool->handovers < ED_HTTP_HANDOVERS_MAX)) {
                pool->handovers += other != NULL;
                hand_over(conn);
        } else if (other) {
                pool->handovers = 0;
                feed(conn, other);
        } else {
                idle_put(conn);
        }
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
                ed_http_pool_release(waiter.conn, waiter.conn->stream != NULL);
                return err;
        }
        if (waiter.conn->stream && !conn_is_silent(waiter.conn))
                ed_http_conn_disconnect(waiter.conn);
        *ret_conn = waiter.conn;
        return 0;
}

int ed_http_pool_acquire(struct ed_http_pool *pool, const struct ed_url *url,
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
        err = origin_find(pool, url, &origin);
        if (err < 0)
                return err;
        /* An origin with an idle connection has no waiters, so this does not overtake any. */
        conn = idle_lend(origin);
        if (conn) {
                *ret_conn = conn;
                return 0;
        }
        if (origin->open < pool->per_host_max) {
                if (pool->open < pool->connections_max) {
                        err = conn_new(pool, origin, ret_conn);
                        if (err < 0)
                                origin_changed(pool, origin);
                        return err;
                }
                if (!ed_list_is_empty(&pool->idle)) {
                        conn = ed_container_of(pool->idle.prev, struct ed_http_conn, link);
                        idle_take(conn);
                        conn_move(conn, origin);
                        *ret_conn = conn;
                        return 0;
                }
        }
        return wait_for_slot(task, pool, origin, ret_conn);
}

/* ---- connecting ------------------------------------------------------------ */

/* Make the default configuration, unless another task did so meanwhile. */
static int tls_prepare(struct ed_http_pool *pool, struct eddy_tls_fault *fault)
{
        eddy_tls_config *made;
        int err;

        if (pool->tls || pool->made_tls)
                return 0;
        err = eddy_tls_config_new(NULL, fault, &made);
        if (err < 0)
                return err;
        if (pool->made_tls)
                eddy_tls_config_close(made);
        else
                pool->made_tls = made;
        return 0;
}

static int connect_origin(struct ed_http_conn *conn, struct eddy_tls_fault *fault,
                          eddy_stream **ret_stream)
{
        struct eddy_tls_conn_opts opts = { .ret_fault = fault };
        const struct ed_http_origin *origin = conn->origin;
        struct ed_http_pool *pool = conn->pool;
        eddy_stream *lower;
        int err;

        err = origin->is_https ? tls_prepare(pool, fault) : 0;
        if (err == 0)
                err = eddy_tcp_connect(origin->host, origin->port, NULL, &lower);
        if (err < 0)
                return err;
        if (!origin->is_https) {
                *ret_stream = lower;
                return 0;
        }
        err = eddy_tls_client(lower, pool->tls ? pool->tls : pool->made_tls, origin->host, &opts,
                              ret_stream);
        if (err < 0)
                eddy_stream_close_now(lower);
        return err;
}

int ed_http_conn_connect(struct ed_http_conn *conn, int64_t timeout_ns,
                         struct eddy_tls_fault *fault)
{
        struct eddy_scope_opts opts = { .timeout_ns = timeout_ns };
        eddy_stream *stream = NULL;
        eddy_scope scope;
        int err, end;

        if (conn->pool->closed)
                return EDDY_E_HTTP_CLIENT_CLOSED;
        eddy_scope_begin(&scope, &opts);
        conn->connecting = &scope;
        err = connect_origin(conn, fault, &stream);
        conn->connecting = NULL;
        end = eddy_scope_end(&scope);
        if (conn->pool->closed) {
                if (err >= 0)
                        eddy_stream_close_now(stream);
                return EDDY_E_HTTP_CLIENT_CLOSED;
        }
        if (err < 0)
                return end == -ETIMEDOUT && err == -ECANCELED ? EDDY_E_NET_TIMED_OUT : err;
        ed_debug_gone(stream); /* reported as part of the client */
        conn->stream = stream;
        conn->reused = false;
        conn->pool->connections++;
        return 0;
}

/* ---- the pool -------------------------------------------------------------- */

int ed_http_pool_init(struct ed_http_pool *pool, struct ed_loop *loop)
{
        int err;

        pool->loop = loop;
        pool->buckets_count = ED_HTTP_BUCKETS_FIRST;
        err = buckets_new(pool->buckets_count, &pool->buckets);
        if (err < 0)
                return err;
        ed_list_init(&pool->idle);
        ed_list_init(&pool->busy);
        ed_list_init(&pool->hungry);
        ed_timer_init(&pool->timer, idle_expire);
        loop->sys->ops->random(loop->sys, &pool->seed, sizeof(pool->seed));
        return 0;
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
        ed_timer_cancel(&pool->loop->timers, &pool->timer);
        for (uint32_t i = 0; i < pool->buckets_count; i++) {
                ed_list_each_safe (link, &pool->buckets[i]) {
                        turn_away(pool, ed_container_of(link, struct ed_http_origin, link));
                }
        }
        ed_list_each_safe (link, &pool->idle) {
                struct ed_http_conn *conn = ed_container_of(link, struct ed_http_conn, link);

                idle_take(conn);
                conn_free(conn);
        }
        ed_list_each (link, &pool->busy) {
                struct ed_http_conn *conn = ed_container_of(link, struct ed_http_conn, link);

                if (conn->connecting)
                        eddy_scope_cancel(conn->connecting);
                ed_http_conn_disconnect(conn);
        }
}

void ed_http_pool_fini(struct ed_http_pool *pool)
{
        eddy_tls_config_close(pool->made_tls);
        ed_assert(pool->open == 0, "an HTTP client's pool ended with a slot held");
        ed_free(pool->buckets);
}
