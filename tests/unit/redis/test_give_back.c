/*
 * Objects of Redis are released on every way out, and NULL is ignored; a pool may be closed while it
 * opens a client.
 */
#include <poll.h>
#include <unistd.h>

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

static int ends[2]; /* of a pipe */

static int borrow(void *arg)
{
        eddy_pool_loan loan = { 0 };

        return eddy_pool_acquire(arg, &loan);
}

/* Accept a connection; then wake the task that waits for the pipe, and after it the client. */
static int serve(void *arg)
{
        eddy_stream *stream;
        char login[64];

        CHECK_EQ(eddy_listener_accept(arg, &stream), 0);
        CHECK(eddy_stream_read(stream, login, sizeof(login)) > 0);
        CHECK_EQ(write(ends[1], "x", 1), 1);
        CHECK_EQ(eddy_stream_write(stream, "+O", 2), 0);
        poll(NULL, 0, 1); /* the next poll of the loop reports both */
        CHECK(eddy_stream_read(stream, login, sizeof(login)) <= 0);
        eddy_stream_close(stream);
        return 0;
}

static int close_main(void *arg)
{
        struct eddy_redis_opts opts = { .host = "127.0.0.1", .client_name = "x" };
        eddy_listener *listener;
        eddy_redis *redis;
        eddy_pool *pool;
        eddy_task *task;
        eddy_scope scope, cancelled;
        int result;

        (void) arg;
        CHECK_EQ(pipe(ends), 0);
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        opts.port = eddy_listener_endpoint(listener).port;
        CHECK_EQ(eddy_redis_new(&opts, &redis), 0);
        CHECK_EQ(eddy_redis_pool_new(redis, NULL, &pool), 0);
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_KEEP_GOING });
        CHECK_EQ(eddy_scope_start(&scope, serve, listener), 0);
        CHECK_EQ(eddy_scope_start_task(&scope, borrow, pool, NULL, &task), 0);
        CHECK(eddy_fd_wait(ends[0], EDDY_FD_READABLE) >= 0);
        eddy_scope_begin(&cancelled, NULL);
        eddy_scope_cancel(&cancelled);
        eddy_pool_close(pool); /* does not wait in a cancelled task */
        eddy_redis_close(redis);
        (void) eddy_scope_end(&cancelled);
        (void) eddy_scope_end(&scope);
        CHECK_EQ(eddy_task_result(task, &result), 0);
        CHECK_EQ(result, EDDY_E_POOL_CLOSED);
        eddy_task_release(task);
        eddy_listener_close(listener);
        close(ends[0]);
        close(ends[1]);
        return 0;
}

TEST(a_pool_and_its_client_are_closed_while_the_pool_opens_a_connection)
{
        redis_run(close_main, NULL);
}
