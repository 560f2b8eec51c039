/*
 * test_process_pool.c - calls in worker processes, their limits, and the end of pools.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "../../outlived.h"
#include "eddy/test.h"
#include "pool_test.h"

enum { WORKERS = 3, CALLERS = 50 };

static int run_fn(eddy_process_pool *pool, eddy_process_work_fn *fn)
{
        struct eddy_process_call call = { .fn = fn };

        return eddy_process_pool_call(pool, &call);
}

/* --- calls --- */

POOL_TEST(a_call_sends_bytes_and_gets_bytes_back)
{
        static const size_t sizes[] = { 0,     1,     1000,   65536,   65537,
                                        65472, 65535, 131072, 1000000, 5000000 };
        eddy_process_pool *pool = open_workers(1);

        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
                CHECK_EQ(call_echo(pool, sizes[i]), 0);
        eddy_process_pool_close(pool);
}

static int gives_7(eddy_process_work *work)
{
        (void) work;
        return 7;
}

static int fails_with_bytes(eddy_process_work *work)
{
        CHECK_EQ(eddy_process_work_reply(work, "ab", 2), 0);
        return -EBADMSG;
}

POOL_TEST(the_result_or_the_error_of_the_function_is_that_of_the_call)
{
        eddy_process_pool *pool = open_workers(1);
        char result[2] = "xy";
        struct eddy_process_call call = {
                .fn = fails_with_bytes, .result = result, .result_bytes_max = 2, .result_bytes = 9
        };

        CHECK_EQ(run_fn(pool, gives_7), 7);
        CHECK_EQ(eddy_process_pool_call(pool, &call), -EBADMSG);
        CHECK_EQ(call.result_bytes, 9);
        CHECK(memcmp(result, "xy", 2) == 0);
        CHECK_EQ(run_fn(pool, gives_7), 7);
        eddy_process_pool_close(pool);
}

static int replies_in_parts(eddy_process_work *work)
{
        for (int i = 0; i < 10; i++)
                CHECK_EQ(eddy_process_work_reply(work, "0123456789", 10), 0);
        CHECK_EQ(eddy_process_work_reply(work, "x", 1), EDDY_E_PROCESS_POOL_TOO_LARGE);
        return 0;
}

static int replies_exactly(eddy_process_work *work)
{
        (void) eddy_process_work_reply(work, "01234", 5);
        return eddy_process_work_reply(work, NULL, 0);
}

POOL_TEST(a_result_that_is_too_large_is_an_error)
{
        eddy_process_pool *pool = open_workers(1);
        char result[100];
        struct eddy_process_call call = { .fn = replies_in_parts,
                                          .result = result,
                                          .result_bytes_max = 100 };

        CHECK_EQ(eddy_process_pool_call(pool, &call), EDDY_E_PROCESS_POOL_TOO_LARGE);
        call.fn = replies_exactly;
        call.result_bytes_max = 5;
        CHECK_EQ(eddy_process_pool_call(pool, &call), 0);
        CHECK(call.result_bytes == 5 && memcmp(result, "01234", 5) == 0);
        call.result_bytes_max = 4;
        CHECK_EQ(eddy_process_pool_call(pool, &call), EDDY_E_PROCESS_POOL_TOO_LARGE);
        eddy_process_pool_close(pool);
}

/* The input is aligned for any type. */
static int checks_alignment(eddy_process_work *work)
{
        uintptr_t at = (uintptr_t) eddy_process_work_input(work);

        return at % _Alignof(max_align_t) == 0 ? 0 : -EINVAL;
}

POOL_TEST(an_input_is_aligned)
{
        static char much[100000];
        eddy_process_pool *pool = open_workers(1);
        struct eddy_process_call call = { .fn = checks_alignment, .input = much };

        CHECK_EQ(eddy_process_pool_call(pool, &call), 0);
        call.input_bytes = 1;
        CHECK_EQ(eddy_process_pool_call(pool, &call), 0);
        call.input_bytes = sizeof(much);
        CHECK_EQ(eddy_process_pool_call(pool, &call), 0);
        eddy_process_pool_close(pool);
}

/* In a worker: return once the caller has written to the shared buffer. */
static int waits_for_leave(eddy_process_work *work)
{
        const volatile char *leave = eddy_process_work_buffer(work, 0, NULL);

        while (!*leave)
                (void) poll(NULL, 0, 1);
        return 0;
}

struct caller {
        eddy_process_pool *pool;
        eddy_process_buffer *leave;
};

static int calls_twice(void *arg)
{
        struct caller *caller = arg;
        struct eddy_process_call call = { .fn = waits_for_leave,
                                          .buffers = &caller->leave,
                                          .buffers_count = 1 };

        CHECK_EQ(eddy_process_pool_call(caller->pool, &call), 0);
        return call_echo(caller->pool, 1000);
}

POOL_TEST(many_callers_share_few_workers)
{
        eddy_process_pool *pool = open_workers(WORKERS);
        struct caller caller = { .pool = pool };
        struct eddy_process_pool_info info;
        eddy_scope scope;

        CHECK_EQ(eddy_process_buffer_new(1, &caller.leave), 0);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < CALLERS; i++)
                eddy_scope_start(&scope, calls_twice, &caller);
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_process_pool_info(pool, &info);
        CHECK_EQ(info.workers, WORKERS);
        CHECK_EQ(info.running, WORKERS);
        CHECK_EQ(info.queued, CALLERS - WORKERS);
        *(char *) eddy_process_buffer_data(caller.leave) = 1;
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_process_buffer_free(caller.leave);
        eddy_process_pool_info(pool, &info);
        CHECK_EQ(info.workers, WORKERS);
        CHECK_EQ(info.running + info.queued, 0);
        CHECK_EQ(info.started, WORKERS);
        CHECK_EQ(info.died, 0);
        eddy_process_pool_close(pool);
}

/* Functions see the globals of the time of the fork, and keep those of their worker. */
static int global = 5;

static int counts(eddy_process_work *work)
{
        (void) work;
        return global++;
}

POOL_TEST(a_worker_has_globals_of_its_own)
{
        eddy_process_pool *pool = open_workers(1);

        global = 100;
        CHECK_EQ(run_fn(pool, counts), 5);
        CHECK_EQ(run_fn(pool, counts), 6);
        CHECK_EQ(global, 100);
        eddy_process_pool_close(pool);
}

static int asks_signals(eddy_process_work *work)
{
        sigset_t mask;

        (void) work;
        for (int i = 0; i < 2; i++) {
                (void) raise(SIGINT);
                (void) raise(SIGTERM);
        }
        return sigprocmask(SIG_BLOCK, NULL, &mask) == 0 && !sigismember(&mask, SIGCHLD) ? 0
                                                                                        : -EPERM;
}

POOL_TEST(signals_to_the_group_do_not_end_workers)
{
        eddy_process_pool *pool = open_workers(1);

        CHECK_EQ(run_fn(pool, asks_signals), 0);
        eddy_process_pool_close(pool);
}

/* --- shared memory --- */

enum { MUCH = 20 * 1000 * 1000 };

static int adds_one(eddy_process_work *work)
{
        size_t bytes = 0, bytes_out = 0;
        const unsigned char *in = eddy_process_work_buffer(work, 0, &bytes);
        unsigned char *out = eddy_process_work_buffer(work, 1, &bytes_out);

        if (bytes != MUCH || bytes_out != MUCH || eddy_process_work_buffer(work, 2, NULL))
                return -EINVAL;
        for (size_t i = 0; i < bytes; i++)
                out[i] = (unsigned char) (in[i] + 1);
        return 0;
}

POOL_TEST(buffers_are_shared_with_the_worker)
{
        eddy_process_pool *pool = open_workers(1);
        eddy_process_buffer *buffers[2];
        struct eddy_process_call call = { .fn = adds_one, .buffers = buffers, .buffers_count = 2 };
        unsigned char *in, *out;

        for (int i = 0; i < 2; i++)
                CHECK_EQ(eddy_process_buffer_new(MUCH, &buffers[i]), 0);
        in = eddy_process_buffer_data(buffers[0]);
        out = eddy_process_buffer_data(buffers[1]);
        CHECK(out[0] == 0 && out[MUCH - 1] == 0);
        for (int n = 0; n < 3; n++) {
                in[0] = in[MUCH - 1] = (unsigned char) n;
                CHECK_EQ(eddy_process_pool_call(pool, &call), 0);
                CHECK(out[0] == n + 1 && out[1] == 1 && out[MUCH - 1] == n + 1);
        }
        CHECK_EQ(eddy_process_buffer_new(0, &buffers[0]), -EINVAL);
        CHECK(!eddy_process_buffer_data(NULL));
        for (int i = 0; i < 2; i++)
                eddy_process_buffer_free(buffers[i]);
        eddy_process_buffer_free(NULL);
        eddy_process_pool_close(pool);
}

static int calls_limited_worker(void *arg)
{
        struct eddy_process_pool_opts opts = { .workers_max = 1, .memory_bytes_max = MUCH };
        eddy_process_pool *pool = open_pool(&opts);

        (void) arg;
        for (int i = 0; i < 3; i++)
                CHECK_EQ(run_fn(pool, gives_7), -ENOTSUP);
        eddy_process_pool_close(pool);
        return 0;
}

TEST(a_limit_of_memory_that_cannot_be_set_fails_the_call)
{
        char folder[] = "/tmp/eddy-pool-XXXXXX";
        int pid, status;

        if (getuid() != 0 || getenv("EDDY_TEST_VALGRIND"))
                test_skip(
                        "only root can change the root folder, and Valgrind needs the former one");
        CHECK(mkdtemp(folder));
        CHECK(chdir(folder) == 0 && rmdir(folder) == 0);
        (void) fflush(NULL);
        pid = fork();
        if (pid == 0) {
                CHECK_EQ(chroot("."), 0);
                CHECK_EQ(eddy_process_pool_prepare(), 0);
                CHECK_EQ(eddy_run(calls_limited_worker, NULL, NULL), 0);
                _exit(0); /* a leak checker would miss /proc too */
        }
        CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

/* --- limits of open files --- */

enum { FEW_FILES = 32, MANY_WORKERS = FEW_FILES * 2 };

/* Prepare with at most 'n' open files, and raise the limit after that, as programs do. */
static void prepare_with_files(rlim_t n)
{
        struct rlimit former, few;

        if (getenv("EDDY_TEST_VALGRIND"))
                test_skip("Valgrind has a limit of its own");
        CHECK_EQ(getrlimit(RLIMIT_NOFILE, &former), 0);
        few = (struct rlimit){ n, former.rlim_max };
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
        CHECK_EQ(eddy_process_pool_prepare(), 0);
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &former), 0);
}

/* The numbers of calls that got an answer, and that failed with -EMFILE. */
static int answered, refused;

static int counts_result(void *arg)
{
        struct caller *caller = arg;
        struct eddy_process_call call = { .fn = waits_for_leave,
                                          .buffers = &caller->leave,
                                          .buffers_count = 1 };
        int result = eddy_process_pool_call(caller->pool, &call);

        CHECK(result == 0 || result == -EMFILE);
        answered += result == 0;
        refused += result == -EMFILE;
        return 0;
}

static int runs_one_worker(void *arg)
{
        eddy_process_pool *pool = open_workers(1);

        (void) arg;
        (void) call_pid(pool);
        eddy_process_pool_close(pool);
        return 0;
}

/* No call ends before each of them has asked for a worker. */
static int runs_many_workers(void *arg)
{
        struct caller caller = { .pool = open_workers(MANY_WORKERS) };
        struct eddy_process_pool_info info;
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(eddy_process_buffer_new(1, &caller.leave), 0);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < MANY_WORKERS; i++)
                eddy_scope_start(&scope, counts_result, &caller);
        do {
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
                eddy_process_pool_info(caller.pool, &info);
        } while ((int) info.running + refused < MANY_WORKERS);
        *(char *) eddy_process_buffer_data(caller.leave) = 1;
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_process_buffer_free(caller.leave);
        eddy_process_pool_close(caller.pool);
        CHECK_EQ(workers_left(), 0);
        return 0;
}

TEST(a_limit_of_open_files_that_is_raised_after_prepare_allows_more_workers)
{
        prepare_with_files(FEW_FILES);
        io_run(runs_many_workers);
        CHECK_EQ(answered, MANY_WORKERS);
}

/* The processes that the pool starts have a hard limit, which the program does not know. */
TEST(calls_for_which_no_worker_has_a_descriptor_fail_with_emfile)
{
        struct rlimit few = { FEW_FILES, FEW_FILES };

        CHECK_EQ(eddy_process_pool_prepare(), 0);
        io_run(runs_one_worker); /* it has begun, and set its own limit */
        if (getenv("EDDY_TEST_VALGRIND") || !zygote_pid() ||
            prlimit(zygote_pid(), RLIMIT_NOFILE, &few, NULL) < 0)
                test_skip("the system does not set limits of other processes");
        for (int i = 0; i < 2; i++) {
                answered = refused = 0;
                io_run(runs_many_workers);
                CHECK_EQ(answered + refused, MANY_WORKERS);
                CHECK(answered >= FEW_FILES / 2 && refused > 0);
        }
}

static int has_buffers(eddy_process_work *work)
{
        return eddy_process_work_buffer(work, 0, NULL) ? 0 : -EINVAL;
}

static int passes_buffers(void *arg)
{
        eddy_process_pool *pool = open_workers(1);
        eddy_process_buffer *buffers[EDDY_PROCESS_BUFFERS_MAX];
        struct eddy_process_call call = { .fn = has_buffers, .buffers = buffers };

        (void) arg;
        for (int i = 0; i < EDDY_PROCESS_BUFFERS_MAX; i++)
                CHECK_EQ(eddy_process_buffer_new(1, &buffers[i]), 0);
        for (int i = 0; i < 20; i++) {
                call.buffers_count = EDDY_PROCESS_BUFFERS_MAX;
                CHECK_EQ(eddy_process_pool_call(pool, &call), -EMFILE);
                call.buffers_count = 2;
                CHECK_EQ(eddy_process_pool_call(pool, &call), 0);
        }
        for (int i = 0; i < EDDY_PROCESS_BUFFERS_MAX; i++)
                eddy_process_buffer_free(buffers[i]);
        eddy_process_pool_close(pool);
        return 0;
}

TEST(a_worker_without_numbers_for_all_buffers_does_not_call_the_function)
{
        int n = 0;

        for (int free = 0; free < EDDY_PROCESS_BUFFERS_MAX - 2; n++)
                free += fcntl(n, F_GETFD) < 0;
        prepare_with_files((rlim_t) n);
        io_run(passes_buffers);
        CHECK_EQ(workers_left(), 0);
}

/* --- deadlines and cancels --- */

static int sleeps(eddy_process_work *work)
{
        (void) work;
        while (pause() < 0)
                continue;
        return 0;
}

static int calls_sleeper(void *arg)
{
        return run_fn(arg, sleeps);
}

POOL_TEST(a_stuck_worker_is_killed_at_the_deadline)
{
        eddy_process_pool *pool = open_workers(1);
        struct eddy_process_pool_info info;
        int pid = call_pid(pool);

        CHECK_EQ(eddy_call_timeout(calls_sleeper, pool, EDDY_MS(20)), -ETIMEDOUT);
        /* The process was collected, so its number is free. */
        CHECK(kill(pid, 0) == -1 && errno == ESRCH);
        CHECK(call_pid(pool) != pid);
        eddy_process_pool_info(pool, &info);
        CHECK_EQ(info.started, 2);
        CHECK_EQ(info.died, 0);
        eddy_process_pool_close(pool);
}

static int calls_much(void *arg)
{
        return call_echo(arg, 3000000);
}

/* Whatever the call was doing. */
POOL_TEST(a_cancel_at_any_time_leaves_a_usable_pool)
{
        eddy_process_pool *pool = open_workers(2);

        for (int i = 0; i < 40; i++) {
                int err = eddy_call_timeout(calls_much, pool, i * 100000);

                CHECK(err == 0 || err == -ETIMEDOUT);
        }
        CHECK_EQ(call_echo(pool, 1000), 0);
        eddy_process_pool_close(pool);
}

POOL_TEST(a_call_that_waits_for_a_worker_can_be_cancelled)
{
        eddy_process_pool *pool = open_workers(1);
        struct eddy_process_pool_info info;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, calls_sleeper, pool);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(eddy_call_timeout(calls_much, pool, EDDY_MS(5)), -ETIMEDOUT);
        eddy_process_pool_info(pool, &info);
        CHECK_EQ(info.queued, 0);
        CHECK_EQ(info.started, 1);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        (void) call_pid(pool);
        eddy_process_pool_close(pool);
}

POOL_TEST(a_cancelled_task_calls_nothing)
{
        eddy_process_pool *pool = open_workers(1);
        struct eddy_process_pool_info info;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        CHECK_EQ(run_fn(pool, gives_7), -ECANCELED);
        CHECK_EQ(eddy_process_pool_join(pool), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_process_pool_info(pool, &info);
        CHECK_EQ(info.started, 0);
        eddy_process_pool_close(pool);
}

/* --- limits --- */

POOL_TEST(the_queue_has_a_maximum)
{
        struct eddy_process_pool_opts opts = { .workers_max = 1, .queued_max = 2 };
        eddy_process_pool *pool = open_pool(&opts);
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 3; i++)
                eddy_scope_start(&scope, calls_sleeper, pool);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(run_fn(pool, gives_7), -EAGAIN);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(run_fn(pool, gives_7), 7);
        eddy_process_pool_close(pool);
}

POOL_TEST(a_worker_is_replaced_after_its_calls)
{
        struct eddy_process_pool_opts opts = { .workers_max = 1, .calls_max = 2 };
        eddy_process_pool *pool = open_pool(&opts);
        int pids[6];

        for (int i = 0; i < 6; i++)
                pids[i] = call_pid(pool);
        CHECK(pids[0] == pids[1] && pids[2] == pids[3] && pids[4] == pids[5]);
        CHECK(pids[1] != pids[2] && pids[3] != pids[4]);
        eddy_process_pool_close(pool);
}

static int takes_memory(eddy_process_work *work)
{
        size_t bytes;
        char *memory;

        memcpy(&bytes, eddy_process_work_input(work), sizeof(bytes));
        memory = malloc(bytes);
        if (!memory)
                return -ENOMEM;
        memset(memory, 1, bytes);
        return eddy_process_work_reply(work, memory, 1);
}

static int call_memory(eddy_process_pool *pool, size_t bytes)
{
        char result;
        struct eddy_process_call call = { .fn = takes_memory,
                                          .input = &bytes,
                                          .input_bytes = sizeof(bytes),
                                          .result = &result,
                                          .result_bytes_max = 1 };

        return eddy_process_pool_call(pool, &call);
}

POOL_TEST(the_memory_of_a_worker_has_a_limit)
{
        struct eddy_process_pool_opts opts = { .workers_max = 1, .memory_bytes_max = 64 << 20 };
        eddy_process_pool *pool;

        if (UNDER_ASAN || UNDER_TSAN || getenv("EDDY_TEST_VALGRIND"))
                test_skip("sanitizers and Valgrind have memory of their own");
#ifndef __x86_64__
        test_skip("an emulator may ignore the limit");
#endif
        pool = open_pool(&opts);
        CHECK_EQ(call_memory(pool, 1 << 20), 0);
        CHECK_EQ(call_memory(pool, 256 << 20), -ENOMEM);
        CHECK_EQ(call_memory(pool, 1 << 20), 0);
        eddy_process_pool_close(pool);
}

POOL_TEST(numbers_have_maxima)
{
        struct eddy_process_pool_opts opts = { .workers_max = EDDY_PROCESS_WORKERS_MAX + 1 };
        eddy_process_buffer *none = NULL;
        struct eddy_process_call call = { .fn = gives_7,
                                          .buffers = &none,
                                          .buffers_count = EDDY_PROCESS_BUFFERS_MAX + 1 };
        eddy_process_pool *pool = NULL;

        CHECK_EQ(eddy_process_pool_open(&opts, &pool), -EINVAL);
        opts = (struct eddy_process_pool_opts){ .queued_max = EDDY_PROCESS_QUEUED_MAX + 1 };
        CHECK_EQ(eddy_process_pool_open(&opts, &pool), -EINVAL);
        CHECK(!pool);
        pool = open_workers(EDDY_PROCESS_WORKERS_MAX);
        CHECK_EQ(eddy_process_pool_call(pool, &call), -EINVAL);
        call.buffers_count = 1;
        CHECK_EQ(eddy_process_pool_call(pool, &call), -EINVAL);
        call = (struct eddy_process_call){ .fn = gives_7,
                                           .input_bytes =
                                                   (size_t) EDDY_PROCESS_CALL_BYTES_MAX + 1 };
        CHECK_EQ(eddy_process_pool_call(pool, &call), -EINVAL);
        call = (struct eddy_process_call){ .fn = gives_7,
                                           .result_bytes_max =
                                                   (size_t) EDDY_PROCESS_CALL_BYTES_MAX + 1 };
        CHECK_EQ(eddy_process_pool_call(pool, &call), -EINVAL);
        call = (struct eddy_process_call){ .fn = NULL };
        CHECK_EQ(eddy_process_pool_call(pool, &call), -EINVAL);
        CHECK_EQ(eddy_process_pool_call(pool, NULL), -EINVAL);
        CHECK_EQ(eddy_process_pool_map(pool, NULL), -EINVAL);
        eddy_process_pool_close(pool);
}

/* --- the end of a pool --- */

static int echoes(void *arg)
{
        return call_echo(arg, 200000);
}

static int joins(void *arg)
{
        return eddy_process_pool_join(arg);
}

POOL_TEST(a_pool_that_was_shut_down_finishes_its_calls)
{
        eddy_process_pool *pool = open_workers(2);
        eddy_task *joiner = NULL;
        int result = 1;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < CALLERS; i++)
                eddy_scope_start(&scope, echoes, pool);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(eddy_process_pool_join(pool), -EBUSY);
        eddy_process_pool_shutdown(pool);
        eddy_process_pool_shutdown(pool);
        CHECK_EQ(run_fn(pool, gives_7), EDDY_E_PROCESS_POOL_CLOSED);
        CHECK_EQ(eddy_scope_start_task(&scope, joins, pool, NULL, &joiner), 0);
        CHECK_EQ(eddy_process_pool_join(pool), 0);
        CHECK_EQ(eddy_task_join(joiner, &result), 0);
        CHECK_EQ(result, 0);
        eddy_task_release(joiner);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_process_pool_close(pool);
}

static int ends_closed(void *arg)
{
        CHECK_EQ(calls_sleeper(arg), EDDY_E_PROCESS_POOL_CLOSED);
        return 0;
}

POOL_TEST(terminate_ends_running_and_queued_calls)
{
        eddy_process_pool *pool = open_workers(2);
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 10; i++)
                eddy_scope_start(&scope, ends_closed, pool);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        eddy_process_pool_terminate(pool);
        eddy_process_pool_terminate(pool);
        CHECK_EQ(eddy_process_pool_join(pool), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(workers_left(), 0);
        CHECK_EQ(run_fn(pool, gives_7), EDDY_E_PROCESS_POOL_CLOSED);
        eddy_process_pool_close(pool);
}

POOL_TEST(close_ends_calls_and_waits_for_them)
{
        eddy_process_pool *pool = open_workers(2);
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 10; i++)
                eddy_scope_start(&scope, ends_closed, pool);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        eddy_process_pool_close(pool);
        CHECK_EQ(workers_left(), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

POOL_TEST(close_works_in_a_cancelled_task)
{
        eddy_process_pool *pool = open_workers(2);
        eddy_scope scope;

        (void) call_pid(pool);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        eddy_process_pool_close(pool);
        CHECK_EQ(workers_left(), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

/* On a busy machine the end of a worker may take longer than a close waits. */
static void await_no_workers(void)
{
        for (int i = 0; i < 10000 && workers_left() > 0; i++)
                (void) poll(NULL, 0, 1);
        CHECK_EQ(workers_left(), 0);
}

static eddy_process_pool *outlives_run;

static int leaves_pool(void *arg)
{
        (void) arg;
        outlives_run = open_workers(2);
        (void) call_pid(outlives_run);
        return 0;
}

static int uses_former_pool(void *arg)
{
        CHECK_EQ(run_fn(arg, gives_7), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(eddy_process_pool_join(arg), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(eddy_process_pool_map(arg, NULL), EDDY_E_RUN_OTHER_LOOP);
        return 0;
}

TEST(a_pool_that_outlives_its_run_has_no_workers)
{
        CHECK_EQ(eddy_process_pool_prepare(), 0);
        io_run(leaves_pool);
        CHECK_EQ(eddy_run(uses_former_pool, outlives_run, NULL), 0);
        eddy_process_pool_shutdown(outlives_run);
        eddy_process_pool_terminate(outlives_run);
        eddy_process_pool_close(outlives_run);
        await_no_workers();
}

/* --- preparing --- */

static int opens(void *arg)
{
        eddy_process_pool *pool = NULL;

        (void) arg;
        return eddy_process_pool_open(NULL, &pool);
}

TEST(without_prepare_no_pool_can_be_opened)
{
        int pid, status;

        CHECK_EQ(eddy_run(opens, NULL, NULL), EDDY_E_PROCESS_POOL_NOT_PREPARED);
        CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
        (void) fflush(NULL);
        pid = fork();
        if (pid == 0)
                _exit(eddy_run(opens, NULL, NULL) != EDDY_E_PROCESS_POOL_NOT_PREPARED);
        CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static int prepares(void *arg)
{
        (void) arg;
        return eddy_process_pool_prepare();
}

TEST(prepare_in_a_loop_is_too_late)
{
        eddy_process_pool *pool = NULL;

        CHECK_EQ(eddy_run(prepares, NULL, NULL), EDDY_E_PROCESS_POOL_LATE);
        CHECK_EQ(eddy_process_pool_open(NULL, &pool), EDDY_E_RUN_NOT_RUNNING);
}

static void *does_nothing(void *arg)
{
        return arg;
}

TEST(prepare_after_a_thread_is_too_late)
{
        pthread_t thread;

#if !__has_include(<sys/single_threaded.h>)
        test_skip("this C library does not report threads");
#endif
        if (UNDER_TSAN)
                test_skip("the sanitizer has a thread of its own");
        CHECK_EQ(pthread_create(&thread, NULL, does_nothing, NULL), 0);
        CHECK_EQ(eddy_process_pool_prepare(), EDDY_E_PROCESS_POOL_LATE);
        CHECK_EQ(pthread_join(thread, NULL), 0);
}

TEST(prepare_can_be_repeated)
{
        CHECK_EQ(eddy_process_pool_prepare(), 0);
        CHECK_EQ(eddy_process_pool_prepare(), 0);
        CHECK_EQ(eddy_run(prepares, NULL, NULL), 0);
}

static int opens_in_simulation(void *arg)
{
        CHECK_EQ(opens(arg), EDDY_E_PROCESS_SIMULATED);
        return 0;
}

TEST(a_simulated_run_has_no_pools)
{
        CHECK_EQ(eddy_process_pool_prepare(), 0);
        CHECK_EQ(eddy_test_run(opens_in_simulation, NULL, NULL, NULL), 0);
}

/* --- other processes, loops and threads --- */

static int runs_pool(void *arg)
{
        EDDY_AUTO(eddy_process_pool) eddy_process_pool *pool = NULL;

        (void) arg;
        pool = open_workers(1);
        (void) call_pid(pool);
        return 0;
}

static void *runs_loop_with_pool(void *arg)
{
        for (int i = 0; i < 10; i++)
                CHECK_EQ(eddy_run(runs_pool, NULL, NULL), 0);
        return arg;
}

TEST(loops_of_several_threads_have_pools)
{
        pthread_t threads[WORKERS];

        CHECK_EQ(eddy_process_pool_prepare(), 0);
        for (int i = 0; i < WORKERS; i++)
                CHECK_EQ(pthread_create(&threads[i], NULL, runs_loop_with_pool, NULL), 0);
        for (int i = 0; i < WORKERS; i++)
                CHECK_EQ(pthread_join(threads[i], NULL), 0);
        await_no_workers();
}

/* A child of fork() has no zygote, prepares its own, and leaves the parent's pool alone. */
POOL_TEST(a_child_of_fork_has_pools_of_its_own)
{
        eddy_process_pool *pool = open_workers(2);
        int pid, worker = call_pid(pool), status;

        (void) fflush(NULL);
        pid = fork();
        if (pid == 0) {
                struct eddy_process_call call = { .fn = gives_7 };

                eddy_process_pool_terminate(pool);
                CHECK(eddy_process_pool_call(pool, &call) < 0);
                eddy_process_pool_close(pool);
                _exit(0);
        }
        CHECK(waitpid(pid, &status, 0) == pid && status == 0);
        CHECK_EQ(call_pid(pool), worker);
        eddy_process_pool_close(pool);
}

TEST(a_child_of_fork_can_prepare_again)
{
        int pid, status;

        CHECK_EQ(eddy_process_pool_prepare(), 0);
        (void) fflush(NULL);
        pid = fork();
        if (pid == 0) {
                CHECK_EQ(eddy_process_pool_prepare(), 0);
                CHECK_EQ(eddy_run(runs_pool, NULL, NULL), 0);
                _exit(0);
        }
        CHECK(waitpid(pid, &status, 0) == pid && status == 0);
        CHECK_EQ(eddy_run(runs_pool, NULL, NULL), 0);
}

/* A function may run a loop in its worker. */
static int slept;

static int sleeps_in_loop(void *arg)
{
        (void) arg;
        slept = 1;
        return eddy_sleep(EDDY_MS(1));
}

static int runs_loop(eddy_process_work *work)
{
        int err = eddy_run(sleeps_in_loop, NULL, NULL);

        (void) work;
        return err < 0 ? err : slept;
}

POOL_TEST(a_function_may_run_a_loop)
{
        eddy_process_pool *pool = open_workers(1);

        CHECK_EQ(run_fn(pool, runs_loop), 1);
        eddy_process_pool_close(pool);
}

static int asks_no_pool(void *arg)
{
        struct eddy_process_pool_info info;
        struct eddy_process_call call = { .fn = gives_7 };

        (void) arg;
        CHECK_EQ(eddy_process_pool_call(NULL, &call), -EINVAL);
        CHECK_EQ(eddy_process_pool_map(NULL, NULL), -EINVAL);
        CHECK_EQ(eddy_process_pool_join(NULL), -EINVAL);
        eddy_process_pool_shutdown(NULL);
        eddy_process_pool_terminate(NULL);
        eddy_process_pool_close(NULL);
        eddy_process_pool_info(NULL, &info);
        CHECK_EQ(info.workers, 0);
        return 0;
}

TEST(calls_on_a_null_pool_return_einval)
{
        CHECK_EQ(eddy_run(asks_no_pool, NULL, NULL), 0);
}

static int returns_twice(eddy_process_work *work)
{
        (void) work;
        return fork() == 0 ? 5 : 7;
}

/* An answer of the child would be the result of the next call. */
POOL_TEST(a_child_of_a_function_that_returns_from_it_does_not_answer)
{
        eddy_process_pool *pool = open_workers(1);

        for (int i = 0; i < 50; i++)
                CHECK_EQ(run_fn(pool, i % 2 ? gives_7 : returns_twice), 7);
        eddy_process_pool_close(pool);
}

static int crashes(eddy_process_work *work)
{
        (void) work;
        _exit(1);
}

/* 16 at once, and the others 10 ms apart. */
POOL_TEST(workers_that_die_at_once_are_not_restarted_without_a_pause)
{
        eddy_process_pool *pool = open_workers(1);
        struct eddy_process_pool_info info;
        int64_t begun_ns;

        for (int i = 0; i < 16; i++)
                CHECK_EQ(run_fn(pool, crashes), EDDY_E_PROCESS_POOL_DIED);
        begun_ns = eddy_now();
        for (int i = 0; i < 5; i++)
                CHECK_EQ(run_fn(pool, crashes), EDDY_E_PROCESS_POOL_DIED);
        CHECK(eddy_now() - begun_ns >= EDDY_MS(50));
        eddy_process_pool_info(pool, &info);
        CHECK_EQ(info.started, 21);
        CHECK_EQ(info.died, 21);
        eddy_process_pool_close(pool);
}

static int run_crashes(void *pool)
{
        return run_fn(pool, crashes);
}

POOL_TEST(a_call_can_be_cancelled_in_the_pause_and_an_answer_ends_the_pauses)
{
        eddy_process_pool *pool = open_workers(1);
        struct eddy_process_pool_info info;

        for (int i = 0; i < 16; i++)
                CHECK_EQ(run_fn(pool, crashes), EDDY_E_PROCESS_POOL_DIED);
        CHECK_EQ(eddy_call_timeout(run_crashes, pool, EDDY_US(1)), -ETIMEDOUT);
        eddy_process_pool_info(pool, &info);
        CHECK_EQ(info.started, 16);
        CHECK_EQ(info.workers, 0);
        CHECK_EQ(run_fn(pool, gives_7), 7);
        CHECK_EQ(run_fn(pool, crashes), EDDY_E_PROCESS_POOL_DIED);
        CHECK_EQ(run_fn(pool, gives_7), 7);
        eddy_process_pool_close(pool);
}

static int prints(eddy_process_work *work)
{
        printf("not a packet\n");
        fprintf(stderr, "neither\n");
        return getchar() == EOF ? echo(work) : -EIO;
}

static int call_that_prints(void *arg)
{
        eddy_process_pool *pool = open_workers(1);
        char result[4];
        struct eddy_process_call call = { .fn = prints,
                                          .input = "abc",
                                          .input_bytes = 3,
                                          .result = result,
                                          .result_bytes_max = sizeof(result) };

        (void) arg;
        for (int i = 0; i < 2; i++) {
                call.result_bytes = 0;
                if (eddy_process_pool_call(pool, &call) != 0 || call.result_bytes != 3)
                        return 1;
        }
        eddy_process_pool_close(pool);
        return 0;
}

/* Else the socket of the worker would get one of their numbers, and the text would be a packet. */
TEST(a_worker_may_print_although_the_program_has_closed_its_standard_streams)
{
        int status;
        pid_t child = fork();

        CHECK(child >= 0);
        if (child == 0) {
                for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
                        close(fd);
                if (eddy_process_pool_prepare() < 0)
                        _exit(2);
                _exit(eddy_run(call_that_prints, NULL, NULL) == 0 ? 0 : 1);
        }
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK_EQ(status, 0);
}

static void *make_pool(void)
{
        eddy_process_pool *pool = open_workers(2);

        (void) call_pid(pool);
        return pool;
}

static int64_t use_call(void *pool)
{
        return run_fn(pool, gives_7);
}

static int64_t use_join(void *pool)
{
        return eddy_process_pool_join(pool);
}

static int64_t use_map(void *pool)
{
        return eddy_process_pool_map(pool, NULL);
}

static void close_pool(void *pool)
{
        eddy_process_pool_close(pool);
}

TEST(a_pool_is_refused_by_other_runs_and_can_be_closed)
{
        static const struct outlived kind = {
                "a process pool", make_pool, { use_call, use_join, use_map }, close_pool
        };

        CHECK_EQ(eddy_process_pool_prepare(), 0);
        outlived_check_all(&kind, 1);
        await_no_workers();
}
