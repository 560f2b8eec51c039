/*
 * http/conn.h - a connection of a pool: its slots, its state, and the operations of its protocol.
 *
 * A slot is the right to one exchange. The number of slots belongs to the protocol and can change at
 * any time, also below the number of slots that are lent: the connection then lends none until
 * enough have come back. A connection that drains (its peer has announced the end, or an exchange
 * has spoiled it) lends no more slots, and is closed when the last one comes back. A stream is
 * therefore closed only when no slot of it is lent, except when the pool is closed.
 */
#ifndef ED_HTTP_CONN_H
#define ED_HTTP_CONN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "eddy/endpoint.h"
#include "eddy/http_request.h"
#include "eddy/scope.h"
#include "eddy/stream.h"
#include "http/protocol.h"

struct ed_found;
struct ed_http_conn;
struct ed_http_origin;
struct ed_http_pool;

enum { ED_HTTP_SLOTS_MAX = 100 }; /* of any connection, whatever the peer allows */

enum ed_http_conn_state {
        ED_HTTP_CONN_PLACE,    /* not open: its borrower will open it, or its opening is to stop */
        ED_HTTP_CONN_OPENING,  /* a task opens it for its borrower */
        ED_HTTP_CONN_SPARE,    /* a task opens it without a borrower */
        ED_HTTP_CONN_IDLE,     /* open; no slot is lent */
        ED_HTTP_CONN_OPEN,     /* some slots are lent, and some are free */
        ED_HTTP_CONN_FULL,     /* no slot is free */
        ED_HTTP_CONN_DRAINING, /* it is closed when the last slot comes back */
        ED_HTTP_CONN_STATES,
};

/* The operations of a protocol on a connection. Each may be NULL if it has nothing to do. */
struct ed_http_conn_ops {
        /*
         * Begin the protocol on a new stream, in the task that opens the connection: make
         * conn->session, and set the slots if they differ from the protocol's. After an error the
         * caller closes the stream. Suspends.
         */
        int (*begin)(struct ed_http_conn *conn, eddy_stream *stream);

        /*
         * Free the session. The stream is closed next. If slots are lent, the pool has been closed:
         * their exchanges fail with EDDY_E_HTTP_CLIENT_CLOSED.
         */
        void (*end)(struct ed_http_conn *conn);

        /* Returns false if the connection cannot carry another request. */
        bool (*is_usable)(const struct ed_http_conn *conn);

        /* The connection becomes idle, or is not idle any more. An error closes the connection. */
        int (*idle_begin)(struct ed_http_conn *conn);
        void (*idle_end)(struct ed_http_conn *conn);
};

extern const struct ed_http_conn_ops ed_http1_conn_ops;

/* A borrower that waits for its connection to be opened; on the stack of its task. */
struct ed_http_opening {
        struct ed_task *task;
        int err;
        struct eddy_http_fault *fault; /* filled in on failure; may be NULL */
};

struct ed_http_conn {
        struct ed_list link; /* in the pool's list of idle, spare or busy connections */
        struct ed_list same; /* in the origin's list of connections with this state */
        enum ed_http_conn_state state;
        struct ed_http_pool *pool;
        struct ed_http_origin *origin;
        eddy_stream *stream;                     /* NULL: not connected, or closed */
        const struct ed_http_protocol *protocol; /* of the stream; NULL before the first */
        void *session;                           /* the protocol's own */
        bool opening;                            /* a task opens the connection, and will end */
        bool unwanted;                           /* that task is to stop */
        bool draining;                           /* lends no more slots */
        bool reused;                      /* has carried an exchange or been idle: may be stale */
        eddy_scope *connecting;           /* that task's scope, once the task runs */
        struct ed_http_opening *borrower; /* waits for that task; NULL: none waits */
        const char *naming;               /* the host that this task has a lookup for, or NULL */
        const struct ed_found *found;     /* its addresses that are known, or NULL */
        int64_t began_ns;                 /* when that task was started */
        int64_t give_up_ns;               /* deadline of a spare opening; 0: none */
        int64_t name_ns, connect_ns, tls_ns; /* durations of the opening; -1: not done */
        struct eddy_endpoint peer;
        int64_t idle_since_ns;
        int64_t idle_max_ns; /* as long as the peer keeps it; the pool's time if that is shorter */
        uint32_t slots;      /* exchanges that the connection can carry at once */
        uint32_t lent;       /* slots in use */
};

/* ---- for protocols ---------------------------------------------------------- */

/*
 * Set the number of slots; more than ED_HTTP_SLOTS_MAX count as that number. Waiters get new slots
 * at once. An idle connection without slots is closed, which calls ops->end().
 */
void ed_http_conn_set_slots(struct ed_http_conn *conn, uint32_t slots);

/*
 * Lend no more slots, and close the connection when the last one comes back. An idle connection
 * is closed at once, which calls ops->end().
 */
void ed_http_conn_drain(struct ed_http_conn *conn);

/* ---- for the pool's files --------------------------------------------------- */

/* Make a connection of 'origin', not open yet. The caller has checked the limits. */
EDDY_MUST_USE int ed_http_conn_new(struct ed_http_origin *origin, struct ed_http_conn **ret_conn);

/* Close and free a connection whose slots are not lent. */
void ed_http_conn_free(struct ed_http_conn *conn);

/* Close the connection's stream, but keep the place. */
void ed_http_conn_disconnect(struct ed_http_conn *conn);

/* Close the connection, whose slots are not lent, and let an origin have its place. */
void ed_http_conn_move(struct ed_http_conn *conn, struct ed_http_origin *origin);

/* Lend a slot. Returns the connection. */
struct ed_http_conn *ed_http_conn_lend(struct ed_http_conn *conn);

/* Move the connection to the lists of its state, after any change. */
void ed_http_conn_sort(struct ed_http_conn *conn);

/* Returns true if the connection is open and can carry another request. */
bool ed_http_conn_is_usable(const struct ed_http_conn *conn);

/* Keep a connection whose slots are not lent. May free the connection. */
void ed_http_conn_idle_put(struct ed_http_conn *conn);

/* End the idle time of a connection, which the caller lends, moves or frees next. */
void ed_http_conn_idle_take(struct ed_http_conn *conn);

/*
 * Returns the latest usable idle connection of an origin, to be lent. Unusable connections are
 * closed. If all are closed, returns the place of the last one. Returns NULL if none is idle.
 */
struct ed_http_conn *ed_http_conn_idle_find(struct ed_http_origin *origin, int64_t now_ns);

#endif
