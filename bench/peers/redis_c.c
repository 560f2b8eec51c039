/*
 * redis_c.c - hiredis in a bare epoll loop, without tasks: what the client library itself costs.
 *
 *     redis_c URL get|set COUNT plain|pipelines
 *
 * "plain" keeps a command under way on each of 10 connections; "pipelines" sends 64 commands at a time
 * on one connection.
 */
#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <sys/epoll.h>

#include "../redis_bench.h"

enum { PIPELINED = 64 };

struct link {
        redisContext *context;
        int owed;
};

static bool is_set;
static long sent, done, last;
static int epoll_fd;

static void must(redisContext *context, bool is_good)
{
        if (!is_good)
                bench_die("redis_c", context->err ? context->errstr : "another reply");
}

static void connect_one(struct link *link, const char *path)
{
        struct epoll_event event = { .events = EPOLLIN, .data.ptr = link };

        link->context = redisConnectUnixNonBlock(path);
        must(link->context, link->context && !link->context->err);
        epoll_ctl(epoll_fd, EPOLL_CTL_ADD, link->context->fd, &event);
}

static void send_some(struct link *link, int n)
{
        redisContext *context = link->context;
        int is_done = 0;

        for (int i = 0; i < n && sent < last; i++) {
                long key = key_of(sent++);

                if (is_set)
                        redisAppendCommand(context, "SET key:%ld %s", key, VALUE);
                else
                        redisAppendCommand(context, "GET key:%ld", key);
                link->owed++;
        }
        while (!is_done)
                must(context, redisBufferWrite(context, &is_done) == REDIS_OK);
}

static void take(struct link *link)
{
        redisContext *context = link->context;
        redisReply *reply;

        must(context, redisBufferRead(context) == REDIS_OK);
        while (link->owed > 0) {
                must(context, redisGetReplyFromReader(context, (void **) &reply) == REDIS_OK);
                if (!reply)
                        return;
                must(context, reply->type == (is_set ? REDIS_REPLY_STATUS : REDIS_REPLY_STRING) &&
                                      strcmp(reply->str, is_set ? "OK" : VALUE) == 0);
                freeReplyObject(reply);
                link->owed--;
                done++;
        }
}

static void run_commands(struct link *links, int n, int each, long commands)
{
        struct epoll_event events[CONNECTIONS];

        sent = done = 0;
        last = commands;
        for (int i = 0; i < n; i++)
                send_some(&links[i], each);
        while (done < last) {
                int ready = epoll_wait(epoll_fd, events, CONNECTIONS, -1);

                for (int i = 0; i < ready; i++) {
                        struct link *link = events[i].data.ptr;

                        take(link);
                        if (link->owed == 0 && sent < last)
                                send_some(link, each);
                }
        }
}

int main(int argc, char **argv)
{
        struct link links[CONNECTIONS] = { 0 };
        struct bench_span span;
        char name[32];
        long count;
        bool is_plain;

        if (argc != 5 || strncmp(argv[1], "unix://", 7) != 0)
                bench_die("usage", "redis_c unix://PATH get|set COUNT plain|pipelines");
        is_set = strcmp(argv[2], "set") == 0;
        count = bench_count(argv[3], 100000000);
        is_plain = strcmp(argv[4], "plain") == 0;
        epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        for (int i = 0; i < (is_plain ? CONNECTIONS : 1); i++)
                connect_one(&links[i], argv[1] + 7);
        run_commands(links, is_plain ? CONNECTIONS : 1, is_plain ? 1 : PIPELINED, WARM_UP);
        bench_span_begin(&span);
        run_commands(links, is_plain ? CONNECTIONS : 1, is_plain ? 1 : PIPELINED, count);
        bench_span_end(&span);
        snprintf(name, sizeof(name), "hiredis %d.%d.%d", HIREDIS_MAJOR, HIREDIS_MINOR,
                 HIREDIS_PATCH);
        bench_core_print(name, argv[2], count, &span, NULL);
        return 0;
}
