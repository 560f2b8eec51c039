/*
 * http/pool_origin.c - the origins of a pool: found by key, and in turn if they lack a place.
 */
#include "http/pool_origin.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "http/pool.h"
#include "tls/config.h"

/* A field that is added to the key must be added to ed_http_key_equal() too. */
_Static_assert(sizeof(struct ed_http_key) == 2 * sizeof(void *) + 8,
               "ed_http_key_equal() does not compare a new field");

bool ed_http_key_equal(const struct ed_http_key *a, const struct ed_http_key *b)
{
        return a->port == b->port && a->is_https == b->is_https && a->tls == b->tls &&
               a->only_http1 == b->only_http1 && a->host_bytes == b->host_bytes &&
               memcmp(a->host, b->host, a->host_bytes) == 0;
}

static uint64_t hash_of(const struct ed_http_pool *pool, const struct ed_http_key *key)
{
        uint64_t hash = ed_hash(pool->seed ^ key->port ^ ((uint64_t) key->is_https << 32),
                                key->host, key->host_bytes);

        return hash ^ (hash >> 29);
}

static int origin_new(struct ed_http_pool *pool, const struct ed_http_key *key, uint64_t hash,
                      struct ed_http_origin **ret_origin)
{
        struct ed_http_origin *origin = ed_alloc_zero(sizeof(*origin));

        if (!origin)
                return -ENOMEM;
        origin->pool = pool;
        ed_list_init(&origin->hungry);
        for (int i = 0; i < ED_HTTP_CONN_STATES; i++)
                ed_list_init(&origin->conns[i]);
        ed_list_init(&origin->waiters);
        ed_list_init(&origin->sharers);
        origin->key = *key;
        memcpy(origin->host, key->host, (size_t) key->host_bytes + 1);
        origin->key.host = origin->host;
        /* The reference keeps another configuration from getting the same address. */
        if (key->tls)
                ed_tls_config_ref(key->tls);
        ed_hash_table_add(&pool->origins, &origin->node, hash);
        *ret_origin = origin;
        return 0;
}

int ed_http_origin_find(struct ed_http_pool *pool, const struct ed_http_key *key,
                        struct ed_http_origin **ret_origin)
{
        uint64_t hash = hash_of(pool, key);

        ed_hash_each (node, &pool->origins, hash) {
                struct ed_http_origin *origin = ed_container_of(node, struct ed_http_origin, node);

                if (ed_http_key_equal(&origin->key, key)) {
                        *ret_origin = origin;
                        return 0;
                }
        }
        return origin_new(pool, key, hash, ret_origin);
}

void ed_http_origin_changed(struct ed_http_origin *origin)
{
        struct ed_http_pool *pool = origin->pool;
        bool hungry = origin->waiting > 0 && origin->open < pool->per_host_max;

        if (!hungry)
                ed_list_remove(&origin->hungry);
        else if (ed_list_is_empty(&origin->hungry))
                ed_list_push_back(&pool->hungry, &origin->hungry);
        if (origin->open == 0 && origin->waiting == 0) {
                ed_hash_table_remove(&pool->origins, &origin->node);
                eddy_tls_config_close(origin->key.tls);
                ed_free(origin);
        }
}

struct ed_http_origin *ed_http_origin_hungry(const struct ed_http_pool *pool,
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
