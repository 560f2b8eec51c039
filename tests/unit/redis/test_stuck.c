/*
 * A hiredis that makes no progress: its reader has one more reply for ever, or none. Each call of eddy ends
 * with an error or by its deadline, and the loop turns meanwhile.
 */
#include <errno.h>

#include "../../turning.h"
#include "base/alloc.h"
#include "eddy/redis_pubsub.h"
#include "redis/redis.h"
#include "redis_test.h"

static int kind; /* of the reply that comes for ever; 0: the reader works; -1: none comes */

int __real_redisReaderGetReply(redisReader *reader, void **reply);
int __wrap_redisReaderGetReply(redisReader *reader, void **reply);

int __wrap_redisReaderGetReply(redisReader *reader, void **reply)
{
        eddy_redis_reply *made;

        if (kind == 0)
                return __real_redisReaderGetReply(reader, reply);
        *reply = NULL;
        if (kind < 0)
                return REDIS_OK;
        made = ed_alloc_zero(sizeof(*made));
        made->type = (enum eddy_redis_type) kind;
        *reply = made;
        return REDIS_OK;
}

static struct redis_script server = { .answer = "+OK\r\n", .bytes = 5, .stays = true };

static int command(void *arg)
{
        return eddy_redis_command(arg, NULL, "PING");
}

static int batch(void *arg)
{
        EDDY_AUTO(eddy_redis_batch) eddy_redis_batch *batch = NULL;
        eddy_redis_reply *replies[3] = { NULL };
        int err = eddy_redis_batch_new(&batch);

        for (int i = 0; i < 3 && err == 0; i++)
                err = eddy_redis_batch_add(batch, "PING");
        if (err == 0)
                err = eddy_redis_batch_run(arg, batch, replies);
        for (int i = 0; i < 3 && err == 0; i++)
                eddy_redis_reply_free(replies[i]);
        return err;
}

static int subscription(void *arg)
{
        static const char *const channels[] = { "news", NULL };
        struct eddy_redis_subscriber_opts opts = { .channels = channels };
        EDDY_AUTO(eddy_redis_subscriber) eddy_redis_subscriber *subscriber = NULL;
        struct eddy_redis_message message;
        int err = eddy_redis_subscriber_new(arg, &opts, &subscriber);

        while (err == 0)
                err = eddy_redis_subscriber_next(subscriber, &message);
        return err;
}

static int stuck_run(void *arg)
{
        static const int kinds[] = { -1, EDDY_REDIS_NIL, EDDY_REDIS_STATUS, EDDY_REDIS_ERROR };
        eddy_task_fn *const calls[] = { command, batch, subscription };
        int deadlines = 0, ends = 0;
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        redis_script_start(&server, &scope);
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
                for (size_t call = 0; call < sizeof(calls) / sizeof(calls[0]); call++) {
                        struct eddy_redis_opts opts = { .url = server.url };
                        eddy_redis *redis;
                        int err;

                        CHECK_EQ(eddy_redis_new(&opts, &redis), 0);
                        kind = kinds[i];
                        err = eddy_call_timeout(calls[call], redis, EDDY_MS(50));
                        kind = 0;
                        deadlines += err == -ETIMEDOUT;
                        ends += err != -ETIMEDOUT;
                        eddy_redis_close(redis);
                }
        }
        printf("# %d calls ended, %d by their deadline\n", ends, deadlines);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        eddy_listener_close(server.listener);
        return 0;
}

TEST(a_hiredis_that_makes_no_progress_does_not_hold_the_loop)
{
        turning_watch();
        redis_run(stuck_run, NULL);
}
