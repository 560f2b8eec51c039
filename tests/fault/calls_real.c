/*
 * calls_real.c - the worlds of what a simulation does not have: signals, changes of files,
 * child processes, and questions to a name server; see every_call.h.  On the real clock, so under
 * fewer schedules, whose points are not the same each time.
 */
#include "every_call.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_dns.h"
#include "io/dns.h"
#include "loop/loop.h"

static void short_pause(void)
{
        (void) eddy_sleep(EDDY_US(200) * (int64_t) world_chance(3));
}

/* --- signals --- */

enum { SIGNALS = 3 };

static struct {
        eddy_signal *signal;
        int got;
        bool pending; /* raised, and not given yet */
} post;

static int await_signal(void *arg)
{
        int signo = eddy_signal_wait(post.signal);

        (void) arg;
        if (signo < 0)
                return signo;
        CHECK_EQ(signo, SIGUSR1);
        CHECK(post.pending);
        post.pending = false;
        post.got++;
        return 0;
}

static int await_signals(void *arg)
{
        int err = 0;

        while (post.got < SIGNALS && err == 0) {
                err = victim_call(await_signal, arg);
                CHECK(err == 0 || err == -ECANCELED);
        }
        return 0;
}

/* Each when the last one was given: two before that would be one. */
static int raise_signals(void *arg)
{
        (void) arg;
        for (int i = 0; i < SIGNALS; i++) {
                do
                        short_pause();
                while (post.pending);
                post.pending = true;
                CHECK_EQ(kill(getpid(), SIGUSR1), 0);
        }
        return 0;
}

/* One that came and was not taken by who was cancelled is there for the next. */
static int world_signal(void *arg)
{
        static const int signos[] = { SIGUSR1 };
        eddy_scope raising;

        memset(&post, 0, sizeof(post));
        CHECK_EQ(eddy_signal_open(signos, 1, &post.signal), 0);
        world_begin(SIGNALS);
        eddy_scope_begin(&raising, NULL);
        world_start(&raising, raise_signals, NULL, 1);
        world_run(await_signals, arg, 1);
        while (post.got < SIGNALS)
                CHECK_EQ(await_signal(NULL), 0);
        CHECK_EQ(eddy_scope_end(&raising), 0);
        CHECK(!post.pending);
        eddy_signal_close(post.signal);
        return 0;
}
EVERY_POINT_ON(signal, eddy_signal_wait, on_epoll)

/* --- changes of files --- */

enum { CHANGES = 3 };

static struct {
        eddy_notify *notify;
        char path[64];
        int made, seen;
} files;

static void change_path(int number, char *ret_path, size_t bytes)
{
        snprintf(ret_path, bytes, "%s/%d", files.path, number);
}

/* Each folder that is made is an event, in order. */
static int await_change(void *arg)
{
        struct eddy_notify_event event;
        char name[12];
        int err = eddy_notify_next(files.notify, &event);

        (void) arg;
        if (err < 0)
                return err;
        snprintf(name, sizeof(name), "%d", files.seen);
        CHECK_EQ(event.kind, EDDY_NOTIFY_CREATED);
        CHECK_STR(event.name, name);
        files.seen++;
        return 0;
}

static int await_changes(void *arg)
{
        int err = 0;

        for (int i = 0; i < CHANGES && files.seen < CHANGES && err == 0; i++) {
                err = victim_call(await_change, arg);
                CHECK(err == 0 || err == -ECANCELED);
        }
        return 0;
}

static int make_changes(void *arg)
{
        char path[80];

        (void) arg;
        for (; files.made < CHANGES; files.made++) {
                short_pause();
                change_path(files.made, path, sizeof(path));
                CHECK_EQ(mkdir(path, 0700), 0);
        }
        return 0;
}

/* An event that a cancelled call did not return comes next. */
static int world_notify(void *arg)
{
        struct eddy_notify_opts opts = { .merge_ns = world_chance(2) ? -1 : EDDY_US(100) };
        eddy_scope making;
        char path[80];

        files.made = files.seen = 0;
        snprintf(files.path, sizeof(files.path), "/tmp/eddy-notify-XXXXXX");
        CHECK(mkdtemp(files.path));
        CHECK_EQ(eddy_notify_open(&opts, &files.notify), 0);
        CHECK(eddy_notify_add(files.notify, files.path) > 0);
        world_begin(CHANGES);
        eddy_scope_begin(&making, NULL);
        world_start(&making, make_changes, arg, 1);
        world_run(await_changes, arg, 1);
        CHECK_EQ(eddy_scope_end(&making), 0);
        while (files.seen < CHANGES)
                CHECK_EQ(await_change(NULL), 0);
        eddy_notify_close(files.notify);
        for (int i = 0; i < CHANGES; i++) {
                change_path(i, path, sizeof(path));
                CHECK_EQ(rmdir(path), 0);
        }
        CHECK_EQ(rmdir(files.path), 0);
        return 0;
}
EVERY_POINT_ON(notify, eddy_notify_next, on_epoll)

/* --- child processes --- */

enum { CHILDREN = 2 };

static int run_child(void *arg)
{
        struct eddy_process_opts opts = { .command = "cat; exit 7",
                                          .in = { .kind = EDDY_PROCESS_PIPE },
                                          .out = { .kind = EDDY_PROCESS_PIPE } };
        struct eddy_process_communicate_opts input = { .input = "abc", .input_bytes = 3 };
        EDDY_AUTO(eddy_process) eddy_process *process = NULL;
        struct eddy_process_output output;
        int err = eddy_process_start(&opts, &process);

        (void) arg;
        if (err == 0)
                err = eddy_process_communicate(process, &input, &output);
        if (err == 0)
                CHECK(output.exit.code == 7 && strcmp(output.out, "abc") == 0);
        return err;
}

static int run_child_as_victim(void *arg)
{
        (void) victim_call(run_child, arg);
        return 0;
}

/* A cancelled start, talk or close leaves no child. */
static int world_process(void *arg)
{
        world_begin(CHILDREN);
        world_run(run_child_as_victim, arg, CHILDREN);
        CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
        return 0;
}
EVERY_POINT_ON(process, eddy_process_start, on_epoll)
ALSO(process, eddy_process_communicate)
ALSO(process, eddy_process_close)

static eddy_process *child;

static int await_child(void *arg)
{
        struct eddy_process_exit end;
        int err = eddy_process_wait(child, &end);

        (void) arg;
        CHECK(err < 0 || end.code == 7);
        return err;
}

static int await_child_as_victim(void *arg)
{
        (void) victim_call(await_child, arg);
        return 0;
}

/* A cancelled wait changes nothing for the child and the other waiters. */
static int world_process_wait(void *arg)
{
        struct eddy_process_opts opts = { .command = "read x; exit 7",
                                          .in = { .kind = EDDY_PROCESS_PIPE } };
        eddy_scope scope;

        CHECK_EQ(eddy_process_start(&opts, &child), 0);
        world_begin(CHILDREN);
        eddy_scope_begin(&scope, NULL);
        world_start(&scope, await_child_as_victim, arg, CHILDREN);
        short_pause();
        CHECK_EQ(eddy_stream_shutdown(eddy_process_stdin(child)), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(await_child(NULL), 0);
        eddy_process_close(child);
        return 0;
}
EVERY_POINT_ON(process_wait, eddy_process_wait, on_epoll)

/* --- pools of processes --- */

enum { POOL_CALLERS = 3, POOL_ITEMS = 4 };

static eddy_process_pool *process_pool;

static int doubles(eddy_process_work *work)
{
        int number;

        memcpy(&number, eddy_process_work_input(work), sizeof(number));
        number *= 2;
        return eddy_process_work_reply(work, &number, sizeof(number));
}

static int call_worker(void *arg)
{
        int number = 21, result = 0;
        struct eddy_process_call call = { .fn = doubles,
                                          .input = &number,
                                          .input_bytes = sizeof(number),
                                          .result = &result,
                                          .result_bytes_max = sizeof(result) };
        int err = eddy_process_pool_call(process_pool, &call);

        (void) arg;
        CHECK(err < 0 || result == 42);
        return err;
}

static int map_in_workers(void *arg)
{
        int items[POOL_ITEMS] = { 0, 1, 2, 3 }, results[POOL_ITEMS] = { 0 };
        struct eddy_process_map map = { .fn = doubles,
                                        .items = items,
                                        .item_bytes = sizeof(items[0]),
                                        .count = POOL_ITEMS,
                                        .chunk = 1,
                                        .results = results,
                                        .result_bytes = sizeof(results[0]) };
        int err = eddy_process_pool_map(process_pool, &map);

        (void) arg;
        for (int i = 0; i < POOL_ITEMS && err == 0; i++)
                CHECK_EQ(results[i], 2 * i);
        return err;
}

/* May begin after the shutdown. */
static int call_worker_last(void *arg)
{
        int err = call_worker(arg);

        return err == EDDY_E_PROCESS_POOL_CLOSED ? 0 : err;
}

static int join_pool(void *arg)
{
        (void) arg;
        return eddy_process_pool_join(process_pool);
}

static int pool_victim(void *arg)
{
        (void) victim_call(call_worker, arg);
        (void) victim_call(map_in_workers, arg);
        return 0;
}

static int pool_joiner(void *arg)
{
        (void) victim_call(join_pool, arg);
        return 0;
}

/* Cancelled calls leave a usable pool, and a cancelled close no worker. */
static int world_process_pool(void *arg)
{
        struct eddy_process_pool_opts opts = { .workers_max = 2 };
        struct eddy_process_pool_info info;
        eddy_scope scope;

        CHECK_EQ(eddy_process_pool_open(&opts, &process_pool), 0);
        world_begin(POOL_CALLERS + 1);
        eddy_scope_begin(&scope, NULL);
        world_start(&scope, pool_victim, arg, POOL_CALLERS);
        short_pause();
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(call_worker(NULL), 0);
        eddy_process_pool_info(process_pool, &info);
        CHECK(info.running == 0 && info.queued == 0 && info.workers <= 2 && info.died == 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, call_worker_last, NULL);
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_process_pool_shutdown(process_pool);
        world_start(&scope, pool_joiner, arg, 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_process_pool_close(process_pool);
        return 0;
}

TEST(cancel_at_every_point_of_process_pool)
{
        CHECK_EQ(eddy_process_pool_prepare(), 0);
        every_point("process_pool", world_process_pool, &on_epoll);
}
ALSO(process_pool, eddy_process_pool_call)
ALSO(process_pool, eddy_process_pool_map)
ALSO(process_pool, eddy_process_pool_join)
ALSO(process_pool, eddy_process_pool_close)

/* --- names --- */

static struct fake_dns dns;

static int look_up(void *arg)
{
        static const char *const names[] = { "a.test", "a2.test", "both.test", "nx.test",
                                             "stream.test" };
        struct eddy_address addresses[4];
        int n = eddy_dns_lookup(names[world_chance(5)], addresses, 4);

        (void) arg;
        CHECK((n > 0 && n <= 4) || n == EDDY_E_DNS_NOT_FOUND || n == -ECANCELED);
        return n < 0 ? n : 0;
}

static int look_up_names(void *arg)
{
        for (int i = 0; i < 2; i++) {
                (void) victim_call(look_up, arg);
                short_pause();
        }
        return 0;
}

/* Several ask for one name at a time: who is cancelled takes no answer from the others. */
static int world_lookup_asked(void *arg)
{
        struct ed_question_opts opts = { .servers = dns.address, .timeout_ms = 20000, .tries = 2 };
        int n = 2 + (int) world_chance(3);

        CHECK_EQ(ed_dns_set_servers(ed_loop_current, &opts), 0);
        world_begin(2 * n);
        world_run(look_up_names, arg, n);
        CHECK_EQ(ed_dns_lookups(ed_loop_current), 0);
        /* Its descriptors are also this process's, and would be reported as left. */
        fake_dns_settle(&dns);
        return 0;
}

TEST(cancel_at_every_point_of_lookup_asked)
{
        fake_dns_start(&dns);
        every_point("lookup_asked", world_lookup_asked, &on_epoll);
        fake_dns_stop(&dns);
}
ALSO(lookup_asked, eddy_dns_lookup)
