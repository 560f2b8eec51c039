/*
 * http/rate_limit.c - the middleware that limits the rate of each client's requests.
 *
 * A bucket (limit/bucket.h) of a client is two words in a table of fixed size: the hash of the client,
 * and the time at which the bucket is full. A client has its place among 8 by its hash. A new one
 * replaces the bucket that is full first, which is the one whose loss matters least. Several loops may
 * use a table: the words are atomic, and a race between two requests only counts one of them less.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "eddy/http_middleware.h"
#include "eddy/time.h"
#include "eddy/uuid.h"
#include "http/exchange.h"
#include "http/forwarded.h"
#include "http/problem.h"
#include "http/router.h"
#include "limit/bucket.h"

#define WINDOW_DEFAULT_NS EDDY_MIN(1)
#define WINDOW_MAX_NS     (EDDY_MIN(24 * 60) * 366)

enum {
        CLIENTS_DEFAULT = 65536,
        CLIENTS_MAX = 1 << 28,
        PLACES = 8, /* in which a client may be */
};

struct place {
        _Atomic uint64_t client; /* its hash */
        _Atomic int64_t full_ns;
};

struct rate_limit {
        struct ed_limit_bucket empty; /* its 'full_ns' is not used */
        eddy_http_rate_key_fn *key;
        void *key_arg;
        uint64_t seed;
        uint32_t groups; /* of PLACES */
        struct place places[];
};

/* ---- clients --------------------------------------------------------------- */

/* Store the hash of the client. Returns false if its requests have no limit. */
static bool find_client(const struct rate_limit *limit, eddy_http_exchange *exchange,
                        uint64_t *ret_client)
{
        char text[EDDY_HTTP_CLIENT_BYTES];
        const struct eddy_endpoint *client;
        const char *key;

        if (limit->key) {
                key = limit->key(exchange, limit->key_arg);
                if (key)
                        *ret_client = ed_hash_text(limit->seed, key);
                return key;
        }
        client = eddy_http_exchange_client(exchange);
        if (client->kind == EDDY_ENDPOINT_IP) {
                struct eddy_endpoint network = *client;

                network.port = 0;
                ed_http_address_unmap(&network.address);
                memset(network.address.bytes + 8, 0, 8); /* IPv4 has zeros there */
                eddy_endpoint_format(&network, text);
        } else {
                snprintf(text, sizeof(text), "unix");
        }
        *ret_client = ed_hash_text(limit->seed, text);
        return true;
}

/* Returns the client's place, or the one that it takes. */
static struct place *find_place(struct rate_limit *limit, uint64_t client)
{
        struct place *group = limit->places + (client % limit->groups) * PLACES, *oldest = group;

        for (size_t i = 0; i < PLACES; i++) {
                struct place *place = &group[i];

                if (atomic_load_explicit(&place->client, memory_order_relaxed) == client)
                        return place;
                if (atomic_load_explicit(&place->full_ns, memory_order_relaxed) <
                    atomic_load_explicit(&oldest->full_ns, memory_order_relaxed))
                        oldest = place;
        }
        atomic_store_explicit(&oldest->full_ns, 0, memory_order_relaxed);
        atomic_store_explicit(&oldest->client, client, memory_order_relaxed);
        return oldest;
}

/* Count a request. Returns 0, or the time until the client may send one. */
static int64_t count(struct rate_limit *limit, uint64_t client)
{
        struct place *place = find_place(limit, client);
        int64_t full_ns = atomic_load_explicit(&place->full_ns, memory_order_relaxed);
        const int64_t now_ns = eddy_now();
        struct ed_limit_bucket bucket;
        int64_t at_ns;

        do {
                bucket = limit->empty;
                bucket.full_ns = full_ns;
                at_ns = ed_limit_bucket_fits_ns(&bucket, 1, now_ns);
                if (at_ns > now_ns)
                        return at_ns - now_ns;
                ed_limit_bucket_take(&bucket, 1, now_ns);
        } while (!atomic_compare_exchange_weak_explicit(&place->full_ns, &full_ns, bucket.full_ns,
                                                        memory_order_relaxed,
                                                        memory_order_relaxed));
        return 0;
}

static int rate_limit(eddy_http_exchange *exchange, struct eddy_http_next *next, void *arg)
{
        int64_t wait_ns = 0;
        uint64_t client;
        char text[24];
        int err;

        if (find_client(arg, exchange, &client))
                wait_ns = count(arg, client);
        if (wait_ns == 0)
                return eddy_http_next(exchange, next);
        snprintf(text, sizeof(text), "%" PRId64, (wait_ns - 1) / EDDY_SEC(1) + 1);
        err = eddy_http_exchange_add_header(exchange, "Retry-After", text);
        return err < 0 ? err : ed_http_problem_respond(exchange, 429, NULL);
}

/* ---- building -------------------------------------------------------------- */

static uint64_t random_seed(void)
{
        struct eddy_uuid uuid;
        uint64_t seed;

        eddy_uuid_v4(&uuid);
        memcpy(&seed, uuid.bytes + 8, sizeof(seed));
        return seed;
}

int eddy_http_use_rate_limit(eddy_http_router *router, const struct eddy_http_rate_limit_opts *opts)
{
        const struct eddy_http_rate_limit_opts own =
                opts ? *opts : (struct eddy_http_rate_limit_opts){ .requests = 0 };
        const int64_t window_ns = own.window_ns ? own.window_ns : WINDOW_DEFAULT_NS;
        const uint32_t clients = own.clients_max ? own.clients_max : CLIENTS_DEFAULT;
        const uint32_t burst = own.burst ? own.burst : own.requests;
        struct rate_limit *limit;
        uint32_t groups;

        if (own.requests == 0 || burst > own.requests || window_ns < 0 ||
            window_ns > WINDOW_MAX_NS || clients > CLIENTS_MAX)
                return ed_http_router_failed(
                        router, -EINVAL,
                        "an option of eddy_http_use_rate_limit() is out of range: 'requests' is "
                        "above "
                        "0, 'burst' is at most 'requests', 'window_ns' is at most 366 days");
        groups = (clients - 1) / PLACES + 1;
        limit = ed_alloc_zero(sizeof(*limit) + groups * PLACES * sizeof(limit->places[0]));
        if (limit) {
                limit->empty.unit_ns = (double) window_ns / own.requests;
                limit->empty.room_ns = ed_limit_bucket_takes_ns(&limit->empty, burst);
                limit->key = own.key;
                limit->key_arg = own.key_arg;
                limit->seed = random_seed();
                limit->groups = groups;
        }
        return ed_http_router_use_own(router, rate_limit, limit, ed_free);
}
