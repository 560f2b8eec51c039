/*
 * Hostile servers: lengths, depths, garbage and pushes give one clear error, use bounded memory, and
 * end the connection. Answers are read in any pieces.
 */
#include "redis_test.h"

enum { REPLY_MAX = 256 << 10, MEMORY_MAX = 3 << 20 };

static size_t held, held_max;

/* Counts the bytes that the library holds. */
static void *counting_realloc(void *ctx, void *ptr, size_t bytes)
{
        size_t *block = ptr ? (size_t *) ptr - 2 : NULL;

        (void) ctx;
        held -= block ? *block : 0;
        if (bytes == 0) {
                free(block);
                return NULL;
        }
        block = realloc(block, bytes + 2 * sizeof(size_t));
        CHECK(block != NULL);
        *block = bytes;
        held += bytes;
        held_max = held > held_max ? held : held_max;
        return block + 2;
}

static int hostile_main(void *arg)
{
        struct redis_script *script = arg;
        struct eddy_redis_opts opts = { .url = script->url, .reply_bytes_max = REPLY_MAX };
        EDDY_AUTO(eddy_redis) eddy_redis *redis = NULL;
        struct eddy_redis_stats stats;
        eddy_redis_reply *reply;
        eddy_scope scope;
        int err, result;

        eddy_scope_begin(&scope, NULL);
        redis_script_start(script, &scope);
        CHECK_EQ(eddy_redis_new(&opts, &redis), 0);
        result = eddy_redis_command(redis, &reply, "GET k");
        if (result == 0)
                eddy_redis_reply_free(reply);
        eddy_redis_stats(redis, &stats);
        CHECK_EQ(stats.links, 1);
        if (result < 0) {
                CHECK_EQ(stats.lost, 1);
                CHECK_STR(eddy_redis_fault(redis)->text, eddy_error_text(result));
        }
        eddy_redis_close(redis);
        redis = NULL;
        eddy_scope_cancel(&scope);
        err = eddy_scope_end(&scope);
        CHECK(err == 0 || err == -ECANCELED);
        eddy_listener_close(script->listener);
        script->connections = result; /* for the caller */
        return 0;
}

/* Returns the result of a command that is answered by 'bytes' bytes. */
static int answer(const char *text, size_t bytes, size_t piece)
{
        struct redis_script script = {
                .answer = text, .bytes = bytes, .piece = piece, .stays = true
        };

        redis_run(hostile_main, &script);
        return script.connections;
}

static int answer_text(const char *text)
{
        return answer(text, strlen(text), 0);
}

TEST(lengths_that_are_not_valid_are_refused)
{
        CHECK_EQ(answer_text("$3\r\nabc\r\n"), 0);
        CHECK_EQ(answer_text("$-5\r\n"), EDDY_E_REDIS_PROTOCOL);
        CHECK_EQ(answer_text("*-5\r\n"), EDDY_E_REDIS_PROTOCOL);
        CHECK_EQ(answer_text("$99999999999999999999\r\n"), EDDY_E_REDIS_PROTOCOL);
        CHECK_EQ(answer_text("$\r\n"), EDDY_E_REDIS_PROTOCOL);
        CHECK_EQ(answer_text("$1x\r\n"), EDDY_E_REDIS_PROTOCOL);
        CHECK_EQ(answer_text(":99999999999999999999\r\n"), EDDY_E_REDIS_PROTOCOL);
}

TEST(lengths_above_the_limit_are_refused_before_the_bytes_come)
{
        CHECK_EQ(answer_text("$9223372036854775807\r\n"), EDDY_E_REDIS_TOO_LARGE);
        CHECK_EQ(answer_text("$4294967296\r\n"), EDDY_E_REDIS_TOO_LARGE);
        CHECK_EQ(answer_text("$1000000\r\nabc"), EDDY_E_REDIS_TOO_LARGE);
        CHECK_EQ(answer_text("*2147483647\r\n"), EDDY_E_REDIS_TOO_LARGE);
        CHECK_EQ(answer_text("*9223372036854775807\r\n"), EDDY_E_REDIS_PROTOCOL);
}

TEST(garbage_and_pushes_are_refused)
{
        CHECK_EQ(answer_text("HTTP/1.1 400 Bad Request\r\n\r\n"), EDDY_E_REDIS_PROTOCOL);
        CHECK_EQ(answer_text(">2\r\n+message\r\n+x\r\n"), EDDY_E_REDIS_PROTOCOL);
        CHECK_EQ(answer_text("%1\r\n+a\r\n+b\r\n"), EDDY_E_REDIS_PROTOCOL);
        CHECK_EQ(answer_text("\r\n"), EDDY_E_REDIS_PROTOCOL);
        CHECK_EQ(answer_text("+OK\r\n+OK\r\n"), 0); /* then the connection ends */
}

/* 'count' times 'word'. */
static char *repeat(const char *word, size_t count)
{
        size_t bytes = strlen(word);
        char *text = malloc(count * bytes);

        CHECK(text != NULL);
        for (size_t i = 0; i < count; i++)
                memcpy(text + i * bytes, word, bytes);
        return text;
}

TEST(a_depth_of_a_million_is_refused)
{
        char *text = repeat("*1\r\n", 1000000);

        eddy_alloc_set(counting_realloc, NULL);
        CHECK_EQ(answer(text, 4000000, 0), EDDY_E_REDIS_PROTOCOL);
        CHECK(held_max < MEMORY_MAX);
        free(text);
}

TEST(a_line_without_an_end_is_refused)
{
        char *text = repeat("+xxxxxxxxx", 1000000);

        eddy_alloc_set(counting_realloc, NULL);
        CHECK_EQ(answer(text, 10000000, 0), EDDY_E_REDIS_PROTOCOL);
        text[0] = '$';
        CHECK_EQ(answer(text, 10000000, 0), EDDY_E_REDIS_PROTOCOL);
        CHECK(held_max < MEMORY_MAX);
        free(text);
}

TEST(many_elements_are_counted)
{
        char *text = repeat("$-1\r\n", 100000);

        eddy_alloc_set(counting_realloc, NULL);
        memcpy(text, "*20000\r\n*9\r\n$2\r\n", 16);
        CHECK_EQ(answer(text, 500000, 0), EDDY_E_REDIS_TOO_LARGE);
        CHECK(held_max < MEMORY_MAX);
        free(text);
}

TEST(answers_come_in_any_pieces)
{
        static const char text[] = "*5\r\n$3\r\nabc\r\n:12\r\n$-1\r\n*2\r\n+a\r\n$0\r\n\r\n*0\r\n";

        for (size_t piece = 1; piece < sizeof(text); piece++)
                CHECK_EQ(answer(text, sizeof(text) - 1, piece), 0);
}

TEST(an_answer_that_is_cut_is_unknown)
{
        static const char text[] = "*2\r\n$3\r\nabc\r\n:12\r\n";

        for (size_t bytes = 1; bytes < sizeof(text) - 1; bytes++) {
                struct redis_script script = { .answer = text, .bytes = bytes };

                redis_run(hostile_main, &script);
                CHECK_EQ(script.connections, EDDY_E_REDIS_UNKNOWN);
        }
}

static int stale_main(void *arg)
{
        struct redis_script script = { .answer = "+OK\r\n+STALE\r\n", .bytes = 13, .stays = true };
        struct eddy_redis_opts opts = { .url = script.url };
        EDDY_AUTO(eddy_redis) eddy_redis *redis = NULL;
        eddy_redis_reply *reply;
        eddy_scope scope;

        (void) arg;
        script.piece = 5;
        eddy_scope_begin(&scope, NULL);
        redis_script_start(&script, &scope);
        CHECK_EQ(eddy_redis_new(&opts, &redis), 0);
        for (int i = 0; i < 5; i++) {
                CHECK_EQ(eddy_redis_command(redis, &reply, "PING"), 0);
                CHECK_STR(eddy_redis_reply_text(reply, NULL), "OK");
                eddy_redis_reply_free(reply);
                CHECK_EQ(eddy_sleep(EDDY_MS(20)), 0);
        }
        CHECK_EQ(script.connections, 5);
        eddy_redis_close(redis);
        redis = NULL;
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        eddy_listener_close(script.listener);
        return 0;
}

/* D23: before the next command. */
TEST(bytes_that_were_not_asked_for_end_an_idle_connection)
{
        redis_run(stale_main, NULL);
}

static int ping_often(void *arg)
{
        int err = 0;

        while (err != -ECANCELED) {
                err = eddy_redis_command(arg, NULL, "PING");
                CHECK(err < 0);
        }
        return 0;
}

/* Ends each connection at the first command, as a server with too many clients does. */
static int closing_main(void *arg)
{
        struct redis_script script = { .answer = "" };
        struct eddy_redis_opts opts = { .url = script.url };
        eddy_scope scope, service;
        eddy_redis *redis;

        (void) arg;
        eddy_scope_begin(&service, NULL);
        redis_script_start(&script, &service);
        CHECK_EQ(eddy_redis_new(&opts, &redis), 0);
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_MS(200) });
        for (int i = 0; i < 8; i++)
                CHECK_EQ(eddy_scope_start(&scope, ping_often, redis), 0);
        (void) eddy_scope_end(&scope);
        CHECK(script.connections <= 10);
        eddy_redis_close(redis);
        eddy_scope_cancel(&service);
        (void) eddy_scope_end(&service);
        eddy_listener_close(script.listener);
        return 0;
}

/* The pauses are 5, 10, 20, 40, 80 ms and more. */
TEST(a_server_that_ends_each_connection_is_not_flooded_with_attempts)
{
        redis_run(closing_main, NULL);
}

static int borrow_often(void *arg)
{
        eddy_pool_loan loan = { 0 };
        int err = 0;

        while (err != -ECANCELED) {
                err = eddy_pool_acquire(arg, &loan);
                if (err == 0)
                        err = eddy_redis_command(loan.item, NULL, "PING");
                CHECK(err < 0);
                CHECK_EQ(eddy_pool_release(&loan), 0);
        }
        return 0;
}

static int closing_pool_main(void *arg)
{
        struct redis_script script = { .answer = "" };
        struct eddy_redis_opts opts = { .url = script.url };
        eddy_scope scope, service;
        eddy_redis *redis;
        eddy_pool *pool;

        (void) arg;
        eddy_scope_begin(&service, NULL);
        redis_script_start(&script, &service);
        CHECK_EQ(eddy_redis_new(&opts, &redis), 0);
        CHECK_EQ(eddy_redis_pool_new(redis, NULL, &pool), 0);
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_MS(200) });
        for (int i = 0; i < 4; i++)
                CHECK_EQ(eddy_scope_start(&scope, borrow_often, pool), 0);
        (void) eddy_scope_end(&scope);
        CHECK(script.connections <= 14);
        eddy_pool_close(pool);
        eddy_redis_close(redis);
        eddy_scope_cancel(&service);
        (void) eddy_scope_end(&service);
        eddy_listener_close(script.listener);
        return 0;
}

/* Each task opens one connection at first; then there are pauses, as for one client. */
TEST(a_pool_does_not_flood_a_server_that_ends_each_connection)
{
        redis_run(closing_pool_main, NULL);
}

static int silent_main(void *arg)
{
        struct redis_script script = { .answer = "", .bytes = 0, .stays = true };
        struct eddy_redis_opts opts = { .url = script.url, .command_timeout_ns = EDDY_MS(20) };
        EDDY_AUTO(eddy_redis) eddy_redis *redis = NULL;
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        redis_script_start(&script, &scope);
        CHECK_EQ(eddy_redis_new(&opts, &redis), 0);
        CHECK_EQ(eddy_redis_command(redis, NULL, "PING"), EDDY_E_REDIS_TIMED_OUT);
        CHECK_STR(eddy_redis_fault(redis)->text, eddy_error_text(EDDY_E_REDIS_TIMED_OUT));
        eddy_redis_close(redis);
        redis = NULL;
        opts.command_timeout_ns = -1;
        CHECK_EQ(eddy_redis_new(&opts, &redis), -EINVAL);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        eddy_listener_close(script.listener);
        return 0;
}

TEST(a_server_that_is_silent_holds_a_command_for_its_time_at_most)
{
        redis_run(silent_main, NULL);
}
