/*
 * http/conn.c - the connections of a pool in the lists of their states.
 */
#include "http/conn.h"

#include <errno.h>

#include "base/alloc.h"
#include "http/pool.h"
#include "http/pool_origin.h"

/* ---- states ---------------------------------------------------------------- */

static enum ed_http_conn_state state_of(const struct ed_http_conn *conn)
{
        if (conn->opening && !conn->unwanted)
                return conn->lent > 0 ? ED_HTTP_CONN_OPENING : ED_HTTP_CONN_SPARE;
        if (!conn->stream)
                return ED_HTTP_CONN_PLACE;
        if (conn->draining)
                return ED_HTTP_CONN_DRAINING;
        if (conn->lent == 0)
                return ED_HTTP_CONN_IDLE;
        return conn->lent < conn->slots ? ED_HTTP_CONN_OPEN : ED_HTTP_CONN_FULL;
}

static bool is_opening(const struct ed_http_conn *conn)
{
        return conn->state == ED_HTTP_CONN_OPENING || conn->state == ED_HTTP_CONN_SPARE;
}

/* Returns the pool's list for the connection's state. */
static struct ed_list *pools_list(const struct ed_http_conn *conn)
{
        if (conn->state == ED_HTTP_CONN_IDLE)
                return &conn->pool->idle;
        return conn->state == ED_HTTP_CONN_SPARE ? &conn->pool->spare : &conn->pool->busy;
}

/*
 * The fullest connection is first, so that the others can become idle. New requests fill the first
 * one, so few connections are passed here.
 */
static void join_by_lent(struct ed_list *list, struct ed_http_conn *conn)
{
        struct ed_list *at = list->next;

        while (at != list && ed_container_of(at, struct ed_http_conn, same)->lent > conn->lent)
                at = at->next;
        ed_list_push_back(at, &conn->same);
}

static void leave_lists(struct ed_http_conn *conn)
{
        conn->origin->openings -= is_opening(conn);
        ed_list_remove(&conn->link);
        ed_list_remove(&conn->same);
}

static void join_lists(struct ed_http_conn *conn)
{
        struct ed_list *same = &conn->origin->conns[conn->state];

        conn->origin->openings += is_opening(conn);
        ed_list_push_front(pools_list(conn), &conn->link);
        if (conn->state == ED_HTTP_CONN_OPEN)
                join_by_lent(same, conn);
        else
                ed_list_push_front(same, &conn->same);
}

void ed_http_conn_sort(struct ed_http_conn *conn)
{
        enum ed_http_conn_state state = state_of(conn);

        if (state == conn->state && state != ED_HTTP_CONN_OPEN)
                return;
        leave_lists(conn);
        conn->state = state;
        join_lists(conn);
}

struct ed_http_conn *ed_http_conn_lend(struct ed_http_conn *conn)
{
        ed_assert(conn->lent < conn->slots && !conn->draining,
                  "a connection lends a slot that it does not have");
        conn->pool->in_use += conn->lent == 0;
        conn->lent++;
        ed_http_conn_sort(conn);
        return conn;
}

/* ---- lifetime -------------------------------------------------------------- */

int ed_http_conn_new(struct ed_http_origin *origin, struct ed_http_conn **ret_conn)
{
        struct ed_http_conn *conn = ed_alloc_zero(sizeof(*conn));

        if (!conn)
                return -ENOMEM;
        conn->pool = origin->pool;
        conn->origin = origin;
        conn->slots = 1; /* until the protocol is known */
        conn->idle_max_ns = origin->pool->idle_timeout_ns;
        join_lists(conn);
        origin->pool->open++;
        origin->open++;
        *ret_conn = conn;
        return 0;
}

void ed_http_conn_disconnect(struct ed_http_conn *conn)
{
        if (conn->stream && conn->protocol->conn->end)
                conn->protocol->conn->end(conn);
        eddy_stream_close_now(conn->stream);
        conn->stream = NULL;
        conn->session = NULL;
        conn->reused = false;
        conn->draining = false;
        conn->slots = 1; /* until the protocol is known */
        conn->idle_max_ns = conn->pool->idle_timeout_ns;
}

void ed_http_conn_free(struct ed_http_conn *conn)
{
        ed_http_conn_disconnect(conn);
        leave_lists(conn);
        conn->pool->open--;
        conn->origin->open--;
        ed_http_origin_changed(conn->origin);
        ed_free(conn);
}

void ed_http_conn_move(struct ed_http_conn *conn, struct ed_http_origin *origin)
{
        struct ed_http_origin *from = conn->origin;

        ed_http_conn_disconnect(conn);
        leave_lists(conn);
        conn->state = ED_HTTP_CONN_PLACE;
        conn->origin = origin;
        join_lists(conn);
        if (from == origin)
                return;
        origin->open++;
        from->open--;
        ed_http_origin_changed(from);
        ed_http_origin_changed(origin);
}

/* ---- idle connections ------------------------------------------------------- */

/* Arm the pool's timer for the connection that has been idle longest. */
static void watch_time(struct ed_http_pool *pool)
{
        struct ed_http_conn *oldest;

        if (pool->timer.armed || ed_list_is_empty(&pool->idle))
                return;
        oldest = ed_container_of(pool->idle.prev, struct ed_http_conn, link);
        ed_timer_arm(&pool->member.loop->timers, &pool->timer,
                     ed_time_after(oldest->idle_since_ns, pool->idle_timeout_ns));
}

void ed_http_conn_idle_take(struct ed_http_conn *conn)
{
        if (conn->protocol->conn->idle_end)
                conn->protocol->conn->idle_end(conn);
        conn->pool->idle_count--;
}

static bool is_over(const struct ed_http_conn *conn, int64_t now_ns)
{
        return now_ns - conn->idle_since_ns >= conn->idle_max_ns;
}

/* Close the connection that has been idle longest. */
static void drop_oldest(struct ed_http_pool *pool)
{
        struct ed_http_conn *oldest = ed_container_of(pool->idle.prev, struct ed_http_conn, link);

        ed_http_conn_idle_take(oldest);
        ed_http_conn_free(oldest);
}

void ed_http_pool_expire(struct ed_timer *timer)
{
        struct ed_http_pool *pool = ed_container_of(timer, struct ed_http_pool, timer);

        while (!ed_list_is_empty(&pool->idle) &&
               is_over(ed_container_of(pool->idle.prev, struct ed_http_conn, link),
                       pool->member.loop->now_ns))
                drop_oldest(pool);
        watch_time(pool);
}

void ed_http_conn_idle_put(struct ed_http_conn *conn)
{
        struct ed_http_pool *pool = conn->pool;

        if (conn->protocol->conn->idle_begin && conn->protocol->conn->idle_begin(conn) < 0) {
                ed_http_conn_free(conn);
                return;
        }
        conn->idle_since_ns = pool->member.loop->now_ns;
        ed_http_conn_sort(conn);
        pool->idle_count++;
        if (pool->idle_max > 0 && pool->idle_count > pool->idle_max)
                drop_oldest(pool);
        watch_time(pool);
}

bool ed_http_conn_is_usable(const struct ed_http_conn *conn)
{
        return conn->stream && !conn->draining &&
               (!conn->protocol->conn->is_usable || conn->protocol->conn->is_usable(conn));
}

struct ed_http_conn *ed_http_conn_idle_find(struct ed_http_origin *origin, int64_t now_ns)
{
        struct ed_list *idle = &origin->conns[ED_HTTP_CONN_IDLE];
        struct ed_http_conn *conn = NULL;

        while (!ed_list_is_empty(idle)) {
                if (conn)
                        ed_http_conn_free(conn); /* the origin stays: it has the next connection */
                conn = ed_container_of(idle->next, struct ed_http_conn, same);
                ed_http_conn_idle_take(conn);
                if (!is_over(conn, now_ns) && ed_http_conn_is_usable(conn))
                        return conn;
                ed_http_conn_disconnect(conn);
                ed_http_conn_sort(conn);
        }
        return conn;
}
