/*
 * Objects of Redis are released on every way out, and NULL is ignored.
 */
#include "eddy/redis_pubsub.h"
#include "redis_test.h"

static int release_main(void *arg)
{
        EDDY_AUTO(eddy_redis_subscriber) eddy_redis_subscriber *subscriber = NULL;
        EDDY_AUTO(eddy_redis) eddy_redis *redis = NULL;
        EDDY_AUTO(eddy_redis_batch) eddy_redis_batch *batch = NULL;
        EDDY_AUTO(eddy_redis_reply) eddy_redis_reply *reply = NULL;

        (void) arg;
        eddy_redis_close(NULL);
        eddy_redis_subscriber_close(NULL);
        eddy_redis_batch_free(NULL);
        eddy_redis_reply_free(NULL);
        CHECK(reply == NULL);
        CHECK_EQ(eddy_redis_new(NULL, &redis), 0);
        CHECK_EQ(eddy_redis_batch_new(&batch), 0);
        return eddy_redis_subscriber_new(redis, NULL, &subscriber);
}

TEST(everything_is_released)
{
        redis_run(release_main, NULL);
}
