/*
 * redis_eddy.c - eddy's client of Redis: 64 tasks, each of which waits for the reply to its command
 * before the next one. All share one connection.
 *
 *     redis_eddy URL get|set COUNT
 */
#include <eddy/eddy.h>

#include "redis_bench.h"

static const char *url;
static bool is_set;
static long count, next_command, last_command;
static eddy_redis *redis;

static int set(long key)
{
        return eddy_redis_command(redis, NULL, "SET key:%ld %s", key, VALUE);
}

static int get(long key)
{
        EDDY_AUTO(eddy_redis_reply) eddy_redis_reply *reply = NULL;
        const char *text = NULL;
        int err = eddy_redis_command(redis, &reply, "GET key:%ld", key);

        if (err == 0)
                text = eddy_redis_reply_text(reply, NULL);
        return err == 0 && (!text || strcmp(text, VALUE) != 0) ? -EIO : err;
}

static int command_task(void *arg)
{
        int err = 0;

        (void) arg;
        while (err == 0 && next_command < last_command) {
                long key = key_of(next_command++);

                err = is_set ? set(key) : get(key);
        }
        return err;
}

static int run_commands(long n)
{
        eddy_scope scope;

        next_command = 0;
        last_command = n;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < TASKS; i++)
                eddy_scope_start(&scope, command_task, NULL);
        return eddy_scope_end(&scope);
}

static int run(void *arg)
{
        struct bench_span span;
        int err = eddy_redis_new(&(struct eddy_redis_opts){ .url = url }, &redis);

        if (err == 0)
                err = run_commands(WARM_UP);
        bench_span_begin(&span);
        if (err == 0)
                err = run_commands(count);
        bench_span_end(&span);
        eddy_redis_close(redis);
        if (err == 0)
                bench_core_print("eddy " EDDY_VERSION, arg, count, &span, NULL);
        return err;
}

int main(int argc, char **argv)
{
        int err;

        if (argc != 4)
                bench_die("usage", "redis_eddy URL get|set COUNT");
        url = argv[1];
        is_set = strcmp(argv[2], "set") == 0;
        count = bench_count(argv[3], 100000000);
        err = eddy_run(run, argv[2], NULL);
        if (err < 0)
                bench_die("redis_eddy", eddy_error_text(err));
        return 0;
}
