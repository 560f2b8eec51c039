/*
 * Commands and replies, with a real server: formats, types, errors, limits, pipelining, cancels.
 */
#include <locale.h>
#include <sys/wait.h>
#include <unistd.h>

#include "redis_test.h"

static struct redis_server server;

static int types_main(void *arg)
{
        EDDY_AUTO(eddy_redis) eddy_redis *redis = NULL;
        eddy_redis_reply *reply;
        int64_t value;
        double number;
        size_t bytes;

        (void) arg;
        CHECK_EQ(eddy_redis_new(&(struct eddy_redis_opts){ .url = server.url }, &redis), 0);
        CHECK_EQ(eddy_redis_command(redis, &reply, "SET %s %b", "k e y", "a\r\nb\0c", (size_t) 6),
                 0);
        CHECK_EQ(eddy_redis_reply_type(reply), EDDY_REDIS_STATUS);
        CHECK_STR(eddy_redis_reply_text(reply, NULL), "OK");
        eddy_redis_reply_free(reply);
        CHECK_EQ(eddy_redis_command(redis, &reply, "GET %s", "k e y"), 0);
        CHECK(memcmp(eddy_redis_reply_text(reply, &bytes), "a\r\nb\0c", 7) == 0);
        CHECK_EQ(bytes, 6);
        CHECK_EQ(eddy_redis_reply_integer(reply, &value), EDDY_E_REDIS_TYPE);
        eddy_redis_reply_free(reply);
        CHECK_EQ(eddy_redis_command(redis, &reply, "GET absent"), 0);
        CHECK_EQ(eddy_redis_reply_type(reply), EDDY_REDIS_NIL);
        eddy_redis_reply_free(reply);
        CHECK_EQ(eddy_redis_command(redis, &reply, "INCRBY n %d", 42), 0);
        CHECK_EQ(eddy_redis_reply_integer(reply, &value), 0);
        CHECK_EQ(value, 42);
        eddy_redis_reply_free(reply);
        CHECK_EQ(eddy_redis_command(redis, &reply, "GET n"), 0);
        CHECK_EQ(eddy_redis_reply_integer(reply, &value), 0);
        CHECK_EQ(eddy_redis_reply_double(reply, &number), 0);
        CHECK(value == 42 && number > 41.9 && number < 42.1);
        eddy_redis_reply_free(reply);
        CHECK_EQ(eddy_redis_command(redis, NULL, "HSET h a 1 b 2"), 0);
        CHECK_EQ(eddy_redis_command(redis, &reply, "HGETALL h"), 0);
        CHECK_EQ(eddy_redis_reply_count(reply), 4);
        CHECK_STR(eddy_redis_reply_text(eddy_redis_reply_find(reply, "b"), NULL), "2");
        CHECK(eddy_redis_reply_find(reply, "2") == NULL);
        CHECK(eddy_redis_reply_at(reply, 4) == NULL);
        eddy_redis_reply_free(reply);
        return 0;
}

TEST(replies_have_their_types)
{
        redis_server_start(&server, NULL);
        redis_run(types_main, NULL);
        redis_server_end(&server);
}

static int locale_main(void *arg)
{
        EDDY_AUTO(eddy_redis) eddy_redis *redis = NULL;
        EDDY_AUTO(eddy_redis_batch) eddy_redis_batch *batch = NULL;
        eddy_redis_reply *reply;
        double number;

        (void) arg;
        CHECK_EQ(eddy_redis_new(&(struct eddy_redis_opts){ .url = server.url }, &redis), 0);
        CHECK_EQ(eddy_redis_command(redis, &reply, "ECHO %.2f", 1.5), 0);
        CHECK_STR(eddy_redis_reply_text(reply, NULL), "1.50");
        CHECK_EQ(eddy_redis_reply_double(reply, &number), 0);
        CHECK_EQ(number * 100, 150);
        eddy_redis_reply_free(reply);
        CHECK_EQ(eddy_redis_command(redis, &reply, "ECHO 1,5"), 0);
        CHECK_EQ(eddy_redis_reply_double(reply, &number), EDDY_E_REDIS_TYPE);
        eddy_redis_reply_free(reply);
        CHECK_EQ(eddy_redis_command(redis, NULL, "bLpOp x 0"), EDDY_E_REDIS_COMMAND);
        CHECK_EQ(eddy_redis_batch_new(&batch), 0);
        CHECK_EQ(eddy_redis_batch_add(batch, "INCRBYFLOAT n %f", 0.25), 0);
        CHECK_EQ(eddy_redis_batch_run(redis, batch, &reply), 0);
        CHECK_STR(eddy_redis_reply_text(reply, NULL), "0.25");
        eddy_redis_reply_free(reply);
        return 0;
}

/* Returns whether a program could be run and was successful. */
static bool run_program(const char *const *args)
{
        int status;
        pid_t child = fork();

        CHECK(child >= 0);
        if (child == 0) {
                if (freopen("/dev/null", "w", stdout) && freopen("/dev/null", "w", stderr))
                        execvp(args[0], (char *const *) (uintptr_t) args);
                _exit(127);
        }
        CHECK_EQ(waitpid(child, &status, 0), child);
        return status == 0;
}

/* Make a locale with a decimal comma, and use it. */
static void use_comma(void)
{
        char folder[] = "/tmp/eddy-locale-XXXXXX", place[64];
        const char *const make[] = { "localedef", "-i", "de_DE", "-f", "UTF-8", place, NULL };
        const char *const clean[] = { "rm", "-r", folder, NULL };
        bool is_used;

        CHECK(mkdtemp(folder) != NULL);
        snprintf(place, sizeof(place), "%s/comma", folder);
        CHECK_EQ(setenv("LOCPATH", folder, 1), 0);
        is_used = run_program(make) && setlocale(LC_ALL, "comma");
        CHECK(run_program(clean));
        if (!is_used)
                test_skip("localedef cannot make the locale de_DE");
        CHECK_STR(localeconv()->decimal_point, ",");
}

TEST(numbers_have_a_point_in_every_locale)
{
        use_comma();
        redis_server_start(&server, NULL);
        redis_run(locale_main, NULL);
        redis_server_end(&server);
}

static int errors_main(void *arg)
{
        static const char *const args[] = { "LPUSH", "text", "1" };
        EDDY_AUTO(eddy_redis) eddy_redis *redis = NULL;

        (void) arg;
        CHECK_EQ(eddy_redis_new(&(struct eddy_redis_opts){ .url = server.url }, &redis), 0);
        CHECK_EQ(eddy_redis_command(redis, NULL, "SET text abc"), 0);
        CHECK_EQ(eddy_redis_command_args(redis, 3, args, NULL, NULL), EDDY_E_REDIS_ERROR);
        CHECK_STR(eddy_redis_fault(redis)->code, "WRONGTYPE");
        CHECK_EQ(eddy_redis_command(redis, NULL, "BLPOP x 0"), EDDY_E_REDIS_COMMAND);
        CHECK_EQ(eddy_redis_command(redis, NULL, "xread COUNT 1 BLOCK 0 STREAMS s 0"),
                 EDDY_E_REDIS_COMMAND);
        CHECK_EQ(eddy_redis_command(redis, NULL, "XREAD COUNT 1 STREAMS block 0"), 0);
        CHECK_EQ(eddy_redis_command(redis, NULL, "MULTI"), EDDY_E_REDIS_COMMAND);
        CHECK_EQ(eddy_redis_command(redis, NULL, "client reply off"), EDDY_E_REDIS_COMMAND);
        CHECK_EQ(eddy_redis_command(redis, NULL, ""), -EINVAL);
        CHECK(strstr(eddy_redis_fault(redis)->text, "the command is empty"));
        CHECK_STR(eddy_redis_fault(redis)->code, "");
        CHECK_EQ(eddy_redis_command(NULL, NULL, "PING"), -EINVAL);
        CHECK_EQ(eddy_redis_command(redis, NULL, "PING"), 0);
        return 0;
}

static int faults_main(void *arg)
{
        static const char *const none[] = { NULL };
        EDDY_AUTO(eddy_redis) eddy_redis *redis = NULL;
        EDDY_AUTO(eddy_redis_batch) eddy_redis_batch *batch = NULL;
        eddy_redis_script script = { .source = "return 1" };
        eddy_redis_reply *reply;
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(eddy_redis_new(&(struct eddy_redis_opts){ .url = server.url }, &redis), 0);
        CHECK_EQ(eddy_redis_command(redis, NULL, "NOSUCH"), EDDY_E_REDIS_ERROR);
        CHECK_EQ(eddy_redis_command(redis, NULL, "PING %q"), -EINVAL);
        CHECK(strstr(eddy_redis_fault(redis)->text, "a conversion that is not %s"));
        CHECK_STR(eddy_redis_fault(redis)->code, "");
        CHECK_EQ(eddy_redis_command_args(redis, 1, none, NULL, NULL), -EINVAL);
        CHECK(strstr(eddy_redis_fault(redis)->text, "NULL"));
        CHECK_EQ(eddy_redis_batch_new(&batch), 0);
        CHECK_EQ(eddy_redis_batch_run(redis, batch, &reply), -EINVAL);
        CHECK_STR(eddy_redis_fault(redis)->text, "the batch is empty");
        CHECK_EQ(eddy_redis_eval(redis, &script, 2, 1, none, NULL, NULL), -EINVAL);
        CHECK(strstr(eddy_redis_fault(redis)->text, "keys (2)"));
        CHECK_EQ(eddy_redis_command(redis, NULL, "PING"), 0);
        CHECK_STR(eddy_redis_fault(redis)->text, "");
        CHECK_EQ(eddy_redis_command(redis, NULL, "NOSUCH"), EDDY_E_REDIS_ERROR);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_redis_command(redis, NULL, "PING"), -ECANCELED);
        (void) eddy_scope_end(&scope);
        CHECK_STR(eddy_redis_fault(redis)->text, "");
        return 0;
}

TEST(a_fault_is_that_of_the_last_call)
{
        redis_server_start(&server, NULL);
        redis_run(faults_main, NULL);
        redis_server_end(&server);
}

TEST(errors_are_distinguished)
{
        redis_server_start(&server, NULL);
        redis_run(errors_main, NULL);
        redis_server_end(&server);
}

struct many {
        eddy_redis *redis;
        int number;
};

static int add_many(void *arg)
{
        const struct many *many = arg;
        eddy_redis_reply *reply;
        int64_t value;

        for (int i = 0; i < 50; i++) {
                CHECK_EQ(eddy_redis_command(many->redis, &reply, "ECHO %d", many->number * 100 + i),
                         0);
                CHECK_EQ(eddy_redis_reply_integer(reply, &value), 0);
                CHECK_EQ(value, many->number * 100 + i);
                eddy_redis_reply_free(reply);
        }
        return 0;
}

static int many_main(void *arg)
{
        EDDY_AUTO(eddy_redis) eddy_redis *redis = NULL;
        struct eddy_redis_stats stats;
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(eddy_redis_new(&(struct eddy_redis_opts){ .url = server.url }, &redis), 0);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 64; i++) {
                struct many many = { redis, i };

                CHECK_EQ(eddy_scope_start_copy(&scope, add_many, &many, sizeof(many)), 0);
        }
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_redis_stats(redis, &stats);
        CHECK_EQ(stats.commands, 64 * 50);
        CHECK_EQ(stats.connects, 1);
        CHECK_EQ(stats.owed, 0);
        CHECK(stats.writes < stats.commands / 8);
        return 0;
}

TEST(commands_of_many_tasks_are_sent_together)
{
        redis_server_start(&server, NULL);
        redis_run(many_main, NULL);
        redis_server_end(&server);
}

static int limits_main(void *arg)
{
        struct eddy_redis_opts opts = { .url = server.url,
                                        .client_name = "a-client",
                                        .database = 1,
                                        .commands_max = 1,
                                        .request_bytes_max = 32 };
        EDDY_AUTO(eddy_redis) eddy_redis *redis = NULL;
        EDDY_AUTO(eddy_redis_batch) eddy_redis_batch *batch = NULL;
        eddy_redis_reply *replies[2];

        (void) arg;
        CHECK_EQ(eddy_redis_new(&opts, &redis), 0);
        CHECK_EQ(eddy_redis_command(redis, NULL, "PING"), 0);
        CHECK_EQ(eddy_redis_command(redis, NULL, "ECHO %s", "12345678901234"), EDDY_E_REDIS_FULL);
        CHECK(strstr(eddy_redis_fault(redis)->text, "request_bytes_max (32)"));
        CHECK_EQ(eddy_redis_batch_new(&batch), 0);
        CHECK_EQ(eddy_redis_batch_add(batch, "PING"), 0);
        CHECK_EQ(eddy_redis_batch_add(batch, "PING"), 0);
        CHECK_EQ(eddy_redis_batch_run(redis, batch, replies), EDDY_E_REDIS_FULL);
        CHECK(strstr(eddy_redis_fault(redis)->text, "commands_max (1)"));
        return 0;
}

TEST(limits_of_commands_do_not_prevent_the_login)
{
        redis_server_start(&server, NULL);
        redis_run(limits_main, NULL);
        redis_server_end(&server);
}

static int formats_main(void *arg)
{
        EDDY_AUTO(eddy_redis) eddy_redis *redis = NULL;
        static const char *const wrong[] = { "SET k %5",
                                             "GET %q",
                                             "GET %n",
                                             "ECHO %lf",
                                             "ECHO %hhh",
                                             "ECHO %9999d",
                                             "ECHO %-+ 0#-+ 0#123d" };
        const char *none = NULL;
        eddy_redis_reply *reply;

        (void) arg;
        CHECK_EQ(eddy_redis_new(&(struct eddy_redis_opts){ .url = server.url }, &redis), 0);
        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
                if (eddy_redis_command(redis, NULL, wrong[i], 1) != -EINVAL)
                        test_fail(__FILE__, __LINE__, "%s", wrong[i]);
        CHECK_EQ(eddy_redis_command(redis, NULL, "GET %s", none), -EINVAL);
        CHECK_EQ(eddy_redis_command(redis, NULL, "SET k %b", "", (size_t) 5 << 30), -EMSGSIZE);
        CHECK_EQ(eddy_redis_command(redis, NULL, "SET k %b", none, (size_t) 0), 0);
        CHECK_EQ(eddy_redis_command(redis, &reply, "ECHO %d/%ld/%llu/%hd/%.1f/%05d/%%/%b", 1, 2L,
                                    3ULL, 4, 5.0, 6, "x y", (size_t) 3),
                 0);
        CHECK_STR(eddy_redis_reply_text(reply, NULL), "1/2/3/4/5.0/00006/%/x y");
        eddy_redis_reply_free(reply);
        return 0;
}

TEST(a_format_is_checked_before_it_is_used)
{
        redis_server_start(&server, NULL);
        redis_run(formats_main, NULL);
        redis_server_end(&server);
}
