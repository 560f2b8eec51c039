/*
 * http/pool.h - connections, by origin: who may open one, who gets one that
 * is idle, who waits.
 *
 * A connection is a slot first: it counts against both limits from before it
 * is connected until it is given back, whatever happens in between, and there
 * is no other count that could differ.  ed_http_pool_acquire() gives a slot to
 * one caller; ed_http_pool_release() takes it back on every path.
 *
 * An origin's waiters are served in the order they came.  A connection that
 * comes back goes to the first waiter of its own origin; but when it could be
 * closed in favour of another origin's waiter, that happens after it was
 * handed on ED_HTTP_HANDOVERS_MAX times, so that nobody starves and not every
 * exchange needs a new connection.  Origins whose waiters only lack a slot
 * take turns.
 *
 * A connection is checked before each request, also on its way from one
 * request straight to a waiter: one that the peer has closed, or has said
 * anything on, is closed.
 *
 * All is lists and one hash table: nothing here grows with the number of
 * connections or waiters.
 */
#ifndef ED_HTTP_POOL_H
#define ED_HTTP_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "eddy/scope.h"
#include "eddy/stream.h"
#include "loop/loop.h"
#include "wire/url.h"

enum { ED_HTTP_HANDOVERS_MAX = 8, ED_HTTP_BUCKETS_FIRST = 64 };

struct ed_http_pool {
        struct ed_loop *loop;
        uint32_t connections_max;
        uint32_t per_host_max;
        int64_t keepalive_ns;
        bool closed;
        uint32_t open; /* slots */
        uint32_t idle_count;
        uint32_t waiting;
        uint32_t handovers;    /* in a row, while another origin's waiter could have had the slot */
        uint64_t connections;  /* ever connected */
        struct ed_list idle;   /* all idle connections, latest first */
        struct ed_list busy;   /* all others */
        struct ed_list hungry; /* origins with waiters that lack nothing but a slot */
        struct ed_timer timer; /* for the oldest idle connection; none is armed for others */
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
        char authority[ED_URL_AUTHORITY_ROOM]; /* for Host */
        char host[ED_URL_HOST_MAX + 1];
};

struct ed_http_conn {
        struct ed_list link; /* among the pool's idle or busy ones */
        struct ed_list same; /* among the origin's idle ones */
        struct ed_http_pool *pool;
        struct ed_http_origin *origin;
        eddy_stream *stream;    /* NULL: not connected, or closed */
        eddy_scope *connecting; /* around a connect that is under way */
        int64_t idle_since_ns;
        bool reused; /* it has carried an exchange before */
};

/* Errors: -ENOMEM. */
int ed_http_pool_init(struct ed_http_pool *pool, struct ed_loop *loop);

/*
 * Close all: waiters and connects under way are ended, streams closed; what
 * their tasks get is EDDY_E_HTTP_CLIENT_CLOSED.  Slots that are held are still
 * to be released.
 */
void ed_http_pool_close(struct ed_http_pool *pool);

/* Free what is left, after close and the last release. */
void ed_http_pool_fini(struct ed_http_pool *pool);

/*
 * Get a slot for the URL's origin: a connection that is open and silent, or
 * one that is to be connected (its stream is NULL); waits for one if need be.
 *
 * Suspends: yes.
 * Errors: EDDY_E_HTTP_CLIENT_CLOSED, -ECANCELED, -ENOMEM; no slot is held then.
 */
EDDY_MUST_USE int ed_http_pool_acquire(struct ed_http_pool *pool, const struct ed_url *url,
                                       struct ed_http_conn **ret_conn);

/*
 * Connect the slot.  A time limit that passes is EDDY_E_NET_TIMED_OUT; 0: none.
 *
 * Suspends: yes.
 * Errors: those of eddy_tcp_connect(); EDDY_E_HTTP_CLIENT_CLOSED
 */
EDDY_MUST_USE int ed_http_conn_connect(struct ed_http_conn *conn, int64_t timeout_ns);

/* Close its stream; the slot stays. */
void ed_http_conn_disconnect(struct ed_http_conn *conn);

/*
 * Give the slot back.  'reusable' says that the exchange on its stream is
 * provably over; else the stream is closed.
 */
void ed_http_pool_release(struct ed_http_conn *conn, bool reusable);

#endif
