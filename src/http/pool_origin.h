/*
 * http/pool_origin.h - the origins of a pool: connections and waiters with the same key.
 */
#ifndef ED_HTTP_POOL_ORIGIN_H
#define ED_HTTP_POOL_ORIGIN_H

#include "base/hash_table.h"
#include "base/list.h"
#include "http/conn.h"
#include "http/key.h"

struct ed_http_pool;

/* Slots of the latest opened connection of an origin. */
enum ed_http_origin_kind {
        ED_HTTP_ORIGIN_UNKNOWN,
        ED_HTTP_ORIGIN_SINGLE, /* its connections have one slot */
        ED_HTTP_ORIGIN_MANY,
};

/* Lives as long as it has connections or waiters. */
struct ed_http_origin {
        struct ed_hash_node node;
        struct ed_http_pool *pool;
        struct ed_list hungry;
        struct ed_list conns[ED_HTTP_CONN_STATES]; /* connections by state */
        struct ed_list waiters;                    /* for a slot or a place */
        struct ed_list sharers;                    /* for an opening of this origin */
        uint32_t open;
        uint32_t openings; /* of these, being opened, with a borrower or as a spare */
        uint32_t waiting;
        uint32_t sharing;
        enum ed_http_origin_kind kind;
        uint32_t slots;         /* of the latest connection with many */
        struct ed_http_key key; /* refers to 'host', and to 'tls' with a reference */
        char host[ED_URL_HOST_MAX + 1];
};

/* Find or make the origin of a key. Errors: -ENOMEM. */
EDDY_MUST_USE int ed_http_origin_find(struct ed_http_pool *pool, const struct ed_http_key *key,
                                      struct ed_http_origin **ret_origin);

/*
 * Call this whenever the number of an origin's connections or waiters changes: an origin with
 * neither is freed.
 */
void ed_http_origin_changed(struct ed_http_origin *origin);

/* Returns the next origin that lacks only a place in the pool, other than 'but', or NULL. */
struct ed_http_origin *ed_http_origin_hungry(const struct ed_http_pool *pool,
                                             const struct ed_http_origin *but);

#endif
