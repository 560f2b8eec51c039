/*
 * Streams with a consumer group, with a real server: a consumer that crashes, and another one that
 * claims the entries that were not acknowledged.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "redis_test.h"

enum { JOBS = 10, TAKEN = 6, DONE = 2 };

static struct redis_server server;

static eddy_redis *client(void)
{
        eddy_redis *redis;

        CHECK_EQ(eddy_redis_new(&(struct eddy_redis_opts){ .url = server.url }, &redis), 0);
        return redis;
}

/* Returns the number in the field "job" of an entry, and acknowledges it. */
static int64_t finish(eddy_redis *redis, const eddy_redis_reply *entry)
{
        const char *id = eddy_redis_reply_text(eddy_redis_reply_at(entry, 0), NULL);
        eddy_redis_reply *reply;
        int64_t job, count;

        CHECK_EQ(eddy_redis_reply_integer(
                         eddy_redis_reply_find(eddy_redis_reply_at(entry, 1), "job"), &job),
                 0);
        CHECK_EQ(eddy_redis_command(redis, &reply, "XACK jobs workers %s", id), 0);
        CHECK_EQ(eddy_redis_reply_integer(reply, &count), 0);
        CHECK_EQ(count, 1);
        eddy_redis_reply_free(reply);
        return job;
}

/* Returns the entries in a reply to XREADGROUP of one stream. */
static const eddy_redis_reply *entries_of(const eddy_redis_reply *reply)
{
        return eddy_redis_reply_at(eddy_redis_reply_at(reply, 0), 1);
}

static int prepare_main(void *arg)
{
        EDDY_AUTO(eddy_redis) eddy_redis *redis = client();

        (void) arg;
        CHECK_EQ(eddy_redis_command(redis, NULL, "XGROUP CREATE jobs workers $ MKSTREAM"), 0);
        CHECK_EQ(eddy_redis_command(redis, NULL, "XGROUP CREATE jobs workers $"),
                 EDDY_E_REDIS_ERROR);
        CHECK_STR(eddy_redis_fault(redis)->code, "BUSYGROUP");
        for (int i = 0; i < JOBS; i++)
                CHECK_EQ(eddy_redis_command(redis, NULL, "XADD jobs * job %d", i), 0);
        return 0;
}

/* A consumer that takes some jobs, finishes fewer of them, and is killed. */
static int crash_main(void *arg)
{
        EDDY_AUTO(eddy_redis) eddy_redis *redis = client();
        eddy_redis_reply *reply;

        (void) arg;
        CHECK_EQ(eddy_redis_command(redis, &reply,
                                    "XREADGROUP GROUP workers first COUNT %d STREAMS jobs >",
                                    TAKEN),
                 0);
        CHECK_EQ(eddy_redis_reply_count(entries_of(reply)), TAKEN);
        for (uint32_t i = 0; i < DONE; i++)
                CHECK_EQ(finish(redis, eddy_redis_reply_at(entries_of(reply), i)), i);
        kill(getpid(), SIGKILL);
        return 0;
}

/* Claim what the other consumer has left, in steps, and finish it.  Returns the sum of the jobs. */
static int64_t claim(eddy_redis *redis)
{
        char cursor[64] = "0-0";
        int64_t sum = 0;

        do {
                const eddy_redis_reply *entries;
                eddy_redis_reply *reply;

                CHECK_EQ(eddy_redis_command(redis, &reply,
                                            "XAUTOCLAIM jobs workers second 0 %s COUNT 3", cursor),
                         0);
                snprintf(cursor, sizeof(cursor), "%s",
                         eddy_redis_reply_text(eddy_redis_reply_at(reply, 0), NULL));
                entries = eddy_redis_reply_at(reply, 1);
                for (uint32_t i = 0; i < eddy_redis_reply_count(entries); i++)
                        sum += finish(redis, eddy_redis_reply_at(entries, i));
                eddy_redis_reply_free(reply);
        } while (strcmp(cursor, "0-0") != 0);
        return sum;
}

static int take_over_main(void *arg)
{
        EDDY_AUTO(eddy_redis) eddy_redis *redis = client();
        EDDY_AUTO(eddy_pool) eddy_pool *pool = NULL;
        eddy_pool_loan loan = { 0 };
        eddy_redis_reply *reply;
        int64_t pending;

        (void) arg;
        CHECK_EQ(claim(redis), 2 + 3 + 4 + 5);
        CHECK_EQ(claim(redis), 0);
        /* New entries, by a call that waits for them. */
        CHECK_EQ(eddy_redis_pool_new(redis, NULL, &pool), 0);
        CHECK_EQ(eddy_pool_acquire(pool, &loan), 0);
        for (int i = TAKEN; i < JOBS; i++) {
                CHECK_EQ(eddy_redis_command(loan.item, &reply,
                                            "XREADGROUP GROUP workers second COUNT 1 BLOCK 0 "
                                            "STREAMS jobs >"),
                         0);
                CHECK_EQ(finish(redis, eddy_redis_reply_at(entries_of(reply), 0)), i);
                eddy_redis_reply_free(reply);
        }
        CHECK_EQ(eddy_redis_command(loan.item, &reply,
                                    "XREADGROUP GROUP workers second BLOCK 1 STREAMS jobs >"),
                 0);
        CHECK_EQ(eddy_redis_reply_type(reply), EDDY_REDIS_NIL);
        eddy_redis_reply_free(reply);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        CHECK_EQ(eddy_redis_command(redis, &reply, "XPENDING jobs workers"), 0);
        CHECK_EQ(eddy_redis_reply_integer(eddy_redis_reply_at(reply, 0), &pending), 0);
        CHECK_EQ(pending, 0);
        eddy_redis_reply_free(reply);
        return 0;
}

TEST(entries_of_a_consumer_that_crashed_are_claimed_by_another)
{
        int status;
        pid_t child;

        redis_server_start(&server, NULL);
        redis_run(prepare_main, NULL);
        child = fork();
        CHECK(child >= 0);
        if (child == 0) {
                redis_run(crash_main, NULL);
                _exit(1);
        }
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        redis_run(take_over_main, NULL);
        redis_server_end(&server);
}
