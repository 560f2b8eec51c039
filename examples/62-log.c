/*
 * 62-log - a log with the request's number in each line, without passing it around.
 *
 * Each task binds its number once; all lines below it have the number, those of tasks
 * that it starts too.  A message that repeats is written twice a second at most, and
 * the number of the others is reported.  If standard output were a terminal, the
 * default format would be this one, with colours; else lines of JSON.
 *
 * Run: 62-log
 * Time: wall 0.2 s
 * Output:
 *     <n>:<n>:<n> info   request begins  request=1 path=/users
 *     <n>:<n>:<n> info   request begins  request=2 path=/orders
 *     <n>:<n>:<n> warn   cache is slow  request=1 shard=0
 *     <n>:<n>:<n> warn   cache is slow  request=1 shard=1
 *     <n>:<n>:<n> info   request served  request=1 status=200 ms=<n>
 *     <n>:<n>:<n> info   request served  request=2 status=200 ms=<n>
 *     <n>:<n>:<n> warn   repeated log lines were left out  count=4 of="cache is slow"
 */
#include <stdio.h>

#include "eddy/eddy.h"

static eddy_log *log_;

static int ask_cache(void *arg)
{
        (void) arg;
        for (int shard = 0; shard < 3; shard++)
                eddy_log_warning(log_, "cache is slow", eddy_log_int("shard", shard));
        return eddy_sleep(EDDY_MS(200));
}

static int serve(void *path)
{
        static int number;
        int64_t start_ns = eddy_now();
        int err = eddy_log_bind(eddy_log_int("request", ++number));

        if (err < 0)
                return err;
        eddy_log_info(log_, "request begins", eddy_log_str("path", path));
        EDDY_SCOPE (scope, &err)
                eddy_scope_start(&scope, ask_cache, NULL);
        eddy_log_info(log_, "request served", eddy_log_int("status", err == 0 ? 200 : 500),
                      eddy_log_ms("ms", eddy_now() - start_ns));
        return err;
}

static int run(void *arg)
{
        static char users[] = "/users", orders[] = "/orders";
        struct eddy_log_opts opts = { .format = EDDY_LOG_CONSOLE, .repeats_max = 2 };
        int err = eddy_stream_from_fd(1, 0, &opts.stream);

        (void) arg;
        if (err == 0)
                err = eddy_log_open(&opts, &log_);
        if (err < 0)
                return err;
        EDDY_SCOPE (scope, &err) {
                eddy_scope_start(&scope, serve, users);
                eddy_scope_start(&scope, serve, orders);
        }
        eddy_log_close(log_);
        eddy_stream_close(opts.stream);
        return err;
}

int main(void)
{
        return eddy_run(run, NULL, NULL) == 0 ? 0 : 1;
}
