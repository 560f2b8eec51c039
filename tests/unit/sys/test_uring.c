/*
 * test_uring.c - operations on files by io_uring: results, limits, cancels, forks;
 * and what becomes of a request for it where the system refuses.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eddy/run.h"
#include "refuse.h"
#include "sys/files.h"
#include "sys/fork.h"
#include "test.h"

#define MS ((int64_t) 1000000)

enum { OPS_MAX = 1000, BLOCK = 4096 };

static struct ed_sys *sys;
static char folder[] = "/tmp/eddy-uring-XXXXXX";

static void begin(void)
{
        CHECK_EQ(ed_sys_kernel_new("uring", &sys), 0);
        if (sys->reason)
                test_skip(sys->reason);
        CHECK_STR(sys->ops->name, "uring");
        CHECK(mkdtemp(folder) != NULL);
        CHECK_EQ(chdir(folder), 0);
}

static void finish(void)
{
        CHECK_EQ(chdir("/"), 0);
        CHECK_EQ(rmdir(folder), 0);
        sys->ops->free(sys);
}

/* Returns true if 'op' ended in one poll of at most so long. */
static bool ended(const struct ed_file_op *op, int64_t timeout_ns)
{
        struct ed_event events[ED_EVENTS_MAX];
        int n = sys->ops->poll(sys, timeout_ns, events, ED_EVENTS_MAX);

        for (int i = 0; i < n; i++)
                if (events[i].target == &op->done)
                        return true;
        return false;
}

static int64_t result_of(struct ed_file_op *op)
{
        CHECK_EQ(sys->ops->submit(sys, op), 0);
        while (!ended(op, -1))
                continue;
        return op->result;
}

static int opened(const char *path, unsigned flags)
{
        struct ed_file_op op = { .call = ED_FILE_OPEN, .path = path, .flags = flags, .mode = 0600 };

        return (int) result_of(&op);
}

TEST(each_poller_has_its_name_and_no_other_name_is_accepted)
{
        static const char *const names[] = { NULL, "", "auto", "epoll", "uring" };
        struct ed_sys *made = NULL;

        CHECK_EQ(ed_sys_kernel_new("abacus", &made), -EINVAL);
        CHECK_EQ(ed_sys_kernel_new("uring ", &made), -EINVAL);
        CHECK(made == NULL);
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
                CHECK_EQ(ed_sys_kernel_new(names[i], &made), 0);
                if (i < 4)
                        CHECK(!made->reason);
                CHECK_STR(made->ops->name, i < 4 || made->reason ? "epoll" : "uring");
                made->ops->free(made);
        }
}

TEST(a_file_is_opened_written_synced_and_read)
{
        static char out[BLOCK], in[BLOCK];
        struct eddy_slice slices[] = { { out, 1000 }, { out + 1000, BLOCK - 1000 } };
        struct eddy_space spaces[] = { { in, 3000 }, { in + 3000, BLOCK - 3000 } };
        struct ed_file_op op = { .call = ED_FILE_WRITE, .slices = slices, .n = 2, .offset = 100 };
        int fd;

        begin();
        for (int i = 0; i < BLOCK; i++)
                out[i] = (char) (i * 7);
        CHECK_EQ(opened("none", EDDY_FILE_READ), -ENOENT);
        fd = opened("a", EDDY_FILE_READ | EDDY_FILE_WRITE | EDDY_FILE_CREATE);
        CHECK(fd >= 0);
        CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
        op.fd = fd;
        CHECK_EQ(result_of(&op), BLOCK);
        op = (struct ed_file_op){ .call = ED_FILE_SYNC, .fd = fd };
        CHECK_EQ(result_of(&op), 0);
        op.flags = EDDY_FILE_DATA_ONLY;
        CHECK_EQ(result_of(&op), 0);
        op = (struct ed_file_op){
                .call = ED_FILE_READ, .fd = fd, .spaces = spaces, .n = 2, .offset = 100
        };
        CHECK_EQ(result_of(&op), BLOCK);
        CHECK(memcmp(in, out, BLOCK) == 0);
        op.offset = 100 + BLOCK;
        CHECK_EQ(result_of(&op), 0);
        op.fd = -1;
        CHECK_EQ(result_of(&op), -EBADF);
        close(fd);
        CHECK_EQ(unlink("a"), 0);
        finish();
}

TEST(a_thread_does_what_depends_on_the_position_and_what_the_ring_lacks)
{
        static char byte;
        struct eddy_space space = { &byte, 1 };
        struct ed_file_op op = { .call = ED_FILE_READ, .spaces = &space, .n = 1, .offset = -1 };

        begin();
        CHECK_EQ(sys->ops->submit(sys, &op), -EAGAIN);
        op.call = ED_FILE_WRITE;
        CHECK_EQ(sys->ops->submit(sys, &op), -EAGAIN);
        for (int call = 0; call < ED_FILE_CALLS; call++) {
                op.call = (enum ed_file_call) call;
                if (call != ED_FILE_OPEN && call != ED_FILE_SYNC)
                        CHECK_EQ(sys->ops->submit(sys, &op), -EAGAIN);
        }
        finish();
}

/* No completion is lost although more are there than one poll can store. */
TEST(operations_above_the_limit_are_refused_and_none_below_it_is_lost)
{
        static struct ed_file_op ops[OPS_MAX];
        struct ed_event events[ED_EVENTS_MAX];
        int fd, begun, ends = 0;

        begin();
        fd = opened("a", EDDY_FILE_WRITE | EDDY_FILE_CREATE);
        for (int round = 0; round < 3; round++) {
                for (begun = 0; begun < OPS_MAX; begun++) {
                        ops[begun] = (struct ed_file_op){ .call = ED_FILE_SYNC, .fd = fd };
                        ops[begun].result = -1;
                        if (sys->ops->submit(sys, &ops[begun]) < 0)
                                break;
                }
                CHECK_EQ(begun, 256);
                for (ends = 0; ends < begun;) {
                        int n = sys->ops->poll(sys, -1, events, round == 0 ? 1 : ED_EVENTS_MAX);

                        CHECK(n >= 0 && n <= ED_EVENTS_MAX);
                        ends += n;
                }
                CHECK_EQ(ends, begun);
                for (int i = 0; i < begun; i++)
                        CHECK_EQ(ops[i].result, 0);
        }
        close(fd);
        CHECK_EQ(unlink("a"), 0);
        finish();
}

TEST(an_operation_cancelled_before_the_kernel_has_it_never_happens)
{
        static struct ed_file_op ops[OPS_MAX];
        struct ed_file_op op = { .call = ED_FILE_OPEN,
                                 .path = "new",
                                 .flags = EDDY_FILE_WRITE | EDDY_FILE_CREATE };
        int fd;

        begin();
        /* As often as there are entries: a dropped operation keeps none. */
        for (int i = 0; i < OPS_MAX; i++) {
                CHECK_EQ(sys->ops->submit(sys, &op), 0);
                CHECK(sys->ops->cancel(sys, &op));
                CHECK(!ended(&op, 0));
        }
        CHECK_EQ(access("new", F_OK), -1);
        fd = opened("a", EDDY_FILE_WRITE | EDDY_FILE_CREATE);
        ops[0] = (struct ed_file_op){ .call = ED_FILE_SYNC, .fd = fd };
        CHECK_EQ(result_of(&ops[0]), 0);
        close(fd);
        CHECK_EQ(unlink("a"), 0);
        finish();
}

/* The open of a FIFO waits for its other end. */
TEST(an_operation_under_way_ends_early_by_a_cancel)
{
        struct ed_file_op op = { .call = ED_FILE_OPEN, .path = "fifo", .flags = EDDY_FILE_READ };

        begin();
        CHECK_EQ(mkfifo("fifo", 0600), 0);
        for (int i = 0; i < 3; i++) {
                CHECK_EQ(sys->ops->submit(sys, &op), 0);
                CHECK(!ended(&op, 3 * MS));
                CHECK(!sys->ops->cancel(sys, &op));
                CHECK(!sys->ops->cancel(sys, &op));
                while (!ended(&op, -1))
                        continue;
                CHECK_EQ(op.result, -ECANCELED);
        }
        CHECK_EQ(unlink("fifo"), 0);
        finish();
}

TEST(a_result_that_is_there_before_the_cancel_wins)
{
        struct ed_file_op op = { .call = ED_FILE_OPEN,
                                 .path = "a",
                                 .flags = EDDY_FILE_WRITE | EDDY_FILE_CREATE,
                                 .mode = 0600 };
        struct ed_event events[ED_EVENTS_MAX];

        begin();
        CHECK_EQ(sys->ops->submit(sys, &op), 0);
        CHECK_EQ(sys->ops->poll(sys, 0, events, 0), 0); /* given to the kernel */
        while (access("a", F_OK) < 0)
                poll(NULL, 0, 1);
        CHECK_EQ(poll(&(struct pollfd){ sys->ops->pollable(sys), POLLIN, 0 }, 1, -1), 1);
        CHECK(!sys->ops->cancel(sys, &op));
        while (!ended(&op, -1))
                continue;
        CHECK(op.result >= 0);
        close((int) op.result);
        CHECK_EQ(unlink("a"), 0);
        finish();
}

TEST(a_wake_and_a_timeout_end_a_poll_while_an_operation_is_under_way)
{
        struct ed_file_op op = { .call = ED_FILE_OPEN, .path = "fifo", .flags = EDDY_FILE_READ };
        int64_t begun;
        int fd;

        begin();
        CHECK_EQ(mkfifo("fifo", 0600), 0);
        CHECK_EQ(sys->ops->submit(sys, &op), 0);
        begun = sys->ops->now(sys);
        CHECK(!ended(&op, 2 * MS));
        CHECK(sys->ops->now(sys) - begun >= 2 * MS);
        sys->ops->wake(sys);
        CHECK(!ended(&op, -1));
        fd = open("fifo", O_RDWR | O_CLOEXEC);
        while (!ended(&op, -1))
                continue;
        CHECK(op.result >= 0);
        close((int) op.result);
        close(fd);
        CHECK_EQ(unlink("fifo"), 0);
        finish();
}

static void ignore_fork(void)
{
}

TEST(a_child_of_fork_does_not_use_the_ring_of_its_parent)
{
        struct ed_file_op op = { .call = ED_FILE_OPEN, .path = "fifo", .flags = EDDY_FILE_READ };
        struct ed_file_op other = op;
        int status, fd;
        pid_t child;

        begin();
        ed_sys_fork_watch(ignore_fork);
        CHECK_EQ(mkfifo("fifo", 0600), 0);
        CHECK_EQ(sys->ops->submit(sys, &op), 0);
        CHECK(!ended(&op, MS));
        child = fork();
        if (child == 0) {
                if (ended(&op, 0) || sys->ops->submit(sys, &other) != -EAGAIN ||
                    sys->ops->cancel(sys, &op))
                        _exit(1);
                sys->ops->free(sys);
                _exit(0);
        }
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK_EQ(status, 0);
        fd = open("fifo", O_RDWR | O_CLOEXEC);
        while (!ended(&op, -1))
                continue;
        CHECK(op.result >= 0);
        close((int) op.result);
        close(fd);
        CHECK_EQ(unlink("fifo"), 0);
        finish();
}

/* --- a system that refuses --- */

static int look(void *arg)
{
        struct eddy_run_info *info = arg;

        return eddy_run_info(info);
}

static void check_fallback(unsigned number, unsigned error, const char *reason)
{
        struct eddy_run_opts opts = { .poller = "uring" };
        struct eddy_run_info info;

        if (!refuse(number, error))
                test_skip("no filter of system calls can be installed here");
        CHECK_EQ(eddy_run(look, &info, &opts), 0);
        CHECK_STR(info.poller, "epoll");
        CHECK(strstr(info.poller_reason, reason) != NULL);
        opts.poller = "epoll";
        CHECK_EQ(eddy_run(look, &info, &opts), 0);
        CHECK_STR(info.poller_reason, "");
}

TEST(a_kernel_without_io_uring_leaves_epoll_and_the_reason)
{
        check_fallback(SYS_io_uring_setup, ENOSYS, "ENOSYS");
}

TEST(a_filter_that_forbids_io_uring_leaves_epoll_and_the_reason)
{
        check_fallback(SYS_io_uring_setup, EPERM, "forbids");
}

TEST(an_old_kernel_leaves_epoll_and_the_reason)
{
        check_fallback(SYS_io_uring_setup, EINVAL, "Linux 5.18");
}

TEST(a_kernel_without_an_operation_leaves_epoll_and_the_reason)
{
        begin();
        finish();
        check_fallback(SYS_io_uring_register, EINVAL, "io_uring");
}

TEST(a_filter_that_allows_only_the_setup_leaves_epoll_and_the_reason)
{
        begin();
        finish();
        check_fallback(SYS_io_uring_enter, EPERM, "forbids");
}
