/*
 * 98-redis-publish - publish and subscribe through Redis, while the server is restarted.
 *
 * The listener subscribes once. When its connection is lost, eddy_redis_subscriber_next() connects
 * and subscribes again, and returns a gap: messages may be missing. Redis sends a message to the
 * clients that are subscribed at that moment, and does not keep it. The sender therefore checks the
 * number of receivers, and repeats a message until there is a receiver. After an error a message
 * may arrive twice.
 *
 *     98-redis-publish URL listen         print messages, up to "end"
 *     98-redis-publish URL send TEXT...
 *
 * Run: D=$(mktemp -d); p() { 98-redis-publish unix://$D/s "$@"; }; serve() { redis-server --port 0 --unixsocket $D/s --save '' --logfile /dev/null >/dev/null & R=$!; while [ ! -S $D/s ]; do sleep 0.05; done; }; serve; p listen >$D/out & L=$!; p send one two; kill $R; wait $R; serve; p send three end; wait $L; cat $D/out; kill $R; wait; rm -r $D
 * Time: wall 0 s
 * Output:
 *     one
 *     two
 *     connected again: messages may be missing
 *     three
 */
#include <eddy/eddy.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static int listen_main(void *arg)
{
        static const char *const channels[] = { "news", NULL };
        struct eddy_redis_subscriber_opts opts = { .channels = channels };
        EDDY_AUTO(eddy_redis_subscriber) eddy_redis_subscriber *subscriber = NULL;
        struct eddy_redis_message message;
        int err = eddy_redis_subscriber_new(arg, &opts, &subscriber);

        while (err == 0 && (err = eddy_redis_subscriber_next(subscriber, &message)) == 0) {
                if (message.kind == EDDY_REDIS_GAP)
                        puts("connected again: messages may be missing");
                else if (strcmp(message.data, "end") == 0)
                        return 0;
                else
                        puts(message.data);
        }
        return err;
}

/* Returns the number of subscribers that received the text. */
static int publish(eddy_redis *redis, const char *text)
{
        EDDY_AUTO(eddy_redis_reply) eddy_redis_reply *reply = NULL;
        int64_t receivers = 0;
        int err = eddy_redis_command(redis, &reply, "PUBLISH news %s", text);

        if (err == 0)
                err = eddy_redis_reply_integer(reply, &receivers);
        return err < 0 ? err : (int) receivers;
}

/* Publish each text until a subscriber receives it. */
static int send_main(eddy_redis *redis, char **texts)
{
        int err = 0;

        while (*texts && err != -ECANCELED) {
                err = publish(redis, *texts);
                if (err > 0)
                        texts++;
                else
                        err = eddy_sleep(EDDY_MS(20));
        }
        return err < 0 ? err : 0;
}

/* Run in a scope of 30 s, so that a sender without listeners ends. */
static int publish_main(void *arg)
{
        char **argv = arg;
        EDDY_AUTO(eddy_redis) eddy_redis *redis = NULL;
        eddy_scope scope;
        int err = eddy_redis_new(&(struct eddy_redis_opts){ .url = argv[1] }, &redis);

        if (err < 0)
                return err;
        if (strcmp(argv[2], "listen") == 0)
                return listen_main(redis);
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_SEC(30) });
        return eddy_scope_end_with(&scope, send_main(redis, argv + 3));
}

int main(int argc, char **argv)
{
        int err;

        if (argc < 3 || (strcmp(argv[2], "listen") != 0 && strcmp(argv[2], "send") != 0)) {
                fprintf(stderr, "usage: 98-redis-publish URL listen|send TEXT...\n");
                return 2;
        }
        err = eddy_run(publish_main, argv, NULL);
        if (err < 0)
                fprintf(stderr, "98-redis-publish: %s\n", eddy_error_text(err));
        return err < 0;
}
