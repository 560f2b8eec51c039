/*
 * What needs more than single commands, with a real server: batches, transactions, scripts, and
 * dedicated clients of a pool.
 */
#include "redis_test.h"

static struct redis_server server;

static void run(eddy_task_fn *main_fn)
{
        redis_server_start(&server, NULL);
        redis_run(main_fn, NULL);
        redis_server_end(&server);
}

static eddy_redis *client(void)
{
        eddy_redis *redis;

        CHECK_EQ(eddy_redis_new(&(struct eddy_redis_opts){ .url = server.url }, &redis), 0);
        return redis;
}

static int batch_main(void *arg)
{
        EDDY_AUTO(eddy_redis) eddy_redis *redis = client();
        EDDY_AUTO(eddy_redis_batch) eddy_redis_batch *batch = NULL;
        eddy_redis_reply *replies[3], *reply;
        int64_t value;

        (void) arg;
        CHECK_EQ(eddy_redis_batch_new(&batch), 0);
        CHECK_EQ(eddy_redis_batch_run(redis, batch, replies), -EINVAL);
        CHECK_EQ(eddy_redis_batch_add(batch, "SET %s %d", "k", 5), 0);
        CHECK_EQ(eddy_redis_batch_add(batch, "LPUSH k 1"), 0);
        CHECK_EQ(eddy_redis_batch_add(batch, "INCR k"), 0);
        CHECK_EQ(eddy_redis_batch_run(redis, batch, replies), 0);
        CHECK_EQ(eddy_redis_reply_type(replies[1]), EDDY_REDIS_ERROR);
        CHECK_EQ(eddy_redis_reply_integer(replies[2], &value), 0);
        CHECK_EQ(value, 6);
        for (int i = 0; i < 3; i++)
                eddy_redis_reply_free(replies[i]);
        CHECK_EQ(eddy_redis_transaction(redis, batch, &reply), 0);
        CHECK_EQ(eddy_redis_reply_count(reply), 3);
        CHECK_EQ(eddy_redis_reply_type(eddy_redis_reply_at(reply, 1)), EDDY_REDIS_ERROR);
        eddy_redis_reply_free(reply);
        CHECK_EQ(eddy_redis_batch_add(batch, "NOSUCHCOMMAND"), 0);
        CHECK_EQ(eddy_redis_transaction(redis, batch, &reply), EDDY_E_REDIS_ERROR);
        CHECK_STR(eddy_redis_fault(redis)->code, "ERR");
        CHECK_EQ(eddy_redis_batch_add(batch, "BLPOP x 0"), 0);
        CHECK_EQ(eddy_redis_transaction(redis, batch, &reply), EDDY_E_REDIS_COMMAND);
        return 0;
}

TEST(a_batch_has_a_reply_for_each_command)
{
        run(batch_main);
}

static int watch_main(void *arg)
{
        EDDY_AUTO(eddy_redis) eddy_redis *redis = client();
        EDDY_AUTO(eddy_pool) eddy_pool *pool = NULL;
        EDDY_AUTO(eddy_redis_batch) eddy_redis_batch *batch = NULL;
        eddy_redis_reply *reply;
        eddy_pool_loan loan = { 0 };
        int64_t value;

        (void) arg;
        CHECK_EQ(eddy_redis_batch_new(&batch), 0);
        CHECK_EQ(eddy_redis_batch_add(batch, "INCR k"), 0);
        CHECK_EQ(eddy_redis_pool_new(redis, &(struct eddy_pool_opts){ .size = 1 }, &pool), 0);
        CHECK_EQ(eddy_pool_acquire(pool, &loan), 0);
        CHECK_EQ(eddy_redis_command(loan.item, NULL, "WATCH k"), 0);
        CHECK_EQ(eddy_redis_command(redis, NULL, "SET k 10"), 0);
        CHECK_EQ(eddy_redis_transaction(loan.item, batch, &reply), EDDY_E_REDIS_ABORTED);
        CHECK_EQ(eddy_redis_command(loan.item, NULL, "WATCH k"), 0);
        CHECK_EQ(eddy_redis_transaction(loan.item, batch, &reply), 0);
        CHECK_EQ(eddy_redis_reply_integer(eddy_redis_reply_at(reply, 0), &value), 0);
        CHECK_EQ(value, 11);
        eddy_redis_reply_free(reply);
        /* Left in a transaction and in another database: reset before the next loan. */
        CHECK_EQ(eddy_redis_command(loan.item, NULL, "SELECT 3"), 0);
        CHECK_EQ(eddy_redis_command(loan.item, NULL, "MULTI"), 0);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        CHECK_EQ(eddy_pool_acquire(pool, &loan), 0);
        CHECK_EQ(eddy_redis_command(loan.item, &reply, "GET k"), 0);
        CHECK_STR(eddy_redis_reply_text(reply, NULL), "11");
        eddy_redis_reply_free(reply);
        CHECK_EQ(eddy_redis_command(loan.item, NULL, "SUBSCRIBE x"), EDDY_E_REDIS_COMMAND);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        eddy_pool_close(pool);
        pool = NULL;
        return 0;
}

TEST(a_transaction_runs_only_if_watched_keys_are_unchanged)
{
        run(watch_main);
}

/* A transaction that the server refuses: nothing runs. */
static void expect_refused(const struct eddy_redis_opts *opts, bool in_multi)
{
        EDDY_AUTO(eddy_redis) eddy_redis *own = client(), *redis = NULL;
        EDDY_AUTO(eddy_redis_batch) eddy_redis_batch *batch = NULL;
        eddy_redis_reply *reply = NULL;

        CHECK_EQ(eddy_redis_new(opts, &redis), 0);
        CHECK_EQ(eddy_redis_batch_new(&batch), 0);
        CHECK_EQ(eddy_redis_batch_add(batch, "SET refused 1"), 0);
        if (in_multi)
                CHECK_EQ(eddy_redis_command(redis, NULL, "MULTI"), 0);
        CHECK_EQ(eddy_redis_transaction(redis, batch, NULL), EDDY_E_REDIS_ERROR);
        CHECK_STR(eddy_redis_fault(redis)->code, in_multi ? "ERR" : "NOPERM");
        CHECK_EQ(eddy_redis_command(own, &reply, "GET refused"), 0);
        CHECK_EQ(eddy_redis_reply_type(reply), EDDY_REDIS_NIL);
        eddy_redis_reply_free(reply);
}

static int refused_main(void *arg)
{
        struct eddy_redis_opts opts = { .url = server.url, .user = "ann", .password = "x" };
        EDDY_AUTO(eddy_redis) eddy_redis *redis = client();

        (void) arg;
        CHECK_EQ(eddy_redis_command(redis, NULL, "ACL SETUSER ann on >x ~* +@all -multi"), 0);
        expect_refused(&opts, false);
        opts.flags = EDDY_REDIS_DEDICATED;
        expect_refused(&opts, false);
        opts.user = opts.password = NULL;
        expect_refused(&opts, true);
        return 0;
}

TEST(no_command_runs_if_the_server_refuses_the_transaction)
{
        run(refused_main);
}

static int unfinished_main(void *arg)
{
        struct eddy_redis_opts opts = { .url = server.url,
                                        .flags = EDDY_REDIS_DEDICATED,
                                        .commands_max = 2 };
        EDDY_AUTO(eddy_redis) eddy_redis *redis = NULL;
        EDDY_AUTO(eddy_redis_batch) eddy_redis_batch *batch = NULL;

        (void) arg;
        CHECK_EQ(eddy_redis_new(&opts, &redis), 0);
        CHECK_EQ(eddy_redis_batch_new(&batch), 0);
        CHECK_EQ(eddy_redis_batch_add(batch, "SET k 1"), 0);
        CHECK_EQ(eddy_redis_batch_add(batch, "SET k 2"), 0);
        CHECK_EQ(eddy_redis_transaction(redis, batch, NULL), EDDY_E_REDIS_FULL);
        CHECK_EQ(eddy_redis_command(redis, NULL, "PING"), EDDY_E_REDIS_LOST);
        return 0;
}

/* The server has MULTI already, and would only queue later commands. */
TEST(a_transaction_that_is_not_sent_to_its_end_ends_the_connection)
{
        run(unfinished_main);
}

static int script_main(void *arg)
{
        static eddy_redis_script script = { .source = "return {KEYS[1], ARGV[1] + 1}" };
        static const char *const args[] = { "k", "41" };
        EDDY_AUTO(eddy_redis) eddy_redis *redis = client();
        eddy_redis_reply *reply;
        int64_t value;

        (void) arg;
        for (int i = 0; i < 3; i++) {
                CHECK_EQ(eddy_redis_eval(redis, &script, 1, 2, args, NULL, &reply), 0);
                CHECK_STR(eddy_redis_reply_text(eddy_redis_reply_at(reply, 0), NULL), "k");
                CHECK_EQ(eddy_redis_reply_integer(eddy_redis_reply_at(reply, 1), &value), 0);
                CHECK_EQ(value, 42);
                eddy_redis_reply_free(reply);
                CHECK_EQ(strlen(script.digest), 40);
                if (i == 1)
                        CHECK_EQ(eddy_redis_command(redis, NULL, "SCRIPT FLUSH"), 0);
        }
        CHECK_EQ(eddy_redis_eval(redis, &script, 3, 2, args, NULL, &reply), -EINVAL);
        return 0;
}

TEST(a_script_is_sent_again_if_the_server_has_lost_it)
{
        run(script_main);
}

static int pop(void *arg)
{
        eddy_redis_reply *reply;
        int err = eddy_redis_command(arg, &reply, "BLPOP list 0");

        if (err == 0)
                eddy_redis_reply_free(reply);
        return err;
}

static long blocked_clients(eddy_redis *redis)
{
        static const char field[] = "blocked_clients:";
        eddy_redis_reply *reply;
        const char *found;
        long n;

        CHECK_EQ(eddy_redis_command(redis, &reply, "INFO clients"), 0);
        found = strstr(eddy_redis_reply_text(reply, NULL), field);
        CHECK(found != NULL);
        n = strtol(found + strlen(field), NULL, 10);
        eddy_redis_reply_free(reply);
        return n;
}

static int blocking_main(void *arg)
{
        EDDY_AUTO(eddy_redis) eddy_redis *redis = client();
        EDDY_AUTO(eddy_pool) eddy_pool *pool = NULL;
        struct eddy_pool_stats stats;
        eddy_pool_loan loan = { 0 };

        (void) arg;
        CHECK_EQ(eddy_redis_pool_new(redis, &(struct eddy_pool_opts){ .size = 1 }, &pool), 0);
        for (int i = 0; i < 3; i++) {
                CHECK_EQ(eddy_pool_acquire(pool, &loan), 0);
                CHECK_EQ(eddy_call_timeout(pop, loan.item, EDDY_MS(20)), -ETIMEDOUT);
                /* The server may still pop for this connection, so it is not used again. */
                CHECK_EQ(eddy_redis_command(loan.item, NULL, "PING"), EDDY_E_REDIS_LOST);
                CHECK(strstr(eddy_redis_fault(loan.item)->text,
                             "a command of this client was cancelled"));
                CHECK_EQ(eddy_pool_release(&loan), 0);
        }
        /* The server must have seen the ends of the connections, or it pops for one of them. */
        while (blocked_clients(redis) > 0)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(eddy_redis_command(redis, NULL, "RPUSH list a"), 0);
        CHECK_EQ(eddy_pool_acquire(pool, &loan), 0);
        CHECK_EQ(pop(loan.item), 0);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        eddy_pool_stats(pool, &stats);
        CHECK_EQ(stats.broken, 3);
        CHECK_EQ(stats.open, 1);
        return 0;
}

/* D22, D29: the connection is closed. */
TEST(a_cancelled_blocking_command_costs_its_connection)
{
        run(blocking_main);
}
