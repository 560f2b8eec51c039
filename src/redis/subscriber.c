/*
 * redis/subscriber.c - subscriptions, on a connection of their own.
 *
 * The task that asks for the next message reads the connection itself; nothing is read ahead except
 * the rest of the last read. A message that is not taken waits at the server. The server's limit
 * ends the connection of a subscriber that is too slow, and so bounds the queue.
 */
#include "eddy/redis_pubsub.h"

#include <stdio.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/scope.h"
#include "redis/redis.h"
#include "scope/misuse.h"

enum { SUBSCRIBE_BYTES_MAX = 64 << 20, NAMES_AT_ONCE = 128, EARLY_MAX = 64 };

#define PING_AFTER_NS EDDY_SEC(15)

struct eddy_redis_subscriber {
        eddy_redis *origin;
        eddy_redis *redis; /* a clone of 'origin' for this connection */
        struct ed_redis_link *link;
        struct ed_buf commands; /* SUBSCRIBE and PSUBSCRIBE with all names */
        uint32_t names;
        uint32_t unconfirmed;
        int64_t ping_after_ns;
        struct ed_redis_pace pace;
        bool is_busy;
        bool was_started;
        bool is_asked;          /* a PING was sent */
        eddy_redis_reply *last; /* lent to the caller */
        uint32_t early_count;
        uint32_t early_taken;
        eddy_redis_reply *early[EARLY_MAX]; /* came before the last confirmation; NULL: a gap */
};

/* --- making --- */

/* Append a command with some of the names. */
static int add_command(struct ed_buf *buf, const char *command, const char *const *names,
                       uint32_t n)
{
        const char *args[NAMES_AT_ONCE + 1];
        int64_t bytes;
        char *data;
        int err;

        args[0] = command;
        for (uint32_t i = 0; i < n; i++)
                args[i + 1] = names[i];
        bytes = ed_redis_format_args(&data, n + 1, args, NULL);
        if (bytes < 0)
                return (int) bytes;
        err = ed_buf_append(buf, data, (size_t) bytes);
        redisFreeCommand(data);
        return err;
}

static int add_names(eddy_redis_subscriber *subscriber, const char *command,
                     const char *const *names)
{
        uint32_t n = 0;
        int err;

        while (names && names[0]) {
                for (n = 0; n < NAMES_AT_ONCE && names[n]; n++) {
                }
                subscriber->names += n;
                if (subscriber->names > EDDY_REDIS_CHANNELS_MAX)
                        return -EINVAL;
                err = add_command(&subscriber->commands, command, names, n);
                if (err < 0)
                        return err == -EMSGSIZE ? -EINVAL : err;
                names += n;
        }
        return 0;
}

int eddy_redis_subscriber_new(eddy_redis *redis, const struct eddy_redis_subscriber_opts *opts,
                              eddy_redis_subscriber **ret_subscriber)
{
        static const struct eddy_redis_subscriber_opts defaults;
        eddy_redis_subscriber *subscriber;
        int err;

        if (!redis || !ret_subscriber)
                return -EINVAL;
        if (redis->is_closed)
                return EDDY_E_REDIS_CLOSED;
        err = ed_member_check(&redis->member);
        if (err < 0)
                return err;
        opts = opts ? opts : &defaults;
        subscriber = ed_alloc_zero(sizeof(*subscriber));
        if (!subscriber)
                return -ENOMEM;
        ed_buf_init(&subscriber->commands, SUBSCRIBE_BYTES_MAX);
        subscriber->ping_after_ns = opts->ping_after_ns ? opts->ping_after_ns : PING_AFTER_NS;
        ed_redis_ref(redis);
        subscriber->origin = redis;
        subscriber->redis = ed_redis_clone(redis);
        err = subscriber->redis ? 0 : -ENOMEM;
        if (err == 0)
                err = add_names(subscriber, "SUBSCRIBE", opts->channels);
        if (err == 0)
                err = add_names(subscriber, "PSUBSCRIBE", opts->patterns);
        if (err < 0)
                eddy_redis_subscriber_close(subscriber);
        else
                *ret_subscriber = subscriber;
        return err;
}

static void drop_link(eddy_redis_subscriber *subscriber)
{
        if (subscriber->link)
                ed_redis_link_unref(subscriber->link);
        subscriber->link = NULL;
}

void eddy_redis_subscriber_close(eddy_redis_subscriber *subscriber)
{
        if (!subscriber || !ed_misuse_may_close(&subscriber->origin->member, "a Redis subscriber"))
                return;
        drop_link(subscriber);
        while (subscriber->early_taken < subscriber->early_count)
                eddy_redis_reply_free(subscriber->early[subscriber->early_taken++]);
        eddy_redis_reply_free(subscriber->last);
        ed_buf_fini(&subscriber->commands);
        eddy_redis_close(subscriber->redis);
        ed_redis_unref(subscriber->origin);
        ed_free(subscriber);
}

/* --- the connection --- */

/* Connect and send the subscriptions. */
static int connect_now(eddy_redis_subscriber *subscriber)
{
        const struct ed_buf *commands = &subscriber->commands;
        int err = ed_redis_pace(subscriber->redis->member.loop, &subscriber->pace);

        if (err == 0)
                err = ed_redis_connect(subscriber->redis, &subscriber->link);
        if (err < 0) {
                subscriber->redis->fault = subscriber->redis->attempt_fault;
                return err;
        }
        subscriber->unconfirmed = subscriber->names;
        subscriber->is_asked = false;
        subscriber->link->silence_ns = ed_loop_now(subscriber->redis->member.loop);
        err = eddy_stream_write(subscriber->link->stream, ed_buf_data(commands),
                                ed_buf_bytes(commands));
        if (err < 0)
                drop_link(subscriber);
        return err;
}

/* Returns true for an error that a later attempt to connect may not have. */
static bool may_pass(int err)
{
        return err != -ECANCELED && err != -ENOMEM && err != EDDY_E_REDIS_AUTH &&
               err != EDDY_E_REDIS_ERROR;
}

/* Connect again. */
static int reconnect(eddy_redis_subscriber *subscriber)
{
        int err;

        do
                err = connect_now(subscriber);
        while (err < 0 && may_pass(err));
        return err;
}

/*
 * Read bytes, within the time of the next PING, which counts from the last byte or PING and not from
 * this call.  Returns 0 after a timeout.
 */
static int64_t read_some(eddy_redis_subscriber *subscriber)
{
        struct ed_redis_link *link = subscriber->link;
        struct ed_loop *loop = subscriber->redis->member.loop;
        struct eddy_scope_opts opts = { .timeout_ns = 0 }; /* none */
        bool is_due = false;
        eddy_scope scope;
        int64_t n;
        int ended;

        if (subscriber->ping_after_ns > 0) {
                opts.timeout_ns = link->silence_ns + subscriber->ping_after_ns - ed_loop_now(loop);
                is_due = opts.timeout_ns <= 0;
        }
        if (is_due) {
                n = eddy_stream_try_read(link->stream, link->in, sizeof(link->in));
        } else {
                eddy_scope_begin(&scope, &opts);
                n = eddy_stream_read(link->stream, link->in, sizeof(link->in));
                ended = eddy_scope_end(&scope);
                if (n == -ECANCELED && ended == -ETIMEDOUT)
                        n = -EAGAIN;
        }
        if (n > 0 || n == -EAGAIN)
                link->silence_ns = ed_loop_now(loop);
        return n == 0 ? -ECONNRESET : n == -EAGAIN ? 0 : n;
}

/* Get the next reply.  Any error but -ECANCELED means that the connection is of no more use. */
static int read_reply(eddy_redis_subscriber *subscriber, eddy_redis_reply **ret_reply)
{
        static const char ping[] = "*1\r\n$4\r\nPING\r\n";
        struct ed_redis_link *link = subscriber->link;
        int64_t n;
        int err;

        for (;;) {
                err = ed_redis_reader_next(&link->reader, ret_reply);
                if (err != 0)
                        return err < 0 ? err : 0;
                n = read_some(subscriber);
                if (n < 0)
                        return (int) n;
                if (n == 0 && subscriber->is_asked)
                        return EDDY_E_NET_TIMED_OUT;
                subscriber->is_asked = n == 0;
                err = n == 0 ? eddy_stream_write(link->stream, ping, sizeof(ping) - 1)
                             : ed_redis_reader_feed(&link->reader, link->in, (size_t) n);
                if (err == -ECANCELED)
                        subscriber->is_asked = false;
                if (err < 0)
                        return err;
        }
}

/* --- messages --- */

/* Returns the text of an element; "" if there is none. */
static const char *text_at(const eddy_redis_reply *reply, uint32_t index, size_t *ret_bytes)
{
        const char *text = eddy_redis_reply_text(eddy_redis_reply_at(reply, index), ret_bytes);

        return text ? text : "";
}

/*
 * Look at a reply: returns 1 for a message, 0 for a confirmation or a pong.
 * Errors: EDDY_E_REDIS_ERROR, EDDY_E_REDIS_PROTOCOL
 */
static int look(eddy_redis_subscriber *subscriber, const eddy_redis_reply *reply,
                struct eddy_redis_message *message)
{
        const char *kind = text_at(reply, 0, NULL);
        uint32_t count = eddy_redis_reply_count(reply);

        *message = (struct eddy_redis_message){ .kind = EDDY_REDIS_MESSAGE };
        if (eddy_redis_reply_type(reply) == EDDY_REDIS_ERROR) {
                ed_redis_fault_of(&subscriber->redis->fault, reply);
                return EDDY_E_REDIS_ERROR;
        }
        if (count == 3 && strcmp(kind, "message") == 0) {
                message->channel = text_at(reply, 1, NULL);
                message->data = text_at(reply, 2, &message->bytes);
                return 1;
        }
        if (count == 4 && strcmp(kind, "pmessage") == 0) {
                message->pattern = text_at(reply, 1, NULL);
                message->channel = text_at(reply, 2, NULL);
                message->data = text_at(reply, 3, &message->bytes);
                return 1;
        }
        if (strcmp(kind, "subscribe") == 0 || strcmp(kind, "psubscribe") == 0) {
                if (subscriber->unconfirmed > 0)
                        subscriber->unconfirmed--;
                return 0;
        }
        /* A subscriber without channels gets a plain PONG. */
        return strcmp(kind, "pong") == 0 || eddy_redis_reply_type(reply) == EDDY_REDIS_STATUS
                       ? 0
                       : EDDY_E_REDIS_PROTOCOL;
}

/* Note that messages may be missing here: after those that are kept, and before later ones. */
static void keep_gap(eddy_redis_subscriber *subscriber)
{
        uint32_t count = subscriber->early_count;

        if (count == 0 || subscriber->early[count - 1])
                subscriber->early[subscriber->early_count++] = NULL;
}

/*
 * Keep a message that came before the last confirmation. Too many of them are a gap, for which the
 * last place is reserved.
 */
static void keep(eddy_redis_subscriber *subscriber, eddy_redis_reply *reply)
{
        if (subscriber->early_count < EARLY_MAX - 1) {
                subscriber->early[subscriber->early_count++] = reply;
                return;
        }
        keep_gap(subscriber);
        eddy_redis_reply_free(reply);
}

/* Wait until all channels are confirmed. */
static int confirm(eddy_redis_subscriber *subscriber)
{
        struct eddy_redis_message message;
        eddy_redis_reply *reply;
        int err;

        while (subscriber->unconfirmed > 0) {
                err = read_reply(subscriber, &reply);
                if (err < 0)
                        return err;
                err = look(subscriber, reply, &message);
                if (err > 0) {
                        keep(subscriber, reply);
                        continue;
                }
                eddy_redis_reply_free(reply);
                if (err < 0)
                        return err;
        }
        return 0;
}

/* Lend a message to the caller. */
static void lend(eddy_redis_subscriber *subscriber, eddy_redis_reply *reply)
{
        eddy_redis_reply_free(subscriber->last);
        subscriber->last = reply;
}

static int receive(eddy_redis_subscriber *subscriber, struct eddy_redis_message *ret_message)
{
        eddy_redis_reply *reply;
        int err;

        for (;;) {
                err = read_reply(subscriber, &reply);
                if (err < 0)
                        return err;
                err = look(subscriber, reply, ret_message);
                if (err > 0) {
                        lend(subscriber, reply);
                        return 0;
                }
                eddy_redis_reply_free(reply);
                if (err < 0)
                        return err;
        }
}

/* Connect for the first time. */
static int start(eddy_redis_subscriber *subscriber)
{
        int err = 0;

        if (subscriber->was_started)
                return 0;
        if (!subscriber->link)
                err = connect_now(subscriber);
        if (err == 0)
                err = confirm(subscriber);
        if (err == 0)
                subscriber->was_started = true;
        else if (err != -ECANCELED)
                drop_link(subscriber);
        return err;
}

/* Take an early message or gap, without reading.  Returns false if there is none. */
static bool take_early(eddy_redis_subscriber *subscriber, struct eddy_redis_message *ret_message)
{
        eddy_redis_reply *reply;

        if (subscriber->early_count == 0)
                return false;
        reply = subscriber->early[subscriber->early_taken++];
        if (subscriber->early_taken == subscriber->early_count)
                subscriber->early_taken = subscriber->early_count = 0;
        if (reply)
                (void) look(subscriber, reply, ret_message);
        else
                *ret_message = (struct eddy_redis_message){ .kind = EDDY_REDIS_GAP };
        lend(subscriber, reply);
        return true;
}

static int next(eddy_redis_subscriber *subscriber, struct eddy_redis_message *ret_message)
{
        struct eddy_redis_message message;
        int err = start(subscriber);

        while (err == 0) {
                if (!subscriber->link) {
                        keep_gap(subscriber);
                        err = reconnect(subscriber);
                }
                if (err == 0)
                        err = confirm(subscriber);
                if (err == 0 && take_early(subscriber, ret_message))
                        return 0;
                if (err == 0)
                        err = receive(subscriber, &message);
                if (err == 0) {
                        *ret_message = message;
                        return 0;
                }
                if (err != -ECANCELED)
                        drop_link(subscriber);
                err = may_pass(err) ? 0 : err;
        }
        return err;
}

/* Run one of the two steps, as the only task. */
static int exclusively(eddy_redis_subscriber *subscriber, struct eddy_redis_message *ret_message)
{
        struct ed_task *task;
        int err = ed_suspend_enter(&task);

        if (err < 0)
                return err;
        if (task->loop != subscriber->redis->member.loop)
                return EDDY_E_RUN_OTHER_LOOP;
        if (subscriber->is_busy)
                return -EBUSY;
        subscriber->is_busy = true;
        ed_redis_fault_clear(&subscriber->redis->fault);
        err = ret_message ? next(subscriber, ret_message) : start(subscriber);
        subscriber->is_busy = false;
        if (err < 0 && !subscriber->redis->fault.text[0])
                ed_redis_fault(&subscriber->redis->fault, "%s", eddy_error_text(err));
        if (err < 0 && err != -ECANCELED)
                subscriber->origin->fault = subscriber->redis->fault;
        return err;
}

int eddy_redis_subscriber_start(eddy_redis_subscriber *subscriber)
{
        return subscriber ? exclusively(subscriber, NULL) : -EINVAL;
}

int eddy_redis_subscriber_next(eddy_redis_subscriber *subscriber,
                               struct eddy_redis_message *ret_message)
{
        return subscriber && ret_message ? exclusively(subscriber, ret_message) : -EINVAL;
}
