/*
 * redis/pool.c - dedicated clients in a pool: each is a client with one connection.
 *
 * The client that the pool was made from, the origin, provides the options and the TLS configuration.
 * The pool has a reference to the origin, because openings may outlive the call that closes the pool.
 */
#include <string.h>

#include "eddy/error.h"
#include "eddy/time.h"
#include "redis/redis.h"

#define FIRST_PAUSE_NS EDDY_MS(5)

/*
 * Note whether the server can be used. A server that accepts a connection and then closes it cannot:
 * only a reply counts. After a failure, connections are opened with pauses.
 */
static void note(eddy_redis *origin, bool has_failed)
{
        int64_t next_ns = ed_loop_now(origin->member.loop) + FIRST_PAUSE_NS;

        if (has_failed && !origin->has_pool_failed && origin->pool_pace.next_ns < next_ns)
                origin->pool_pace = (struct ed_redis_pace){ .next_ns = next_ns };
        origin->has_pool_failed = has_failed;
}

static int item_connect(eddy_redis *origin, eddy_redis *item)
{
        int err = 0;

        if (origin->has_pool_failed)
                err = ed_redis_pace(origin->member.loop, &origin->pool_pace);
        if (err == 0)
                err = ed_redis_connect(item, &item->link);
        if (err < 0)
                note(origin, true);
        else if (item->stats.replies > 0)
                note(origin, false);
        return err;
}

static int item_open(void *arg, void **ret_item)
{
        eddy_redis *origin = arg, *item;
        int err;

        ed_redis_fault_clear(&origin->fault);
        if (origin->is_closed)
                return EDDY_E_REDIS_CLOSED;
        item = ed_redis_clone(origin);
        if (!item)
                return -ENOMEM;
        if (!item->opts.tls && item->target.is_tls) {
                /* All connections of a pool share one configuration, which has their sessions. */
                err = origin->made_tls ? 0 : eddy_tls_config_new(NULL, NULL, &origin->made_tls);
                if (err < 0) {
                        eddy_redis_close(item);
                        return err;
                }
                item->opts.tls = origin->made_tls;
        }
        err = item_connect(origin, item);
        if (err < 0) {
                origin->fault = item->attempt_fault;
                eddy_redis_close(item);
                return err;
        }
        item->was_connected = true;
        item->stats.connects++;
        *ret_item = item;
        return 0;
}

static void item_close(void *arg, void *item)
{
        const eddy_redis *redis = item;

        if (redis->stats.lost > 0 && !redis->was_cancelled)
                note(arg, true);
        eddy_redis_close(item);
}

static void item_fault(void *arg, struct eddy_pool_fault *ret_fault)
{
        const struct eddy_redis_fault *fault = &((const eddy_redis *) arg)->fault;

        _Static_assert(sizeof(ret_fault->code) >= sizeof(fault->code) &&
                               sizeof(ret_fault->text) >= sizeof(fault->text),
                       "they are not cut");
        memcpy(ret_fault->code, fault->code, sizeof(fault->code));
        memcpy(ret_fault->text, fault->text, sizeof(fault->text));
}

static int item_check(void *arg, void *item)
{
        const eddy_redis *redis = item;

        if (redis->is_closed || !redis->link || redis->link->err < 0 || redis->is_spoiled ||
            !ed_redis_link_is_idle(redis->link) || eddy_stream_is_readable(redis->link->stream))
                return EDDY_POOL_BROKEN;
        if (redis->stats.replies > 0)
                note(arg, false);
        return redis->is_changed ? EDDY_POOL_USED : EDDY_POOL_READY;
}

static int item_ping(void *arg, void *item)
{
        (void) arg;
        return eddy_redis_command(item, NULL, "PING");
}

/* End a transaction, which also forgets watched keys, and return to the database. */
static int item_reset(void *arg, void *item)
{
        eddy_redis *redis = item;
        int err;

        (void) arg;
        err = eddy_redis_command(redis, NULL, "DISCARD");
        if (err == EDDY_E_REDIS_ERROR) /* no transaction */
                err = eddy_redis_command(redis, NULL, "UNWATCH");
        if (err == 0)
                err = eddy_redis_command(redis, NULL, "SELECT %u", redis->target.database);
        redis->is_changed = false;
        return err;
}

static void release(void *arg)
{
        ed_redis_unref(arg);
}

int eddy_redis_pool_new(eddy_redis *redis, const struct eddy_pool_opts *opts, eddy_pool **ret_pool)
{
        static const struct eddy_pool_ops ops = { .open = item_open,
                                                  .close = item_close,
                                                  .reset = item_reset,
                                                  .ping = item_ping,
                                                  .check = item_check,
                                                  .release = release,
                                                  .fault = item_fault };
        struct eddy_pool_opts own = opts ? *opts : (struct eddy_pool_opts){ .size = 0 };
        int err;

        if (!redis || !ret_pool)
                return -EINVAL;
        if (redis->is_closed)
                return EDDY_E_REDIS_CLOSED;
        err = ed_member_check(&redis->member);
        if (err < 0)
                return err;
        own.ops = &ops;
        own.arg = redis;
        err = eddy_pool_new(&own, ret_pool);
        if (err == 0)
                ed_redis_ref(redis);
        return err;
}
