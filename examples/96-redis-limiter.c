/*
 * 96-redis-limiter - two processes share a limit of requests, counted in Redis.
 *
 * A script increments the counter of the current window, and sets an expiry time for a new counter.
 * Redis runs the script as one step, so the processes cannot both take the last place. Each process
 * sends the script once, and then calls it by its digest.
 *
 *     96-redis-limiter URL LIMIT REQUESTS
 *
 * Run: D=$(mktemp -d); redis-server --port 0 --unixsocket $D/s --save '' --logfile /dev/null >/dev/null & R=$!; while [ ! -S $D/s ]; do sleep 0.05; done; for i in a b; do 96-redis-limiter unix://$D/s 5 20 >$D/$i & P="$P $!"; done; wait $P; cat $D/a $D/b | sort | uniq -c | tr -s ' ' | cut -c2-; kill $R; wait; rm -r $D
 * Time: wall 0 s
 * Output:
 *     5 granted
 *     35 refused
 */
#include <eddy/eddy.h>
#include <stdio.h>
#include <stdlib.h>

static eddy_redis *redis;

static eddy_redis_script take_one = {
        .source = "local n = redis.call('INCR', KEYS[1]) "
                  "if n == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end "
                  "return n <= tonumber(ARGV[2]) and 1 or 0"
};

static int request(void *arg)
{
        const char *const args[] = { "limit:requests", "60000", arg };
        EDDY_AUTO(eddy_redis_reply) eddy_redis_reply *reply = NULL;
        int64_t is_granted = 0;
        int err = eddy_redis_eval(redis, &take_one, 1, 3, args, NULL, &reply);

        if (err == 0)
                err = eddy_redis_reply_integer(reply, &is_granted);
        if (err == 0)
                puts(is_granted ? "granted" : "refused");
        return err;
}

static int limiter_main(void *arg)
{
        char **argv = arg;
        eddy_scope scope;
        int err;

        err = eddy_redis_new(&(struct eddy_redis_opts){ .url = argv[1] }, &redis);
        if (err < 0)
                return err;
        eddy_scope_begin(&scope, NULL);
        for (long i = strtol(argv[3], NULL, 10); i > 0; i--)
                eddy_scope_start(&scope, request, argv[2]);
        err = eddy_scope_end(&scope);
        if (err < 0)
                fprintf(stderr, "%s\n", eddy_redis_fault(redis)->text);
        eddy_redis_close(redis);
        return err;
}

int main(int argc, char **argv)
{
        int err;

        if (argc != 4) {
                fprintf(stderr, "usage: 96-redis-limiter URL LIMIT REQUESTS\n");
                return 2;
        }
        err = eddy_run(limiter_main, argv, NULL);
        if (err < 0)
                fprintf(stderr, "96-redis-limiter: %s\n", eddy_error_text(err));
        return err < 0;
}
