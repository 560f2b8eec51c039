/*
 * Cancelled commands: the reply to one never reaches another. Each command carries a number that its
 * reply repeats. With EDDY_TEST_FULL, a million commands are cancelled.
 */
#include "redis_test.h"

enum { TASKS = 32, ROUNDS = 100, ROUNDS_FULL = 32000 };

static struct redis_server server;

static struct state {
        eddy_redis *redis;
        uint64_t nonce;
        uint64_t random;
        uint64_t cancelled;
        uint64_t answered;
        int rounds;
} state;

/* xorshift64 */
static uint64_t next_random(void)
{
        state.random ^= state.random << 13;
        state.random ^= state.random >> 7;
        state.random ^= state.random << 17;
        return state.random;
}

static int ask(void *arg)
{
        unsigned long long nonce = ++state.nonce;
        eddy_redis_reply *reply = NULL;
        int64_t value = 0;
        int err;

        (void) arg;
        err = eddy_redis_command(state.redis, &reply, "ECHO %llu", nonce);
        if (err < 0)
                return err;
        CHECK_EQ(eddy_redis_reply_integer(reply, &value), 0);
        CHECK_EQ(value, nonce);
        eddy_redis_reply_free(reply);
        state.answered++;
        return 0;
}

static int ask_in_rounds(void *arg)
{
        (void) arg;
        for (int i = 0; i < state.rounds; i++) {
                eddy_task *task;
                eddy_scope scope;
                int result;

                eddy_scope_begin(&scope, NULL);
                CHECK_EQ(eddy_scope_start_task(&scope, ask, NULL, NULL, &task), 0);
                if (next_random() % 4 != 0) {
                        for (uint64_t turns = next_random() % 6; turns > 0; turns--)
                                CHECK_EQ(eddy_sleep(0), 0);
                        if (next_random() % 4 == 0)
                                CHECK_EQ(eddy_sleep(EDDY_US(1) * (int64_t) (next_random() % 100)),
                                         0);
                        eddy_task_cancel(task);
                }
                CHECK_EQ(eddy_scope_end(&scope), 0);
                CHECK_EQ(eddy_task_result(task, &result), 0);
                CHECK(result == 0 || result == -ECANCELED);
                state.cancelled += result == -ECANCELED;
                eddy_task_release(task);
        }
        return 0;
}

static int cancels_main(void *arg)
{
        struct eddy_redis_opts opts = { .url = server.url };
        struct eddy_redis_stats stats;
        eddy_scope scope;

        (void) arg;
        state.random = 88172645463325252ULL;
        state.rounds = test_is_full() ? ROUNDS_FULL : ROUNDS;
        CHECK_EQ(eddy_redis_new(&opts, &state.redis), 0);
        do {
                eddy_scope_begin(&scope, NULL);
                for (int i = 0; i < TASKS; i++)
                        CHECK_EQ(eddy_scope_start(&scope, ask_in_rounds, NULL), 0);
                CHECK_EQ(eddy_scope_end(&scope), 0);
        } while (test_is_full() && state.cancelled < 1000000);
        CHECK_EQ(ask(NULL), 0); /* all replies that were owed have been dropped before this one */
        eddy_redis_stats(state.redis, &stats);
        if (test_is_full())
                printf("# %llu cancelled, %llu answered, %llu replies dropped, %llu connections\n",
                       (unsigned long long) state.cancelled, (unsigned long long) state.answered,
                       (unsigned long long) stats.dropped, (unsigned long long) stats.connects);
        CHECK_EQ(stats.owed, 0);
        CHECK_EQ(stats.links, 1);
        CHECK_EQ(stats.lost, 0);
        /* More connections than one if the server got no time for half a second. */
        CHECK(stats.connects > 1 || stats.replies == stats.commands);
        CHECK(state.cancelled > 100 && state.answered > 100 && stats.dropped > 50);
        eddy_redis_close(state.redis);
        return 0;
}

/* D29, D33: owed replies are dropped. */
TEST(no_reply_reaches_another_caller)
{
        redis_server_start(&server, NULL);
        redis_run(cancels_main, NULL);
        redis_server_end(&server);
}

static int cancel_first(void *arg)
{
        eddy_task *first, *second;
        eddy_scope scope;
        int result;

        (void) arg;
        CHECK_EQ(eddy_redis_new(&(struct eddy_redis_opts){ .url = server.url }, &state.redis), 0);
        CHECK_EQ(ask(NULL), 0);
        for (int turns = 0; turns < 8; turns++) {
                eddy_scope_begin(&scope, NULL);
                CHECK_EQ(eddy_scope_start_task(&scope, ask, NULL, NULL, &first), 0);
                CHECK_EQ(eddy_scope_start_task(&scope, ask, NULL, NULL, &second), 0);
                for (int i = 0; i < turns; i++)
                        CHECK_EQ(eddy_sleep(0), 0);
                eddy_task_cancel(first); /* which writes, or reads, for both */
                CHECK_EQ(eddy_scope_end(&scope), 0);
                CHECK_EQ(eddy_task_result(second, &result), 0);
                CHECK_EQ(result, 0);
                eddy_task_release(first);
                eddy_task_release(second);
        }
        eddy_redis_close(state.redis);
        return 0;
}

TEST(a_cancelled_task_leaves_its_work_to_the_next)
{
        redis_server_start(&server, NULL);
        redis_run(cancel_first, NULL);
        redis_server_end(&server);
}

/* --- a server that reads nothing for a while --- */

static eddy_stream *peer;

static int accept_one(void *arg)
{
        return eddy_listener_accept(arg, &peer);
}

enum { MUCH = 8 << 20 };

TEST_ROOM(char, value, MUCH);

static int set_much(void *arg)
{
        (void) arg;
        return eddy_redis_command(state.redis, NULL, "SET k %b", value, (size_t) MUCH);
}

static int drain(void *arg)
{
        static char buf[64 << 10];
        size_t *ret_bytes = arg;
        int64_t n;

        while ((n = eddy_stream_read(peer, buf, sizeof(buf))) > 0) {
                *ret_bytes += (size_t) n;
                if (buf[n - 1] == '\n' && n > 6 && memcmp(buf + n - 6, "PING\r\n", 6) == 0)
                        CHECK_EQ(eddy_stream_write(peer, "+OK\r\n+PONG\r\n", 12), 0);
        }
        return 0;
}

static int ping(void *arg)
{
        (void) arg;
        return eddy_redis_command(state.redis, NULL, "PING");
}

/* The writer of 8 MiB is cancelled in the middle; the task that already reads must go on. */
static int blocked_main(void *arg)
{
        struct redis_script script = { .answer = "" };
        struct eddy_redis_opts opts = { .url = script.url };
        eddy_task *writer, *reader;
        eddy_listener *listener;
        eddy_scope scope, service;
        size_t bytes = 0;
        int result;

        (void) arg;
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        snprintf(script.url, sizeof(script.url), "redis://127.0.0.1:%u",
                 eddy_listener_endpoint(listener).port);
        eddy_scope_begin(&service, NULL);
        CHECK_EQ(eddy_scope_start(&service, accept_one, listener), 0);
        CHECK_EQ(eddy_redis_new(&opts, &state.redis), 0);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, set_much, NULL, NULL, &writer), 0);
        CHECK_EQ(eddy_scope_start_task(&scope, ping, NULL, NULL, &reader), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(50)), 0);
        eddy_task_cancel(writer);
        CHECK_EQ(eddy_task_join(writer, &result), 0);
        CHECK_EQ(result, -ECANCELED);
        CHECK_EQ(eddy_scope_start(&service, drain, &bytes), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_task_result(reader, &result), 0);
        CHECK_EQ(result, 0);
        CHECK(bytes > 8 << 20);
        eddy_task_release(writer);
        eddy_task_release(reader);
        eddy_redis_close(state.redis);
        eddy_listener_close(listener);
        (void) eddy_scope_end(&service);
        eddy_stream_close(peer);
        return 0;
}

TEST(a_writer_that_is_cancelled_in_the_middle_is_replaced)
{
        redis_run(blocked_main, NULL);
}
