/*
 * test_process_fault.c - child processes while memory, threads or the system fail, cancels at each
 * point of a start, and many starts at once.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cancel_at.h"
#include "process_test.h"

/* --- failures --- */

static int starts_and_talks(void *arg)
{
        struct eddy_process_opts opts = { .command = "cat; echo err >&2",
                                          .in = { .kind = EDDY_PROCESS_PIPE },
                                          .out = { .kind = EDDY_PROCESS_PIPE },
                                          .err = { .kind = EDDY_PROCESS_PIPE } };
        struct eddy_process_communicate_opts input = { .input = "word", .input_bytes = 4 };
        EDDY_AUTO(eddy_process) eddy_process *process = NULL;
        struct eddy_process_output output;
        int err;

        (void) arg;
        err = eddy_process_start(&opts, &process);
        if (err == 0)
                err = eddy_process_communicate(process, &input, &output);
        if (err == 0) {
                CHECK_STR(output.out, "word");
                CHECK_STR(output.err, "err\n");
        }
        return err;
}

PROCESS_TEST(each_allocation_may_fail)
{
        int err = -ENOMEM;

        for (int n = 0; err == -ENOMEM; n++) {
                io_fail_allocations(n);
                err = starts_and_talks(NULL);
                io_fail_allocations(-1);
                CHECK(err == 0 || err == -ENOMEM || err == -EAGAIN);
                if (err == -EAGAIN) /* no memory for a thread */
                        err = -ENOMEM;
                check_no_children();
        }
}

static struct {
        int n; /* the call that fails; 0: none */
        int err;
        int (*watch)(struct ed_sys *sys, int fd, struct ed_target *target);
        int64_t (*read)(struct ed_sys *sys, int fd, void *buf, size_t bytes);
        int64_t (*write)(struct ed_sys *sys, int fd, const void *data, size_t bytes,
                         bool may_signal);
        int (*worker_new)(struct ed_sys *sys, const char *name, struct ed_worker **ret_worker);
} fault;

static bool fails(void)
{
        return fault.n > 0 && --fault.n == 0;
}

static int fail_watch(struct ed_sys *sys, int fd, struct ed_target *target)
{
        return fails() ? fault.err : fault.watch(sys, fd, target);
}

static int64_t fail_read(struct ed_sys *sys, int fd, void *buf, size_t bytes)
{
        return fails() ? fault.err : fault.read(sys, fd, buf, bytes);
}

static int64_t fail_write(struct ed_sys *sys, int fd, const void *data, size_t bytes,
                          bool may_signal)
{
        return fails() ? fault.err : fault.write(sys, fd, data, bytes, may_signal);
}

static int fail_worker(struct ed_sys *sys, const char *name, struct ed_worker **ret_worker)
{
        return fails() ? fault.err : fault.worker_new(sys, name, ret_worker);
}

static void use_faults(void)
{
        struct io_tables *tables = io_tables();

        fault.watch = tables->poll.watch;
        fault.read = tables->socket.read;
        fault.write = tables->socket.write;
        fault.worker_new = tables->worker.start;
        tables->poll.watch = fail_watch;
        tables->socket.read = fail_read;
        tables->socket.write = fail_write;
        tables->worker.start = fail_worker;
}

PROCESS_TEST(each_call_of_the_table_may_fail)
{
        static const int errors[] = { -EIO, -ENOMEM };

        use_faults();
        for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
                bool is_over = false;

                for (int n = 1; !is_over; n++) {
                        int err;

                        fault.n = n;
                        fault.err = errors[i];
                        err = starts_and_talks(NULL);
                        is_over = fault.n > 0;
                        fault.n = 0;
                        /* Without a thread a start is -EAGAIN. */
                        if (err != 0 && err != errors[i] && err != -EAGAIN)
                                test_fail(__FILE__, __LINE__, "call %d, %s: %s", n,
                                          eddy_error_name(errors[i]), eddy_error_name(err));
                        check_no_children();
                }
        }
}

static int watches_left;

static int watch_few(struct ed_sys *sys, int fd, struct ed_target *target)
{
        return watches_left-- > 0 ? fault.watch(sys, fd, target) : -ENOSPC;
}

/* A child that cannot be watched is signalled, closed and left all the same. */
PROCESS_TEST(without_room_to_watch_a_child_is_still_ended)
{
        struct eddy_process_opts opts = { .command = "exec sleep 1000" };
        struct io_tables *tables = io_tables();
        eddy_process *process;

        if (getenv("EDDY_TEST_VALGRIND"))
                test_skip("Valgrind 3.19 has no pidfds, so no child is watched");
        fault.watch = tables->poll.watch;
        tables->poll.watch = watch_few;
        process = start_with(&opts);
        CHECK_EQ(eddy_process_wait(process, NULL), -ENOSPC);
        CHECK_EQ(eddy_process_try_wait(process, NULL), -EAGAIN);
        eddy_process_close(process);
        check_no_children();
        opts.at_close = EDDY_PROCESS_TERMINATE;
        process = start_with(&opts);
        eddy_process_close(process);
        check_no_children();
        opts = (struct eddy_process_opts){ .command = "exit 0", .at_close = EDDY_PROCESS_LEAVE };
        process = start_with(&opts);
        eddy_process_close(process);
        /* Each start looks at those that were left. */
        watches_left = 100;
        process = start_with(&opts);
        CHECK_EQ(eddy_process_wait(process, NULL), 0);
        eddy_process_close(process);
        while (waitid(P_ALL, 0, &(siginfo_t){ 0 }, WEXITED | WNOHANG | WNOWAIT) == 0)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
}

PROCESS_TEST(without_descriptors_a_start_is_emfile_and_leaves_nothing)
{
        struct rlimit former, few;
        int err = -EMFILE;

        CHECK_EQ(starts_and_talks(NULL), 0); /* the thread is there */
        CHECK_EQ(getrlimit(RLIMIT_NOFILE, &former), 0);
        for (rlim_t n = (rlim_t) io_open_fds() - 3; err == -EMFILE; n++) {
                few = (struct rlimit){ n, former.rlim_max };
                CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
                err = starts_and_talks(NULL);
                CHECK_EQ(setrlimit(RLIMIT_NOFILE, &former), 0);
                CHECK(err == 0 || err == -EMFILE || err == -EINVAL);
                if (err == -EINVAL) /* fcntl(2): the lowest number is above the limit */
                        err = -EMFILE;
                check_no_children();
        }
        CHECK_EQ(err, 0);
}

/* --- cancels --- */

PROCESS_TEST(a_cancel_at_each_suspension_leaves_nothing)
{
        bool reached = true;

        for (int n = 0; reached; n++) {
                int err = cancel_at(n, starts_and_talks, NULL, &reached);

                CHECK(err == 0 || err == -ECANCELED);
                check_no_children();
        }
}

/* All threads of the pool are busy: the start is dropped. */
static int starts_only(void *arg)
{
        struct eddy_process_opts opts = { .command = "true" };
        eddy_process *process = NULL;
        int err = eddy_process_start(&opts, &process);

        (void) arg;
        eddy_process_close(process);
        return err;
}

PROCESS_TEST(a_cancelled_task_starts_nothing)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        CHECK_EQ(starts_only(NULL), -ECANCELED);
        (void) eddy_scope_end(&scope);
}

/* --- many --- */

enum { STARTS = 1000, STARTERS_MAX = 8, TICKS = 1000, TICK_MS = 50, LATE_MAX = 1 << 20 };

static struct {
        int started, late_count;
        bool is_over;
} many;

TEST_ROOM(int64_t, late_ns, LATE_MAX);

static int starts_many(void *arg)
{
        static const char *const arguments[] = { "/bin/true", NULL };
        struct eddy_process_opts opts = { .arguments = arguments };

        (void) arg;
        while (many.started < STARTS) {
                eddy_process *process;
                struct eddy_process_exit end;

                many.started++;
                process = start_with(&opts);
                CHECK_EQ(eddy_process_wait(process, &end), 0);
                CHECK_EQ(end.code, 0);
                eddy_process_close(process);
        }
        return 0;
}

static int ticks(void *arg)
{
        int64_t due_ns = eddy_now() + EDDY_US(50) * (int64_t) (intptr_t) arg;

        while (!many.is_over) {
                due_ns += EDDY_MS(TICK_MS);
                (void) eddy_sleep(due_ns - eddy_now());
                if (many.late_count < LATE_MAX)
                        late_ns[many.late_count++] = eddy_now() - due_ns;
        }
        return 0;
}

static int compare(const void *a, const void *b)
{
        int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

        return x < y ? -1 : x > y;
}

static double late_ms(double share)
{
        return (double) late_ns[(size_t) (share * (many.late_count - 1))] / 1e6;
}

/* Print how late the timers were since the last call. */
static void print_lag(const char *beside)
{
        qsort(late_ns, (size_t) many.late_count, sizeof(late_ns[0]), compare);
        printf("# %d timers, %s: lag p50 %.3f ms, p99 %.3f ms, max %.3f ms\n", TICKS, beside,
               late_ms(0.5), late_ms(0.99), late_ms(1));
        many.late_count = 0;
}

static void start_many(int at_once)
{
        int64_t begun_ns = eddy_now();
        eddy_scope scope;
        char beside[80];

        many.started = 0;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < at_once; i++)
                eddy_scope_start(&scope, starts_many, NULL);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        begun_ns = eddy_now() - begun_ns;
        snprintf(beside, sizeof(beside), "%d starts, %d at a time, %.0f per second", STARTS,
                 at_once, STARTS / ((double) begun_ns / 1e9));
        print_lag(beside);
}

/* A124: starting blocks a thread, not the loop. */
PROCESS_TEST(many_starts_do_not_block_the_loop)
{
        eddy_scope ticking;

        if (getenv("EDDY_TEST_VALGRIND"))
                test_skip("thousands of processes");
        eddy_scope_begin(&ticking, NULL);
        for (intptr_t i = 0; i < TICKS; i++)
                eddy_scope_start(&ticking, ticks, (void *) i);
        /* How late they are on this machine in any case. */
        CHECK_EQ(eddy_sleep(EDDY_MS(6 * TICK_MS)), 0);
        many.late_count = 0;
        CHECK_EQ(eddy_sleep(EDDY_MS(6 * TICK_MS)), 0);
        print_lag("no starts");
        for (int n = 1; n <= STARTERS_MAX; n *= 2)
                start_many(n);
        many.is_over = true;
        CHECK_EQ(eddy_scope_end(&ticking), 0);
}
