/*
 * A server that is killed, stopped, and comes back; logins; URLs.
 */
#include <signal.h>

#include "redis/redis.h"
#include "redis_test.h"

static struct redis_server server;

static int ping(void *arg)
{
        return eddy_redis_command(arg, NULL, "PING");
}

static int sleep_on_server(void *arg)
{
        return eddy_redis_command(arg, NULL, "EVAL %s 0", "while true do end");
}

/* Returns how long it takes until a command succeeds. */
static int64_t recovery_ns(eddy_redis *redis)
{
        int64_t began_ns = eddy_now();

        while (eddy_call_timeout(ping, redis, EDDY_MS(200)) < 0 &&
               eddy_now() - began_ns < EDDY_SEC(30))
                (void) eddy_sleep(EDDY_MS(10));
        return eddy_now() - began_ns;
}

static int killed_main(void *arg)
{
        EDDY_AUTO(eddy_redis) eddy_redis *redis = NULL;
        struct eddy_redis_stats stats;
        eddy_task *task;
        eddy_scope scope;
        int result;

        (void) arg;
        CHECK_EQ(eddy_redis_new(&(struct eddy_redis_opts){ .url = server.url }, &redis), 0);
        CHECK_EQ(ping(redis), 0);
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_KEEP_GOING });
        CHECK_EQ(eddy_scope_start_task(&scope, sleep_on_server, redis, NULL, &task), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(50)), 0);
        redis_server_kill(&server);
        CHECK_EQ(eddy_scope_end(&scope), EDDY_E_REDIS_UNKNOWN);
        CHECK_EQ(eddy_task_result(task, &result), 0);
        CHECK_EQ(result, EDDY_E_REDIS_UNKNOWN);
        eddy_task_release(task);
        for (int i = 0; i < 5; i++) {
                result = ping(redis);
                CHECK(result == -ECONNREFUSED || result == -ENOENT);
        }
        redis_server_restart(&server);
        CHECK(recovery_ns(redis) < EDDY_SEC(5)); /* a second, on a machine with time for it */
        eddy_redis_stats(redis, &stats);
        CHECK_EQ(stats.connects, 2);
        CHECK_EQ(stats.failures, 5);
        /* Closed while idle: a later command notices that before it is sent. */
        redis_server_kill(&server);
        redis_server_restart(&server);
        CHECK_EQ(ping(redis), 0);
        return 0;
}

TEST(a_command_without_a_reply_is_unknown_and_later_ones_connect_again)
{
        redis_server_start(&server, NULL);
        redis_run(killed_main, NULL);
        redis_server_end(&server);
}

static int stopped_main(void *arg)
{
        EDDY_AUTO(eddy_redis) eddy_redis *redis = NULL;
        struct eddy_redis_stats stats;

        (void) arg;
        CHECK_EQ(eddy_redis_new(&(struct eddy_redis_opts){ .url = server.url }, &redis), 0);
        CHECK_EQ(ping(redis), 0);
        kill(server.pid, SIGSTOP);
        for (int i = 0; i < 20; i++)
                CHECK_EQ(eddy_call_timeout(ping, redis, EDDY_MS(100)), -ETIMEDOUT);
        eddy_redis_stats(redis, &stats);
        CHECK(stats.links <= 2);
        kill(server.pid, SIGCONT);
        CHECK(recovery_ns(redis) < EDDY_SEC(5));
        eddy_redis_stats(redis, &stats);
        CHECK_EQ(stats.links, 1);
        return 0;
}

TEST(a_stopped_server_costs_each_command_its_deadline)
{
        redis_server_start(&server, NULL);
        redis_run(stopped_main, NULL);
        redis_server_end(&server);
}

/* --- logins --- */

static int try_login(const char *user, const char *password, const char *query, char *ret_text)
{
        EDDY_AUTO(eddy_redis) eddy_redis *redis = NULL;
        struct eddy_redis_opts opts = { .unix_path = server.path,
                                        .user = user,
                                        .password = password,
                                        .client_name = "me",
                                        .database = 2 };
        int err;

        (void) query;
        CHECK_EQ(eddy_redis_new(&opts, &redis), 0);
        err = ping(redis);
        memcpy(ret_text, eddy_redis_fault(redis)->text, 256);
        return err;
}

/* A loan that fails by the login gets the reason. */
static void refuse_loan(void)
{
        EDDY_AUTO(eddy_redis) eddy_redis *redis = NULL;
        EDDY_AUTO(eddy_pool) eddy_pool *pool = NULL;
        struct eddy_pool_fault fault;
        eddy_pool_loan loan = { .ret_fault = &fault };
        struct eddy_redis_opts opts = { .url = server.url, .password = "hunter2" };

        CHECK_EQ(eddy_redis_new(&opts, &redis), 0);
        CHECK_EQ(eddy_redis_pool_new(redis, NULL, &pool), 0);
        CHECK_EQ(eddy_pool_acquire(pool, &loan), EDDY_E_REDIS_AUTH);
        CHECK_STR(fault.text, "the server refused the user or the password (WRONGPASS)");
        CHECK_STR(fault.code, "WRONGPASS");
}

static int login_main(void *arg)
{
        EDDY_AUTO(eddy_redis) eddy_redis *redis = NULL;
        eddy_redis_reply *reply;
        char text[256];

        (void) arg;
        CHECK_EQ(try_login(NULL, "secret word", NULL, text), 0);
        CHECK_EQ(try_login(NULL, "hunter2", NULL, text), EDDY_E_REDIS_AUTH);
        CHECK(strstr(text, "WRONGPASS") && !strstr(text, "hunter2"));
        CHECK_EQ(try_login("stranger", "hunter2", NULL, text), EDDY_E_REDIS_AUTH);
        CHECK(!strstr(text, "hunter2") && !strstr(text, "stranger"));
        CHECK_EQ(try_login(NULL, NULL, NULL, text), EDDY_E_REDIS_AUTH);
        CHECK(strstr(text, "NOAUTH"));

        refuse_loan();
        snprintf(text, sizeof(text), "unix://:secret%%20word@%s?db=3", server.path);
        CHECK_EQ(eddy_redis_new(&(struct eddy_redis_opts){ .url = text, .client_name = "tester" },
                                &redis),
                 0);
        CHECK_EQ(eddy_redis_command(redis, NULL, "ACL SETUSER %s on >%s ~* +@all", "ann", "p@ss/:"),
                 0);
        CHECK_EQ(eddy_redis_command(redis, &reply, "CLIENT INFO"), 0);
        CHECK(strstr(eddy_redis_reply_text(reply, NULL), " name=tester "));
        CHECK(strstr(eddy_redis_reply_text(reply, NULL), " db=3 "));
        eddy_redis_reply_free(reply);
        eddy_redis_close(redis);
        snprintf(text, sizeof(text), "redis://ann:p%%40ss%%2F%%3A@127.0.0.1:%u/1", server.port);
        CHECK_EQ(eddy_redis_new(&(struct eddy_redis_opts){ .url = text }, &redis), 0);
        CHECK_EQ(eddy_redis_command(redis, &reply, "ACL WHOAMI"), 0);
        CHECK_STR(eddy_redis_reply_text(reply, NULL), "ann");
        eddy_redis_reply_free(reply);
        return 0;
}

TEST(a_client_logs_in_and_its_secrets_stay_out_of_errors)
{
        static const char *const more[] = { "--requirepass", "secret word", NULL };

        redis_server_start(&server, more);
        redis_run(login_main, NULL);
        redis_server_end(&server);
}

/* Answer AUTH, and check the error and the text of the fault. */
static void answer_auth(const char *answer, int err, const char *text)
{
        struct redis_script script = { .answer = answer, .bytes = strlen(answer), .stays = true };
        struct eddy_redis_opts opts = { .url = script.url, .user = "ann", .password = "hunter2" };
        eddy_redis *redis;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        redis_script_start(&script, &scope);
        CHECK_EQ(eddy_redis_new(&opts, &redis), 0);
        CHECK_EQ(ping(redis), err);
        CHECK_STR(eddy_redis_fault(redis)->text, text);
        eddy_redis_close(redis);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        eddy_listener_close(script.listener);
}

static int refusals_main(void *arg)
{
        (void) arg;
        answer_auth("-WRONGPASS invalid username-password pair\r\n", EDDY_E_REDIS_AUTH,
                    "the server refused the user or the password (WRONGPASS)");
        answer_auth("-ERR invalid password\r\n", EDDY_E_REDIS_AUTH,
                    "the server refused the user or the password (ERR)");
        answer_auth("-ERR max number of clients reached\r\n", EDDY_E_REDIS_ERROR,
                    "ERR max number of clients reached");
        answer_auth("-ERR unknown command `AUTH`, with args beginning with: `an\r\n",
                    EDDY_E_REDIS_ERROR, "the server refused the login (ERR)");
        answer_auth("-ERR no hunter2 here\r\n", EDDY_E_REDIS_ERROR,
                    "the server refused the login (ERR)");
        return 0;
}

TEST(only_a_refused_user_or_password_is_an_error_of_authentication)
{
        redis_run(refusals_main, NULL);
}

static int database_main(void *arg)
{
        struct eddy_redis_opts opts = { .url = server.url, .database = 99 };
        EDDY_AUTO(eddy_redis) eddy_redis *redis = NULL;

        (void) arg;
        CHECK_EQ(eddy_redis_new(&opts, &redis), 0);
        CHECK_EQ(ping(redis), EDDY_E_REDIS_ERROR);
        CHECK_STR(eddy_redis_fault(redis)->text, "ERR DB index is out of range");
        return 0;
}

TEST(a_database_that_does_not_exist_is_reported_in_the_words_of_the_server)
{
        redis_server_start(&server, NULL);
        redis_run(database_main, NULL);
        redis_server_end(&server);
}

/* A token, as the services of clouds make: in the options, and in a URL. */
static int long_password_main(void *arg)
{
        const char *password = arg;
        struct eddy_redis_opts opts = { .unix_path = server.path, .password = password };
        char url[8192];
        eddy_redis *redis;

        CHECK_EQ(eddy_redis_new(&opts, &redis), 0);
        CHECK_EQ(ping(redis), 0);
        eddy_redis_close(redis);
        snprintf(url, sizeof(url), "redis://:%s@127.0.0.1:%u", password, (unsigned) server.port);
        CHECK_EQ(eddy_redis_new(&(struct eddy_redis_opts){ .url = url }, &redis), 0);
        CHECK_EQ(ping(redis), 0);
        eddy_redis_close(redis);
        return 0;
}

TEST(a_password_has_up_to_4096_bytes)
{
        static char password[4097];
        static const char *const more[] = { "--requirepass", password, NULL };

        memset(password, 'p', sizeof(password) - 1);
        redis_server_start(&server, more);
        redis_run(long_password_main, password);
        redis_server_end(&server);
}

static int urls_main(void *arg)
{
        static const struct {
                const char *url;
                int err;
        } cases[] = {
                { "redis://localhost", 0 },
                { "redis://[::1]:7000/15", 0 },
                { "rediss://:secret@example.org", 0 },
                { "redis://host:80/1", 0 },
                { "unix:///run/redis.sock", 0 },
                { "http://localhost", EDDY_E_URL_SCHEME },
                { "localhost:6379", EDDY_E_URL_SCHEME },
                { "redis://", EDDY_E_URL_INVALID },
                { "redis://host/x", EDDY_E_URL_INVALID },
                { "redis://host/1/2", EDDY_E_URL_INVALID },
                { "redis://host?db=1", EDDY_E_URL_INVALID },
                { "redis://host:99999", EDDY_E_URL_INVALID },
                { "redis://a:b%00@host", EDDY_E_URL_CREDENTIALS },
                { "redis://a:b%0d%0a@host", EDDY_E_URL_CREDENTIALS },
                { "unix://relative/path", EDDY_E_URL_INVALID },
                { "unix:///path?x=1", EDDY_E_URL_INVALID },
                { "unix:///path%2", EDDY_E_URL_INVALID },
        };

        (void) arg;
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct eddy_redis_opts opts = { .url = cases[i].url };
                eddy_redis *redis = NULL;
                int err = eddy_redis_new(&opts, &redis);

                if (err != cases[i].err)
                        test_fail(__FILE__, __LINE__, "%s: %d", cases[i].url, err);
                eddy_redis_close(redis);
        }
        return 0;
}

TEST(urls_are_read_strictly)
{
        redis_run(urls_main, NULL);
}

/* --- closing --- */

static int close_main(void *arg)
{
        struct eddy_redis_opts opts = { .host = "127.0.0.1", .client_name = "x" };
        eddy_listener *listener; /* accepts, but does not answer the login */
        eddy_redis *redis;
        eddy_task *tasks[2];
        eddy_scope scope;
        int result;

        (void) arg;
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        opts.port = eddy_listener_endpoint(listener).port;
        CHECK_EQ(eddy_redis_new(&opts, &redis), 0);
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_KEEP_GOING,
                                                            .timeout_ns = EDDY_SEC(5) });
        for (int i = 0; i < 2; i++)
                CHECK_EQ(eddy_scope_start_task(&scope, ping, redis, NULL, &tasks[i]), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(20)), 0);
        eddy_redis_close(redis);
        (void) eddy_scope_end(&scope);
        for (int i = 0; i < 2; i++) {
                CHECK_EQ(eddy_task_result(tasks[i], &result), 0);
                CHECK_EQ(result, EDDY_E_REDIS_CLOSED);
                eddy_task_release(tasks[i]);
        }
        eddy_listener_close(listener);
        return 0;
}

TEST(calls_that_wait_for_a_connection_end_when_the_client_is_closed)
{
        redis_run(close_main, NULL);
}

/* --- pauses --- */

static int new_clock_main(void *arg)
{
        struct ed_redis_pace pace = { .next_ns = eddy_now() }; /* as if the clock began now */

        (void) arg;
        CHECK_EQ(ed_redis_pace(ed_loop_current, &pace), 0);
        CHECK(pace.pause_ns > 0 && pace.next_ns > eddy_now() - EDDY_SEC(1));
        return 0;
}

/* The monotonic clock of a namespace, or after a boot, may be near 0. */
TEST(a_client_connects_in_the_first_second_of_the_clock)
{
        redis_run(new_clock_main, NULL);
}
