/*
 * redis/client.c - a client: it connects when a command needs it, and connects again after a loss.
 *
 * A command runs on the link that the client has when it is sent, and is never sent on another
 * link. A link that has been silent for DRAIN_NS after a command on it was cancelled is retired:
 * tasks that wait for it continue to wait, and new commands go to a new connection.
 */
#include <stdio.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/scope.h"
#include "eddy/time.h"
#include "redis/redis.h"
#include "scope/misuse.h"
#include "scope/scope.h"

enum { COMMANDS_DEFAULT = 1024, LINKS_MAX = 8 };

#define BYTES_DEFAULT      (64U << 20)
#define CONNECT_TIMEOUT_NS EDDY_SEC(10)
#define DRAIN_NS           EDDY_MS(500)

int eddy_redis_new(const struct eddy_redis_opts *opts, eddy_redis **ret_redis)
{
        static const struct eddy_redis_opts defaults;
        eddy_redis *redis;
        int err;

        opts = opts ? opts : &defaults;
        if (!ret_redis || opts->commands_max > EDDY_REDIS_COMMANDS_MAX ||
            opts->command_timeout_ns < 0)
                return -EINVAL;
        if (!ed_loop_current)
                return EDDY_E_RUN_NOT_RUNNING;
        redis = ed_alloc_zero(sizeof(*redis));
        if (!redis)
                return -ENOMEM;
        err = ed_redis_target_read(opts, &redis->target);
        if (err < 0) {
                ed_free(redis);
                return err;
        }
        redis->opts = (struct eddy_redis_opts){
                .flags = opts->flags,
                .tls = opts->tls,
                .commands_max = opts->commands_max ? opts->commands_max : COMMANDS_DEFAULT,
                .connect_timeout_ns =
                        opts->connect_timeout_ns ? opts->connect_timeout_ns : CONNECT_TIMEOUT_NS,
                .request_bytes_max =
                        opts->request_bytes_max ? opts->request_bytes_max : BYTES_DEFAULT,
                .command_timeout_ns = opts->command_timeout_ns,
                .reply_bytes_max = opts->reply_bytes_max ? opts->reply_bytes_max : BYTES_DEFAULT,
        };
        ed_member_join(&redis->member, ed_loop_current, NULL);
        redis->refs = 1;
        *ret_redis = redis;
        return 0;
}

eddy_redis *ed_redis_clone(const eddy_redis *redis)
{
        eddy_redis *clone = ed_alloc_zero(sizeof(*clone));

        if (!clone)
                return NULL;
        ed_member_join(&clone->member, redis->member.loop, NULL);
        clone->target = redis->target;
        clone->opts = redis->opts;
        clone->opts.flags |= EDDY_REDIS_DEDICATED;
        clone->refs = 1;
        return clone;
}

void ed_redis_ref(eddy_redis *redis)
{
        redis->refs++;
}

void ed_redis_unref(eddy_redis *redis)
{
        if (--redis->refs > 0)
                return;
        eddy_tls_config_close(redis->made_tls);
        explicit_bzero(&redis->target, sizeof(redis->target));
        ed_member_leave(&redis->member);
        ed_free(redis);
}

/* Leave the present link: it ends when its last request has ended. */
static void drop_link(eddy_redis *redis)
{
        struct ed_redis_link *link = redis->link;

        redis->link = NULL;
        if (link)
                ed_redis_link_unref(link);
}

void eddy_redis_close(eddy_redis *redis)
{
        if (!redis || redis->is_closed || !ed_misuse_may_close(&redis->member, "a Redis client"))
                return;
        redis->is_closed = true;
        if (redis->link)
                ed_redis_link_fail(redis->link, EDDY_E_REDIS_CLOSED);
        drop_link(redis);
        if (redis->attempting)
                eddy_scope_cancel(redis->attempting);
        ed_redis_unref(redis);
}

/* --- faults --- */

void ed_redis_fault_clear(struct eddy_redis_fault *fault)
{
        fault->code[0] = fault->text[0] = '\0';
}

void ed_redis_fault(struct eddy_redis_fault *fault, const char *format, ...)
{
        va_list args;

        fault->code[0] = '\0';
        va_start(args, format);
        vsnprintf(fault->text, sizeof(fault->text), format, args);
        va_end(args);
}

void ed_redis_fault_of(struct eddy_redis_fault *fault, const eddy_redis_reply *reply)
{
        const char *text = reply->is.text;
        size_t n = strcspn(text, " ");
        size_t room = sizeof(fault->code) - 1;

        ed_redis_fault(fault, "%s", text);
        snprintf(fault->code, sizeof(fault->code), "%.*s", (int) (n < room ? n : room), text);
}

/* Store the fault of an error that has no details, if there is one, and return the error. */
static int fail(eddy_redis *redis, int err)
{
        if (err == EDDY_E_REDIS_LOST)
                ed_redis_fault(&redis->fault,
                               "%s; give the client back to its pool, or close it, and use "
                               "another one",
                               redis->was_cancelled
                                       ? "a command of this client was cancelled, which ended "
                                         "its connection"
                                       : eddy_error_text(err));
        else if (err < 0 && err != -ECANCELED)
                ed_redis_fault(&redis->fault, "%s", eddy_error_text(err));
        return err;
}

int ed_redis_answer(eddy_redis *redis, eddy_redis_reply *reply, eddy_redis_reply **ret_reply)
{
        if (reply->type == EDDY_REDIS_ERROR) {
                ed_redis_fault_of(&redis->fault, reply);
                eddy_redis_reply_free(reply);
                return EDDY_E_REDIS_ERROR;
        }
        if (ret_reply)
                *ret_reply = reply;
        else
                eddy_redis_reply_free(reply);
        return 0;
}

const struct eddy_redis_fault *eddy_redis_fault(const eddy_redis *redis)
{
        static const struct eddy_redis_fault none;

        return redis ? &redis->fault : &none;
}

/* --- connecting --- */

/* Wait for the pause that is due, and connect.  eddy_redis_close() cancels both. */
static int connect_or_close(eddy_redis *redis, struct ed_redis_link **ret_link)
{
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, NULL);
        redis->attempting = &scope;
        err = ed_redis_pace(redis->member.loop, &redis->pace);
        if (err == 0)
                err = ed_redis_connect(redis, ret_link);
        redis->attempting = NULL;
        (void) eddy_scope_end(&scope);
        return err;
}

/* Make one attempt to connect.  The caller has the lock. */
static int attempt(eddy_redis *redis)
{
        struct ed_redis_link *link = NULL;
        int err = connect_or_close(redis, &link);

        if (redis->is_closed) {
                if (err == 0)
                        ed_redis_link_unref(link);
                return fail(redis, EDDY_E_REDIS_CLOSED);
        }
        if (err == -ECANCELED)
                return err;
        redis->attempts++;
        redis->attempt_err = err;
        if (err < 0) {
                redis->stats.failures++;
                return err;
        }
        redis->stats.connects++;
        redis->was_connected = true;
        drop_link(redis); /* of another task's attempt, and failed since */
        redis->link = link;
        return 0;
}

/* Connect, or wait for the attempt of another task. */
static int connect_once(eddy_redis *redis)
{
        uint64_t attempts = redis->attempts;
        int err = eddy_lock_acquire(&redis->connecting);

        if (err < 0)
                return err;
        if (redis->is_closed)
                err = fail(redis, EDDY_E_REDIS_CLOSED);
        else if (redis->link && redis->link->err == 0)
                err = 0;
        else if (redis->attempts != attempts && redis->attempt_err < 0)
                err = redis->attempt_err; /* of an attempt that began after this call */
        else
                err = attempt(redis);
        if (err < 0 && err == redis->attempt_err)
                redis->fault = redis->attempt_fault;
        (void) eddy_lock_release(&redis->connecting);
        return err;
}

/* Returns true if the present link can take a command. */
static bool has_link(eddy_redis *redis)
{
        struct ed_redis_link *link = redis->link;

        if (!link)
                return false;
        if (link->err < 0)
                return false;
        if (ed_redis_link_is_idle(link))
                return !eddy_stream_is_readable(link->stream); /* closed by the server, or stale */
        return link->abandoned == 0 || redis->stats.links >= LINKS_MAX ||
               ed_loop_now(redis->member.loop) - link->silence_ns <= DRAIN_NS ||
               eddy_stream_is_readable(link->stream); /* this process was slow, not the server */
}

/* Get a link that can take a command.  A new one is used in any case: its end is the command's. */
static int get_link(eddy_redis *redis)
{
        if (has_link(redis))
                return 0;
        drop_link(redis);
        if (redis->was_connected && redis->opts.flags & EDDY_REDIS_DEDICATED)
                return fail(redis, EDDY_E_REDIS_LOST);
        return connect_once(redis);
}

/* Check that the client allows the command, and note what it does to the connection. */
static int check(eddy_redis *redis, const char *data, size_t bytes)
{
        enum ed_redis_effect effect = ed_redis_effect(data, bytes);

        if (effect == ED_REDIS_PLAIN)
                return 0;
        if (effect == ED_REDIS_BREAKS || !(redis->opts.flags & EDDY_REDIS_DEDICATED)) {
                ed_redis_fault(&redis->fault, "%s",
                               effect == ED_REDIS_BREAKS
                                       ? "the command would change the protocol: for "
                                         "subscriptions, use eddy_redis_subscriber"
                                       : "the command needs a dedicated connection, see "
                                         "eddy_redis_pool_new()");
                return EDDY_E_REDIS_COMMAND;
        }
        redis->is_changed |= effect == ED_REDIS_CHANGES;
        redis->is_spoiled |= effect == ED_REDIS_LOGS_IN;
        return 0;
}

/* Check that the limits of the client have room for commands on the present link. */
static int check_room(eddy_redis *redis, size_t bytes, uint32_t count)
{
        const struct ed_redis_link *link = redis->link;
        uint64_t owed = link->last - link->first;
        size_t waiting = ed_buf_bytes(&link->out);

        if (owed + count > redis->opts.commands_max)
                ed_redis_fault(&redis->fault,
                               "%u commands, and %u without a reply, are more than "
                               "commands_max (%u)",
                               (unsigned) count, (unsigned) owed,
                               (unsigned) redis->opts.commands_max);
        else if (bytes > redis->opts.request_bytes_max ||
                 waiting > redis->opts.request_bytes_max - bytes)
                ed_redis_fault(&redis->fault,
                               "%zu bytes, and %zu that wait to be sent, are more than "
                               "request_bytes_max (%zu)",
                               bytes, waiting, redis->opts.request_bytes_max);
        else
                return 0;
        return EDDY_E_REDIS_FULL;
}

/* Run commands on the link, within 'command_timeout_ns'. */
static int run_in_time(eddy_redis *redis, const char *data, size_t bytes, uint32_t count,
                       eddy_redis_reply **ret_replies)
{
        struct eddy_scope_opts limit = { .timeout_ns = redis->opts.command_timeout_ns };
        eddy_scope scope;
        int err;

        if (limit.timeout_ns == 0)
                return ed_redis_link_run(redis->link, data, bytes, count, ret_replies);
        eddy_scope_begin(&scope, &limit);
        err = eddy_scope_end_with(&scope,
                                  ed_redis_link_run(redis->link, data, bytes, count, ret_replies));
        return err == -ETIMEDOUT ? EDDY_E_REDIS_TIMED_OUT : err;
}

int ed_redis_run(eddy_redis *redis, const char *data, size_t bytes, uint32_t count,
                 eddy_redis_reply **ret_replies)
{
        struct ed_task *task;
        int err = ed_suspend_enter(&task);

        if (err < 0)
                return err;
        if (task->loop != redis->member.loop)
                return EDDY_E_RUN_OTHER_LOOP;
        if (redis->is_closed)
                return fail(redis, EDDY_E_REDIS_CLOSED);
        ed_redis_ref(redis);
        err = get_link(redis);
        if (err == 0)
                err = check_room(redis, bytes, count);
        if (err == 0)
                err = fail(redis, run_in_time(redis, data, bytes, count, ret_replies));
        ed_redis_unref(redis);
        return err;
}

/* --- commands --- */

/* Store why a command could not be formatted. */
static int invalid(eddy_redis *redis, int err)
{
        if (err == -EINVAL)
                ed_redis_fault(&redis->fault,
                               "the command is empty, has a text that is NULL, or has a conversion "
                               "that is not %%s, %%b, %%%% or that of a number");
        else if (err == -EMSGSIZE)
                ed_redis_fault(&redis->fault, "the command is longer than 1 GiB");
        else
                (void) fail(redis, err);
        return err;
}

/* Run one formatted command, and free it. */
static int run_one(eddy_redis *redis, char *data, int64_t bytes, eddy_redis_reply **ret_reply)
{
        eddy_redis_reply *reply;
        int err;

        if (bytes < 0)
                return invalid(redis, (int) bytes);
        err = check(redis, data, (size_t) bytes);
        ed_redis_ref(redis);
        if (err == 0)
                err = ed_redis_run(redis, data, (size_t) bytes, 1, &reply);
        redisFreeCommand(data);
        if (err == 0)
                err = ed_redis_answer(redis, reply, ret_reply);
        ed_redis_unref(redis);
        return err;
}

int eddy_redis_command_va(eddy_redis *redis, eddy_redis_reply **ret_reply, const char *format,
                          va_list args)
{
        char *data = NULL;
        int64_t bytes;

        if (!redis || !format)
                return -EINVAL;
        ed_redis_fault_clear(&redis->fault);
        bytes = ed_redis_format(&data, format, args);
        return run_one(redis, data, bytes, ret_reply);
}

int eddy_redis_command(eddy_redis *redis, eddy_redis_reply **ret_reply, const char *format, ...)
{
        va_list args;
        int err;

        va_start(args, format);
        err = eddy_redis_command_va(redis, ret_reply, format, args);
        va_end(args);
        return err;
}

int eddy_redis_command_args(eddy_redis *redis, uint32_t n, const char *const *args,
                            const size_t *bytes, eddy_redis_reply **ret_reply)
{
        char *data = NULL;
        int64_t formatted;

        if (!redis || !args)
                return -EINVAL;
        ed_redis_fault_clear(&redis->fault);
        formatted = ed_redis_format_args(&data, n, args, bytes);
        return run_one(redis, data, formatted, ret_reply);
}

void eddy_redis_stats(const eddy_redis *redis, struct eddy_redis_stats *ret_stats)
{
        *ret_stats = redis ? redis->stats : (struct eddy_redis_stats){ .owed = 0 };
        if (redis && redis->link)
                ret_stats->owed = (uint32_t) (redis->link->last - redis->link->first);
}
