/*
 * redis/batch.c - commands that are sent together, and transactions.
 *
 * A batch is one piece of the connection's bytes, so no command of another task is between MULTI and
 * EXEC, and a transaction without WATCH does not need a connection of its own.
 *
 * If the server refused MULTI, it would run the commands that follow. A dedicated client therefore
 * waits for the reply to MULTI. On a shared connection, commands of other tasks would be between MULTI
 * and EXEC; there, the first transaction of a client is preceded by an empty one, which shows that the
 * server knows MULTI and allows it. (The server does not refuse MULTI for a reason that passes.)
 */
#include "base/alloc.h"
#include "eddy/error.h"
#include "redis/redis.h"

enum { BATCH_BYTES_MAX = 64 << 20 };

struct eddy_redis_batch {
        struct ed_buf commands;
        uint32_t count;
        bool has_effect; /* a command that needs a check of its own */
};

int eddy_redis_batch_new(eddy_redis_batch **ret_batch)
{
        eddy_redis_batch *batch = ed_alloc_zero(sizeof(*batch));

        if (!batch)
                return -ENOMEM;
        ed_buf_init(&batch->commands, BATCH_BYTES_MAX);
        *ret_batch = batch;
        return 0;
}

void eddy_redis_batch_free(eddy_redis_batch *batch)
{
        if (!batch)
                return;
        ed_buf_fini(&batch->commands);
        ed_free(batch);
}

uint32_t eddy_redis_batch_count(const eddy_redis_batch *batch)
{
        return batch ? batch->count : 0;
}

/* Append a formatted command, and free it. */
static int append(eddy_redis_batch *batch, char *data, int64_t bytes)
{
        int err;

        if (bytes < 0)
                return (int) bytes;
        batch->has_effect |= ed_redis_effect(data, (size_t) bytes) != ED_REDIS_PLAIN;
        err = batch->count < EDDY_REDIS_BATCH_MAX
                      ? ed_buf_append(&batch->commands, data, (size_t) bytes)
                      : -EMSGSIZE;
        redisFreeCommand(data);
        if (err == 0)
                batch->count++;
        return err;
}

int eddy_redis_batch_add(eddy_redis_batch *batch, const char *format, ...)
{
        char *data = NULL;
        int64_t bytes;
        va_list args;

        if (!batch || !format)
                return -EINVAL;
        va_start(args, format);
        bytes = ed_redis_format(&data, format, args);
        va_end(args);
        return append(batch, data, bytes);
}

int eddy_redis_batch_add_args(eddy_redis_batch *batch, uint32_t n, const char *const *args,
                              const size_t *bytes)
{
        char *data = NULL;
        int64_t formatted;

        if (!batch || !args)
                return -EINVAL;
        formatted = ed_redis_format_args(&data, n, args, bytes);
        return append(batch, data, formatted);
}

static int empty(eddy_redis *redis)
{
        ed_redis_fault(&redis->fault, "the batch is empty");
        return -EINVAL;
}

int eddy_redis_batch_run(eddy_redis *redis, const eddy_redis_batch *batch,
                         eddy_redis_reply **ret_replies)
{
        if (!redis || !batch || !ret_replies)
                return -EINVAL;
        ed_redis_fault_clear(&redis->fault);
        if (batch->count == 0)
                return empty(redis);
        if (batch->has_effect) {
                ed_redis_fault(&redis->fault, "a command of the batch needs a call of its own");
                return EDDY_E_REDIS_COMMAND;
        }
        return ed_redis_run(redis, ed_buf_data(&batch->commands), ed_buf_bytes(&batch->commands),
                            batch->count, ret_replies);
}

static const char multi[] = "*1\r\n$5\r\nMULTI\r\n", exec[] = "*1\r\n$4\r\nEXEC\r\n";

/*
 * Look at the replies to the queued commands and to EXEC, which is the last one. If a command was
 * refused, EXEC is refused too; the error of the command says why.
 */
static int exec_result(eddy_redis *redis, eddy_redis_reply **replies, uint32_t count,
                       eddy_redis_reply **ret_reply)
{
        eddy_redis_reply *last = replies[count - 1];
        int err = 0;

        for (uint32_t i = 0; i + 1 < count && err == 0; i++)
                if (replies[i]->type == EDDY_REDIS_ERROR) {
                        ed_redis_fault_of(&redis->fault, replies[i]);
                        err = EDDY_E_REDIS_ERROR;
                }
        for (uint32_t i = 0; i + 1 < count; i++)
                eddy_redis_reply_free(replies[i]);
        if (err == 0 && last->type == EDDY_REDIS_NIL) {
                ed_redis_fault(&redis->fault, "%s", eddy_error_text(EDDY_E_REDIS_ABORTED));
                err = EDDY_E_REDIS_ABORTED;
        }
        if (err == 0)
                return ed_redis_answer(redis, last, ret_reply);
        eddy_redis_reply_free(last);
        return err;
}

/* MULTI was refused after it had been allowed: rights were changed. */
static int ran_alone(eddy_redis *redis, eddy_redis_reply **replies, uint32_t count)
{
        ed_redis_fault(&redis->fault, "the commands may have run, but not as a transaction: %s",
                       replies[0]->is.text);
        for (uint32_t i = 0; i < count; i++)
                eddy_redis_reply_free(replies[i]);
        return EDDY_E_REDIS_UNKNOWN;
}

/*
 * Send MULTI, followed by EXEC on a shared connection, and wait for the replies. The transaction has
 * not begun, so a lost connection has a known result.
 */
static int multi_first(eddy_redis *redis, bool is_shared)
{
        eddy_redis_reply *replies[2] = { NULL };
        struct ed_buf buf;
        int err;

        ed_buf_init(&buf, sizeof(multi) + sizeof(exec));
        err = ed_buf_append(&buf, multi, sizeof(multi) - 1);
        if (err == 0 && is_shared)
                err = ed_buf_append(&buf, exec, sizeof(exec) - 1);
        if (err == 0)
                err = ed_redis_run(redis, ed_buf_data(&buf), ed_buf_bytes(&buf), 1 + is_shared,
                                   replies);
        ed_buf_fini(&buf);
        if (err == EDDY_E_REDIS_UNKNOWN) {
                err = -ECONNRESET;
                ed_redis_fault(&redis->fault, "%s", eddy_error_text(err));
        }
        if (err < 0)
                return err;
        eddy_redis_reply_free(replies[1]);
        return ed_redis_answer(redis, replies[0], NULL);
}

/* Write the batch, between MULTI and EXEC on a shared connection. */
static int transaction_write(const eddy_redis_batch *batch, bool is_shared, struct ed_buf *buf)
{
        int err = is_shared ? ed_buf_append(buf, multi, sizeof(multi) - 1) : 0;

        if (err == 0)
                err = ed_buf_append(buf, ed_buf_data(&batch->commands),
                                    ed_buf_bytes(&batch->commands));
        return err < 0 ? err : ed_buf_append(buf, exec, sizeof(exec) - 1);
}

/* The replies are stored in 'replies', which has room for them. */
static int transaction_run(eddy_redis *redis, const eddy_redis_batch *batch,
                           eddy_redis_reply **replies, eddy_redis_reply **ret_reply)
{
        bool is_shared = !(redis->opts.flags & EDDY_REDIS_DEDICATED);
        uint32_t count = batch->count + 1 + is_shared;
        struct ed_buf buf;
        int err = 0;

        if (!is_shared || !redis->has_multi)
                err = multi_first(redis, is_shared);
        if (err < 0)
                return err;
        redis->has_multi = true;
        ed_buf_init(&buf, BATCH_BYTES_MAX + 64);
        err = transaction_write(batch, is_shared, &buf);
        if (err == 0)
                err = ed_redis_run(redis, ed_buf_data(&buf), ed_buf_bytes(&buf), count, replies);
        ed_buf_fini(&buf);
        if (err < 0 && !is_shared && redis->link && redis->link->err == 0) {
                redis->was_cancelled = err == -ECANCELED;
                ed_redis_link_fail(redis->link,
                                   EDDY_E_REDIS_LOST); /* the server waits for the rest */
        }
        if (err < 0)
                return err;
        return is_shared && replies[0]->type == EDDY_REDIS_ERROR
                       ? ran_alone(redis, replies, count)
                       : exec_result(redis, replies, count, ret_reply);
}

int eddy_redis_transaction(eddy_redis *redis, const eddy_redis_batch *batch,
                           eddy_redis_reply **ret_reply)
{
        eddy_redis_reply **replies;
        int err;

        if (!redis || !batch)
                return -EINVAL;
        ed_redis_fault_clear(&redis->fault);
        if (batch->count == 0)
                return empty(redis);
        if (batch->has_effect) {
                ed_redis_fault(&redis->fault, "a command of the batch cannot be in a transaction");
                return EDDY_E_REDIS_COMMAND;
        }
        replies = ed_alloc((batch->count + 2) * sizeof(*replies));
        if (!replies)
                return -ENOMEM;
        ed_redis_ref(redis);
        err = transaction_run(redis, batch, replies, ret_reply);
        ed_redis_unref(redis);
        ed_free(replies);
        return err;
}
