/*
 * http/opening.h - connections that a task of the client opens.
 *
 * If the borrower gives the slot back before the connection is open, the opening continues for the
 * next waiter of the origin, or as a spare, which is used like an idle connection. After a second it
 * may hang and is not lent any more: the next borrower opens a connection of its own. A spare
 * opening ends when a borrower needs its place, or when it has taken the time of an idle connection.
 *
 * A connection that is being opened to an https origin may turn out to have many slots. A borrower
 * of another place may therefore wait until that opening may hang before it opens its own, unless
 * the origin's connections had one slot. It holds its place meanwhile, so the limits hold in each
 * case, and gives that place back when it gets a slot.
 */
#ifndef ED_HTTP_OPENING_H
#define ED_HTTP_OPENING_H

#include "eddy/time.h"
#include "http/conn.h"
#include "loop/timer.h"

/* An opening that takes longer may hang, so it is not lent: another connection is opened. */
#define ED_HTTP_OPENING_LENT_NS EDDY_SEC(1)

/* A borrower that waits for a slot of another opening; on the stack of its task. */
struct ed_http_sharer {
        struct ed_list link; /* in the origin's list */
        struct ed_timer timer;
        struct ed_task *task;
        struct ed_http_conn *conn; /* the borrower's own; or the one that it got */
        bool failed;               /* an opening for which it has waited has failed */
};

/*
 * Wait until the borrowed connection is open, and start the task that opens it if necessary.
 * '*conn' changes if a slot of another connection is available earlier. After an error, give the
 * slot back, unless '*conn' is NULL: as reusable if the opening may continue for other requests.
 * 'fault' may be NULL.
 *
 * Suspends: yes.
 * Errors: those of eddy_tcp_connect(), and with https of eddy_tls_config_new() and
 *         eddy_tls_client(); EDDY_E_HTTP_CLIENT_CLOSED  the client was closed, or the run ends;
 *         -ENOMEM
 */
EDDY_MUST_USE int ed_http_conn_open(struct ed_http_conn **conn, struct eddy_http_fault *fault);

/* ---- connect.c -------------------------------------------------------------- */

/* Start the task that opens the connection. Errors: EDDY_E_HTTP_CLIENT_CLOSED, -ENOMEM. */
EDDY_MUST_USE int ed_http_connect_start(struct ed_http_conn *conn);

/* The default of the pool's 'connect'. */
int ed_http_connect(struct ed_http_conn *conn, struct eddy_http_fault *fault,
                    eddy_stream **ret_stream);

/*
 * Returns true if the client uses HTTP/2 with prior knowledge on the connection: only to http
 * origins, directly or through a tunnel.
 */
bool ed_http_speaks_prior(const struct ed_http_conn *conn);

/* After a wait that was cancelled: store that the host's addresses were being looked up, if so. */
void ed_http_conn_note_lookup(const struct ed_http_conn *conn, struct eddy_http_fault *fault);

/* ---- for the pool's files --------------------------------------------------- */

/* Returns a spare opening of an origin, to be lent. Returns NULL if none is left, or if it is slow. */
struct ed_http_conn *ed_http_opening_find(struct ed_http_origin *origin);

/* Stop the task that opens the connection. The task gives the connection back when it ends. */
void ed_http_opening_stop(struct ed_http_conn *conn);

/* Let the opening end: at its deadline, or, with 0, whenever it ends by itself. */
void ed_http_opening_set_deadline(struct ed_http_conn *conn, int64_t deadline_ns);

/* Returns true if the opening may hang. */
bool ed_http_opening_is_slow(const struct ed_http_conn *conn);

/*
 * Give a slot of the connection to the first task that waits to share. Returns the place that the
 * task has held, which is not lent now.
 */
struct ed_http_conn *ed_http_opening_grant(struct ed_http_conn *conn);

/* Wake the tasks that wait to share: the opening has failed, or may have. */
void ed_http_opening_wake(struct ed_http_origin *origin, bool failed);

#endif
