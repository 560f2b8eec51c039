/*
 * Clients, subscribers, pools and loans of Redis that outlive their run, or are used in the run of another
 * thread.
 */
#include "../../outlived.h"
#include "eddy/pool.h"
#include "eddy/redis_pubsub.h"
#include "redis_test.h"

static struct redis_server server;

/* --- a client --- */

static eddy_redis *client_with(uint16_t flags)
{
        struct eddy_redis_opts opts = { .url = server.url, .flags = flags };
        eddy_redis *redis;

        CHECK_EQ(eddy_redis_new(&opts, &redis), 0);
        CHECK_EQ(eddy_redis_command(redis, NULL, "PING"), 0);
        return redis;
}

static void *make_client(void)
{
        return client_with(0);
}

static void *make_dedicated(void)
{
        return client_with(EDDY_REDIS_DEDICATED);
}

static int64_t use_command(void *redis)
{
        return eddy_redis_command(redis, NULL, "PING");
}

static int64_t run_batch(eddy_redis *redis, bool is_transaction)
{
        EDDY_AUTO(eddy_redis_batch) eddy_redis_batch *batch = NULL;
        eddy_redis_reply *reply = NULL;

        CHECK_EQ(eddy_redis_batch_new(&batch), 0);
        CHECK_EQ(eddy_redis_batch_add(batch, "PING"), 0);
        return is_transaction ? eddy_redis_transaction(redis, batch, &reply)
                              : eddy_redis_batch_run(redis, batch, &reply);
}

static int64_t use_batch(void *redis)
{
        return run_batch(redis, false);
}

static int64_t use_transaction(void *redis)
{
        return run_batch(redis, true);
}

static int64_t use_script(void *redis)
{
        eddy_redis_script script = { .source = "return 1" };

        return eddy_redis_eval(redis, &script, 0, 0, NULL, NULL, NULL);
}

static int64_t use_subscriber_new(void *redis)
{
        eddy_redis_subscriber *subscriber;

        return eddy_redis_subscriber_new(redis, NULL, &subscriber);
}

static int64_t use_pool_new(void *redis)
{
        eddy_pool *pool;

        return eddy_redis_pool_new(redis, NULL, &pool);
}

static void close_client(void *redis)
{
        eddy_redis_close(redis);
}

/* --- a subscriber --- */

struct subscribed {
        eddy_redis *redis;
        eddy_redis_subscriber *subscriber;
};

static void *make_subscriber(void)
{
        static const char *const channels[] = { "news", NULL };
        struct eddy_redis_subscriber_opts opts = { .channels = channels };
        static struct subscribed subscribed;

        subscribed.redis = make_client();
        CHECK_EQ(eddy_redis_subscriber_new(subscribed.redis, &opts, &subscribed.subscriber), 0);
        CHECK_EQ(eddy_redis_subscriber_start(subscribed.subscriber), 0);
        CHECK_EQ(eddy_redis_command(subscribed.redis, NULL, "PUBLISH news one"), 0);
        return &subscribed;
}

static int64_t use_start(void *subscribed)
{
        return eddy_redis_subscriber_start(((struct subscribed *) subscribed)->subscriber);
}

static int64_t use_next(void *subscribed)
{
        struct eddy_redis_message message;

        return eddy_redis_subscriber_next(((struct subscribed *) subscribed)->subscriber, &message);
}

static void close_subscriber(void *subscribed)
{
        eddy_redis_subscriber_close(((struct subscribed *) subscribed)->subscriber);
        eddy_redis_close(((struct subscribed *) subscribed)->redis);
}

/* --- a pool, with a client that is lent and an idle one --- */

struct lent {
        eddy_redis *redis;
        eddy_pool *pool;
        eddy_pool_loan loan;
};

static void *make_pool(void)
{
        static struct lent lent;
        eddy_pool_loan idle = { .item = NULL };

        lent = (struct lent){ .redis = make_client() };
        CHECK_EQ(eddy_redis_pool_new(lent.redis, NULL, &lent.pool), 0);
        CHECK_EQ(eddy_pool_acquire(lent.pool, &lent.loan), 0);
        CHECK_EQ(eddy_pool_acquire(lent.pool, &idle), 0);
        CHECK_EQ(eddy_redis_command(lent.loan.item, NULL, "PING"), 0);
        CHECK_EQ(eddy_pool_release(&idle), 0);
        return &lent;
}

static int64_t use_acquire(void *lent)
{
        eddy_pool_loan loan = { .item = NULL };

        return eddy_pool_acquire(((struct lent *) lent)->pool, &loan);
}

static int64_t use_lent(void *lent)
{
        return use_command(((struct lent *) lent)->loan.item);
}

static void close_pool(void *arg)
{
        struct lent *lent = arg;

        (void) eddy_pool_release(&lent->loan);
        eddy_pool_close(lent->pool);
        eddy_redis_close(lent->redis);
}

static const struct outlived kinds[] = {
        { "a client",
          make_client,
          { use_command, use_batch, use_transaction, use_script, use_subscriber_new, use_pool_new },
          close_client },
        { "a dedicated client",
          make_dedicated,
          { use_command, use_batch, use_transaction, use_script },
          close_client },
        { "a subscriber", make_subscriber, { use_start, use_next }, close_subscriber },
        { "a pool", make_pool, { use_acquire, use_lent }, close_pool },
};

TEST(objects_of_redis_are_refused_by_other_runs_and_can_be_closed)
{
        redis_server_start(&server, NULL);
        outlived_check_all(kinds, sizeof(kinds) / sizeof(kinds[0]));
        redis_server_end(&server);
}
