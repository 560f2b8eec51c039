/*
 * http/pool.h - connections by origin: limits on open ones, reuse of idle ones, and waiters.
 *
 * The pool lends slots: the right to one exchange on a connection. A connection of HTTP/1 has one
 * slot. A connection counts against both limits from before it is opened until it is freed, whatever
 * happens in between, and no other counter exists that could differ. ed_http_pool_acquire() lends a
 * slot to one caller; ed_http_pool_release() takes it back on every path.
 *
 * A task of the client opens a connection (http/connect.c). If the borrower gives the slot back
 * before the connection is open, the opening continues for the next waiter of the origin, or as a
 * spare, which is used like an idle connection. After a second it may hang and is not lent any
 * more: the next borrower opens a connection of its own. A spare opening ends when a borrower needs
 * its place, or when it has taken the time of an idle connection.
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

#include "base/hash_table.h"
#include "base/list.h"
#include "eddy/http_request.h"
#include "eddy/lock.h"
#include "eddy/scope.h"
#include "eddy/stream.h"
#include "eddy/tls.h"
#include "http/protocol.h"
#include "loop/member.h"
#include "wire/url.h"

enum { ED_HTTP_HANDOVERS_MAX = 8 };

struct ed_http_pool {
        struct ed_member member;
        eddy_tls_config *tls; /* one reference: openings outlive the client; NULL: 'made_tls' */
        eddy_tls_config *made_tls; /* owned; made for the first https connection */
        eddy_lock making_tls;      /* held while 'made_tls' is made */
        uint32_t connections_max;
        uint32_t per_host_max;
        int64_t idle_timeout_ns;
        bool closed;
        uint32_t open;   /* connections, including those being opened */
        uint32_t in_use; /* connections with a lent slot */
        uint32_t idle_count;
        uint32_t waiting;
        uint32_t handovers;           /* consecutive hand-overs despite another origin's waiter */
        uint64_t connections;         /* connections ever made */
        struct ed_list idle;          /* all idle connections, latest first */
        struct ed_list spare;         /* openings without a borrower, latest first */
        struct ed_list busy;          /* all others */
        struct ed_list hungry;        /* origins whose waiters lack only a slot */
        struct ed_timer timer;        /* for the connection that has been idle longest */
        struct ed_hash_table origins; /* by key */
        uint64_t seed;                /* of their hashes */
};

/*
 * All that a connection depends on: requests whose keys differ never share one. A new option that
 * changes the peer, or what is verified about the peer, becomes a field here and is compared by
 * ed_http_key_equal().
 */
struct ed_http_key {
        const char *host;     /* in lower case; ends in a NUL */
        eddy_tls_config *tls; /* the request's own; NULL: the client's */
        uint16_t host_bytes;
        uint16_t port;
        bool is_https;
};

/* Returns the key of a URL, whose host it borrows. */
static inline struct ed_http_key ed_http_key_of(const struct ed_url *url, eddy_tls_config *tls)
{
        return (struct ed_http_key){
                .host = url->host,
                .tls = url->is_https ? tls : NULL,
                .host_bytes = url->host_bytes,
                .port = url->port,
                .is_https = url->is_https,
        };
}

/* Lives as long as it has connections or waiters. */
struct ed_http_origin {
        struct ed_hash_node node;
        struct ed_list hungry;
        struct ed_list idle;  /* connections, latest first */
        struct ed_list spare; /* openings without a borrower, latest first */
        struct ed_list waiters;
        uint32_t open;
        uint32_t waiting;
        struct ed_http_key key; /* refers to 'host', and to 'tls' with a reference */
        char host[ED_URL_HOST_MAX + 1];
};

/* A borrower that waits for its connection to be opened; on the stack of its task. */
struct ed_http_opening {
        struct ed_task *task;
        int err;
        struct eddy_http_fault *fault; /* filled in on failure; may be NULL */
};

struct ed_http_conn {
        struct ed_list link; /* in the pool's list of idle, spare or busy connections */
        struct ed_list same; /* in the origin's list of idle or spare connections */
        struct ed_http_pool *pool;
        struct ed_http_origin *origin;
        eddy_stream *stream;                     /* NULL: not connected, or closed */
        const struct ed_http_protocol *protocol; /* of the stream; NULL before the first */
        bool opening;                            /* a task opens the connection, and will end */
        bool unwanted;                           /* that task is to stop */
        eddy_scope *connecting;                  /* that task's scope, once the task runs */
        struct ed_http_opening *borrower;        /* waits for that task; NULL: none waits */
        const char *naming;                  /* the host that this task has a lookup for, or NULL */
        const struct ed_found *found;        /* its addresses that are known, or NULL */
        int64_t began_ns;                    /* when that task was started */
        int64_t give_up_ns;                  /* deadline of a spare opening; 0: none */
        int64_t name_ns, connect_ns, tls_ns; /* durations of the opening; -1: not done */
        struct eddy_endpoint peer;
        int64_t idle_since_ns;
        int64_t idle_max_ns; /* as long as the peer keeps it; the pool's time if that is shorter */
        uint32_t slots;      /* exchanges that the connection can carry at once */
        uint32_t lent;       /* slots in use */
        bool reused;         /* has carried an exchange or been idle before: may be stale */
};

void ed_http_pool_init(struct ed_http_pool *pool, struct ed_loop *loop);

/*
 * Close the pool: end waits and connects in progress and close all streams. The tasks concerned get
 * EDDY_E_HTTP_CLIENT_CLOSED. Slots in use must still be released.
 */
void ed_http_pool_close(struct ed_http_pool *pool);

/* Free the rest, after close and the last release. */
void ed_http_pool_fini(struct ed_http_pool *pool);

/* Returns true if a connection for one key may carry a request with the other. */
bool ed_http_key_equal(const struct ed_http_key *a, const struct ed_http_key *b);

/*
 * Borrow a slot for the key: on an open and silent connection, or on one that is still to be opened
 * or is being opened (its stream is NULL). Waits for a slot if necessary. '*now_ns' is the time of
 * the call, and after a wait the time of its end.
 *
 * Suspends: yes.
 * Errors: EDDY_E_HTTP_CLIENT_CLOSED, -ECANCELED, -ENOMEM; no slot is held then.
 */
EDDY_MUST_USE int ed_http_pool_acquire(struct ed_http_pool *pool, const struct ed_http_key *key,
                                       int64_t *now_ns, struct ed_http_conn **ret_conn);

/*
 * Wait until a task of the client has opened the connection, and start that task if necessary.
 * After an error, give the slot back: as reusable if the opening may continue for other requests.
 * 'fault' may be NULL.
 *
 * Suspends: yes.
 * Errors: those of eddy_tcp_connect(), and with https of eddy_tls_config_new() and
 *         eddy_tls_client(); EDDY_E_HTTP_CLIENT_CLOSED  the client was closed, or the run ends
 */
EDDY_MUST_USE int ed_http_conn_open(struct ed_http_conn *conn, struct eddy_http_fault *fault);

/* After a wait that was cancelled: store that the host's addresses were being looked up, if so. */
void ed_http_conn_note_lookup(const struct ed_http_conn *conn, struct eddy_http_fault *fault);

/* Close the connection's stream, but keep the slot. */
void ed_http_conn_disconnect(struct ed_http_conn *conn);

/*
 * Give the slot back. 'reusable' means that the connection is being opened, or that the exchange on
 * its stream is provably over; otherwise the connection is closed.
 */
void ed_http_pool_release(struct ed_http_conn *conn, bool reusable);

/* ---- for connect.c ---------------------------------------------------------- */

/* The task that opens the connection has ended. Give the connection to its borrower or the pool. */
void ed_http_conn_opened(struct ed_http_conn *conn, int err, const struct eddy_http_fault *fault);

#endif
