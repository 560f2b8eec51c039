/*
 * The connection to a real server is ended and reset after each byte of its answers, in each state. A call
 * ends with a documented error or the right value, and the client works again afterwards.
 */
#include <errno.h>

#include "../../cut.h"
#include "eddy/redis_pubsub.h"
#include "redis_test.h"

static struct redis_server server;
static eddy_redis *direct; /* past the proxy */

static eddy_redis *client_of(const struct cut *cut, uint16_t flags)
{
        static char url[64];
        eddy_redis *redis;

        snprintf(url, sizeof(url), "redis://127.0.0.1:%d/1", cut->proxy.own_port);
        CHECK_EQ(eddy_redis_new(&(struct eddy_redis_opts){ .url = url, .flags = flags }, &redis),
                 0);
        return redis;
}

static int echo(eddy_redis *redis, const char *text)
{
        EDDY_AUTO(eddy_redis_reply) eddy_redis_reply *reply = NULL;
        int err = eddy_redis_command(redis, &reply, "ECHO %s", text);

        if (err == 0)
                CHECK_STR(eddy_redis_reply_text(reply, NULL), text);
        return err;
}

/* Connected, by a first command. */
static eddy_redis *open_and_arm(struct cut *cut, uint16_t flags)
{
        eddy_redis *redis = client_of(cut, flags);

        CHECK_EQ(echo(redis, "first"), 0);
        cut_arm(cut);
        return redis;
}

/* After the cut. */
static int works_again(struct cut *cut, eddy_redis *redis, int err)
{
        cut_heal(cut);
        CHECK_EQ(echo(redis, "again"), 0);
        return err;
}

static int connect_cut(void *arg)
{
        EDDY_AUTO(eddy_redis) eddy_redis *redis = client_of(arg, 0);

        cut_arm(arg);
        return works_again(arg, redis, echo(redis, "a text"));
}

static int command_cut(void *arg)
{
        EDDY_AUTO(eddy_redis) eddy_redis *redis = open_and_arm(arg, 0);
        EDDY_AUTO(eddy_redis_reply) eddy_redis_reply *reply = NULL;
        int err = eddy_redis_command(redis, &reply, "LRANGE list 0 -1");

        if (err == 0) {
                CHECK_EQ(eddy_redis_reply_count(reply), 3);
                CHECK_STR(eddy_redis_reply_text(eddy_redis_reply_at(reply, 2), NULL), "three");
        }
        return works_again(arg, redis, err);
}

static eddy_redis_batch *batch_of(int count)
{
        eddy_redis_batch *batch;

        CHECK_EQ(eddy_redis_batch_new(&batch), 0);
        for (int i = 0; i < count; i++)
                CHECK_EQ(eddy_redis_batch_add(batch, "ECHO %d", i), 0);
        return batch;
}

static int batch_cut(void *arg)
{
        EDDY_AUTO(eddy_redis) eddy_redis *redis = open_and_arm(arg, 0);
        EDDY_AUTO(eddy_redis_batch) eddy_redis_batch *batch = batch_of(5);
        eddy_redis_reply *replies[5] = { NULL };
        int err = eddy_redis_batch_run(redis, batch, replies);

        for (int i = 0; i < 5 && err == 0; i++) {
                CHECK_EQ(strtol(eddy_redis_reply_text(replies[i], NULL), NULL, 10), i);
                eddy_redis_reply_free(replies[i]);
        }
        return works_again(arg, redis, err);
}

static int transaction_cut(void *arg)
{
        EDDY_AUTO(eddy_redis) eddy_redis *redis = open_and_arm(arg, 0);
        EDDY_AUTO(eddy_redis_batch) eddy_redis_batch *batch = batch_of(3);
        EDDY_AUTO(eddy_redis_reply) eddy_redis_reply *reply = NULL;
        int err = eddy_redis_transaction(redis, batch, &reply);

        if (err == 0)
                CHECK_EQ(eddy_redis_reply_count(reply), 3);
        return works_again(arg, redis, err);
}

static int blocked(void *redis)
{
        EDDY_AUTO(eddy_redis_reply) eddy_redis_reply *reply = NULL;
        int err = eddy_redis_command(redis, &reply, "BLPOP wanted 0");

        if (err == 0)
                CHECK_STR(eddy_redis_reply_text(eddy_redis_reply_at(reply, 1), NULL), "x");
        return err;
}

/* A dedicated client has one connection, which does not come back. */
static int blocking_cut(void *arg)
{
        EDDY_AUTO(eddy_redis) eddy_redis *redis = open_and_arm(arg, EDDY_REDIS_DEDICATED);
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_KEEP_GOING });
        eddy_scope_start(&scope, blocked, redis);
        CHECK_EQ(eddy_redis_command(direct, NULL, "DEL wanted"), 0);
        CHECK_EQ(eddy_redis_command(direct, NULL, "RPUSH wanted x"), 0);
        return eddy_scope_end(&scope);
}

/* A message that was cut is missing, and a gap comes instead. */
static int subscription_cut(void *arg)
{
        static const char *const channels[] = { "news", NULL };
        struct eddy_redis_subscriber_opts opts = { .channels = channels };
        EDDY_AUTO(eddy_redis) eddy_redis *redis = client_of(arg, 0);
        EDDY_AUTO(eddy_redis_subscriber) eddy_redis_subscriber *subscriber = NULL;
        struct eddy_redis_message message;
        struct cut *cut = arg;
        uint32_t connections;

        CHECK_EQ(eddy_redis_subscriber_new(redis, &opts, &subscriber), 0);
        CHECK_EQ(eddy_redis_subscriber_start(subscriber), 0);
        cut_arm(cut);
        connections = cut->proxy.accepted;
        CHECK_EQ(eddy_redis_command(direct, NULL, "PUBLISH news one"), 0);
        if (cut->then != FAULT_NOTHING) {
                while (cut->proxy.open > 0)
                        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
                cut_heal(cut);
        }
        CHECK_EQ(eddy_redis_subscriber_next(subscriber, &message), 0);
        if (cut->then == FAULT_NOTHING) {
                CHECK_STR(message.data, "one");
                return 0;
        }
        CHECK_EQ(message.kind, EDDY_REDIS_GAP);
        CHECK(cut->proxy.accepted > connections);
        CHECK_EQ(eddy_redis_command(direct, NULL, "PUBLISH news two"), 0);
        CHECK_EQ(eddy_redis_subscriber_next(subscriber, &message), 0);
        CHECK_STR(message.data, "two");
        return EDDY_E_REDIS_UNKNOWN; /* counted as a failure that was reported */
}

static int subscribe_cut(void *arg)
{
        static const char *const channels[] = { "news", "more", NULL };
        struct eddy_redis_subscriber_opts opts = { .channels = channels };
        EDDY_AUTO(eddy_redis) eddy_redis *redis = client_of(arg, 0);
        EDDY_AUTO(eddy_redis_subscriber) eddy_redis_subscriber *subscriber = NULL;

        CHECK_EQ(eddy_redis_subscriber_new(redis, &opts, &subscriber), 0);
        cut_arm(arg);
        return works_again(arg, redis, eddy_redis_subscriber_start(subscriber));
}

static const int connect_errors[] = { -ECONNRESET, -EPIPE, EDDY_E_REDIS_UNKNOWN, 0 };
static const int sent_errors[] = { EDDY_E_REDIS_UNKNOWN, 0 };

static const struct cut_state states[] = {
        { "connect", connect_cut, connect_errors },
        { "command", command_cut, sent_errors },
        { "batch", batch_cut, sent_errors },
        { "transaction", transaction_cut, connect_errors },
        { "blocking command", blocking_cut, sent_errors },
        { "subscribe", subscribe_cut, connect_errors },
        { "subscription", subscription_cut, sent_errors },
        { .name = NULL },
};

static int cuts_run(void *arg)
{
        struct cut cut = { .proxy = { .host = "127.0.0.1", .port = server.port } };
        static char url[64];

        (void) arg;
        snprintf(url, sizeof(url), "redis://127.0.0.1:%d/1", server.port);
        CHECK_EQ(eddy_redis_new(&(struct eddy_redis_opts){ .url = url }, &direct), 0);
        CHECK_EQ(eddy_redis_command(direct, NULL, "RPUSH list one two three"), 0);
        cut_sweep(&cut, states);
        eddy_redis_close(direct);
        return 0;
}

TEST(a_connection_that_ends_at_any_byte_is_an_error_or_gives_the_right_value)
{
        redis_server_start(&server, NULL);
        redis_run(cuts_run, NULL);
        redis_server_end(&server);
}
