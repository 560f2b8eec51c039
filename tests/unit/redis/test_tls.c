/*
 * TLS, with a real server: certificates and names are verified, users log in, and subscriptions and
 * dedicated clients are secured too.
 */
#include <unistd.h>

#include "eddy/redis_pubsub.h"
#include "redis_test.h"

/* A certificate that signs itself, which clients trust by its file. */
struct files {
        char folder[64];
        char cert[96];
        char key[96];
};

static struct redis_server server;
static struct files own, other; /* of the server; of another one */
static uint16_t tls_port;

static void files_make(struct files *files, const char *names)
{
        snprintf(files->folder, sizeof(files->folder), "/tmp/eddy-redis-tls-XXXXXX");
        CHECK(mkdtemp(files->folder) != NULL);
        snprintf(files->cert, sizeof(files->cert), "%s/cert", files->folder);
        snprintf(files->key, sizeof(files->key), "%s/key", files->folder);
        CHECK_EQ(eddy_tls_make_certificate(names, EDDY_SEC(86400), files->cert, files->key), 0);
}

static void files_remove(const struct files *files)
{
        unlink(files->cert);
        unlink(files->key);
        CHECK_EQ(rmdir(files->folder), 0);
}

static int make_main(void *arg)
{
        (void) arg;
        files_make(&own, "localhost");
        files_make(&other, "localhost");
        return 0;
}

/* Run with a server of TLS whose certificate is that of "localhost". */
static void run(eddy_task_fn *main_fn)
{
        char port[8];
        const char *const more[] = { "--tls-port",
                                     port,
                                     "--tls-cert-file",
                                     own.cert,
                                     "--tls-key-file",
                                     own.key,
                                     "--tls-ca-cert-file",
                                     own.cert,
                                     "--tls-auth-clients",
                                     "no",
                                     "--requirepass",
                                     "secret",
                                     NULL };

        redis_run(make_main, NULL);
        tls_port = (uint16_t) test_server_port();
        snprintf(port, sizeof(port), "%u", (unsigned) tls_port);
        redis_server_start(&server, more);
        redis_run(main_fn, NULL);
        redis_server_end(&server);
        files_remove(&own);
        files_remove(&other);
}

static eddy_tls_config *trust(const struct files *files)
{
        struct eddy_tls_opts opts = { .ca_file = files->cert };
        eddy_tls_config *config;

        CHECK_EQ(eddy_tls_config_new(&opts, NULL, &config), 0);
        return config;
}

static eddy_redis *client(const char *host, eddy_tls_config *config)
{
        struct eddy_redis_opts opts = { .url = "rediss://:secret@localhost",
                                        .host = host,
                                        .port = tls_port,
                                        .tls = config,
                                        .connect_timeout_ns = -1 };
        eddy_redis *redis;

        CHECK_EQ(eddy_redis_new(&opts, &redis), 0);
        return redis;
}

/* --- certificates --- */

static int refused(const char *host, eddy_tls_config *config, const char *reason)
{
        EDDY_AUTO(eddy_redis) eddy_redis *redis = client(host, config);
        struct eddy_redis_stats stats;
        int err = eddy_redis_command(redis, NULL, "PING");

        if (!strstr(eddy_redis_fault(redis)->text, reason))
                test_fail(__FILE__, __LINE__, "%s", eddy_redis_fault(redis)->text);
        eddy_redis_stats(redis, &stats);
        CHECK_EQ(stats.commands, 0); /* the password was not sent */
        CHECK_EQ(stats.connects, 0);
        return err;
}

static int verify_main(void *arg)
{
        EDDY_AUTO(eddy_tls_config) eddy_tls_config *right = trust(&own), *wrong = trust(&other);
        EDDY_AUTO(eddy_redis) eddy_redis *redis = NULL;

        (void) arg;
        CHECK_EQ(refused("localhost", NULL, "self-signed"),
                 EDDY_E_TLS_SELF_SIGNED); /* by default */
        CHECK_EQ(refused("localhost", wrong, "self-signed"), EDDY_E_TLS_SELF_SIGNED);
        CHECK_EQ(refused("127.0.0.1", right, "mismatch"), EDDY_E_TLS_WRONG_HOST);
        redis = client("localhost", right);
        CHECK_EQ(eddy_redis_command(redis, NULL, "PING"), 0);
        return 0;
}

TEST(a_certificate_that_is_not_trusted_or_of_another_name_is_refused)
{
        run(verify_main);
}

static int plain_main(void *arg)
{
        EDDY_AUTO(eddy_tls_config) eddy_tls_config *config = trust(&own);
        EDDY_AUTO(eddy_redis) eddy_redis *redis = NULL;
        struct eddy_redis_opts opts = { .url = "rediss://:secret@localhost",
                                        .port = server.port,
                                        .tls = config };

        (void) arg;
        CHECK_EQ(eddy_redis_new(&opts, &redis), 0);
        CHECK(eddy_redis_command(redis, NULL, "PING") < 0);
        return 0;
}

TEST(a_server_without_tls_is_not_spoken_to)
{
        run(plain_main);
}

/* --- users --- */

static int login(eddy_tls_config *config, const char *user, const char *password)
{
        EDDY_AUTO(eddy_redis) eddy_redis *redis = NULL;
        struct eddy_redis_opts opts = { .host = "localhost",
                                        .port = tls_port,
                                        .flags = EDDY_REDIS_TLS,
                                        .user = user,
                                        .password = password,
                                        .tls = config };
        eddy_redis_reply *reply;
        int err;

        CHECK_EQ(eddy_redis_new(&opts, &redis), 0);
        err = eddy_redis_command(redis, &reply, "ACL WHOAMI");
        if (err == 0) {
                CHECK_STR(eddy_redis_reply_text(reply, NULL), user ? user : "default");
                eddy_redis_reply_free(reply);
                if (user)
                        CHECK_EQ(eddy_redis_command(redis, NULL, "GET x"), EDDY_E_REDIS_ERROR);
        } else {
                CHECK(!password || !strstr(eddy_redis_fault(redis)->text, password));
        }
        return err;
}

static int users_main(void *arg)
{
        EDDY_AUTO(eddy_tls_config) eddy_tls_config *config = trust(&own);
        EDDY_AUTO(eddy_redis) eddy_redis *redis = client("localhost", config);

        (void) arg;
        CHECK_EQ(eddy_redis_command(redis, NULL, "ACL SETUSER ann on >pass:/@ ~* +ping +acl"), 0);
        CHECK_EQ(login(config, "ann", "pass:/@"), 0);
        CHECK_EQ(login(config, "ann", "hunter2"), EDDY_E_REDIS_AUTH);
        CHECK_EQ(login(config, NULL, "secret"), 0);
        CHECK_EQ(login(config, NULL, NULL), EDDY_E_REDIS_ERROR);
        return 0;
}

TEST(users_log_in_over_tls)
{
        run(users_main);
}

/* --- work --- */

static int ask(void *arg)
{
        static unsigned long long number;
        unsigned long long mine = ++number;
        eddy_redis_reply *reply;
        int64_t value;

        CHECK_EQ(eddy_redis_command(arg, &reply, "ECHO %llu", mine), 0);
        CHECK_EQ(eddy_redis_reply_integer(reply, &value), 0);
        CHECK_EQ(value, mine);
        eddy_redis_reply_free(reply);
        return 0;
}

static int work_main(void *arg)
{
        static char large[1 << 20];
        EDDY_AUTO(eddy_tls_config) eddy_tls_config *config = trust(&own);
        EDDY_AUTO(eddy_redis) eddy_redis *redis = client("localhost", config);
        struct eddy_redis_stats stats;
        eddy_redis_reply *reply;
        eddy_scope scope;
        size_t bytes;

        (void) arg;
        for (int i = 0; i < 3; i++) {
                CHECK_EQ(ask(redis), 0);
                CHECK_EQ(eddy_sleep(EDDY_MS(20)), 0); /* tickets and the like arrive meanwhile */
        }
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 500; i++)
                CHECK_EQ(eddy_scope_start(&scope, ask, redis), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        memset(large, 'x', sizeof(large));
        CHECK_EQ(eddy_redis_command(redis, NULL, "SET k %b", large, sizeof(large)), 0);
        CHECK_EQ(eddy_redis_command(redis, &reply, "GET k"), 0);
        CHECK(memcmp(eddy_redis_reply_text(reply, &bytes), large, sizeof(large)) == 0);
        CHECK_EQ(bytes, sizeof(large));
        eddy_redis_reply_free(reply);
        eddy_redis_stats(redis, &stats);
        CHECK_EQ(stats.connects, 1);
        /* A server that comes back is connected to again, with a handshake of its own. */
        redis_server_kill(&server);
        CHECK(eddy_redis_command(redis, NULL, "PING") < 0);
        redis_server_restart(&server);
        CHECK_EQ(ask(redis), 0);
        return 0;
}

TEST(commands_of_many_tasks_share_a_connection_of_tls)
{
        run(work_main);
}

static int pool_main(void *arg)
{
        EDDY_AUTO(eddy_tls_config) eddy_tls_config *config = trust(&own);
        EDDY_AUTO(eddy_redis) eddy_redis *redis = client("localhost", config);
        eddy_pool *pool;
        eddy_pool_loan loan = { 0 };
        eddy_redis_reply *reply;
        struct eddy_pool_stats stats;

        (void) arg;
        CHECK_EQ(eddy_redis_pool_new(redis, &(struct eddy_pool_opts){ .size = 1 }, &pool), 0);
        for (int i = 0; i < 5; i++) {
                CHECK_EQ(eddy_redis_command(redis, NULL, "RPUSH list a"), 0);
                CHECK_EQ(eddy_pool_acquire(pool, &loan), 0);
                CHECK_EQ(eddy_redis_command(loan.item, &reply, "BLPOP list 0"), 0);
                CHECK_STR(eddy_redis_reply_text(eddy_redis_reply_at(reply, 1), NULL), "a");
                eddy_redis_reply_free(reply);
                CHECK_EQ(eddy_pool_release(&loan), 0);
        }
        eddy_pool_stats(pool, &stats);
        CHECK_EQ(stats.opened, 1);
        eddy_pool_close(pool);
        return 0;
}

TEST(dedicated_clients_use_tls)
{
        run(pool_main);
}

/* --- subscriptions --- */

static int next_message(void *arg)
{
        struct eddy_redis_message message;

        return eddy_redis_subscriber_next(arg, &message);
}

static int messages_main(void *arg)
{
        static const char *const channels[] = { "news", NULL };
        struct eddy_redis_subscriber_opts opts = { .channels = channels };
        EDDY_AUTO(eddy_tls_config) eddy_tls_config *config = trust(&own);
        EDDY_AUTO(eddy_redis) eddy_redis *redis = client("localhost", config);
        EDDY_AUTO(eddy_redis_subscriber) eddy_redis_subscriber *subscriber = NULL;
        struct eddy_redis_message message;

        (void) arg;
        CHECK_EQ(eddy_redis_subscriber_new(redis, &opts, &subscriber), 0);
        CHECK_EQ(eddy_redis_subscriber_start(subscriber), 0);
        for (int i = 0; i < 3; i++) {
                CHECK_EQ(eddy_call_timeout(next_message, subscriber, EDDY_MS(5)), -ETIMEDOUT);
                CHECK_EQ(eddy_redis_command(redis, NULL, "PUBLISH news %d", i), 0);
                CHECK_EQ(eddy_redis_command(redis, NULL, "PUBLISH news again"), 0);
                CHECK_EQ(eddy_redis_subscriber_next(subscriber, &message), 0);
                CHECK_EQ(message.kind, EDDY_REDIS_MESSAGE);
                CHECK_EQ(strtol(message.data, NULL, 10), i);
                CHECK_EQ(eddy_redis_subscriber_next(subscriber, &message), 0);
                CHECK_STR(message.data, "again");
        }
        redis_server_kill(&server);
        redis_server_restart(&server);
        CHECK_EQ(eddy_redis_subscriber_next(subscriber, &message), 0);
        CHECK_EQ(message.kind, EDDY_REDIS_GAP);
        CHECK_EQ(eddy_redis_command(redis, NULL, "PUBLISH news on"), 0);
        CHECK_EQ(eddy_redis_subscriber_next(subscriber, &message), 0);
        CHECK_STR(message.data, "on");
        return 0;
}

TEST(a_subscriber_uses_tls_and_connects_again)
{
        run(messages_main);
}
