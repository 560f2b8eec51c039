/*
 * Each allocation fails in turn: the call that needed it reports -ENOMEM, nothing leaks, and the
 * client works afterwards.
 */
#include "redis_test.h"

static struct redis_server server;
static int left = -1; /* allocations until one fails; -1: none fails */
static long blocks;

static void *failing_realloc(void *ctx, void *ptr, size_t bytes)
{
        void *result;

        (void) ctx;
        if (bytes == 0) {
                blocks -= ptr != NULL;
                free(ptr);
                return NULL;
        }
        if (left == 0) {
                left = -1;
                return NULL;
        }
        left -= left > 0;
        result = realloc(ptr, bytes);
        CHECK(result != NULL);
        blocks += ptr == NULL;
        return result;
}

/* Do a bit of everything, with one failure; returns its error. */
static int everything(eddy_redis *redis)
{
        static const char *const args[] = { "x" };
        eddy_redis_script script = { .source = "return {1, {2, 'three'}}" };
        EDDY_AUTO(eddy_redis_batch) eddy_redis_batch *batch = NULL;
        eddy_redis_reply *reply = NULL, *replies[2] = { NULL };
        int err = eddy_redis_command(redis, &reply, "SET k v");

        eddy_redis_reply_free(reply);
        reply = NULL;
        if (err == 0)
                err = eddy_redis_eval(redis, &script, 0, 1, args, NULL, &reply);
        eddy_redis_reply_free(reply);
        reply = NULL;
        if (err == 0)
                err = eddy_redis_batch_new(&batch);
        for (int i = 0; i < 2 && err == 0; i++)
                err = eddy_redis_batch_add(batch, "GET k");
        if (err == 0)
                err = eddy_redis_batch_run(redis, batch, replies);
        for (int i = 0; i < 2 && err == 0; i++)
                eddy_redis_reply_free(replies[i]);
        if (err == 0)
                err = eddy_redis_transaction(redis, batch, &reply);
        eddy_redis_reply_free(reply);
        return err;
}

static int sweep_main(void *arg)
{
        struct eddy_redis_opts opts = { .url = server.url };
        eddy_redis *redis;
        bool has_failed = true;
        int n, err;

        (void) arg;
        for (n = 0; has_failed; n++) {
                long before = blocks;

                CHECK(n < 1000);
                left = n;
                err = eddy_redis_new(&opts, &redis);
                if (err == 0) {
                        err = everything(redis);
                        has_failed = left < 0; /* debug mode does without its memory */
                        left = -1;
                        CHECK(err == 0 || err == -ENOMEM || err == EDDY_E_REDIS_UNKNOWN ||
                              err == -ECONNRESET);
                        CHECK_EQ(everything(redis), 0);
                        eddy_redis_close(redis);
                }
                /* Debug mode keeps tables that grow. */
                CHECK(blocks == before || getenv("EDDY_DEBUG"));
        }
        CHECK(n > 15);
        return 0;
}

TEST(each_allocation_may_fail)
{
        eddy_alloc_set(failing_realloc, NULL);
        redis_server_start(&server, NULL);
        redis_run(sweep_main, NULL);
        redis_server_end(&server);
}
