/*
 * P3: a server that is killed or stopped, or whose network drops everything or resets connections,
 * during connecting, a command, many batches, a subscription, and the return of a dedicated client.
 * Each call ends within its limit, and works again after the fault.
 *
 * A call may be later than a sleep of the same length by 50 ms, and recovery may take a second, with
 * EDDY_TEST_FULL; else the bounds are those of a busy machine.
 */
#include <signal.h>

#include "../../fault_proxy.h"
#include "eddy/redis_pubsub.h"
#include "redis_test.h"

enum { USES = 3, TASKS = 16, BATCH = 10, CONNECTS_MAX = 24 };

#define LIMIT_NS EDDY_MS(100)
#define YEAR_NS  EDDY_SEC(365 * 86400L)

enum fault { KILLED, STOPPED, DROPPED, RESET, FAULTS };

static const char *const fault_names[] = { "killed", "stopped", "dropped", "reset" };

static struct redis_server server;

struct rig {
        struct fault_proxy proxy;
        eddy_redis *redis, *direct;
        eddy_redis_subscriber *subscriber;
        eddy_redis_batch *batch;
        eddy_pool *pool;
        int64_t late_ns, recovery_ns; /* the longest */
};

struct moment {
        const char *name;
        void (*prepare)(struct rig *rig);
        eddy_task_fn *use; /* fails during the fault */
};

/* --- what is used --- */

static int ping(void *arg)
{
        const struct rig *rig = arg;

        return eddy_redis_command(rig->redis, NULL, "PING");
}

static void prepare_nothing(struct rig *rig)
{
        (void) rig;
}

static void prepare_connection(struct rig *rig)
{
        CHECK_EQ(ping(rig), 0);
}

static int batches_err; /* the first failure */

/* A scope returns one failure, and debug mode reports all others. */
static int run_batch(void *arg)
{
        const struct rig *rig = arg;
        eddy_redis_reply *replies[BATCH];
        int err = eddy_redis_batch_run(rig->redis, rig->batch, replies);

        for (int i = 0; i < BATCH && err == 0; i++)
                eddy_redis_reply_free(replies[i]);
        if (batches_err == 0)
                batches_err = err;
        return err == -ECANCELED ? err : 0;
}

static int run_batches(void *arg)
{
        eddy_scope scope;
        int err;

        batches_err = 0;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < TASKS; i++)
                eddy_scope_start(&scope, run_batch, arg);
        err = eddy_scope_end(&scope);
        return err < 0 ? err : batches_err;
}

static void prepare_subscription(struct rig *rig)
{
        static const char *const channels[] = { "news", NULL };
        struct eddy_redis_subscriber_opts opts = { .channels = channels,
                                                   .ping_after_ns = EDDY_MS(50) };

        CHECK_EQ(eddy_redis_subscriber_new(rig->redis, &opts, &rig->subscriber), 0);
        CHECK_EQ(eddy_redis_subscriber_start(rig->subscriber), 0);
}

static int publish(void *arg)
{
        const struct rig *rig = arg;

        while (eddy_sleep(EDDY_MS(5)) == 0)
                CHECK(eddy_redis_command(rig->direct, NULL, "PUBLISH news x") <= 0);
        return 0;
}

/* Receive a message; gaps do not count. */
static int receive(void *arg)
{
        const struct rig *rig = arg;
        struct eddy_redis_message message = { .kind = EDDY_REDIS_GAP };
        int err = 0;

        while (err == 0 && message.kind == EDDY_REDIS_GAP)
                err = eddy_redis_subscriber_next(rig->subscriber, &message);
        return err;
}

static void prepare_pool(struct rig *rig)
{
        struct eddy_pool_opts opts = { .size = 2, .ping_after_ns = -1 };

        CHECK_EQ(eddy_redis_pool_new(rig->redis, &opts, &rig->pool), 0);
}

/* Use a dedicated client, and give it back, which does not wait for anything. */
static int borrow(void *arg)
{
        const struct rig *rig = arg;
        eddy_pool_loan loan = { 0 };
        int err = eddy_pool_acquire(rig->pool, &loan);

        if (err < 0)
                return err;
        err = eddy_redis_command(loan.item, NULL, "WATCH x"); /* to be reset */
        CHECK_EQ(eddy_pool_release(&loan), 0);
        return err;
}

static void prepare_loan(struct rig *rig)
{
        prepare_pool(rig);
        CHECK_EQ(borrow(rig), 0);
}

static const struct moment moments[] = {
        { "connect", prepare_nothing, ping },
        { "command", prepare_connection, ping },
        { "batches", prepare_connection, run_batches },
        { "subscription", prepare_subscription, receive },
        { "opening a dedicated client", prepare_pool, borrow },
        { "giving back", prepare_loan, borrow },
};

/* --- faults --- */

static void begin_fault(struct rig *rig, enum fault fault)
{
        if (fault == KILLED)
                redis_server_kill(&server);
        else if (fault == STOPPED)
                CHECK_EQ(kill(server.pid, SIGSTOP), 0);
        else if (fault == DROPPED)
                rig->proxy.up.delay_ns = rig->proxy.down.delay_ns = YEAR_NS;
        else
                rig->proxy.up.then = rig->proxy.down.then = FAULT_RESET;
        rig->proxy.is_down = fault == RESET;
}

/* Connections of before remain as they are: dead, or without an answer. */
static void end_fault(struct rig *rig, enum fault fault)
{
        if (fault == KILLED)
                redis_server_restart(&server);
        else if (fault == STOPPED)
                CHECK_EQ(kill(server.pid, SIGCONT), 0);
        rig->proxy.up = rig->proxy.down = (struct fault_way){ .then = FAULT_NOTHING };
        rig->proxy.is_down = false;
}

/* --- measuring --- */

static bool is_full(void)
{
        return test_is_full();
}

static int sleep_limit(void *arg)
{
        int err = eddy_sleep(LIMIT_NS);

        *(int64_t *) arg = eddy_now();
        return err;
}

/* Use once, beside a sleep. */
static void use_in_fault(struct rig *rig, const struct moment *moment)
{
        int64_t ended_ns, slept_ns = 0;
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, sleep_limit, &slept_ns), 0);
        err = eddy_call_timeout(moment->use, rig, LIMIT_NS);
        ended_ns = eddy_now();
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK(err < 0);
        if (ended_ns - slept_ns > rig->late_ns)
                rig->late_ns = ended_ns - slept_ns;
}

static void use_after(struct rig *rig, const struct moment *moment)
{
        int64_t began_ns = eddy_now();
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, publish, rig), 0);
        while (eddy_call_timeout(moment->use, rig, LIMIT_NS) < 0)
                CHECK(eddy_now() - began_ns < EDDY_SEC(40));
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        if (eddy_now() - began_ns > rig->recovery_ns)
                rig->recovery_ns = eddy_now() - began_ns;
}

static void rig_open(struct rig *rig, eddy_scope *scope)
{
        struct eddy_redis_opts opts = { .password = "secret", .connect_timeout_ns = EDDY_MS(200) };

        *rig = (struct rig){ .proxy = { .host = "127.0.0.1", .port = server.port } };
        fault_proxy_start(&rig->proxy, scope);
        opts.port = rig->proxy.own_port;
        CHECK_EQ(eddy_redis_new(&opts, &rig->redis), 0);
        opts.unix_path = server.path;
        CHECK_EQ(eddy_redis_new(&opts, &rig->direct), 0);
        CHECK_EQ(eddy_redis_batch_new(&rig->batch), 0);
        for (int i = 0; i < BATCH; i++)
                CHECK_EQ(eddy_redis_batch_add(rig->batch, "ECHO %d", i), 0);
}

static void rig_close(struct rig *rig)
{
        eddy_redis_subscriber_close(rig->subscriber);
        eddy_pool_close(rig->pool);
        eddy_redis_batch_free(rig->batch);
        eddy_redis_close(rig->redis);
        eddy_redis_close(rig->direct);
}

static void try(const struct moment *moment, enum fault fault)
{
        struct eddy_pool_stats stats;
        struct rig rig;
        eddy_scope scope;
        uint32_t accepted;

        eddy_scope_begin(&scope, NULL);
        rig_open(&rig, &scope);
        moment->prepare(&rig);
        accepted = rig.proxy.accepted;
        begin_fault(&rig, fault);
        for (int i = 0; i < USES; i++)
                use_in_fault(&rig, moment);
        accepted = rig.proxy.accepted - accepted;
        end_fault(&rig, fault);
        use_after(&rig, moment);
        eddy_pool_stats(rig.pool, &stats);
        CHECK_EQ(stats.lent, 0);
        CHECK(stats.open <= 2);
        rig_close(&rig);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        fault_proxy_stop(&rig.proxy);
        printf("# %s, %s: at most %lld ms late, %u connections, recovery after %lld ms\n",
               fault_names[fault], moment->name, (long long) (rig.late_ns / EDDY_MS(1)), accepted,
               (long long) (rig.recovery_ns / EDDY_MS(1)));
        CHECK(accepted <= CONNECTS_MAX); /* no more for many tasks than for one */
        CHECK(rig.late_ns <= (is_full() ? EDDY_MS(50) : EDDY_SEC(5)));
        CHECK(rig.recovery_ns <= (is_full() ? EDDY_SEC(1) : EDDY_SEC(30)));
}

static int fault_main(void *arg)
{
        const enum fault *fault = arg;

        for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++)
                try(&moments[i], *fault);
        return 0;
}

static void try_all(enum fault fault)
{
        static const char *const more[] = { "--requirepass", "secret", NULL };

        redis_server_start(&server, more);
        redis_run(fault_main, &fault);
        redis_server_end(&server);
}

/* D10, D22: the connection is closed, and the next loan opens another. */
TEST(calls_end_in_time_when_the_server_is_killed)
{
        try_all(KILLED);
}

TEST(calls_end_in_time_when_the_server_is_stopped)
{
        try_all(STOPPED);
}

/* D31, D33: with stalls; a call ends by its own deadline. */
TEST(calls_end_in_time_when_the_network_drops_everything)
{
        try_all(DROPPED);
}

TEST(calls_end_in_time_when_connections_are_reset)
{
        try_all(RESET);
}
