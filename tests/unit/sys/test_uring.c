/*
 * test_uring.c - operations on files by io_uring: results, limits, cancels, forks;
 * and what becomes of a request for it where the system refuses, or lacks operations.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eddy/file.h"
#include "eddy/path.h"
#include "eddy/run.h"
#include "eddy/thread.h"
#include "refuse.h"
#include "sys/files.h"
#include "sys/fork.h"
#include "test.h"

#define MS ((int64_t) 1000000)

enum { OPS_MAX = 1000, BLOCK = 4096 };

static struct ed_sys *sys;
static char folder[] = "/tmp/eddy-uring-XXXXXX";

/* 'reason': a part of the reason that the table gives; NULL: it gives none. */
static void begin_lacking(const char *reason)
{
        CHECK_EQ(ed_sys_kernel_new("uring", &sys), 0);
        if (strcmp(sys->ops->name, "uring") != 0)
                test_skip(sys->reason);
        CHECK(reason ? strstr(sys->reason, reason) != NULL : !sys->reason);
        CHECK(mkdtemp(folder) != NULL);
        CHECK_EQ(chdir(folder), 0);
}

static void begin(void)
{
        begin_lacking(NULL);
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
                if (call != ED_FILE_OPEN && call != ED_FILE_SYNC && call != ED_FILE_STAT &&
                    call != ED_FILE_STAT_PATH && call != ED_FILE_RENAME)
                        CHECK_EQ(sys->ops->submit(sys, &op), -EAGAIN);
        }
        finish();
}

/* --- stat and rename --- */

static void check_info(struct ed_file_op *op, const struct stat *expected)
{
        struct ed_file_found found;
        struct eddy_file_info info = { .links = 0 };

        op->info = &info;
        op->found = &found;
        CHECK_EQ(result_of(op), 0);
        CHECK_EQ(info.kind, S_ISLNK(expected->st_mode) ? EDDY_FILE_LINK : EDDY_FILE_REGULAR);
        CHECK_EQ(info.mode, expected->st_mode & 07777);
        CHECK_EQ(info.user, expected->st_uid);
        CHECK_EQ(info.group, expected->st_gid);
        CHECK_EQ(info.bytes, expected->st_size);
        CHECK_EQ(info.modified_ns,
                 expected->st_mtim.tv_sec * INT64_C(1000000000) + expected->st_mtim.tv_nsec);
        CHECK_EQ(info.device, expected->st_dev);
        CHECK_EQ(info.inode, expected->st_ino);
        CHECK_EQ(info.links, expected->st_nlink);
}

TEST(a_file_is_described_by_descriptor_and_by_path_and_a_link_as_well)
{
        struct ed_file_op by_fd = { .call = ED_FILE_STAT };
        struct ed_file_op by_path = { .call = ED_FILE_STAT_PATH, .path = "link" };
        struct stat file = { 0 }, link = { 0 }; /* MemorySanitizer does not see fstat() */

        begin();
        by_fd.fd = opened("a", EDDY_FILE_WRITE | EDDY_FILE_CREATE);
        CHECK_EQ(write(by_fd.fd, "abc", 3), 3);
        CHECK_EQ(symlink("a", "link"), 0);
        CHECK_EQ(fstat(by_fd.fd, &file), 0);
        CHECK_EQ(lstat("link", &link), 0);
        check_info(&by_fd, &file);
        check_info(&by_path, &file);
        by_path.flags = EDDY_PATH_NO_FOLLOW;
        check_info(&by_path, &link);
        by_path.path = "none";
        CHECK_EQ(result_of(&by_path), -ENOENT);
        close(by_fd.fd);
        CHECK_EQ(result_of(&by_fd), -EBADF);
        CHECK_EQ(unlink("a"), 0);
        CHECK_EQ(unlink("link"), 0);
        finish();
}

TEST(a_file_is_renamed_and_another_is_kept_if_asked)
{
        struct ed_file_op op = { .call = ED_FILE_RENAME, .path = "a", .to = "b" };

        begin();
        close(opened("a", EDDY_FILE_WRITE | EDDY_FILE_CREATE));
        CHECK_EQ(result_of(&op), 0);
        CHECK_EQ(access("a", F_OK), -1);
        CHECK_EQ(result_of(&op), -ENOENT);
        close(opened("a", EDDY_FILE_WRITE | EDDY_FILE_CREATE));
        op.flags = EDDY_PATH_KEEP;
        CHECK_EQ(result_of(&op), -EEXIST);
        op.flags = 0;
        CHECK_EQ(result_of(&op), 0);
        CHECK_EQ(unlink("b"), 0);
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

/* As the kernel does if a limit of locked memory is too low for the queues. */
TEST(a_kernel_without_memory_for_a_ring_leaves_epoll_and_the_reason)
{
        check_fallback(SYS_io_uring_setup, ENOMEM, "locked memory");
}

TEST(an_old_kernel_leaves_epoll_and_the_reason)
{
        check_fallback(SYS_io_uring_setup, EINVAL, "Linux 5.18");
}

TEST(a_kernel_that_does_not_name_its_operations_leaves_epoll_and_the_reason)
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

/* --- a kernel that lacks operations --- */

static bool lacks[IORING_OP_LAST];
static int busy_enters; /* next calls of io_uring_enter(2) that fail for lack of memory */

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

/* What the kernel reports, without the operations that it is to lack. */
long __wrap_syscall(long number, ...)
{
        struct io_uring_probe *probe;
        long arguments[6], result;
        va_list list;

        va_start(list, number);
        for (int i = 0; i < 6; i++)
                arguments[i] = va_arg(list, long);
        va_end(list);
        if (number == SYS_io_uring_enter && busy_enters > 0) {
                busy_enters--;
                errno = EAGAIN;
                return -1;
        }
        result = __real_syscall(number, arguments[0], arguments[1], arguments[2], arguments[3],
                                arguments[4], arguments[5]);
        if (number == SYS_io_uring_register && result == 0 &&
            (int) arguments[1] == IORING_REGISTER_PROBE) {
                probe = (void *) arguments[2];
                for (int i = 0; i < IORING_OP_LAST; i++)
                        if (lacks[i])
                                probe->ops[i].flags = 0;
        }
        return result;
}

/* All operations that the ring may do, by their public calls. */
static int use_files(void *arg)
{
        eddy_file *file;
        struct eddy_file_info found;
        char buf[BLOCK] = { 0 };

        CHECK_EQ(eddy_run_info(arg), 0);
        CHECK_EQ(eddy_file_open("a", EDDY_FILE_READ | EDDY_FILE_WRITE | EDDY_FILE_CREATE, 0600,
                                &file),
                 0);
        CHECK_EQ(eddy_file_write_at(file, "abc", 3, 1), 0);
        CHECK_EQ(eddy_file_sync(file, 0), 0);
        CHECK_EQ(eddy_file_stat(file, &found), 0);
        CHECK_EQ(found.bytes, 4);
        /* Only a read that brings nothing is left to the ring for certain. */
        CHECK_EQ(eddy_file_read_at(file, buf, sizeof(buf), 4), 0);
        CHECK_EQ(eddy_file_read_at(file, buf, sizeof(buf), 1), 3);
        CHECK_STR(buf, "abc");
        eddy_file_close(file);
        CHECK_EQ(eddy_path_rename("a", "b", 0), 0);
        CHECK_EQ(eddy_path_stat("b", 0, &found), 0);
        CHECK_EQ(found.bytes, 4);
        CHECK_EQ(eddy_path_remove("b"), 0);
        return 0;
}

static void check_without(int opcode, const char *name)
{
        struct eddy_run_opts opts = { .poller = "uring" };
        struct eddy_run_info info;

        lacks[opcode] = true;
        CHECK_EQ(eddy_run(use_files, &info, &opts), 0);
        lacks[opcode] = false;
        CHECK_STR(info.poller, name[0] ? "uring" : "epoll");
        CHECK(strstr(info.poller_reason, name[0] ? name : "lacks") != NULL);
}

TEST(threads_do_each_operation_that_the_kernel_lacks_and_it_is_reported)
{
        static const struct {
                int opcode;
                const char *name;
        } rows[] = {
                { IORING_OP_READV, "lacks read" },
                { IORING_OP_WRITEV, "lacks write" },
                { IORING_OP_FSYNC, "lacks sync" },
                { IORING_OP_OPENAT, "lacks open" },
                { IORING_OP_STATX, "lacks stat" },
                { IORING_OP_RENAMEAT, "lacks rename" },
                { IORING_OP_NOP, "" },
                { IORING_OP_ASYNC_CANCEL, "" },
        };
        struct eddy_run_info info;

        begin();
        CHECK_EQ(eddy_run(use_files, &info, &(struct eddy_run_opts){ .poller = "uring" }), 0);
        CHECK_STR(info.poller_reason, "");
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
                check_without(rows[i].opcode, rows[i].name);
        finish();
}

static int use_files_in_sandbox(void *arg)
{
        CHECK_EQ(use_files(arg), 0);
        if (!refuse(SYS_io_uring_enter, EPERM))
                test_skip("no filter of system calls can be installed here");
        return use_files(arg);
}

TEST(threads_do_all_operations_after_a_filter_was_installed_that_forbids_io_uring)
{
        struct eddy_run_info info;

        begin();
        CHECK_EQ(
                eddy_run(use_files_in_sandbox, &info, &(struct eddy_run_opts){ .poller = "uring" }),
                0);
        CHECK_STR(info.poller, "uring");
        finish();
}

static int do_nothing(void *arg)
{
        (void) arg;
        return 0;
}

static int use_files_without_new_threads(void *arg)
{
        struct rlimit former, limit;

        CHECK_EQ(eddy_to_thread(do_nothing, NULL), 0); /* later a thread of ours is idle */
        CHECK_EQ(getrlimit(RLIMIT_NPROC, &former), 0);
        limit = former;
        limit.rlim_cur = 1;
        CHECK_EQ(setrlimit(RLIMIT_NPROC, &limit), 0);
        CHECK_EQ(use_files(arg), 0);
        return setrlimit(RLIMIT_NPROC, &former);
}

/* The kernel then ends an operation with -ECANCELED, although none was cancelled. */
TEST(threads_do_the_operations_for_which_the_kernel_gets_no_thread)
{
        enum { ANY_USER = 12345 };
        struct eddy_run_opts opts = { .poller = "uring", .flags = EDDY_RUN_NO_WATCHDOG };
        struct eddy_run_info info;

        /* The limit does not apply to root. The leak checker needs a process that can be traced. */
        if (getuid() == 0)
                CHECK(setuid(ANY_USER) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0);
        begin();
        CHECK_EQ(eddy_run(use_files_without_new_threads, &info, &opts), 0);
        CHECK_STR(info.poller, "uring");
        finish();
}

/* The operation is refused by the table itself, so that the test above does not pass for nothing. */
TEST(a_ring_refuses_an_operation_that_the_kernel_lacks)
{
        struct ed_file_op op = { .call = ED_FILE_SYNC, .fd = -1 };

        lacks[IORING_OP_FSYNC] = true;
        begin_lacking("lacks sync");
        CHECK_EQ(sys->ops->submit(sys, &op), -EAGAIN);
        op.call = ED_FILE_STAT;
        op.found = &(struct ed_file_found){ .words = { 0 } };
        CHECK_EQ(result_of(&op), -EBADF);
        finish();
}

/* A program that sleeps in its own epoll has no other reason to enter the loop again. */
TEST(an_operation_that_the_kernel_did_not_take_makes_the_loops_descriptor_readable)
{
        struct ed_file_op op = { .call = ED_FILE_OPEN, .path = "none", .flags = EDDY_FILE_READ };
        struct pollfd pollable;

        begin();
        pollable = (struct pollfd){ sys->ops->pollable(sys), POLLIN, 0 };
        CHECK(!ended(&op, 0));
        CHECK_EQ(poll(&pollable, 1, 0), 0);
        CHECK_EQ(sys->ops->submit(sys, &op), 0);
        busy_enters = 1;
        sys->ops->alarm(sys, -1);
        CHECK_EQ(busy_enters, 0);
        CHECK_EQ(poll(&pollable, 1, 10000), 1);
        while (!ended(&op, -1))
                continue;
        CHECK_EQ(op.result, -ENOENT);
        finish();
}

TEST(a_ring_without_any_operation_is_not_used)
{
        struct eddy_run_opts opts = { .poller = "uring" };
        struct eddy_run_info info;

        begin();
        for (int i = 0; i < IORING_OP_LAST; i++)
                lacks[i] = i != IORING_OP_NOP && i != IORING_OP_ASYNC_CANCEL;
        CHECK_EQ(eddy_run(use_files, &info, &opts), 0);
        CHECK_STR(info.poller, "epoll");
        CHECK(strstr(info.poller_reason, "lacks") != NULL);
        finish();
}
