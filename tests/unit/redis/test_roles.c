/*
 * The tasks of a connection write and read for each other: a role that one task leaves is taken by
 * another one. The connection is a pair in memory, so the order of all steps is fixed.
 */
#include "redis/redis.h"
#include "redis_test.h"

enum { ROOM = 4096, LARGE = 64 << 10, TURNS = 1000 };

static eddy_redis *redis;
static eddy_stream *peer;
static char large[LARGE];

/* Make a client with a connection whose other end is 'peer'. */
static void begin(void)
{
        struct eddy_stream_pair_opts opts = { .buffer_bytes = ROOM };
        eddy_stream *own;

        memset(large, 'x', sizeof(large));
        CHECK_EQ(eddy_redis_new(NULL, &redis), 0);
        CHECK_EQ(eddy_stream_pair(&opts, &own, &peer), 0);
        CHECK_EQ(ed_redis_link_new(redis, own, &redis->link), 0);
        redis->was_connected = true;
}

static void end(void)
{
        eddy_redis_close(redis);
        eddy_stream_close(peer);
}

/* Let the tasks run until all of them wait. */
static void settle(void)
{
        for (int i = 0; i < 20; i++)
                CHECK_EQ(eddy_sleep(0), 0);
}

static void say(const char *text)
{
        struct eddy_slice slice = { .data = text, .bytes = strlen(text) };

        CHECK_EQ(eddy_stream_try_writev(peer, &slice, 1), slice.bytes);
}

/* Read what the client has written, until the bytes end with 'last'. */
static void hear(const char *last)
{
        static char buf[2 * LARGE];
        size_t bytes = 0, n = strlen(last);
        int turns = 0;

        while (bytes < n || memcmp(buf + bytes - n, last, n) != 0) {
                int64_t got = eddy_stream_try_read(peer, buf + bytes, sizeof(buf) - bytes);

                CHECK(got > 0 || got == -EAGAIN);
                bytes += got > 0 ? (size_t) got : 0;
                CHECK(turns++ < TURNS);
                CHECK_EQ(eddy_sleep(0), 0);
        }
}

/* ECHO of a letter. */
static int echo(void *arg)
{
        const char *letter = arg;
        eddy_redis_reply *reply;
        int err = eddy_redis_command(redis, &reply, "ECHO %s", letter);

        if (err == 0) {
                CHECK_STR(eddy_redis_reply_text(reply, NULL), letter);
                eddy_redis_reply_free(reply);
        }
        return err;
}

static int set_large(void *arg)
{
        (void) arg;
        return eddy_redis_command(redis, NULL, "SET k %b", large, sizeof(large));
}

static eddy_task *start(eddy_scope *scope, eddy_task_fn *fn, const char *arg)
{
        eddy_task *task;

        CHECK_EQ(eddy_scope_start_task(scope, fn, (void *) (uintptr_t) arg, NULL, &task), 0);
        return task;
}

static void expect(eddy_task *task, int err)
{
        int result;

        for (int i = 0; i < TURNS && !eddy_task_is_done(task); i++)
                CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(eddy_task_result(task, &result), 0);
        CHECK_EQ(result, err);
        eddy_task_release(task);
}

/*
 * 'reader' reads, and its own command is not sent. The writer is cancelled and wakes 'line' to
 * write; 'line' gets its reply first.
 */
static int leaving_main(void *arg)
{
        eddy_task *first, *line, *writer, *reader;
        eddy_scope scope;

        (void) arg;
        begin();
        eddy_scope_begin(&scope, NULL);
        first = start(&scope, echo, "a");
        settle();
        line = start(&scope, echo, "b");
        settle();
        hear("\r\nb\r\n");
        writer = start(&scope, set_large, NULL);
        settle();
        eddy_task_cancel(first); /* 'first' has read until now */
        reader = start(&scope, echo, "c");
        settle();
        eddy_task_cancel(writer);
        say("$1\r\na\r\n$1\r\nb\r\n");
        settle();
        expect(first, -ECANCELED);
        expect(line, 0);
        expect(writer, -ECANCELED);
        hear("\r\nc\r\n");
        say("+OK\r\n$1\r\nc\r\n");
        expect(reader, 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        end();
        return 0;
}

TEST(a_task_that_was_woken_to_write_and_gets_its_reply_wakes_another_one)
{
        redis_run(leaving_main, NULL);
}

static int done_main(void *arg)
{
        eddy_task *small, *other;
        eddy_scope scope;

        (void) arg;
        begin();
        eddy_scope_begin(&scope, NULL);
        small = start(&scope, echo, "a"); /* writes both commands */
        other = start(&scope, set_large, NULL);
        settle();
        say("$1\r\na\r\n");
        expect(small, 0);
        hear("x\r\n");
        say("+OK\r\n");
        expect(other, 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        end();
        return 0;
}

TEST(a_task_that_has_its_reply_leaves_the_rest_of_the_writing_to_another_one)
{
        redis_run(done_main, NULL);
}

/* Asks for a large reply, and sends a large command. */
static int get_and_set(void *arg)
{
        EDDY_AUTO(eddy_redis_batch) eddy_redis_batch *batch = NULL;
        eddy_redis_reply *replies[2];
        int err;

        (void) arg;
        CHECK_EQ(eddy_redis_batch_new(&batch), 0);
        CHECK_EQ(eddy_redis_batch_add(batch, "GET k"), 0);
        CHECK_EQ(eddy_redis_batch_add(batch, "SET k %b", large, sizeof(large)), 0);
        err = eddy_redis_batch_run(redis, batch, replies);
        for (int i = 0; err == 0 && i < 2; i++)
                eddy_redis_reply_free(replies[i]);
        return err;
}

/* The server reads no command until it has sent all of its reply. */
static void say_large(void)
{
        struct eddy_slice slice = { .data = large, .bytes = sizeof(large) };
        int turns = 0;

        say("$65536\r\n");
        while (slice.bytes > 0) {
                int64_t n = eddy_stream_try_writev(peer, &slice, 1);

                CHECK(n > 0 || n == -EAGAIN);
                slice.bytes -= n > 0 ? (size_t) n : 0;
                CHECK(turns++ < TURNS);
                CHECK_EQ(eddy_sleep(EDDY_US(10)), 0);
        }
        say("\r\n");
}

static int blocked_main(void *arg)
{
        eddy_task *reader, *writer;
        eddy_scope scope;

        (void) arg;
        begin();
        eddy_scope_begin(&scope, NULL);
        reader = start(&scope, echo, "a");
        settle();
        writer = start(&scope, get_and_set, NULL);
        settle();
        say("$1\r\na\r\n");
        expect(reader, 0);
        say_large();
        hear("x\r\n");
        say("+OK\r\n");
        expect(writer, 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        end();
        return 0;
}

TEST(replies_are_read_after_the_reader_has_left_a_writer_that_waits)
{
        redis_run(blocked_main, NULL);
}
