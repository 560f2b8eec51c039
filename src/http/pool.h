/*
 * http/pool.h - connections by origin: limits on open ones, reuse of idle ones, and waiters.
 *
 * A connection is first of all a slot: it counts against both limits from before it is connected
 * until it is given back, whatever happens in between, and no other counter exists that could
 * differ. ed_http_pool_acquire() gives a slot to one caller; ed_http_pool_release() takes it back
 * on every path.
 *
 * An origin's waiters are served in order of arrival. A returned connection goes to the first
 * waiter of its own origin. If another origin's waiter could use the slot, the connection is closed
 * for that waiter after ED_HTTP_HANDOVERS_MAX such hand-overs. No origin starves, and most
 * exchanges need no new connection. Origins whose waiters lack only a slot take turns.
 *
 * A connection is checked before each request, even if it goes straight from one request to a
 * waiter: if the peer has closed it or has sent anything, it is closed.
 *
 * The pool consists of lists and one hash table, so no operation slows down with the number of
 * connections or waiters.
 */
#ifndef ED_HTTP_POOL_H
#define ED_HTTP_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "eddy/scope.h"
#include "eddy/stream.h"
#include "eddy/tls.h"
#include "loop/loop.h"
#include "wire/url.h"

enum { ED_HTTP_HANDOVERS_MAX = 8, ED_HTTP_BUCKETS_FIRST = 64 };

struct ed_http_pool {
        struct ed_loop *loop;
        eddy_tls_config *tls;      /* borrowed; NULL: 'made_tls' */
        eddy_tls_config *made_tls; /* owned; made for the first https connection */
        uint32_t connections_max;
        uint32_t per_host_max;
        int64_t keepalive_ns;
        bool closed;
        uint32_t open; /* slots */
        uint32_t idle_count;
        uint32_t waiting;
        uint32_t handovers;    /* consecutive hand-overs despite another origin's waiter */
        uint64_t connections;  /* connections ever made */
        struct ed_list idle;   /* all idle connections, latest first */
        struct ed_list busy;   /* all others */
        struct ed_list hungry; /* origins whose waiters lack only a slot */
        struct ed_timer timer; /* for the connection that has been idle longest */
        struct ed_list *buckets;
        uint32_t buckets_count; /* a power of two */
        uint32_t origins;
        uint64_t seed;
};

/* Lives as long as it has connections or waiters. */
struct ed_http_origin {
        struct ed_list link; /* in its bucket */
        struct ed_list hungry;
        struct ed_list idle; /* connections, latest first */
        struct ed_list waiters;
        uint64_t hash;
        uint32_t open;
        uint32_t waiting;
        uint16_t port;
        bool is_https;
        uint16_t host_bytes;
        uint16_t authority_bytes;
        char authority[ED_URL_AUTHORITY_ROOM]; /* value of the Host field */
        char host[ED_URL_HOST_MAX + 1];
};

struct ed_http_conn {
        struct ed_list link; /* in the pool's list of idle or busy connections */
        struct ed_list same; /* in the origin's list of idle connections */
        struct ed_http_pool *pool;
        struct ed_http_origin *origin;
        eddy_stream *stream;    /* NULL: not connected, or closed */
        eddy_scope *connecting; /* scope of a connect in progress */
        int64_t idle_since_ns;
        bool reused; /* has carried an exchange before */
};

/* Errors: -ENOMEM. */
int ed_http_pool_init(struct ed_http_pool *pool, struct ed_loop *loop);

/*
 * Close the pool: end waits and connects in progress and close all streams. The tasks concerned get
 * EDDY_E_HTTP_CLIENT_CLOSED. Slots in use must still be released.
 */
void ed_http_pool_close(struct ed_http_pool *pool);

/* Free the rest, after close and the last release. */
void ed_http_pool_fini(struct ed_http_pool *pool);

/*
 * Get a slot for the URL's origin: an open and silent connection, or a slot still to be connected
 * (its stream is NULL). Waits for a slot if necessary.
 *
 * Suspends: yes.
 * Errors: EDDY_E_HTTP_CLIENT_CLOSED, -ECANCELED, -ENOMEM; no slot is held then.
 */
EDDY_MUST_USE int ed_http_pool_acquire(struct ed_http_pool *pool, const struct ed_url *url,
                                       struct ed_http_conn **ret_conn);

/*
 * Connect the slot. Returns EDDY_E_NET_TIMED_OUT if the time limit passes; 0: no limit. 'fault' may
 * be NULL.
 *
 * Suspends: yes.
 * Errors: those of eddy_tcp_connect(), and with https of eddy_tls_config_new() and
 *         eddy_tls_client(); EDDY_E_HTTP_CLIENT_CLOSED
 */
EDDY_MUST_USE int ed_http_conn_connect(struct ed_http_conn *conn, int64_t timeout_ns,
                                       struct eddy_tls_fault *fault);

/* Close the slot's stream, but keep the slot. */
void ed_http_conn_disconnect(struct ed_http_conn *conn);

/*
 * Give the slot back. 'reusable' means that the exchange on its stream is provably over; otherwise
 * the stream is closed.
 */
void ed_http_pool_release(struct ed_http_conn *conn, bool reusable);

#endif
