/*
 * test_fork.c - forks while the loop is busy, by a task and by a job's thread:
 * children that end at once, that become another program, that try what they
 * have of their parent's loop and run one of their own.  The parent loses no
 * byte, no item, no tick and no descriptor by it, and no child has one of its
 * descriptors in another program.
 */
#include <dirent.h>
#include <eddy/eddy.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

enum {
        FORKS_SAMPLE = STAYS ? 9 : 60,
        FORKS_ALL = 1000,
        CLIENTS = 4,
        BLOCK = 1024,
        JOBS = 2,
        TICKERS = 10,
};

#define CHILD_NS EDDY_SEC(100) /* a child that takes longer hangs */

static const struct eddy_run_opts quiet = { .flags = EDDY_RUN_NO_WATCHDOG };

/* What the parent does meanwhile, all of one run. */
static struct {
        bool over;
        uint64_t blocks, jobs, items, ticks;
        eddy_listener *listener;
        eddy_stream *streams[CLIENTS];
        eddy_channel *there, *back;
        eddy_loop *loop;
        eddy_handle handle;
        int fds_before;
} load;

static struct {
        int ended, became, lived, from_threads;
} children;

/* How many descriptors this process has, but for the one that looks. */
static int fds_count(void)
{
        DIR *dir = opendir("/proc/self/fd");
        int n = 0;

        if (!dir)
                _exit(100);
        while (readdir(dir))
                n++;
        closedir(dir);
        return n - 3;
}

/* What a child becomes: this program anew, which only looks what it was given. */
static __attribute__((constructor)) void be_counted(void)
{
        const char *expected = getenv("FORK_TEST_DESCRIPTORS");

        if (expected)
                _exit(fds_count() == strtol(expected, NULL, 10) ? 0 : 101);
}

/* --- the load --- */

static int echo(void *arg)
{
        EDDY_AUTO(eddy_stream) eddy_stream *stream = *(eddy_stream **) arg;
        unsigned char block[BLOCK];
        int64_t n;

        while ((n = eddy_stream_read(stream, block, sizeof(block))) > 0)
                CHECK_EQ(eddy_stream_write(stream, block, (size_t) n), 0);
        return (int) n;
}

static int serve(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < CLIENTS; i++) {
                eddy_stream *stream;

                CHECK_EQ(eddy_listener_accept(load.listener, &stream), 0);
                CHECK_EQ(eddy_scope_start_copy(&scope, echo, &stream, sizeof(stream)), 0);
        }
        return eddy_scope_end(&scope);
}

static void block_fill(unsigned char *block, uint64_t number)
{
        for (int i = 0; i < BLOCK; i++)
                block[i] = (unsigned char) ((uint64_t) i * 7 + number * 13);
}

static void read_all(eddy_stream *stream, unsigned char *block)
{
        int64_t n;

        for (int at = 0; at < BLOCK; at += (int) n) {
                n = eddy_stream_read(stream, block + at, (size_t) (BLOCK - at));
                CHECK(n > 0);
        }
}

/* Each block comes back as it went, and in its place. */
static int ask(void *arg)
{
        eddy_stream **stream = arg;
        unsigned char block[BLOCK], expected[BLOCK];

        CHECK_EQ(eddy_tcp_connect("127.0.0.1", eddy_listener_port(load.listener), NULL, stream), 0);
        for (uint64_t number = 0; !load.over; number++) {
                block_fill(expected, number);
                CHECK_EQ(eddy_stream_write(*stream, expected, sizeof(expected)), 0);
                read_all(*stream, block);
                CHECK(memcmp(block, expected, sizeof(block)) == 0);
                load.blocks++;
                CHECK_EQ(eddy_sleep(EDDY_US(100)), 0);
        }
        eddy_stream_close(*stream);
        return 0;
}

static int add_up(void *arg)
{
        volatile int sum = 0;

        for (int i = 0; i < 1000; i++)
                sum += i;
        *(int *) arg = sum;
        return 0;
}

static int calls(void *arg)
{
        (void) arg;
        while (!load.over) {
                int sum = 0;

                CHECK_EQ(eddy_to_thread(add_up, &sum), 0);
                CHECK_EQ(sum, 499500);
                load.jobs++;
        }
        return 0;
}

static int tick(void *arg)
{
        (void) arg;
        while (!load.over) {
                CHECK_EQ(eddy_sleep(EDDY_US(200)), 0);
                load.ticks++;
        }
        return 0;
}

/* Another thread's loop hands back what it gets. */
static int hand_back(void *arg)
{
        uint64_t item;

        (void) arg;
        while (eddy_channel_get(load.there, &item) == 0)
                CHECK_EQ(eddy_channel_put(load.back, &item), 0);
        return 0;
}

static void *other_loop(void *arg)
{
        (void) arg;
        CHECK_EQ(eddy_run(hand_back, NULL, &quiet), 0);
        return NULL;
}

static int hand_over(void *arg)
{
        (void) arg;
        while (!load.over) {
                uint64_t item = load.items, came;

                CHECK_EQ(eddy_channel_put(load.there, &item), 0);
                CHECK_EQ(eddy_channel_get(load.back, &came), 0);
                CHECK_EQ(came, item);
                load.items++;
                CHECK_EQ(eddy_sleep(EDDY_US(100)), 0);
        }
        eddy_channel_shutdown(load.there);
        return 0;
}

/* --- children --- */

static int small_main(void *arg)
{
        (void) arg;
        return eddy_sleep(EDDY_US(1)) == 0 ? 5 : -1;
}

static void become_another(void)
{
        char number[16], *argv[] = { (char *) "counted", NULL };
        char expected[48], *env[] = { expected, NULL };

        snprintf(number, sizeof(number), "%d", load.fds_before);
        snprintf(expected, sizeof(expected), "FORK_TEST_DESCRIPTORS=%s", number);
        (void) execve("/proc/self/exe", argv, env);
        _exit(102);
}

/*
 * Try all that came along, give some of it back, and have a run of one's own:
 * on the stack of a task, which ASan takes for the thread's after that.
 */
static __attribute__((no_sanitize("address"))) void live(void)
{
        uint64_t item = 0;
        bool refused = eddy_task_current() == NULL && eddy_sleep(1) == EDDY_E_RUN_NOT_RUNNING &&
                       eddy_channel_try_put(load.there, &item) == EDDY_E_LOOP_FORKED &&
                       eddy_channel_try_get(load.back, &item) == EDDY_E_LOOP_FORKED &&
                       eddy_loop_step(load.loop) == EDDY_E_LOOP_FORKED &&
                       eddy_loop_try_close(load.loop) == EDDY_E_LOOP_FORKED &&
                       eddy_loop_close(load.loop) == EDDY_E_LOOP_FORKED;

        eddy_loop_stop(load.loop);
        (void) eddy_handle_cancel(&load.handle);
        for (int i = 0; i < CLIENTS; i++)
                eddy_stream_close(load.streams[i]);
        eddy_listener_close(load.listener);
        _exit(refused && eddy_run(small_main, NULL, &quiet) == 5 ? 0 : 103);
}

static pid_t fork_one(int kind)
{
        pid_t child = fork();

        CHECK(child >= 0);
        if (child > 0)
                return child;
        alarm(100);
        if (kind == 0)
                _exit(0);
        if (kind == 1 && !STAYS)
                become_another();
        if (kind == 2)
                live();
        _exit(STAYS ? 0 : 104);
}

/* On a job's thread: the loop goes on meanwhile, so the child does nothing that allocates. */
static int fork_on_thread(void *arg)
{
        int *kind_and_child = arg;

        kind_and_child[1] = fork_one(kind_and_child[0]);
        return 0;
}

static void await_child(pid_t child)
{
        int64_t until_ns = eddy_now() + CHILD_NS;
        int status = 0;
        pid_t pid;

        while ((pid = waitpid(child, &status, WNOHANG)) == 0) {
                CHECK(eddy_now() < until_ns);
                CHECK_EQ(eddy_sleep(EDDY_US(200)), 0);
        }
        CHECK_EQ(pid, child);
        CHECK(WIFEXITED(status));
        CHECK_EQ(WEXITSTATUS(status), 0);
}

static void fork_and_await(int i)
{
        int kind = i % 3, on_thread[2] = { kind, 0 };

        if (kind < 2 && i % 2) {
                CHECK_EQ(eddy_to_thread(fork_on_thread, on_thread), 0);
                children.from_threads++;
        } else {
                on_thread[1] = fork_one(kind);
        }
        await_child(on_thread[1]);
        children.ended += kind == 0 || (kind == 1 && STAYS);
        children.became += kind == 1 && !STAYS;
        children.lived += kind == 2;
}

/* --- all of it --- */

static int ignore_call(void *arg)
{
        (void) arg;
        return 0;
}

static void load_begin(eddy_scope *scope)
{
        CHECK_EQ(eddy_channel_new(sizeof(uint64_t), 4, &load.there), 0);
        CHECK_EQ(eddy_channel_new(sizeof(uint64_t), 4, &load.back), 0);
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &load.listener), 0);
        load.loop = eddy_loop_ref(eddy_loop_current());
        CHECK_EQ(eddy_loop_call_later(NULL, &load.handle, EDDY_MIN(60), ignore_call, NULL), 0);
        CHECK_EQ(eddy_scope_start(scope, serve, NULL), 0);
        for (int i = 0; i < CLIENTS; i++)
                CHECK_EQ(eddy_scope_start(scope, ask, &load.streams[i]), 0);
        for (int i = 0; i < JOBS; i++)
                CHECK_EQ(eddy_scope_start(scope, calls, NULL), 0);
        for (int i = 0; i < TICKERS; i++)
                CHECK_EQ(eddy_scope_start(scope, tick, NULL), 0);
        CHECK_EQ(eddy_scope_start(scope, hand_over, NULL), 0);
}

static void load_end(void)
{
        CHECK_EQ(eddy_handle_cancel(&load.handle), 1);
        eddy_listener_close(load.listener);
        eddy_loop_release(load.loop);
}

static int forks_under_load(void *arg)
{
        int forks = *(const int *) arg;
        pthread_t other;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        load_begin(&scope);
        CHECK_EQ(pthread_create(&other, NULL, other_loop, NULL), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(5)), 0);
        for (int i = 0; i < forks; i++) {
                uint64_t blocks = load.blocks, ticks = load.ticks, items = load.items;

                fork_and_await(i);
                /* All of it goes on. */
                while (load.blocks == blocks || load.ticks == ticks || load.items == items)
                        CHECK_EQ(eddy_sleep(EDDY_US(100)), 0);
        }
        load.over = true;
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(pthread_join(other, NULL), 0);
        load_end();
        return 0;
}

TEST(forks_under_load_cost_the_parent_nothing)
{
        bool all = test_is_full();
        int forks = all ? FORKS_ALL : FORKS_SAMPLE;

        load.fds_before = fds_count();
        CHECK_EQ(eddy_run(forks_under_load, &forks, &quiet), 0);
        eddy_channel_release(load.there);
        eddy_channel_release(load.back);
        CHECK_EQ(fds_count(), load.fds_before);
        printf("# R18: %d forks under load, %d of them by threads: %d children ended at once, %d "
               "became another program, %d ran a loop of their own; meanwhile %llu blocks of %d "
               "bytes, %llu items, %llu jobs, %llu ticks; 0 wrong, 0 descriptors left\n",
               forks, children.from_threads, children.ended, children.became, children.lived,
               (unsigned long long) load.blocks, BLOCK, (unsigned long long) load.items,
               (unsigned long long) load.jobs, (unsigned long long) load.ticks);
}
