/*
 * Subscriptions, with a real server: messages, patterns, a server that goes away, cancels.
 */
#include "eddy/redis_pubsub.h"
#include "redis_test.h"

static struct redis_server server;
static const char *const channels[] = { "a", "b", NULL };
static const char *const patterns[] = { "p.*", NULL };

static int next_message(void *arg)
{
        struct eddy_redis_message message;

        return eddy_redis_subscriber_next(arg, &message);
}

static void expect(eddy_redis_subscriber *subscriber, const char *channel, const char *pattern,
                   const char *data)
{
        struct eddy_redis_message message;

        CHECK_EQ(eddy_redis_subscriber_next(subscriber, &message), 0);
        CHECK_EQ(message.kind, EDDY_REDIS_MESSAGE);
        CHECK_STR(message.channel, channel);
        CHECK_STR(message.data, data);
        CHECK_EQ(message.bytes, strlen(data));
        if (pattern)
                CHECK_STR(message.pattern, pattern);
        else
                CHECK(!message.pattern);
}

static int messages_main(void *arg)
{
        struct eddy_redis_subscriber_opts opts = { .channels = channels, .patterns = patterns };
        EDDY_AUTO(eddy_redis) eddy_redis *redis = NULL;
        EDDY_AUTO(eddy_redis_subscriber) eddy_redis_subscriber *subscriber = NULL;
        struct eddy_redis_message message;

        (void) arg;
        CHECK_EQ(eddy_redis_new(&(struct eddy_redis_opts){ .url = server.url }, &redis), 0);
        CHECK_EQ(eddy_redis_subscriber_new(redis, &opts, &subscriber), 0);
        CHECK_EQ(eddy_redis_subscriber_start(subscriber), 0);
        CHECK_EQ(eddy_redis_command(redis, NULL, "PUBLISH a one"), 0);
        CHECK_EQ(eddy_redis_command(redis, NULL, "PUBLISH b two"), 0);
        CHECK_EQ(eddy_redis_command(redis, NULL, "PUBLISH p.x three"), 0);
        expect(subscriber, "a", NULL, "one");
        expect(subscriber, "b", NULL, "two");
        expect(subscriber, "p.x", "p.*", "three");
        for (int i = 0; i < 3; i++)
                CHECK_EQ(eddy_call_timeout(next_message, subscriber, EDDY_MS(5)), -ETIMEDOUT);
        CHECK_EQ(eddy_redis_command(redis, NULL, "PUBLISH a four"), 0);
        expect(subscriber, "a", NULL, "four");

        redis_server_kill(&server);
        CHECK_EQ(eddy_call_timeout(next_message, subscriber, EDDY_MS(100)), -ETIMEDOUT);
        redis_server_restart(&server);
        CHECK_EQ(eddy_redis_subscriber_next(subscriber, &message), 0);
        CHECK_EQ(message.kind, EDDY_REDIS_GAP);
        CHECK_EQ(eddy_redis_command(redis, NULL, "PUBLISH b five"), 0);
        expect(subscriber, "b", NULL, "five");
        return 0;
}

TEST(a_subscriber_subscribes_again_and_reports_the_gap)
{
        redis_server_start(&server, NULL);
        redis_run(messages_main, NULL);
        redis_server_end(&server);
}

static int silent_main(void *arg)
{
        static const char text[] = "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n"
                                   "*3\r\n$9\r\nsubscribe\r\n$1\r\nb\r\n:2\r\n";
        struct redis_script script = { .answer = text, .bytes = sizeof(text) - 1, .stays = true };
        struct eddy_redis_opts redis_opts = { .url = script.url };
        struct eddy_redis_subscriber_opts opts = { .channels = channels,
                                                   .ping_after_ns = EDDY_MS(20) };
        EDDY_AUTO(eddy_redis) eddy_redis *redis = NULL;
        eddy_redis_subscriber *subscriber;
        struct eddy_redis_message message;
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        redis_script_start(&script, &scope);
        CHECK_EQ(eddy_redis_new(&redis_opts, &redis), 0);
        CHECK_EQ(eddy_redis_subscriber_new(redis, &opts, &subscriber), 0);
        CHECK_EQ(eddy_redis_subscriber_next(subscriber, &message), 0);
        CHECK_EQ(message.kind, EDDY_REDIS_GAP);
        CHECK_EQ(script.connections, 2);
        eddy_redis_subscriber_close(subscriber);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        eddy_listener_close(script.listener);
        return 0;
}

/* The scripted server serves a connection at a time, so it accepts the second one after the first. */
TEST(a_server_that_is_silent_is_left)
{
        redis_run(silent_main, NULL);
}

/* Answers two connections, and ends the first one. */
struct gap_server {
        eddy_listener *listener;
        const char *answers[2];
};

static int serve_gap(void *arg)
{
        const struct gap_server *gaps = arg;
        char buf[4096];

        for (int i = 0; i < 2; i++) {
                const char *answer = gaps->answers[i];
                eddy_stream *stream;
                int err = eddy_listener_accept(gaps->listener, &stream);

                if (err < 0)
                        return err;
                CHECK(eddy_stream_read(stream, buf, sizeof(buf)) > 0);
                CHECK_EQ(eddy_stream_write(stream, answer, strlen(answer)), 0);
                if (i == 1)
                        CHECK_EQ(eddy_stream_read(stream, buf, sizeof(buf)), 0);
                eddy_stream_close(stream);
        }
        return 0;
}

#define CONFIRMED(name)     "*3\r\n$9\r\nsubscribe\r\n$1\r\n" name "\r\n:1\r\n"
#define MESSAGE(name, text) "*3\r\n$7\r\nmessage\r\n$1\r\n" name "\r\n$1\r\n" text "\r\n"

static int gap_main(void *arg)
{
        struct gap_server gaps = { .answers = {
                                           CONFIRMED("a") MESSAGE("a", "1") CONFIRMED("b"),
                                           CONFIRMED("a") MESSAGE("a", "2") CONFIRMED("b")
                                                   MESSAGE("b", "3"),
                                   } };
        struct eddy_redis_opts redis_opts = { .host = "127.0.0.1" };
        struct eddy_redis_subscriber_opts opts = { .channels = channels };
        EDDY_AUTO(eddy_redis) eddy_redis *redis = NULL;
        eddy_redis_subscriber *subscriber;
        struct eddy_redis_message message;
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &gaps.listener), 0);
        redis_opts.port = eddy_listener_endpoint(gaps.listener).port;
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, serve_gap, &gaps), 0);
        CHECK_EQ(eddy_redis_new(&redis_opts, &redis), 0);
        CHECK_EQ(eddy_redis_subscriber_new(redis, &opts, &subscriber), 0);
        expect(subscriber, "a", NULL, "1");
        CHECK_EQ(eddy_redis_subscriber_next(subscriber, &message), 0);
        CHECK_EQ(message.kind, EDDY_REDIS_GAP);
        expect(subscriber, "a", NULL, "2");
        expect(subscriber, "b", NULL, "3");
        eddy_redis_subscriber_close(subscriber);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_listener_close(gaps.listener);
        return 0;
}

/* The new connection has a message before the last confirmation. */
TEST(a_gap_is_reported_before_the_messages_of_the_new_connection)
{
        redis_run(gap_main, NULL);
}
