/*
 * http/opening.c - connections that are being opened: spares, and the tasks that share them.
 */
#include "http/opening.h"

#include "http/pool.h"
#include "http/pool_origin.h"
#include "scope/suspend.h"

bool ed_http_opening_is_slow(const struct ed_http_conn *conn)
{
        return ed_loop_now(conn->pool->member.loop) - conn->began_ns >= ED_HTTP_OPENING_LENT_NS;
}

/* ---- openings without a borrower ------------------------------------------------ */

void ed_http_opening_set_deadline(struct ed_http_conn *conn, int64_t deadline_ns)
{
        conn->give_up_ns = deadline_ns;
        if (conn->connecting)
                (void) eddy_scope_set_deadline(conn->connecting, deadline_ns);
}

void ed_http_opening_stop(struct ed_http_conn *conn)
{
        conn->unwanted = true;
        if (conn->connecting)
                eddy_scope_cancel(conn->connecting);
        ed_http_conn_sort(conn);
}

struct ed_http_conn *ed_http_opening_find(struct ed_http_origin *origin)
{
        struct ed_list *spare = &origin->conns[ED_HTTP_CONN_SPARE];
        struct ed_http_conn *conn;

        if (ed_list_is_empty(spare))
                return NULL;
        conn = ed_container_of(spare->next, struct ed_http_conn, same);
        if (ed_http_opening_is_slow(conn))
                return NULL;
        ed_http_opening_set_deadline(conn, 0);
        return conn;
}

/* ---- sharing --------------------------------------------------------------------- */

struct ed_http_conn *ed_http_opening_grant(struct ed_http_conn *conn)
{
        struct ed_http_origin *origin = conn->origin;
        struct ed_http_sharer *sharer =
                ed_container_of(ed_list_pop_front(&origin->sharers), struct ed_http_sharer, link);
        struct ed_http_conn *place = sharer->conn;

        origin->sharing--;
        place->lent = 0;
        place->pool->in_use--;
        sharer->conn = ed_http_conn_lend(conn);
        ed_suspend_wake(sharer->task, 0);
        return place;
}

void ed_http_opening_wake(struct ed_http_origin *origin, bool failed)
{
        struct ed_list *link;

        while ((link = ed_list_pop_front(&origin->sharers))) {
                struct ed_http_sharer *sharer = ed_container_of(link, struct ed_http_sharer, link);

                origin->sharing--;
                sharer->failed = failed;
                ed_suspend_wake(sharer->task, 0);
        }
}
