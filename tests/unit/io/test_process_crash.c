/*
 * test_process_crash.c - workers, their parent and their zygote that die, at each step of a call.
 *
 * X1: a worker crashes, exits or fails at each step of a call, with small and large payloads.
 * X2: workers are killed under load; no call is lost, and no process or descriptor is left.
 * X3: the parent is killed; all its processes are gone within a second.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "pool_test.h"
#include "sys/process/zygote.h"

/* --- X1 --- */

enum way { CRASH, EXIT, ERROR, WAYS };
enum { EXIT_CODE = 3, LARGE = 1000000 };

/* What the next worker at that step does, once. Shared with all processes. */
static struct {
        _Atomic int step; /* -1: nothing */
        _Atomic int way;
} * plan;

static int fail_at(enum ed_work_step step)
{
        int due = (int) step;

        if (!atomic_compare_exchange_strong(&plan->step, &due, -1))
                return 0;
        if (plan->way == EXIT)
                _exit(EXIT_CODE);
        if (plan->way == ERROR)
                return -EBADMSG;
        (void) signal(SIGSEGV, SIG_DFL);
        (void) raise(SIGSEGV);
        return 0;
}

static void check_cell(eddy_process_pool *pool, enum ed_work_step step, enum way way, size_t bytes)
{
        struct eddy_process_call call = { .fn = echo };
        char *input = calloc(1, bytes + 1);
        int64_t start_ns = eddy_now();
        int err, expected = EDDY_E_PROCESS_POOL_DIED;

        CHECK(input);
        call.input = call.result = input;
        call.input_bytes = call.result_bytes_max = bytes;
        plan->way = way;
        plan->step = (int) step;
        err = eddy_process_pool_call(pool, &call);
        /* The result was sent before the worker died, or was on its way. */
        if (step == ED_WORK_SENT || (step == ED_WORK_SEND && bytes <= ED_WORKER_PACKET_BYTES))
                expected = 0;
        else if (way == ERROR && step != ED_WORK_SEND)
                expected = -EBADMSG;
        /* The worker of the call before may have got the plan. */
        if (err != expected && !(step >= ED_WORK_SEND && err == EDDY_E_PROCESS_POOL_DIED))
                test_fail(__FILE__, __LINE__, "step %d, way %d, %zu bytes: %s", step, way, bytes,
                          eddy_error_name(err));
        if (err == EDDY_E_PROCESS_POOL_DIED) {
                CHECK_EQ(call.exit.signo, way == CRASH ? SIGSEGV : 0);
                CHECK(way == CRASH || call.exit.code == (way == EXIT ? EXIT_CODE : EXIT_FAILURE));
        }
        CHECK(eddy_now() - start_ns < EDDY_SEC(20));
        for (int i = 0; i < 10000 && plan->step != -1; i++)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(plan->step, -1);
        free(input);
        /* A dead worker is replaced. One that is about to die may fail another call. */
        err = call_echo(pool, bytes);
        CHECK(err == 0 || (expected == 0 && err == EDDY_E_PROCESS_POOL_DIED));
        CHECK_EQ(call_echo(pool, bytes), 0);
}

static int main_matrix(void *arg)
{
        eddy_process_pool *pool = open_workers(1);

        (void) arg;
        CHECK_EQ(call_echo(pool, 1), 0);
        for (int step = 0; step < ED_WORK_STEPS; step++)
                for (int way = 0; way < WAYS; way++)
                        for (size_t bytes = 1; bytes <= LARGE; bytes += LARGE - 1)
                                check_cell(pool, (enum ed_work_step) step, (enum way) way, bytes);
        eddy_process_pool_close(pool);
        CHECK_EQ(workers_left(), 0);
        return 0;
}

static void plan_make(void)
{
        plan = mmap(NULL, sizeof(*plan), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        CHECK(plan != MAP_FAILED);
        plan->step = -1;
        (void) ed_work_test_at_set(fail_at);
}

/* A118: the call fails, and the pool goes on. */
TEST(a_worker_that_fails_at_any_step_fails_its_call_only)
{
        plan_make();
        CHECK_EQ(eddy_process_pool_prepare(), 0);
        io_run(main_matrix);
        CHECK_EQ(workers_left(), 0);
}

/* A worker that dies while the pool is closed. */
static int dies_soon(eddy_process_work *work)
{
        int way;

        memcpy(&way, eddy_process_work_input(work), sizeof(way));
        (void) signal(SIGALRM, way == CRASH ? SIG_DFL : _exit);
        (void) ualarm(500, 0);
        return 0;
}

POOL_TEST(a_worker_that_dies_during_the_close_does_no_harm)
{
        for (int i = 0; i < 20; i++) {
                eddy_process_pool *pool = open_workers(2);
                int way = i % 2 ? CRASH : EXIT;
                struct eddy_process_call call = { .fn = dies_soon,
                                                  .input = &way,
                                                  .input_bytes = sizeof(way) };
                int err;

                err = eddy_process_pool_call(pool, &call);
                CHECK(err == 0 || err == EDDY_E_PROCESS_POOL_DIED);
                CHECK_EQ(eddy_sleep(EDDY_US(50) * i), 0);
                eddy_process_pool_close(pool);
                CHECK_EQ(workers_left(), 0);
        }
}

/* --- other deaths --- */

static void await_end_of(int pid)
{
        for (int i = 0; i < 10000 && kill(pid, 0) == 0; i++)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK(kill(pid, 0) == -1 && errno == ESRCH);
}

/* The zygote obeys an order only after it has reported all workers that it has collected. */
static void await_reports(void)
{
        eddy_process_pool *pool = open_workers(1);

        (void) call_pid(pool);
        eddy_process_pool_close(pool);
}

POOL_TEST(an_idle_worker_that_died_is_replaced_without_a_failure)
{
        eddy_process_pool *pool = open_workers(1);
        struct eddy_process_pool_info info;
        int pid = call_pid(pool);

        CHECK_EQ(kill(pid, SIGKILL), 0);
        await_end_of(pid);
        await_reports();
        CHECK(call_pid(pool) != pid);
        eddy_process_pool_info(pool, &info);
        CHECK_EQ(info.died, 1);
        CHECK_EQ(info.workers, 1);
        eddy_process_pool_close(pool);
}

static int calls_bad_address(void *arg)
{
        struct eddy_process_call call = { .fn = (eddy_process_work_fn *) (uintptr_t) 64 };

        return eddy_process_pool_call(arg, &call);
}

POOL_TEST(an_address_without_a_function_fails_the_call)
{
        eddy_process_pool *pool = open_workers(1);

        CHECK_EQ(calls_bad_address(pool), EDDY_E_PROCESS_POOL_DIED);
        CHECK_EQ(call_echo(pool, 1), 0);
        eddy_process_pool_close(pool);
}

static int kills_zygote(eddy_process_work *work)
{
        (void) work;
        (void) kill(getppid(), SIGKILL);
        while (pause() < 0)
                continue;
        return 0;
}

/*
 * A worker may still be dying when it is called. So may the zygote when it is asked for one: under
 * TSan and qemu it has a second thread, and its sockets are open until both have ended.
 */
static void call_until_lost(eddy_process_pool *pool)
{
        struct eddy_process_call call = { .fn = echo };
        int err;

        do {
                err = eddy_process_pool_call(pool, &call);
                CHECK(err == EDDY_E_PROCESS_POOL_DIED || err == EDDY_E_PROCESS_POOL_LOST);
        } while (err != EDDY_E_PROCESS_POOL_LOST);
}

static int main_without_zygote(void *arg)
{
        eddy_process_pool *pool = open_workers(1), *second = open_workers(1);
        struct eddy_process_call call = { .fn = kills_zygote };

        (void) arg;
        (void) call_pid(second);
        CHECK_EQ(eddy_process_pool_call(pool, &call), EDDY_E_PROCESS_POOL_DIED);
        call_until_lost(pool);
        call_until_lost(second);
        eddy_process_pool_close(pool);
        eddy_process_pool_close(second);
        return 0;
}

TEST(without_the_zygote_calls_fail_and_no_zombie_is_left)
{
        CHECK_EQ(eddy_process_pool_prepare(), 0);
        io_run(main_without_zygote);
        CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

static int rests(eddy_process_work *work)
{
        (void) work;
        return poll(NULL, 0, 50);
}

static int call_rests(void *arg)
{
        struct eddy_process_call call = { .fn = rests };

        return eddy_process_pool_call(arg, &call);
}

/* The ends of all workers together are waited for, for a second. */
POOL_TEST(a_close_does_not_wait_longer_for_more_workers_if_the_zygote_does_not_answer)
{
        enum { WORKERS = 4 };
        eddy_process_pool *pool = open_workers(WORKERS);
        struct eddy_process_pool_info info;
        int zygote = zygote_pid();
        eddy_scope scope;
        int64_t begun_ns;

        if (!zygote)
                test_skip("the system has no list of children");
        do {
                eddy_scope_begin(&scope, NULL);
                for (int i = 0; i < WORKERS; i++)
                        eddy_scope_start(&scope, call_rests, pool);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                eddy_process_pool_info(pool, &info);
        } while (info.workers < WORKERS);
        CHECK_EQ(kill(zygote, SIGSTOP), 0);
        begun_ns = eddy_now();
        eddy_process_pool_close(pool);
        CHECK(eddy_now() - begun_ns < EDDY_MS(2500));
        CHECK_EQ(kill(zygote, SIGCONT), 0);
        while (workers_left() > 0)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
}

/* A program may send a signal to its whole group, for which it has handlers. */
POOL_TEST(signals_do_not_end_the_zygote)
{
        static const int signals[] = { SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1,
                                       SIGUSR2, SIGALRM, SIGPIPE, SIGTSTP, SIGCHLD };
        eddy_process_pool *pool = open_workers(1);

        if (!zygote_pid())
                test_skip("the system has no list of children");
        (void) call_pid(pool);
        for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
                CHECK_EQ(kill(zygote_pid(), signals[i]), 0);
        eddy_process_pool_close(pool);
        pool = open_workers(1);
        (void) call_pid(pool);
        eddy_process_pool_close(pool);
}

/*
 * A child of the worker has a copy of its socket and lives on. The worker is killed while it waits
 * for room in that socket, so there is no room for the report of its end either.
 */
static int hold_and_die(enum ed_work_step step)
{
        int due = (int) step;

        if (!atomic_compare_exchange_strong(&plan->step, &due, -1))
                return 0;
        if (fork() == 0) {
                (void) alarm(20);
                for (;;)
                        (void) pause();
        }
        (void) signal(SIGALRM, SIG_DFL);
        (void) ualarm(200000, 0);
        return 0;
}

enum { MUCH = 4 * LARGE };

TEST_ROOM(char, much, MUCH);

static int replies_much(eddy_process_work *work)
{
        return eddy_process_work_reply(work, much, MUCH);
}

static int calls_much(void *arg)
{
        struct eddy_process_call call = { .fn = replies_much,
                                          .result = much,
                                          .result_bytes_max = MUCH };

        return eddy_process_pool_call(arg, &call);
}

static int blocks_loop(void *arg)
{
        (void) arg;
        while (plan->step != -1)
                (void) poll(NULL, 0, 1);
        (void) poll(NULL, 0, 1000);
        return 0;
}

static int main_holder(void *arg)
{
        eddy_process_pool *pool = open_workers(1);
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(call_echo(pool, 1), 0);
        plan->step = ED_WORK_SEND;
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_SEC(15) });
        eddy_scope_start(&scope, calls_much, pool);
        eddy_scope_start(&scope, blocks_loop, NULL);
        CHECK_EQ(eddy_scope_end(&scope), EDDY_E_PROCESS_POOL_DIED);
        eddy_process_pool_close(pool);
        return 0;
}

TEST(a_child_of_a_worker_that_keeps_its_socket_does_not_keep_the_call)
{
        plan_make();
        (void) ed_work_test_at_set(hold_and_die);
        CHECK_EQ(eddy_process_pool_prepare(), 0);
        io_run(main_holder);
}

/* --- failures of this process --- */

static int accepts(void *arg, size_t item)
{
        (void) arg;
        return (int) item;
}

static int talks(void)
{
        struct eddy_process_pool_opts opts = { .workers_max = 1 };
        EDDY_AUTO(eddy_process_pool) eddy_process_pool *pool = NULL;
        char items[2] = { 1, 2 }, results[2] = { 0 };
        struct eddy_process_map map = { .fn = echo,
                                        .items = items,
                                        .item_bytes = 1,
                                        .count = 2,
                                        .results = results,
                                        .result_bytes = 1,
                                        .flags = EDDY_PROCESS_MAP_IN_ORDER,
                                        .each = accepts };
        int err = eddy_process_pool_open(&opts, &pool);

        if (err == 0)
                err = eddy_process_pool_map(pool, &map);
        CHECK(err < 0 || memcmp(items, results, 2) == 0);
        return err;
}

POOL_TEST(each_allocation_may_fail)
{
        int err = -ENOMEM;

        for (int n = 0; err == -ENOMEM; n++) {
                io_fail_allocations(n);
                err = talks();
                io_fail_allocations(-1);
                CHECK(err == 0 || err == -ENOMEM);
        }
}

static struct {
        int n; /* the call that fails; 0: none */
        int (*watch)(struct ed_sys *sys, int fd, struct ed_target *target);
        int (*shutdown)(struct ed_sys *sys, int fd);
        int (*zygote_start)(struct ed_sys *sys, uint64_t memory_bytes_max, int *ret_fd);
        int (*packet_send)(struct ed_sys *sys, int fd, const struct ed_worker_packet *head,
                           const struct ed_worker_packet_part *part);
        int64_t (*packet_recv)(struct ed_sys *sys, int fd, struct ed_worker_packet *ret_head,
                               void *buf, size_t bytes, struct ed_worker_packet_fds *ret_fds);
} fault;

static bool fails(void)
{
        return fault.n > 0 && --fault.n == 0;
}

static int fail_watch(struct ed_sys *sys, int fd, struct ed_target *target)
{
        return fails() ? -ENOSPC : fault.watch(sys, fd, target);
}

static int fail_shutdown(struct ed_sys *sys, int fd)
{
        return fails() ? -ENOTCONN : fault.shutdown(sys, fd);
}

static int fail_start(struct ed_sys *sys, uint64_t memory_bytes_max, int *ret_fd)
{
        return fails() ? -EMFILE : fault.zygote_start(sys, memory_bytes_max, ret_fd);
}

static int fail_send(struct ed_sys *sys, int fd, const struct ed_worker_packet *head,
                     const struct ed_worker_packet_part *part)
{
        return fails() ? -ENOBUFS : fault.packet_send(sys, fd, head, part);
}

static int64_t fail_recv(struct ed_sys *sys, int fd, struct ed_worker_packet *ret_head, void *buf,
                         size_t bytes, struct ed_worker_packet_fds *ret_fds)
{
        return fails() ? -EIO : fault.packet_recv(sys, fd, ret_head, buf, bytes, ret_fds);
}

/* Whatever fails, no worker is left. */
POOL_TEST(each_call_of_the_table_may_fail)
{
        struct io_tables *tables = io_tables();
        bool is_over = false;
        int failures = 0;

        fault.watch = tables->poll.watch;
        fault.shutdown = tables->socket.shutdown;
        fault.zygote_start = tables->zygote.start;
        fault.packet_send = tables->zygote.send;
        fault.packet_recv = tables->zygote.recv;
        tables->poll.watch = fail_watch;
        tables->socket.shutdown = fail_shutdown;
        tables->zygote.start = fail_start;
        tables->zygote.send = fail_send;
        tables->zygote.recv = fail_recv;
        for (int n = 1; !is_over; n++) {
                fault.n = n;
                failures += talks() < 0;
                is_over = fault.n > 0;
                fault.n = 0;
        }
        CHECK(failures >= 3);
        for (int i = 0; i < 10000 && workers_left() > 0; i++)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
}

/* --- X2 --- */

enum { KILLS = 300, KILLS_FULL = 10000, LOADERS = 8, WORKERS = 4 };

static struct {
        long calls, answered, died;
        int kills, kills_max;
        int pids[LOADERS];
} load;

/* Send the number of the process and some bytes. */
static int pid_and_echo(eddy_process_work *work)
{
        int pid = (int) getpid();
        int err = eddy_process_work_reply(work, &pid, sizeof(pid));

        return err < 0 ? err : echo(work);
}

static int loads(void *arg)
{
        eddy_process_pool *pool = arg;
        char input[2000] = "", result[sizeof(int) + sizeof(input)];
        struct eddy_process_call call = { .fn = pid_and_echo,
                                          .input = input,
                                          .input_bytes = sizeof(input),
                                          .result = result,
                                          .result_bytes_max = sizeof(result) };

        while (load.kills < load.kills_max) {
                int err = eddy_process_pool_call(pool, &call);

                load.calls++;
                if (err == EDDY_E_PROCESS_POOL_DIED) {
                        CHECK_EQ(call.exit.signo, SIGKILL);
                        load.died++;
                        continue;
                }
                CHECK_STR(err ? eddy_error_name(err) : "0", "0");
                CHECK_EQ(call.result_bytes, sizeof(result));
                load.answered++;
                memcpy(&load.pids[load.calls % LOADERS], result, sizeof(int));
        }
        return 0;
}

/* Kill workers that answered lately, whatever they do now. Their numbers are not used again soon. */
static int kills(void *arg)
{
        (void) arg;
        while (load.kills < load.kills_max) {
                int *pid = &load.pids[load.kills % LOADERS];

                if (*pid && kill(*pid, SIGKILL) == 0)
                        load.kills++;
                *pid = 0;
                CHECK_EQ(eddy_sleep(EDDY_US(500)), 0);
        }
        return 0;
}

POOL_TEST(killed_workers_lose_no_call)
{
        eddy_process_pool *pool = open_workers(WORKERS);
        struct eddy_process_pool_info info;
        int fds;
        eddy_scope scope;

        CHECK_EQ(call_echo(pool, 1), 0);
        fds = io_open_fds();
        load.kills_max = test_is_full() ? KILLS_FULL : KILLS;
        if (getenv("EDDY_TEST_VALGRIND"))
                load.kills_max = KILLS / 10;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < LOADERS; i++)
                eddy_scope_start(&scope, loads, pool);
        eddy_scope_start(&scope, kills, NULL);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(load.answered + load.died, load.calls);
        CHECK(load.answered > 0);
        eddy_process_pool_info(pool, &info);
        CHECK_EQ(info.running + info.queued, 0);
        CHECK(info.workers <= WORKERS);
        CHECK((uint64_t) load.died <= info.died && info.died <= (uint64_t) load.kills);
        CHECK(workers_left() <= WORKERS);
        CHECK(io_open_fds() < fds + WORKERS);
        CHECK_EQ(call_echo(pool, 1), 0);
        eddy_process_pool_close(pool);
}

/* --- X3 --- */

static int sleeps(eddy_process_work *work)
{
        (void) work;
        (void) signal(SIGTERM, SIG_IGN);
        while (pause() < 0)
                continue;
        return 0;
}

static int ready_fd;

static int calls_sleeper(void *arg)
{
        struct eddy_process_call call = { .fn = sleeps };

        return eddy_process_pool_call(arg, &call);
}

/* One worker is idle, and two are busy. */
static int main_parent(void *arg)
{
        eddy_process_pool *pool = open_workers(3);
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, calls_sleeper, pool);
        eddy_scope_start(&scope, calls_sleeper, pool);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        (void) call_pid(pool);
        CHECK_EQ(write(ready_fd, "x", 1), 1);
        return eddy_scope_end(&scope);
}

/* A child of the parent that has copies of its descriptors does not keep the zygote. */
static void start_holder(const int *stop, int fd)
{
        struct pollfd end = { .fd = stop[0], .events = POLLIN };

        if (getenv("EDDY_TEST_VALGRIND")) /* it has no pidfds */
                return;
        if (fork() > 0)
                return;
        (void) close(fd);
        (void) poll(&end, 1, -1);
        _exit(0);
}

static void check_all_end(int signo)
{
        int fds[2], stop[2], pid, status;
        char byte;
        struct pollfd end;

        /* All processes of the parent have the pipe, so it ends with the last of them. */
        CHECK(pipe(fds) == 0 && pipe(stop) == 0);
        pid = fork();
        if (pid == 0) {
                (void) close(fds[0]);
                (void) close(stop[1]);
                ready_fd = fds[1];
                CHECK_EQ(eddy_process_pool_prepare(), 0);
                start_holder(stop, fds[1]);
                (void) eddy_run(main_parent, NULL, NULL);
                _exit(0);
        }
        (void) close(fds[1]);
        CHECK_EQ(read(fds[0], &byte, 1), 1);
        CHECK_EQ(kill(pid, signo), 0);
        end = (struct pollfd){ .fd = fds[0], .events = POLLIN };
        /* A second is enough, if the machine has time. */
        CHECK_EQ(poll(&end, 1, 10000), 1);
        CHECK_EQ(read(fds[0], &byte, 1), 0);
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        (void) close(stop[1]);
}

TEST(after_the_parent_is_killed_all_its_processes_end)
{
        check_all_end(SIGKILL);
}

TEST(after_the_parent_has_ended_all_its_processes_end)
{
        check_all_end(SIGTERM);
}
