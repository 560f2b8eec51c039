/*
 * http/pool.h - connections by origin: limits on open ones, reuse of idle ones, and waiters.
 *
 * The pool lends slots: the right to one exchange on a connection (http/conn.h). A connection counts
 * against both limits from before it is opened until it is freed, whatever happens in between, and
 * no other counter exists that could differ. ed_http_pool_acquire() lends a slot to one caller;
 * ed_http_pool_release() takes it back on every path.
 *
 * A slot comes from the fullest connection of the origin that has a free one, or else from the
 * latest idle connection, or else from a new connection. A task of the client opens a connection
 * (http/opening.h, http/connect.c).
 *
 * An origin's waiters are served in order of arrival. A returned slot goes to the first waiter of
 * its own origin. If another origin's waiter could use the place of the connection, the connection
 * lends no more than ED_HTTP_HANDOVERS_MAX times its slots, and is then closed for that waiter. No
 * origin starves, and most exchanges need no new connection. Origins whose waiters lack only a place
 * take turns.
 *
 * A connection of HTTP/1 is checked before each request, even if it goes straight from one request
 * to a waiter: if the peer has closed it or has sent anything, the pool closes it.
 *
 * The pool consists of lists and one hash table. No operation slows down with the number of
 * waiters, idle connections or connections in use.
 */
#ifndef ED_HTTP_POOL_H
#define ED_HTTP_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash_table.h"
#include "base/list.h"
#include "eddy/lock.h"
#include "eddy/stream.h"
#include "eddy/tls.h"
#include "http/conn.h"
#include "http/key.h"
#include "loop/member.h"

enum { ED_HTTP_HANDOVERS_MAX = 8 };

/*
 * Connect to the connection's origin, with the handshake of TLS if it has one, and set conn->protocol.
 * Suspends. Errors: those of ed_http_conn_open().
 */
typedef int ed_http_connect_fn(struct ed_http_conn *conn, struct eddy_http_fault *fault,
                               eddy_stream **ret_stream);

struct ed_http_pool {
        struct ed_member member;
        eddy_tls_config *tls; /* one reference: openings outlive the client; NULL: 'made_tls' */
        eddy_tls_config *made_tls; /* owned; made for the first https connection */
        eddy_lock making_tls;      /* held while 'made_tls' is made */
        ed_http_connect_fn *connect;
        bool closed;
        uint32_t connections_max;
        uint32_t per_host_max;
        uint32_t idle_max; /* 0: connections_max */
        int64_t idle_timeout_ns;
        uint32_t open;   /* connections, including those being opened */
        uint32_t in_use; /* connections with a lent slot */
        uint32_t idle_count;
        uint32_t waiting;
        uint32_t handovers;           /* slots lent one after another despite a hungry origin */
        uint64_t connections;         /* connections ever made */
        struct ed_list idle;          /* all idle connections, latest first */
        struct ed_list spare;         /* openings without a borrower, latest first */
        struct ed_list busy;          /* all others */
        struct ed_list hungry;        /* origins whose waiters lack only a place */
        struct ed_timer timer;        /* for the connection that has been idle longest */
        struct ed_hash_table origins; /* by key */
        uint64_t seed;                /* of their hashes */
};

void ed_http_pool_init(struct ed_http_pool *pool, struct ed_loop *loop);

/*
 * Close the pool: end waits and connects in progress and close all streams. The tasks concerned get
 * EDDY_E_HTTP_CLIENT_CLOSED. Slots in use must still be released.
 */
void ed_http_pool_close(struct ed_http_pool *pool);

/* Free the rest, after close and the last release. */
void ed_http_pool_fini(struct ed_http_pool *pool);

/*
 * Borrow a slot for the key: on a usable connection, or on one that is still to be opened or is
 * being opened (its stream is NULL). Waits for a slot if necessary. '*now_ns' is the time of the
 * call, and after a wait the time of its end.
 *
 * Suspends: yes.
 * Errors: EDDY_E_HTTP_CLIENT_CLOSED, -ECANCELED, -ENOMEM; no slot is held then.
 */
EDDY_MUST_USE int ed_http_pool_acquire(struct ed_http_pool *pool, const struct ed_http_key *key,
                                       int64_t *now_ns, struct ed_http_conn **ret_conn);

/*
 * Give the slot back. 'reusable' means that the connection is being opened, or that the exchange on
 * its stream is provably over; otherwise the connection drains.
 */
void ed_http_pool_release(struct ed_http_conn *conn, bool reusable);

/*
 * Give the connection up, but keep its place. Returns false if other slots of it are lent: the
 * connection drains then, and the caller's slot has been given back.
 */
EDDY_MUST_USE bool ed_http_conn_renew(struct ed_http_conn *conn);

/*
 * Exchange a place for a free slot of an open connection of the same origin. Returns false if the
 * origin has none.
 */
EDDY_MUST_USE bool ed_http_conn_swap(struct ed_http_conn **conn);

/* ---- for the pool's files --------------------------------------------------- */

/* The task that opens the connection has ended. Give the connection to its borrower or the pool. */
void ed_http_conn_opened(struct ed_http_conn *conn, int err, const struct eddy_http_fault *fault);

/* The pool's timer: close connections that have been idle for their time. */
void ed_http_pool_expire(struct ed_timer *timer);

#endif
