/*
 * calls_redis.c - the worlds of the client for Redis; see every_call.h.
 *
 * A server of the test answers in the simulated system, late and in pieces. Each command carries a
 * number that its reply repeats, so a reply that reaches another caller is found.
 */
#include "every_call.h"

#include <stdio.h>

#include "eddy/redis_pubsub.h"

enum { WORDS_MAX = 16, WORD_BYTES = 64, VICTIMS = 3, COMMANDS_EACH = 2 };

static struct {
        eddy_listener *listener;
        eddy_redis *redis;
        eddy_task_fn *call;
        int number;
        int connections;
} site;

/* --- the server --- */

struct command {
        int count;
        char words[WORDS_MAX][WORD_BYTES];
};

static int read_line(eddy_reader *reader, char *out)
{
        char *line;
        size_t bytes;

        if (eddy_reader_line(reader, &line, &bytes) <= 0)
                return -EPIPE;
        CHECK(bytes < WORD_BYTES);
        memcpy(out, line, bytes);
        out[bytes] = '\0';
        return 0;
}

static int read_command(eddy_reader *reader, struct command *command)
{
        char line[WORD_BYTES];
        int err = read_line(reader, line);

        if (err < 0)
                return err;
        CHECK_EQ(line[0], '*');
        command->count = (int) strtol(line + 1, NULL, 10);
        CHECK(command->count > 0 && command->count <= WORDS_MAX);
        for (int i = 0; i < command->count && err == 0; i++) {
                err = read_line(reader, line); /* the length: no word here has a line end */
                if (err == 0)
                        err = read_line(reader, command->words[i]);
        }
        return err;
}

static void answer(const struct command *command, bool *in_multi, int *queued, char *out,
                   size_t room)
{
        const char *name = command->words[0], *last = command->words[command->count - 1];

        if (strcmp(name, "MULTI") == 0) {
                *in_multi = true;
                snprintf(out, room, "+OK\r\n");
        } else if (strcmp(name, "EXEC") == 0) {
                *in_multi = false;
                snprintf(out, room, "*1\r\n:%d\r\n", *queued);
        } else if (*in_multi) {
                *queued = (int) strtol(last, NULL, 10);
                snprintf(out, room, "+QUEUED\r\n");
        } else if (strcmp(name, "SCRIPT") == 0) {
                snprintf(out, room, "$40\r\n0123456789012345678901234567890123456789\r\n");
        } else if (strcmp(name, "EVALSHA") == 0 && world_chance(2)) {
                snprintf(out, room, "-NOSCRIPT No matching script\r\n");
        } else if (strcmp(name, "SUBSCRIBE") == 0) {
                snprintf(out, room,
                         "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n"
                         "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\n1\r\n"
                         "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\n2\r\n");
        } else {
                snprintf(out, room, ":%s\r\n", last);
        }
}

static int serve(eddy_stream *stream, void *arg)
{
        char buf[WORD_BYTES], out[256];
        eddy_reader reader;
        struct command command;
        bool in_multi = false;
        int queued = 0;

        (void) arg;
        site.connections++;
        eddy_reader_init(&reader, stream, buf, sizeof(buf));
        while (read_command(&reader, &command) == 0) {
                (void) eddy_sleep(world_delay_ns());
                answer(&command, &in_multi, &queued, out, sizeof(out));
                if (eddy_stream_write(stream, out, strlen(out)) < 0)
                        break;
        }
        return 0;
}

static int serve_all(void *arg)
{
        eddy_stream *stream;

        (void) arg;
        while (eddy_listener_accept(site.listener, &stream) == 0) {
                (void) serve(stream, NULL);
                eddy_stream_close(stream);
        }
        return 0;
}

/* --- the calls --- */

static void check_number(const eddy_redis_reply *reply, int number)
{
        int64_t value = -1;

        CHECK_EQ(eddy_redis_reply_integer(reply, &value), 0);
        CHECK_EQ(value, number);
}

static int command_va(eddy_redis_reply **ret_reply, const char *format, ...)
{
        va_list args;
        int err;

        va_start(args, format);
        err = eddy_redis_command_va(site.redis, ret_reply, format, args);
        va_end(args);
        return err;
}

static int command_call(void *arg)
{
        int number = ++site.number;
        eddy_redis_reply *reply;
        int err;

        (void) arg;
        if (world_chance(2))
                err = eddy_redis_command(site.redis, &reply, "ECHO %d", number);
        else
                err = command_va(&reply, "ECHO %d", number);
        if (err == 0) {
                check_number(reply, number);
                eddy_redis_reply_free(reply);
        }
        return err;
}

static int args_call(void *arg)
{
        char text[16];
        const char *const args[] = { "ECHO", text };
        int number = ++site.number;
        eddy_redis_reply *reply;
        int err;

        (void) arg;
        snprintf(text, sizeof(text), "%d", number);
        err = eddy_redis_command_args(site.redis, 2, args, NULL, &reply);
        if (err == 0) {
                check_number(reply, number);
                eddy_redis_reply_free(reply);
        }
        return err;
}

static int batch_call(void *arg)
{
        EDDY_AUTO(eddy_redis_batch) eddy_redis_batch *batch = NULL;
        int number = ++site.number;
        eddy_redis_reply *replies[3];
        int err;

        (void) arg;
        CHECK_EQ(eddy_redis_batch_new(&batch), 0);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(eddy_redis_batch_add(batch, "ECHO %d", number * 10 + i), 0);
        err = eddy_redis_batch_run(site.redis, batch, replies);
        for (int i = 0; i < 3 && err == 0; i++) {
                check_number(replies[i], number * 10 + i);
                eddy_redis_reply_free(replies[i]);
        }
        return err;
}

static int transaction_call(void *arg)
{
        EDDY_AUTO(eddy_redis_batch) eddy_redis_batch *batch = NULL;
        int number = ++site.number;
        eddy_redis_reply *reply;
        int err;

        (void) arg;
        CHECK_EQ(eddy_redis_batch_new(&batch), 0);
        CHECK_EQ(eddy_redis_batch_add(batch, "ECHO %d", number), 0);
        err = eddy_redis_transaction(site.redis, batch, &reply);
        if (err == 0) {
                check_number(eddy_redis_reply_at(reply, 0), number);
                eddy_redis_reply_free(reply);
        }
        return err;
}

static int eval_call(void *arg)
{
        eddy_redis_script script = { .source = "return" };
        char text[16];
        const char *const args[] = { text };
        int number = ++site.number;
        eddy_redis_reply *reply;
        int err;

        (void) arg;
        snprintf(text, sizeof(text), "%d", number);
        err = eddy_redis_eval(site.redis, &script, 0, 1, args, NULL, &reply);
        if (err == 0) {
                check_number(reply, number);
                eddy_redis_reply_free(reply);
        }
        return err;
}

static int victim(void *arg)
{
        for (int i = 0; i < COMMANDS_EACH; i++) {
                int err = victim_call(site.call, arg);

                CHECK(err == 0 || err == -ECANCELED);
                world_pause();
        }
        return 0;
}

static void begin(eddy_scope *service)
{
        char url[64];
        struct eddy_redis_opts opts = { .url = url };

        memset(&site, 0, sizeof(site));
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &site.listener), 0);
        snprintf(url, sizeof(url), "redis://127.0.0.1:%u",
                 (unsigned) eddy_listener_endpoint(site.listener).port);
        eddy_scope_begin(service, NULL);
        CHECK_EQ(eddy_scope_start(service, serve_all, NULL), 0);
        CHECK_EQ(eddy_scope_start(service, serve_all, NULL), 0);
        CHECK_EQ(eddy_redis_new(&opts, &site.redis), 0);
}

static void end(eddy_scope *service)
{
        eddy_redis_close(site.redis);
        eddy_scope_cancel(service);
        (void) eddy_scope_end(service);
        eddy_listener_close(site.listener);
}

static int world_of(eddy_task_fn *call)
{
        struct eddy_redis_stats stats;
        eddy_scope service;

        begin(&service);
        site.call = call;
        world_begin(VICTIMS);
        world_run(victim, NULL, VICTIMS);
        CHECK_EQ(command_call(NULL), 0); /* replies that were owed are dropped before this one */
        eddy_redis_stats(site.redis, &stats);
        CHECK_EQ(stats.owed, 0);
        CHECK_EQ(stats.links, 1);
        CHECK_EQ(stats.replies, stats.commands);
        end(&service);
        return 0;
}

static int world_command(void *arg)
{
        (void) arg;
        return world_of(command_call);
}

static int world_args(void *arg)
{
        (void) arg;
        return world_of(args_call);
}

static int world_batch(void *arg)
{
        (void) arg;
        return world_of(batch_call);
}

static int world_transaction(void *arg)
{
        (void) arg;
        return world_of(transaction_call);
}

static int world_eval(void *arg)
{
        (void) arg;
        return world_of(eval_call);
}

EVERY_POINT_LATE(command, eddy_redis_command)
ALSO(command, eddy_redis_command_va)
EVERY_POINT_LATE(args, eddy_redis_command_args)
EVERY_POINT_LATE(batch, eddy_redis_batch_run)
EVERY_POINT_LATE(transaction, eddy_redis_transaction)
EVERY_POINT_LATE(eval, eddy_redis_eval)

/* --- subscriptions --- */

static struct eddy_redis_message message;

static int start_call(void *arg)
{
        return eddy_redis_subscriber_start(arg);
}

static int next_call(void *arg)
{
        return eddy_redis_subscriber_next(arg, &message);
}

/* Take both messages, in order; after a cancel, the main task takes the rest. */
static int take_messages(eddy_redis_subscriber *subscriber, bool as_victim)
{
        while (site.number < 2) {
                int err = as_victim ? victim_call(next_call, subscriber) : next_call(subscriber);

                if (as_victim && err == -ECANCELED)
                        return 0;
                CHECK_EQ(err, 0);
                CHECK_EQ(message.kind, EDDY_REDIS_MESSAGE);
                CHECK_EQ(strtol(message.data, NULL, 10), ++site.number);
        }
        return 0;
}

static int subscriber_victim(void *arg)
{
        int err = victim_call(start_call, arg);

        CHECK(err == 0 || err == -ECANCELED);
        return take_messages(arg, true);
}

static int world_subscriber(void *arg)
{
        static const char *const channels[] = { "a", NULL };
        struct eddy_redis_subscriber_opts opts = { .channels = channels };
        eddy_redis_subscriber *subscriber;
        eddy_scope service;

        (void) arg;
        begin(&service);
        CHECK_EQ(eddy_redis_subscriber_new(site.redis, &opts, &subscriber), 0);
        world_begin(1);
        world_run(subscriber_victim, subscriber, 1);
        CHECK_EQ(take_messages(subscriber, false), 0);
        eddy_redis_subscriber_close(subscriber);
        end(&service);
        return 0;
}

EVERY_POINT_LATE(subscriber, eddy_redis_subscriber_next)
ALSO(subscriber, eddy_redis_subscriber_start)
