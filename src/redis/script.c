/*
 * redis/script.c - Lua scripts by digest. The server computes the digest when it loads the script.
 */
#include <stdio.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "redis/redis.h"

enum { ARGS_MAX = 1000, DIGEST_BYTES = 40 };

/* Load the script, and store its digest. */
static int load(eddy_redis *redis, eddy_redis_script *script)
{
        eddy_redis_reply *reply = NULL;
        int err = eddy_redis_command(redis, &reply, "SCRIPT LOAD %s", script->source);
        size_t bytes = 0;
        const char *digest;

        if (err < 0)
                return err;
        digest = eddy_redis_reply_text(reply, &bytes);
        if (digest && bytes == DIGEST_BYTES)
                snprintf(script->digest, sizeof(script->digest), "%s", digest);
        else
                err = EDDY_E_REDIS_TYPE;
        eddy_redis_reply_free(reply);
        return err;
}

/* Send EVALSHA or EVAL.  The first three of 'all' are set here. */
static int call(eddy_redis *redis, const char *name, const char *script, const char *keys,
                const char **all, size_t *lengths, uint32_t n, eddy_redis_reply **ret_reply)
{
        all[0] = name;
        all[1] = script;
        all[2] = keys;
        for (int i = 0; i < 3; i++)
                lengths[i] = strlen(all[i]);
        return eddy_redis_command_args(redis, n + 3, all, lengths, ret_reply);
}

int eddy_redis_eval(eddy_redis *redis, eddy_redis_script *script, uint32_t keys, uint32_t n,
                    const char *const *args, const size_t *bytes, eddy_redis_reply **ret_reply)
{
        const char **all;
        size_t *lengths;
        char number[16];
        int err;

        if (!redis || !script || !script->source || (n > 0 && !args))
                return -EINVAL;
        ed_redis_fault_clear(&redis->fault);
        if (keys > n || n > ARGS_MAX) {
                ed_redis_fault(&redis->fault, "keys (%u) is above n (%u), or n is above %d",
                               (unsigned) keys, (unsigned) n, ARGS_MAX);
                return -EINVAL;
        }
        all = ed_alloc((n + 3) * (sizeof(*all) + sizeof(*lengths)));
        if (!all)
                return -ENOMEM;
        lengths = (size_t *) (all + n + 3);
        for (uint32_t i = 0; i < n; i++) {
                all[i + 3] = args[i];
                lengths[i + 3] = bytes ? bytes[i] : args[i] ? strlen(args[i]) : 1; /* refused */
        }
        snprintf(number, sizeof(number), "%u", (unsigned) keys);
        ed_redis_ref(redis);
        err = script->digest[0] ? 0 : load(redis, script);
        if (err == 0)
                err = call(redis, "EVALSHA", script->digest, number, all, lengths, n, ret_reply);
        if (err == EDDY_E_REDIS_ERROR && strcmp(redis->fault.code, "NOSCRIPT") == 0)
                err = call(redis, "EVAL", script->source, number, all, lengths, n, ret_reply);
        ed_redis_unref(redis);
        ed_free(all);
        return err;
}
